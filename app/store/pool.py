"""The connection pool: every connection serves as `ricordo_serving`, and every statement has a tenant."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from app.domain.errors import UnavailableError

SERVING_ROLE = "ricordo_serving"
_SETTINGS = f"-c role={SERVING_ROLE} -c timezone=UTC -c jit=off -c plan_cache_mode=force_generic_plan"


def create_pool(database_url: str, connections: int) -> AsyncConnectionPool[AsyncConnection[TupleRow]]:
    """A pool that is not open yet.

    Args:
        connections: The most connections it opens, >= 1.
    """
    return AsyncConnectionPool(
        database_url,
        min_size=min(2, connections),
        max_size=connections,
        open=False,
        configure=_configure,
        kwargs={"autocommit": True, "prepare_threshold": 0, "options": _SETTINGS},
        timeout=5.0,
    )


async def _configure(connection: AsyncConnection[Any]) -> None:
    await register_vector_async(connection)


@asynccontextmanager
async def tenant_transaction(
    pool: AsyncConnectionPool[AsyncConnection[TupleRow]], tenant_id: UUID
) -> AsyncIterator[AsyncConnection[TupleRow]]:
    """A transaction that sees one tenant.

    Raises:
        UnavailableError: If the database does not answer.
    """
    try:
        async with pool.connection() as connection, connection.transaction():
            await connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(tenant_id),))
            yield connection
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise UnavailableError("the database does not answer") from error


async def database_now(connection: AsyncConnection[TupleRow]) -> datetime:
    """The time of the transaction."""
    cursor = await connection.execute("SELECT now()")
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - SELECT now() has one row
    now: datetime = row[0]
    return now
