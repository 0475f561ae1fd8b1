"""Runs the real service as a process of its own over a data folder, and says what it weighs."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from loadtests.client import Client

BUNDLED = ("app.cli", "serve")
STUB = ("loadtests.stub",)

KEY = "rk_loadtest_0123456789abcdef"
_HOST = "127.0.0.1"
_START_S = 120.0
_STOP_S = 60.0
_LIVE = "/health/live"
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Memory:
    """What a group of processes takes, in MiB; `pss` divides shared pages between those who share them."""

    processes: int
    rss_mib: float
    pss_mib: float


@dataclass(frozen=True, slots=True)
class Service:
    """A running service.

    Attributes:
        ready_s: From the start of the process to its first answer.
    """

    port: int
    process: psutil.Process
    data_dir: Path
    ready_s: float

    def client(self) -> Client:
        """A new connection."""
        return Client(_HOST, self.port, KEY)

    def memory(self) -> dict[str, Memory]:
        """Of the service and of its database."""
        ours = [self.process, *self.process.children(recursive=True)]
        database = [p for p in psutil.process_iter(["name"]) if p.info["name"] == "postgres" and self._is_here(p)]
        return {"service": _memory(ours), "postgres": _memory(database)}

    def _is_here(self, process: psutil.Process) -> bool:
        try:
            return Path(process.cwd()).is_relative_to(self.data_dir.resolve())
        except psutil.Error:
            return False


@contextmanager
def running(data_dir: Path, module: Sequence[str], settings: Mapping[str, str] | None = None) -> Iterator[Service]:
    """Start the service, wait for its first answer, and stop it at the end.

    Args:
        settings: Further ones, by the names of their variables.

    Raises:
        RuntimeError: If it ends before it answers; with the end of its output.
    """
    port = free_port()
    environment = {
        **os.environ,  # noqa: TID251 - handed on, not read
        "RICORDO_DATA_DIR": str(data_dir),
        "RICORDO_PORT": str(port),
        "RICORDO_API_KEY": KEY,
        "OPENBLAS_NUM_THREADS": "1",
        **(settings or {}),
    }
    data_dir.mkdir(parents=True, exist_ok=True)
    output = data_dir / "service.log"
    started = time.perf_counter()
    with output.open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", *module], env=environment, stdout=log, stderr=log)
    try:
        _wait_until_live(process, port, output)
        ready_s = time.perf_counter() - started
        yield Service(port, psutil.Process(process.pid), data_dir, ready_s)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_live(process: "subprocess.Popen[bytes]", port: int, output: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the service ended: {output.read_text(errors='replace')[-2000:]}")
        try:
            with Client(_HOST, port, KEY) as client:
                client.get(_LIVE)
                return
        except OSError:
            time.sleep(0.005)
    raise RuntimeError(f"the service did not answer within {_START_S:.0f} s")


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.create_server((_HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _memory(processes: Sequence[psutil.Process]) -> Memory:
    infos = [process.memory_full_info() for process in processes]
    return Memory(len(infos), sum(i.rss for i in infos) / _MIB, sum(i.pss for i in infos) / _MIB)
