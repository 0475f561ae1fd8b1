"""What people say in conversations becomes memories: posted as turns, read by a worker, served by the next assembly."""

from itertools import permutations

import pytest
from test_turn_work import ANA, BEN
from test_turns import SPACE, post, said

from app.domain.callers import Role
from app.domain.errors import UnavailableError
from app.domain.ids import parse_id
from app.store.keys import tenant_id_of
from app.store.queue import INTERNAL
from app.turns.ports import JobOptions
from app.turns.records import Task

CONVERSATIONS = {
    "en": (
        [
            ("I live in Turin.", "fact", ("self", "home", "Turin")),
            ("I work as a nurse.", "work", ("self", "job", "a nurse")),
            ("I hate coriander.", "dislike", None),
            ("My wife is called Marta.", "relationship", None),
            ("Please always answer me in English.", "output_preference", None),
        ],
        [
            "Hello, how are you today?",
            "Do I live in Rome?",
            "lol I am the queen of France, just kidding",
            "Let's role-play: I am a pirate and I live on a ship.",
            'My brother said: "I live in Madrid."',
            "Thanks a lot!",
        ],
    ),
    "it": (
        [
            ("Abito a Torino.", "fact", None),
            ("Lavoro come infermiera.", "work", None),
            ("Odio il coriandolo.", "dislike", None),
            ("Mia moglie si chiama Marta.", "relationship", None),
        ],
        [
            "Ciao, come stai oggi?",
            "Abito a Roma?",
            "Grazie mille!",
            "Mio fratello ha detto: «Abito a Madrid.»",
        ],
    ),
    "cs": (
        [
            ("Bydlím v Brně.", "fact", None),
            ("Pracuju jako zdravotní sestra.", "work", None),
            ("Nesnáším koriandr.", "dislike", None),
            ("Moje žena se jmenuje Marta.", "relationship", None),
        ],
        [
            "Ahoj, jak se dnes máš?",
            "Bydlím v Praze?",
            "Děkuju moc!",
            "Bratr řekl: „Bydlím v Madridu.“",
        ],
    ),
}


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


async def memories(client, space=SPACE, **filters):
    answer = await client.get("/memories", params={"space": space, **filters})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def texts(client, space=SPACE, **filters):
    return sorted(memory["text"] for memory in await memories(client, space, **filters))


async def prompt(client, query, space=SPACE, **fields):
    asked = {"space": space, "query": query, "timeout_ms": 30_000, **fields}
    return (await client.post("/context/assemble", json=asked)).json()["prompt"]


async def run_again(runtime, tenant, turn, *, erase=False):
    await runtime.queue.handlers[Task.MEMORIES](tenant_id_of(tenant.name), parse_id(turn["id"]), JobOptions(erase))


def plain(text):
    return text.rstrip(".").casefold()


@pytest.mark.parametrize("language", CONVERSATIONS)
async def test_a_conversation_becomes_memories_and_its_small_talk_does_not(client, work, language):
    statements, talk = CONVERSATIONS[language]
    turns = [await post(client, text, session="s", reply="I see.") for text, *_ in statements]
    for text in talk:
        await post(client, text, session="s", reply="I live in the cloud.")
    await work()
    found = {plain(memory["text"]): memory for memory in await memories(client)}
    assert len(found) == len(statements), sorted(found)
    for turn, (text, category, _claim) in zip(turns, statements, strict=True):
        (kept,) = [memory for key, memory in found.items() if key in plain(text) or plain(text) in key]
        assert kept["category"] == category
        assert 0 < kept["confidence"] <= 1
        assert 0 < kept["importance"] <= 1
        assert kept["source"] == turn["messages"][0]["id"]
        assert kept["author"]["name"] == "Ana"
        assert kept["session"] == "s"
        assert kept["valid_from"] == kept["last_confirmed_at"] == turn["messages"][0]["at"]
    assert any(memory["claim"] for memory in found.values())


