"""The Memory page as people use it: what is remembered, why, and how it is put right. Starts from HTTP writes."""

import re

import psycopg
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from app.domain.callers import Role
from app.domain.ids import parse_id
from app.domain.spaces import SpaceKey
from app.store.keys import tenant_id_of
from tests.browser.test_playground import address

SPACE = "user:ada"
HOSTILE = "<img src=x onerror=\"document.title='taken'\"></script><script>document.title='taken'</script>"


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


@pytest.fixture
def remember(client):
    """Writes a memory, and returns it."""

    async def remember(text, space=SPACE, **fields):
        reply = await client.post("/memories", json={"space": space, "text": text, **fields})
        assert reply.status_code == 201, reply.text
        return reply.json()

    return remember


@pytest.fixture
def said(client, work):
    """Posts what somebody says, and has it remembered."""

    async def said(*texts, session="kitchen"):
        messages = [{"author": {"name": "Ada"}, "text": text} for text in texts]
        turn = {"space": SPACE, "session": session, "messages": messages}
        assert (await client.post("/turns", json=turn)).status_code == 202
        await work()

    return said


FILL = """
INSERT INTO entry_versions (
    tenant_id, space_id, id, version, text_version, sequence, tier, status, text, tags, scope, claim_derived,
    participants, recorded_at, first_recorded_at, last_confirmed_at, unresolved, reason, terms, term_count)
SELECT %(tenant)s, %(space)s, uuidv7(), 1, 1, n, 'memories', 'active', 'Box ' || n || ' is in hall ' || n %% 97 || '.',
       ARRAY['hall-' || n %% 97], '', FALSE, '{}', now(), now(), now(), FALSE, 'created', '{}', 2
  FROM generate_series(1, 9999) AS n
"""
COUNT = "UPDATE tier_statistics SET documents = 10000 WHERE space_id = %(space)s AND tier = 'memories'"


def club_on(day):
    """A memory that contradicts another of its kind, and nothing decides."""
    claim = {"subject": "chess club", "attribute": "day", "value": day, "cardinality": "one"}
    return {"text": f"The chess club meets on {day}.", "claim": claim, "valid_from": "2026-01-01T00:00:00Z"}


def rows(page):
    return page.locator(".memory-list > li")


async def open_memory(page, url, key, view=""):
    await page.goto(address(url, f"/memory?space={SPACE}{view}", key))


async def open_entry(page, url, key, text, view=""):
    await open_memory(page, url, key, view)
    await page.get_by_role("link", name=text).click()
    await expect(page.locator(".memory-beside .memory-text")).to_have_text(text)


def details(page):
    return page.locator(".memory-beside")


async def test_ten_thousand_entries_are_browsed_page_by_page(page, url, tenant, *, remember, database_url):
    await remember("The first box is in hall 7.")
    space = SpaceKey(tenant_id_of(tenant.name), SPACE)
    with psycopg.connect(database_url) as connection:
        for statement in (FILL, COUNT):
            connection.execute(statement, {"tenant": space.tenant_id, "space": space.space_id})
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/memories?" in request.url else None)
    await open_memory(page, url, tenant.key)
    await expect(page.get_by_label("Memories 10,000")).to_be_checked()
    await expect(rows(page)).to_have_count(50)
    await expect(rows(page).first).to_contain_text("Box 9999 ")
    await page.get_by_role("button", name="Show more").click()
    await expect(rows(page)).to_have_count(100)
    assert len(asked) == 2
    await page.get_by_label("Tag", exact=True).fill("hall-7")
    await page.keyboard.press("Enter")
    await expect(rows(page).first).to_contain_text("Box 9998 is in hall 7.")
    await page.get_by_role("button", name="Show more").click()
    await expect(rows(page)).to_have_count(100)
    await expect(page.locator(".memory-told")).to_have_text("100 shown, there are more")
    await rows(page).last.get_by_role("link").click()
    await expect(details(page).locator(".memory-text")).to_contain_text("in hall 7.")


