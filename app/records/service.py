"""The shell of records: created, changed, ended and erased by explicit calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.contradictions.claims import derive_claim
from app.domain.callers import Caller
from app.domain.entries import Claim
from app.domain.errors import FieldProblem, InvalidInputError, NotFoundError, PreconditionFailedError
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, find_id
from app.domain.records import Barrier, Record, RecordStatus
from app.records.kinds import check_payload
from app.records.ports import RecordListing, RecordStore, RecordUnit

_PEOPLE = ("viewer:", "user:")

NewId = Callable[[IdKind, UUID], PublicId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record as it is asked for.

    Attributes:
        claim: What it says; None to read it in the record's text.
    """

    kind: str
    payload: Mapping[str, Any]
    subjects: tuple[str, ...] = ()
    claim: Claim | None = None
    status: RecordStatus = RecordStatus.OPEN
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FromTurn:
    """The turn that a change comes from: its id, ours or the platform's, and the space it was said in.

    `whole_batch` keeps everybody's words of it out of personal memory, not only those of the subjects.
    """

    turn: str
    space: str | None = None
    whole_batch: bool = False


@dataclass(frozen=True, slots=True)
class RecordService:
    """Create, read, change and erase records."""

    store: RecordStore
    new_id: NewId

    async def create(
        self,
        caller: Caller,
        space_name: str,
        draft: Draft,
        *,
        source: FromTurn | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Record:
        """Write a record.

        Raises:
            ForbiddenError: If the key may not write there, or does not reach a subject.
            InvalidInputError: If the payload is none of its kind.
        """
        space = caller.writable_space(space_name)
        text = check_payload(draft.kind, draft.payload)
        async with self.store.unit(space) as unit:
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return _same(await unit.current(earlier[0]))
            record = Record(
                id=self.new_id(IdKind.RECORD, space.space_id),
                version=1,
                space=space.name,
                kind=draft.kind,
                subjects=_reached(caller, draft.subjects),
                payload=draft.payload,
                text=text,
                claim=draft.claim or derive_claim(text),
                status=draft.status,
                expires_at=draft.expires_at,
                created_at=unit.now,
                recorded_at=unit.now,
            )
            await _write(unit, caller, record, source, idempotency)
            return record

    async def change(
        self,
        caller: Caller,
        record_id: PublicId,
        changed: Callable[[Draft], Draft],
        *,
        source: FromTurn | None = None,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Record:
        """Write a new version.

        Raises:
            NotFoundError: If there is no such record.
            PreconditionFailedError: If `if_version` is not the current version.
        """
        space = caller.writable_space((await self.get(caller, record_id)).space)
        async with self.store.unit(space) as unit:
            if idempotency and await unit.earlier(idempotency) is not None:
                return _same(await unit.current(record_id))
            current = _current(await unit.current(record_id), record_id, if_version)
            draft = changed(_draft_of(current))
            text = check_payload(draft.kind, draft.payload)
            is_reworded = text != current.text and draft.claim == current.claim
            record = replace(
                current,
                version=current.version + 1,
                subjects=_reached(caller, draft.subjects),
                payload=draft.payload,
                text=text,
                claim=derive_claim(text) if is_reworded else draft.claim or derive_claim(text),
                status=draft.status,
                expires_at=draft.expires_at,
                recorded_at=unit.now,
                reason="edited" if draft.status is current.status else draft.status.value,
            )
            await _write(unit, caller, record, source, idempotency)
            return record

    async def delete(
        self,
        caller: Caller,
        record_id: PublicId,
        *,
        if_version: int | None = None,
    ) -> int:
        """Erase a record physically; says how many versions there were.

        Raises:
            NotFoundError: If there is no such record.
            PreconditionFailedError: If `if_version` is not the current version.
        """
        space = caller.writable_space((await self.get(caller, record_id)).space)
        async with self.store.unit(space) as unit:
            _current(await unit.current(record_id), record_id, if_version)
            return await unit.erase(record_id)

    async def get(self, caller: Caller, record_id: PublicId) -> Record:
        """The current version.

        Raises:
            NotFoundError: If the caller's tenant has no such record within the key's reach.
        """
        record = await self.store.current(caller.tenant_id, record_id)
        if record is None or not caller.may_touch(record.space):
            raise NotFoundError(f"no record {record_id}")
        return record

    async def listing(self, listing: RecordListing) -> tuple[Record, ...]:
        """Current records of a space."""
        return await self.store.listing(listing)

    async def history(self, caller: Caller, record_id: PublicId, *, limit: int, before: int | None) -> Sequence[Record]:
        """Versions, newest first.

        Raises:
            NotFoundError: If there is no such record.
        """
        await self.get(caller, record_id)
        return await self.store.history(caller.tenant_id, record_id, limit, before)


async def _write(
    unit: RecordUnit, caller: Caller, record: Record, source: FromTurn | None, idempotency: IdempotencyKey | None
) -> None:
    await unit.write(record)
    if source is not None:
        await unit.raise_barrier(_barrier(caller, record, source), record.id)
    if idempotency:
        await unit.remember(idempotency, record)


def _barrier(caller: Caller, record: Record, source: FromTurn) -> Barrier:
    """Of a turn, the words of the record's subjects stay out; those of all where it has none.

    Raises:
        InvalidInputError: If the turn is one of another space.
        ForbiddenError: If the key may not write there.
    """
    space = caller.writable_space(source.space or record.space)
    ours = find_id(source.turn, IdKind.TURN)
    if ours is not None and ours.space_id != space.space_id:
        raise InvalidInputError(FieldProblem("turn.id", "is a turn of another space"))
    people = tuple(name for name in (*record.subjects, record.space) if name.startswith(_PEOPLE))
    return Barrier(space.name, source.turn, () if source.whole_batch else people)


def _reached(caller: Caller, subjects: Sequence[str]) -> tuple[str, ...]:
    """Each once; the key must reach them all: a record speaks of them."""
    return tuple(caller.space(name).name for name in dict.fromkeys(subjects))


def _draft_of(record: Record) -> Draft:
    return Draft(
        kind=record.kind,
        payload=record.payload,
        subjects=record.subjects,
        claim=record.claim,
        status=record.status,
        expires_at=record.expires_at,
    )


def _current(record: Record | None, record_id: PublicId, if_version: int | None) -> Record:
    if record is None:
        raise NotFoundError(f"no record {record_id}")
    if if_version is not None and record.version != if_version:
        raise PreconditionFailedError(f"{record_id} is at version {record.version}, not {if_version}")
    return record


def _same(record: Record | None) -> Record:
    if record is None:
        raise NotFoundError("what this Idempotency-Key wrote has been erased since")
    return record
