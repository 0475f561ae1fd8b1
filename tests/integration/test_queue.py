"""The queue: what fails, what dies, what is late; and the outbox, which is never half full."""

import asyncio
import json
from uuid import uuid4

import psycopg
import pytest
from structlog.testing import capture_logs

from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.runtime import new_uuid
from app.store.queue import (
    ATTEMPTS,
    DEATHS,
    INTERNAL,
    OVERTAKEN,
    UNAVAILABLE,
    WORKER_DIED,
    Queue,
    delay_s,
    queue_state,
)
from app.store.turns import PostgresTurns
from app.turns.ports import JobQuery
from app.turns.records import JobState, NewMessage, NewTurn, Speaker, Task, session_uuid
from app.turns.tasks import OvertakenError
from tests.integration.stores import day, open_store
from tests.logged import logged


def new_turn(space, text="Hello.", session="s", **fields):
    return NewTurn(
        id=PublicId(new_uuid(), space.space_id, IdKind.TURN),
        space=space,
        session=session_uuid(space, session),
        session_name=session,
        conversation=new_uuid(),
        given_id=fields.get("given_id"),
        fingerprint=text.encode(),
        said_at=fields.get("said_at", day(2026)),
        messages=(NewMessage(id=new_uuid(), text=text, role=Speaker.USER, said_at=fields.get("said_at", day(2026))),),
    )


class World:
    """A queue over a database of its own, whose tasks do what a test says."""

    def __init__(self, store):
        self.store = store
        self.queue = Queue(store.url, lambda: 0.5)
        self.turns = PostgresTurns(store.pool, self.queue, new_uuid)
        self.space = SpaceKey(uuid4(), "user:ana")
        self.done = []

    def does(self, action):
        async def handle(tenant_id, subject, options):
            self.done.append(subject)
            await action()

        self.queue.handlers.update(dict.fromkeys(Task, handle))

    async def post(self, *tasks, **fields):
        turn = new_turn(self.space, **fields)
        await self.turns.keep(turn, tasks or (Task.EPISODE,), None)
        return turn

    async def jobs(self):
        return await self.turns.jobs(self.space.tenant_id, JobQuery(100))

    async def make_due(self):
        await self.store.sql("UPDATE queue.procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo'")


@pytest.fixture
async def world(new_database):
    async with open_store(new_database()) as store:
        yield World(store)


async def nothing():
    """Succeeds."""


async def refuse():
    raise ValueError("this text cannot be read")


async def unavailable():
    raise UnavailableError("the embedder does not answer")


async def test_a_job_is_done_and_its_row_says_so(world):
    world.does(nothing)
    turn = await world.post(Task.HISTORY, Task.EPISODE)
    await world.queue.drain()
    assert world.done == [turn.id, turn.id]
    assert [(j.state, j.attempts, j.error) for j in await world.jobs()] == [(JobState.SUCCEEDED, 1, None)] * 2
    assert await world.store.sql("SELECT 1 FROM queue.procrastinate_jobs") == []


async def test_what_a_worker_has_in_hand_is_running(world):
    seen = []

    async def look():
        jobs = await world.jobs()
        tenant_id = world.space.tenant_id
        by_state = {
            s: await world.turns.jobs(tenant_id, JobQuery(9, state=s)) for s in (JobState.RUNNING, JobState.WAITING)
        }
        one = await world.turns.job(tenant_id, by_state[JobState.RUNNING][0].id)
        seen.append(([j.state for j in jobs], [len(found) for found in by_state.values()], one.state))

    world.queue.concurrency = 1
    world.does(look)
    await world.post(Task.HISTORY, Task.EPISODE)
    await world.queue.drain()
    waiting, running, done = JobState.WAITING, JobState.RUNNING, JobState.SUCCEEDED
    assert {tuple(sorted(states)) for states, _, _ in seen} == {
        tuple(sorted((waiting, running))),
        tuple(sorted((running, done))),
    }
    assert sorted(counts for _, counts, _ in seen) == [[1, 0], [1, 1]]
    assert {state for _, _, state in seen} == {running}


async def test_a_turn_that_is_not_stored_leaves_no_job(world):
    world.does(nothing)
    turn = new_turn(world.space, text="x", given_id="t")
    broken = PostgresTurns(world.store.pool, world.queue, lambda: turn.id.uuid)  # every job has the same id
    with pytest.raises(psycopg.errors.UniqueViolation):
        await broken.keep(turn, (Task.HISTORY, Task.EPISODE), None)
    assert await world.turns.turn(world.space.tenant_id, turn.id) is None
    await world.queue.drain()
    assert world.done == []
    assert await world.jobs() == ()


async def test_a_permanent_error_is_terminal_at_once_and_its_reason_is_kept(world):
    world.does(refuse)
    await world.post()
    with capture_logs():
        await world.queue.drain()
        await world.queue.drain()
    (job,) = await world.jobs()
    assert (job.state, job.attempts, job.error) == (JobState.FAILED, 1, INTERNAL)
    state = await queue_state(world.store.pool)
    assert (state.failed, state.name) == (1, "poisoned")


async def test_the_log_says_of_a_failed_job_which_and_where_and_quotes_nothing(world):
    world.does(refuse)
    await world.post()
    with logged() as log:
        await world.queue.drain()
    (job,) = await world.jobs()
    told = json.loads(log.getvalue())
    assert (told["event"], told["job"]) == ("a job failed", str(job.id))
    assert told["exception"][0]["type"] == "ValueError"
    assert "cannot be read" not in log.getvalue()