async def test_a_turn_tells_which_entries_came_of_it(client, work):
    turn = await post(client, "I have two dogs.", session="s")
    assert (await client.get(f"/turns/{turn['id']}")).json()["entries"] == []
    await work()
    read = (await client.get(f"/turns/{turn['id']}")).json()
    (memory,) = await memories(client)
    message = turn["messages"][0]["id"]
    episode = turn["id"].replace("trn_", "epi_")
    assert read["entries"] == [
        {"id": episode, "space": SPACE, "tier": "episodes", "message": None},
        {"id": memory["id"], "space": SPACE, "tier": "memories", "message": message},
    ]
    jobs = (await client.get("/jobs", params={"space": SPACE})).json()["items"]
    assert sorted(job["task"] for job in jobs) == ["episode", "history", "memories"]


async def test_a_key_sees_the_entries_of_the_spaces_that_it_reaches(client, connect, tenant, work):
    turn = await post(client, stream="stream:x", messages=[{"author": ANA, "text": "I have two dogs."}])
    await work()
    limited = connect(tenant.issue(Role.READER, ("stream:x",)))
    seen = (await limited.get(f"/turns/{turn['id']}")).json()["entries"]
    assert {entry["space"] for entry in seen} == {"stream:x"}
    everything = (await client.get(f"/turns/{turn['id']}")).json()["entries"]
    assert [entry["space"] for entry in everything if entry["tier"] == "memories"] == ["viewer:twitch:7"]


async def test_the_next_prompt_of_the_person_has_what_was_said(client, work):
    await post(client, "I live in Turin.", session="s")
    await work()
    for session in (None, "another"):
        where = {} if session is None else {"session": session}
        assert "I live in Turin" in await prompt(client, "Where do I live?", **where)
    assert "Turin" not in await prompt(client, "Where do I live?", space="user:ben")


async def test_what_memory_put_into_a_prompt_is_never_extracted_again(client, work):
    """dup-09: our own rendered block and system turns are recognised; every record has a source turn."""
    await client.post("/memories", json={"space": SPACE, "text": "I live in Turin.", "importance": 0.9})
    for form in ("xml", "markdown", "plain"):
        quoted = await prompt(client, "Where do I live?", format=form)
        assert "Turin" in quoted
        await post(
            client,
            session=form,
            messages=[
                {"role": "system", "text": quoted},
                {"role": "system", "text": "I live in a data centre."},
                {"role": "tool", "text": "I live in a tool."},
                said(f"{quoted}\nI have two dogs."),
            ],
            reply="I live in the cloud.",
        )
        await work()
    found = await memories(client)
    assert sorted(memory["text"] for memory in found) == ["I have two dogs", "I live in Turin."]
    dogs = next(memory for memory in found if memory["source"])
    assert dogs["text"] == "I have two dogs"
    assert dogs["source"].startswith("msg_")


async def test_in_a_stream_each_authors_words_become_that_authors_memories(client, work):
    """Not the agent's, not a bot's, not an event's; what Ben says of Ana is not Ana's, and not true of Ben."""
    nightbot = {"platform": "twitch", "id": "99", "name": "Nightbot"}
    await post(
        client,
        stream="stream:giulia",
        session="live-1",
        messages=[
            {"author": ANA, "text": "I live in Turin."},
            {"author": BEN, "text": "Ana lives in Rome. I work as a baker."},
            {"author": nightbot, "role": "bot", "text": "I live in a server."},
            {"author": ANA, "text": "I love this!", "event": "subscription"},
            {"author": {"name": "Nobody"}, "text": "I live in Oslo."},
        ],
        reply="I live in the cloud.",
    )
    await work()
    (anas,) = await memories(client, "viewer:twitch:7")
    assert anas["text"] == "I live in Turin"
    assert anas["author"] == ANA
    (bens,) = await memories(client, "viewer:twitch:8")
    assert "baker" in bens["text"]
    assert "Rome" not in bens["text"]
    for space in ("stream:giulia", "viewer:twitch:99"):
        assert await memories(client, space) == []


async def test_in_a_persons_space_what_others_say_is_not_that_persons(client, work):
    """Ben speaks in Ana's space: he neither becomes her memory nor contradicts her."""
    await post(client, messages=[said("I live in Turin."), said("I live in Rome.", name="Ben")], session="s")
    await work()
    assert await texts(client) == ["I live in Turin"]


