"""Health: what a load balancer and an operator are told."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from app.domain.errors import UnavailableError
from app.main import create_app
from app.runtime import Probes
from app.store.queue import QueueState


async def works():
    """A sign of life."""


async def fails():
    raise UnavailableError("no answer")


async def hangs():
    await asyncio.Event().wait()


def queue(waiting=0, oldest_s=0.0, failed=0, stalled=0, workers=1):
    """A probe of a queue."""

    async def state():
        return QueueState(waiting, oldest_s, failed, stalled, workers)

    return state


@pytest.fixture
def ask(runtime):
    async def get(path, database=works, embedder=works, working_memory=works, jobs=None):
        app = create_app(runtime)
        probes = Probes(database, embedder, working_memory, jobs or queue(), timeout_s=0.5)
        app.state.runtime = replace(runtime, probes=probes)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
            return await client.get(path)

    return get


async def test_a_service_that_runs_is_live_and_ready(ask):
    assert (await ask("/health/live")).json() == {"status": "ok"}
    reply = await ask("/health/ready")
    assert (reply.status_code, reply.json()) == (
        200,
        {
            "status": "ok",
            "database": "ok",
            "embedder": "ok",
            "working_memory": "ok",
            "queue": {"state": "ok", "waiting": 0, "oldest_seconds": 0.0, "failed": 0, "workers": 1},
            "why": [],
        },
    )


async def test_the_real_probes_answer(client):
    reply = (await client.get("http://test/health/ready")).json()
    assert (reply["database"], reply["embedder"], reply["working_memory"]) == ("ok", "ok", "ok")
    assert reply["queue"]["state"] != "unavailable"


@pytest.mark.parametrize(
    ("jobs", "state"),
    [
        (queue(waiting=3, oldest_s=31.0), "slow"),
        (queue(waiting=3, oldest_s=31.0, workers=0), "stuck"),
        (queue(stalled=1), "stuck"),
        (queue(failed=1), "poisoned"),
        (fails, "unavailable"),
        (hangs, "unavailable"),
    ],
)
async def test_a_queue_that_is_not_well_degrades_and_is_told(ask, jobs, state):
    """fresh-03: the age of the oldest item is told, and health shows it; the service goes on."""
    reply = await ask("/health/ready", jobs=jobs)
    assert (reply.status_code, reply.json()["status"], reply.json()["queue"]["state"]) == (200, "degraded", state)
    [why] = reply.json()["why"]
    assert why.startswith("queue: ")


async def test_without_working_memory_it_is_degraded_but_ready(ask):
    reply = await ask("/health/ready", working_memory=fails)
    assert (reply.status_code, reply.json()["status"], reply.json()["working_memory"]) == (
        200,
        "degraded",
        "unavailable",
    )


async def test_without_the_embedder_it_is_degraded_but_ready(ask):
    reply = await ask("/health/ready", embedder=fails)
    assert (reply.status_code, reply.json()["status"], reply.json()["embedder"]) == (200, "degraded", "unavailable")


@pytest.mark.parametrize("database", [fails, hangs])
async def test_without_the_database_it_is_not_ready_but_live(ask, database):
    reply = await ask("/health/ready", database=database)
    assert (reply.status_code, reply.json()["status"], reply.json()["database"]) == (503, "unavailable", "unavailable")
    assert (await ask("/health/live", database=database)).status_code == 200


async def test_each_part_that_fails_is_told_with_the_reason_and_no_address(ask):
    async def quotes():
        raise UnavailableError("http://secret:1/ refuses the key rk_secret")

    reply = await ask("/health/ready", database=hangs, embedder=quotes, working_memory=fails, jobs=queue(failed=2))
    assert reply.json()["why"] == [
        "database: does not answer within 0.5 s",
        "embedder: does not answer",
        "working_memory: does not answer",
        "queue: 2 jobs failed for good",
    ]
    assert "secret" not in reply.text
