"""A space gets its owner's own words only, and a live prompt tells of nobody what somebody else said."""

import pytest
from test_live import STREAM, live, remembers, says, under, viewer

from app.domain.callers import Role


async def said(client, runtime, *messages, **fields):
    reply = await client.post("/turns", json={"stream": STREAM, "session": "s", "messages": list(messages), **fields})
    assert reply.status_code == 202, reply.text
    await runtime.queue.drain()


async def personal(client, who):
    reply = await client.get("/episodes", params={"space": viewer(who)})
    return "\n".join(item["text"] for item in reply.json()["items"])


async def test_a_viewers_space_holds_the_viewers_own_words_alone(client, runtime):
    await said(
        client,
        runtime,
        says("ana", "I have a parrot."),
        says("bob", "Ana has a boa, she told me."),
        says("ana", "", event="subscription"),
        says("nightbot", "Follow Ana!", role="bot"),
        reply="A parrot, Ana, how nice!",
    )
    assert await personal(client, "ana") == "I have a parrot."
    assert await personal(client, "nightbot") == ""
    got = await live(client, says("ana", "Giulia, which pets do I have, a boa?"), says("bob", "lol"))
    assert "boa" not in under(got["prompt"], viewer("ana"))


@pytest.mark.parametrize(
    "hearsay",
    ["Bob lives in Oslo.", "as Bob said: I live in Oslo", "> bob: I live in Oslo", "/me heard that Bob lives in Oslo",
     "@bob you live in Oslo", "Bob ha detto: abito a Oslo"],
)  # fmt: skip
async def test_what_is_said_about_another_is_never_the_others(client, runtime, hearsay):
    await said(client, runtime, says("ana", hearsay))
    assert await personal(client, "bob") == ""
    for who in ("ana", "bob"):
        memories = (await client.get("/memories", params={"space": viewer(who)})).json()["items"]
        assert not any("Oslo" in memory["text"] for memory in memories)
    got = await live(client, says("bob", "Giulia, where do I live?"), says("ana", "lol"))
    assert "Oslo" not in got["prompt"]


async def test_a_session_of_one_name_in_two_streams_is_two(client, runtime):
    """leak-02: u1's stream and u2's both have a session called s; neither sees the other's history."""
    await said(client, runtime, says("ana", "The code word is xylophone."))
    body = {"stream": "stream:other", "session": "s", "batch": [says("bob", "Giulia, do you remember the code word?")]}
    got = (await client.post("/context/assemble/live", json={**body, "timeout_ms": 30_000})).json()
    assert "xylophone" not in got["prompt"]


async def test_every_tier_of_a_live_prompt_is_of_those_who_are_read(client):
    """leak-03: two people with entries in every tier; only the asker's are there."""
    for who in ("ana", "bob"):
        for tier in ("memories", "episodes", "procedures"):
            body = {"space": viewer(who), "text": f"{tier}-{who}: the kiln must cool down"}
            assert (await client.post(f"/{tier}", json=body)).status_code == 201
    got = await live(client, says("ana", "Giulia, how long must the kiln cool down?"), says("bob", "haha"))
    assert {entry["space"] for entry in got["entries"]} == {viewer("ana")}
    assert "-bob" not in got["prompt"]


async def test_a_key_of_one_stream_never_brings_up_anothers_memory(client, connect, tenant):
    """leak-04: the live route obeys the same predicate as every other."""
    await remembers(client, viewer("ana"), "I am secretly a spy.")
    limited = connect(tenant.issue(Role.ADMINISTRATOR, (STREAM,)))
    got = await live(limited, says("ana", "Giulia, what do you remember about me?"), persona=None)
    assert "spy" not in got["prompt"]
    assert got["plan"]["sources"].keys() <= {"records", "episodes"}


async def test_what_is_kept_for_a_private_chat_stays_out_of_the_group(client):
    """leak-06: the scope is part of the memory; the group sees what holds everywhere, the private chat both."""
    await remembers(client, viewer("ana"), "I am looking for a new job.", scope="chat:private")
    await remembers(client, viewer("ana"), "I work as a baker.")
    group = await live(client, says("ana", "Giulia, what do you know about my job?"), says("bob", "lol"))
    assert "baker" in group["prompt"]
    assert "new job" not in group["prompt"]
    private = await live(client, says("ana", "Giulia, what do you know about my job?"), scopes=["chat:private"])
    assert "baker" in private["prompt"]
    assert "new job" in private["prompt"]


async def test_of_five_in_a_group_a_memory_belongs_to_the_one_who_said_it(client, runtime):
    """leak-07: five people in one batch; what c3 said is c3's, whoever speaks first."""
    await said(client, runtime, *[says(f"c{n}", f"My charm is number {n}.") for n in range(1, 6)])
    for n in range(1, 6):
        assert await personal(client, f"c{n}") == f"My charm is number {n}."
    got = await live(client, says("c1", "gg"), says("c3", "Giulia, what is my charm?"), says("c2", "gg"))
    assert "number 3" in under(got["prompt"], viewer("c3"))
    assert "number 1" not in got["prompt"]


async def test_a_quoted_prompt_is_neither_stored_nor_looked_for(client, runtime):
    """dup-09: somebody pastes what memory put into a prompt."""
    await remembers(client, viewer("ana"), "I am allergic to peanuts.")
    prompt = (await live(client, says("ana", "Giulia, do you remember my allergy?")))["prompt"]
    await said(client, runtime, says("bob", f"{prompt}\nLook what it says!"))
    assert await personal(client, "bob") == "Look what it says!"
    got = await live(client, says("bob", f"Giulia, what do you remember about me?\n{prompt}"), says("ana", "lol"))
    assert "peanuts" not in got["prompt"]


async def test_nothing_that_is_said_becomes_lore_by_any_route(client, connect, tenant):
    lore = "lore:giulia"
    writer = connect(tenant.issue(Role.WRITER))
    turn = {"messages": [says("ana", "Giulia was born on Mars.")]}
    assert (await client.post("/turns", json={**turn, "space": lore})).status_code == 422
    assert (await client.post("/turns", json={**turn, "stream": lore})).status_code == 422
    for path, fields in [
        *((f"/{tier}", {"text": "Born on Mars."}) for tier in ("memories", "episodes", "procedures")),
        *((f"/{tier}/batch", {"entries": [{"text": "x"}]}) for tier in ("memories", "episodes", "procedures")),
        ("/soul", {"name": "x", "text": "Born on Mars."}),
        ("/records", {"kind": "note", "payload": {"text": "Born on Mars."}}),
    ]:
        assert (await writer.post(path, json={"space": lore, **fields})).status_code == 403, path
    assert (await writer.post("/turns", json={**turn, "space": lore})).status_code == 422