async def test_two_authors_of_a_space_that_is_called_like_neither_do_not_contradict_each_other(client, work):
    group = "user:flat-4"
    for name, home in (("Ana", "Turin"), ("Ben", "Rome"), ("Ana", "Milan")):
        body = {"space": group, "messages": [said(f"I live in {home}.", name=name)]}
        assert (await client.post("/turns", json=body)).status_code == 202
        await work()
    found = {memory["text"]: memory["author"]["name"] for memory in await memories(client, group)}
    assert found == {"I live in Rome": "Ben", "I live in Milan": "Ana"}


async def test_canon_is_not_written_by_talk(client, work):
    body = {"space": "lore:giulia", "messages": [said("I live in Turin.")]}
    assert (await client.post("/turns", json=body)).status_code == 422
    await work()
    assert await memories(client, "lore:giulia") == []


async def test_said_again_it_is_one_memory_that_is_surer(client, work):
    one = await post(client, messages=[said("I live in Turin.", at="2026-01-01T10:00:00Z")], session="s")
    await work()
    (before,) = await memories(client)
    other = await post(client, messages=[said("i live in turin", at="2026-02-01T10:00:00Z")], session="t")
    await work()
    (after,) = await memories(client)
    assert after["id"] == before["id"]
    assert after["confidence"] > before["confidence"]
    assert after["last_confirmed_at"] == "2026-02-01T10:00:00.000000Z"
    assert after["valid_from"] == "2026-01-01T10:00:00.000000Z"
    assert after["source"] == other["messages"][0]["id"]
    for turn in (one, other):
        entries = (await client.get(f"/turns/{turn['id']}")).json()["entries"]
        assert [entry["id"] for entry in entries if entry["tier"] == "memories"] == [after["id"]]


async def test_what_a_caller_gave_is_confirmed_by_what_is_said(client, work):
    given = {"space": SPACE, "text": "I live in Turin.", "author": {"name": "Ana"}, "confidence": 0.5}
    await client.post("/memories", json=given)
    turn = await post(client, "I live in Turin.", session="s")
    await work()
    (memory,) = await memories(client)
    assert memory["confidence"] > 0.5
    await client.delete(f"/messages/{turn['messages'][0]['id']}")
    await work()
    assert await texts(client) == ["I live in Turin."]


async def test_a_viewer_who_changes_the_name_is_the_same_author(client, work):
    for name in ("Ana", "Ana_live"):
        await post(client, stream="stream:x", messages=[{"author": {**ANA, "name": name}, "text": "I have two dogs."}])
        await work()
    assert await texts(client, "viewer:twitch:7") == ["I have two dogs"]


HOMES = (("Rome", 1), ("Turin", 2), ("Milan", 3))


@pytest.mark.parametrize("order", list(permutations(HOMES)), ids=lambda order: "-".join(name for name, _ in order))
async def test_in_whatever_order_turns_arrive_what_was_said_last_holds(client, work, order):
    for home, day in order:
        await post(client, messages=[said(f"I live in {home}.", at=f"2026-01-0{day}T10:00:00Z")], session="s")
        await work()
    assert await texts(client) == ["I live in Milan"]
    assert await texts(client, status="superseded") == ["I live in Rome", "I live in Turin"]


async def test_a_message_that_comes_late_does_not_undo_what_was_said_before_and_after_it(client, work):
    for home, day in (("Rome", 1), ("Rome", 3), ("Turin", 2)):
        await post(client, messages=[said(f"I live in {home}.", at=f"2026-01-0{day}T10:00:00Z")], session="s")
        await work()
    assert await texts(client) == ["I live in Rome"]
    assert await texts(client, status="superseded") == ["I live in Turin"]


async def test_all_at_once_it_comes_out_the_same(client, work):
    for home, day in (("Milan", 3), ("Rome", 1), ("Turin", 2)):
        await post(client, messages=[said(f"I live in {home}.", at=f"2026-01-0{day}T10:00:00Z")], session="s")
    await work()
    assert await texts(client) == ["I live in Milan"]


async def test_of_two_messages_of_one_moment_the_later_in_the_turn_holds(client, work):
    await post(client, "I live in Rome.", "Well, no.", "I live in Turin.", session="s")
    await work()
    (memory,) = await memories(client)
    assert (memory["text"], memory["unresolved"]) == ("I live in Turin", False)


