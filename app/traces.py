"""Traces, for who watches several services: a span for each request, and one for each stage of an assembly.

They hold templates of routes, statuses, ids and times; no text, no path and no key.
"""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from opentelemetry.trace import NoOpTracer, Span, SpanKind, Tracer, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_SERVICE = "ricordo"
_NANOSECONDS = 1_000_000
"""In a millisecond."""


class Traces:
    """Makes spans. Without a collector they cost nothing and go nowhere."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        """To a tracer, or to nobody."""
        self._tracer = tracer or NoOpTracer()
        self._is_on = tracer is not None

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Span]:
        """The span of a request: part of the caller's trace if `traceparent` names one."""
        around = TraceContextTextMapPropagator().extract(headers) if self._is_on else None
        span = self._tracer.start_span(method, around, kind=SpanKind.SERVER)
        with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            yield span

    def assembled(self, timings_ms: Mapping[str, float]) -> None:
        """The spans of an assembly that ended just now. Its stages follow one another and make up the `total`."""
        if not self._is_on:
            return
        at = time.time_ns() - int(timings_ms["total"] * _NANOSECONDS)
        for stage, milliseconds in timings_ms.items():
            if stage != "total":
                span = self._tracer.start_span(f"assembly {stage}", start_time=at)
                at += int(milliseconds * _NANOSECONDS)
                span.end(at)


@asynccontextmanager
async def open_traces(url: str | None) -> AsyncIterator[Traces]:
    """Traces to a collector; what still waits is sent at the end.

    Args:
        url: The collector's base URL (OTLP over HTTP); None: there is none.

    Raises:
        ImportError: If there is a URL, and the extra `otel` is not installed.
    """
    if url is None:
        yield Traces()
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": _SERVICE}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces")))
    try:
        yield Traces(provider.get_tracer(_SERVICE))
    finally:
        provider.shutdown()
