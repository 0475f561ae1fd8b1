"""Profiles in Postgres: one statement, a bounded number of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from psycopg.rows import DictRow, dict_row

from app.domain.entries import Category
from app.domain.spaces import SpaceKey
from app.profile.service import ProfilePart
from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from

_SQL = load("profile")


@dataclass(frozen=True, slots=True)
class PostgresProfile:
    """Implements `app.profile.service.ProfileStore`."""

    pool: Pool

    async def best(self, space: SpaceKey, scopes: Sequence[str], now: datetime, limit: int) -> tuple[ProfilePart, ...]:
        """Memories that hold now, by category."""
        address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        parameters = {**address, "scopes": list(scopes), "now": now, "limit": limit}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["best"], parameters)
            rows = await cursor.fetchall()
        return tuple(_part(category, list(part)) for category, part in groupby(rows, lambda row: row["category"]))


def _part(category: str | None, rows: list[DictRow]) -> ProfilePart:
    known = None if category is None else Category(category)
    return ProfilePart(known, tuple(map(entry_from, rows)), rows[0]["total"])