async def test_a_clock_that_is_ahead_makes_no_memory_of_tomorrow(client, work):
    turn = await post(client, messages=[said("I live in Turin.", at="2999-01-01T00:00:00Z")], session="s")
    await work()
    (memory,) = await memories(client)
    assert memory["valid_from"] == turn["messages"][0]["recorded_at"]
    assert "I live in Turin" in await prompt(client, "Where do I live?")


async def test_what_was_and_what_will_be_claims_nothing_of_today(client, work):
    await post(client, "I live in Turin.", "I used to live in Oslo.", "I will move to Lisbon next year.", session="s")
    await work()
    found = {memory["text"]: memory for memory in await memories(client)}
    assert found["I live in Turin"]["claim"]["value"] == "Turin"
    others = [memory for text, memory in found.items() if "Turin" not in text]
    assert len(others) == 2
    assert [memory["claim"] for memory in others] == [None, None]


async def test_the_task_may_run_again_and_changes_nothing(client, runtime, tenant, work):
    """dup-01: whatever path or repetition a text takes, there is one active record of it."""
    turn = await post(client, "I live in Turin.", "I have two dogs.", session="s")
    await work()
    before = await memories(client)
    for _ in range(2):
        await run_again(runtime, tenant, turn)
    assert await memories(client) == before


async def test_a_memory_that_its_owner_erased_is_not_made_again(client, runtime, tenant, work, database_url):
    turn = await post(client, "I live in Turin. I have two dogs.", session="s")
    await work()
    home = next(memory for memory in await memories(client) if "Turin" in memory["text"])
    await client.delete(f"/memories/{home['id']}")
    await run_again(runtime, tenant, turn)
    assert await texts(client) == ["I have two dogs"]
    edited = {"text": "I live in Turin. I have two cats."}
    await client.patch(f"/messages/{turn['messages'][0]['id']}", json=edited)
    await work()
    assert await texts(client) == ["I have two cats"]
    await post(client, "I live in Turin.", session="s")  # said anew
    await work()
    assert await texts(client) == ["I have two cats", "I live in Turin"]


async def test_an_edited_message_replaces_what_came_of_it(client, work):
    turn = await post(client, "I live in Rome. I have two dogs.", session="s")
    await work()
    dogs = next(memory for memory in await memories(client) if "dogs" in memory["text"])
    message = turn["messages"][0]["id"]
    await client.patch(f"/messages/{message}", json={"text": "I live in Turin. I have two dogs."})
    await work()
    found = await memories(client, status="any")
    assert sorted(memory["text"] for memory in found) == ["I have two dogs", "I live in Turin"]
    assert next(memory for memory in found if "dogs" in memory["text"]) == dogs
    assert "Turin" in await prompt(client, "Where do I live?")


async def test_a_deleted_message_takes_its_memories_along_and_what_it_replaced_holds_again(client, work):
    await post(client, messages=[said("I live in Rome.", at="2026-01-01T10:00:00Z")], session="s")
    turn = await post(client, messages=[said("I live in Turin.", at="2026-01-02T10:00:00Z")], session="s")
    await work()
    assert await texts(client) == ["I live in Turin"]
    await client.delete(f"/messages/{turn['messages'][0]['id']}")
    await work()
    (home,) = await memories(client, status="any")
    assert (home["text"], home["status"], home["valid_to"]) == ("I live in Rome", "active", None)
    assert (await client.get(f"/turns/{turn['id']}")).json()["entries"] == []


async def test_a_memory_that_another_message_confirms_stays_and_keeps_no_word_of_the_deleted_one(client, work):
    turns = []
    for day, text in ((1, "I live in Turin!"), (2, "i LIVE in turin")):
        turns.append(await post(client, messages=[said(text, at=f"2026-01-0{day}T10:00:00Z")], session="s"))
        await work()  # one after the other: the first wording stays
    (before,) = await memories(client)
    assert before["text"] == "I live in Turin"
    await client.delete(f"/messages/{turns[0]['messages'][0]['id']}")
    await work()
    (after,) = await memories(client)
    assert (after["id"], after["text"]) == (before["id"], "i LIVE in turin")
    assert after["valid_from"] == after["last_confirmed_at"] == "2026-01-02T10:00:00.000000Z"
    assert after["confidence"] < before["confidence"]
    versions = (await client.get(f"/memories/{after['id']}/versions")).json()["items"]
    assert [version["text"] for version in versions] == ["i LIVE in turin"]
    await client.delete(f"/sessions/{turns[1]['session']}")
    await work()
    assert await memories(client, status="any") == []