async def test_filters_narrow_the_list_and_the_address_reproduces_it(page, open_page, url, tenant, remember):
    await remember("I prefer short answers.", category="output_preference")
    await remember("The dress of the ball is green.", scope="story:au1/scene:ball", tags=["dress"])
    await remember("I live in Rome.")
    await remember("I moved, I live in Turin now.")
    await open_memory(page, url, tenant.key)
    await expect(rows(page)).to_have_count(3)
    expected = [
        (lambda: page.get_by_label("Category").select_option("output_preference"), "I prefer short answers."),
        (lambda: page.get_by_label("Tag", exact=True).fill("dress"), "The dress of the ball is green."),
        (lambda: page.get_by_label("Scope", exact=True).fill("story:au1/scene:ball"), "in the scene “ball”"),
        (lambda: page.get_by_label("Status").select_option("superseded"), "I live in Rome."),
        (lambda: page.get_by_label("Search", exact=True).fill("where do I live?"), "Turin"),
    ]
    for narrow, text in expected:
        await narrow()
        await page.keyboard.press("Enter")
        await expect(rows(page).first).to_contain_text(text)
        again = await open_page()
        await again.goto(f"{page.url}&key={tenant.key}")
        await expect(rows(again).first).to_contain_text(text)
        assert await rows(again).all_text_contents() == await rows(page).all_text_contents()
        await again.context.close()
        await page.get_by_role("button", name="Clear the filters").click()
        await expect(rows(page)).to_have_count(3)
    await page.go_back()
    await expect(page.get_by_label("Search", exact=True)).to_have_value("where do I live?")


async def test_episodes_and_procedures_are_browsed_too(page, url, tenant, kitchen):
    await open_memory(page, url, tenant.key)
    for tier, text in (("Episodes 1", "Ada invited guests"), ("Procedures 1", "Check every guest's allergies")):
        await page.get_by_role("radio", name=tier).check()
        await page.get_by_role("link", name=text).click()
        await expect(details(page)).to_contain_text(text)
    await expect(details(page)).to_contain_text("When: guests come to dinner")
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("When it applies").fill("guests are expected")
    await page.get_by_role("button", name="Save").click()
    await expect(details(page)).to_contain_text("When: guests are expected")


async def test_an_obsolete_memory_stands_beside_what_replaced_it(page, url, tenant, said):
    await said("I live in Rome.")
    await said("I live in Turin now.")
    await open_entry(page, url, tenant.key, "I live in Rome", "&status=superseded")
    await expect(details(page).get_by_text("obsolete", exact=True).first).to_be_visible()
    replaced = page.get_by_role("region", name="Replaced")
    await replaced.get_by_role("link", name="I live in Turin now").click()
    await expect(details(page).get_by_text("current", exact=True).first).to_be_visible()


async def test_an_unresolved_memory_stands_beside_what_it_contradicts(page, url, tenant, remember):
    for day in ("Monday", "Tuesday"):
        await remember(**club_on(day))
    await remember("I like tea.")
    await open_memory(page, url, tenant.key, "&status=unresolved")
    await expect(rows(page)).to_have_count(2)
    await page.get_by_role("link", name="The chess club meets on Monday.").click()
    await expect(details(page).get_by_text("unresolved", exact=True).first).to_be_visible()
    await expect(page.get_by_role("region", name="Contradicts another")).to_contain_text("Tuesday")


async def test_a_memory_says_who_said_it_when_and_where(page, url, tenant, said):
    await said("I have two dogs.")
    await open_entry(page, url, tenant.key, "I have two dogs")
    known = page.get_by_role("region", name="Why it is known")
    await expect(known).to_contain_text("Ada")
    await expect(known.locator("blockquote")).to_have_text("I have two dogs.")
    href = await known.get_by_role("link", name="In the conversation").get_attribute("href")
    assert re.match(r"#/conversations\?space=user%3Aada&session=ses_\w+&message=msg_\w+$", href)
    await expect(details(page)).to_contain_text("everywhere")


