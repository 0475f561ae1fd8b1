"""Turns under fire: posts turns while it kills the service, the worker and the database between named commits.

`make chaos-turns`. Every turn that was acknowledged has to be there once, with everything derived from it once.
"""

import argparse
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import psutil
import psycopg

from app.store import embedded
from app.store.migrate import migrate
from loadtests.client import Client
from loadtests.service import KEY, free_port

_STREAM: Final = "stream:chaos"
_POSTERS: Final = 4
_WATCH_S: Final = 3.0
_PATIENCE_S: Final = 300.0
_HOST: Final = "127.0.0.1"

_STATEMENTS: Final = {
    "turn stored, not acknowledged": "SELECT given_id FROM turns WHERE recorded_at > now() - interval '5 s'",
    "job taken, nothing done": """
        SELECT 1 FROM queue.procrastinate_jobs q JOIN jobs j ON j.id = (q.args ->> 'job')::uuid
         WHERE q.status = 'doing' AND j.state = 'waiting' LIMIT 1""",
    "episode stored, job not noted": """
        SELECT 1 FROM jobs j JOIN derived_entries d ON d.tenant_id = j.tenant_id AND d.id = j.subject
           AND d.space_id = j.space_id
         WHERE j.task = 'episode' AND j.state = 'waiting' LIMIT 1""",
    "memory stored, job not noted": """
        SELECT 1 FROM jobs j JOIN memory_evidence m ON m.tenant_id = j.tenant_id AND m.turn = j.subject
         WHERE j.task = 'memories' AND j.state = 'waiting' LIMIT 1""",
    "job noted, not finished": """
        SELECT 1 FROM queue.procrastinate_jobs q JOIN jobs j ON j.id = (q.args ->> 'job')::uuid
         WHERE q.status = 'doing' AND j.state = 'succeeded' LIMIT 1""",
    "turn being stored": "SELECT 1 FROM queue.procrastinate_jobs WHERE status IN ('todo', 'doing') LIMIT 1",
}
"""Between which commits: what the database shows then. The process is stopped before it is killed."""

POINTS: Final = (
    ("service", "turn stored, not acknowledged"),
    ("worker", "job taken, nothing done"),
    ("database", "turn being stored"),
    ("worker", "episode stored, job not noted"),
    ("worker", "memory stored, job not noted"),
    ("worker", "job noted, not finished"),
)


class LostError(Exception):
    """Something that was acknowledged is not there, or there twice."""


@dataclass(slots=True)
class Outcome:
    """What a run saw.

    Attributes:
        kills: By target and point.
        recovery_s: From a kill until the next acknowledgement (service, database) or the next job done (worker).
    """

    turns: int = 0
    repeated: int = 0
    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    recovery_s: dict[str, list[float]] = field(default_factory=dict)
    settled_s: float = 0.0

    def report(self) -> str:
        """In lines."""
        lines = [f"{self.turns} turns acknowledged, {self.repeated} posted again because nobody answered"]
        lines += [f"{n:4} kills: {target}, {point}" for (target, point), n in sorted(self.kills.items())]
        for target, seconds in sorted(self.recovery_s.items()):
            p50, p95 = np.percentile(seconds, (50, 95))
            lines.append(f"{target} recovered after {p50:.1f} s (p50), {p95:.1f} s (p95), {max(seconds):.1f} s at most")
        lines.append(f"all work was done {self.settled_s:.1f} s after the last turn; all of it is there once")
        return "\n".join(lines)


class Processes:
    """The database, and a service and a worker over it, each of which can be killed and comes back."""

    def __init__(self, folder: Path) -> None:
        """Start all three."""
        self.looking: psycopg.Connection[tuple[Any, ...]] | None = None
        self._folder = folder
        self._port = free_port()
        self.server = embedded.start(folder / "data")
        migrate(self.server.url)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.start("service")
        self.start("worker")

    def start(self, target: str) -> None:
        """Start one of them (again)."""
        if target == "database":
            self.server = embedded.start(self._folder / "data")
            return
        environment = {
            **os.environ,  # noqa: TID251 - handed on, not read
            "RICORDO_DATABASE_URL": self.server.url,
            "RICORDO_DATA_DIR": str(self._folder / "keys"),
            "RICORDO_PORT": str(self._port),
            "RICORDO_API_KEY": KEY,
            "RICORDO_WORKER": "none",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "app.cli", "serve" if target == "service" else "worker"]
        with (self._folder / f"{target}.log").open("ab") as log:
            self._running[target] = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def kill(self, target: str) -> None:
        """SIGKILL, with all children."""
        victims = [self._root(target)]
        with suppress(psutil.NoSuchProcess):
            victims += victims[0].children(recursive=True)
        for victim in victims:
            with suppress(psutil.NoSuchProcess):
                victim.kill()
        psutil.wait_procs(victims, timeout=30)

    def halt(self, target: str) -> None:
        """Stop it where it is, so that nothing comes between a look and the kill."""
        if target != "database":
            self._root(target).send_signal(signal.SIGSTOP)

    def client(self) -> Client:
        """A new connection to the service."""
        return Client(_HOST, self._port, KEY)

    def revive(self) -> None:
        """Start what has ended, as a supervisor would: a service that came up while the database was down."""
        for target, process in list(self._running.items()):
            if process.poll() is not None:
                self.start(target)

    def close(self) -> None:
        """Stop all."""
        if self.looking is not None:
            self.looking.close()
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
        self.server.stop()

    def _root(self, target: str) -> psutil.Process:
        if target != "database":
            return psutil.Process(self._running[target].pid)
        pidfile = self._folder / "data" / "postgres" / "cluster" / "postmaster.pid"
        return psutil.Process(int(pidfile.read_text().split()[0]))


