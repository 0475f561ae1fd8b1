"""Turns in Postgres: each is stored in one transaction with the jobs that work on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, dict_row
from psycopg.types.json import Jsonb

from app.domain.entries import KIND_OF_TIER, Author, Tier
from app.domain.errors import ConflictError, NotFoundError, PreconditionFailedError
from app.domain.evidence import Derived
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, parse_id
from app.domain.spaces import SpaceKey
from app.store.archives import lock_archive, note_file
from app.store.entries import Pool
from app.store.idempotency import find_outcome, keep_outcome
from app.store.pool import connected, tenant_pipeline, tenant_transaction
from app.store.queries import load
from app.store.queue import Queue
from app.turns.ports import Erasure, JobQuery, MessageQuery, SessionQuery
from app.turns.records import (
    CONVERSATION_GAP,
    SUBJECT_KIND,
    Conversation,
    Job,
    JobState,
    Message,
    NewJob,
    NewMessage,
    NewTurn,
    Session,
    Speaker,
    Task,
    Turn,
)
from app.turns.retention import Archive, Purged

_SQL = load("turns")
_JOBS = load("jobs")
_EVIDENCE = load("evidence")
_NO_PLATFORM: Final = ""

Row = Mapping[str, Any]
Connection = AsyncConnection[TupleRow]


@dataclass(frozen=True, slots=True)
class PostgresTurns:
    """The turns of one pool, and the queue of their jobs."""

    pool: Pool
    queue: Queue
    new_uuid: Callable[[], UUID]

    async def keep(self, turn: NewTurn, tasks: Sequence[Task], idempotency: IdempotencyKey | None) -> Turn | PublicId:
        """Store a turn, unless it is there; the stored turn, or the id of the one that was there."""
        try:
            return await self._keep(turn, tasks, idempotency)
        except psycopg.errors.UniqueViolation:  # the same was stored at the same moment
            return await self._keep(turn, tasks, idempotency)

    async def _keep(self, turn: NewTurn, tasks: Sequence[Task], idempotency: IdempotencyKey | None) -> Turn | PublicId:
        tenant_id = turn.space.tenant_id
        async with tenant_transaction(self.pool, tenant_id) as connection:
            if idempotency and (earlier := await find_outcome(connection, tenant_id, idempotency)) is not None:
                return parse_id(earlier[0]["id"])
            same = await _find_kept(connection, turn)
            stored = same or await self._store(connection, turn, tasks)
            if idempotency:
                await keep_outcome(connection, tenant_id, idempotency, [{"id": str(same or turn.id)}])
            return stored

    async def _store(self, connection: Connection, turn: NewTurn, tasks: Sequence[Task]) -> Turn:
        (row,) = await _rows(connection, _SQL["store_turn"], _turn_parameters(turn))
        space_id = turn.space.space_id
        if turn.given_id is not None:  # last of all: who holds it waits for nobody
            await take_turn_id(connection, turn.space, turn.given_id)
        work = [NewJob(space_id, task, turn.id.uuid) for task in tasks]
        work += [NewJob(space_id, Task.SUMMARY, conversation) for conversation in row["closed"]]
        await self.enqueue(connection, turn.space.tenant_id, work)
        return _stored(turn, row)

    async def enqueue(self, connection: Connection, tenant_id: UUID, work: Sequence[NewJob]) -> None:
        """Queue jobs in a transaction."""
        if not work:
            return
        new = [replace(job, id=self.new_uuid()) for job in work]
        parameters = {
            "tenant_id": tenant_id,
            "space_ids": [job.space_id for job in new],
            "ids": [job.id for job in new],
            "tasks": [job.task.value for job in new],
            "subjects": [job.subject for job in new],
            "erase": [job.erase for job in new],
        }
        await connection.execute(_SQL["insert_jobs"], parameters)
        await self.queue.defer(connection, tenant_id, new)

    async def turn(self, tenant_id: UUID, turn_id: PublicId) -> Turn | None:
        """A turn with its messages, and those of the turn before it."""
        address = _address(tenant_id, turn_id)
        async with connected(self.pool) as connection:
            turn, said = (connection.cursor(row_factory=dict_row) for _ in range(2))
            barred = connection.cursor()
            async with tenant_pipeline(connection, tenant_id):
                await turn.execute(_SQL["find_turn"], address)
                await said.execute(_SQL["turn_messages"], address)
                await barred.execute(_SQL["barred"], {**address, "turn": str(turn_id)})
            row, messages = await turn.fetchone(), [_message(r) for r in await said.fetchall()]
            kept_out = frozenset(viewer for (viewer,) in await barred.fetchall())
        if row is None:
            return None
        return _turn(
            row,
            tuple(m for m in messages if m.turn == turn_id),
            tuple(m for m in messages if m.turn != turn_id),
            kept_out,
        )

    async def entries(self, turn: Turn, spaces: Sequence[SpaceKey]) -> tuple[Derived, ...]:
        """The entries of some spaces that came of a turn and are still there: episodes first."""
        if not spaces:
            return ()
        tenant_id = spaces[0].tenant_id
        of = {"tenant_id": tenant_id, "turn": turn.id.uuid, "space_ids": [space.space_id for space in spaces]}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, _EVIDENCE["entries_of_turn"], of)
        return tuple(_derived_entry(row, turn.id.space_id) for row in rows)

    async def message(self, tenant_id: UUID, message_id: PublicId) -> Message | None:
        """A message; one that was deleted is none."""
        rows = await self._fetch(tenant_id, "find_message", _address(tenant_id, message_id))
        return _message(rows[0]) if rows else None

    async def messages_by_id(self, tenant_id: UUID, message_ids: Sequence[PublicId]) -> tuple[Message, ...]:
        """Messages of any spaces, those that were deleted included; in no order."""
        of = {"space_ids": [i.space_id for i in message_ids], "ids": [i.uuid for i in message_ids]}
        return tuple(map(_message, await self._fetch(tenant_id, "find_messages", {"tenant_id": tenant_id, **of})))

    async def messages(self, query: MessageQuery) -> tuple[Message, ...]:
        """Messages of a space, newest first, or best first."""
        space = query.space
        parameters = {
            "tenant_id": space.tenant_id,
            "space_id": space.space_id,
            "session": query.session,
            "terms": list(query.terms),
            "since": query.since,
            "until": query.until,
            "before": query.before,
            "author": query.author,
            "limit": query.limit,
        }
        name = "search_messages" if query.terms else "list_messages"
        return tuple(map(_message, await self._fetch(space.tenant_id, name, parameters)))

    async def edit(
        self, tenant_id: UUID, message: Message, text: str, tasks: Sequence[Task], idempotency: IdempotencyKey | None
    ) -> Message:
        """Replace the text of the version that is given."""
        address = _address(tenant_id, message.id)
        async with tenant_transaction(self.pool, tenant_id) as connection:
            if not (idempotency and await find_outcome(connection, tenant_id, idempotency) is not None):
                of = {**address, "message": message.id.uuid, "session": None, "ids": []}
                revised = await _rows(connection, _SQL["revise_turns"], of)
                changed = {**address, "text": text, "version": message.version}
                if not (await connection.execute(_SQL["edit_message"], changed)).rowcount:
                    raise PreconditionFailedError(f"{message.id} was changed at the same moment; read it again")
                await connection.execute(_SQL["forget_postings"], of)
                await self.enqueue(connection, tenant_id, _derived(message.id.space_id, revised, tasks, erase=False))
                if idempotency:
                    await keep_outcome(connection, tenant_id, idempotency, [{"id": str(message.id)}])
            rows = await _rows(connection, _SQL["find_message"], address)
        if not rows:
            raise NotFoundError(f"no message {message.id}")
        return _message(rows[0])

    async def delete(
        self, space: SpaceKey, tasks: Sequence[Task], *, message: UUID | None = None, session: UUID | None = None
    ) -> Erasure:
        """Take every word out of a message, or of all messages of a session."""
        of = {"tenant_id": space.tenant_id, "space_id": space.space_id, "message": message, "session": session}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            revised = await _rows(connection, _SQL["revise_turns"], of)
            await connection.execute(_SQL["forget_postings"], {**of, "ids": []})
            removed = await connection.execute(_SQL["delete_messages"], of)
            work = _derived(space.space_id, revised, tasks, erase=True)
            await self.enqueue(connection, space.tenant_id, work)
            return Erasure(removed.rowcount, len(work))

    async def cut(
        self, connection: Connection, tenant_id: UUID, space_id: UUID, texts: Mapping[UUID, str], tasks: Sequence[Task]
    ) -> tuple[tuple[PublicId, ...], int]:
        """Replace the texts of messages in a transaction, none of whose former words may stay; empty ones are deleted.

        Returns:
            The turns that this changes, and how many jobs bring what is derived from them up to it.
        """
        revised: dict[UUID, Row] = {}
        for message, text in texts.items():
            of: Row = {"tenant_id": tenant_id, "space_id": space_id, "message": message, "session": None, "ids": []}
            revised |= {row["id"]: row for row in await _rows(connection, _SQL["revise_turns"], of)}
            await connection.execute(_SQL["forget_postings"], of)
            if text:
                await connection.execute(_SQL["shorten_message"], {**of, "text": text})
            else:
                await connection.execute(_SQL["delete_messages"], of)
        work = _derived(space_id, list(revised.values()), tasks, erase=True)
        await self.enqueue(connection, tenant_id, work)
        return tuple(PublicId(turn, space_id, IdKind.TURN) for turn in revised), len(work)

    async def sessions(self, query: SessionQuery) -> tuple[Session, ...]:
        """The sessions of a space, the latest first."""
        last_at, last_id = query.before or (None, None)
        parameters = {
            "tenant_id": query.space.tenant_id,
            "space_id": query.space.space_id,
            "id": None,
            "since": query.since,
            "until": query.until,
            "limit": query.limit,
            "last_at": last_at,
            "before": last_id,
        }
        return tuple(map(_session, await self._fetch(query.space.tenant_id, "list_sessions", parameters)))

    async def session(self, tenant_id: UUID, session: PublicId) -> Session | None:
        """A session with its conversations, the latest first."""
        address = _address(tenant_id, session)
        async with tenant_transaction(self.pool, tenant_id) as connection:
            wanted = {**address, "limit": 1, "last_at": None, "before": None, "since": None, "until": None}
            rows = await _rows(connection, _SQL["list_sessions"], wanted)
            if not rows:
                return None
            of = {**address, "session": session.uuid}
            found = await _rows(connection, _SQL["session_conversations"], of)
        return replace(_session(rows[0]), conversations=tuple(map(_conversation, found)))

    async def recent(self, tenant_id: UUID, session: PublicId, limit: int, ttl_s: float) -> tuple[Message, ...]:
        """The latest messages of a session that still stand, oldest first."""
        parameters = {**_address(tenant_id, session), "session": session.uuid, "limit": limit, "ttl_s": ttl_s}
        return tuple(map(_message, await self._fetch(tenant_id, "recent_messages", parameters)))

    async def gone(self, tenant_id: UUID, session: PublicId, ttl_s: float) -> tuple[UUID, ...]:
        """Those of its messages that were deleted lately."""
        parameters = {**_address(tenant_id, session), "session": session.uuid, "ttl_s": ttl_s}
        return tuple(r["id"] for r in await self._fetch(tenant_id, "gone_messages", parameters))

    async def close(self, space: SpaceKey, session: UUID) -> int:
        """Close the conversations of a session that are open."""
        of = {"tenant_id": space.tenant_id, "space_id": space.space_id, "session": session}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            await connection.execute(_SQL["end_session"], of)
            closed = await _rows(connection, _SQL["close_session"], of)
            await self.enqueue(connection, space.tenant_id, _summaries(closed))
        return len(closed)

    async def close_silent(self, tenant_id: UUID, gap_s: float) -> int:
        """Close a tenant's conversations that have been silent for so long."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            closed = await _rows(connection, _SQL["close_silent"], {"tenant_id": tenant_id, "gap_s": gap_s})
            await self.enqueue(connection, tenant_id, _summaries(closed))
        return len(closed)

    async def is_awaited(self, tenant_id: UUID, turn: PublicId) -> bool:
        """Whether earlier turns of the space are still to be remembered, and have been for no more than a minute."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            return bool(await _rows(connection, _JOBS["awaited"], _address(tenant_id, turn)))

    async def conversation(
        self, tenant_id: UUID, conversation_id: PublicId
    ) -> tuple[Conversation, tuple[Message, ...], int] | None:
        """A conversation, all that was said in it in order, and its revision."""
        address = _address(tenant_id, conversation_id)
        async with tenant_transaction(self.pool, tenant_id) as connection:
            (revision,) = await _rows(connection, _SQL["revision"], address)
            rows = await _rows(connection, _SQL["find_conversation"], address)
            messages = await _rows(connection, _SQL["conversation_messages"], address)
        return (_conversation(rows[0]), tuple(map(_message, messages)), revision["revision"]) if rows else None

    async def summarise(self, tenant_id: UUID, conversation_id: PublicId, summary: Mapping[str, Any] | None) -> None:
        """Keep a summary."""
        parameters = {**_address(tenant_id, conversation_id), "summary": None if summary is None else Jsonb(summary)}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await connection.execute(_SQL["keep_summary"], parameters)

    async def index(self, tenant_id: UUID, turn: Turn, terms: Mapping[PublicId, Mapping[int, float]]) -> bool:
        """Make the messages of a turn searchable; false if it was changed since it was read."""
        address = _address(tenant_id, turn.id)
        ids = [message.id.uuid for message in turn.messages]
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, _SQL["lock_turn"], address)
            if not rows or rows[0]["revision"] != turn.revision:
                return not rows
            async with connection.pipeline():
                of = {**address, "message": None, "session": None, "ids": ids}
                await connection.execute(_SQL["forget_postings"], of)
                for message_id, counts in terms.items():
                    values = {
                        **address,
                        "id": message_id.uuid,
                        "terms": list(counts),
                        "tfs": list(counts.values()),
                        "length": sum(counts.values()),
                    }
                    await connection.execute(_SQL["index_message"], values)
                    await connection.execute(_SQL["insert_postings"], values)
        return True

    async def _fetch(self, tenant_id: UUID, name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        async with tenant_transaction(self.pool, tenant_id) as connection:
            return await _rows(connection, _SQL[name], parameters)

    async def history_settings(self, tenant_id: UUID) -> tuple[int | None, Mapping[str, Any] | None]:
        """The days that a tenant chose, and the last report."""
        rows = await self._fetch(tenant_id, "history_settings", {"tenant_id": tenant_id})
        return (rows[0]["days"], rows[0]["report"]) if rows else (None, None)

    async def set_history_days(self, tenant_id: UUID, days: int | None) -> None:
        """Choose the days; None for the default."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await connection.execute(_SQL["set_history_days"], {"tenant_id": tenant_id, "days": days})

    async def keep_report(self, tenant_id: UUID, report: Mapping[str, Any]) -> None:
        """Keep what a purge did."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await connection.execute(_SQL["keep_report"], {"tenant_id": tenant_id, "report": Jsonb(dict(report))})

    async def purge_turns(self, tenant_id: UUID, until: datetime, limit: int, archive: Archive | None) -> Purged:
        """Remove the oldest turns that were stored before a moment, with their messages and index rows."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await lock_archive(connection, tenant_id)
            turns = await _old_turns(connection, {"tenant_id": tenant_id, "until": until, "limit": limit})
            if not turns:
                return Purged()
            file = None
            if archive is not None:
                file = await archive.put(tenant_id, turns)
                spaces = {turn.space for turn in turns} | {m.personal_space for turn in turns for m in turn.messages}
                await note_file(connection, tenant_id, file, sorted(space for space in spaces if space))
            of = {
                "tenant_id": tenant_id,
                "space_ids": [turn.id.space_id for turn in turns],
                "turns": [turn.id.uuid for turn in turns],
            }
            await connection.execute(_SQL["purge_postings"], of)
            removed = await connection.execute(_SQL["purge_messages"], of)
            await connection.execute(_SQL["purge_turns"], of)
            return Purged(turns, removed.rowcount, file)

    async def purge_rest(self, tenant_id: UUID, until: datetime) -> None:
        """Remove conversations and sessions of which no turn is left, and jobs that are long done."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            for name in ("purge_conversations", "purge_sessions", "purge_jobs"):
                await connection.execute(_SQL[name], {"tenant_id": tenant_id, "until": until})

    async def job(self, tenant_id: UUID, job_id: PublicId) -> Job | None:
        """A job."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, _JOBS["find_job"], _address(tenant_id, job_id))
        return _job(rows[0]) if rows else None

    async def jobs(self, tenant_id: UUID, query: JobQuery) -> tuple[Job, ...]:
        """Jobs, newest first."""
        state = query.state
        is_running = {JobState.WAITING: False, JobState.RUNNING: True}.get(state) if state is not None else None
        parameters = {
            "tenant_id": tenant_id,
            "spaces": None if query.spaces is None else list(query.spaces),
            "state": JobState.WAITING if is_running else state,
            "is_running": is_running,
            "subject_spaces": [subject.space_id for subject in query.subjects],
            "subjects": [subject.uuid for subject in query.subjects],
            "limit": query.limit,
            "before": query.before,
        }
        statement = _JOBS["jobs_of_subjects" if query.subjects else "list_jobs"]
        async with tenant_transaction(self.pool, tenant_id) as connection:
            return tuple(map(_job, await _rows(connection, statement, parameters)))

    async def retry(self, tenant_id: UUID, job: Job) -> None:
        """Queue a failed job again."""
        address = _address(tenant_id, job.id)
        async with tenant_transaction(self.pool, tenant_id) as connection:
            if not (await connection.execute(_JOBS["retry_job"], address)).rowcount:
                raise ConflictError(f"{job.id} has not failed")
            await connection.execute(_JOBS["drop_failed"], {"job": str(job.id.uuid)})
            again = NewJob(job.id.space_id, job.task, job.subject.uuid, job.erase, job.id.uuid)
            await self.queue.defer(connection, tenant_id, [again])


