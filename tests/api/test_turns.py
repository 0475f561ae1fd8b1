"""Turns: stored at once, once, and in the very next prompt of their session."""

import asyncio

import pytest

SPACE = "user:ana"


def said(text, name="Ana", **fields):
    return {"author": {"name": name}, "text": text, **fields}


async def post(client, *texts, reply=None, status=202, **fields):
    where = {} if "stream" in fields else {"space": SPACE}
    messages = fields.pop("messages", None) or [said(text) for text in texts]
    body = {**where, "messages": messages, **({"reply": reply} if reply else {}), **fields}
    answer = await client.post("/turns", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def texts(client, session, space=SPACE):
    found = (await client.get(f"/sessions/{session}/messages", params={"space": space})).json()
    return [message["text"] for message in found["items"]]


async def test_a_turn_is_stored_with_its_reply_and_read_again(client):
    turn = await post(client, "I moved to Turin.", reply="How is it there?", session="s-1")
    assert turn["id"].startswith("trn_")
    assert turn["session"].startswith("ses_")
    assert [(m["role"], m["text"]) for m in turn["messages"]] == [
        ("user", "I moved to Turin."),
        ("assistant", "How is it there?"),
    ]
    assert (await client.get(f"/turns/{turn['id']}")).json() == {**turn, "entries": [], "corrections": []}
    assert await texts(client, "s-1") == ["I moved to Turin.", "How is it there?"]
    assert await texts(client, turn["session"]) == await texts(client, "s-1")


async def test_a_turn_without_a_session_makes_one_up(client):
    one, other = await post(client, "Hello."), await post(client, "Hello again.")
    assert one["session"] != other["session"]
    assert one["session_name"] is None
    again = await post(client, "And again.", session=one["session"])
    assert again["session"] == one["session"]
    assert [m["text"] for m in (await client.get(f"/sessions/{one['session']}/messages")).json()["items"]] == [
        "Hello.",
        "And again.",
    ]


async def test_the_same_turn_again_changes_nothing_and_answers_the_same(client):
    """dup-07: sending the same again succeeds with the same id; other content under that id is a 409."""
    turn = await post(client, "I sail.", id="t-1", session="s")
    await post(client, "I ski.", id="t-2", session="s")
    assert await post(client, "I sail.", id="t-1", session="s") == turn
    refused = await post(client, "I swim.", id="t-1", session="s", status=409)
    assert refused["type"] == "urn:ricordo:problem:conflict"
    assert await texts(client, "s") == ["I sail.", "I ski."]


async def test_a_turn_is_known_by_the_ids_of_its_messages(client):
    messages = [said("Ciao", id="m-1"), said("Come va?", id="m-2")]
    turn = await post(client, messages=messages, session="s")
    assert await post(client, messages=messages, session="s") == turn
    await post(client, messages=[said("Ciao", id="m-1")], session="s", status=409)
    elsewhere = await post(client, messages=messages, session="s", space="user:ben")
    assert elsewhere["id"] != turn["id"]


async def test_twenty_parallel_identical_turns_are_one(client):
    """dup-04: parallel identical writes make one record, and all are acknowledged with its id."""
    answers = await asyncio.gather(*(post(client, "I keep bees.", id="t", session="s") for _ in range(20)))
    assert len({answer["id"] for answer in answers}) == 1
    assert await texts(client, "s") == ["I keep bees."]


async def test_an_idempotency_key_stores_a_turn_once(client):
    body = {"space": SPACE, "session": "s", "messages": [said("Once.")]}
    answers = [await client.post("/turns", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    other = await client.post("/turns", json={**body, "session": "z"}, headers={"Idempotency-Key": "k"})
    assert other.json()["type"] == "urn:ricordo:problem:idempotency-conflict"


async def test_sessions_of_one_name_in_two_spaces_are_two(client):
    await post(client, "Ana's.", session="s")
    await post(client, "Ben's.", session="s", space="user:ben")
    assert await texts(client, "s") == ["Ana's."]
    assert await texts(client, "s", "user:ben") == ["Ben's."]


async def test_a_session_of_another_space_is_refused(client):
    turn = await post(client, "Secret.", session="s")
    for path, body in [
        ("/turns", {"space": "user:ben", "session": turn["session"], "messages": [said("Hi")]}),
        ("/context/assemble", {"space": "user:ben", "session": turn["session"]}),
    ]:
        refused = await client.post(path, json=body)
        assert refused.status_code == 422
        assert "another space" in refused.text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"space": None}, "either a space or a stream"),
        ({"stream": "stream:x"}, "either a space or a stream"),
        ({"space": None, "stream": "user:x"}, "kind stream"),
        ({"messages": []}, "messages"),
        ({"messages": [{"text": " "}]}, "needs a text"),
        ({"messages": [said("x", at="2026-01-31T09:30:00")]}, "time zone"),
        ({"messages": [said("x", mood="good")]}, "not a known field"),
        ({"messages": [said("a\x00b")]}, "NUL"),
        ({"messages": [said("x", id="1"), said("y", id="1")]}, "the same id"),
        ({"messages": [said("x" * 20_001)]}, "20000"),
        ({"messages": [said("x" * 20_000)] * 6}, "100000"),
        ({"messages": [{"text": "x", "author": {"platform": "a:b", "id": "1"}}]}, "':'"),
        ({"messages": [said("x", role="owner")]}, "role"),
        ({"session": ""}, "session"),
        ({"reply": {"text": ""}}, "reply"),
    ],
)
async def test_what_breaks_a_rule_is_refused_by_name(client, change, says):
    """time-04: a time without a zone is refused, never a 500."""
    body = {"space": SPACE, "messages": [said("x")], **change}
    refused = await client.post("/turns", json=body)
    assert refused.status_code == 422
    assert says in refused.text


async def test_a_lone_surrogate_is_refused(client):
    raw = b'{"space": "user:ana", "messages": [{"text": "\\ud800"}]}'
    assert (await client.post("/turns", content=raw)).status_code in (400, 422)


async def test_the_next_assembly_of_the_session_sees_the_message(client):
    """fresh-02: what was said a moment ago counts, processed or not."""
    await client.post("/memories", json={"space": SPACE, "text": "I live in Rome."})
    ask = {"space": SPACE, "query": "Where do I live?", "timeout_ms": 30_000, "session": "s"}
    before = (await client.post("/context/assemble", json=ask)).json()
    assert "Rome" in before["prompt"]
    await post(client, "I live in Turin now.", session="s")
    after = (await client.post("/context/assemble", json=ask)).json()
    assert "Rome" not in after["prompt"]
    assert after["dropped_counts"]["contradicted_by_history"] == 1
    elsewhere = (await client.post("/context/assemble", json={**ask, "session": "another"})).json()
    assert "Rome" in elsewhere["prompt"]


async def test_session_and_history_exclude_each_other(client):
    refused = await client.post(
        "/context/assemble", json={"space": SPACE, "session": "s", "history": [{"text": "Hello"}]}
    )
    assert refused.status_code == 422
    assert "exclude each other" in refused.text
