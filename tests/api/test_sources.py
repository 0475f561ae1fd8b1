"""Where an entry comes from: the messages that it rests on, as far as they are there and the key reaches them."""

import pytest
from test_turn_work import ANA, BEN
from test_turns import SPACE, post, said

from app.domain.callers import Role

STREAM = "stream:x"
VIEWER = "viewer:twitch:7"


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


async def only(client, tier="memories", space=SPACE, **filters):
    (entry,) = (await client.get(f"/{tier}", params={"space": space, **filters})).json()["items"]
    return entry


async def sources(client, entry_id):
    tier = {"mem": "memories", "epi": "episodes", "pro": "procedures"}[entry_id[:3]]
    reply = await client.get(f"/{tier}/{entry_id}/sources")
    assert reply.status_code == 200, reply.text
    return reply.json()["items"]


async def test_a_memory_names_the_message_in_which_it_was_said(client, work):
    turn = await post(client, messages=[said("Hello!"), said("I have two dogs.")], session="s")
    await work()
    memory = await only(client)
    message = turn["messages"][1]
    assert await sources(client, memory["id"]) == [
        {
            "id": message["id"],
            "turn": turn["id"],
            "position": 1,
            "at": message["at"],
            "state": "said",
            "message": message,
        }
    ]


async def test_of_several_messages_the_latest_comes_first(client, work):
    for day in (1, 2):
        await post(client, messages=[said("I have two dogs.", at=f"2026-01-0{day}T10:00:00Z")], session="s")
        await work()
    memory = await only(client)
    assert [one["at"][:10] for one in await sources(client, memory["id"])] == ["2026-01-02", "2026-01-01"]


async def test_a_corrected_memory_names_what_corrected_it(client, work):
    await post(client, "My name is Ana.", session="s")
    await work()
    turn = await post(client, "My name is Anna, not Ana.", session="s")
    await work()
    memory = await only(client)
    latest = (await sources(client, memory["id"]))[0]
    assert (latest["turn"], latest["message"]["text"]) == (turn["id"], "My name is Anna, not Ana.")


async def test_what_was_merged_into_a_memory_is_named_with_it(client, work):
    """dup-02: near-duplicates collapse; no source is lost."""
    await post(client, "I hate coriander.", "I hate parsley.", session="s")
    await work()
    found = (await client.get("/memories", params={"space": SPACE})).json()["items"]
    rewritten = ("On Mondays the chess club meets in town.", "The chess club meets in town on Mondays")
    for entry, text in zip(found, rewritten, strict=True):
        await client.patch(f"/memories/{entry['id']}", json={"text": text, "valid_from": None})
    await client.post(f"/spaces/{SPACE}/consolidate", json={})
    memory = await only(client)
    named = [one["message"]["text"] for one in await sources(client, memory["id"])]
    assert named == ["I hate parsley.", "I hate coriander."]


async def test_an_edited_message_says_so(client, work):
    turn = await post(client, "I have two dogs.", session="s")
    await work()
    await client.patch(f"/messages/{turn['messages'][0]['id']}", json={"text": "I have two dogs, and a cat."})
    await work()
    memory = next(
        one
        for one in (await client.get("/memories", params={"space": SPACE})).json()["items"]
        if "two dogs" in one["text"]
    )
    (source,) = await sources(client, memory["id"])
    assert (source["state"], source["message"]["text"]) == ("changed", "I have two dogs, and a cat.")


async def test_of_a_deleted_message_no_word_is_told(client, work):
    turn = await post(client, "I have two dogs.", session="s")
    message = turn["messages"][0]["id"]
    written = await client.post("/memories", json={"space": SPACE, "text": "Ana keeps pets.", "source": message})
    await client.delete(f"/messages/{message}")
    (source,) = await sources(client, written.json()["id"])
    assert (source["id"], source["state"], source["message"]) == (message, "deleted", None)


async def test_a_message_that_history_no_longer_has_is_purged(client, work, connect, new_tenant):
    other = await post(connect(new_tenant().key), "I have two dogs.", session="s")
    message = other["messages"][0]["id"]
    written = await client.post("/memories", json={"space": SPACE, "text": "Ana keeps pets.", "source": message})
    (source,) = await sources(client, written.json()["id"])
    assert source == {"id": message, "turn": None, "position": None, "at": None, "state": "purged", "message": None}


async def test_an_episode_names_the_messages_of_its_turn(client, work):
    turn = await post(client, "We cooked risotto.", reply="How was it?", session="s")
    await work()
    episode = await only(client, "episodes", tag="turn")
    assert [one["message"]["text"] for one in await sources(client, episode["id"])] == [
        "How was it?",
        "We cooked risotto.",
    ]
    assert {one["turn"] for one in await sources(client, episode["id"])} == {turn["id"]}


async def test_a_summary_names_the_messages_of_its_conversation(client, work):
    turn = await post(client, "We cooked risotto with saffron in Milan.", session="s")
    await post(client, "Then we walked along the canals.", session="s")
    await client.post(f"/sessions/{turn['session']}/end")
    await work()
    episode = await only(client, "episodes", tag="conversation")
    assert len(await sources(client, episode["id"])) == 2


async def test_what_nobody_said_has_no_source(client):
    for tier in ("memories", "episodes", "procedures"):
        written = await client.post(f"/{tier}", json={"space": SPACE, "text": "Salt the water.", "source": "a book"})
        assert await sources(client, written.json()["id"]) == []


async def test_a_persons_own_key_reads_that_persons_words_in_a_stream_and_nobody_elses(client, work, connect, tenant):
    """leak-04: a source leads to a stream that the key does not reach."""
    turn = await post(
        client,
        stream=STREAM,
        session="live",
        messages=[{"author": ANA, "text": "I have two dogs."}, {"author": BEN, "text": "I have two parrots."}],
    )
    await work()
    own = connect(tenant.issue(Role.READER, (VIEWER,)))
    memory = await only(own, space=VIEWER)
    (source,) = await sources(own, memory["id"])
    assert source["message"]["text"] == "I have two dogs."
    document = await only(own, "episodes", space=VIEWER)
    assert [one["message"]["text"] for one in await sources(own, document["id"])] == ["I have two dogs."]
    forged = {"space": VIEWER, "text": "Somebody keeps birds."}
    writer = connect(tenant.issue(Role.WRITER, (VIEWER,)))
    for named in (turn["messages"][1]["id"], turn["id"]):
        written = (await writer.post("/memories", json={**forged, "source": named})).json()
        assert "parrots" not in str(await sources(own, written["id"]))
        await writer.delete(f"/memories/{written['id']}")
    written = (await writer.post("/memories", json={**forged, "source": turn["messages"][1]["id"]})).json()
    (source,) = await sources(own, written["id"])
    assert (source["state"], source["message"]) == ("out_of_reach", None)


async def test_only_what_contradicts_another_is_listed_when_that_is_asked(client):
    since = "2026-01-01T00:00:00Z"
    for text in ("I live in Turin.", "I live in Rome."):
        claim = {"subject": "self", "attribute": "home", "value": text[10:-1], "cardinality": "one"}
        fields = {"text": text, "claim": claim, "valid_from": since}
        await client.post("/memories/batch", json={"space": SPACE, "entries": [fields, {"text": "I have two dogs."}]})
    for unresolved, texts in ((True, ["I live in Rome.", "I live in Turin."]), (False, ["I have two dogs."])):
        found = (await client.get("/memories", params={"space": SPACE, "unresolved": unresolved})).json()["items"]
        assert [entry["text"] for entry in found] == texts