async def take_turn_id(connection: Connection, space: SpaceKey, given_id: str) -> None:
    """Have the platform's id of a turn to oneself until the transaction ends.

    A turn and the barriers about it take it: of two at the same moment, the later one sees what the earlier one did.
    """
    of = {"tenant_id": space.tenant_id, "space_id": space.space_id, "given_id": given_id}
    await connection.execute(_SQL["take_turn_id"], of)


async def _old_turns(connection: Connection, of: Row) -> tuple[Turn, ...]:
    """The oldest turns with their messages, locked; but for those that are being changed."""
    rows = await _rows(connection, _SQL["old_turns"], of)
    wanted = {"space_ids": [r["space_id"] for r in rows], "turns": [r["id"] for r in rows]}
    found = await _rows(connection, _SQL["old_messages"], {"tenant_id": of["tenant_id"], **wanted})
    messages: dict[PublicId, list[Message]] = {}
    for message in map(_message, found):
        messages.setdefault(message.turn, []).append(message)
    return tuple(
        _turn(row, tuple(messages.get(PublicId(row["id"], row["space_id"], IdKind.TURN), ())), ()) for row in rows
    )


async def _find_kept(connection: Connection, turn: NewTurn) -> PublicId | None:
    """The same turn, if it is there.

    Raises:
        ConflictError: If another turn has its id, or one of its messages' ids.
    """
    given = [message for message in turn.messages if message.given_id is not None]
    if turn.given_id is None and not given:
        return None
    parameters = {
        "tenant_id": turn.space.tenant_id,
        "space_id": turn.space.space_id,
        "given_id": turn.given_id,
        "platforms": [_platform(message) for message in given],
        "given_ids": [message.given_id for message in given],
    }
    found = await _rows(connection, _SQL["find_kept"], parameters)
    for row in found:
        if bytes(row["fingerprint"]) != turn.fingerprint:
            raise ConflictError("another turn has this id, or a message with one of these ids")
    return PublicId(found[0]["id"], turn.space.space_id, IdKind.TURN) if found else None


