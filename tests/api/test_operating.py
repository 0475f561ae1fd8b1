"""Metrics and logs: each stage is seen, and nobody's words are."""

import json
import re
from dataclasses import replace

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.domain.errors import UnavailableError
from app.main import create_app
from app.metrics import DESCRIPTIONS, Metrics, Reading
from tests.docs.blocks import ROOT
from tests.logged import logged

SPACE = "user:metrics"
COUNTERS = {"pool_timeouts", "embedder_batches", "embedder_texts", "embedder_seconds"}


@pytest.fixture
async def watched(runtime, tenant):
    """An application with metrics of its own."""
    app = create_app(runtime)
    app.state.runtime = replace(runtime, metrics=Metrics())
    headers = {"Authorization": f"Bearer {tenant.key}"}
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        yield client


async def read(client) -> dict[tuple[str, tuple[str, ...]], float]:
    """Samples by name and values of labels, without buckets."""
    reply = await client.get("/metrics", headers={"Authorization": ""})
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
        if "le" not in sample.labels
    }


async def test_requests_are_counted_by_route_and_status(watched):
    memory = (await watched.post("/api/v1/memories", json={"space": SPACE, "text": "I play chess"})).json()["id"]
    await watched.get(f"/api/v1/memories/{memory}")
    await watched.get(f"/api/v1/memories/{memory}")
    await watched.get("/api/v1/memories/mem_unknown")
    await watched.get("/api/v1/nowhere")
    await watched.get("/api/v1/memories", headers={"Authorization": "Bearer rk_wrong"})
    samples = await read(watched)
    assert samples["ricordo_requests_total", ("POST", "/api/v1/memories", "201")] == 1
    assert samples["ricordo_requests_total", ("GET", "/api/v1/memories/{id}", "200")] == 2
    assert samples["ricordo_requests_total", ("GET", "/api/v1/memories/{id}", "404")] == 1
    assert samples["ricordo_requests_total", ("GET", "none", "404")] == 1
    assert samples["ricordo_requests_total", ("GET", "none", "401")] == 1
    assert samples["ricordo_request_seconds_count", ("/api/v1/memories/{id}",)] == 3


async def test_each_stage_of_an_assembly_is_timed(watched):
    body = {"space": SPACE, "query": "Which game do I play?", "timeout_ms": 60_000, "trace": True}
    timings = (await watched.post("/api/v1/context/assemble", json=body)).json()["timings_ms"]
    samples = await read(watched)
    assert {"plan", "total"} < timings.keys()
    for stage in timings:
        assert samples["ricordo_assembly_stage_seconds_count", (stage,)] == 1
    assert samples["ricordo_assembly_stage_seconds_sum", ("total",)] == pytest.approx(timings["total"] / 1000, rel=0.01)


LIVE = {
    "stream": "stream:metrics",
    "agents": ["Giulia"],
    "batch": [{"author": {"platform": "chat", "id": "7"}, "text": "Giulia, what do you know of my dog?"}],
}


async def test_each_stage_of_a_live_assembly_is_timed_beside(watched):
    body = {**LIVE, "timeout_ms": 60_000, "trace": True}
    with logged() as log:
        reply = (await watched.post("/api/v1/context/assemble/live", json=body)).json()
    samples = await read(watched)
    assert {"plan", "total"} < reply["timings_ms"].keys()
    for stage in reply["timings_ms"]:
        assert samples["ricordo_assembly_stage_seconds_count", (f"live_{stage}",)] == 1
    assert ("ricordo_assembly_stage_seconds_count", ("total",)) not in samples
    assert json.loads(log.getvalue().splitlines()[-1])["assembly"] == reply["id"]


async def test_what_a_live_assembly_did_without_names_nobody(watched):
    degraded = (await watched.post("/api/v1/context/assemble/live", json={**LIVE, "timeout_ms": 1})).json()["degraded"]
    page = (await watched.get("/metrics", headers={"Authorization": ""})).text
    assert degraded
    assert "ricordo_degraded_assemblies_total{" in page
    assert "chat:7" not in page


async def test_a_degraded_assembly_is_counted(watched):
    body = {"space": SPACE, "query": "What is it?", "timeout_ms": 1}
    degraded = (await watched.post("/api/v1/context/assemble", json=body)).json()["degraded"]
    samples = await read(watched)
    assert degraded
    assert all(samples["ricordo_degraded_assemblies_total", (part,)] == 1 for part in degraded)


async def test_everything_that_can_be_read_is(watched):
    await watched.post("/api/v1/memories", json={"space": SPACE, "text": "I play the cello"})
    samples = await read(watched)
    names = {name.removeprefix("ricordo_").removesuffix("_total") for name, _ in samples}
    assert names >= DESCRIPTIONS.keys()
    assert samples["ricordo_embedder_batches_total", ()] >= 1
    assert samples["ricordo_pool_connections", ()] >= 1


