"""Conversations: closed by a silence or by the session's end, summarised, and found with their dates."""

import psycopg
import pytest
from test_turn_work import episodes
from test_turns import SPACE, post, said

from app.domain.callers import Role
from app.store.keys import tenant_id_of


@pytest.fixture
def work(runtime):
    return runtime.queue.drain


async def talk(client, at, *texts, session="s"):
    return await post(client, messages=[said(text, at=at) for text in texts], session=session)


async def conversations(client, session="s"):
    answer = await client.get(f"/sessions/{session}", params={"space": SPACE})
    return answer.json()["conversations"]


async def summaries(client):
    return [e for e in await episodes(client, SPACE) if "conversation" in e["tags"]]


async def test_a_silence_of_half_an_hour_ends_a_conversation(client, work):
    await talk(client, "2026-01-05T10:00:00Z", "My sister Nora got a job in Prague.")
    await talk(client, "2026-01-05T10:29:59Z", "She starts in May.")
    assert len(await conversations(client)) == 1
    await talk(client, "2026-01-05T10:59:59Z", "Anyway, what about lunch?")
    later, first = await conversations(client)
    assert (first["started_at"], first["last_at"]) == ("2026-01-05T10:00:00.000000Z", "2026-01-05T10:29:59.000000Z")
    assert first["closed_at"] is not None
    assert later["closed_at"] is None
    await work()
    (episode,) = await summaries(client)
    assert episode["occurred_at"] == "2026-01-05T10:00:00.000000Z"
    assert "Nora" in episode["text"]
    assert "lunch" not in episode["text"]
    _, told = await conversations(client)
    assert told["episode"] == episode["id"]
    assert told["summary"]["places"] == ["Prague"]
    assert told["summary"]["people"] == ["Ana", "Nora"]


async def test_the_end_of_a_session_closes_its_conversation_and_the_next_turn_begins_another(client, work):
    await talk(client, "2026-01-05T10:00:00Z", "I love my new bike, it is wonderful.")
    ended = await client.post("/sessions/s/end", params={"space": SPACE})
    assert ended.json()["closed"] == 1
    assert (await client.post("/sessions/s/end", params={"space": SPACE})).json()["closed"] == 0
    await work()
    (told,) = await conversations(client)
    assert told["summary"]["sentiment"] == "positive"
    await talk(client, "2026-01-05T10:01:00Z", "One more thing.")
    assert len(await conversations(client)) == 2


async def test_a_session_that_falls_silent_is_closed_by_maintenance(client, runtime, tenant, work, database_url):
    turn = await talk(client, "2026-01-05T10:00:00Z", "The bakery closes on Mondays.")
    assert await runtime.maintenance.close_silent(tenant_id_of(tenant.name)) == 0
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        silent = "UPDATE conversations SET recorded_at = now() - interval '31 minutes' WHERE tenant_id = %s"
        await connection.execute(silent, (tenant_id_of(tenant.name),))
    assert await runtime.maintenance.close_silent(tenant_id_of(tenant.name)) == 1
    assert await runtime.maintenance.close_silent(tenant_id_of(tenant.name)) == 0
    await work()
    (told,) = await conversations(client)
    assert told["id"] == turn["conversation"]
    assert "bakery" in told["summary"]["text"]


async def test_what_we_said_about_something_last_week_is_found_with_its_date(client, work):
    for day, subject in (
        (5, "the leaking roof of the barn"),
        (12, "the roof garden of the museum"),
        (13, "a new stove"),
    ):
        await talk(client, f"2026-01-{day:02}T10:00:00Z", f"Let us talk about {subject}.", "It needs some thought.")
        await client.post("/sessions/s/end", params={"space": SPACE})
    await work()
    asked = {
        "space": SPACE,
        "query": "What did we say about the roof?",
        "tiers": ["episodes"],
        "tags": ["conversation"],
        "from": "2026-01-12T00:00:00Z",
        "to": "2026-01-19T00:00:00Z",
    }
    best = (await client.post("/search", json=asked)).json()["items"][0]
    assert "museum" in best["text"]
    assert "2026-01-12 10:00" in best["text"]
    assert best["occurred_at"] == "2026-01-12T10:00:00.000000Z"
    assert best["participants"] == ["Ana"]


async def test_a_deleted_message_leaves_the_summary_too(client, work):
    turn = await talk(client, "2026-01-05T10:00:00Z", "The code of the safe is 4471.", "We should buy bread.")
    await client.post("/sessions/s/end", params={"space": SPACE})
    await work()
    assert "4471" in (await summaries(client))[0]["text"]
    await client.delete(f"/messages/{turn['messages'][0]['id']}")
    await work()
    (episode,) = await summaries(client)
    (told,) = await conversations(client)
    versions = (await client.get(f"/episodes/{episode['id']}/versions")).json()
    assert "bread" in episode["text"]
    assert "4471" not in str((episode, told, versions))


