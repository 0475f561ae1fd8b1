"""The benchmark of turns: how fast they are taken, worked on and found. Part of `make bench`."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

import numpy as np
import orjson

from loadtests.client import Client
from loadtests.service import BUNDLED, Service, running

CLIENTS = (1, 32)
_POLL_S = 0.02
_PACE_S = 1.0
_DEADLINE_S = 60.0

Numbers = Iterator[int]
_HEAD = (
    "| clients | POST p50 ms, a turn a second each | found after p50 ms | p95 ms "
    "| POST p50 ms, as fast as they can | p95 ms | accepted/s | processed/s |"
)


@dataclass(frozen=True, slots=True)
class Taken:
    """How turns are taken by a number of clients, as fast as they can.

    Attributes:
        accepted: Turns a second that were acknowledged.
        processed: Turns a second until everything derived from them was there.
    """

    clients: int
    p50_ms: float
    p95_ms: float
    accepted: float
    processed: float


@dataclass(frozen=True, slots=True)
class Found:
    """How long after its acknowledgement a turn is found by `POST /search`; each client posts a turn a second.

    Attributes:
        post_ms: How long the acknowledgement took, in the middle.
    """

    clients: int
    post_ms: float
    p50_ms: float
    p95_ms: float


def main() -> None:
    """Measure with a worker inside the service, and with one beside it."""
    parser = argparse.ArgumentParser(prog="python -m loadtests.turns", description="Measure turns over HTTP.")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each load lasts")
    parser.add_argument("--turns", type=int, default=20, help="turns that one client looks for; of many, each four")
    options = parser.parse_args()
    for where in ("inside the service", "a process of its own"):
        with tempfile.TemporaryDirectory(prefix="ricordo-turns-") as folder, _service(Path(folder), where) as service:
            numbers = count()
            found = [_find(service, numbers, clients, options.turns) for clients in CLIENTS]
            taken = [_take(service, numbers, clients, options.seconds) for clients in CLIENTS]
        print(table(where, taken, found))


def table(where: str, taken: Sequence[Taken], found: Sequence[Found]) -> str:
    """Markdown."""
    lines = [
        f"Worker: {where}.",
        "",
        _HEAD,
        "|---|---|---|---|---|---|---|---|",
    ]
    for t, f in zip(taken, found, strict=True):
        lines.append(
            f"| {t.clients} | {f.post_ms:.1f} | {f.p50_ms:.0f} | {f.p95_ms:.0f} "
            f"| {t.p50_ms:.1f} | {t.p95_ms:.1f} | {t.accepted:.0f} | {t.processed:.0f} |"
        )
    return "\n".join([*lines, ""])


@contextmanager
def _service(folder: Path, where: str) -> Iterator[Service]:
    alone = where != "inside the service"
    os.environ["RICORDO_WORKER"] = "none" if alone else "embedded"  # noqa: TID251 - for the service that is started
    with running(folder, BUNDLED) as service:
        if not alone:
            yield service
            return
        environment = {**os.environ, "RICORDO_DATA_DIR": str(folder)}  # noqa: TID251 - handed on
        with (folder / "worker.log").open("ab") as log:
            command = [sys.executable, "-m", "app.cli", "worker"]
            worker = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            yield service
        finally:
            worker.terminate()
            worker.wait(60)


def _post(client: Client, space: str, text: str) -> float:
    body = orjson.dumps({"space": space, "session": "bench", "messages": [{"author": {"name": "Ana"}, "text": text}]})
    started = time.perf_counter()
    status, reply = client.post("/api/v1/turns", body)
    if status != 202:
        raise RuntimeError(f"{status}: {reply.decode(errors='replace')}")
    return (time.perf_counter() - started) * 1000


def _take(service: Service, numbers: Numbers, clients: int, seconds: float) -> Taken:
    def work(place: int) -> list[float]:
        elapsed = []
        with service.client() as client:
            while time.perf_counter() < until:
                elapsed.append(_post(client, f"user:take-{clients}-{place}", f"Turn {next(numbers)} was said here."))
        return elapsed

    started = time.perf_counter()
    until = started + seconds
    elapsed = _together(work, clients)
    accepted_s = time.perf_counter() - started
    _settle(service)
    processed_s = time.perf_counter() - started
    p50, p95 = np.percentile(elapsed, (50, 95))
    return Taken(clients, float(p50), float(p95), len(elapsed) / accepted_s, len(elapsed) / processed_s)


def _find(service: Service, numbers: Numbers, clients: int, turns: int) -> Found:
    posted: list[float] = []

    def work(place: int) -> list[float]:
        elapsed = []
        time.sleep(_PACE_S * place / clients)
        space = f"user:find-{clients}-{place}"
        with service.client() as client:
            for _ in range(turns if clients == 1 else 4):
                word = f"zx{next(numbers)}qv"
                posted.append(_post(client, space, f"The word of the day is {word}."))
                started = time.perf_counter()
                while word not in _search(client, space, word):
                    time.sleep(_POLL_S)
                    if time.perf_counter() - started > _DEADLINE_S:
                        raise RuntimeError(f"{word} was not found")
                elapsed.append((time.perf_counter() - started) * 1000)
                time.sleep(max(0.0, _PACE_S - elapsed[-1] / 1000))
        return elapsed

    elapsed = _together(work, clients)
    _settle(service)
    p50, p95 = np.percentile(elapsed, (50, 95))
    return Found(clients, float(np.median(posted)), float(p50), float(p95))


def _search(client: Client, space: str, query: str) -> str:
    body = orjson.dumps({"space": space, "query": query, "tiers": ["episodes"], "min_relevance": 0.0, "limit": 1})
    return client.post("/api/v1/search", body)[1].decode()


def _together(work: Callable[[int], list[float]], clients: int) -> list[float]:
    with ThreadPoolExecutor(clients) as pool:
        return [ms for future in [pool.submit(work, n) for n in range(clients)] for ms in future.result()]


def _settle(service: Service) -> None:
    """Wait until no job of the tenant waits any more."""
    with service.client() as client:
        while b'"items":[]' not in client.get(f"/api/v1/jobs?state={quote('waiting')}&limit=1")[1]:
            time.sleep(0.02)


if __name__ == "__main__":
    main()
