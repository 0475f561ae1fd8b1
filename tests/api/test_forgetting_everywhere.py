"""What is forgotten is nowhere: neither said nor remembered, summarised, indexed, logged, or asked about."""

import psycopg
import pytest
from test_forgetting import found_in
from test_turn_work import ANA, BEN
from test_turns import post, said

from app.domain.callers import Role
from app.domain.ids import parse_id
from app.store.keys import tenant_id_of
from app.turns.ports import JobOptions
from app.turns.records import Task

OWN, STREAM, VIEWER = "user:ana", "stream:giulia", "viewer:twitch:7"
WORD = "Zyrgonia"
FACT = f"I live in {WORD}"


@pytest.fixture
def work(runtime):
    """Does all the work that is due, and what comes of it."""

    async def done():
        for _ in range(4):
            await runtime.queue.drain()

    return done


async def done_everything(client, work):
    """Everything that may leave a trace of what one person says in a space of their own, and in a stream."""
    first = await post(client, f"Hello! {FACT}. I have two dogs.", session="s", reply="Nice to meet you.")
    await work()
    await post(client, f"Yes, {FACT.lower()}, as I said.", session="s", reply="I see.")
    await work()
    await assemble(client, f"Do you know? {FACT}", session="s")
    await assemble(client, "Where do I live?", history=[{"text": f"{FACT}, you know."}])
    memory = await memory_of(client, OWN)
    await client.patch(f"/memories/{memory['id']}", json={"tags": ["home"], "text": f"{FACT}, by the sea."})
    await client.post(f"/memories/{memory['id']}/undo")
    asked = {"said": f"In this scene: {FACT}.", "scopes": ["story:au1"]}
    await client.post("/corrections", json={"space": OWN, **asked}, headers={"Idempotency-Key": "asked"})
    await client.post(f"/sessions/{first['session']}/end")
    await work()
    await client.get("/assemblies", params={"space": OWN})
    return first, memory


async def memory_of(client, space, status="active"):
    items = (await client.get("/memories", params={"space": space, "status": status})).json()["items"]
    return next(item for item in items if WORD in item["text"])