async def test_a_session_is_taken_back_as_a_whole(client, work):
    await talk(client, "2026-01-05T10:00:00Z", "Forget all this.")
    await talk(client, "2026-01-05T10:50:00Z", "And all this.")
    await talk(client, "2026-01-05T10:00:00Z", "Keep this.", session="other")
    await client.post("/sessions/s/end", params={"space": SPACE})
    await work()
    erased = await client.delete("/sessions/s", params={"space": SPACE})
    assert erased.json()["messages"] == 2
    await work()
    assert [e["text"] for e in await episodes(client, SPACE)] == ["Ana: Keep this."]
    assert (await client.get("/sessions/s/messages", params={"space": SPACE})).json()["items"] == []
    assert [told["summary"] for told in await conversations(client)] == [None, None]
    listed = (await client.get("/sessions", params={"space": SPACE})).json()["items"]
    assert {session["name"]: session["latest"] for session in listed} == {"s": None, "other": "Keep this."}


async def test_sessions_are_listed_latest_first_page_by_page(client):
    for n in (1, 2, 3):
        await talk(client, f"2026-01-0{n}T10:00:00Z", "Hello.", session=f"s-{n}")
    page = (await client.get("/sessions", params={"space": SPACE, "limit": 2})).json()
    rest = (await client.get("/sessions", params={"space": SPACE, "cursor": page["next_cursor"]})).json()
    assert [s["name"] for s in (*page["items"], *rest["items"])] == ["s-3", "s-2", "s-1"]
    assert rest["next_cursor"] is None
    assert (page["items"][0]["messages"], page["items"][0]["latest"]) == (1, "Hello.")
    refused = await client.get("/sessions", params={"space": SPACE, "cursor": "c29tZXRoaW5n"})
    assert refused.status_code == 422


async def test_sessions_of_a_while_are_those_that_went_on_then(client):
    for n in (1, 2, 3):
        await talk(client, f"2026-01-0{n}T10:00:00Z", "Hello.", session=f"s-{n}")
    await talk(client, "2026-01-03T09:00:00Z", "Back again.", session="s-1")

    async def names(**params):
        page = (await client.get("/sessions", params={"space": SPACE, **params})).json()
        return [session["name"] for session in page["items"]]

    assert await names(**{"from": "2026-01-02T12:00:00Z"}) == ["s-3", "s-1"]
    assert await names(to="2026-01-02T10:00:00Z") == ["s-1"]
    assert await names(**{"from": "2026-01-02T00:00:00Z", "to": "2026-01-03T00:00:00Z"}) == ["s-1", "s-2"]
    refused = await client.get("/sessions", params={"space": SPACE, "from": "2026-01-02T00:00:00Z", "to": "2026-01-01"})
    assert refused.status_code == 422


async def test_messages_of_an_author_are_found_by_name_or_id_exactly(client, work):
    said_by = [{"author": {"id": "u1", "name": "Ana"}, "text": "I row."}, {"author": {"name": "ana"}, "text": "I row!"}]
    await post(client, messages=said_by, session="s")
    await work()
    for author, expected in (("Ana", ["I row."]), ("u1", ["I row."]), ("ana", ["I row!"]), ("Nobody", [])):
        for query in ({}, {"query": "row"}):
            found = await client.get("/messages", params={"space": SPACE, "author": author, **query})
            assert [message["text"] for message in found.json()["items"]] == expected, (author, query)


async def test_jobs_of_some_turns_are_listed_within_reach_of_the_key(client, tenant, connect, work):
    first, other = [await talk(client, "2026-01-05T10:00:00Z", text) for text in ("Hello.", "Hello again.")]
    await talk(client, "2026-01-05T10:00:00Z", "Something else.")
    asked = {"subject": [first["id"], other["id"]]}
    found = (await client.get("/jobs", params=asked)).json()["items"]
    assert [(job["subject"], job["task"]) for job in found].count((first["id"], "memories")) == 1
    assert {job["subject"] for job in found} == {first["id"], other["id"]}
    page = (await client.get("/jobs", params={**asked, "limit": 4})).json()
    rest = (await client.get("/jobs", params={**asked, "limit": 4, "cursor": page["next_cursor"]})).json()
    assert [job["id"] for job in page["items"] + rest["items"]] == [job["id"] for job in found]
    assert (await client.get("/jobs", params={**asked, "state": "failed"})).json()["items"] == []
    elsewhere = connect(tenant.issue(Role.READER, ("user:other",)))
    assert (await elsewhere.get("/jobs", params=asked)).json()["items"] == []
    for wrong in ("x", first["messages"][0]["id"], "trn_\x00"):
        assert (await client.get("/jobs", params={"subject": wrong})).status_code == 422, wrong


async def test_a_session_by_a_name_alone_is_not_found_and_the_answer_says_what_is_missing(client):
    answer = await client.get("/sessions/s/messages")
    assert answer.status_code == 404
    assert "name its space" in answer.json()["detail"]


async def test_jobs_tell_what_was_done_for_whom(client, work):
    turn = await talk(client, "2026-01-05T10:00:00Z", "Hello.")
    waiting = (await client.get("/jobs", params={"space": SPACE})).json()["items"]
    assert {(j["task"], j["state"], j["attempts"]) for j in waiting} == {
        ("history", "waiting", 0),
        ("episode", "waiting", 0),
        ("memories", "waiting", 0),
    }
    assert {j["subject"] for j in waiting} == {turn["id"]}
    await work()
    done = (await client.get("/jobs", params={"state": "succeeded", "limit": 1})).json()
    assert done["next_cursor"] is not None
    (job,) = done["items"]
    assert (await client.get(f"/jobs/{job['id']}")).json() == {**job, "corrections": []}
    refused = await client.post(f"/jobs/{job['id']}/retry")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:ricordo:problem:conflict")
