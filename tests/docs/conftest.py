"""A service as a stranger starts it, in a folder where the documentation's commands work as they stand."""

import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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

    def localised(self, text: str) -> str:
        """A command of the documentation for this service's port."""
        return text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")

    def documented(self, text: str) -> str:
        """What was printed as the documentation has it."""
        return text.replace(f"127.0.0.1:{self.port}", "127.0.0.1:8080")


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One service for all tests of the documentation."""
    folder = tmp_path_factory.mktemp("stranger")
    for name in (".venv", "examples"):
        (folder / name).symlink_to(ROOT / name)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        ["env", f"RICORDO_PORT={port}", ".venv/bin/ricordo", "serve", "--sample", "examples/sample"],
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
