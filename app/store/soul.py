"""Soul blocks in Postgres: append-only versions, written with the space locked."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row

from app.domain.idempotency import IdempotencyKey
from app.domain.ids import PublicId
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey
from app.entries.tombstones import erased_block_mark
from app.soul.ports import PlacedBlock
from app.store.entries import Pool
from app.store.idempotency import find_outcome, keep_outcome
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import block_from
from app.store.spaces import lock_space
from app.store.tombstones import bury

_SQL = load("soul")

Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PostgresSoul:
    """The soul store of one pool."""

    pool: Pool

    @asynccontextmanager
    async def unit(self, space: SpaceKey) -> AsyncIterator["PostgresSoulUnit"]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            locked = await lock_space(connection, space)
            yield PostgresSoulUnit(connection, space, locked.now)

    async def current(self, tenant_id: UUID, block_id: PublicId) -> PlacedBlock | None:
        """The current version of a block."""
        parameters = {"tenant_id": tenant_id, "space_id": block_id.space_id, "id": block_id.uuid}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, _SQL["current_block"], parameters)
        return PlacedBlock(rows[0]["space"], block_from(rows[0], block_id.space_id)) if rows else None

    async def blocks(self, space: SpaceKey) -> tuple[SoulBlock, ...]:
        """The current blocks, in the order in which they are rendered."""
        parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            rows = await _rows(connection, _SQL["blocks"], parameters)
        return tuple(block_from(row, space.space_id) for row in rows)

    async def history(
        self, tenant_id: UUID, block_id: PublicId, *, limit: int, before: int | None
    ) -> tuple[SoulBlock, ...]:
        """Versions below `before`, newest first."""
        address = {"tenant_id": tenant_id, "space_id": block_id.space_id, "id": block_id.uuid}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, _SQL["history"], {**address, "limit": limit, "before": before})
        return tuple(block_from(row, block_id.space_id) for row in rows)


@dataclass(frozen=True, slots=True)
class PostgresSoulUnit:
    """The soul of one locked space, inside its transaction."""

    connection: AsyncConnection[TupleRow]
    space: SpaceKey
    now: datetime

    async def earlier(self, key: IdempotencyKey) -> tuple[SoulBlock, ...] | None:
        """What the same request wrote before, without what was erased since."""
        outcome = await find_outcome(self.connection, self.space.tenant_id, key)
        if outcome is None:
            return None
        wanted = {"ids": [UUID(item["block"]) for item in outcome], "versions": [item["version"] for item in outcome]}
        return await self._blocks("versions", wanted)

    async def remember(self, key: IdempotencyKey, written: Sequence[SoulBlock]) -> None:
        """Keep what was written under a key."""
        outcome = [{"block": str(block.id.uuid), "version": block.version} for block in written]
        await keep_outcome(self.connection, self.space.tenant_id, key, outcome)

    async def blocks(self) -> tuple[SoulBlock, ...]:
        """The current blocks, in the order in which they are rendered."""
        return await self._blocks("blocks", {})

    async def version(self, block_id: PublicId, version: int) -> SoulBlock | None:
        """One version of a block."""
        found = await self._blocks("versions", {"ids": [block_id.uuid], "versions": [version]})
        return found[0] if found else None

    async def write(self, blocks: Sequence[SoulBlock]) -> None:
        """Store versions; each closes the one before."""
        names = [field.name for field in fields(SoulBlock)]
        columns = [{name: getattr(block, name) for name in names} | {"id": block.id.uuid} for block in blocks]
        for name in ("close_version", "insert_version"):
            for parameters in columns:
                await self.connection.execute(_SQL[name], {**self._address, **parameters})

    async def erase(self, block_id: PublicId) -> int:
        """Remove a block physically; an import does not bring it back."""
        rows = await _rows(self.connection, _SQL["erase"], {**self._address, "id": block_id.uuid})
        marks = {erased_block_mark(row["text"]): None for row in rows}
        await bury(self.connection, self._address, marks, self.now)
        return len(rows)

    async def _blocks(self, name: str, parameters: Parameters) -> tuple[SoulBlock, ...]:
        rows = await _rows(self.connection, _SQL[name], {**self._address, **parameters})
        return tuple(block_from(row, self.space.space_id) for row in rows)

    @property
    def _address(self) -> Parameters:
        return {"tenant_id": self.space.tenant_id, "space_id": self.space.space_id}


async def _rows(
    connection: AsyncConnection[TupleRow], statement: LiteralString, parameters: Parameters
) -> list[DictRow]:
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(statement, parameters)
    return await cursor.fetchall()
