"""The Conversations page. Each test starts from HTTP writes, and ends at what stands on the page."""

import re

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from app.store.queue import INTERNAL
from app.turns.records import Task
from tests.browser.test_playground import address

SPACE = "user:ada"


@pytest.fixture
def work(runtime):
    """Does all the work that is due, and what comes of it."""

    async def done():
        for _ in range(3):
            await runtime.queue.drain()

    return done


@pytest.fixture
def say(client):
    """Posts what somebody said in a session, and what was answered; returns the turn."""

    async def posted(text, *, session="kitchen", at="2026-11-20T18:00:00Z", author="Ada", reply=None, space=SPACE):
        body = {
            "space": space,
            "session": session,
            "messages": [{"author": {"id": author.lower(), "name": author}, "text": text, "at": at}],
            **({"reply": {"text": reply, "at": at}} if reply else {}),
        }
        answer = await client.post("/turns", json=body)
        assert answer.status_code == 202, answer.text
        return answer.json()

    return posted


@pytest.fixture
async def talked(say, work):
    """Two sessions, each of one day; the turns of the later one."""
    await say("My bicycle lost its chain.", session="street", at="2026-11-03T08:00:00Z")
    first = await say("I live in Turin.", reply="A fine town! Shall we cook agnolotti?")
    second = await say("Yes, agnolotti please 😋", at="2026-11-20T18:01:00Z", author="Lucia")
    await work()
    return first, second


async def opened(page, url, key, more=""):
    await page.goto(address(url, f"/conversations?space={SPACE}{more}", key))
    await expect(page.locator(".hit").first).to_be_visible(timeout=15_000)


def turn_of(page, turn):
    return page.locator(f'.turn[data-id="{turn["id"]}"]')


async def texts(page):
    return await page.locator(".message-text").all_text_contents()


async def hits(page):
    return await page.locator(".hit-head strong").all_text_contents()


async def test_a_session_is_read_as_it_was_spoken(page, open_page, url, tenant, talked):
    await page.goto(address(url, "/conversations", tenant.key))
    await expect(page.locator(".hit")).to_have_count(2, timeout=15_000)
    assert await hits(page) == ["kitchen", "street"]
    await page.get_by_role("link", name="kitchen").click()
    await expect(page.locator(".message")).to_have_count(3)
    assert await texts(page) == [
        "I live in Turin.",
        "A fine town! Shall we cook agnolotti?",
        "Yes, agnolotti please 😋",
    ]
    assert await page.locator(".message-head strong").all_text_contents() == ["Ada", "Assistant", "Lucia"]
    times = await page.locator(".message time").evaluate_all("times => times.map(t => t.dateTime)")
    assert [t[:16] for t in times] == ["2026-11-20T18:00", "2026-11-20T18:00", "2026-11-20T18:01"]
    await expect(page.get_by_role("link", name="kitchen")).to_have_attribute("aria-current", "true")
    again = await open_page()
    await again.goto(f"{page.url}&key={tenant.key}")
    await expect(again.locator(".message")).to_have_count(3, timeout=15_000)
    await page.go_back()
    await expect(page.get_by_text("Choose a session to read it.")).to_be_visible()


async def test_sessions_and_messages_come_page_by_page(page, url, tenant, say):
    for n in range(35):
        await say(f"Hello {n}.", session=f"s-{n:02}", at=f"2026-11-01T10:{n:02}:00Z")
    for n in range(60):
        await say(f"Message {n}.", session="long", at=f"2026-11-02T10:{n:02}:00Z")
    await opened(page, url, tenant.key)
    await expect(page.locator(".hit")).to_have_count(30)
    await page.get_by_role("button", name="Show more").click()
    await expect(page.locator(".hit")).to_have_count(36)
    await page.get_by_role("link", name="long").click()
    await expect(page.locator(".message")).to_have_count(50)
    assert (await texts(page))[0] == "Message 10."
    await page.get_by_role("button", name="Show earlier messages").click()
    await expect(page.locator(".message")).to_have_count(60)
    assert await texts(page) == [f"Message {n}." for n in range(60)]
    await expect(page.get_by_role("button", name="Show earlier messages")).to_have_count(0)


async def test_what_was_said_is_found_by_its_words_and_shown_where_it_was_said(page, url, tenant, say, work):
    for n in range(70):
        text = "The zither is out of tune." if n == 3 else f"Message {n}."
        await say(text, session="long", at=f"2026-11-02T10:{n % 60:02}:00Z")
    await work()
    await opened(page, url, tenant.key)
    await page.get_by_label("Words").fill("zither")
    await page.keyboard.press("Enter")
    await expect(page.locator(".hit-text")).to_have_text(["The zither is out of tune."])
    await page.locator(".hit").click()
    sought = page.locator(".message[data-sought]")
    await expect(sought).to_have_text(re.compile("The zither is out of tune"))
    await expect(sought).to_be_in_viewport()
    await expect(sought).to_be_focused()
    await page.get_by_role("button", name="Clear the filters").click()
    await expect(page.locator(".hit-head strong")).to_have_text(["long"])