async def assemble(client, query, space=OWN, **fields):
    body = {"space": space, "query": query, "timeout_ms": 30_000, **fields}
    reply = await client.post("/context/assemble", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def forget(client, space, **selector):
    reply = await client.post("/forget", json={"space": space, **selector})
    assert reply.status_code == 200, reply.text
    return reply.json()


async def verified(client, receipt):
    return (await client.get(f"/receipts/{receipt['id']}/verify")).json()


async def come_back(client, runtime, tenant, turn):
    """Everything that may bring something back: work done again, consolidation, replays."""
    for task in (Task.HISTORY, Task.EPISODE, Task.MEMORIES):
        await runtime.queue.handlers[task](tenant_id_of(tenant.name), parse_id(turn["id"]), JobOptions())
    consolidated = await client.post(f"/spaces/{OWN}/consolidate")
    assert consolidated.status_code < 300, consolidated.text
    for item in (await client.get("/assemblies", params={"space": OWN})).json()["items"]:
        await client.post(f"/assemblies/{item['id']}/replay")


@pytest.mark.parametrize("how", ["id", "content", "turn", "session", "time", "wish", "space"])
async def test_nothing_is_left_of_it_anywhere(client, work, runtime, tenant, database_url, *, how):
    """del-01, del-04, del-05, del-06: in no table, whatever is done afterwards; the receipt verifies."""
    turn, memory = await done_everything(client, work)
    assert {"public.messages", "public.entry_versions", "public.memory_evidence", "public.assemblies"} <= set(
        found_in(database_url, WORD)
    )
    match how:
        case "id":
            receipt = (await forget(client, OWN, ids=[memory["id"]]))["receipt"]
        case "content":
            receipt = (await forget(client, OWN, content=FACT))["receipt"]
        case "turn":
            second = (await client.get("/messages", params={"space": OWN, "query": "as I said"})).json()["items"][0]
            await forget(client, OWN, turn=second["turn"])
            await work()
            receipt = (await forget(client, OWN, turn=turn["id"]))["receipt"]
        case "session":
            asked = {"space": OWN, "session": turn["session"], "dry_run": True}
            before = (await client.post("/forget", json=asked)).json()["receipt"]
            receipt = (await forget(client, OWN, session="s"))["receipt"]
            assert (receipt["ids"], receipt["removed"], receipt["by"]) == (before["ids"], before["removed"], "session")
        case "time":
            receipt = (await forget(client, OWN, since="2020-01-01T00:00:00Z"))["receipt"]
        case "wish":
            wish = await post(client, f"Please forget that {FACT}!", session="s")
            await work()
            (told,) = (await client.get(f"/turns/{wish['id']}")).json()["corrections"]
            receipt = (await client.get(f"/receipts/{told['receipt']}")).json()
        case _:
            receipt = (await client.delete(f"/spaces/{OWN}")).json()
    await work()
    assert found_in(database_url, WORD) + found_in(database_url, WORD.lower()) == []
    await come_back(client, runtime, tenant, turn)
    await work()
    assert found_in(database_url, WORD) + found_in(database_url, WORD.lower()) == []
    assert WORD not in (await assemble(client, "Where do I live?"))["prompt"]
    assert await verified(client, receipt) == {"valid": True, "sealed": True, "remaining": {}}


async def test_a_session_goes_alone_and_what_another_says_too_stays(client, work, connect, tenant):
    """A memory that rests on another session as well is not the session's."""
    await post(client, "I have two dogs.", session="first")
    await post(client, "I have two dogs. I keep bees.", session="second")
    await post(client, "I row.", session="s", space="user:ben")
    await work()
    reader = connect(tenant.issue(Role.READER))
    assert (await reader.post("/forget", json={"space": OWN, "session": "second"})).status_code == 403
    elsewhere = (await client.get("/sessions", params={"space": "user:ben"})).json()["items"][0]["id"]
    for session, status in (("third", 404), (elsewhere, 422), ("", 422), ("x\x00", 422)):
        reply = await client.post("/forget", json={"space": OWN, "session": session})
        assert reply.status_code == status, session
    both = {"space": OWN, "session": "second", "since": "2020-01-01T00:00:00Z"}
    assert (await client.post("/forget", json=both)).status_code == 422
    receipt = (await forget(client, OWN, session="second"))["receipt"]
    await work()
    memories = (await client.get("/memories", params={"space": OWN})).json()["items"]
    assert [memory["text"] for memory in memories] == ["I have two dogs"]
    messages = (await client.get("/messages", params={"space": OWN})).json()["items"]
    assert [message["text"] for message in messages] == ["I have two dogs."]
    assert await verified(client, receipt) == {"valid": True, "sealed": True, "remaining": {}}


async def test_what_else_was_said_stays(client, work):
    """del-04: a message loses the sentence, not the rest; a memory of the rest stays."""
    turn, memory = await done_everything(client, work)
    receipt = (await forget(client, OWN, ids=[memory["id"]]))["receipt"]
    assert receipt["removed"]["messages"] == 2
    assert turn["id"] in receipt["turns"]
    assert (await verified(client, receipt))["remaining"] == {"jobs": receipt["jobs"]}
    assert WORD not in (await assemble(client, "Where do I live?"))["prompt"]
    await work()
    messages = (await client.get(f"/turns/{turn['id']}")).json()["messages"]
    assert [message["text"] for message in messages] == ["Hello! I have two dogs.", "Nice to meet you."]
    items = (await client.get("/memories", params={"space": OWN})).json()["items"]
    assert [item["text"] for item in items] == ["I have two dogs"]
    assert "two dogs" in (await assemble(client, "Do I have dogs?"))["prompt"]


@pytest.mark.parametrize("how", ["id", "space"])
async def test_what_a_viewer_said_in_a_stream_goes_from_there_too(client, work, database_url, *, how):
    await post(
        client,
        stream=STREAM,
        session="live",
        messages=[{"author": ANA, "text": f"{FACT}."}, {"author": BEN, "text": "I live in Oslo."}],
    )
    await work()
    batch = [{"author": ANA, "text": f"Do you remember that {FACT.lower()}?"}]
    live = {"stream": STREAM, "persona": "agent:giulia", "batch": batch, "timeout_ms": 30_000}
    reply = await client.post("/context/assemble/live", json=live)
    assert reply.status_code == 200, reply.text
    await client.get("/assemblies", params={"space": STREAM})
    if how == "id":
        memory = await memory_of(client, VIEWER)
        await forget(client, VIEWER, ids=[memory["id"]])
    else:
        await client.delete(f"/spaces/{VIEWER}")
    await work()
    assert found_in(database_url, WORD) + found_in(database_url, WORD.lower()) == []
    (episode,) = (await client.get("/episodes", params={"space": STREAM})).json()["items"]
    assert episode["text"] == "Ben: I live in Oslo."


async def test_by_author_the_words_of_one_go(client, work):
    space = "user:77"
    turn = await post(
        client, space=space, session="s", messages=[said("I keep bees.", name="Ana"), said("I keep cats.", name="Ben")]
    )
    await work()
    await forget(client, space, author={"name": "Ana"})
    await work()
    messages = (await client.get(f"/turns/{turn['id']}")).json()["messages"]
    assert [message["text"] for message in messages] == ["I keep cats."]


async def test_a_dry_run_cuts_nothing(client, work, database_url):
    await done_everything(client, work)
    before = found_in(database_url, WORD)
    memory = await memory_of(client, OWN)
    receipt = (await forget(client, OWN, ids=[memory["id"]], dry_run=True))["receipt"]
    assert receipt["removed"]["messages"] == 2
    await work()
    assert found_in(database_url, WORD) == before
    await client.delete(f"/spaces/{OWN}")


async def test_the_rows_of_a_receipt_hold_no_words(client, work, database_url):
    _, memory = await done_everything(client, work)
    await forget(client, OWN, ids=[memory["id"]])
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT body::text FROM receipts").fetchall()
    assert all("live" not in body for (body,) in rows)
