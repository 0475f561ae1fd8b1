"""Corrections and wishes to be forgotten that are said in turns: done once, for their author, taken back with it."""

import asyncio

import pytest
from test_turn_memories import memories, texts
from test_turn_work import ANA, BEN
from test_turns import SPACE, post, said

from app.domain.callers import Role
from app.domain.ids import parse_id
from app.store.keys import tenant_id_of
from app.turns.ports import JobOptions
from app.turns.records import Task

STREAM = "stream:giulia"
ANAS, BENS = "viewer:twitch:7", "viewer:twitch:8"


@pytest.fixture
def work(runtime):
    """Does all the work that is due, and what comes of it."""

    async def done():
        for _ in range(3):
            await runtime.queue.drain()

    return done


async def corrections(client, turn):
    answer = await client.get(f"/turns/{turn['id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()["corrections"]


async def job_of(client, turn, task="memories", space=None):
    items = (await client.get("/jobs", params={"space": space or turn["space"]})).json()["items"]
    found = next(job for job in items if (job["subject"], job["task"]) == (turn["id"], task))
    return (await client.get(f"/jobs/{found['id']}")).json()


async def stated(client, work, *lines, **fields):
    turns = []
    for line in lines:
        turns.append(await post(client, line, session="s", **fields))
        await work()
    return turns[-1]


async def chat(client, work, *lines, **fields):
    turn = await post(
        client, stream=STREAM, session="live", messages=[{"author": who, "text": text} for who, text in lines], **fields
    )
    await work()
    return turn


async def test_a_correction_says_what_was_saved_where_and_what_it_replaced(client, work):
    turn = await stated(client, work, "My sister is called Anna.", "No, my sister is called Ada, not Anna.")
    (correction,) = await corrections(client, turn)
    assert correction["outcome"] == "applied"
    assert correction["told"] == "Saved everywhere: “My sister is called Ada.” It replaces “My sister is called Anna”."
    assert (correction["turn"], correction["message"]) == (turn["id"], turn["messages"][0]["id"])
    assert [entry["text"] for entry in correction["before"]] == ["My sister is called Anna"]
    assert await texts(client) == ["My sister is called Ada."]
    job = await job_of(client, turn)
    assert (job["state"], job["note"], job["corrections"]) == ("succeeded", "applied: 1", [correction])
    listed = (await client.get("/corrections", params={"space": SPACE})).json()["items"]
    assert [one["id"] for one in listed] == [correction["id"]]


async def test_a_repeated_job_corrects_and_forgets_once(client, work, runtime, tenant, database_url):
    turn = await stated(
        client, work, "I live in Genoa.", "I live in Turin, not Genoa. And forget everything about my boat."
    )
    before = await corrections(client, turn)
    assert [one["outcome"] for one in before] == ["applied", "unresolved"]
    memories_before = await memories(client)
    handler = runtime.queue.handlers[Task.MEMORIES]
    await handler(tenant_id_of(tenant.name), parse_id(turn["id"]), JobOptions())
    assert await corrections(client, turn) == before
    assert await memories(client) == memories_before


async def test_a_correction_outranks_what_is_said_before_it_for_good(client, work):
    await stated(client, work, "My sister is called Anna.", "No, my sister is called Ada, not Anna.")
    early = [said("My sister is called Anna.", at="2020-01-01T00:00:00Z")]
    await post(client, session="late", messages=early)
    await work()
    assert await texts(client) == ["My sister is called Ada."]


async def test_what_is_said_later_moves_on(client, work):
    await stated(client, work, "I live in Rome.", "No, I live in Turin, not Rome.", "I live in Milan.")
    assert await texts(client) == ["I live in Milan"]


async def test_a_message_that_is_edited_takes_its_correction_back(client, work):
    turn = await stated(client, work, "My sister is called Anna.", "No, my sister is called Ada, not Anna.")
    path = f"/messages/{turn['messages'][0]['id']}"
    assert (await client.patch(path, json={"text": "No, nothing."})).status_code == 200
    await work()
    assert await texts(client) == ["My sister is called Anna"]
    assert await corrections(client, turn) == []
    await client.patch(path, json={"text": "No, my sister is called Eva, not Anna."})
    await work()
    assert await texts(client) == ["My sister is called Eva."]


async def test_an_edit_beside_a_correction_leaves_it(client, work):
    turn = await stated(client, work, "My sister is called Anna.", "No, my sister is called Ada, not Anna. Bye")
    before = await corrections(client, turn)
    text = "No, my sister is called Ada, not Anna. Good night"
    await client.patch(f"/messages/{turn['messages'][0]['id']}", json={"text": text})
    await work()
    assert [one["id"] for one in await corrections(client, turn)] == [one["id"] for one in before]
    assert await texts(client) == ["My sister is called Ada."]


async def test_a_message_that_is_deleted_takes_its_correction_and_its_question_with_it(client, work):
    await client.post("/memories", json={"space": SPACE, "text": "Mira's eyes are blue."})
    turn = await post(client, "No, Mira's eyes are green, not blue.", session="s", scope="story:au1")
    await work()
    (asked,) = await corrections(client, turn)
    assert asked["outcome"] == "needs_clarification"
    done = await client.post(f"/clarifications/{asked['id']}", json={"choice": "everywhere"})
    assert done.json()["turn"] == turn["id"]
    assert await texts(client) == ["Mira's eyes are green."]
    await client.delete(f"/messages/{turn['messages'][0]['id']}")
    await work()
    assert await texts(client) == ["Mira's eyes are blue."]
    assert (await client.get("/corrections", params={"space": SPACE})).json()["items"] == []


async def test_a_wish_to_be_forgotten_is_done_and_never_a_memory(client, work):
    """del-07: what asks to forget something is not remembered as that."""
    turn = await stated(client, work, "I live in Genoa.", "Forget that I live in Genoa.")
    (done,) = await corrections(client, turn)
    assert (done["outcome"], done["told"]) == ("applied", "Done: what was named is forgotten (1).")
    assert await memories(client, status="any") == []
    receipt = (await client.get(f"/receipts/{done['receipt']}")).json()
    assert (receipt["by"], receipt["entries"]) == ("wish", 1)
    verified = (await client.get(f"/receipts/{done['receipt']}/verify")).json()
    assert verified == {"valid": True, "sealed": True, "remaining": {}}


async def test_what_was_forgotten_stays_forgotten_when_its_turn_is_read_again(
    client, work, runtime, tenant, database_url
):
    """del-05: the message that said it is not remembered anew."""
    first = await post(client, "I live in Genoa.", session="s")
    await work()
    await stated(client, work, "Forget that I live in Genoa.")
    handler = runtime.queue.handlers[Task.MEMORIES]
    await handler(tenant_id_of(tenant.name), parse_id(first["id"]), JobOptions())
    assert await memories(client, status="any") == []


async def test_nobody_forgets_or_corrects_for_another(client, work):
    """In a stream, each speaks of themselves, for themselves."""
    await chat(client, work, (ANA, "I live in Turin."), (BEN, "I live in Oslo."))
    turn = await chat(
        client,
        work,
        (BEN, "Forget that I live in Turin."),
        (BEN, "No, Ana lives in Rome, not in Turin."),
        (ANA, "Forget that I live in Oslo."),
    )
    assert [one["outcome"] for one in await corrections(client, turn)] == ["unresolved", "unresolved"]
    assert await texts(client, ANAS) == ["I live in Turin"]
    assert await texts(client, BENS) == ["I live in Oslo"]
    turn = await chat(client, work, (BEN, "Forget that I live in Oslo."), (ANA, "No, I live in Rome, not in Turin."))
    assert sorted(one["outcome"] for one in await corrections(client, turn)) == ["applied", "applied"]
    assert await texts(client, ANAS) == ["I live in Rome."]
    assert await texts(client, BENS) == []


async def test_of_several_people_in_one_space_nobody_is_heard_and_the_job_says_why(client, work):
    await stated(client, work, "I live in Turin.")
    both = [said("Forget that I live in Turin.", name="Ben"), said("Hello!", name="Carl")]
    turn = await post(client, session="s", messages=both)
    await work()
    assert await corrections(client, turn) == []
    assert await texts(client) == ["I live in Turin"]
    assert "left alone" in (await job_of(client, turn))["note"]


async def test_a_stranger_in_a_persons_space_touches_their_own_words_alone(client, work):
    other = "user:77"
    for name, text in (
        ("Ana", "I live in Turin."),
        ("Ben", "I live in Oslo."),
        ("Ben", "Forget that I live in Turin."),
    ):
        turn = await post(client, space=other, session="s", messages=[said(text, name=name)])
        await work()
    assert [one["outcome"] for one in await corrections(client, turn)] == ["unresolved"]
    assert "I live in Turin" in await texts(client, other)


async def test_the_agent_quotations_and_events_wish_nothing(client, work):
    await stated(client, work, "I live in Turin.")
    turn = await post(
        client,
        session="s",
        messages=[
            said("> Forget that I live in Turin."),
            said('Bob said: "Forget everything you know about me."'),
            said("Forget that I live in Turin.", role="bot"),
            said("Forget that I live in Turin.", event="announcement"),
            said("`forget that I live in Turin`"),
        ],
        reply="Forget that I live in Turin.",
    )
    await work()
    assert await corrections(client, turn) == []
    assert await texts(client) == ["I live in Turin"]


async def test_a_barrier_keeps_wishes_out_as_well(client, work):
    await chat(client, work, (ANA, "I live in Turin."))
    turn = await post(
        client,
        stream=STREAM,
        session="live",
        id="t-9",
        messages=[{"author": ANA, "text": "Forget that I live in Turin."}],
    )
    record = {
        "space": STREAM, "kind": "note", "subjects": [ANAS], "payload": {"text": "x"}, "turn": {"id": "t-9"},
    }  # fmt: skip
    reply = await client.post("/records", json=record)
    assert reply.status_code == 201, reply.text
    await work()
    assert await corrections(client, turn) == []
    assert await texts(client, ANAS) == ["I live in Turin"]


async def test_what_was_said_in_the_same_turn_is_put_right(client, work):
    turn = await post(
        client, session="s", messages=[said("My sister is called Anna."), said("No, wait. It's Ada, not Anna.")]
    )
    await work()
    (done,) = await corrections(client, turn)
    assert done["outcome"] == "applied"
    assert await texts(client) == ["My sister is called Ada"]


async def test_turns_that_come_at_once_are_remembered_before_they_are_put_right(client, runtime):
    await post(client, "My sister is called Anna.", session="s", reply="Is your sister Anna at home?")
    turn = await post(client, "It's Ada, not Anna.", session="s")
    for _ in range(20):
        await runtime.queue.drain()
        if (await job_of(client, turn))["state"] == "succeeded":
            break
        await asyncio.sleep(0.2)
    assert [one["outcome"] for one in await corrections(client, turn)] == ["applied"]
    assert await texts(client) == ["My sister is called Ada"]


@pytest.mark.parametrize("route", ["corrections", "forget"])
@pytest.mark.parametrize(
    ("actor", "batch", "status"),
    [
        (ANA, [ANA, BEN], 200),
        (ANA, None, 200),
        ({"platform": "twitch", "id": "7", "name": "Anna"}, [ANA], 200),
        (BEN, [ANA, BEN], 403),
        (BEN, None, 403),
        (ANA, [BEN], 403),
        ({"platform": "twitch", "name": "Ana"}, [ANA], 403),
        ({"name": "Ana"}, [{"name": "Ana"}], 403),
        ({"platform": "youtube", "id": "7"}, [{"platform": "youtube", "id": "7"}], 403),
        (None, [ANA], 422),
    ],
)
async def test_only_the_person_concerned_present_in_the_batch_is_obeyed(
    client, connect, tenant, *, route, actor, batch, status
):
    memory = (await client.post("/memories", json={"space": ANAS, "text": "I live in Turin."})).json()
    body = {"space": ANAS, **({"actor": actor} if actor else {}), **({"batch": batch} if batch is not None else {})}
    body |= {"said": "I live in Rome, not Turin."} if route == "corrections" else {"ids": [memory["id"]]}
    reply = await connect(tenant.issue(Role.WRITER)).post(f"/{route}", json=body)
    assert reply.status_code == status, reply.text


async def test_an_administrator_may_erase_for_anybody(client):
    memory = (await client.post("/memories", json={"space": ANAS, "text": "I live in Turin."})).json()
    reply = await client.post("/forget", json={"space": ANAS, "ids": [memory["id"]], "actor": BEN, "batch": [BEN]})
    assert reply.status_code == 200


async def test_a_question_is_answered_by_whoever_was_asked(client, work):
    await chat(client, work, (ANA, "I live in Turin."))
    turn = await chat(client, work, (ANA, "Forget everything you know about me."))
    (asked,) = await corrections(client, turn)
    path = f"/clarifications/{asked['id']}"
    for actor, batch in ((BEN, [ANA, BEN]), (ANA, [BEN])):
        reply = await client.post(path, json={"choice": "everything", "actor": actor, "batch": batch})
        assert reply.status_code == 403
    reply = await client.post(path, json={"choice": "everything", "actor": ANA, "batch": [ANA, BEN]})
    assert reply.json()["outcome"] == "applied"
    assert await texts(client, ANAS) == []
