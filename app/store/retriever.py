"""The retriever: every arm over every planned space, and the soul blocks, in one round trip."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from pgvector import Vector
from psycopg import AsyncConnection, AsyncCursor, AsyncRawCursor
from psycopg.rows import TupleRow, dict_row

from app.assembly.plan import QueryPlan
from app.assembly.ports import Ask
from app.assembly.records import Candidate, Notice, Retrieved
from app.domain.ids import IdKind, PublicId, last_uuid_of
from app.domain.records import Record
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey, scope_key
from app.scoring.asked import Asked
from app.scoring.relevance import evidence_for
from app.store.candidates import TIERS, Seen, Template, template
from app.store.entries import Pool
from app.store.pool import connected, tenant_pipeline
from app.store.queries import load, numbered
from app.store.records import record_from
from app.store.resident.index import Heard, Hits, Sought, State
from app.store.resident.spaces import Resident, ResidentSpaces
from app.store.rows import Stored, block_from
from app.text.terms import term_hash

_SQL = load("retrieval")
_CANDIDATES = numbered(_SQL["candidates"])
_RESIDENT = load("resident")
_UNTOLD = load("corrections")["untold"]
_RECORDS = load("records")

_PREFERENCE_LIMIT = 64
"""Preferences brought up per space: more than the quarter of the memory budget can hold by default."""


_ROUNDING = 1e-9
"""Evidence is rounded in the database and here: the pipeline decides about what lies so near the floor."""


class _Row(NamedTuple):
    """A row of `candidates`. Where it is below the floor, nothing of it but `id` and `tier` is there."""

    stored: Stored
    seen: Seen
    outdated_by: UUID | None
    is_below_floor: bool


_STORED = len(Stored._fields)
_COLUMNS = (*Stored._fields, *Seen._fields, "outdated_by", "below_floor")


def _rows(cursor: AsyncCursor[Any]) -> Callable[[Sequence[Any]], _Row]:
    """Makes rows; tuples, because hundreds come for every request."""
    names = tuple(column.name for column in cursor.description or ())
    assert not names or names == _COLUMNS, names  # noqa: S101 - the statement and the records change together
    return _row


def _row(values: Sequence[Any]) -> _Row:
    seen = Seen._make(values[_STORED:-2])
    if seen.vector is not None:
        seen = seen._replace(vector=seen.vector.to_numpy())  # type: ignore[attr-defined]  # as the driver brings it
    return _Row(Stored._make(values[:_STORED]), seen, *values[-2:])


@dataclass(frozen=True, slots=True)
class _Pulse:
    """What moves without a write to a space: its state, and which version of which entry is outdated by which other."""

    states: Mapping[SpaceKey, State | None]
    outdated: Mapping[tuple[UUID, int], UUID]
    soul: tuple[SoulBlock, ...]
    notices: tuple[Notice, ...]
    records: tuple[Record, ...]


class _Records:
    """The records that hold in the planned spaces, asked for with everything else."""

    def __init__(self, connection: AsyncConnection[TupleRow], plan: QueryPlan) -> None:
        self._cursor = connection.cursor(row_factory=dict_row) if plan.record_spaces else None
        self._sought = {
            "tenant_id": plan.persona.tenant_id,
            "space_ids": [space.space_id for space in plan.record_spaces],
            "as_of": plan.as_of,
        }

    async def ask(self) -> None:
        """Send the question."""
        if self._cursor is not None:
            await self._cursor.execute(_RECORDS["open_records"], self._sought)

    async def answer(self) -> tuple[Record, ...]:
        """The latest first, space by space."""
        return () if self._cursor is None else tuple(map(record_from, await self._cursor.fetchall()))


@dataclass(frozen=True, slots=True)
class PostgresRetriever:
    """Searches one store, each space with the model that serves it.

    Where all planned spaces are in memory, they are searched there; the database tells, while the question is still
    being embedded, whether what is in memory is what it has. Otherwise the database searches. Both bring up the same.
    """

    pool: Pool
    resident: ResidentSpaces | None = None

    async def retrieve(self, plan: QueryPlan, ask: Ask) -> Retrieved:
        """Candidates of all planned spaces and the persona's soul, in one round trip.

        Of spaces in memory, entries that were not served before take another one, and so does a space that was
        written to since.
        """
        kept = self._kept(plan)
        if kept is None or self.resident is None:
            return await self._from_database(plan, await ask())
        looking = asyncio.create_task(self._look(plan))
        looking.add_done_callback(lambda done: done.cancelled() or done.exception())  # also when nobody waits for it
        try:
            await asyncio.sleep(0)  # the database is asked, and the words are looked up while it answers
            sought = {space: _sought(plan, space) for space in kept}
            lexical = {space: resident.index.read(sought[space]) for space, resident in kept.items()}
            asked = await ask()
            pulse = await looking
        finally:
            looking.cancel()
        for space, resident in kept.items():
            if not await self.resident.renew(resident, pulse.states.get(space)):
                return await self._from_database(plan, asked)
        found = {
            space: resident.index.search(sought[space], lexical[space], _heard(resident, plan, asked))
            for space, resident in kept.items()
        }
        reads = await self._held(self.resident, plan.persona.tenant_id, kept, found)
        return _from_memory(plan, asked, reads, pulse)

    def _kept(self, plan: QueryPlan) -> dict[SpaceKey, Resident] | None:
        """The planned spaces, if all are in memory and what is asked can be answered there."""
        if self.resident is None or plan.looks_back or not plan.query:
            return None
        found = {space: self.resident.find(space) for space in plan.spaces}
        kept = {space: resident for space, resident in found.items() if resident is not None}
        return kept if len(kept) == len(found) else None

    async def _look(self, plan: QueryPlan) -> _Pulse:
        """The database's pulse, in one round trip."""
        async with connected(self.pool) as connection:
            cursors = {space: connection.cursor() for space in plan.spaces}
            soul, untold = connection.cursor(row_factory=dict_row), connection.cursor()
            records = _Records(connection, plan)
            async with tenant_pipeline(connection, plan.persona.tenant_id):
                for space, cursor in cursors.items():
                    await cursor.execute(_RESIDENT["pulse"], _address(space))
                if plan.wants_soul:
                    await soul.execute(_SQL["soul_blocks"], _address(plan.persona))
                await untold.execute(_UNTOLD, _untold(plan))
                await records.ask()
            rows = {space: await cursor.fetchone() for space, cursor in cursors.items()}
            found = await soul.fetchall() if plan.wants_soul else []
            blocks = [block_from(row, plan.persona.space_id) for row in found]
            notices = _notices(plan, await untold.fetchall())
            holding = await records.answer()
        states = {space: None if row is None else State(*row[:-1]) for space, row in rows.items()}
        told = [one.split() for row in rows.values() if row is not None for one in row[-1]]
        outdated = {(UUID(entry_id), int(version)): UUID(kept) for entry_id, version, kept in told}
        return _Pulse(states, outdated, tuple(blocks), notices, holding)

    async def _held(
        self,
        resident: ResidentSpaces,
        tenant_id: UUID,
        kept: Mapping[SpaceKey, Resident],
        found: Mapping[SpaceKey, Hits],
    ) -> list["_Read"]:
        """What was found, with the entries: those in memory, and the others from the database."""
        held = {space: kept[space].held(hits) for space, hits in found.items()}
        missing = {space: ids for space, (_, ids) in held.items() if ids}
        if missing:
            async with connected(self.pool) as connection:
                cursors = {space: connection.cursor() for space in missing}
                async with tenant_pipeline(connection, tenant_id):
                    for space, cursor in cursors.items():
                        wanted = {**_address(space), "ids": missing[space]}
                        await cursor.execute(_RESIDENT["rows"], wanted, binary=True)
                for space, cursor in cursors.items():
                    held[space][0].update(resident.keep(kept[space], await cursor.fetchall()))
        return [_Read(kept[space], hits, held[space][0]) for space, hits in found.items()]

    async def _from_database(self, plan: QueryPlan, asked: Sequence[Asked]) -> Retrieved:
        shared = {**_parameters(plan, asked), **question_parameters(asked)}
        async with connected(self.pool) as connection:
            cursors = [AsyncRawCursor(connection, row_factory=_rows) for _ in plan.spaces]
            soul, models = connection.cursor(row_factory=dict_row), connection.cursor()
            untold = connection.cursor()
            records = _Records(connection, plan)
            async with tenant_pipeline(connection, plan.persona.tenant_id):
                for space, cursor in zip(plan.spaces, cursors, strict=True):
                    values = {**shared, **_address(space), "pinned": _pinned(plan, space)}
                    await cursor.execute(_CANDIDATES.text, _CANDIDATES.values(values), binary=True)
                if plan.wants_soul:
                    await soul.execute(_SQL["soul_blocks"], _address(plan.persona))
                if plan.spaces:
                    await models.execute(_SQL["models_of"], _space_ids(plan))
                await untold.execute(_UNTOLD, _untold(plan))
                await records.ask()
            candidates: list[Candidate] = []
            below_floor: list[PublicId] = []
            for space, cursor in zip(plan.spaces, cursors, strict=True):
                for row in await cursor.fetchall():
                    if row.is_below_floor:
                        below_floor.append(PublicId(row.stored.id, space.space_id, TIERS[row.stored.tier][1]))
                    else:
                        made = template(row.stored, space.name, space.space_id)
                        candidates.append(made.candidate(*row.seen, outdated_by=row.outdated_by))
            told = await soul.fetchall() if plan.wants_soul else []
            blocks = [block_from(row, plan.persona.space_id) for row in told]
            model_of = dict(await models.fetchall()) if plan.spaces else {}
            notices = _notices(plan, await untold.fetchall())
            holding = await records.answer()
        names = {space.name: model_of[space.space_id] for space in plan.spaces if space.space_id in model_of}
        return Retrieved(
            candidates=tuple(candidates),
            soul=tuple(blocks),
            records=holding,
            degraded=_degraded(plan, asked, names),
            below_floor=tuple(below_floor),
            models=names,
            notices=notices,
        )


