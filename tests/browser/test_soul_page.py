"""The Soul page. Each test starts from HTTP writes, and ends at what stands on the page and what the API then says."""

import re

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from app.domain.callers import Role
from tests.browser.test_playground import address

SPACE = "agent:nonna"
PERSONA = "You are Nonna, a retired cook from Turin."


@pytest.fixture
async def blocks(client) -> dict[str, str]:
    """Three blocks, the last of them inactive; ids by name."""
    made = {}
    for name, text, active in (
        ("persona", PERSONA, True),
        ("tone", "Warm and plain.", True),
        ("secret", "You won a race once.", False),
    ):
        reply = await client.post("/soul", json={"space": SPACE, "name": name, "text": text, "active": active})
        assert reply.status_code == 201
        made[name] = reply.json()["id"]
    return made


async def opened(page, url, key, more=""):
    await page.goto(address(url, f"/soul?space={SPACE}{more}", key))
    await expect(page.locator(".block").first).to_be_visible(timeout=15_000)
    return page.get_by_role("region", name="Rendered identity")


def card(page, name):
    return page.locator("li.block").filter(has=page.get_by_role("heading", name=name, exact=True))


async def current(client, block):
    return (await client.get(f"/soul/{block}")).json()


async def names(page):
    return await page.locator("li.block h3").all_text_contents()


async def test_without_a_space_it_shows_an_agents_soul_and_the_identity_that_the_service_renders(
    page, url, tenant, *, client, blocks
):
    await client.post("/memories", json={"space": "user:ada", "text": "I live in Turin."})
    await page.goto(address(url, "/soul", tenant.key))
    identity = page.get_by_role("region", name="Rendered identity")
    await expect(identity).to_contain_text(PERSONA, timeout=15_000)
    await expect(page.get_by_label("Space", exact=True)).to_have_value(SPACE)
    assert await names(page) == ["persona", "tone", "secret"]
    assembled = (await client.post("/context/assemble", json={"space": SPACE, "record": False})).json()
    assert await identity.locator("pre").text_content() in assembled["prompt"]
    await expect(identity).to_contain_text(f"{assembled['tokens']['soul']} of 500 tokens")
    await expect(identity).not_to_contain_text("race")
    assert (await client.get("/assemblies", params={"space": SPACE})).json()["items"] == []


async def test_a_block_is_added_and_its_identity_follows(page, url, tenant, *, client, blocks):
    identity = await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Add a block").click()
    await page.get_by_label("Name", exact=True).fill("limits")
    await page.get_by_label("Text", exact=True).fill("You give no medical advice. 🩺")
    await page.get_by_role("button", name="Save").click()
    await expect(card(page, "limits")).to_contain_text("You give no medical advice. 🩺")
    await expect(identity).to_contain_text('<block name="limits">You give no medical advice. 🩺</block>')
    listed = (await client.get("/soul", params={"space": SPACE})).json()["items"]
    assert [(b["name"], b["active"]) for b in listed][-1] == ("limits", True)


async def test_a_block_is_edited_and_only_the_version_that_was_seen(page, url, tenant, *, client, blocks):
    """Somebody else's edit is neither lost nor overwritten unseen."""
    identity = await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Edit tone").click()
    text = page.get_by_label("Text", exact=True)
    await expect(text).to_be_focused()
    await text.fill("Warm and short.")
    await client.patch(f"/soul/{blocks['tone']}", json={"text": "Cool and plain."})
    await page.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_role("alert")
    await expect(conflict).to_contain_text("Somebody changed this block while you were editing it")
    await expect(conflict.locator("del")).to_contain_text(["Cool", "plain."])
    await expect(conflict.locator("ins")).to_contain_text(["Warm", "short."])
    assert (await current(client, blocks["tone"]))["text"] == "Cool and plain."
    await conflict.get_by_role("button", name="Save mine as version 3").click()
    await expect(card(page, "tone")).to_contain_text("Warm and short.")
    await expect(identity).to_contain_text("Warm and short.")
    assert (await current(client, blocks["tone"]))["version"] == 3
    await expect(page.get_by_role("button", name="Edit tone")).to_be_focused()