async def test_only_turns_that_come_into_view_are_asked_about(page, url, tenant, say):
    turns = [await say(f"Message {n}.", session="long", at=f"2026-11-02T10:00:{n % 60:02}Z") for n in range(250)]
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/jobs?" in request.url else None)
    first = turns[0]["messages"][0]["id"]
    await opened(page, url, tenant.key, f"&session={turns[0]['session']}&message={first}")
    await expect(page.locator(".message")).to_have_count(250)
    await expect(turn_of(page, turns[0]).locator(".turn-state")).to_contain_text("in work")
    assert sum(request.count("subject=") for request in asked) < 100
    await turn_of(page, turns[-1]).scroll_into_view_if_needed()
    await expect(turn_of(page, turns[-1]).locator(".turn-state")).to_contain_text("in work")


async def test_the_filters_are_time_author_and_session_and_in_the_address(page, open_page, url, tenant, talked):
    await opened(page, url, tenant.key)
    await page.get_by_text("Time, author, session").click()
    await page.get_by_label("From", exact=True).fill("2026-11-10")
    await expect(page.locator(".hit-head strong")).to_have_text(["kitchen"])
    await page.get_by_label("From", exact=True).fill("")
    await page.get_by_label("To", exact=True).fill("2026-11-03")
    await expect(page.locator(".hit-head strong")).to_have_text(["street"])
    await page.get_by_role("button", name="Clear the filters").click()
    await page.get_by_label("Author").fill("Lucia")
    await page.keyboard.press("Enter")
    await expect(page.locator(".hit-text")).to_have_text(["Yes, agnolotti please 😋"])
    again = await open_page()
    await again.goto(f"{page.url}&key={tenant.key}")
    await expect(again.locator(".hit-text")).to_have_text(["Yes, agnolotti please 😋"], timeout=15_000)
    await expect(again.get_by_label("Author")).to_have_value("Lucia")
    await page.get_by_label("Author").fill("")
    await page.get_by_label("Session").fill("street")
    await page.keyboard.press("Enter")
    await expect(page.locator(".hit-text")).to_have_text(["My bicycle lost its chain."])
    await page.get_by_label("Words").fill("agnolotti")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Nothing that was said fits.")).to_be_visible()


async def test_what_was_remembered_of_a_turn_leads_to_its_entries(page, url, tenant, *, client, talked):
    first, _ = talked
    await opened(page, url, tenant.key, f"&session={first['session']}")
    turn = turn_of(page, first)
    await expect(turn.locator(".turn-state")).to_contain_text("processed")
    await turn.get_by_role("button", name="What was remembered").click()
    entries = (await client.get(f"/turns/{first['id']}")).json()["entries"]
    memory = next(entry for entry in entries if entry["tier"] == "memories")
    await expect(turn.locator(".entries-of li")).to_have_count(len(entries))
    shown = turn.locator(f'.entries-of li[data-id="{memory["id"]}"]')
    await expect(shown).to_contain_text("I live in Turin")
    link = await shown.get_by_role("link", name="Open in Memory").get_attribute("href")
    assert link == f"#/memory?space=user%3Aada&id={memory['id']}"


async def test_a_turn_tells_how_far_the_work_on_it_is(page, url, tenant, *, runtime, say, work, monkeypatch):
    with monkeypatch.context() as patched:

        async def failing(*_arguments):
            raise ValueError("no such luck")

        patched.setitem(runtime.queue.handlers, Task.MEMORIES, failing)
        broken = await say("I live in Rome.")
        await work()
    waiting = await say("I live in Turin.")
    await opened(page, url, tenant.key, f"&session={broken['session']}")
    await expect(turn_of(page, broken).locator(".turn-state")).to_contain_text("failed: Memories")
    await expect(turn_of(page, broken).locator(".turn-state")).to_contain_text(INTERNAL)
    await expect(turn_of(page, waiting).locator(".turn-state")).to_contain_text("in work:")
    await work()
    await expect(turn_of(page, waiting).locator(".turn-state")).to_contain_text("processed", timeout=10_000)
    await turn_of(page, broken).get_by_role("link", name="Jobs").click()
    await expect(page.locator("table")).to_contain_text(INTERNAL)
    await expect(page.locator("tbody tr")).to_have_count(3)
    await page.get_by_role("button", name="Those of one turn: show all").click()
    await expect(page.locator("tbody tr")).to_have_count(6)