async def test_what_is_asked_again_hits_every_cache(watched):
    async def hits() -> dict[str, float]:
        return {labels[0]: value for (name, labels), value in (await read(watched)).items() if "cache_hits" in name}

    await watched.post("/api/v1/memories", json={"space": SPACE, "text": "I play the double bass"})
    before = await hits()
    assert before.keys() == {"query_vector", "resident_space", "token_count", "text"}
    body = {"space": SPACE, "query": "Which instrument do I play?", "timeout_ms": 60_000}
    for _ in range(40):  # the space is loaded beside
        await watched.post("/api/v1/context/assemble", json=body)
        after = await hits()
        if all(after[cache] > before[cache] for cache in before.keys() - {"text"}):
            break
    assert {cache for cache in before if after[cache] > before[cache]} >= before.keys() - {"text"}


async def test_without_the_database_there_is_still_a_page(watched, monkeypatch):
    async def down(_pool):
        raise UnavailableError("no database")

    monkeypatch.setattr("app.runtime.queue_state", down)
    names = {name for name, _ in await read(watched)}
    assert "ricordo_queue_waiting" not in names
    assert "ricordo_pool_connections" in names


def test_the_dashboard_draws_what_there_is():
    dashboard = json.loads((ROOT / "docs" / "dashboard.json").read_text(encoding="utf-8"))
    asked = " ".join(target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ()))
    drawn = set(re.findall(r"ricordo_[a-z_]+", asked))
    gauges, counters = dict.fromkeys(DESCRIPTIONS.keys() - COUNTERS, 1.0), dict.fromkeys(COUNTERS, 1.0)
    read = Reading(gauges, counters, {"text": (1, 1)})
    metrics = Metrics()
    metrics.answered("GET", "/", 200, 0.1)
    metrics.assembled({"total": 1.0}, ["dense"])
    page = metrics.page(read).decode()
    there = {s.name for family in text_string_to_metric_families(page) for s in family.samples}
    assert drawn <= there
    unused = {name for name in there if not name.endswith(("_created", "_count", "_sum"))} - drawn
    assert unused == set()


def test_the_operators_page_names_every_metric():
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    own = ["requests_total", "request_seconds", "assembly_stage_seconds", "degraded_assemblies_total"]
    own += ["cache_hits_total", "cache_misses_total"]
    assert [n for n in [*own, *DESCRIPTIONS] if f"`ricordo_{n}" not in page] == []


async def test_an_answer_carries_version_and_request_id(watched):
    given = await watched.get("/health/live", headers={"X-Request-Id": "abc-1.2"})
    assert given.headers["x-request-id"] == "abc-1.2"
    for nonsense in ("", "a b", "x" * 65, "ä"):
        reply = await watched.get("/api/v1/nowhere", headers=[(b"X-Request-Id", nonsense.encode())])
        assert re.fullmatch("[0-9a-f]{32}", reply.headers["x-request-id"])
    assert given.headers["ricordo-version"] == watched._transport.app.version


SECRETS = ("xylophone", "zeppelin", "quagga", "narwhal")


async def test_the_log_of_a_whole_session_holds_ids_and_never_a_text_or_a_key(watched, runtime, tenant, monkeypatch):
    with logged() as log:
        assembly = await a_session(watched, runtime)
        with monkeypatch.context() as broken:
            broken.setattr("app.api.v1.context.assembly_json", lambda *_, **__: {}["zeppelin"])
            crashed = await watched.post("/api/v1/context/assemble", json={"space": SPACE, "query": "quagga"})
    told = log.getvalue()
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert crashed.status_code == 500
    assert any(line.get("assembly") == assembly for line in lines)
    assert all(line["request"] for line in lines)
    assert {line["route"] for line in lines if "route" in line} > {"/api/v1/turns", "/api/v1/messages/{id}"}
    [failure] = [line for line in lines if line["event"] == "request failed"]
    assert failure["exception"][0]["type"] == "KeyError"
    assert "context.py:" in failure["exception"][0]["at"][-2]
    for secret in (*SECRETS, tenant.key):
        assert secret not in told


async def a_session(client, runtime) -> str:
    """Everything that somebody does, with secrets in every text; the id of an assembly."""
    api = "/api/v1"
    text = f"My {SECRETS[0]} is called {SECRETS[1]}."
    memory = (await client.post(f"{api}/memories", json={"space": SPACE, "text": text})).json()["id"]
    await client.patch(f"{api}/memories/{memory}", json={"text": f"{text} {SECRETS[2]}"})
    await client.post(f"{api}/memories", json={"space": SPACE, "text": text, SECRETS[3]: text})
    await client.post(f"{api}/memories", content=text)
    body = {"space": SPACE, "session": "s", "messages": [{"text": text}], "reply": f"A {SECRETS[2]}!"}
    turn = (await client.post(f"{api}/turns", json=body)).json()
    await runtime.queue.drain()
    await client.get(f"{api}/messages", params={"space": SPACE, "query": SECRETS[0]})
    await client.patch(f"{api}/messages/{turn['messages'][0]['id']}", json={"text": SECRETS[3]})
    await client.post(f"{api}/search", json={"space": SPACE, "query": SECRETS[0]})
    await client.get(f"{api}/{SECRETS[0]}")
    query = {"space": SPACE, "query": f"Where is my {SECRETS[0]}?", "session": "s", "timeout_ms": 60_000}
    assembly = (await client.post(f"{api}/context/assemble", json=query)).json()["id"]
    await client.delete(f"{api}/memories/{memory}")
    await runtime.queue.drain()
    return assembly