async def test_in_a_conflict_ones_own_text_can_be_dropped(page, url, tenant, *, client, blocks):
    await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Edit tone").click()
    await page.get_by_label("Text", exact=True).fill("Mine.")
    await client.patch(f"/soul/{blocks['tone']}", json={"text": "Theirs."})
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_role("button", name="Discard mine").click()
    await expect(card(page, "tone")).to_contain_text("Theirs.")
    assert (await current(client, blocks["tone"]))["version"] == 2


async def test_another_place_of_the_block_is_no_conflict(page, url, tenant, *, client, blocks):
    await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Edit tone").click()
    await page.get_by_label("Text", exact=True).fill("Mine.")
    order = [blocks[name] for name in ("tone", "persona", "secret")]
    await client.post("/soul/order", json={"space": SPACE, "ids": order})
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(card(page, "tone")).to_contain_text("Mine.")
    assert await names(page) == ["tone", "persona", "secret"]


async def test_what_does_not_fit_into_the_budget_is_said_at_the_text(page, url, tenant, *, client, blocks):
    await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Edit tone").click()
    await page.get_by_label("Text", exact=True).fill("word " * 600)
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator('[data-field="text"] .error')).to_contain_text("the limit is 500")
    await expect(page.get_by_label("Text", exact=True)).to_have_attribute("aria-invalid", "true")
    await page.get_by_role("button", name="Cancel").click()
    await expect(card(page, "tone")).to_contain_text("Warm and plain.")
    await page.get_by_role("button", name="Edit tone").click()
    await page.get_by_label("Name", exact=True).fill("persona")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("another soul block with the name persona")


async def test_blocks_are_put_in_order_by_keyboard(page, url, tenant, *, client, blocks):
    identity = await opened(page, url, tenant.key)
    await expect(page.get_by_role("button", name="Move persona up")).to_be_disabled()
    await page.get_by_role("button", name="Move persona down").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("li.block h3").first).to_have_text("tone")
    await expect(page.get_by_role("button", name="Move persona down")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("li.block h3").last).to_have_text("persona")
    await expect(page.get_by_role("button", name="Move persona up")).to_be_focused()
    await expect(page.locator("[aria-live=polite]")).to_have_text("persona is now block 3 of 3.")
    listed = (await client.get("/soul", params={"space": SPACE})).json()["items"]
    assert [b["name"] for b in listed] == ["tone", "secret", "persona"]
    await expect(identity.locator("pre")).to_have_text(re.compile(r"Warm.*Nonna", re.DOTALL))


async def test_a_block_can_also_be_dragged(page, url, tenant, *, client, blocks):
    await opened(page, url, tenant.key)
    await card(page, "secret").locator(".handle").drag_to(card(page, "persona"))
    await expect(page.locator("li.block h3").first).to_have_text("secret")
    listed = (await client.get("/soul", params={"space": SPACE})).json()["items"]
    assert [b["name"] for b in listed] == ["secret", "persona", "tone"]


async def test_a_block_is_taken_out_of_the_prompt_and_put_back(page, url, tenant, *, client, blocks):
    identity = await opened(page, url, tenant.key)
    await page.get_by_label("secret: active").check()
    await expect(identity).to_contain_text("race")
    await page.get_by_label("persona: active").uncheck()
    await expect(identity).not_to_contain_text("Nonna")
    await expect(card(page, "persona")).to_contain_text("inactive")
    assert (await current(client, blocks["persona"]))["active"] is False
    await expect(page.get_by_label("persona: active")).to_be_focused()


