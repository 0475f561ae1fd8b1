"""Health: what a load balancer and an operator are told."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from app.domain.errors import UnavailableError
from app.main import create_app
from app.runtime import Probes


async def works():
    """A sign of life."""


async def fails():
    raise UnavailableError("no answer")


async def hangs():
    await asyncio.Event().wait()


@pytest.fixture
def ask(runtime):
    async def get(path, database=works, embedder=works):
        app = create_app(runtime)
        app.state.runtime = replace(runtime, probes=Probes(database, embedder, timeout_s=0.5))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
            return await client.get(path)

    return get


async def test_a_service_that_runs_is_live_and_ready(client):
    assert (await client.get("http://test/health/live")).json() == {"status": "ok"}
    reply = await client.get("http://test/health/ready")
    assert (reply.status_code, reply.json()) == (200, {"status": "ok", "database": "ok", "embedder": "ok"})


async def test_without_the_embedder_it_is_degraded_but_ready(ask):
    reply = await ask("/health/ready", embedder=fails)
    assert (reply.status_code, reply.json()["status"], reply.json()["embedder"]) == (200, "degraded", "unavailable")


@pytest.mark.parametrize("database", [fails, hangs])
async def test_without_the_database_it_is_not_ready_but_live(ask, database):
    reply = await ask("/health/ready", database=database)
    assert (reply.status_code, reply.json()["status"], reply.json()["database"]) == (503, "unavailable", "unavailable")
    assert (await ask("/health/live", database=database)).status_code == 200
