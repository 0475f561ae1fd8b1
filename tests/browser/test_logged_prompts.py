"""Prompts that were given to an agent, opened in the playground; and entries that are pinned or left out."""

import re

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from tests.browser.test_playground import address, prompt_of


@pytest.fixture
async def logged(client, kitchen) -> dict:
    """The one assembly of the kitchen, as the log has it."""
    found = (await client.get("/assemblies", params={"space": kitchen})).json()["items"]
    return (await client.get(f"/assemblies/{found[0]['id']}")).json()


async def test_a_logged_prompt_is_opened_by_its_id_as_it_was(page, url, tenant, client, kitchen, *, logged):
    await client.post("/memories", json={"space": kitchen, "text": "I cook tofu for guests now.", "importance": 1.0})
    await page.goto(address(url, f"/playground?assembly={logged['id']}", tenant.key))
    assert await prompt_of(page) == logged["prompt"]
    assert "tofu" not in logged["prompt"]
    await expect(page.get_by_text(logged["id"])).to_be_visible()
    await expect(page.get_by_label("Message", exact=True)).to_have_value(logged["query"])
    await expect(page.get_by_role("button", name="Pin")).to_have_count(0)
    await page.get_by_role("button", name="Render again").click()
    await expect(page.get_by_text("the same bytes")).to_be_visible()
    assert f"assembly={logged['id']}" in page.url
    await page.get_by_role("button", name="Assemble it now").click()
    await expect(page.locator(".prompt")).to_contain_text("tofu")
    assert "assembly=" not in page.url
    await page.go_back()
    await expect(page.locator(".prompt")).not_to_contain_text("tofu")


async def test_the_prompts_of_a_space_are_listed_as_links(page, url, tenant, kitchen, logged):
    await page.goto(address(url, f"/playground?space={kitchen}&query=cat", tenant.key))
    await prompt_of(page)
    await page.get_by_text("Logged prompts").click()
    await page.get_by_role("link", name=logged["query"]).click()
    await expect(page.get_by_text("As it was assembled on")).to_be_visible()
    assert await prompt_of(page) == logged["prompt"]


async def test_a_logged_live_prompt_is_opened_with_its_batch(page, url, tenant, client):
    batch = [{"author": {"platform": "chat", "id": "ana", "name": "Ana"}, "text": "What do I like to eat?"}]
    await client.post("/memories", json={"space": "viewer:chat:ana", "text": "I like to eat bitter chocolate."})
    body = {"stream": "stream:chat:x", "batch": batch, "timeout_ms": 30_000}
    made = (await client.post("/context/assemble/live", json=body)).json()
    await page.goto(address(url, f"/playground?assembly={made['id']}", tenant.key))
    assert await prompt_of(page) == made["prompt"]
    await expect(page.locator('[data-field="batch[0].text"] textarea')).to_have_value("What do I like to eat?")
    await page.get_by_role("button", name="Assemble it now").click()
    await expect(page.get_by_role("table", name="People")).to_contain_text("viewer:chat:ana")
    await expect(page).to_have_url(re.compile("stream=stream%3Achat%3Ax"))
    await expect(page).not_to_have_url(re.compile("viewers="))


async def test_a_logged_prompt_leads_to_why_it_said_that_and_back(page, url, tenant, kitchen, logged):
    await page.goto(address(url, f"/playground?assembly={logged['id']}", tenant.key))
    await page.get_by_role("link", name="Why did it say that?").click()
    await expect(page.get_by_role("region", name="It was asked")).to_contain_text(logged["query"])
    await page.get_by_role("link", name="Open in the playground").click()
    await expect(page.get_by_text("As it was assembled on")).to_be_visible()
    await expect(page.locator(".entry")).to_have_count(len(logged["entries"]))


async def test_the_ids_of_a_prompt_lead_to_its_entries(page, url, tenant, *, client, logged):
    dropped = next(one for one in logged["dropped"] if one["tier"] != "soul")
    for entry in (logged["entries"][0], (await client.get(f"/{dropped['tier']}/{dropped['id']}")).json()):
        await page.goto(address(url, f"/playground?assembly={logged['id']}", tenant.key))
        await expect(page.get_by_role("region", name="Left out")).to_be_visible()
        for group in await page.get_by_role("region", name="Left out").locator("summary").all():
            await group.click()
        await page.locator(f'[data-id="{entry["id"]}"] a').first.click()
        await expect(page.locator(".memory-beside .memory-text")).to_have_text(entry["text"])


async def test_an_unknown_prompt_is_an_error_beside_the_controls(page, url, tenant):
    await page.goto(address(url, "/playground?assembly=asm_nothing", tenant.key))
    await expect(page.locator(".results [role=alert]")).to_contain_text("404")
    await expect(page.get_by_role("button", name="Assemble")).to_be_visible()


async def test_an_entry_is_left_out_and_put_back_and_another_pinned(page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    allergy = page.locator(".entry", has_text="hazelnuts")
    await allergy.get_by_role("button", name="Leave out").press("Enter")
    await expect(page.locator(".prompt")).not_to_contain_text("hazelnuts")
    assert "overrides.exclude=mem_" in page.url
    await page.get_by_text("the request leaves it out").click()
    left_out = page.get_by_role("region", name="Left out").locator("li", has_text="hazelnuts")
    await left_out.get_by_role("button", name="Leave out", pressed=True).click()
    await expect(page.locator(".prompt")).to_contain_text("hazelnuts")
    await expect(page.locator(".prompt")).not_to_contain_text("Micio")
    await page.get_by_text("Beside the point").click()
    cat = page.get_by_role("region", name="Left out").locator("li", has_text="Micio")
    await cat.get_by_role("button", name="Pin").click()
    await expect(page.locator(".prompt")).to_contain_text("Micio")
    pin = page.locator(".entry", has_text="Micio").get_by_role("button", name="Pin", pressed=True)
    await expect(pin).to_be_focused()
    await pin.press("Enter")
    await expect(page.locator(".prompt")).not_to_contain_text("Micio")


async def test_axe_finds_nothing_serious_in_a_logged_prompt(open_page, url, tenant, logged):
    page = await open_page(color_scheme="dark", bypass_csp=True)
    await page.goto(address(url, f"/playground?assembly={logged['id']}", tenant.key))
    await prompt_of(page)
    await page.get_by_text("Logged prompts").click()
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]