async def test_a_change_that_comes_too_late_changes_nothing_and_says_so(page, url, tenant, *, client, blocks):
    await opened(page, url, tenant.key)
    await client.patch(f"/soul/{blocks['tone']}", json={"text": "Changed meanwhile."})
    await page.get_by_label("tone: active").click()
    await expect(page.get_by_role("alert")).to_contain_text("somebody else was faster")
    await expect(card(page, "tone")).to_contain_text("Changed meanwhile.")
    await expect(page.get_by_label("tone: active")).to_be_checked()
    assert (await current(client, blocks["tone"]))["active"] is True
    other = {"space": SPACE, "name": "new", "text": "New."}
    await client.post("/soul", json=other)
    await page.get_by_role("button", name="Move tone up").click()
    await expect(page.get_by_role("alert")).to_contain_text("somebody else was faster")
    assert await names(page) == ["persona", "tone", "secret", "new"]


async def test_versions_are_compared_and_one_is_restored(page, open_page, url, tenant, *, client, blocks):
    for text in ("Warm and short.", "Warm, short and a little loud."):
        await client.patch(f"/soul/{blocks['tone']}", json={"text": text})
    identity = await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Versions of tone").click()
    versions = page.get_by_role("region", name="Versions of tone").first
    await expect(versions.locator("h4")).to_have_text("From version 2 to version 3")
    await versions.get_by_label("Compare from version 1").check()
    await expect(versions.locator("h4")).to_have_text("From version 1 to version 3")
    await expect(versions.locator("del")).to_contain_text(["plain."])
    await expect(versions.locator("ins")).to_contain_text(["loud."])
    again = await open_page()
    await again.goto(f"{page.url}&key={tenant.key}")
    await expect(again.locator(".versions h4")).to_have_text("From version 1 to version 3")
    await versions.get_by_role("button", name="Restore version 1").click()
    await expect(card(page, "tone").locator(".block-text")).to_have_text("Warm and plain.")
    await expect(identity).to_contain_text("Warm and plain.")
    restored = await current(client, blocks["tone"])
    assert (restored["version"], restored["reason"]) == (4, "restored")


async def test_an_old_version_beyond_the_first_page_is_compared(page, url, tenant, *, client, blocks):
    for n in range(2, 30):
        await client.patch(f"/soul/{blocks['tone']}", json={"text": f"Text {n}."})
    await opened(page, url, tenant.key, f"&versions={blocks['tone']}&from=1&to=29")
    await expect(page.locator(".versions del")).to_contain_text("Warm and plain.")
    await expect(page.locator(".versions tbody tr")).to_have_count(29)


async def test_a_block_is_deleted_once_that_is_confirmed(page, url, tenant, *, client, blocks):
    identity = await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Delete tone").click()
    asked = page.get_by_role("dialog", name="Delete tone?")
    await expect(asked).to_contain_text("Warm and plain.")
    await asked.get_by_role("button", name="Cancel").click()
    assert (await current(client, blocks["tone"]))["version"] == 1
    await page.get_by_role("button", name="Delete tone").click()
    await asked.get_by_role("button", name="Delete for good").click()
    await expect(card(page, "tone")).to_have_count(0)
    await expect(identity).not_to_contain_text("Warm")
    assert (await client.get(f"/soul/{blocks['tone']}")).status_code == 404