class TheirsError(Exception):
    """Of a library."""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UnavailableError("http://10.0.0.7/v1 refuses the key rk_narwhal"), UNAVAILABLE),
        (psycopg.OperationalError('connection to server at "narwhal", port 5432 failed'), UNAVAILABLE),
        (OvertakenError("trn_narwhal"), OVERTAKEN),
        (TheirsError("duplicate key: (text)=(narwhal) in /srv/ricordo/queue.py"), INTERNAL),
        (psycopg.errors.UniqueViolation("Key (text)=(narwhal) already exists."), INTERNAL),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "",
)
async def test_a_tenant_is_told_a_reason_and_nothing_of_the_inside(world, error, told):
    async def fail():
        raise error

    world.does(fail)
    await world.post()
    with logged() as log:
        await world.queue.drain()
    (job,) = await world.jobs()
    assert (job.error, json.loads(log.getvalue())["job"]) == (told, str(job.id))


async def test_a_failed_job_is_tried_again_when_somebody_asks(world):
    world.does(refuse)
    await world.post()
    with capture_logs():
        await world.queue.drain()
    world.does(nothing)
    (job,) = await world.jobs()
    await world.turns.retry(world.space.tenant_id, job)
    await world.queue.drain()
    (job,) = await world.jobs()
    assert (job.state, job.attempts, job.error) == (JobState.SUCCEEDED, 2, None)
    assert (await queue_state(world.store.pool)).failed == 0


async def test_a_transient_error_is_tried_again_later_and_not_for_ever(world):
    world.does(unavailable)
    await world.post()
    with capture_logs():
        await world.queue.drain()
        await world.queue.drain()  # not due yet
        (job,) = await world.jobs()
        assert (job.state, job.attempts) == (JobState.WAITING, 1)
        for _ in range(ATTEMPTS):
            await world.make_due()
            await world.queue.drain()
    (job,) = await world.jobs()
    assert (job.state, job.attempts) == (JobState.FAILED, ATTEMPTS)
    assert job.error == UNAVAILABLE


def test_delays_grow_to_a_cap_and_differ():
    assert [delay_s(n, 0.0) for n in range(4)] == [0.5, 1, 2, 4]
    assert delay_s(0, 0.999) < 1
    assert delay_s(100, 0.999) <= 300
    assert delay_s(3, 0.1) != delay_s(3, 0.9)


async def kill_worker(world):
    """A job is taken by a worker that gives no more signs of life."""
    await world.store.sql(
        """SET search_path TO public, queue;  -- where its triggers look
           WITH dead AS (INSERT INTO queue.procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour')
                         RETURNING id)
           UPDATE queue.procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM dead)"""
    )


async def recovered(world):
    async with world.queue._opened():
        return await world.queue.recover_stalled()


async def test_the_job_of_a_dead_worker_is_given_to_another(world):
    world.does(nothing)
    turn = await world.post()
    await kill_worker(world)
    assert (await queue_state(world.store.pool)).name == "stuck"
    assert await recovered(world) == 1
    await world.queue.drain()
    assert world.done == [turn.id]
    assert [j.state for j in await world.jobs()] == [JobState.SUCCEEDED]


async def test_a_job_that_kills_its_workers_fails_after_some(world):
    world.does(nothing)
    await world.post()
    given = 0
    for _ in range(DEATHS):
        await kill_worker(world)
        given += await recovered(world)
    assert given == DEATHS - 1
    (job,) = await world.jobs()
    assert job.state is JobState.FAILED
    assert job.error == WORKER_DIED
    assert world.done == []


async def test_a_running_worker_is_woken_by_a_turn_and_comes_back_after_the_database_was_gone(world):
    began = asyncio.Event()

    async def note():
        began.set()

    world.does(note)
    working = asyncio.create_task(world.queue.run())
    try:
        await world.post()
        await asyncio.wait_for(began.wait(), 30)
        began.clear()
        with capture_logs():
            await world.store.sql(
                """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
            )
            for _ in range(10):  # connections of the pool find out one by one
                try:
                    await world.post()
                    break
                except UnavailableError:
                    continue
            await asyncio.wait_for(began.wait(), 30)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def test_a_worker_that_is_stopped_returns_its_connections_and_its_jobs(world):
    begun = asyncio.Event()

    async def hang():
        begun.set()
        await asyncio.Event().wait()

    world.does(hang)
    world.queue.grace_s = 0.1
    await world.post()
    working = asyncio.create_task(world.queue.run())
    await asyncio.wait_for(begun.wait(), 30)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    (left,) = await world.store.sql(
        """SELECT count(*) AS n FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE '%procrastinate%' AND pid <> pg_backend_pid()"""
    )
    assert left["n"] == 0
    world.does(nothing)
    await world.make_due()
    await world.queue.drain()
    assert [j.state for j in await world.jobs()] == [JobState.SUCCEEDED]


async def test_without_a_worker_the_age_of_the_oldest_job_is_told(world):
    """fresh-03: three items and a worker that is stopped: the status shows the oldest item's age, health degrades."""
    for _ in range(3):
        await world.post()
    assert (await queue_state(world.store.pool)).name == "ok"
    await world.store.sql("UPDATE queue.procrastinate_events SET at = at - interval '1 minute'")
    state = await queue_state(world.store.pool)
    assert (state.waiting, state.workers, state.name) == (3, 0, "stuck")
    assert 60 <= state.oldest_s < 90
    world.does(nothing)
    await world.queue.drain()
    state = await queue_state(world.store.pool)
    assert (state.waiting, state.oldest_s, state.name) == (0, 0, "ok")
