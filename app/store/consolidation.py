"""What consolidation sees of Postgres: portions of a space, its locked unit, its centre."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from struct import pack
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row

from app.assembly.outlines import rules_fingerprint, unpack_outline
from app.consolidation.decay import PINNED, last_kept
from app.consolidation.ports import Pending, Scanned, SpaceState
from app.consolidation.records import Item, Vitality
from app.domain.entries import KIND_OF_TIER, Category, Tier
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.entries.ports import Proposal, SpaceUnit
from app.store.entries import CENTRE_FROM, PostgresEntries
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import claim_from, entry_from
from app.store.spaces import lock_space

_SQL = load("consolidation")
_ENTRIES = load("entries")
_REBASE = load("reembed")["rebase"]

PORTION = 1_000
"""Entries that are read at once."""

NORMS = 500
"""Norms that are brought up to a centre in one transaction."""

CENTRE_DRIFT = 0.1
"""The centre is computed again when a space has grown or shrunk by this share since."""

_FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class PostgresConsolidation:
    """Implements `app.consolidation.ports.ConsolidationStore`."""

    entries: PostgresEntries

    async def state(self, space: SpaceKey) -> SpaceState | None:
        """The space as it is."""
        rows = await self._fetch(space, _SQL["space_state"])
        return SpaceState(rows[0]["sequence"], rows[0]["model_id"], rows[0]["live"]) if rows else None

    async def scan(self, space: SpaceKey) -> AsyncIterator[Sequence[Scanned]]:
        """All live entries in portions."""
        rules = pack("<I", rules_fingerprint())
        for tier in Tier:
            after, full = _FIRST, True
            while full:
                named = {"tier": tier.value, "after": after, "limit": PORTION, "rules": rules, "pinned": PINNED}
                rows = await self._fetch(space, _SQL["scan"], **named)
                if rows:
                    after = rows[-1]["id"]
                    yield [_scanned(row, tier, space.space_id) for row in rows]
                full = len(rows) == PORTION

    async def load(self, space: SpaceKey, model_id: int, ids: Sequence[PublicId]) -> Mapping[PublicId, Item]:
        """Live entries in full."""
        rows = await self._fetch(space, _SQL["load"], ids=[i.uuid for i in ids], model_id=model_id)
        items = (Item(entry_from(row), _vector(row)) for row in rows)
        return {item.entry.id: item for item in items}

    async def pending(self, space: SpaceKey) -> tuple[Pending, ...]:
        """The proposals that wait."""
        return tuple(_pending(row, space.space_id) for row in await self._fetch(space, _SQL["pending"]))

    def unit(self, space: SpaceKey) -> AbstractAsyncContextManager[SpaceUnit]:
        """Lock the space."""
        return self.entries.unit(space)

    async def keep_outlines(self, space: SpaceKey, outlines: Mapping[tuple[PublicId, int], bytes]) -> None:
        """Store what was read of texts."""
        keys = list(outlines)
        parameters = {
            "ids": [entry_id.uuid for entry_id, _ in keys],
            "versions": [version for _, version in keys],
            "outlines": [outlines[key] for key in keys],
        }
        async with tenant_transaction(self.entries.pool, space.tenant_id) as connection:
            await connection.execute(_SQL["keep_outlines"], {**_address(space), **parameters})

    async def refresh_centre(self, space: SpaceKey, model_id: int) -> bool:
        """Bring the centre up to the space, and all vectors up to the centre."""
        moved = await self._moved_centre(space, model_id)
        async with tenant_transaction(self.entries.pool, space.tenant_id) as connection:
            (known,) = await _rows(connection, _ENTRIES["centre"], {**_address(space), "model_id": model_id})
            named = {**_address(space), "model_id": model_id, "centre": known["centre"]}
            stale = [(row["id"], row["text_version"]) for row in await _rows(connection, _SQL["stale_norms"], named)]
        for start in range(0, len(stale), NORMS):
            await self._rebase(space, model_id, stale[start : start + NORMS])
        return moved or bool(stale)

    async def mark(self, space: SpaceKey, sequence: int) -> None:
        """Note that the space was consolidated."""
        async with tenant_transaction(self.entries.pool, space.tenant_id) as connection:
            await connection.execute(_SQL["mark"], {**_address(space), "sequence": sequence})

    async def due(self, tenant_id: UUID, every_hours: float, limit: int) -> tuple[SpaceKey, ...]:
        """The spaces of a tenant whose consolidation is due."""
        parameters = {"tenant_id": tenant_id, "hours": every_hours, "limit": limit}
        async with tenant_transaction(self.entries.pool, tenant_id) as connection:
            return tuple(SpaceKey(tenant_id, row["name"]) for row in await _rows(connection, _SQL["due"], parameters))

    async def _moved_centre(self, space: SpaceKey, model_id: int) -> bool:
        named = {**_address(space), "model_id": model_id}
        async with tenant_transaction(self.entries.pool, space.tenant_id) as connection:
            if not await _has_drifted(connection, named):
                return False
            locked = await lock_space(connection, space)
            if locked.model_id != model_id:
                return False
            await connection.execute(_ENTRIES["store_centre"], named)
            return True

    async def _rebase(self, space: SpaceKey, model_id: int, keys: Sequence[tuple[UUID, int]]) -> None:
        async with tenant_transaction(self.entries.pool, space.tenant_id) as connection:
            await lock_space(connection, space)
            named = {**_address(space), "model_id": model_id}
            (known,) = await _rows(connection, _ENTRIES["centre"], named)
            arrays = {"ids": [key for key, _ in keys], "versions": [version for _, version in keys]}
            await connection.execute(_REBASE, {**named, **arrays, "centre": known["centre"]})

    async def _fetch(self, space: SpaceKey, statement: LiteralString, **parameters: Any) -> list[DictRow]:
        async with tenant_transaction(self.entries.pool, space.tenant_id) as connection:
            return await _rows(connection, statement, {**_address(space), **parameters})


def _address(space: SpaceKey) -> dict[str, Any]:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}


async def _rows(
    connection: AsyncConnection[TupleRow], statement: LiteralString, parameters: dict[str, Any]
) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row, binary=True) as cursor:
        await cursor.execute(statement, parameters)
        return await cursor.fetchall()


async def _has_drifted(connection: AsyncConnection[TupleRow], named: dict[str, Any]) -> bool:
    (counted,) = await _rows(connection, _ENTRIES["space_documents"], named)
    (known,) = await _rows(connection, _ENTRIES["centre"], named)
    live, before = counted["documents"], known["entries_count"]
    return live >= CENTRE_FROM and (before is None or abs(live - before) >= CENTRE_DRIFT * before)


def _scanned(row: DictRow, tier: Tier, space_id: UUID) -> Scanned:
    vitality = Vitality(
        tier=tier,
        category=None if row["category"] is None else Category(row["category"]),
        importance=row["importance"],
        confirmed_at=last_kept(row["last_confirmed_at"], row["recorded_at"], row["reason"], row["begins"]),
        uses=row["uses"],
        is_pinned=row["is_pinned"],
        in_doubt=row["unresolved"],
    )
    return Scanned(
        id=PublicId(row["id"], space_id, KIND_OF_TIER[tier]),
        version=row["version"],
        tier=tier,
        scope=row["scope"],
        claim=None if row["subject"] is None else (row["subject"], row["attribute"], row["value"]),
        vitality=vitality,
        outline=None if row["text"] is not None else unpack_outline(row["outline"]),
        text=row["text"],
        given_claim=claim_from(row),
    )


def _vector(row: DictRow) -> Any:
    return None if row["embedding"] is None else row["embedding"].to_numpy().astype(np.float32)


def _pending(row: DictRow, space_id: UUID) -> Pending:
    kept = PublicId(row["kept"], space_id, IdKind.MEMORY)
    superseded = PublicId(row["superseded"], space_id, IdKind.MEMORY)
    return Pending(Proposal(kept, row["kept_version"], superseded, row["superseded_version"]), row["why"])