class _Read(NamedTuple):
    """What a space in memory brought up: places, and the entries at them."""

    resident: Resident
    hits: Hits
    held: Mapping[int, Template]

    def below_floor(self) -> list[PublicId]:
        """What is not relevant enough."""
        index, space_id = self.resident.index, self.resident.space.space_id
        return [index.public_id(place, space_id) for place in self.hits.below_floor]


def _from_memory(plan: QueryPlan, asked: Sequence[Asked], reads: Sequence[_Read], pulse: _Pulse) -> Retrieved:
    """What memory brings up."""
    states = {read.resident.space.name: read.resident.index.state for read in reads}
    models = {name: state.model_id for name, state in states.items() if state is not None}
    return Retrieved(
        candidates=tuple(
            candidate for read in reads for candidate in read.resident.candidates(read.hits, read.held, pulse.outdated)
        ),
        soul=pulse.soul,
        records=pulse.records,
        degraded=_degraded(plan, asked, models),
        below_floor=tuple(chain.from_iterable(read.below_floor() for read in reads)),
        models=models,
        notices=pulse.notices,
    )


def _untold(plan: QueryPlan) -> dict[str, Any]:
    return {**_address(_main_space(plan)), "scopes": list(plan.scopes), "looks_back": plan.looks_back}


def _main_space(plan: QueryPlan) -> SpaceKey:
    """Whose corrections are told: the main space, or the persona's where only the soul is read."""
    return plan.spaces[0] if plan.spaces else plan.persona


