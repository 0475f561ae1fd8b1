"""A real Chromium before the real service."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

from app.store.queue import INTERNAL
from app.turns.records import Task
from tests.serving import served

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield opened
        await opened.close()


@pytest.fixture(scope="session")
async def url(app) -> AsyncIterator[str]:
    """Where the service listens."""
    async with served(app) as found:
        yield found


@pytest.fixture
async def open_page(browser: Browser, url: str):
    """Opens pages, each in a browser of its own; a request to another host or an error of a script fails the test."""
    contexts, faults = [], []

    async def opened(**options) -> Page:
        context = await browser.new_context(
            **{"locale": "en-GB", "viewport": {"width": 1280, "height": 900}, **options}
        )
        contexts.append(context)
        page = await context.new_page()
        page.on("request", lambda request: faults.append(request.url) if not request.url.startswith(url) else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        return page

    yield opened
    for context in contexts:
        await context.close()
    assert faults == []


@pytest.fixture
async def page(open_page) -> Page:
    return await open_page()


@pytest.fixture
async def kitchen(client) -> str:
    """A space with something in each section of the prompt, a contradiction, and one question that was asked."""
    persona = {"space": "agent:nonna", "name": "persona", "text": "You are Nonna, a retired cook from Turin."}
    await client.post("/soul", json=persona)
    space = "user:ada"
    for tier, fields in (
        ("memories", {"text": "Answer in English.", "category": "output_preference", "importance": 0.9}),
        ("memories", {"text": "Lucia is allergic to hazelnuts: cook without them for guests.", "tags": ["food"]}),
        ("memories", {"text": "I live in Rome."}),
        ("memories", {"text": "I moved, I live in Turin now."}),
        ("memories", {"text": "My cat is called Micio."}),
        ("episodes", {"text": "Ada invited guests to dinner on Friday."}),
        ("procedures", {"text": "Check every guest's allergies first.", "trigger": "guests come to dinner"}),
    ):
        reply = await client.post(f"/{tier}", json={"space": space, **fields})
        assert reply.status_code == 201
    question = {"space": space, "persona": "agent:nonna", "query": "What do I cook for my guests, and where do I live?"}
    assert (await client.post("/context/assemble", json={**question, "timeout_ms": 30_000})).status_code == 200
    return space


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


@pytest.fixture
async def failed_job(client, runtime, work, monkeypatch) -> str:
    """The reason that is told of a job that failed, in a space that was written to."""
    with monkeypatch.context() as patched:

        async def failing(*_arguments):
            raise ValueError("no such luck")

        patched.setitem(runtime.queue.handlers, Task.MEMORIES, failing)
        turn = {
            "space": "user:ada",
            "session": "s",
            "messages": [{"author": {"id": "ada", "name": "Ada"}, "text": "I live in Turin."}],
        }
        assert (await client.post("/turns", json=turn)).status_code in (200, 201, 202)
        await work()
    return INTERNAL
