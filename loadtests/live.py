"""The benchmark of live assemblies: one batch of 20 messages by 8 people, over HTTP. `make bench` runs it last."""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import orjson

from app.domain.callers import Caller, Role
from app.runtime import DEFAULT_TENANT
from app.store import embedded
from app.store.keys import tenant_id_of
from loadtests import texts
from loadtests.client import Client
from loadtests.proxy import Fault, relayed_beside
from loadtests.service import BUNDLED, Service, running

ASSEMBLE = "/api/v1/context/assemble"
LIVE = f"{ASSEMBLE}/live"
PEOPLE = 8
MESSAGES = 20
MEMORIES = 300
VIEWERS = (3, 5)
_CALLS = ("lol", "gg", "haha", "wow", "no way", "yay")
_WRITTEN_AT_ONCE = 100
_STAGE_MS = 300


@dataclass(frozen=True, slots=True)
class Latency:
    """Of one kind of batch, in milliseconds."""

    name: str
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float


def main() -> None:
    """Measure and print."""
    options = _options(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="ricordo-live-") as folder, running(Path(folder), BUNDLED) as service:
        _fill(service)
        rows = [_latency(service, "one person, not live", ASSEMBLE, _questions(), options.requests)]
        rows += [_latency(service, f"{n} viewers", LIVE, _batches(n), options.requests) for n in VIEWERS]
        served, failed, per_second = _load(service, options.rate, options.seconds)
    with tempfile.TemporaryDirectory(prefix="ricordo-live-") as folder:
        broken = [_broken(Path(folder) / fault.value, fault, options.broken) for fault in Fault]
    print(_table(rows))
    print(
        f"\nA plan that reads nothing: {per_second:.0f} batches/s for {options.seconds:g} s, "
        f"{served} served, {failed} errors"
    )
    for one in broken:
        print(one)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m loadtests.live", description="Measure live assemblies over HTTP.")
    parser.add_argument("--requests", type=int, default=300, help="batches of each kind")
    parser.add_argument("--rate", type=float, default=200.0, help="batches a second that read nothing")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long they come")
    parser.add_argument("--broken", type=int, default=40, help="batches while one person's source hangs, and dies")
    return parser.parse_args(arguments)


def _fill(service: Service) -> None:
    facts = texts.distinct("memories", 7)
    with service.client() as client:
        for person in range(max(VIEWERS)):
            for _ in range(MEMORIES // _WRITTEN_AT_ONCE):
                entries = [{"text": next(facts)} for _ in range(_WRITTEN_AT_ONCE)]
                body = orjson.dumps({"space": f"viewer:chat:{person}", "entries": entries})
                _checked(client.post("/api/v1/memories/batch", body))


def _batches(viewers: int) -> Iterator[bytes]:
    """Batches in which so many people ask the agent something, each batch once."""
    questions = texts.distinct("questions", 11)
    for number in count():
        said = [
            {
                "author": {"platform": "chat", "id": str(place % PEOPLE), "name": f"Person{place % PEOPLE}"},
                "text": f"Giulia, {next(questions)}" if place < viewers else f"{_CALLS[place % len(_CALLS)]} {number}",
            }
            for place in range(MESSAGES)
        ]
        yield orjson.dumps({"stream": "stream:bench", "persona": "agent:giulia", "batch": said, "viewers": viewers})


def _questions() -> Iterator[bytes]:
    """The main call with one person's memory, to compare with: the machine may be busy."""
    for question in texts.distinct("questions", 13):
        yield orjson.dumps({"space": "viewer:chat:0", "query": question})


def _latency(service: Service, name: str, path: str, bodies: Iterator[bytes], requests: int) -> Latency:
    with service.client() as client:
        for _ in range(20):
            _checked(client.post(path, next(bodies)))
        took = np.array([_timed(client, path, next(bodies)) for _ in range(requests)])
    p50, p95, p99 = np.percentile(took, [50, 95, 99])
    return Latency(name, float(took.mean()), float(p50), float(p95), float(p99))


def _timed(client: Client, path: str, body: bytes) -> float:
    started = time.perf_counter()
    _checked(client.post(path, body))
    return (time.perf_counter() - started) * 1000


def _checked(reply: tuple[int, bytes]) -> None:
    status, body = reply
    if status >= 300:
        raise RuntimeError(f"{status}: {body.decode(errors='replace')[:300]}")


def _load(service: Service, rate: float, seconds: float, clients: int = 8) -> tuple[int, int, float]:
    """Batches at a rate, for some seconds; how many were served, how many failed, and the rate that came of it."""
    wanted = int(rate * seconds)
    numbers, lock = iter(range(wanted)), threading.Lock()
    started = time.perf_counter()

    def work() -> tuple[int, int]:
        served = failed = 0
        with service.client() as client:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return served, failed
                time.sleep(max(0.0, started + number / rate - time.perf_counter()))
                status, _ = client.post(LIVE, _nothing(number))
                served, failed = served + (status == 200), failed + (status != 200)

    with ThreadPoolExecutor(clients) as pool:
        outcomes = [future.result() for future in [pool.submit(work) for _ in range(clients)]]
    served, failed = (sum(outcome[place] for outcome in outcomes) for place in range(2))
    return served, failed, served / (time.perf_counter() - started)


def _nothing(number: int) -> bytes:
    said = [
        {
            "author": {"platform": "chat", "id": str(place % PEOPLE), "name": f"Person{place % PEOPLE}"},
            "text": f"{_CALLS[place % len(_CALLS)]} {number}",
        }
        for place in range(MESSAGES)
    ]
    return orjson.dumps({"stream": "stream:bench", "batch": said})


def _broken(folder: Path, fault: Fault, requests: int) -> str:
    """What batches of three people take while the database connection that reads one of them hangs or dies."""
    with (
        embedded.start(folder / "data") as server,
        relayed_beside(server.url) as relay,
        running(folder / "service", BUNDLED, {"RICORDO_DATABASE_URL": relay.url, "RICORDO_WORKER": "none"}) as service,
    ):
        _fill(service)
        batches = _batches(3)
        with service.client() as client:
            for _ in range(20):
                _checked(client.post(LIVE, next(batches)))
            space = Caller(tenant_id_of(DEFAULT_TENANT), Role.READER).space("viewer:chat:0").space_id
            relay.break_at(fault, space.bytes, space.hex.encode(), str(space).encode())
            took, named = [], 0
            for _ in range(requests):
                body = {**orjson.loads(next(batches)), "timeout_ms": _STAGE_MS}
                started = time.perf_counter()
                status, reply = client.post(LIVE, orjson.dumps(body))
                took.append((time.perf_counter() - started) * 1000)
                _checked((status, reply))
                named += "viewer:chat:0" in orjson.loads(reply)["degraded"]
            relay.mend()
            healed = orjson.loads(client.post(LIVE, next(batches))[1])["degraded"] == []
    p50, p95 = np.percentile(took, [50, 95])
    return (
        f"One source {fault.value}, stage of {_STAGE_MS} ms: p50 {p50:.0f}, p95 {p95:.0f}, at most {max(took):.0f} ms; "
        f"named in {named} of {requests}; {'whole' if healed else 'still degraded'} at once afterwards"
    )


def _table(rows: Sequence[Latency]) -> str:
    lines = [f"| {r.name} | {r.mean_ms:.1f} | {r.p50_ms:.1f} | {r.p95_ms:.1f} | {r.p99_ms:.1f} |" for r in rows]
    return "\n".join(["| live assembly | mean ms | p50 | p95 | p99 |", "|---|---:|---:|---:|---:|", *lines])


if __name__ == "__main__":
    main()