@dataclass(slots=True)
class _Posting:
    """Turns to be posted, released in portions; what was acknowledged, and when last."""

    processes: Processes
    released: "queue.Queue[int]" = field(default_factory=queue.Queue)
    acknowledged: dict[str, str] = field(default_factory=dict)
    repeated: int = 0
    last_s: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Post what is released, each turn until it is acknowledged."""
        client: Client | None = None
        while not self.over.is_set():
            try:
                number = self.released.get(timeout=0.1)
            except queue.Empty:
                continue
            while not self.over.is_set():
                try:
                    client = client or self.processes.client()
                    status, reply = client.post("/api/v1/turns", turn(number))
                except (OSError, ValueError):
                    client, status, reply = None, 0, b""
                    time.sleep(0.05)
                if status == 202:
                    self.acknowledged[f"t-{number}"] = orjson.loads(reply)["id"]
                    self.last_s = time.perf_counter()
                    break
                if status not in (0, 500, 503):
                    raise LostError(f"{status}: {reply.decode(errors='replace')}")
                self.repeated += 1


def turn(number: int) -> bytes:
    """What two viewers and the agent said in a turn: one of them something new, the other the same as always."""
    ana = {"author": {"platform": "twitch", "id": "ana", "name": "Ana"}, "text": f"I collect stamps of heron {number}."}
    ben = {
        "author": {"platform": "twitch", "id": "ben", "name": "Ben"},
        "text": f"I saw none of {number}. I hate herons.",
    }
    messages = [{**ana, "id": f"m-{number}-a"}, {**ben, "id": f"m-{number}-b"}]
    body = {"stream": _STREAM, "session": f"s-{number % 7}", "id": f"t-{number}", "messages": messages}
    return orjson.dumps({**body, "reply": {"text": f"Noted: {number}."}})


def run(folder: Path, turns: int, kills: int, progress: Callable[[str], None]) -> Outcome:
    """Post turns under fire, wait until all work is done, and look at everything.

    Raises:
        LostError: If an acknowledged turn, or something derived from it, is missing or there twice.
    """
    with ExitStack() as stack:
        processes = Processes(folder)
        stack.callback(processes.close)
        posting = _Posting(processes)
        posters = [threading.Thread(target=posting.run) for _ in range(_POSTERS)]
        for poster in posters:
            poster.start()
        stack.callback(posting.over.set)
        outcome = Outcome(turns)
        posting.released.put(0)
        _until(lambda: bool(posting.acknowledged), processes)
        for number in range(kills):
            for n in range(turns * number // kills, turns * (number + 1) // kills):
                posting.released.put(n)
            _strike(processes, posting, outcome, *POINTS[number % len(POINTS)])
            progress(f"kill {number + 1} of {kills}, {len(posting.acknowledged)} turns acknowledged")
        _until(lambda: len(posting.acknowledged) == turns, processes)
        finished = time.perf_counter()
        _until(lambda: not _ask(processes, "SELECT 1 FROM jobs WHERE state = 'waiting' LIMIT 1"), processes)
        outcome.settled_s = time.perf_counter() - finished
        outcome.repeated = posting.repeated
        posting.over.set()
        for poster in posters:
            poster.join()
        verify(processes.server.url, posting.acknowledged)
        return outcome


def _strike(processes: Processes, posting: _Posting, outcome: Outcome, target: str, point: str) -> None:
    """Kill a target as soon as the database shows the point, and wait until it is back."""
    until = time.perf_counter() + _WATCH_S
    hit = False
    while not hit and time.perf_counter() < until:
        if _shows(processes, posting, point):
            processes.halt(target)
            hit = target == "database" or _shows(processes, posting, point)
            if not hit:
                with suppress(psutil.NoSuchProcess):
                    processes._root(target).send_signal(signal.SIGCONT)  # noqa: SLF001 - of this module
    processes.kill(target)
    killed = time.perf_counter()
    outcome.kills[target, point if hit else "at any moment"] += 1
    done = _done(processes) if target == "worker" else 0
    processes.start(target)
    if target == "worker":
        _until(lambda: _done(processes) > done or not _waiting(processes), processes)
    else:
        posting.released.put(0)  # known already: whoever answers is back
        _until(lambda: posting.last_s > killed, processes)
    outcome.recovery_s.setdefault(target, []).append(time.perf_counter() - killed)


def _shows(processes: Processes, posting: _Posting, point: str) -> bool:
    rows = _ask(processes, _STATEMENTS[point])
    if point == "turn stored, not acknowledged":
        return any(row[0] not in posting.acknowledged for row in rows)
    return bool(rows)


def _ask(processes: Processes, statement: str) -> Sequence[tuple[Any, ...]]:
    """What the superuser sees; `down` while the database is."""
    try:
        if processes.looking is None or processes.looking.closed:
            processes.looking = psycopg.connect(processes.server.url, autocommit=True)
        return processes.looking.execute(statement.encode()).fetchall()
    except psycopg.Error:
        return [("down",)]


def _done(processes: Processes) -> int:
    counted = _ask(processes, "SELECT count(*) FROM jobs WHERE state = 'succeeded'")[0][0]
    return counted if isinstance(counted, int) else 0


def _waiting(processes: Processes) -> bool:
    return bool(_ask(processes, "SELECT 1 FROM jobs WHERE state = 'waiting' LIMIT 1"))


def _until(holds: Callable[[], bool], processes: Processes) -> None:
    deadline = time.perf_counter() + _PATIENCE_S
    while not holds():
        if time.perf_counter() > deadline:
            raise LostError("nothing happened any more")
        processes.revive()
        time.sleep(0.02)


_COUNTS: Final = {
    "turns": "SELECT given_id, count(*) FROM turns GROUP BY 1",
    "messages": "SELECT t.given_id, count(*) FROM messages m JOIN turns t ON t.id = m.turn GROUP BY 1",
    "indexed messages": """
        SELECT t.given_id, count(*) FROM messages m JOIN turns t ON t.id = m.turn WHERE m.terms <> '{}' GROUP BY 1""",
    "documents": "SELECT t.given_id, count(*) FROM entry_versions e JOIN turns t ON t.id = e.id GROUP BY 1",
    "vectors": "SELECT t.given_id, count(*) FROM entry_vectors v JOIN turns t ON t.id = v.id WHERE v.live GROUP BY 1",
    "memories": """
        SELECT t.given_id, count(*) FROM memory_evidence m JOIN turns t ON t.id = m.turn
          JOIN entry_versions e ON e.id = m.entry AND e.closed_at IS NULL AND e.status = 'active' GROUP BY 1""",
    "succeeded jobs": """
        SELECT t.given_id, count(*) FROM jobs j JOIN turns t ON t.id = j.subject
         WHERE j.state = 'succeeded' GROUP BY 1""",
}
_EXPECTED: Final = {
    "turns": 1,
    "messages": 3,
    "indexed messages": 3,
    "documents": 3,  # the episode, and what each of the two viewers said
    "vectors": 3,
    "memories": 2,  # one of each viewer's
    "succeeded jobs": 4,
}

_MEMORY_VERSIONS: Final = "SELECT max(version) FROM entry_versions WHERE tier = 'memories' GROUP BY id"
"""What was said once has one version; what is said in every turn is one memory, reinforced by each turn once."""


def verify(url: str, acknowledged: dict[str, str]) -> None:
    """Every acknowledged turn is there once, with everything derived from it once, and nothing else is.

    Raises:
        LostError: If not.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for what, statement in _COUNTS.items():
            found: dict[str, int] = dict(connection.execute(statement.encode()).fetchall())
            wrong = {given: found.get(given) for given in acknowledged if found.get(given) != _EXPECTED[what]}
            if wrong or found.keys() - acknowledged.keys():
                raise LostError(f"{what}: {wrong or found.keys() - acknowledged.keys()}")
        versions = connection.execute(_MEMORY_VERSIONS.encode()).fetchall()
        once = [(1,)] * len(acknowledged)
        if sorted(versions) != sorted([*once, (len(acknowledged),)]):
            raise LostError(f"not one memory of each statement: {Counter(versions)}")
        counted = connection.execute("SELECT sum(documents) FROM tier_statistics").fetchone()
        entries = connection.execute("SELECT count(*) FROM entry_versions WHERE closed_at IS NULL").fetchone()
        if counted != entries:
            raise LostError(f"the statistics count {counted} documents, there are {entries}")


def main() -> None:
    """Run, and print what was seen."""
    parser = argparse.ArgumentParser(prog="make chaos-turns", description="Post turns under fire.")
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ricordo-chaos-") as folder:
        outcome = run(Path(folder), options.turns, options.kills, lambda line: print(line, file=sys.stderr, flush=True))
    print(outcome.report())


if __name__ == "__main__":
    main()