def _platform(message: NewMessage) -> str:
    return message.author.platform or _NO_PLATFORM


def _turn_parameters(turn: NewTurn) -> dict[str, Any]:
    return {
        "tenant_id": turn.space.tenant_id,
        "space_id": turn.space.space_id,
        "space": turn.space.name,
        "id": turn.id.uuid,
        "session": turn.session,
        "session_name": turn.session_name,
        "conversation": turn.conversation,
        "given_id": turn.given_id,
        "fingerprint": turn.fingerprint,
        "said_at": turn.said_at,
        "scope": turn.scope,
        "gap_s": CONVERSATION_GAP.total_seconds(),
        "messages": Jsonb([_message_fields(message, position) for position, message in enumerate(turn.messages)]),
    }


def _message_fields(message: NewMessage, position: int) -> dict[str, Any]:
    return {
        "id": str(message.id),
        "position": position,
        "given_id": message.given_id,
        "platform": _platform(message),
        "author_id": message.author.id,
        "author_name": message.author.name,
        "role": message.role.value,
        "text": message.text,
        "said_at": message.said_at.isoformat(),
        "mentions": list(message.mentions),
        "media": list(message.media),
        "event": message.event,
        "personal_space": message.personal_space,
    }


def _stored(turn: NewTurn, row: Row) -> Turn:
    """A turn as it was stored just now."""
    space_id = turn.space.space_id
    session = PublicId(turn.session, space_id, IdKind.SESSION)
    messages = tuple(
        Message(
            id=PublicId(new.id, space_id, IdKind.MESSAGE),
            turn=turn.id,
            session=session,
            space=turn.space.name,
            position=position,
            text=new.text,
            role=new.role,
            said_at=new.said_at,
            recorded_at=row["recorded_at"],
            author=new.author,
            given_id=new.given_id,
            mentions=new.mentions,
            media=new.media,
            event=new.event,
            personal_space=new.personal_space,
            version=1,
            edited_at=None,
            deleted_at=None,
        )
        for position, new in enumerate(turn.messages)
    )
    return Turn(
        id=turn.id,
        space=turn.space.name,
        session=session,
        session_name=row["session_name"],
        conversation=PublicId(row["conversation"], space_id, IdKind.CONVERSATION),
        given_id=turn.given_id,
        said_at=turn.said_at,
        recorded_at=row["recorded_at"],
        revision=1,
        messages=messages,
        scope=row["scope"],
    )


