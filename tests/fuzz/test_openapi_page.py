"""Generated requests against the running service: what the OpenAPI page says is what happens, and no 500."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

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


@pytest.fixture(scope="module")
def api_schema(service):
    url, key = service
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    schema.config.update(headers={"Authorization": f"Bearer {key}"})
    return schema


schema = schemathesis.pytest.from_fixture("api_schema")


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_generated_request_breaks_the_service(case, service):
    _, key = service
    case.call_and_validate(
        headers={"Authorization": f"Bearer {key}"},
        checks=[not_a_server_error, content_type_conformance, response_schema_conformance],
    )
