"""The connection pool: every connection serves as `ricordo_serving`, and every statement has a tenant."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, waiting
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from app.domain.errors import UnavailableError

T = TypeVar("T")

_WAKE_SECONDS = 0.1
"""How often a wait looks whether it is to end, as the driver has it."""

SERVING_ROLE = "ricordo_serving"
SERVING_SETTINGS = (
    f"-c role={SERVING_ROLE} -c timezone=UTC -c jit=off -c plan_cache_mode=force_generic_plan"
    # A plan that was made while a table was still empty would scan it for every row, and stay: 80 ms instead of 8.
    " -c enable_seqscan=off"
)


_CONNECT_SECONDS = 5
"""A server that accepts and says nothing more is given up after so long; the driver would wait for two minutes."""


class ServingConnection(AsyncConnection[TupleRow]):
    """A connection that is closed when nobody waits for its answer any more.

    The driver would ask the server to stop, and wait for that: up to ten seconds where nobody answers. So long whoever
    has given up would be held, and the connection with them.
    """

    async def wait(self, gen: PQGen[T], interval: float = _WAKE_SECONDS, timeout: float | None = None) -> T:  # noqa: ASYNC109 - the driver's signature
        """Wait for an answer."""
        try:
            return await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=timeout)
        except asyncio.CancelledError:
            self.pgconn.finish()
            raise


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
        connection_class=ServingConnection,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "options": SERVING_SETTINGS,
            "connect_timeout": _CONNECT_SECONDS,
        },
        timeout=5.0,
    )


async def _configure(connection: AsyncConnection[Any]) -> None:
    await register_vector_async(connection)
    await find_queue(connection)


async def find_queue(connection: AsyncConnection[Any]) -> None:
    """Let a connection see the queue's schema behind its own, for good: plans depend on the path."""
    await connection.execute("SELECT set_config('search_path', current_setting('search_path') || ', queue', false)")


@asynccontextmanager
async def connected(
    pool: AsyncConnectionPool[AsyncConnection[TupleRow]],
) -> AsyncIterator[AsyncConnection[TupleRow]]:
    """A connection of the pool, without a tenant.

    Raises:
        UnavailableError: If the database does not answer.
    """
    try:
        async with pool.connection() as connection:
            yield connection
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise UnavailableError("the database does not answer") from error


@asynccontextmanager
async def transaction(
    pool: AsyncConnectionPool[AsyncConnection[TupleRow]], setting: str, value: str
) -> AsyncIterator[AsyncConnection[TupleRow]]:
    """A transaction in which one setting holds: row-level security reads it.

    Raises:
        UnavailableError: If the database does not answer.
    """
    async with connected(pool) as connection, connection.transaction():
        await connection.execute("SELECT set_config(%s, %s, true)", (setting, value))
        yield connection


@asynccontextmanager
async def tenant_pipeline(connection: AsyncConnection[TupleRow], tenant_id: UUID) -> AsyncIterator[None]:
    """Statements that see one tenant and are sent together: one round trip, and one transaction.

    Their results are there once the block is left.
    """
    async with connection.pipeline():  # Postgres takes all up to the one Sync, sent at the end, as a transaction
        await connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(tenant_id),))
        yield


def tenant_transaction(
    pool: AsyncConnectionPool[AsyncConnection[TupleRow]], tenant_id: UUID
) -> AbstractAsyncContextManager[AsyncConnection[TupleRow]]:
    """A transaction that sees one tenant.

    Raises:
        UnavailableError: If the database does not answer.
    """
    return transaction(pool, "app.tenant_id", str(tenant_id))


async def ping(pool: AsyncConnectionPool[AsyncConnection[TupleRow]]) -> None:
    """Ask the database for a sign of life.

    Raises:
        UnavailableError: If the database does not answer.
    """
    async with connected(pool) as connection:
        await connection.execute("SELECT 1")
