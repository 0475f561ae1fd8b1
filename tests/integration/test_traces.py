"""Traces reach a collector on the loopback: each request, each stage, and nobody's words."""

import asyncio
import gzip
from dataclasses import replace

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from app.main import create_app
from app.traces import Traces, open_traces
from tests.serving import served

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


async def test_requests_and_stages_are_spans_of_the_callers_trace(runtime, tenant):
    bodies = []

    async def collect(request):
        body = await request.body()
        bodies.append(gzip.decompress(body) if request.headers.get("content-encoding") == "gzip" else body)
        return Response(b"")

    collector = Starlette(routes=[Route("/v1/traces", collect, methods=["POST"])])
    body = {"space": "user:traced", "query": "Where is my xylophone?", "timeout_ms": 60_000, "trace": True}
    async with served(collector) as url, open_traces(url) as traces:
        app = create_app(runtime)
        app.state.runtime = replace(runtime, traces=traces)
        transport = httpx.ASGITransport(app=app)
        headers = {"Authorization": f"Bearer {tenant.key}", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
        async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
            reply = await client.post("/api/v1/context/assemble", json=body)
        await flushed(traces)
    spans = [
        span
        for sent in map(ExportTraceServiceRequest.FromString, bodies)
        for resource in sent.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    named = {span.name: span for span in spans}
    request = named["POST /api/v1/context/assemble"]
    stages = [span for span in spans if span.name.startswith("assembly ")]
    assert {span.name for span in stages} == {f"assembly {s}" for s in reply.json()["timings_ms"].keys() - {"total"}}
    assert {"assembly plan", "assembly embed", "assembly retrieve", "assembly render"} <= named.keys()
    assert {stage.parent_span_id for stage in stages} == {request.span_id}
    assert all(stage.end_time_unix_nano >= stage.start_time_unix_nano for stage in stages)
    attributes = {one.key: one.value.string_value for one in request.attributes}
    assert attributes["ricordo.assembly"] == reply.json()["id"]
    assert attributes["ricordo.request"] == reply.headers["x-request-id"]
    for secret in (b"xylophone", tenant.key.encode()):
        assert not [sent for sent in bodies if secret in sent]


async def test_a_live_assembly_is_traced_as_well(runtime, tenant):
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    app = create_app(runtime)
    app.state.runtime = replace(runtime, traces=Traces(provider.get_tracer("test")))
    batch = [{"author": {"platform": "chat", "id": "7"}, "text": "Giulia, where is my xylophone?"}]
    body = {"stream": "stream:traced", "agents": ["Giulia"], "batch": batch, "timeout_ms": 60_000, "trace": True}
    headers = {"Authorization": f"Bearer {tenant.key}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
        reply = (await client.post("/api/v1/context/assemble/live", json=body, headers=headers)).json()
    found = spans.get_finished_spans()
    assert {s.name for s in found if s.name.startswith("assembly ")} == {
        f"assembly {stage}" for stage in reply["timings_ms"].keys() - {"total"}
    }
    (request,) = (span for span in found if span.name == "POST /api/v1/context/assemble/live")
    assert request.attributes["ricordo.assembly"] == reply["id"]
    assert "xylophone" not in str([span.to_json() for span in found])


async def flushed(traces):
    """Send what waits; in a thread, since the collector answers in this loop."""
    provider = traces._tracer.span_processor
    await asyncio.to_thread(provider.force_flush)