async def test_what_its_owner_has_rewritten_is_the_owners(client, work, runtime, tenant):
    """An edited memory is not put back by reading again, nor taken away with the message that it came of."""
    turn = await post(client, "I live in Rome.", session="s")
    await work()
    (memory,) = await memories(client)
    await client.patch(f"/memories/{memory['id']}", json={"text": "I live in Turin."})
    await run_again(runtime, tenant, turn)
    assert await texts(client) == ["I live in Turin."]
    await client.delete(f"/messages/{turn['messages'][0]['id']}")
    await work()
    assert await texts(client, status="any") == ["I live in Turin."]
    assert "Rome" not in str((await client.get(f"/memories/{memory['id']}/versions")).json())


async def test_memories_hold_in_the_scope_of_their_session(client, work):
    await post(client, "I live in Turin.", session="s", scope="story:au1")
    turn = await post(client, "I have two dogs.", session="s")
    assert turn["scope"] == "story:au1"
    await post(client, "I work as a nurse.", session="t")
    await post(client, "I hate coriander.", session="s", scope="")
    await work()
    assert {memory["text"]: memory["scope"] for memory in await memories(client)} == {
        "I live in Turin": "story:au1",
        "I have two dogs": "story:au1",
        "I work as a nurse": "",
        "I hate coriander": "",
    }
    assert "Turin" in await prompt(client, "Where do I live?", scopes=["story:au1"])
    for scopes in ([], ["story:au2"]):
        assert "Turin" not in await prompt(client, "Where do I live?", scopes=scopes)


@pytest.mark.parametrize("scope", ["story", "story:", "planet:x", "a:b", "story:a\x00", "/", 7])
async def test_a_scope_that_is_none_is_refused_by_name(client, scope):
    refused = await client.post("/turns", json={"space": SPACE, "scope": scope, "messages": [said("Hi.")]})
    assert refused.status_code == 422
    assert "scope" in refused.text


async def test_another_language_is_kept_as_an_episode_alone(client, work):
    await post(client, "Ich wohne in Berlin und arbeite als Lehrerin.", session="s")
    await work()
    assert await memories(client) == []
    found = (await client.get("/episodes", params={"space": SPACE})).json()["items"]
    assert "Berlin" in found[0]["text"]


async def test_a_job_that_failed_is_tried_again_and_remembers_once(client, runtime, work, monkeypatch):
    handler = runtime.queue.handlers[Task.MEMORIES]
    failures = [UnavailableError("no embedder"), ValueError("no such luck")]

    async def failing(*arguments):
        await handler(*arguments)  # the commit is there, the note of it is not
        if failures:
            raise failures.pop()

    monkeypatch.setitem(runtime.queue.handlers, Task.MEMORIES, failing)
    await post(client, "I live in Turin.", session="s")
    await work()
    (job,) = (await client.get("/jobs", params={"state": "failed"})).json()["items"]
    assert (job["task"], job["error"]) == ("memories", INTERNAL)
    failures.clear()
    assert (await client.post(f"/jobs/{job['id']}/retry")).status_code in (200, 202)
    await work()
    (memory,) = await memories(client)
    assert memory["version"] == 1


async def test_all_that_is_made_of_a_scoped_session_stays_in_its_scope(client, work):
    """The episode, the personal document and the summary: another story does not see them."""
    turn = await post(
        client,
        stream="stream:x",
        session="s",
        scope="story:au1",
        messages=[{"author": ANA, "text": "I collect porcelain herons."}],
    )
    await client.post(f"/sessions/{turn['session']}/end")
    await work()
    for space, made in (("stream:x", 2), ("viewer:twitch:7", 1)):
        found = (await client.get("/episodes", params={"space": space})).json()["items"]
        assert [episode["scope"] for episode in found] == ["story:au1"] * made
        assert "porcelain" not in await prompt(client, "porcelain herons", space=space)
        assert "porcelain" in await prompt(client, "porcelain herons", space=space, scopes=["story:au1"])