async def test_summaries_are_shown_with_people_and_places(page, url, tenant, *, client, say, work):
    turn = await say("My sister Nora got a job in Prague, it is wonderful.")
    await client.post(f"/sessions/{turn['session']}/end")
    await work()
    await opened(page, url, tenant.key, f"&session={turn['session']}")
    await page.get_by_text("Summaries: 1").click()
    await expect(page.locator(".summary")).to_contain_text("Nora")
    await expect(page.locator(".summary .facts")).to_contain_text("Prague")
    (told,) = (await client.get(f"/sessions/{turn['session']}")).json()["conversations"]
    await expect(page.get_by_role("link", name="Open its episode")).to_have_attribute(
        "href", f"#/memory?space=user%3Aada&id={told['episode']}"
    )


async def test_a_turn_is_forgotten_after_a_look_at_what_would_go(page, url, tenant, *, client, work, talked):
    first, second = talked
    await opened(page, url, tenant.key, f"&session={first['session']}")
    await turn_of(page, first).get_by_role("button", name="Forget this turn").click()
    asked = page.get_by_role("dialog")
    await expect(asked.get_by_role("heading")).to_have_text("Forget this turn?")
    await expect(asked).to_contain_text("Nothing was forgotten yet.")
    await expect(asked).to_contain_text("I live in Turin")
    await asked.get_by_role("button", name="Cancel").click()
    assert len((await client.get(f"/turns/{first['id']}")).json()["messages"]) == 2
    await turn_of(page, first).get_by_role("button", name="Forget this turn").click()
    await asked.get_by_role("button", name="Forget for good").click()
    await expect(page.get_by_role("dialog", name="Forgotten: the receipt")).to_be_visible()
    receipt = asked.locator(".receipt")
    await expect(receipt).to_contain_text("The receipt has counts and ids, and no text.")
    kept = (await client.get(f"/receipts/{await receipt.get_attribute('data-id')}")).json()
    await expect(receipt).to_contain_text(kept["digest"])
    assert kept["removed"]["messages"] == 2
    await expect(receipt).to_contain_text("Not all of it is gone yet")
    await work()
    await asked.get_by_role("button", name="Check again").click()
    await expect(receipt).to_contain_text("the receipt is genuine, and nothing of it is left")
    await asked.get_by_role("button", name="Close").last.click()
    await expect(page.locator(".message")).to_have_count(1)
    assert await texts(page) == ["Yes, agnolotti please 😋"]
    assert (await client.get(f"/turns/{first['id']}")).json()["messages"] == []
    assert (await client.get(f"/turns/{second['id']}")).json()["messages"] != []


async def test_a_conversation_is_forgotten_as_a_whole(page, url, tenant, *, client, work, talked):
    first, _ = talked
    await opened(page, url, tenant.key, f"&session={first['session']}")
    await page.get_by_role("button", name="Forget this conversation").click()
    asked = page.get_by_role("dialog")
    await expect(asked.get_by_role("heading")).to_have_text("Forget kitchen?")
    await expect(asked).to_contain_text("I live in Turin")
    await asked.get_by_role("button", name="Forget for good").click()
    await expect(asked.locator(".receipt")).to_be_visible()
    await asked.get_by_role("button", name="Close").last.click()
    await expect(page.get_by_text("Nothing is left of what was said here")).to_be_visible()
    await expect(page.get_by_role("button", name="Forget this conversation")).to_have_count(0)
    await expect(page.get_by_role("link", name="kitchen")).to_contain_text("nothing is left of it")
    await work()
    left = (await client.get("/messages", params={"space": SPACE})).json()["items"]
    assert [message["text"] for message in left] == ["My bicycle lost its chain."]
    held = (await client.get("/memories", params={"space": SPACE})).json()["items"]
    assert "Turin" not in str(held)


async def test_a_reader_of_one_space_reads_and_is_told_why_nothing_can_be_forgotten(
    page, url, tenant, *, client, talked
):
    made = (await client.post("/tokens", json={"space": SPACE, "role": "reader", "minutes": 5})).json()
    await opened(page, url, made["token"])
    await expect(page.get_by_text("Forgetting needs the key of a writer; yours is that of a reader.")).to_be_visible()
    await page.get_by_role("link", name="kitchen").click()
    await expect(page.locator(".turn-state").first).to_contain_text("processed")
    await page.get_by_role("button", name="What was remembered").first.click()
    await expect(page.locator(".entries-of li").first).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("Forget"))).to_have_count(0)


async def test_what_is_written_from_right_to_left_stays_so(page, url, tenant, say):
    await say("שלום! אני גר בטורינו.", reply="أهلاً وسهلاً 😊")
    await opened(page, url, tenant.key, "&session=kitchen")
    await expect(page.locator(".message-text")).to_have_text(["שלום! אני גר בטורינו.", "أهلاً وسهلاً 😊"])
    directions = "all => all.map(one => getComputedStyle(one).direction)"
    assert await page.locator(".message-text").evaluate_all(directions) == ["rtl", "rtl"]


