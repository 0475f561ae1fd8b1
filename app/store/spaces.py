"""Spaces in Postgres: locked for writing, listed for reading."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from psycopg import AsyncConnection
from psycopg.rows import TupleRow, dict_row
from psycopg_pool import AsyncConnectionPool

from app.domain.callers import Caller
from app.domain.entries import Tier
from app.domain.spaces import SpaceKey
from app.entries.ports import SpaceSummary
from app.store.pool import tenant_transaction
from app.store.queries import load

_SQL = load("spaces")


class Locked(NamedTuple):
    """A space that is locked: its last sequence, the time of this write, and the model that serves it."""

    sequence: int
    now: datetime
    model_id: int


async def lock_space(connection: AsyncConnection[TupleRow], space: SpaceKey) -> Locked:
    """Take a space for this transaction, making it if need be."""
    parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id, "name": space.name}
    cursor = await connection.execute(_SQL["lock_space"], parameters)
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - inserted or updated, there is one row
    return Locked(*row)


async def model_of(connection: AsyncConnection[TupleRow], space: SpaceKey) -> int:
    """The model that serves a space, or that would if it were made now."""
    parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id}
    row = await (await connection.execute(_SQL["model_of"], parameters)).fetchone()
    assert row is not None  # noqa: S101 - one row, whatever is in the store
    model_id: int = row[0]
    return model_id


@dataclass(frozen=True, slots=True)
class PostgresSpaces:
    """The spaces of one pool."""

    pool: AsyncConnectionPool[AsyncConnection[TupleRow]]

    async def listing(self, caller: Caller, *, limit: int, after: str | None = None) -> tuple[SpaceSummary, ...]:
        """The spaces that a caller reaches and that were written to, by name; `after` is exclusive."""
        names = None if caller.spaces is None else sorted(caller.spaces)
        parameters = {"tenant_id": caller.tenant_id, "names": names, "after": after, "limit": limit}
        async with tenant_transaction(self.pool, caller.tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(_SQL["list_spaces"], parameters)
            return tuple(
                SpaceSummary(row["name"], row["created_at"], {t: row["documents"].get(t.value, 0) for t in Tier})
                for row in await cursor.fetchall()
            )

    async def summary(self, caller: Caller, name: str) -> SpaceSummary:
        """One space; empty if nothing was written to it.

        Raises:
            ForbiddenError: If the key does not reach it.
        """
        space = caller.space(name)
        alone = Caller(caller.tenant_id, caller.role, frozenset({space.name}))
        found = await self.listing(alone, limit=1)
        return found[0] if found else SpaceSummary(space.name, None, dict.fromkeys(Tier, 0))
