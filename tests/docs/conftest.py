"""A service as a stranger starts it, in a folder where the documentation's commands work as they stand."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.docs.blocks import ROOT


@dataclass(frozen=True, slots=True)
class Running:
    """A service that was started with the sample store.

    Attributes:
        folder: Holds `data`, and links to `.venv` and `examples`.
        printed: What it printed until it had shown the sample.
    """

    folder: Path
    port: int
    printed: str

    def shell(self, script: str) -> str:
        """What a script prints that runs in the stranger's folder; each of its commands must succeed."""
        done = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{script}"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def localised(self, text: str) -> str:
        """A command of the documentation for this service's port."""
        return text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")

    def documented(self, text: str) -> str:
        """What was printed as the documentation has it."""
        return text.replace(f"127.0.0.1:{self.port}", "127.0.0.1:8080")


class _Model(BaseHTTPRequestHandler):
    """A model server that says how much it was told."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        system = asked["messages"][0]["content"]
        message = {"role": "assistant", "content": f"I was told: {system}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "any", "choices": [choice]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="session")
def model_server() -> Iterator[str]:
    """The base URL of a model server on the loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory, model_server: str) -> Iterator[Running]:
    """One service for all tests of the documentation."""
    folder = tmp_path_factory.mktemp("stranger")
    for name in (".venv", "examples"):
        (folder / name).symlink_to(ROOT / name)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            "env",
            f"RICORDO_PORT={port}",
            f"RICORDO_UPSTREAM_URL={model_server}",
            ".venv/bin/ricordo",
            "serve",
            "--sample",
            "examples/sample",
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Running(folder, port, _shown(process))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def _shown(process: "subprocess.Popen[str]") -> str:
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if "it is kept in" in line:
            break
    return "".join(lines)