def _summaries(closed: Sequence[Row]) -> list[NewJob]:
    return [NewJob(row["space_id"], Task.SUMMARY, row["id"]) for row in closed]


def _derived(space_id: UUID, revised: Sequence[Row], tasks: Sequence[Task], *, erase: bool) -> list[NewJob]:
    """The work that brings everything derived up to turns whose messages have changed."""
    work = [NewJob(space_id, task, row["id"], erase) for row in revised for task in tasks]
    summarised = dict.fromkeys(row["conversation"] for row in revised if row["conversation"] is not None)
    return work + [NewJob(space_id, Task.SUMMARY, conversation, erase) for conversation in summarised]


def _address(tenant_id: UUID, item: PublicId) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "space_id": item.space_id, "id": item.uuid}


async def _rows(
    connection: Connection, statement: LiteralString, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement, parameters)
        return await cursor.fetchall()


def _turn(
    row: Row, messages: tuple[Message, ...], before: tuple[Message, ...], barred: frozenset[str] = frozenset()
) -> Turn:
    space_id: UUID = row["space_id"]
    return Turn(
        id=PublicId(row["id"], space_id, IdKind.TURN),
        space=row["space"],
        session=PublicId(row["session"], space_id, IdKind.SESSION),
        session_name=row["session_name"],
        conversation=PublicId(row["conversation"], space_id, IdKind.CONVERSATION),
        given_id=row["given_id"],
        said_at=row["said_at"],
        recorded_at=row["recorded_at"],
        revision=row["revision"],
        messages=messages,
        before=before,
        scope=row["scope"],
        barred=barred,
    )


