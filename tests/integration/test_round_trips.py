"""How often a retrieval waits for the database: once, whatever it reads."""

from dataclasses import replace

import numpy as np
import psycopg
import pytest
from psycopg.pq import Trace

from app.store.pool import create_pool
from app.store.retriever import PostgresRetriever
from tests.integration.stores import heard


@pytest.fixture
async def counted(store, tmp_path):
    """Counts the round trips of an awaitable, on a warm connection: libpq's own trace of the wire."""
    async with create_pool(store.url, 1) as pool:

        async def count(action):
            for _ in range(2):
                await action(pool)
            with (tmp_path / "wire").open("w") as wire:
                async with pool.connection() as connection:
                    connection.pgconn.trace(wire.fileno())
                    connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
                await action(pool)
                async with pool.connection() as connection:
                    connection.pgconn.untrace()
            messages = [line.split("\t") for line in (tmp_path / "wire").read_text().splitlines()]
            sent = [message[2] for message in messages if message[0] == "F"]
            return sent.count("Sync") + sent.count("Query"), sent

        yield count


async def test_the_retrieval_of_three_spaces_and_a_soul_is_one_round_trip(store, counted):
    caller = store.tenant()
    spaces = [store.space(name, caller) for name in ("user:ana", "character:mira", "lore:giulia")]
    for space in spaces:
        await space.fill(["Ana keeps bees on the roof.", "Ana plays chess on Thursdays."])
    await store.sql(
        """INSERT INTO soul_blocks VALUES
           (%(tenant)s, %(space)s, gen_random_uuid(), 1, 'tone', 'Calm.', 1, TRUE, now(), 'created', NULL)""",
        tenant=caller.tenant_id,
        space=spaces[0].id,
    )
    wanted = spaces[0].plan("Who keeps bees?", also=spaces[1:])
    asked = await store.ask(wanted.query)
    results = []

    async def retrieve(pool):
        results.append(await PostgresRetriever(pool).retrieve(wanted, heard(asked)))

    trips, sent = await counted(retrieve)
    assert {c.space for c in results[-1].candidates} == {s.name for s in spaces}
    assert [block.name for block in results[-1].soul] == ["tone"]
    assert trips == 1, sent


async def test_a_failed_retrieval_leaves_no_tenant_behind(store):
    space = store.space()
    await space.write("Ana keeps bees.")
    wanted = space.plan("bees")
    broken = [replace(asked, vector=np.ones(7, np.float32)) for asked in await store.ask(wanted.query)]
    async with create_pool(store.url, 1) as pool:
        retriever = PostgresRetriever(pool)
        with pytest.raises(psycopg.DataError, match="dimensions"):
            await retriever.retrieve(wanted, heard(broken))
        async with pool.connection() as connection:
            row = await (await connection.execute("SELECT current_setting('app.tenant_id', TRUE)")).fetchone()
    assert row in {("",), (None,)}
