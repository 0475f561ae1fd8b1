"""A question about a correction or a wish is answered in plain words, by whoever was asked, in the next turn."""

import pytest
from test_turn_memories import texts
from test_turn_work import ANA, BEN
from test_turns import SPACE, post
from test_wishes import ANAS, STREAM, corrections
from test_wishes import work as work  # noqa: PLC0414 - a fixture

FORGET = "Forget everything I told you about my boat."
FACTS = ("My boat is called Elsa", "My boat is blue")


async def asked(client, work):
    """Two facts about a boat, and the question which of them is to be forgotten."""
    for text in FACTS:
        await client.post("/memories", json={"space": SPACE, "text": text})
    turn = await post(client, FORGET, session="s", reply="Which of these do you mean?")
    await work()
    (question,) = await corrections(client, turn)
    assert question["outcome"] == "needs_clarification"
    return turn, question


async def said(client, work, text, **fields):
    turn = await post(client, text, session=fields.pop("session", "s"), **fields)
    await work()
    return turn


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("The one about Elsa.", ["My boat is blue"]),
        ("All of them, please.", []),
        ("Nothing.", ["My boat is blue", "My boat is called Elsa"]),
        ("Nice weather today.", ["My boat is blue", "My boat is called Elsa"]),
    ],
)
async def test_what_is_to_be_forgotten_is_answered_in_the_next_turn(client, work, answer, left):
    await asked(client, work)
    await said(client, work, answer)
    assert sorted(await texts(client)) == left
    open_ones = (await client.get("/corrections", params={"space": SPACE, "open": "true"})).json()["items"]
    assert len(open_ones) == (1 if "weather" in answer else 0)


@pytest.mark.parametrize(
    ("answer", "scope"),
    [("Everywhere.", ""), ("Only in this story.", "story:au1"), ("Solo in questa storia", "story:au1")],
)
async def test_where_it_holds_is_answered_in_the_next_turn(client, work, answer, scope):
    await client.post("/memories", json={"space": SPACE, "text": "Mira's eyes are blue."})
    turn = await said(client, work, "Mira's eyes are green, not blue.", scope="story:au1")
    assert [one["outcome"] for one in await corrections(client, turn)] == ["needs_clarification"]
    await said(client, work, answer)
    items = (await client.get("/memories", params={"space": SPACE})).json()["items"]
    assert [item["scope"] for item in items if "green" in item["text"]] == [scope]
    assert [one["outcome"] for one in await corrections(client, turn)] == ["needs_clarification", "applied"]


async def test_a_later_turn_and_another_session_answer_nothing(client, work):
    await asked(client, work)
    await said(client, work, "The one about Elsa.", session="another")
    await said(client, work, "Let me think.")
    await said(client, work, "The one about Elsa.")
    assert len(await texts(client)) == 2


async def test_a_repeated_answer_is_taken_once(client, work):
    await asked(client, work)
    await said(client, work, "The one about Elsa.")
    await said(client, work, "The one about blue.")
    assert await texts(client) == ["My boat is blue"]


async def test_only_whoever_was_asked_answers(client, work):
    """In a stream others speak in the same turn; the question is about one viewer's memory."""
    live = {"stream": STREAM, "session": "live"}
    for text in FACTS:
        await client.post("/memories", json={"space": ANAS, "text": text})
    await post(client, messages=[{"author": ANA, "text": FORGET}], **live)
    await work()
    await post(client, messages=[{"author": BEN, "text": "All of them, please."}], **live)
    await work()
    assert len(await texts(client, ANAS)) == 2


async def test_the_viewer_who_was_asked_answers(client, work):
    live = {"stream": STREAM, "session": "live"}
    for text in FACTS:
        await client.post("/memories", json={"space": ANAS, "text": text})
    await post(client, messages=[{"author": ANA, "text": FORGET}], **live)
    await work()
    both = [{"author": BEN, "text": "The one about Elsa."}, {"author": ANA, "text": "The one about blue."}]
    await post(client, messages=both, **live)
    await work()
    assert await texts(client, ANAS) == ["My boat is called Elsa"]
