"""The pages about the service itself: jobs and health."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.browser.test_playground import address


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
    await expect(page.get_by_role("table", name="Stages of assemblies")).to_contain_text("render")
    await expect(page.get_by_role("table", name="Most used routes")).to_contain_text("/api/v1/memories")
    await expect(page.get_by_role("table", name="Caches")).to_contain_text("token counts")
    for plotted in ("Assembling a prompt", "p95 of each stage", "Found in caches", "Queue", "Oldest due", "Spaces"):
        await expect(page.get_by_role("img", name=plotted).first).to_be_visible()


BUCKETS = """
s_bucket{stage="a",le="0.01"} 10
s_bucket{stage="a",le="0.1"} 90
s_bucket{stage="a",le="1.0"} 100
s_bucket{stage="a",le="+Inf"} 120
s_bucket{stage="b",le="0.01"} 7
s_bucket{stage="b",le="+Inf"} 7
"""
EARLIER = """
s_bucket{stage="a",le="0.01"} 10
s_bucket{stage="a",le="0.1"} 10
s_bucket{stage="a",le="1.0"} 10
s_bucket{stage="a",le="+Inf"} 10
"""
NEW_PROCESS = 's_bucket{stage="a",le="0.01"} 1\ns_bucket{stage="a",le="+Inf"} 1'


@pytest.mark.parametrize(
    ("before", "after", "share", "wanted"),
    [
        ("", BUCKETS, 0.05, 6.0),  # 6 of the 10 below 10 ms
        ("", BUCKETS, 0.5, 66.25),  # 50 of the 80 between 10 and 100 ms
        ("", BUCKETS, 0.95, 1000.0),  # beyond the last bound
        (EARLIER, BUCKETS, 0.5, 10 + 90 * 55 / 80),  # 110 since then
        (EARLIER, EARLIER, 0.5, None),
        (EARLIER, NEW_PROCESS, 0.5, None),
        ("", "", 0.5, None),
    ],
)
async def test_quantiles_are_those_of_the_buckets(page, url, *, before, after, share, wanted):
    await page.goto(f"{url}/inspector/")
    got = await page.evaluate(
        "async ([before, after, share]) => {"
        " const { parsed, quantileMs } = await import('./pages/health/metrics.js');"
        " return quantileMs(parsed(before), parsed(after), 's', {stage: 'a'}, share); }",
        [before, after, share],
    )
    assert got == pytest.approx(wanted)


async def test_a_plot_is_a_table_too_and_stands_while_it_is_drawn_anew(page, url, tenant, client, kitchen):
    await page.goto(address(url, "/health", tenant.key))
    plot = page.locator("figure", has_text="Assembling a prompt")
    await plot.locator("summary").press("Enter")
    await expect(plot.get_by_role("columnheader")).to_have_text(["At", "median", "p95"])
    await plot.get_by_role("region").focus()
    scrolled = await page.evaluate("scrollTo(0, 300), scrollY")
    body = {"space": kitchen, "query": "What do I cook?", "record": False, "timeout_ms": 30_000}
    assert (await client.post("/context/assemble", json=body)).status_code == 200
    await expect(plot.get_by_role("row").nth(1)).to_contain_text("ms", timeout=15_000)
    await expect(plot.get_by_role("region")).to_be_focused()
    assert await page.evaluate("scrollY") == scrolled
    named = await plot.get_by_role("img").get_attribute("aria-label")
    assert "median" in named
    assert "ms" in named


async def test_health_needs_no_key_and_says_what_is_kept_from_it(page, url):
    await page.route("**/metrics", lambda route: route.fulfill(status=403, body="no"))
    await page.goto(address(url, "/health"))
    await page.evaluate("sessionStorage.setItem('ricordo.key', 'rk_expired')")
    await expect(page.get_by_text("Database", exact=True)).to_be_visible()
    await expect(page.get_by_role("alert")).to_contain_text("/metrics was not answered")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.unroute("**/metrics")
    await expect(page.get_by_role("table", name="Most used routes")).to_be_visible(timeout=15_000)
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("key", ["rk_expired", None])
async def test_jobs_ask_for_a_key_and_go_on_with_it(page, url, tenant, *, failed_job, key):
    await page.goto(address(url, "/jobs?state=failed", key=key))
    asked = page.get_by_role("dialog", name="Sign in")
    await asked.get_by_label("API key or token").fill(tenant.key)
    await page.keyboard.press("Enter")
    await expect(page.locator("table")).to_contain_text(failed_job)


async def test_a_key_that_expires_while_jobs_are_shown_is_asked_for_once(page, url, tenant, failed_job):
    await page.goto(address(url, "/jobs", tenant.key))
    await expect(page.locator("table")).to_contain_text(failed_job)
    await page.evaluate("sessionStorage.setItem('ricordo.key', 'rk_expired')")
    await page.get_by_role("button", name="Retry", exact=True).click()
    asked = page.get_by_role("dialog", name="Sign in")
    await expect(asked.get_by_role("alert")).to_contain_text("The key was refused")
    await expect(page.get_by_role("dialog")).to_have_count(1)
    await asked.get_by_label("API key or token").fill(tenant.key)
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("To be tried again: 1")).to_be_visible()
    await expect(page.locator("table")).to_contain_text("waiting")


@pytest.mark.parametrize("view", ["/jobs", "/health"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, *, failed_job, view, scheme):
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await page.goto(address(url, view, key=tenant.key))
    await expect(page.locator("table:visible").first).to_be_visible()
    if view == "/health":
        await page.locator(".plot summary").first.click()
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


@pytest.mark.parametrize("view", ["/jobs", "/health"])
async def test_nothing_is_wider_than_a_phone(open_page, url, tenant, failed_job, view):
    page = await open_page(viewport={"width": 360, "height": 740})
    await page.goto(address(url, view, key=tenant.key))
    await expect(page.locator("table:visible").first).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