async def test_an_edit_is_a_version_with_its_difference_and_can_be_undone(page, url, tenant, *, client, remember):
    memory = await remember("Ada has two cats.")
    await open_entry(page, url, tenant.key, "Ada has two cats.")
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Text").fill("Ada has three cats.")
    await page.get_by_label("Tags").fill("pets, cats")
    await page.get_by_label("Importance").fill("0.8")
    await page.get_by_role("button", name="Save").click()
    await expect(details(page).locator(".memory-text")).to_have_text("Ada has three cats.")
    await expect(rows(page).first).to_contain_text("#pets")
    versions = page.get_by_role("region", name="Versions")
    await expect(versions.locator("del")).to_have_text("two ")
    await expect(versions.locator("ins")).to_have_text("three ")
    await expect(versions).to_contain_text("Importance: – → 0.80")
    await page.get_by_role("button", name="Undo").click()
    await expect(details(page).locator(".memory-text")).to_have_text("Ada has two cats.")
    await versions.get_by_role("button", name="Bring version 2 back").click()
    await expect(details(page).locator(".memory-text")).to_have_text("Ada has three cats.")
    now = (await client.get(f"/memories/{memory['id']}")).json()
    assert (now["version"], now["tags"], now["importance"]) == (4, ["pets", "cats"], 0.8)


async def test_what_somebody_else_changed_meanwhile_is_not_overwritten_unseen(page, url, tenant, *, client, remember):
    memory = await remember("Ada has two cats.")
    await open_entry(page, url, tenant.key, "Ada has two cats.")
    for ours, choice, kept in (
        ("Ada has three cats.", "Leave it as it is now", "Ada has nine cats."),
        ("Ada has four cats.", "Save yours over it", "Ada has four cats."),
    ):
        await page.get_by_role("button", name="Edit").click()
        await page.get_by_label("Text").fill(ours)
        theirs = {"text": "Ada has nine cats.", "tags": [ours[8:12]]}
        await client.patch(f"/memories/{memory['id']}", json=theirs)
        await page.get_by_role("button", name="Save", exact=True).click()
        alert = details(page).get_by_role("alert")
        await expect(alert).to_contain_text("Somebody changed this")
        await expect(alert).to_contain_text("Ada has nine cats.")
        await alert.get_by_role("button", name=choice).click()
        await expect(details(page).locator(".memory-text")).to_have_text(kept)
        assert (await client.get(f"/memories/{memory['id']}")).json()["text"] == kept


async def test_a_field_that_is_refused_is_named_at_its_control(page, url, tenant, remember):
    await remember("Ada has two cats.")
    await open_entry(page, url, tenant.key, "Ada has two cats.")
    await page.get_by_role("button", name="Edit").click()
    scope = details(page).get_by_label("Scope")
    await scope.fill("planet:mars")
    await page.get_by_role("button", name="Save").click()
    await expect(scope).to_have_attribute("aria-invalid", "true")


async def test_a_correction_is_shown_before_it_is_saved(page, url, tenant, *, client, remember):
    await remember("I live in Turin.")
    await open_entry(page, url, tenant.key, "I live in Turin.")
    await page.get_by_role("button", name="Correct").click()
    await page.get_by_label("What is right").fill("I live in Milan.")
    await page.get_by_role("button", name="See what it changes").click()
    answer = page.locator(".memory-answer")
    await expect(answer).to_contain_text("Not saved yet")
    await expect(answer).to_contain_text("I live in Turin.")
    await answer.get_by_text("The next prompt about it").click()
    await expect(answer.locator("pre.new")).to_contain_text(["Milan"])
    assert len((await client.get("/memories", params={"space": SPACE})).json()["items"]) == 1
    assert (await client.get("/corrections", params={"space": SPACE})).json()["items"] == []
    await answer.get_by_role("button", name="Save the correction").click()
    await expect(details(page).locator(".memory-text")).to_have_text("I live in Milan.")
    await expect(details(page).get_by_text("corrected", exact=True)).to_be_visible()
    await page.get_by_role("link", name="Corrections").click()
    await expect(page.get_by_role("region", name="Corrections")).to_contain_text("I live in Turin.")


