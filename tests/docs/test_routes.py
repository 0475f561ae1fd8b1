"""docs/routes.md calls every route, each with success."""

import re
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from app.main import create_app
from tests.api.routes import routes_of
from tests.docs.blocks import ROOT, blocks
from tests.docs.conftest import Running

PAGE = ROOT / "docs" / "routes.md"
REFUSES = {"POST /jobs/{id}/retry"}
"""Whose example is a refusal: nothing fails in a sound service."""


def answered(running: Running) -> dict[str, float]:
    """How often each route was answered with success, or at all where its example is a refusal."""
    with urlopen(f"http://127.0.0.1:{running.port}/metrics") as page:
        families = text_string_to_metric_families(page.read().decode())
    counted: dict[str, float] = {}
    for family in families:
        for sample in family.samples:
            if sample.name == "ricordo_requests_total":
                route = f"{sample.labels['method']} {sample.labels['route'].removeprefix('/api/v1')}"
                if sample.labels["status"].startswith("2") or route in REFUSES:
                    counted[route] = counted.get(route, 0) + sample.value
    return counted


def routes() -> set[str]:
    listed = routes_of(create_app())
    return {f"{method} {path.removeprefix('/api/v1')}" for method, path in listed if path.startswith("/api/v1/")}


def test_the_page_has_a_heading_for_every_route_and_no_other():
    headings = re.findall(r"^### (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [route for heading in headings for route in re.findall(r"`([A-Z]+ [^`]+)`", heading)]
    assert len(named) == len(set(named))
    assert set(named) == routes()


def test_its_examples_call_every_route(running):
    before = answered(running)
    script = "\n".join(running.localised(block.text) for block in blocks(PAGE) if block.mark == "run")
    running.shell(script)
    after = answered(running)
    assert {route for route in routes() if after.get(route, 0) == before.get(route, 0)} == set()