def _message(row: Row) -> Message:
    space_id: UUID = row["space_id"]
    return Message(
        id=PublicId(row["id"], space_id, IdKind.MESSAGE),
        turn=PublicId(row["turn"], space_id, IdKind.TURN),
        session=PublicId(row["session"], space_id, IdKind.SESSION),
        space=row["space"],
        position=row["position"],
        text=row["text"],
        role=Speaker(row["role"]),
        said_at=row["said_at"],
        recorded_at=row["recorded_at"],
        author=Author(row["author_name"], row["platform"] or None, row["author_id"]),
        given_id=row["given_id"],
        mentions=tuple(row["mentions"]),
        media=tuple(row["media"]),
        event=row["event"],
        personal_space=row["personal_space"],
        version=row["version"],
        edited_at=row["edited_at"],
        deleted_at=row["deleted_at"],
    )


def _derived_entry(row: Row, space_id: UUID) -> Derived:
    tier = Tier(row["tier"])
    message = None if row["message"] is None else PublicId(row["message"], space_id, IdKind.MESSAGE)
    return Derived(PublicId(row["id"], row["space_id"], KIND_OF_TIER[tier]), row["space"], tier, message)


def _session(row: Row) -> Session:
    return Session(
        id=PublicId(row["id"], row["space_id"], IdKind.SESSION),
        name=row["name"],
        space=row["space"],
        started_at=row["started_at"],
        last_at=row["last_at"],
        messages=row["messages"],
        latest=row["latest"],
    )


def _conversation(row: Row) -> Conversation:
    return Conversation(
        id=PublicId(row["id"], row["space_id"], IdKind.CONVERSATION),
        session=PublicId(row["session"], row["space_id"], IdKind.SESSION),
        space=row["space"],
        started_at=row["started_at"],
        last_at=row["last_at"],
        closed_at=row["closed_at"],
        summary=row["summary"],
        scope=row["scope"],
    )


def _job(row: Row) -> Job:
    task = Task(row["task"])
    return Job(
        id=PublicId(row["id"], row["space_id"], IdKind.JOB),
        space=row["space"],
        task=task,
        subject=PublicId(row["subject"], row["space_id"], SUBJECT_KIND[task]),
        erase=row["erase"],
        state=JobState.RUNNING if row["is_running"] else JobState(row["state"]),
        attempts=row["attempts"],
        error=row["error"],
        created_at=row["created_at"],
        tried_at=row["tried_at"],
        note=row["note"],
    )
