"""Generated requests against the running service: what the OpenAPI page says is what happens, and no 500."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

EXAMPLES = 12


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    """The service in a process of its own: its URL and the first key."""
    data, port = tmp_path_factory.mktemp("fuzz"), _free_port()
    environment = os.environ | {"RICORDO_DATA_DIR": str(data), "RICORDO_PORT": str(port)}
    process = subprocess.Popen([sys.executable, "-m", "app.cli", "serve"], env=environment, cwd=Path.cwd())
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(f"{url}/health/live", timeout=1).raise_for_status()
                break
            except httpx.HTTPError:
                assert process.poll() is None
                time.sleep(0.1)
        yield url, (data / "api_key").read_text().strip()
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_no_generated_request_breaks_the_service(service):
    """What the page allows and what it forbids: never a 500, always the documented shape."""
    url, key = service
    checks = "not_a_server_error,response_schema_conformance,content_type_conformance"
    run = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{url}/openapi.json"),
            *("--header", f"Authorization: Bearer {key}", "--checks", checks, "--max-examples", str(EXAMPLES)),
            *("--phases", "coverage,fuzzing", "--generation-deterministic", "--no-color"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
