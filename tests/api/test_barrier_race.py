"""A record and its turn at the same moment: whatever the order of their steps, the subject's words stay out.

Each test holds a lock that one side needs at a named point, so that the other side overtakes it there.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
import pytest
from test_records import ANA, BOB, STREAM, TURN, job_notes, personal, says

from app.domain.ids import parse_id
from app.store.keys import tenant_id_of
from app.turns.ports import JobOptions
from app.turns.records import Task

NOTED = f"kept out of personal memory, because records hold it: {ANA}"
PERSONAL = (Task.PERSONAL, Task.MEMORIES)
FACTS = {**TURN, "messages": [says("ana", "I live in Oslo."), says("bob", "I have three cats.")]}


@dataclass(frozen=True)
class Locks:
    """Locks of the database."""

    url: str

    @asynccontextmanager
    async def held(self, statement, *parameters):
        """Hold one in a transaction until the end of the block."""
        async with await psycopg.AsyncConnection.connect(self.url) as connection:
            await connection.execute(statement, parameters)
            yield
            await connection.rollback()

    async def waited_for(self, sessions, *work):
        """Return once so many sessions wait for one, or some work is done."""
        statement = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            while not any(task.done() for task in work):
                (waiting,) = await (await connection.execute(statement)).fetchone()
                if waiting >= sessions:
                    return
                await asyncio.sleep(0.01)


@pytest.fixture
def locks(database_url):
    return Locks(database_url)


@pytest.fixture(autouse=True)
async def stream(client, runtime):
    """The stream is there: who makes it is waited for by all others who write to it."""
    await client.post("/turns", json={"stream": STREAM, "session": "s", "messages": [says("cleo", "Hi all!")]})
    await runtime.queue.drain()


@pytest.fixture
def work(runtime, tenant):
    """Starts one task of a turn beside the requests; the queue has it too."""

    def start(turn, task):
        handler = runtime.queue.handlers[task]
        return asyncio.create_task(handler(tenant_id_of(tenant.name), parse_id(turn["id"]), JobOptions()))

    return start


@pytest.fixture
async def settled(client, runtime):
    """Does what is left to do, and looks at what is remembered."""

    async def check():
        await runtime.queue.drain()
        assert await personal(client, ANA) == []
        assert await remembered(client, ANA) == []
        assert await personal(client, BOB) == ["I have three cats."]
        assert await remembered(client, BOB) != []
        assert NOTED in await job_notes(client)

    return check


def raises(client, **headers):
    """The record's request: ana's words of the turn are hers no more."""
    body = {
        "space": STREAM,
        "kind": "request",
        "payload": {"what": "Raffle"},
        "subjects": [ANA],
        "turn": {"id": TURN["id"]},
    }
    return asyncio.create_task(client.post("/records", json=body, headers=headers))


def posts(client):
    return asyncio.create_task(client.post("/turns", json=FACTS))


async def remembered(client, space):
    return [m["text"] for m in (await client.get("/memories", params={"space": space})).json()["items"]]


async def test_a_turn_that_comes_while_its_barrier_is_not_yet_there_waits_for_it(client, locks, work, settled):
    """Else it would be stored, read and remembered before the barrier's transaction ends."""
    async with locks.held("LOCK TABLE idempotency_keys IN SHARE MODE"):  # the last that the record needs
        record = raises(client, **{"Idempotency-Key": "k-race"})
        await locks.waited_for(1, record)
        turn = posts(client)
        await locks.waited_for(2, turn)
        if turn.done():
            await asyncio.gather(*(work(turn.result().json(), task) for task in PERSONAL))
    assert ((await record).status_code, (await turn).status_code) == (201, 202)
    await settled()


async def test_a_barrier_that_comes_while_its_turn_is_not_yet_there_waits_for_it(client, locks, settled):
    async with locks.held("LOCK TABLE jobs IN SHARE MODE"):  # the turn is stored, its jobs are not
        turn = posts(client)
        await locks.waited_for(1, turn)
        record = raises(client)
        await locks.waited_for(2, record)
    assert ((await turn).status_code, (await record).status_code) == (202, 201)
    await settled()


@pytest.mark.parametrize("task", PERSONAL)
async def test_a_barrier_that_comes_after_a_worker_has_read_the_turn_is_seen_before_it_writes(
    client, locks, work, settled, task
):
    await client.post("/procedures", json={"space": ANA, "text": "Her space is there."})
    turn = (await posts(client)).json()
    async with locks.held("SELECT 1 FROM spaces WHERE name = %s FOR UPDATE", ANA):
        working = work(turn, task)
        await locks.waited_for(1, working)
        assert (await raises(client)).status_code == 201
        assert not working.done()
    await working
    await settled()


@pytest.mark.parametrize("task", PERSONAL)
async def test_what_a_worker_writes_while_the_barrier_comes_is_withdrawn(client, locks, work, settled, task):
    """The worker has seen the turn without a barrier, and holds it: the barrier waits, and then takes it back."""
    turn = (await posts(client)).json()
    async with locks.held("LOCK TABLE entry_versions IN SHARE MODE"):
        working = work(turn, task)
        await locks.waited_for(1, working)
        record = raises(client)
        await locks.waited_for(2, record)
        assert not record.done()
    await working
    assert (await record).status_code == 201
    await settled()


async def test_many_turns_and_their_barriers_at_once(client, runtime):
    """No order is forced here; workers run all the time."""
    ids = [f"t-{n}" for n in range(12)]

    async def both(turn_id):
        turn = {**FACTS, "id": turn_id, "messages": [says("ana", f"My lucky number is {turn_id}.")]}
        record = {"space": STREAM, "kind": "note", "payload": {"text": "Said."}, "subjects": [ANA]}
        replies = await asyncio.gather(
            client.post("/turns", json=turn),
            client.post("/records", json={**record, "turn": {"id": turn_id}}),
        )
        assert [reply.status_code for reply in replies] == [202, 201]

    posting = asyncio.gather(*map(both, ids))
    while not posting.done():
        await runtime.queue.drain()
    await posting
    await runtime.queue.drain()
    assert await personal(client, ANA) == await remembered(client, ANA) == []
