"""The benchmark: the real service over HTTP, over a filled store. `make bench`, options in BENCH="..."."""

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import orjson
from numpy.typing import NDArray

from app.embedding.bundled import BundledEmbedder
from app.store import embedded
from loadtests import stub, texts
from loadtests.client import Client
from loadtests.fill import Embed, Space, fill
from loadtests.report import Report, Row, StubRow, append, table
from loadtests.service import BUNDLED, STUB, Service, running

ASSEMBLE = "/api/v1/context/assemble"
CLIENTS = (1, 8, 32)
STUB_SIZES = (300, 3000)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured. Medians of several short rounds: the machine is not ours alone."""

    sizes: tuple[int, ...] = (300, 3_000, 30_000)
    crowd: int = 300_000
    rounds: int = 5
    requests: int = 100
    load_seconds: float = 2.0
    stub_requests: int = 40
    traces: int = 20


QUICK = Effort(sizes=(300, 3_000), crowd=30_000, rounds=3, requests=60, load_seconds=1.0, stub_requests=20, traces=10)


Ask = Callable[[], bytes]
"""Makes the body of a request."""

Latencies = NDArray[np.float64]


@dataclass(slots=True)
class _Questions:
    """Each question once, whoever asks."""

    source: Iterator[str]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def asking(self, space: str, *, trace: bool = False) -> Ask:
        """Makes requests that nobody made before."""

        def body() -> bytes:
            with self.lock:
                question = next(self.source)
            return orjson.dumps({"space": space, "query": question, "trace": trace})

        return body


def main() -> None:
    """Measure, print, append to results.jsonl."""
    options = _options(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="ricordo-bench-") as folder:
        report = measure(Path(folder), options)
    print(table(report))
    append(report)


def _options(arguments: Sequence[str]) -> Effort:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure the service over HTTP.")
    parser.add_argument("--quick", action="store_true", help="no large space, few other rows: for comparing changes")
    parser.add_argument("--sizes", help="memories per space, such as 300,3000")
    parser.add_argument("--crowd", type=int, help="entries of other spaces")
    parser.add_argument("--rounds", type=int, help="short runs whose median counts")
    parser.add_argument("--requests", type=int, help="requests in a round")
    given = parser.parse_args(arguments)
    base = QUICK if given.quick else Effort()
    return Effort(
        sizes=tuple(int(n) for n in given.sizes.split(",")) if given.sizes else base.sizes,
        crowd=base.crowd if given.crowd is None else given.crowd,
        rounds=given.rounds or base.rounds,
        requests=given.requests or base.requests,
        load_seconds=base.load_seconds,
        stub_requests=base.stub_requests,
        traces=base.traces,
    )


def measure(folder: Path, effort: Effort) -> Report:
    """Run everything."""
    questions = _Questions(texts.distinct("questions", 1))
    data_dir = folder / "bundled"
    with running(data_dir, BUNDLED) as service:
        cold_s = service.ready_s
        _progress(f"first start ready after {cold_s:.1f} s")
    spaces = [Space(size) for size in effort.sizes]
    with _bundled() as embed:
        _fill(data_dir, spaces, effort.crowd, embed)
    with running(data_dir, BUNDLED) as service:
        _progress(f"second start ready after {service.ready_s:.1f} s")
        with service.client() as client:
            first_ms = _timed(client, questions.asking(spaces[0].key.name)())
        report = Report(effort.crowd, cold_s, service.ready_s, first_ms)
        _measure_bundled(service, spaces, effort, questions, report)
        report.memory = service.memory()
    if any(size in STUB_SIZES for size in effort.sizes):
        report.stub = _measure_stub(folder / "stub", effort, questions)
    return report


def _measure_bundled(
    service: Service, spaces: Sequence[Space], effort: Effort, questions: _Questions, report: Report
) -> None:
    names = {space.memories: space.key.name for space in spaces}
    with service.client() as client:
        for name in (*names.values(), "user:empty"):
            _round(client, questions.asking(name), 20)
        floors, empties = [], []
        rounds: dict[int, list[Latencies]] = {size: [] for size in names}
        for number in range(effort.rounds):
            floors.append(_floor(client, effort.requests))
            empties.append(np.median(_round(client, questions.asking("user:empty"), effort.requests)))
            for size, name in names.items():
                rounds[size].append(_round(client, questions.asking(name), effort.requests))
            _progress(f"round {number + 1} of {effort.rounds}")
        report.floor_ms, report.empty_ms = float(median(floors)), float(median(empties))
        for size, name in names.items():
            stages, prompt_tokens = _stages(client, questions.asking(name, trace=True), effort.traces)
            report.rows.append(Row(size, *_percentiles(rounds[size]), stages, prompt_tokens))
    for row in report.rows:
        for clients in CLIENTS:
            row.per_second[clients] = _load(service, names[row.size], questions, clients, effort.load_seconds)
        _progress(f"load on {row.size} done")


def _measure_stub(data_dir: Path, effort: Effort, questions: _Questions) -> list[StubRow]:
    with running(data_dir, STUB):
        pass
    spaces = [Space(size) for size in effort.sizes if size in STUB_SIZES]
    _fill(data_dir, spaces, effort.crowd, stub.bags)
    rows: list[StubRow] = []
    with running(data_dir, STUB) as service, service.client() as client:
        for space in spaces:
            name = space.key.name
            _round(client, questions.asking(name), 20)
            rounds = [_round(client, questions.asking(name), effort.stub_requests) for _ in range(effort.rounds)]
            rows.append(StubRow(space.memories, *_percentiles(rounds)))
    return rows


def _fill(data_dir: Path, spaces: Sequence[Space], crowd: int, embed: Embed) -> None:
    with embedded.start(data_dir) as server:
        fill(server.url, spaces, crowd, embed, _progress)


@contextmanager
def _bundled() -> Iterator[Embed]:
    embedder = BundledEmbedder()
    with asyncio.Runner() as runner:
        yield lambda batch: runner.run(embedder.embed_documents(batch))
        runner.run(embedder.close())


def _timed(client: Client, body: bytes) -> float:
    started = time.perf_counter()
    status, reply = client.post(ASSEMBLE, body)
    elapsed_ms = (time.perf_counter() - started) * 1000
    if status != 200:
        raise RuntimeError(f"{status}: {reply.decode(errors='replace')}")
    return elapsed_ms


def _round(client: Client, body: Ask, requests: int) -> Latencies:
    return np.array([_timed(client, body()) for _ in range(requests)])


def _floor(client: Client, requests: int) -> float:
    elapsed = []
    for _ in range(requests):
        started = time.perf_counter()
        client.get("/health/live")
        elapsed.append((time.perf_counter() - started) * 1000)
    return float(np.median(elapsed))


def _percentiles(rounds: Sequence[Latencies]) -> tuple[float, float, float]:
    """The median over the rounds of p50, p95 and p99."""
    p50, p95, p99 = np.median([np.percentile(one, (50, 95, 99)) for one in rounds], axis=0)
    return float(p50), float(p95), float(p99)


def _stages(client: Client, body: Ask, requests: int) -> tuple[dict[str, float], int]:
    replies = [orjson.loads(client.post(ASSEMBLE, body())[1]) for _ in range(requests)]
    names = replies[0]["timings_ms"]
    stages = {name: float(median(reply["timings_ms"][name] for reply in replies)) for name in names}
    return stages, int(median(reply["tokens"]["total"] for reply in replies))


def _load(service: Service, space: str, questions: _Questions, clients: int, seconds: float) -> float:
    """Requests a second of several clients, each asking again as soon as it is answered."""
    body = questions.asking(space)

    def ask() -> int:
        answered = 0
        with service.client() as client:
            while time.perf_counter() < until:
                _timed(client, body())
                answered += 1
        return answered

    started = time.perf_counter()
    until = started + seconds
    with ThreadPoolExecutor(clients) as pool:
        answered = sum(future.result() for future in [pool.submit(ask) for _ in range(clients)])
    return answered / (time.perf_counter() - started)


def _progress(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