async def test_a_question_is_answered_where_it_is_asked(page, url, tenant, client):
    await open_memory(page, url, tenant.key, "&show=corrections")
    await expect(page.get_by_text("There is no space yet")).to_have_count(0)
    await page.get_by_label("What is wrong, and what is right").fill("Mira's eyes are green, not blue.")
    await page.get_by_label("Scopes").fill("story:au1/scene:ball")
    await page.get_by_role("button", name="See what it changes").click()
    answer = page.locator(".memory-answer")
    await expect(answer).to_contain_text("A question before it is saved")
    assert (await client.get("/corrections", params={"space": SPACE})).json()["items"] == []
    await answer.get_by_role("button", name="everywhere").click()
    await expect(page.get_by_role("region", name="Corrections").locator("li").first).to_contain_text("put right")
    await expect(page.get_by_role("list", name="Questions that wait")).to_have_count(0)
    (memory,) = (await client.get("/memories", params={"space": SPACE})).json()["items"]
    assert (memory["text"], memory["scope"]) == ("Mira's eyes are green.", "")


async def test_open_questions_are_listed_and_answered(page, url, tenant, client):
    body = {"space": SPACE, "said": "Mira's eyes are green, not blue.", "scopes": ["story:au1/scene:ball"]}
    asked = (await client.post("/corrections", json=body)).json()
    assert asked["outcome"] == "needs_clarification"
    await open_memory(page, url, tenant.key)
    questions = page.get_by_role("list", name="Questions that wait for an answer")
    await expect(questions).to_contain_text(asked["told"])
    await questions.get_by_role("button", name=asked["options"][0]["label"]).click()
    await expect(questions).to_have_count(0)
    await expect(rows(page)).to_contain_text(["Mira's eyes are green."])
    assert (await client.get(f"/corrections/{asked['id']}")).json()["open"] is False


async def test_what_would_go_is_shown_before_it_is_forgotten(page, url, tenant, *, client, said, work):
    await said("I have two dogs.", "I hate coriander.")
    await open_entry(page, url, tenant.key, "I have two dogs")
    await page.get_by_role("button", name="Forget").click()
    asked = page.get_by_role("dialog")
    await expect(asked).to_contain_text("Nothing was forgotten yet.")
    await expect(asked.locator(".facts")).to_contain_text("Messages emptied or shortened1")
    await expect(asked).to_contain_text("Other entries that say the same and stay: 1")
    await asked.get_by_role("button", name="Cancel").click()
    assert len((await client.get("/memories", params={"space": SPACE})).json()["items"]) == 2
    await page.get_by_role("button", name="Forget").click()
    await asked.get_by_role("button", name="Forget for good").click()
    receipt = page.get_by_role("region", name="Forgotten: the receipt")
    await expect(receipt).to_contain_text("rcp_")
    await expect(rows(page)).to_have_count(1)
    await work()
    await receipt.get_by_role("button", name="Check again").click()
    await expect(receipt).to_contain_text("nothing of it is left")
    await page.reload()
    await expect(receipt).to_contain_text("nothing of it is left")
    await expect(page.get_by_text("Memories 1", exact=True)).to_be_visible()


async def test_from_a_prompt_to_its_entries_to_what_was_said(page, url, tenant, client, said):
    await said("I hate coriander.")
    question = {"space": SPACE, "query": "What may I not eat?", "timeout_ms": 30_000}
    made = (await client.post("/context/assemble", json=question)).json()
    await open_memory(page, url, tenant.key)
    await page.get_by_role("link", name="Why did it say that?").click()
    await page.get_by_role("link", name="What may I not eat?").click()
    entry = page.get_by_role("region", name="What it knew").locator("li", has_text="I hate coriander").first
    await expect(entry.locator("blockquote")).to_have_text("I hate coriander.")
    await page.get_by_text("The prompt, as it was sent").click()
    await expect(page.locator(".memory-prompt")).to_have_text(made["prompt"])
    await page.get_by_role("link", name="All prompts of this space").click()
    await page.get_by_label("Assembly").fill(made["id"])
    await page.keyboard.press("Enter")
    await expect(entry.locator("blockquote")).to_have_text("I hate coriander.")
    await page.goto(address(url, f"/memory?assembly={made['id']}"))
    await entry.get_by_role("link", name="I hate coriander").first.click()
    await expect(details(page).locator("blockquote")).to_have_text("I hate coriander.")