def _notices(plan: QueryPlan, rows: Iterable[Sequence[Any]]) -> tuple[Notice, ...]:
    space_id = _main_space(plan).space_id
    return tuple(Notice(PublicId(row_id, space_id, IdKind.CORRECTION), told) for row_id, told in rows)


def _degraded(plan: QueryPlan, asked: Sequence[Asked], models: Mapping[str, int]) -> tuple[str, ...]:
    return ("dense",) if plan.query and is_deaf(asked, models.values()) else ()


def _sought(plan: QueryPlan, space: SpaceKey) -> Sought:
    """What is looked for in a space that is in memory."""
    terms = _terms(plan)
    return Sought(
        terms=terms.terms,
        weights=terms.term_weights,
        words=terms.words,
        scopes=plan.scopes,
        scope_keys=[scope_key(scope) for scope in plan.scopes],
        at=plan.as_of,
        limit=plan.candidate_limit,
        preference_limit=_PREFERENCE_LIMIT,
        profile_limit=plan.profile_limit,
        pinned=_pinned(plan, space),
    )


def _heard(resident: Resident, plan: QueryPlan, asked: Sequence[Asked]) -> Heard:
    """The question, as the model of a space that is in memory hears it."""
    state = resident.index.state
    own = next((a for a in asked if state is not None and a.model_id == state.model_id), None)
    calibration = (own or asked[0]).calibration
    least_evidence = evidence_for(plan.min_relevance, calibration) - _ROUNDING
    return Heard(None if own is None else own.vector, least_evidence, calibration)