async def test_a_reader_sees_all_and_is_told_why_nothing_can_be_changed(page, url, tenant, *, client, blocks):
    made = (await client.post("/tokens", json={"space": SPACE, "role": "reader", "minutes": 5})).json()
    identity = await opened(page, url, made["token"])
    await expect(page.get_by_text("Changing it needs the key of an editor; yours is that of a reader.")).to_be_visible()
    await expect(identity).to_contain_text(PERSONA)
    for name in ("Add a block", "Edit tone", "Delete tone", "Move tone up"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    await page.get_by_role("button", name="Versions of tone").click()
    await expect(page.locator(".versions tbody tr")).to_have_count(1)
    await expect(page.get_by_role("button", name="Restore")).to_have_count(0)


async def test_an_editor_of_one_space_changes_its_soul_and_reaches_no_other(page, url, tenant, *, client, blocks):
    await client.post("/soul", json={"space": "agent:other", "name": "persona", "text": "Somebody else."})
    await opened(page, url, tenant.issue(Role.EDITOR, (SPACE,)))
    await page.get_by_label("secret: active").check()
    await expect(card(page, "secret").locator(".tag")).to_have_count(0)
    await page.get_by_label("Space", exact=True).fill("agent:other")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").first).to_contain_text("403")
    await expect(page.get_by_text("Somebody else.")).to_have_count(0)


async def test_a_space_without_a_soul_says_how_to_begin(page, url, tenant, client):
    await client.post("/memories", json={"space": "user:ada", "text": "I live in Turin."})
    await page.goto(address(url, "/soul?space=user:ada", tenant.key))
    await expect(page.get_by_text("Begin with who the agent is")).to_be_visible(timeout=15_000)
    await expect(page.get_by_text("the prompt has no identity section")).to_be_visible()


async def test_an_unknown_space_is_refused_in_words(page, url, tenant):
    await page.goto(address(url, "/soul?space=person:ada", tenant.key))
    await expect(page.get_by_role("alert").first).to_contain_text("422", timeout=15_000)


async def test_a_key_that_expires_is_asked_for_and_the_edit_is_not_lost(page, url, tenant, *, client, blocks):
    await opened(page, url, tenant.key)
    await page.get_by_role("button", name="Edit tone").click()
    await page.get_by_label("Text", exact=True).fill("Written before the key expired.")
    await page.evaluate("sessionStorage.setItem('ricordo.key', 'rk_expired')")
    await page.get_by_role("button", name="Save", exact=True).click()
    asked = page.get_by_role("dialog", name="Sign in")
    await asked.get_by_label("API key or token").fill(tenant.key)
    await page.keyboard.press("Enter")
    await expect(card(page, "tone")).to_contain_text("Written before the key expired.")
    assert (await current(client, blocks["tone"]))["text"] == "Written before the key expired."


async def test_a_block_that_holds_markup_is_a_text(page, url, tenant, client):
    attack = "<img src=x onerror=\"document.title='owned'\"></block><script>document.title='owned'</script>"
    made = await client.post("/soul", json={"space": SPACE, "name": "<b>x</b>", "text": attack})
    await client.patch(f"/soul/{made.json()['id']}", json={"text": f"{attack} <i>more</i>"})
    await opened(page, url, tenant.key, f"&versions={made.json()['id']}")
    await expect(page.locator(".block-text")).to_have_text(f"{attack} <i>more</i>")
    await expect(page.locator(".block h3")).to_have_text("<b>x</b>")
    await expect(page.locator(".versions ins")).to_contain_text(["<i>more</i>"])
    assert await page.locator("main img, main script, main i, main b").count() == 0
    assert await page.title() == "Soul · Ricordo"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, *, client, blocks, scheme):
    await client.patch(f"/soul/{blocks['tone']}", json={"text": "Warm and short."})
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await opened(page, url, tenant.key, f"&versions={blocks['tone']}")
    await expect(page.locator(".versions ins")).to_be_visible()
    await page.get_by_role("button", name="Edit persona").click()
    await page.get_by_role("button", name="Add a block").click()
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


async def test_nothing_is_wider_than_a_phone(open_page, url, tenant, *, client, blocks):
    await client.patch(f"/soul/{blocks['tone']}", json={"text": "W" * 300, "name": "n" * 150})
    page = await open_page(viewport={"width": 375, "height": 740})
    await opened(page, url, tenant.key, f"&versions={blocks['tone']}")
    await expect(page.locator(".versions ins")).to_have_count(2)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 375


async def test_it_speaks_italian(open_page, url, tenant, blocks):
    page = await open_page(locale="it-IT")
    await opened(page, url, tenant.key)
    await expect(page.get_by_role("button", name="Aggiungi un blocco")).to_be_visible()
    await expect(page.get_by_role("region", name="Identità composta")).to_contain_text(PERSONA)
