"""Records in Postgres: append-only versions, written with the space locked, and the barriers that they raise."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row
from psycopg.types.json import Jsonb

from app.domain.entries import Claim
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, find_id, parse_id
from app.domain.records import Barrier, Record, RecordStatus
from app.domain.spaces import SpaceKey
from app.entries.tombstones import erased_record_mark
from app.records.ports import RecordListing
from app.store.entries import Pool
from app.store.idempotency import find_outcome, keep_outcome
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.spaces import lock_space
from app.store.tombstones import bury
from app.store.turns import take_turn_id
from app.turns.records import NewJob, Task

_SQL = load("records")

Connection = AsyncConnection[TupleRow]
Enqueue = Callable[[Connection, UUID, Sequence[NewJob]], Awaitable[None]]
"""Queues jobs in a transaction."""


@dataclass(frozen=True, slots=True)
class PostgresRecords:
    """The records of one pool."""

    pool: Pool
    enqueue: Enqueue

    @asynccontextmanager
    async def unit(self, space: SpaceKey) -> AsyncIterator["PostgresRecordUnit"]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            locked = await lock_space(connection, space)
            yield PostgresRecordUnit(connection, space, locked.now, self.enqueue)

    async def current(self, tenant_id: UUID, record_id: PublicId) -> Record | None:
        """The current version of a record."""
        found = await self._fetch(tenant_id, "current_record", _address(tenant_id, record_id))
        return found[0] if found else None

    async def listing(self, listing: RecordListing) -> tuple[Record, ...]:
        """Current records, newest first."""
        space = listing.space
        parameters = {
            "tenant_id": space.tenant_id,
            "space_id": space.space_id,
            "before": listing.before,
            "kind": listing.kind,
            "subject": listing.subject,
            "status": listing.status,
            "at": listing.at,
            "limit": listing.limit,
        }
        return await self._fetch(space.tenant_id, "list_records", parameters)

    async def history(self, tenant_id: UUID, record_id: PublicId, limit: int, before: int | None) -> tuple[Record, ...]:
        """Versions below `before`, newest first."""
        parameters = {**_address(tenant_id, record_id), "limit": limit, "before": before}
        return await self._fetch(tenant_id, "record_history", parameters)

    async def _fetch(self, tenant_id: UUID, name: str, parameters: Mapping[str, Any]) -> tuple[Record, ...]:
        async with tenant_transaction(self.pool, tenant_id) as connection:
            return tuple(map(record_from, await _rows(connection, _SQL[name], parameters)))


@dataclass(frozen=True, slots=True)
class PostgresRecordUnit:
    """The records of one locked space, inside its transaction."""

    connection: Connection
    space: SpaceKey
    now: datetime
    enqueue: Enqueue

    async def earlier(self, key: IdempotencyKey) -> tuple[PublicId, int] | None:
        """What the same request wrote before."""
        outcome = await find_outcome(self.connection, self.space.tenant_id, key)
        return None if outcome is None else (parse_id(outcome[0]["id"]), outcome[0]["version"])

    async def remember(self, key: IdempotencyKey, record: Record) -> None:
        """Keep what was written under a key."""
        outcome = [{"id": str(record.id), "version": record.version}]
        await keep_outcome(self.connection, self.space.tenant_id, key, outcome)

    async def current(self, record_id: PublicId) -> Record | None:
        """The current version."""
        address = _address(self.space.tenant_id, record_id)
        rows = await _rows(self.connection, _SQL["current_record"], address)
        return record_from(rows[0]) if rows else None

    async def write(self, record: Record) -> None:
        """Store a version; it closes the one before."""
        columns = {
            **_address(self.space.tenant_id, record.id),
            "version": record.version,
            "kind": record.kind,
            "subjects": list(record.subjects),
            "payload": Jsonb(dict(record.payload)),
            "text": record.text,
            "claim_subject": record.claim and record.claim.subject,
            "claim_attribute": record.claim and record.claim.attribute,
            "claim_value": record.claim and record.claim.value,
            "status": record.status.value,
            "expires_at": record.expires_at,
            "created_at": record.created_at,
            "recorded_at": record.recorded_at,
            "reason": record.reason,
        }
        await self.connection.execute(_SQL["close_record"], columns)
        await self.connection.execute(_SQL["insert_record"], columns)

    async def erase(self, record_id: PublicId) -> int:
        """Remove a record physically; an import does not bring it back."""
        address = _address(self.space.tenant_id, record_id)
        rows = await _rows(self.connection, _SQL["erase_record"], address)
        await bury(self.connection, address, {erased_record_mark(row["text"]): None for row in rows}, self.now)
        return len(rows)

    async def raise_barrier(self, barrier: Barrier, record_id: PublicId) -> None:
        """Keep a turn out of personal memory; if it is there already, a job withdraws what was derived of it."""
        space = SpaceKey(self.space.tenant_id, barrier.space)
        ours = find_id(barrier.turn, IdKind.TURN)
        about = {
            "tenant_id": space.tenant_id,
            "space_id": space.space_id,
            "turn": barrier.turn,
            "id": None if ours is None else ours.uuid,
        }
        if ours is None:
            await take_turn_id(self.connection, space, barrier.turn)
        raised = {**about, "viewers": list(barrier.viewers or ("",)), "record": record_id.uuid}
        await self.connection.execute(_SQL["raise_barrier"], raised)
        cursor = await self.connection.execute(_SQL["revise_barred"], about)
        turns = [row[0] for row in await cursor.fetchall()]
        work = [
            NewJob(space.space_id, task, turn, erase=True) for turn in turns for task in (Task.PERSONAL, Task.MEMORIES)
        ]
        await self.enqueue(self.connection, space.tenant_id, work)


async def _rows(connection: Connection, statement: LiteralString, parameters: Mapping[str, Any]) -> list[DictRow]:
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(statement, parameters)
    return await cursor.fetchall()


def _address(tenant_id: UUID, record_id: PublicId) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "space_id": record_id.space_id, "id": record_id.uuid}


def record_from(row: Mapping[str, Any]) -> Record:
    """One version, from a row of record_versions with the name of its space."""
    has_claim = row["claim_subject"] is not None
    return Record(
        id=PublicId(row["id"], row["space_id"], IdKind.RECORD),
        version=row["version"],
        space=row["space"],
        kind=row["kind"],
        subjects=tuple(row["subjects"]),
        payload=row["payload"],
        text=row["text"],
        claim=Claim(row["claim_subject"], row["claim_attribute"], row["claim_value"]) if has_claim else None,
        status=RecordStatus(row["status"]),
        expires_at=row["expires_at"],
        created_at=row["created_at"],
        recorded_at=row["recorded_at"],
        reason=row["reason"],
    )