def _pinned(plan: QueryPlan, space: SpaceKey) -> list[UUID]:
    return [entry_id.uuid for entry_id in plan.pinned if entry_id.space_id == space.space_id]


class _Terms(NamedTuple):
    """The query's terms as parallel arrays."""

    terms: list[int]
    term_weights: list[float]
    words: list[int]


def is_deaf(asked: Sequence[Asked], served_by: Iterable[int]) -> bool:
    """Whether some space could not be searched by its model's vectors, or none could at all."""
    heard = {a.model_id for a in asked if a.vector is not None}
    return not heard or not heard.issuperset(served_by)


def question_parameters(asked: Sequence[Asked]) -> dict[str, Any]:
    """The question as each model hears it, as parallel arrays."""
    return {
        "model_ids": [a.model_id for a in asked],
        "vectors": [None if a.vector is None else Vector(a.vector) for a in asked],
        "cosine_offsets": [a.calibration.cosine_offset for a in asked],
        "keyword_weights": [a.calibration.keyword_weight for a in asked],
        "bm25_scales": [a.calibration.bm25_scale for a in asked],
        "keyword_powers": [a.calibration.keyword_power for a in asked],
    }


def _parameters(plan: QueryPlan, asked: Sequence[Asked]) -> dict[str, Any]:
    terms = _terms(plan)
    return {
        "terms": terms.terms,
        "term_weights": terms.term_weights,
        "words": terms.words,
        "scopes": list(plan.scopes),
        "scope_keys": [scope_key(scope) for scope in plan.scopes],
        "as_of": plan.as_of,
        "looks_back": plan.looks_back,
        "known_at": plan.known_at,
        "known_by": None if plan.known_at is None else last_uuid_of(plan.known_at),
        "asks": bool(plan.query),
        "candidate_limit": plan.candidate_limit,
        "preference_limit": _PREFERENCE_LIMIT,
        "profile_limit": plan.profile_limit,
        "least_evidences": [evidence_for(plan.min_relevance, a.calibration) - _ROUNDING for a in asked],
    }


def _space_ids(plan: QueryPlan) -> dict[str, Any]:
    return {"tenant_id": plan.persona.tenant_id, "space_ids": [space.space_id for space in plan.spaces]}


def _terms(plan: QueryPlan) -> _Terms:
    return _Terms([term_hash(t.term) for t in plan.terms], [t.weight for t in plan.terms], [t.word for t in plan.terms])


def _address(space: SpaceKey) -> dict[str, Any]:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}