async def test_an_entry_is_found_by_its_id_alone(page, url, tenant, remember):
    memory = await remember("The lamp is green.", space="agent:nonna")
    await page.goto(address(url, f"/memory?id={memory['id']}", tenant.key))
    await expect(details(page).locator(".memory-text")).to_have_text("The lamp is green.")
    await expect(page.get_by_label("Space", exact=True)).to_have_value("agent:nonna")


async def test_what_is_gone_says_so_and_the_list_stays(page, url, tenant, *, client, remember):
    memory = await remember("The lamp is green.")
    await remember("The lamp is old.")
    await client.delete(f"/memories/{memory['id']}")
    await open_memory(page, url, tenant.key, f"&id={memory['id']}")
    await expect(details(page).get_by_role("alert")).to_contain_text("404")
    await expect(rows(page)).to_have_count(1)


async def test_a_prompt_that_is_not_logged_says_so(page, url, tenant, remember):
    await remember("The lamp is green.")
    await open_memory(page, url, tenant.key, "&show=prompts")
    await page.get_by_label("Assembly").fill("asm_nonsense")
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("alert")).to_contain_text("404")
    await page.get_by_role("link", name="All prompts of this space").click()
    await expect(page.get_by_label("Assembly")).to_be_visible()


async def test_an_archived_memory_is_brought_back(page, url, tenant, *, client, remember, database_url):
    memory = await remember("The scarf is red.", importance=0.1)
    with psycopg.connect(database_url) as connection:
        aged = "UPDATE entry_versions SET last_confirmed_at = now() - interval '6 years' WHERE id = %s"
        connection.execute(aged, [parse_id(memory["id"]).uuid])
    assert (await client.post(f"/spaces/{SPACE}/consolidate", json={})).json()["archived"] == 1
    await open_entry(page, url, tenant.key, "The scarf is red.", "&status=archived")
    await expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    await page.get_by_role("button", name="Restore").click()
    await expect(details(page).get_by_text("current", exact=True).first).to_be_visible()
    assert (await client.get(f"/memories/{memory['id']}")).json()["status"] == "active"


async def test_a_source_that_is_gone_says_what_became_of_it(page, url, tenant, *, client, remember):
    turn = {"space": SPACE, "messages": [{"author": {"name": "Ada"}, "text": "I have two dogs."}]}
    message = (await client.post("/turns", json=turn)).json()["messages"][0]["id"]
    await remember("Ada keeps pets.", source=message)
    await client.delete(f"/messages/{message}")
    await open_entry(page, url, tenant.key, "Ada keeps pets.")
    await expect(page.get_by_role("region", name="Why it is known")).to_contain_text("no word of it is left")


async def test_a_change_that_is_forbidden_says_why(page, url, tenant, remember):
    await remember("The lamp is green.")
    await open_entry(page, url, tenant.key, "The lamp is green.")
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Text").fill("The lamp is blue.")
    await page.evaluate(f"sessionStorage.setItem('ricordo.key', '{tenant.issue(Role.READER)}')")
    await page.get_by_role("button", name="Save").click()
    await expect(details(page).get_by_role("alert")).to_contain_text("this key is a reader")
    await page.get_by_role("button", name="Forget").click()
    await expect(details(page).get_by_role("alert")).to_contain_text("403")


async def test_going_back_leads_through_what_was_looked_at(page, url, tenant, remember):
    await remember("The lamp is green.")
    await remember("The boat is blue.")
    await page.goto(address(url, "/memory", tenant.key))
    await expect(page).to_have_url(re.compile(r"space=user%3Aada$"))
    await page.get_by_label("Search", exact=True).press_sequentially("lamp", delay=400)
    await expect(rows(page).first).to_contain_text("lamp")
    await page.get_by_role("link", name="The lamp is green.").click()
    await expect(details(page).locator(".memory-text")).to_be_visible()
    await page.go_back()
    await expect(details(page).locator(".memory-text")).to_have_count(0)
    await expect(page.get_by_label("Search", exact=True)).to_have_value("lamp")
    await page.go_back()
    await expect(page.get_by_label("Search", exact=True)).to_have_value("")
    await expect(rows(page)).to_have_count(2)


