"""A space as JSON lines: every version and scope; indexes are built anew when it comes in again (`bringing.py`).

The tables are those of the catalogue (`space_tables()`), so that one that is added later travels as well.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from app.domain.spaces import SpaceKey
from app.entries.ports import Embedders
from app.store.bringing import Arriving, Brought, Progress, look_here
from app.store.entries import Pool
from app.store.exported import FORMAT, VERSIONS, Lines, Report, Row, TransferError, survey
from app.store.pool import connected, tenant_transaction
from app.store.queries import load

_SQL = load("transfer")

NOT_CARRIED = frozenset(
    ("entry_vectors", "entry_postings", "claims", "tier_statistics", "space_centres", "assemblies", "jobs", "archives")
)
"""What is built anew from the versions, the log of some days, work that is under way, and what is no longer here."""


@dataclass(frozen=True, slots=True)
class PostgresTransfer:
    """Exports and imports spaces of one pool."""

    pool: Pool

    async def export(self, space: SpaceKey) -> AsyncIterator[bytes]:
        """The space in JSON lines, as it is at one moment: a header, the versions in their order, the other tables.

        Raises:
            TransferError: If nothing was written to it.
        """
        address = _address(space)
        async with connected(self.pool) as connection, connection.transaction():
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await connection.execute(_SQL["tenant"], address)
            cursor = await connection.execute(_SQL["header"], address)
            row = await cursor.fetchone()
            if row is None:
                raise TransferError(f"there is no space {space.name}")
            yield _line({"ricordo": FORMAT, "space": space.name, "exported_at": row[0], "versions": row[1]})
            for table in await _tables(connection):
                async with connection.cursor(name=f"export_{table}") as rows:
                    await rows.execute(_select(table), address)
                    async for (found,) in rows:
                        yield _line({"table": table, "row": _without_address(found)})

    async def bring(
        self, space: SpaceKey, lines: Lines, embedders: Embedders, report: Report, progress: Progress
    ) -> Brought:
        """Import a space. What was forgotten, here or in the space that was exported, stays away; what is here stays.

        It goes on where an earlier import of the file, or of an earlier export, ended.

        Raises:
            TransferError: If the lines are no export of this version, or break off.
            UnavailableError: If the embedder or the database does not answer.
        """
        found = survey(lines, space, report)
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            tables = frozenset(await _tables(connection))
            here = await look_here(connection, space, found, lines)
        arriving = Arriving(self.pool, space, embedders, here, tables, report)
        return await arriving.bring(found, lines, progress)


async def _tables(connection: AsyncConnection[TupleRow]) -> list[str]:
    """The tables that travel, versions first."""
    cursor = await connection.execute(_SQL["tables"])
    names = [row[0] for row in await cursor.fetchall() if row[0] not in NOT_CARRIED]
    return sorted(names, key=lambda name: (name != VERSIONS, name))


def _select(table: str) -> sql.Composed:
    order = sql.SQL(" ORDER BY sequence, version DESC, id" if table == VERSIONS else " ORDER BY to_json(t)::text")
    found = sql.SQL("SELECT to_json(t) FROM {} t WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s")
    return found.format(sql.Identifier(table)) + order


def _without_address(row: Row) -> Row:
    derived = {"tenant_id", "space_id", "tier_key", "terms", "term_count", "outline", "closed_at"}
    left_out = derived if "text_version" in row else {"tenant_id", "space_id"}
    return {name: value for name, value in row.items() if name not in left_out}


def _line(content: Mapping[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


def _address(space: SpaceKey) -> dict[str, Any]:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}
