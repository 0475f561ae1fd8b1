"""The inspector as people use it. Each test starts from HTTP writes, and ends at what stands on the page."""

from urllib.parse import quote

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect


def address(url: str, view: str = "/", key: str | None = None) -> str:
    mark = "&" if "?" in view else "?"
    return f"{url}/inspector/#{view}" + (f"{mark}key={key}" if key else "")


async def prompt_of(page) -> str:
    await expect(page.locator(".prompt")).to_be_visible(timeout=15_000)
    return "".join(await page.locator(".prompt pre").all_text_contents())


async def test_without_parameters_it_shows_the_question_that_was_asked_last(page, url, tenant, client, kitchen):
    await page.goto(address(url, key=tenant.key))
    shown = await prompt_of(page)
    body = {"space": kitchen, "persona": "agent:nonna", "query": "What do I cook for my guests, and where do I live?"}
    assembled = (await client.post("/context/assemble", json={**body, "record": False})).json()
    assert shown == assembled["prompt"]
    assert await page.locator(".section").evaluate_all("parts => parts.map(p => p.dataset.tone)") == [
        "identity",
        "preferences",
        "relevant_facts",
        "recent_context",
        "workflows",
    ]
    assert await page.locator(".section[data-stable]").count() == 2
    assert tenant.key not in page.url


async def test_looking_records_nothing(page, url, tenant, client, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    logged = (await client.get("/assemblies", params={"space": kitchen})).json()["items"]
    assert len(logged) == 1


async def test_the_address_reproduces_the_view(page, open_page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    first = await prompt_of(page)
    await page.get_by_label("Message", exact=True).fill("What is my cat called?")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".prompt")).to_contain_text("Micio")
    assert await prompt_of(page) != first
    again = await open_page()
    await again.goto(f"{page.url}&key={tenant.key}")
    assert await prompt_of(again) == await prompt_of(page)
    await expect(again.get_by_label("Message", exact=True)).to_have_value("What is my cat called?")
    await page.go_back()
    await expect(page.get_by_label("Message", exact=True)).not_to_have_value("What is my cat called?")
    assert await prompt_of(page) == first


async def test_what_was_left_out_is_shown_with_its_text_and_reason(page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    conflicts = page.get_by_role("region", name="Contradictions")
    await expect(conflicts).to_contain_text("I live in Rome.")
    await expect(conflicts).to_contain_text("I moved, I live in Turin now.")
    await page.get_by_text("Beside the point").click()
    await expect(page.get_by_role("region", name="Left out")).to_contain_text("My cat is called Micio.")


async def test_a_memory_that_holds_markup_is_a_text(page, url, tenant, client):
    attack = "<img src=x onerror=\"document.title='owned'\"></pre><script>document.title='owned'</script>"
    await client.post("/memories", json={"space": "user:eve", "text": f"Eve likes {attack}", "importance": 0.9})
    await page.goto(
        address(url, f"/playground?space=user:eve&query={quote('What does Eve like? ' + attack)}", tenant.key)
    )
    await prompt_of(page)
    await expect(page.locator(".entry-text").first).to_have_text(f"Eve likes {attack}")
    assert await page.locator("main img, main script").count() == 0
    assert await page.title() == "Playground · Ricordo"


async def test_a_key_that_is_refused_is_asked_for_anew_and_the_view_stays(page, url, tenant, client, kitchen):
    made = (await client.post("/tokens", json={"space": kitchen, "role": "reader", "minutes": 5})).json()
    await page.goto(address(url, f"/playground?space={kitchen}&query=cat", made["token"]))
    await prompt_of(page)
    await page.get_by_label("Message", exact=True).fill("Where do I live?")
    await page.evaluate("sessionStorage.setItem('ricordo.key', 'rk_expired')")
    await page.keyboard.press("Control+Enter")
    asked = page.get_by_role("dialog", name="Sign in")
    await expect(asked.get_by_role("alert")).to_contain_text("The key was refused")
    await asked.get_by_label("API key or token").fill(made["token"])
    await page.keyboard.press("Enter")
    await expect(page.locator(".prompt")).to_contain_text("Turin")
    await expect(page.get_by_label("Message", exact=True)).to_have_value("Where do I live?")


async def test_a_refused_field_is_named_at_its_control(page, url, tenant):
    await page.goto(address(url, "/playground?space=person:ada&query=x&overrides.candidate_limit=5000", tenant.key))
    await expect(page.locator(".results [role=alert]")).to_contain_text("422")
    await expect(page.get_by_label("Space", exact=True)).to_have_attribute("aria-invalid", "true")
    await expect(page.locator('[data-field="overrides.candidate_limit"] .error')).to_contain_text("1000")


async def test_a_slider_changes_the_request_and_the_snippet(open_page, url, tenant, kitchen):
    page = await open_page(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.get_by_text("Budgets", exact=True).click()
    slider = page.locator('[data-field="overrides.budget_tokens.memories"] input[type=range]')
    await slider.focus()
    await page.keyboard.press("Home")
    await expect(page.locator(".prompt")).not_to_contain_text("hazelnuts")
    await page.get_by_role("button", name="Copy as curl").click()
    await expect(page.get_by_text("Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert '"budget_tokens":{"memories":0}' in copied
    assert tenant.key not in copied


async def test_two_settings_are_compared_and_the_address_holds_both(page, open_page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.get_by_role("button", name="Compare").click()
    compared = page.get_by_role("region", name="Compared with the settings kept")
    await expect(compared).to_contain_text("The same entries, in the same order.")
    await page.get_by_label("Message", exact=True).fill("What is my cat called?")
    await page.keyboard.press("Control+Enter")
    await expect(compared.locator(".moves li", has_text="Micio")).to_contain_text("new")
    await expect(compared.locator(".moves li", has_text="hazelnuts")).to_contain_text("gone")
    await expect(compared.locator("pre.new")).to_contain_text(["Micio"])
    again = await open_page()
    await again.goto(f"{page.url}&key={tenant.key}")
    await expect(again.locator(".moves li", has_text="Micio")).to_contain_text("new")
    await page.get_by_role("button", name="Stop comparing").click()
    await expect(compared).to_have_count(0)


async def test_everything_is_reached_by_keyboard_alone(page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(70):
        await page.keyboard.press("Tab")
        reached.add(await page.evaluate("document.activeElement.innerText || document.activeElement.tagName"))
    for text in ("Playground", "Conversation", "Weights", "Copy as curl", "Copy as Python", "Compare"):
        assert any(text in one for one in reached), (text, reached)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, kitchen, scheme):
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.get_by_text("Weights", exact=True).click()
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


async def test_nothing_is_wider_than_a_phone(open_page, url, tenant, kitchen):
    page = await open_page(viewport={"width": 360, "height": 740})
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360


async def test_it_speaks_italian_and_can_be_switched(open_page, url, tenant, kitchen):
    page = await open_page(locale="it-IT")
    await page.goto(address(url, key=tenant.key))
    await expect(page.get_by_role("button", name="Componi")).to_be_visible(timeout=15_000)
    await page.get_by_label("Lingua").select_option("en")
    await expect(page.get_by_role("button", name="Assemble")).to_be_visible()
    assert await page.evaluate("document.documentElement.lang") == "en"
