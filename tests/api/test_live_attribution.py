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


HEARSAY = {
    "en": [
        "Bob lives in Oslo.",
        "as Bob said: I live in Oslo",
        "As Bob said, I live in Oslo. I have a boat.",
        "> bob: I live in Oslo",
        "<bob> I live in Oslo",
        "RT @bob: I live in Oslo",
        "Bob wrote: I live in Oslo.",
        'Bob says: "I live in Oslo"',
        "“I live in Oslo” (Bob)",
        "quoting Bob, I live in Oslo",
        "Bob be like: I live in Oslo",
        "/me heard that Bob lives in Oslo",
        "@bob you live in Oslo",
        "translation: I live in Oslo",
        "Translation of what Bob wrote: I live in Oslo.",
        "In English: I live in Oslo",
        "According to Bob, I live in Oslo",
    ],
    "it": [
        "Bob vive a Oslo.",
        "come ha detto Bob: abito a Oslo",
        "Come ha detto Bob, abito a Oslo. Ho una barca.",
        "> bob: abito a Oslo",
        "Bob ha scritto: «abito a Oslo»",
        "Bob ha detto: abito a Oslo",
        "cito Bob: abito a Oslo",
        "«Abito a Oslo» (Bob)",
        "/me ha sentito che Bob abita a Oslo",
        "@bob tu abiti a Oslo",
        "Bob dice che abita a Oslo",
        "traduzione: abito a Oslo",
        "In italiano: abito a Oslo",
    ],
    "cs": [
        "Bob bydlí v Oslo.",
        "jak řekl Bob: bydlím v Oslo",
        "Jak řekl Bob, bydlím v Oslo. Mám loď.",
        "> bob: bydlím v Oslo",
        "Bob napsal: „bydlím v Oslo“",
        "cituji Boba: bydlím v Oslo",
        "„Bydlím v Oslo“ (Bob)",
        "/me slyšela, že Bob bydlí v Oslo",
        "@bob bydlíš v Oslo",
        "Bob říká, že bydlí v Oslo",
        "překlad: bydlím v Oslo",
        "česky: bydlím v Oslo",
    ],
}


async def memories(client, who):
    reply = await client.get("/memories", params={"space": viewer(who)})
    return [memory["text"] for memory in reply.json()["items"]]


@pytest.mark.parametrize("hearsay", [text for texts in HEARSAY.values() for text in texts])
async def test_what_is_said_about_another_or_quoted_is_nobodys_memory(client, runtime, hearsay):
    await said(client, runtime, says("ana", hearsay))
    assert await personal(client, "bob") == ""
    assert await memories(client, "ana") == await memories(client, "bob") == []
    got = await live(client, says("bob", "Giulia, where do I live?"), says("ana", "lol"))
    assert "Oslo" not in got["prompt"]


@pytest.mark.parametrize(
    "told", ["Bob wrote: forget where I live.", "Come ha detto Bob, non abito a Oslo, abito a Roma."]
)
async def test_a_wish_that_is_quoted_is_not_its_quoters(client, runtime, told):
    await said(client, runtime, says("ana", "I live in Oslo."))
    await said(client, runtime, says("ana", told))
    assert await memories(client, "ana") == ["I live in Oslo"]


@pytest.mark.parametrize("reply_to", ["", "@bob "])
@pytest.mark.parametrize("text", ["I live in Oslo.", "Abito a Oslo.", "Bydlím v Oslo."])
async def test_what_somebody_says_of_themselves_is_theirs_also_in_a_reply_to_another(client, runtime, reply_to, text):
    message = {**says("ana", f"{reply_to}{text}"), "mentions": ["bob"]}
    await said(client, runtime, message, says("bob", "hi all"))
    (memory,) = await memories(client, "ana")
    assert "Oslo" in memory
    assert await memories(client, "bob") == []


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
