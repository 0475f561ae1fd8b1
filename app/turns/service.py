"""The shell of turns: what was said is stored, read, corrected and taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from app.domain.callers import Caller
from app.domain.entries import Author, Entry
from app.domain.errors import FieldProblem, InvalidInputError, NotFoundError, PreconditionFailedError
from app.domain.evidence import Basis, Derived
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, find_id
from app.domain.spaces import SpaceKey
from app.text.terms import query_terms, term_hash
from app.turns.documents import personal_space
from app.turns.ports import Erasure, JobQuery, JobStore, MessageQuery, NewId, SessionQuery, TurnStore, WorkingMemory
from app.turns.records import Job, Message, NewMessage, NewTurn, Session, Speaker, Task, Turn, session_uuid
from app.turns.remembered import may_be_remembered, spaces_of
from app.turns.sources import SOURCES, EntrySource, reaches, source_of, sources_by_id

DERIVED: Final = (Task.HISTORY, Task.EPISODE, Task.PERSONAL, Task.MEMORIES)
"""What brings everything derived up to a turn whose messages have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A message as it was posted."""

    text: str
    role: Speaker = Speaker.USER
    author: Author = field(default_factory=Author)
    at: datetime | None = None
    given_id: str | None = None
    mentions: tuple[str, ...] = ()
    media: tuple[dict[str, str], ...] = ()
    event: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedTurn:
    """A turn as it was posted. The reply is its last message; without a scope it has its session's."""

    space: str
    session: str | None
    given_id: str | None
    fingerprint: bytes
    messages: tuple[Posted, ...]
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class TurnService:
    """Post, read, edit and delete what was said."""

    store: TurnStore
    working: WorkingMemory
    new_id: NewId

    async def post(
        self, caller: Caller, posted: PostedTurn, now: datetime, idempotency: IdempotencyKey | None = None
    ) -> Turn:
        """Store a turn with its jobs; the same turn again changes nothing, and answers the same.

        Raises:
            ForbiddenError: If the key may not write there.
            InvalidInputError: If its session is one of another space.
            ConflictError: If another turn has its id, or one of its messages' ids.
        """
        space = caller.writable_space(posted.space)
        new = self._new_turn(caller, space, posted, now)
        tasks = [Task.HISTORY, Task.EPISODE]
        if any(message.personal_space for message in new.messages):
            tasks.append(Task.PERSONAL)
        if may_be_remembered(new.messages, space.name):
            tasks.append(Task.MEMORIES)
        kept = await self.store.keep(new, tasks, idempotency)
        if isinstance(kept, Turn):
            await self.working.add(space.tenant_id, kept.messages)
            return kept
        turn = await self.store.turn(space.tenant_id, kept)
        if turn is None:
            raise NotFoundError(f"the turn {kept} was purged from the history since")
        return turn

    def _new_turn(self, caller: Caller, space: SpaceKey, posted: PostedTurn, now: datetime) -> NewTurn:
        session, name = self._session(space, posted.session)
        messages = tuple(self._new_message(caller, space, message, now) for message in posted.messages)
        return NewTurn(
            id=self.new_id(IdKind.TURN, space.space_id),
            space=space,
            session=session,
            session_name=name,
            conversation=self.new_id(IdKind.CONVERSATION, space.space_id).uuid,
            given_id=posted.given_id,
            fingerprint=posted.fingerprint,
            said_at=min(message.said_at for message in messages),
            messages=messages,
            scope=posted.scope,
        )

    def _session(self, space: SpaceKey, session: str | None) -> tuple[UUID, str | None]:
        if session is None:
            return self.new_id(IdKind.SESSION, space.space_id).uuid, None
        return session_of(space, session), None if find_id(session, IdKind.SESSION) else session

    def _new_message(self, caller: Caller, space: SpaceKey, posted: Posted, now: datetime) -> NewMessage:
        message = NewMessage(
            id=self.new_id(IdKind.MESSAGE, space.space_id).uuid,
            text=posted.text,
            role=posted.role,
            said_at=posted.at or now,
            author=posted.author,
            given_id=posted.given_id,
            mentions=posted.mentions,
            media=posted.media,
            event=posted.event,
        )
        own = personal_space(message, space.name)
        return message if own is None or not caller.may_touch(own) else replace(message, personal_space=own)

    async def get(self, caller: Caller, turn_id: PublicId) -> Turn:
        """A turn.

        Raises:
            NotFoundError: If the caller's tenant has no such turn within the key's reach.
        """
        turn = await self.find(caller, turn_id)
        if turn is None:
            raise NotFoundError(f"no turn {turn_id}")
        return turn

    async def find(self, caller: Caller, turn_id: PublicId) -> Turn | None:
        """A turn; None if there is none any more within the key's reach."""
        turn = await self.store.turn(caller.tenant_id, turn_id)
        return turn if turn is not None and caller.may_touch(turn.space) else None

    async def entries(self, caller: Caller, turn: Turn) -> tuple[Derived, ...]:
        """What came of a turn so far, within the key's reach: episodes first."""
        return await self.store.entries(turn, personal_spaces(caller, turn))

    async def sources(self, caller: Caller, entry: Entry, bases: Sequence[Basis]) -> tuple[EntrySource, ...]:
        """The messages that an entry comes of, the latest first: what it rests on, or else what its source names."""
        named = find_id(entry.content.source or "", IdKind.MESSAGE, IdKind.TURN, IdKind.CONVERSATION)
        wanted = [basis.message for basis in bases]
        if named is not None and named.kind is not IdKind.MESSAGE and not wanted:
            messages = reversed(await self._said_in(caller, entry.space, named))
            return tuple(source_of(caller, message) for message in messages)[:SOURCES]
        if named is not None and named.kind is IdKind.MESSAGE and named not in wanted:
            wanted = [named, *wanted]
        found = await self.store.messages_by_id(caller.tenant_id, wanted) if wanted else ()
        return sources_by_id(caller, wanted, bases, {message.id: message for message in found})

    async def _said_in(self, caller: Caller, space: str, whole: PublicId) -> list[Message]:
        """What a key reaches of a turn or conversation, as far as an entry of a space can be made of it."""
        if whole.kind is IdKind.TURN:
            turn = await self.store.turn(caller.tenant_id, whole)
            messages = () if turn is None else turn.messages
        else:
            found = await self.store.conversation(caller.tenant_id, whole)
            messages = () if found is None else found[1]
        return [m for m in messages if space in (m.space, m.personal_space) and reaches(caller, m)]

    async def message(self, caller: Caller, message_id: PublicId) -> Message:
        """A message.

        Raises:
            NotFoundError: If there is none, or it was deleted.
        """
        message = await self.store.message(caller.tenant_id, message_id)
        if message is None or not caller.may_touch(message.space):
            raise NotFoundError(f"no message {message_id}")
        return message

    async def messages(self, query: MessageQuery, words: str) -> tuple[Message, ...]:
        """Messages of a space: newest first, or those that say something of what is sought, best first."""
        if not words.strip():
            return await self.store.messages(query)
        terms = tuple(term_hash(term.term) for term in query_terms(words))
        if not terms:
            return ()
        return await self.store.messages(replace(query, terms=terms))

    async def edit(
        self,
        caller: Caller,
        message_id: PublicId,
        text: str,
        *,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Message:
        """Replace a message's text, here and in everything derived from it.

        Raises:
            NotFoundError: If there is no such message.
            PreconditionFailedError: If `if_version` is not the current one.
        """
        message = await self._writable(caller, message_id, if_version)
        edited = await self.store.edit(caller.tenant_id, message, text, DERIVED, idempotency)
        await self.working.add(caller.tenant_id, [edited])
        return edited

    async def delete(self, caller: Caller, message_id: PublicId, *, if_version: int | None = None) -> Erasure:
        """Take a message back, here and from everything derived from it.

        Raises:
            NotFoundError: If there is no such message.
            PreconditionFailedError: If `if_version` is not the current one.
        """
        message = await self._writable(caller, message_id, if_version)
        erased = await self.store.delete(caller.writable_space(message.space), DERIVED, message=message_id.uuid)
        await self.working.forget(caller.tenant_id, message.session, [message_id])
        return erased

    async def _writable(self, caller: Caller, message_id: PublicId, if_version: int | None) -> Message:
        message = await self.message(caller, message_id)
        caller.writable_space(message.space)
        if if_version is not None and message.version != if_version:
            raise PreconditionFailedError(f"{message_id} is at version {message.version}, not {if_version}")
        return message

    async def sessions(self, query: SessionQuery) -> tuple[Session, ...]:
        """The sessions of a space, the latest first."""
        return await self.store.sessions(query)

    async def session(self, caller: Caller, session: PublicId) -> Session:
        """A session with its conversations.

        Raises:
            NotFoundError: If there is none.
        """
        found = await self.store.session(caller.tenant_id, session)
        if found is None or not caller.may_touch(found.space):
            raise NotFoundError(f"no session {session}")
        return found

    async def recent(self, caller: Caller, session: PublicId) -> tuple[Message, ...]:
        """What working memory holds of a session, oldest first.

        Raises:
            NotFoundError: If there is no such session.
            UnavailableError: If it does not answer.
        """
        found = await self.session(caller, session)
        return await self.working.recent(caller.tenant_id, found.id)

    async def end(self, caller: Caller, session: PublicId) -> int:
        """Close what is open of a session, to be summarised; how many conversations.

        Raises:
            NotFoundError: If there is no such session.
        """
        found = await self.session(caller, session)
        return await self.store.close(caller.writable_space(found.space), session.uuid)

    async def delete_session(self, caller: Caller, session: PublicId) -> Erasure:
        """Take back all that was said in a session.

        Raises:
            NotFoundError: If there is no such session.
        """
        found = await self.session(caller, session)
        space = caller.writable_space(found.space)
        await self.store.close(space, session.uuid)
        erased = await self.store.delete(space, DERIVED, session=session.uuid)
        await self.working.forget(caller.tenant_id, session, None)
        return erased


def personal_spaces(caller: Caller, turn: Turn) -> list[SpaceKey]:
    """The spaces in which something can come of a turn, within a key's reach."""
    return [SpaceKey(caller.tenant_id, name) for name in spaces_of(turn) if caller.may_touch(name)]


def session_position(cursor: str) -> tuple[datetime, UUID]:
    """Where a list of sessions goes on: the last time and the id of its last session.

    Raises:
        InvalidInputError: If it is no such position.
    """
    moment, _, last = cursor.partition(" ")
    try:
        return datetime.fromisoformat(moment).astimezone(UTC), UUID(last)
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(FieldProblem("cursor", "must be the next_cursor of an earlier page")) from error


def session_of(space: SpaceKey, session: str) -> UUID:
    """The id of a session in a space, by our id or by the platform's name.

    Raises:
        InvalidInputError: If it is the id of a session in another space.
    """
    found = find_id(session, IdKind.SESSION)
    if found is None:
        return session_uuid(space, session)
    if found.space_id != space.space_id:
        raise InvalidInputError(FieldProblem("session", "is a session of another space"))
    return found.uuid


@dataclass(frozen=True, slots=True)
class JobService:
    """The jobs of a tenant, as far as a key reaches."""

    store: JobStore

    async def get(self, caller: Caller, job_id: PublicId) -> Job:
        """A job.

        Raises:
            NotFoundError: If there is none within the key's reach.
        """
        job = await self.store.job(caller.tenant_id, job_id)
        if job is None or not caller.may_touch(job.space):
            raise NotFoundError(f"no job {job_id}")
        return job

    async def listing(self, caller: Caller, query: JobQuery) -> tuple[Job, ...]:
        """Jobs within the key's reach, newest first."""
        reach = caller.spaces if query.spaces is None else [caller.space(name).name for name in query.spaces]
        within = replace(query, spaces=None if reach is None else tuple(sorted(reach)))
        return await self.store.jobs(caller.tenant_id, within)

    async def retry(self, caller: Caller, job_id: PublicId) -> Job:
        """Have a job that failed tried again.

        Raises:
            NotFoundError: If there is none within the key's reach.
            ForbiddenError: If the key may not write there.
            ConflictError: If it has not failed.
        """
        job = await self.get(caller, job_id)
        caller.writable_space(job.space)
        await self.store.retry(caller.tenant_id, job)
        return await self.get(caller, job_id)
