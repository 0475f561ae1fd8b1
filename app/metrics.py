"""What an operator watches: counted while it happens, or read when somebody asks. No tenant, no space, no text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_REQUEST_SECONDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_STAGE_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is to read at a moment; what is unknown is left out.

    Attributes:
        gauges: By name without prefix.
        counters: Likewise, without `_total`.
        caches: By name: how often what was asked for was there, and how often not.
    """

    gauges: Mapping[str, float]
    counters: Mapping[str, float]
    caches: Mapping[str, tuple[int, int]]


DESCRIPTIONS = {
    "queue_waiting": "Jobs that wait for a worker.",
    "queue_oldest_seconds": "How long the job that is due for longest has been due.",
    "queue_failed": "Jobs that failed for good.",
    "queue_workers": "Workers that live.",
    "resident_spaces": "Spaces whose indexes are in memory.",
    "resident_bytes": "Memory of these indexes.",
    "pool_connections": "Connections to the database.",
    "pool_waiting": "Requests that wait for a connection.",
    "pool_timeouts": "Requests that waited for a connection in vain.",
    "embedder_batches": "Batches that the model was given.",
    "embedder_texts": "Windows of texts in these batches.",
    "embedder_seconds": "Time that these batches took.",
}
"""Of what is read, by name without prefix."""


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "ricordo_requests", "Requests that were answered.", ["method", "route", "status"], registry=self._registry
        )
        self._request_seconds = Histogram(
            "ricordo_request_seconds",
            "Time from a request to the end of its answer.",
            ["route"],
            buckets=_REQUEST_SECONDS,
            registry=self._registry,
        )
        self._stage_seconds = Histogram(
            "ricordo_assembly_stage_seconds",
            "Time that each stage of an assembly takes, and the total.",
            ["stage"],
            buckets=_STAGE_SECONDS,
            registry=self._registry,
        )
        self._degraded = Counter(
            "ricordo_degraded_assemblies", "Assemblies that did without a part.", ["part"], registry=self._registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered.

        Args:
            route: Its template, with no id in it.
        """
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def assembled(self, timings_ms: Mapping[str, float], degraded: Iterable[str], *, live: bool = False) -> None:
        """A prompt was assembled.

        Args:
            live: Whether for a batch of many voices, whose stages do other work under the same names.
        """
        for stage, milliseconds in timings_ms.items():
            self._stage_seconds.labels(f"live_{stage}" if live else stage).observe(milliseconds / 1000)
        for part in degraded:
            self._degraded.labels(part.partition(":")[0]).inc()  # of a space its kind alone

    def page(self, reading: Reading) -> bytes:
        """All metrics in the text format of Prometheus."""
        read = CollectorRegistry()
        read.register(_Read(reading))
        return generate_latest(self._registry) + generate_latest(read)


class _Read(Collector):
    """A reading, as the library takes it."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def collect(self) -> Iterator[Metric]:
        """Each value as a family of one; caches as one family each for hits and misses."""
        for name, value in self._reading.gauges.items():
            yield GaugeMetricFamily(f"ricordo_{name}", DESCRIPTIONS[name], value)
        for name, value in self._reading.counters.items():
            yield CounterMetricFamily(f"ricordo_{name}", DESCRIPTIONS[name], value)
        hits = CounterMetricFamily("ricordo_cache_hits", "How often it was there.", labels=["cache"])
        misses = CounterMetricFamily("ricordo_cache_misses", "How often it was not.", labels=["cache"])
        for cache, counts in self._reading.caches.items():
            hits.add_metric([cache], counts[0])
            misses.add_metric([cache], counts[1])
        yield from (hits, misses)
