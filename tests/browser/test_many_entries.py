"""The playground before a space of ten thousand entries: what it draws and asks for stays bounded."""

import re

import pytest
from playwright.async_api import expect

from app.schemas.entries import BATCH_ENTRIES
from tests.browser.test_playground import address, prompt_of

ENTRIES = 10_000
ELEMENTS = 4_000
TEXTS_AT_ONCE = 20
ENTRIES_AT_ONCE = 100

PEOPLE = ("Marco", "Lucia", "Ines", "Otto", "Pia", "Sara", "Tom", "Vera", "Zeno", "Bea")
DISHES = ("risotto", "polenta", "agnolotti", "gazpacho", "ramen", "couscous", "lasagne", "paella", "pho", "borscht")
PLACES = ("Turin", "Rome", "Milan", "Genoa", "Naples", "Bari", "Trento", "Pisa", "Siena", "Parma")


def fact(n: int) -> str:
    person, dish, place = PEOPLE[n % 10], DISHES[n // 10 % 10], PLACES[n // 100 % 10]
    return f"{person} ate {dish} in {place}, evening {n // 1000} of the journey."


@pytest.fixture
async def crowded(client) -> str:
    """A space that was filled through the batch routes."""
    space = "user:many"
    for first in range(0, ENTRIES, BATCH_ENTRIES):
        entries = [{"text": fact(n)} for n in range(first, min(first + BATCH_ENTRIES, ENTRIES))]
        reply = await client.post("/memories/batch", json={"space": space, "entries": entries}, timeout=120)
        assert reply.status_code == 207, reply.text
        assert {item["status"] for item in reply.json()["items"]} == {201}
    return space


@pytest.mark.slow
async def test_the_playground_of_ten_thousand_entries_stays_usable(page, url, tenant, crowded):
    calls = []
    page.on("request", lambda request: calls.append(request.url) if "/memories/" in request.url else None)
    query = "Who ate risotto in Turin?"
    view = f"/playground?space={crowded}&query={query}&overrides.candidate_limit=1000&timeout_ms=30000"
    await page.goto(address(url, f"{view}&overrides.min_relevance=0", tenant.key))
    shown = await prompt_of(page)
    assert "risotto" in shown
    left_out = page.get_by_role("region", name="Left out")
    await expect(left_out).to_contain_text("candidates are not in the prompt")
    counted = int((await left_out.locator(".panel-head .muted").inner_text()).split()[0].replace(",", ""))
    assert counted >= 500
    assert calls == []  # no text is asked for before somebody wants to read it
    await left_out.locator("summary").last.click()
    await expect(left_out.locator("li")).to_have_count(TEXTS_AT_ONCE)
    await left_out.get_by_role("button", name="more of").click()
    await expect(left_out.locator("li")).to_have_count(2 * TEXTS_AT_ONCE)
    assert len(calls) == 2 * TEXTS_AT_ONCE
    assert await page.evaluate("document.querySelectorAll('*').length") < ELEMENTS

    await page.get_by_text("Budgets", exact=True).click()
    await page.get_by_label("Memories, typed").fill("200000")
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("of 200,000")
    entries = page.locator(".entry")
    await expect(entries).to_have_count(ENTRIES_AT_ONCE)
    await page.get_by_role("button", name="100 more of").click()
    await expect(entries).to_have_count(2 * ENTRIES_AT_ONCE)
    assert await page.evaluate("document.querySelectorAll('*').length") < 2 * ELEMENTS
    await page.get_by_role("button", name="Compare").click()
    await page.get_by_label("Message", exact=True).fill("Who ate borscht in Siena?")
    await page.keyboard.press("Control+Enter")
    compared = page.get_by_role("region", name="Compared with the settings kept")
    await expect(compared.locator(".moves li").first).to_be_visible(timeout=30_000)
    await entries.first.get_by_role("button", name="Leave out").click()
    await expect(page).to_have_url(re.compile("overrides.exclude=mem_"))
