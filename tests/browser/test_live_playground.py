"""Live batches in the playground: who is picked, what is read, and the prompt of it."""

import json
from urllib.parse import quote

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from app.live.records import Signal, Source
from tests.browser.test_playground import address, prompt_of

STREAM = "stream:twitch:giulia"


def says(who: str, text: str, **fields):
    return {"author": {"platform": "twitch", "id": who, "name": who.title()}, "text": text, **fields}


BATCH = [
    says("ana", "Giulia, do you remember what I like?"),
    says("bob", "lol"),
    says("cleo", "what is the meaning of life?"),
]


@pytest.fixture
async def chat(client) -> str:
    """A stream with an agent, two people who are remembered and one who is not; its view in the address."""
    await client.post("/soul", json={"space": "agent:giulia", "name": "persona", "text": "You are Giulia."})
    for who, text in (("ana", "I like <i>bitter</i> chocolate."), ("bob", "I live in Turin.")):
        reply = await client.post("/memories", json={"space": f"viewer:twitch:{who}", "text": text})
        assert reply.status_code == 201
    await client.post("/episodes", json={"space": STREAM, "text": "Ana asked for a recipe."})
    return f"/playground?stream={STREAM}&persona=agent:giulia&batch={quote(json.dumps(BATCH))}"


async def test_the_plan_says_whose_memory_is_read_and_why(page, url, tenant, client, chat):
    await page.goto(address(url, chat, tenant.key))
    shown = await prompt_of(page)
    body = {"stream": STREAM, "persona": "agent:giulia", "batch": BATCH, "record": False, "trace": True}
    assembled = (await client.post("/context/assemble/live", json=body)).json()
    assert shown == assembled["prompt"]
    assert "chocolate" in shown
    plan = page.get_by_role("region", name="Plan")
    rows = plan.get_by_role("table", name="People").get_by_role("row")
    await expect(rows.filter(has_text="viewer:twitch:ana")).to_contain_text("Asks what is remembered.")
    await expect(rows.filter(has_text="viewer:twitch:ana")).to_contain_text("speaks to the agent")
    await expect(rows.filter(has_text="viewer:twitch:ana")).to_contain_text("ms")
    await expect(rows.filter(has_text="viewer:twitch:bob")).to_contain_text("nothing")
    await expect(plan.get_by_role("table", name="Other sources")).to_contain_text("The request names no lore.")
    logged = (await client.get("/assemblies", params={"space": STREAM})).json()["items"]
    assert logged == []


async def test_the_plan_alone_reads_nobodys_memory(page, url, tenant, chat):
    await page.goto(address(url, chat, tenant.key))
    await prompt_of(page)
    calls = []
    page.on("request", lambda request: calls.append(request.url.partition("/api/v1")[2]))
    await page.get_by_role("button", name="Plan only").click()
    await expect(page.get_by_text("The plan alone: nobody's memory was read.")).to_be_visible()
    await expect(page.locator(".prompt")).to_have_count(0)
    assert calls == ["/context/plan"]


async def test_a_batch_is_edited_and_the_address_reproduces_it(page, open_page, url, tenant, chat):
    await page.goto(address(url, chat, tenant.key))
    first = await prompt_of(page)
    batch = page.locator('fieldset[data-field="batch"]')
    await batch.get_by_role("button", name="Add").first.click()
    last = batch.locator("> .rows > .item").last
    await last.get_by_label("Name").fill("Dan")
    await last.get_by_label("Text").fill("Giulia, where do I live?")
    await last.locator("summary").click()
    await expect(last.get_by_label("Platform", exact=True)).to_have_value("twitch")
    await last.get_by_label("Author's id").fill("dan")
    await last.get_by_label("Platform event").fill("raid")
    await last.get_by_label("Mentions").fill("ana\nbob")
    await batch.locator("> .rows > .item").nth(1).get_by_role("button", name="Remove").click()
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("table", name="People")).to_contain_text("viewer:twitch:dan")
    await expect(page.get_by_role("table", name="People")).to_contain_text("platform event")
    await expect(page.get_by_role("table", name="People")).not_to_contain_text("viewer:twitch:bob")
    again = await open_page()
    await again.goto(f"{page.url}&key={tenant.key}")
    assert await prompt_of(again) == await prompt_of(page)
    await expect(again.locator('[data-field="batch[2].text"] textarea')).to_have_value("Giulia, where do I live?")
    await page.go_back()
    await expect(page.locator('[data-field="batch[1].text"] textarea')).to_have_value("lol")
    assert await prompt_of(page) == first


async def test_a_sample_batch_shows_what_a_live_call_does(page, url, tenant, chat, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.get_by_role("radio", name="Live chat").check()
    await expect(page.get_by_role("table", name="People")).to_contain_text("viewer:twitch:ana")
    await expect(page.locator(".prompt")).to_contain_text("chocolate")
    await expect(page.get_by_label("Persona")).to_have_value("agent:nonna")
    await page.get_by_role("radio", name="One person").check()
    await expect(page.locator(".prompt")).to_contain_text("hazelnuts")
    await page.get_by_role("radio", name="Live chat").check()
    await expect(page.get_by_label("Stream", exact=True)).to_have_value(STREAM)


async def test_the_planners_words_are_in_the_language_of_the_page(open_page, url, tenant, chat):
    page = await open_page(locale="it-IT")
    await page.goto(address(url, chat, tenant.key))
    await expect(page.get_by_role("table", name="Persone")).to_contain_text("Chiede che cosa è ricordato.")
    await expect(page.get_by_role("table", name="Altre fonti")).to_contain_text("La richiesta non nomina lore.")
    texts = await page.evaluate("import('./texts/it.js').then(texts => Object.keys(texts.default))")
    assert {f"observed.{signal}" for signal in Signal} | {f"source.{source}" for source in Source} <= set(texts)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, chat, scheme):
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await page.goto(address(url, chat, tenant.key))
    await prompt_of(page)
    await page.get_by_text("Who takes part", exact=True).click()
    await page.get_by_text("Budgets", exact=True).click()
    await page.locator(".more summary").first.click()
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


async def test_nothing_is_wider_than_a_phone(open_page, url, tenant, chat):
    page = await open_page(viewport={"width": 360, "height": 740})
    await page.goto(address(url, chat, tenant.key))
    await prompt_of(page)
    await page.locator(".more summary").first.click()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
