"""The inspector with a short-lived token of one space: a person's own page."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.browser.test_playground import address, prompt_of


@pytest.fixture
async def token(client, kitchen) -> str:
    """A reader's token of the kitchen's space."""
    made = await client.post("/tokens", json={"space": kitchen, "role": "reader", "minutes": 5})
    return made.json()["token"]


async def test_it_opens_with_what_was_asked_last_in_its_space(page, url, token):
    """The assembly that was logged had a persona that the token does not reach."""
    await page.goto(f"{url}/inspector/#token={token}")
    shown = await prompt_of(page)
    assert "hazelnuts" in shown
    assert "Nonna" not in shown
    await expect(page.get_by_label("Space", exact=True)).to_have_value("user:ada")
    assert token not in page.url


async def test_the_header_says_what_the_key_may_do_and_offers_no_more(page, url, tenant, kitchen, token):
    await page.goto(address(url, "/playground", token))
    await expect(page.locator(".whose")).to_contain_text("may look · user:ada · until")
    await expect(page.get_by_role("link", name="Health")).to_have_count(0)
    await expect(page.get_by_role("link", name="Jobs")).to_be_visible()
    await expect(page.get_by_role("radio", name="Live chat")).to_have_count(0)
    await page.goto(address(url, "/health"))
    await expect(page.get_by_text("your key reaches user:ada alone")).to_be_visible()
    await expect(page.get_by_role("img")).to_have_count(0)


async def test_an_administrators_key_is_offered_everything(page, url, tenant, kitchen):
    await page.goto(address(url, "/playground", tenant.key))
    await prompt_of(page)
    await expect(page.get_by_role("link", name="Health")).to_be_visible()
    await expect(page.locator(".whose")).to_be_empty()


@pytest.mark.usefixtures("kitchen")
async def test_who_may_only_look_is_told_why_nothing_can_be_retried(page, url, token, failed_job):
    await page.goto(address(url, "/jobs", token))
    await expect(page.locator("table")).to_contain_text(failed_job)
    await expect(page.get_by_text("You can look at the work.")).to_be_visible()
    await expect(page.get_by_role("button", name="Retry")).to_have_count(0)


async def test_another_space_is_refused_with_its_reason(page, url, token):
    await page.goto(address(url, "/playground?space=user:bob&query=x", token))
    await expect(page.locator(".results [role=alert]")).to_contain_text("does not reach the space user:bob")


async def test_it_fits_a_phone_and_axe_finds_nothing_serious(open_page, url, token):
    page = await open_page(viewport={"width": 360, "height": 740}, bypass_csp=True)
    await page.goto(address(url, "/playground", token))
    await prompt_of(page)
    await expect(page.locator(".whose")).to_contain_text("user:ada")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]