async def test_a_persons_own_page_shows_that_persons_space_and_no_other(page, url, client, remember):
    await remember("The lamp is green.")
    await remember("Nobody else sees this.", space="user:ben")
    token = (await client.post("/tokens", json={"space": SPACE, "role": "writer"})).json()["token"]
    await page.goto(f"{url}/inspector/#/memory?token={token}")
    await expect(page.locator(".memory-space")).to_contain_text(SPACE)
    await expect(rows(page)).to_have_count(1)
    await page.get_by_role("link", name="The lamp is green.").click()
    await page.get_by_role("button", name="Forget").click()
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(page.get_by_text("nothing of it is left")).to_be_visible()
    await page.goto(f"{url}/inspector/#/memory?space=user:ben")
    await expect(page.get_by_role("alert").first).to_contain_text("403")
    await expect(page.get_by_text("Nobody else sees this.")).to_have_count(0)


async def test_a_readers_token_can_change_nothing_and_says_so(page, url, client, remember):
    await remember("The lamp is green.")
    body = {"space": SPACE, "said": "Mira's eyes are green, not blue.", "scopes": ["story:au1/scene:ball"]}
    await client.post("/corrections", json=body)
    token = (await client.post("/tokens", json={"space": SPACE, "role": "reader"})).json()["token"]
    await page.goto(f"{url}/inspector/#/memory?space={SPACE}&token={token}")
    await page.get_by_role("link", name="The lamp is green.").click()
    await expect(details(page).locator(".memory-text")).to_be_visible()
    await expect(page.get_by_text("You can read what is remembered.")).to_be_visible()
    for name in ("Correct", "Edit", "Undo", "Forget", "everywhere"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    await page.get_by_role("link", name="Corrections").click()
    await expect(page.get_by_role("region", name="Corrections")).to_be_visible()
    await expect(page.get_by_role("region", name="Put something right")).to_have_count(0)


async def test_lore_is_changed_by_editors_only(page, url, tenant, remember):
    memory = await remember("The town lies by the sea.", space="lore:giulia")
    for role, buttons in ((Role.WRITER, 0), (Role.EDITOR, 1)):
        await page.goto("about:blank")
        await page.goto(address(url, f"/memory?id={memory['id']}", tenant.issue(role)))
        await expect(details(page).locator(".memory-text")).to_be_visible()
        await expect(page.get_by_role("button", name="Edit")).to_have_count(buttons)


async def test_an_edit_outlives_its_key(page, url, tenant, *, client, remember):
    memory = await remember("The lamp is green.")
    await open_entry(page, url, tenant.key, "The lamp is green.")
    await page.get_by_role("button", name="Edit").click()
    await page.get_by_label("Text").fill("The lamp is blue.")
    await page.evaluate("sessionStorage.setItem('ricordo.key', 'rk_expired')")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_label("API key or token").fill(tenant.key)
    await page.keyboard.press("Enter")
    await expect(details(page).locator(".memory-text")).to_have_text("The lamp is blue.")
    assert (await client.get(f"/memories/{memory['id']}")).json()["version"] == 2


async def test_a_hostile_memory_is_shown_as_text(page, url, tenant, *, client, said, remember):
    await remember(HOSTILE, tags=["<b>tag</b>"], author={"name": "<i>Eve</i>"}, source="</p><script>")
    await said(f"I have two dogs. {HOSTILE}")
    await client.post("/context/assemble", json={"space": SPACE, "query": HOSTILE, "timeout_ms": 30_000})
    await open_entry(page, url, tenant.key, HOSTILE)
    await page.get_by_role("button", name="Correct").click()
    await page.get_by_label("What is right").fill(f"{HOSTILE} Indeed.")
    await page.get_by_role("button", name="See what it changes").click()
    await expect(page.locator(".memory-answer")).to_contain_text("Not saved yet")
    await page.get_by_role("button", name="Forget").click()
    await expect(page.get_by_role("dialog")).to_contain_text(HOSTILE)
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await page.get_by_role("link", name="Why did it say that?").click()
    await page.get_by_role("link", name=HOSTILE).click()
    await expect(page.locator("blockquote").first).to_be_visible()
    assert await page.locator("main img, main script, main b, main i").count() == 0
    assert await page.title() == "Memory · Ricordo"


async def test_an_entry_is_edited_by_keyboard_alone(page, url, tenant, *, client, remember):
    memory = await remember("The lamp is green.")
    await open_memory(page, url, tenant.key)
    await expect(rows(page)).to_have_count(1)

    async def tab_to(text):
        for _ in range(60):
            await page.keyboard.press("Tab")
            focused = "document.activeElement.innerText || document.activeElement.value || ''"
            if text in await page.evaluate(focused):
                return
        pytest.fail(f"{text} is not reached")

    await tab_to("The lamp is green.")
    await page.keyboard.press("Enter")
    await expect(page.locator(".memory-beside h2").first).to_be_focused()
    await tab_to("Edit")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Control+A")
    await page.keyboard.type("The lamp is blue.")
    await page.keyboard.press("Control+Enter")
    await expect(details(page).locator(".memory-text")).to_have_text("The lamp is blue.")
    assert (await client.get(f"/memories/{memory['id']}")).json()["text"] == "The lamp is blue."


@pytest.fixture
async def lively(client, said, remember) -> dict[str, str]:
    """A space with something for each part of the page: the ids of an entry and of a prompt."""
    await said("I live in Rome.")
    await said("I live in Turin now.", "I hate coriander.")
    for day in ("Monday", "Tuesday"):
        unresolved = await remember(**club_on(day))
    await client.patch(f"/memories/{unresolved['id']}", json={"tags": ["chess"], "importance": 0.8})
    body = {"space": SPACE, "said": "Mira's eyes are green, not blue.", "scopes": ["story:au1/scene:ball"]}
    await client.post("/corrections", json=body)
    question = {"space": SPACE, "query": "Where do I live?", "timeout_ms": 30_000}
    made = (await client.post("/context/assemble", json=question)).json()
    return {"id": unresolved["id"], "assembly": made["id"]}


VIEWS = ("&id={id}", "&show=corrections", "&show=prompts", "&assembly={assembly}")


async def settled(page):
    await expect(page.locator(".memory-body").locator("h2:visible, .memory-list > li:visible").first).to_be_visible()
    await expect(page.locator(".loading")).to_have_count(0)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, *, lively, view, scheme):
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await open_memory(page, url, tenant.key, view.format(**lively))
    await settled(page)
    for name in ("Correct", "Edit") if "id=" in view else ():
        await page.get_by_role("button", name=name, exact=True).click()
        found = await Axe().run(page)
        faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
        assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]
    found = await Axe().run(page)
    faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
    assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


@pytest.mark.parametrize("view", ["", *VIEWS])
async def test_nothing_is_wider_than_a_phone(open_page, url, tenant, lively, view):
    page = await open_page(viewport={"width": 375, "height": 740})
    await open_memory(page, url, tenant.key, view.format(**lively))
    await settled(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 375


async def test_on_a_phone_an_entry_takes_the_lists_place(open_page, url, tenant, lively):
    page = await open_page(viewport={"width": 375, "height": 740})
    await open_memory(page, url, tenant.key)
    link = page.get_by_role("link", name="I hate coriander")
    await link.click()
    await expect(details(page)).to_be_visible()
    await expect(link).to_be_hidden()
    await page.get_by_role("button", name="Back to the list").click()
    await expect(link).to_be_focused()


async def test_it_speaks_italian(open_page, url, tenant, lively):
    page = await open_page(locale="it-IT")
    await open_memory(page, url, tenant.key, "&id={id}".format(**lively))
    await expect(page.get_by_role("button", name="Dimentica")).to_be_visible()
    await expect(page.get_by_role("region", name="Perché si sa")).to_be_visible()
    await expect(page.get_by_role("link", name="Perché l'ha detto?")).to_be_visible()
