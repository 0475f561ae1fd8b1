"""Corrections over HTTP: what is saved, where, what it replaces; questions; what never comes back."""

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.callers import Role

SPACE = "user:corrected"


async def remember(client, text, **fields):
    reply = await client.post("/memories", json={"space": SPACE, "text": text, **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def correct(client, **fields):
    headers = fields.pop("headers", {})
    reply = await client.post("/corrections", json={"space": SPACE, **fields}, headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def texts(client, status="active"):
    items = (await client.get("/memories", params={"space": SPACE, "status": status})).json()["items"]
    return [item["text"] for item in items]


@pytest.mark.parametrize(
    ("text", "said", "right"),
    [
        (
            "My sister is called Anna and lives in Brno.",
            "No, my sister is called Ada, not Anna.",
            "My sister is called Ada and lives in Brno.",
        ),
        (
            "Mia sorella si chiama Anna e vive a Brno.",
            "No, mia sorella si chiama Ada, non Anna.",
            "Mia sorella si chiama Ada e vive a Brno.",
        ),
        (
            "Moje sestra se jmenuje Anna a bydlí v Brně.",
            "Ne, moje sestra se jmenuje Ada, ne Anna.",
            "Moje sestra se jmenuje Ada a bydlí v Brně.",
        ),
    ],
)
async def test_what_was_not_corrected_survives(client, text, said, right):
    await remember(client, text)
    done = await correct(client, said=said)
    assert (done["outcome"], done["after"][0]["text"]) == ("applied", right)
    assert text in done["told"]
    assert await texts(client) == [right]


async def test_a_correction_says_what_was_saved_where_and_what_it_replaced(client):
    """contra-02, contra-05: the new one is current, the old one is history."""
    old = await remember(client, "Mira's eyes are blue.", category="fact", tags=["look"])
    done = await correct(client, said="Mira's eyes are green, not blue.", actor={"name": "Ana"})
    assert done["outcome"] == "applied"
    assert done["told"] == "Saved everywhere: “Mira's eyes are green.” It replaces “Mira's eyes are blue.”"
    (before,), (after,) = done["before"], done["after"]
    assert (before["id"], before["text"]) == (old["id"], "Mira's eyes are blue.")
    assert (after["text"], after["corrected"], after["reason"]) == ("Mira's eyes are green.", True, "corrected")
    assert (after["category"], after["tags"], after["author"]["name"]) == ("fact", ["look"], "Ana")
    now = (await client.get(f"/memories/{old['id']}")).json()
    assert (now["status"], now["superseded_by"]) == ("superseded", after["id"])
    assert (await client.get(f"/corrections/{done['id']}")).json() == {**done, "before": done["before"]}


async def test_an_entry_is_corrected_by_its_id_or_its_text(client):
    one = await remember(client, "The boat is old.")
    assert (await correct(client, id=one["id"], text="The boat is new."))["outcome"] == "applied"
    assert (await correct(client, content="the boat is NEW", text="The boat sank."))["outcome"] == "applied"
    assert await texts(client) == ["The boat sank."]


async def test_a_claim_is_corrected_in_structure(client):
    await remember(client, "Mira's eyes are blue.")
    done = await correct(client, subject="Mira", attribute="eye colour", value="green", scope="", lasting=True)
    assert [entry["text"] for entry in done["after"]] == ["Mira's eyes are green."]
    other = await correct(client, subject="Mira", attribute="shoe size", value="38")
    assert [entry["text"] for entry in other["after"]] == ["Mira – shoe size: 38"]


async def test_several_entries_with_the_text_are_listed_and_not_guessed(client):
    one = await remember(client, "The boat is old.")
    two = await remember(client, "The boat is old.", scope="story:au1")
    asked = await correct(client, content="The boat is old.", text="The boat is new.")
    assert asked["outcome"] == "needs_clarification"
    assert [option["key"] for option in asked["options"]] == [one["id"], two["id"]]
    done = (await client.post(f"/clarifications/{asked['id']}", json={"choice": two["id"]})).json()
    assert [entry["scope"] for entry in done["after"]] == ["story:au1"]
    assert (await client.get(f"/memories/{one['id']}")).json()["status"] == "active"


async def test_a_question_is_answered_once_and_with_what_it_offers(client):
    await remember(client, "Mira's eyes are blue.")
    asked = await correct(client, said="Mira's eyes are green, not blue.", scopes=["story:au1"])
    path = f"/clarifications/{asked['id']}"
    wrong = await client.post(path, json={"choice": "story:au2"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "choice")
    open_ones = (await client.get("/corrections", params={"space": SPACE, "open": True})).json()["items"]
    assert [item["id"] for item in open_ones] == [asked["id"]]
    key = {"Idempotency-Key": "answer"}
    done = (await client.post(path, json={"choice": "story:au1"}, headers=key)).json()
    assert (await client.post(path, json={"choice": "story:au1"}, headers=key)).json()["id"] == done["id"]
    assert (await client.post(path, json={"choice": "everywhere"})).status_code == 409
    closed = (await client.get(f"/corrections/{asked['id']}")).json()
    assert (closed["open"], closed["answered_by"]) == (False, done["id"])
    assert (await client.post(f"/clarifications/{done['id']}", json={"choice": "x"})).status_code == 404


async def test_a_dry_run_shows_the_next_prompt_and_changes_nothing(client):
    await remember(client, "Mira's eyes are blue.")
    done = await correct(client, said="Mira's eyes are green, not blue.", dry_run=True)
    assert (done["outcome"], done["dry_run"]) == ("applied", True)
    assert "blue" in done["effect"]["before"]
    assert "green" not in done["effect"]["before"]
    assert "<memory" in done["effect"]["after"]
    assert "Mira's eyes are green.</memory>" in done["effect"]["after"]
    assert "Mira's eyes are blue.</memory>" not in done["effect"]["after"]
    assert await texts(client, "any") == ["Mira's eyes are blue."]
    assert (await client.get("/corrections", params={"space": SPACE})).json()["items"] == []


async def test_the_next_assembly_tells_of_it_once_and_a_replay_tells_it_again(client):
    await remember(client, "Mira's eyes are blue.")
    done = await correct(client, said="Mira's eyes are green, not blue.")
    body = {"space": SPACE, "query": "What colour are Mira's eyes?", "timeout_ms": 30_000}
    unrecorded = (await client.post("/context/assemble", json={**body, "record": False})).json()
    first = (await client.post("/context/assemble", json=body)).json()
    assert "It replaces" in unrecorded["prompt"]
    assert "It replaces" in first["prompt"]
    replayed = (await client.post(f"/assemblies/{first['id']}/replay")).json()
    assert (replayed["identical"], replayed["prompt"]) == (True, first["prompt"])
    assert "It replaces" not in (await client.post("/context/assemble", json=body)).json()["prompt"]
    await client.delete(f"/memories/{done['after'][0]['id']}")
    replayed = await client.post(f"/assemblies/{first['id']}/replay")
    assert replayed.status_code == 404 or "green" not in replayed.json()["prompt"]


@pytest.mark.parametrize(
    "again", [{"text": "I live in Rome."}, {"text": "i live in rome"}, {"text": "My home city is Rome."}]
)
async def test_what_was_taken_back_does_not_return(client, again):
    """contra-10: whatever writes it, in the same words or as the same claim."""
    await remember(client, "I live in Rome.")
    await correct(client, said="I live in Turin, not in Rome.")
    written = await remember(client, **again)
    if written["claim"] is not None or again["text"].casefold().startswith("i live in rome"):
        assert (written["status"], written["reason"]) == ("superseded", "refused")
    batch = await client.post("/memories/batch", json={"space": SPACE, "entries": [{"text": "I live in Rome."}]})
    assert batch.json()["items"][0]["entry"]["status"] == "superseded"
    assert "I live in Turin." in await texts(client)
    assert "I live in Rome." not in await texts(client)


async def test_what_began_later_is_no_repetition(client):
    await remember(client, "I live in Rome.")
    await correct(client, said="I live in Turin, not in Rome.")
    moved = await remember(client, "I moved, I live in Rome now.")
    assert moved["status"] == "active"
    assert await texts(client) == ["I moved, I live in Rome now."]
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    await correct(client, said="I live in Turin, not in Rome.")
    assert (await remember(client, "I live in Rome.", valid_from=later))["status"] == "active"


async def test_a_correction_may_bring_back_what_one_took_back(client):
    await remember(client, "I live in Rome.")
    await correct(client, said="I live in Turin, not in Rome.")
    await correct(client, said="No, I live in Rome, not in Turin.")
    assert await texts(client) == ["I live in Rome."]
    assert (await remember(client, "I live in Turin."))["status"] == "superseded"


async def test_an_older_statement_that_comes_late_does_not_replace_a_correction(client):
    """contra-10: the order of arrival is not the order of truth."""
    await remember(client, "I live in Rome.")
    await correct(client, said="I live in Turin, not in Rome.")
    late = await remember(client, "I live in Milan.", valid_from="2020-01-01T00:00:00Z")
    assert late["status"] == "superseded"
    assert await texts(client) == ["I live in Turin."]


async def test_two_corrections_of_the_same_time_are_unresolved(client):
    at = "2026-01-01T00:00:00Z"
    await correct(client, subject="Mira", attribute="eye colour", value="green", valid_from=at)
    done = await correct(client, subject="Mira", attribute="eye colour", value="grey", valid_from=at)
    assert done["outcome"] == "unresolved"
    assert "Nothing decides" in done["told"]
    assert [entry["unresolved"] for entry in done["after"]] == [True, True]


async def test_a_repeated_request_corrects_once(client):
    await remember(client, "Mira's eyes are blue.")
    key = {"Idempotency-Key": "once"}
    one = await correct(client, said="Not blue but green.", headers=key)
    other = await correct(client, said="Not blue but green.", headers=key)
    assert one["id"] == other["id"]
    assert len((await client.get("/corrections", params={"space": SPACE})).json()["items"]) == 1
    await client.post("/forget", json={"space": SPACE, "ids": [one["after"][0]["id"]]})
    again = {"space": SPACE, "said": "Not blue but green."}
    assert (await client.post("/corrections", json=again, headers=key)).status_code == 409


async def test_a_question_is_erased_with_what_came_of_it(client):
    """del-06: a long text is quoted in part; the question goes all the same."""
    long = "The tower of the quincunx " + "is very, very old and " * 12 + "full of bats."
    asked = await correct(client, said=f"In this scene: {long}", scopes=["chat:x"])
    assert asked["outcome"] == "unresolved"
    asked = await correct(client, subject="Mira", attribute="home", value="tower", text=long, scopes=["story:au1"])
    done = (await client.post(f"/clarifications/{asked['id']}", json={"choice": "story:au1"})).json()
    await client.post("/forget", json={"space": SPACE, "ids": [done["after"][0]["id"]]})
    listed = (await client.get("/corrections", params={"space": SPACE})).text
    assert "quincunx" not in listed


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"said": " "},
        {"said": "x", "text": "y"},
        {"said": "x", "id": "mem_x"},
        {"content": "x"},
        {"subject": "Mira", "value": "green"},
        {"said": "a\x00b"},
        {"said": "x" * 20_001},
        {"said": "x", "scope": "nowhere:1"},
        {"said": "x", "valid_from": "2026-01-01T00:00:00"},
        {"said": "x", "sayd": "y"},
        {"said": "x", "lasting": "yes"},
    ],
)
async def test_what_is_no_correction_is_refused(client, body):
    reply = await client.post("/corrections", json={"space": SPACE, **body})
    assert reply.status_code == 422
    assert reply.json()["errors"]


async def test_a_reader_corrects_nothing(connect, tenant):
    reader = connect(tenant.issue(Role.READER))
    reply = await reader.post("/corrections", json={"space": SPACE, "said": "Not blue but green."})
    assert reply.status_code == 403


@pytest.mark.parametrize(
    ("language", "labels", "place"),
    [
        ("en", ("current", "obsolete"), "in the story “au1”"),
        ("it", ("attuale", "superato"), "nella storia «au1»"),
        ("cs", ("platí", "neplatí"), "v příběhu „au1“"),
    ],
)
async def test_a_person_sees_what_is_remembered_in_plain_words(client, *, language, labels, place):
    """del-06: obsolete entries are labelled, withdrawn ones are not shown."""
    await remember(client, "Mira's eyes are blue.", scope="story:au1", author={"name": "Ana"}, session="s-1")
    await correct(client, said="Not blue but green.", scopes=["story:au1"])
    reply = await client.get(f"/spaces/{SPACE}/memories/view", params={"language": language})
    new, old = reply.json()["items"]
    assert (new["label"], old["label"]) == labels
    assert (new["standing"], old["standing"]) == ("current", "obsolete")
    assert {new["where"], old["where"]} == {place}
    assert "Ana" in old["why"]
    assert "green" in old["why"]
    assert (list(new["actions"]), list(old["actions"])) == (["correct", "move", "forget"], ["forget"])
    only = await client.get(f"/spaces/{SPACE}/memories/view", params={"standing": "obsolete"})
    assert [item["id"] for item in only.json()["items"]] == [old["id"]]
