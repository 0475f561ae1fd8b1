"""The pages about the service itself: jobs and health."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from app.turns.records import Task
from tests.browser.test_playground import address


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


@pytest.fixture
async def failed_job(client, runtime, work, monkeypatch) -> str:
    """The reason of a job that failed, in a space that was written to."""
    with monkeypatch.context() as patched:

        async def failing(*_arguments):
            raise ValueError("<b>no such luck</b>")

        patched.setitem(runtime.queue.handlers, Task.MEMORIES, failing)
        turn = {
            "space": "user:ada",
            "session": "s",
            "messages": [{"author": {"id": "ada", "name": "Ada"}, "text": "I live in Turin."}],
        }
        assert (await client.post("/turns", json=turn)).status_code in (200, 201, 202)
        await work()
    return "<b>no such luck</b>"


async def test_a_job_that_failed_says_why_and_is_tried_again(page, url, tenant, *, client, work, failed_job):
    await page.goto(address(url, "/jobs?state=failed", key=tenant.key))
    await expect(page.locator("table")).to_contain_text(failed_job)
    assert await page.locator("table b").count() == 0
    await page.get_by_role("button", name="Retry", exact=True).click()
    await expect(page.get_by_text("No job here.")).to_be_visible()
    await work()
    assert (await client.get("/jobs", params={"state": "failed"})).json()["items"] == []


async def test_an_unknown_space_name_is_refused_at_its_field(page, url, tenant):
    await page.goto(address(url, "/jobs?space=nobody", key=tenant.key))
    await expect(page.get_by_label("Space", exact=True)).to_have_attribute("aria-invalid", "true")


async def test_health_shows_each_part_and_what_was_measured(page, url, tenant, kitchen):
    await page.goto(address(url, "/health", key=tenant.key))
    for part in ("Database", "Embedder", "Working memory", "Queue"):
        await expect(page.get_by_text(part, exact=True).first).to_be_visible()
    await expect(page.locator("table")).to_contain_text("render")
    assert await page.locator("svg[role=img]").count() >= 5


@pytest.mark.parametrize("view", ["/jobs", "/health"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, *, failed_job, view, scheme):
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await page.goto(address(url, view, key=tenant.key))
    await expect(page.locator("table")).to_be_visible()
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


@pytest.mark.parametrize("view", ["/jobs", "/health"])
async def test_nothing_is_wider_than_a_phone(open_page, url, tenant, failed_job, view):
    page = await open_page(viewport={"width": 360, "height": 740})
    await page.goto(address(url, view, key=tenant.key))
    await expect(page.locator("table")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