async def test_a_message_that_holds_markup_is_a_text(page, url, tenant, say, work):
    attack = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    turn = await say(f"I live in {attack}", author="<i>Eve</i>", session="<b>s</b>")
    await work()
    await opened(page, url, tenant.key, f"&query=live&session={turn['session']}")
    await expect(page.locator(".message-text")).to_have_text(f"I live in {attack}")
    await page.get_by_role("button", name="What was remembered").click()
    await expect(page.locator(".entries-of li").first).to_be_visible()
    await page.get_by_role("button", name="Forget this conversation").click()
    await expect(page.get_by_role("button", name="Forget for good")).to_be_visible()
    assert await page.locator("main :is(img, script, i, b), dialog :is(img, script, i, b)").count() == 0
    assert await page.title() == "Conversations · Ricordo"


async def test_a_key_that_expires_is_asked_for_and_the_view_stays(page, url, tenant, talked):
    await opened(page, url, tenant.key)
    await page.evaluate("sessionStorage.setItem('ricordo.key', 'rk_expired')")
    await page.get_by_role("link", name="kitchen").click()
    await page.get_by_role("dialog", name="Sign in").get_by_label("API key or token").fill(tenant.key)
    await page.keyboard.press("Enter")
    await expect(page.locator(".message")).to_have_count(3)


async def test_errors_are_said_where_they_belong(page, url, tenant, talked):
    await opened(page, url, tenant.key, "&session=ses_nothing")
    await expect(page.locator(".talk [role=alert]")).to_contain_text("404")
    await page.get_by_text("Time, author, session").click()
    await page.get_by_label("From", exact=True).fill("2026-11-10")
    await page.get_by_label("To", exact=True).fill("2026-11-01")
    await expect(page.locator(".found [role=alert]")).to_contain_text("to must be after from")


async def test_a_space_in_which_nothing_was_said_says_so(page, url, tenant, client):
    await client.post("/memories", json={"space": SPACE, "text": "I live in Turin."})
    await page.goto(address(url, "/conversations", tenant.key))
    await expect(page.get_by_text("Nothing was said here yet.")).to_be_visible(timeout=15_000)


async def test_a_session_is_reached_read_and_looked_into_by_keyboard(page, url, tenant, talked):
    await opened(page, url, tenant.key)
    await page.get_by_label("Words").focus()
    for _ in range(12):
        await page.keyboard.press("Tab")
        if "kitchen" in await page.evaluate("document.activeElement.innerText"):
            break
    await page.keyboard.press("Enter")
    await expect(page.locator(".message")).to_have_count(3)
    for _ in range(12):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.innerText") == "What was remembered":
            break
    await page.keyboard.press("Enter")
    await expect(page.locator(".entries-of li").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious(open_page, url, tenant, *, talked, scheme):
    page = await open_page(color_scheme=scheme, bypass_csp=True)
    await opened(page, url, tenant.key, f"&query=agnolotti&session={talked[0]['session']}")
    await page.get_by_role("button", name="What was remembered").first.click()
    await expect(page.locator(".entries-of li").first).to_be_visible()
    reading = await Axe().run(page)
    await page.get_by_role("button", name="Forget this conversation").click()
    await expect(page.get_by_role("button", name="Forget for good")).to_be_visible()
    forgetting = await Axe().run(page)
    for found in (reading, forgetting):
        faults = [v for v in found.response["violations"] if v["impact"] in {"serious", "critical"}]
        assert faults == [], [(v["id"], [n["html"] for n in v["nodes"]][:5]) for v in faults]


async def test_on_a_phone_the_list_gives_way_to_what_is_read(open_page, url, tenant, say, talked):
    await say("W" * 400, session="n" * 150, author="A" * 150)
    page = await open_page(viewport={"width": 375, "height": 740})
    await opened(page, url, tenant.key)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 375
    await page.get_by_role("link", name="n" * 150).click()
    await expect(page.locator(".message")).to_have_count(1)
    await expect(page.locator(".hit").first).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 375
    await page.get_by_role("button", name="Back to the list").click()
    await expect(page.locator(".message")).to_have_count(0)
    await expect(page.get_by_role("link", name="n" * 150)).to_be_focused()


async def test_it_speaks_italian(open_page, url, tenant, talked):
    page = await open_page(locale="it-IT")
    await opened(page, url, tenant.key, "&session=kitchen")
    await expect(page.get_by_role("button", name="Dimentica questa conversazione")).to_be_visible()
    await expect(page.locator(".turn-state").first).to_contain_text("elaborato")
