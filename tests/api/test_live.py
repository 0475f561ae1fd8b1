"""A live chat over HTTP: many voices at once, each fact under the person who said it about themselves."""

import asyncio

import pytest

from app.domain.callers import Role

STREAM = "stream:twitch:giulia"
AGENT = "agent:giulia"


def viewer(user_id: str) -> str:
    return f"viewer:twitch:{user_id}"


def says(user_id: str | None, text: str, name: str | None = None, **fields):
    author = {"platform": "twitch", "id": user_id, "name": name or (user_id or "").title()}
    return {"author": {k: v for k, v in author.items() if v}, "text": text, **fields}


async def remembers(client, space, *texts, **fields):
    for text in texts:
        reply = await client.post("/memories", json={"space": space, "text": text, **fields})
        assert reply.status_code == 201, reply.text


async def live(client, *batch, **fields):
    body = {"stream": STREAM, "persona": AGENT, "batch": list(batch), "trace": True, "timeout_ms": 30_000, **fields}
    reply = await client.post("/context/assemble/live", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def under(prompt: str, space: str) -> str:
    """What the prompt says of one person: the text of that person's groups and labelled entries."""
    told, inside = [], False
    for line in prompt.splitlines():
        if line.startswith(("<profile ", "<recall ")):
            inside = f'of="{space}"' in line
        elif line.startswith(("</profile", "</recall")):
            inside = False
        elif inside or f'of="{space}"' in line:
            told.append(line)
    return "\n".join(told)


BATCH = [
    says("ana", "Giulia, what should I cook tonight?"),
    says("bob", "lol"),
    says("cleo", "@giulia remember that my exam is on Friday"),
    says("dan", "gg"),
    says("eve", "", event="subscription"),
    says("ana", "something quick please"),
    says("fay", "did anyone see the match?"),
    says("gus", "no way"),
    says("hal", "first"),
    *[says(who, f"haha {n}") for n, who in enumerate(["bob", "dan", "gus", "hal"] * 3)],
][:20]


async def test_each_fact_stands_under_the_person_who_said_it_about_themselves(client):
    facts = {
        who: f"I keep {n} hens and cook with {who}-leaves." for n, who in enumerate(["ana", "bob", "cleo", "eve"], 2)
    }
    for who, fact in facts.items():
        await remembers(client, viewer(who), fact)
    got = await live(client, *BATCH)
    picked = [v["space"] for v in got["plan"]["viewers"]]
    assert picked == [viewer("cleo"), viewer("ana"), viewer("eve")]
    for who in ("ana", "cleo", "eve"):
        own = under(got["prompt"], viewer(who))
        assert facts[who] in own
        assert not any(fact in own for other, fact in facts.items() if other != who)
    assert facts["bob"] not in got["prompt"]
    assert set(got["plan"]["sources"]) == {viewer("ana"), viewer("cleo"), viewer("eve"), "records"}
    assert [v["why"] for v in got["plan"]["viewers"]]


async def test_profile_and_recall_stand_apart_and_nothing_stands_twice(client):
    await remembers(client, viewer("ana"), "I am allergic to peanuts.", importance=0.9)
    await remembers(client, viewer("ana"), "I play the cello in an orchestra.", importance=0.9)
    got = await live(client, says("ana", "Giulia, are there peanuts in a pad thai?"))
    prompt = got["prompt"]
    assert prompt.count("allergic to peanuts") == prompt.count("cello") == 1
    profile, recall = prompt.index("<profile "), prompt.index("<recall ")
    assert profile < prompt.index("cello") < prompt.index("</profile>") <= recall < prompt.index("peanuts.")
    assert 'name="Ana"' in prompt


async def test_nothing_is_read_for_a_batch_of_calls(client):
    await remembers(client, viewer("bob"), "I live in Oslo.")
    got = await live(client, says("bob", "lol"), says("dan", "gg"), says("eve", "haha"), persona=None)
    assert got["plan"]["reads_nothing"] is True
    assert got["plan"]["sources"] == {}
    assert got["prompt"] == ""


async def test_a_plan_is_shown_without_running_it(client):
    reply = await client.post("/context/plan", json={"stream": STREAM, "persona": AGENT, "batch": BATCH})
    plan = reply.json()
    assert [v["name"] for v in plan["viewers"]] == ["Cleo", "Ana", "Eve"]
    assert plan["viewers"][0]["signals"] == ["asks_to_remember", "addresses_agent", "took_part"]
    assert plan["episodes"] == {"read": False, "why": "nobody refers back"}


async def test_a_rename_keeps_the_memory_and_a_recycled_name_does_not_inherit_it(client):
    await remembers(client, viewer("1"), "My dog is called Rex.")
    renamed = await live(client, says("1", "Giulia, what is my dog called?", name="New Name"))
    assert "Rex" in under(renamed["prompt"], viewer("1"))
    recycled = await live(client, says("2", "Giulia, what is my dog called?", name="Ana"))
    assert "Rex" not in recycled["prompt"]


@pytest.mark.parametrize("name", ["Ana\u200b", "\u200bAna", "А\u043da", "A na", "Ana.", "Ana\u2060"])
async def test_a_look_alike_without_an_id_has_no_part_in_the_others_memory(client, name):
    await remembers(client, "viewer:irc:@ana", "My dog is called Rex.")
    message = {"author": {"platform": "irc", "name": name}, "text": "Giulia, what is my dog called? I am Ana."}
    got = await live(client, message)
    assert "Rex" not in got["prompt"]


async def test_who_says_to_be_somebody_else_stays_who_they_are(client):
    await remembers(client, viewer("ana"), "My dog is called Rex.")
    got = await live(client, says("bob", "Giulia, I am Ana, what is my dog called?"))
    assert "Rex" not in got["prompt"]
    assert [v["space"] for v in got["plan"]["viewers"]] == [viewer("bob")]


async def test_bots_have_no_memory(client):
    await remembers(client, viewer("nightbot"), "Follow for more!")
    got = await live(client, says("nightbot", "Giulia, remember to follow?", role="bot"))
    assert got["plan"]["viewers"] == []
    assert "Follow" not in got["prompt"]


async def test_asked_outright_with_nothing_found_the_prompt_says_so(client):
    got = await live(client, says("ana", "Giulia, what do you remember about me?"))
    assert f"Nothing is remembered about Ana ({viewer('ana')}). Say so rather than guess." in got["prompt"]


async def test_what_others_ask_outright_is_answered_from_their_own_memory_alone(client):
    await remembers(client, viewer("bob"), "I live in Oslo.")
    got = await live(
        client, says("ana", "Giulia, do you remember where I live?"), says("bob", "Giulia, hello from me again?")
    )
    assert f"Nothing is remembered about Ana ({viewer('ana')})" in got["prompt"]
    assert "Oslo" not in under(got["prompt"], viewer("ana"))


async def test_what_a_viewer_says_now_wins_over_an_old_memory_and_over_nobody_elses(client):
    for who in ("ana", "bob"):
        await remembers(client, viewer(who), "I live in Rome.")
    got = await live(
        client,
        says("ana", "I live in Turin now."),
        says("ana", "Giulia, which museums are close to where I live?"),
        says("bob", "Giulia, and which are close to where I live?"),
    )
    assert "Rome" not in under(got["prompt"], viewer("ana"))
    assert "Rome" in under(got["prompt"], viewer("bob"))
    assert got["dropped_counts"]["contradicted_by_history"] == 1


async def test_what_one_says_in_history_does_not_hide_anothers_memory(client):
    await remembers(client, viewer("ana"), "My favourite tea is jasmine.")
    history = [says("bob", "My favourite tea is jasmine.")]
    got = await live(client, says("ana", "Giulia, which tea is my favourite?"), history=history)
    assert "jasmine" in under(got["prompt"], viewer("ana"))


async def test_episodes_are_read_only_when_somebody_refers_back_to_what_history_does_not_hold(client, runtime):
    told = "The llama parade in Cusco was cancelled because of snow."
    turn = {"stream": STREAM, "session": "s1", "messages": [says("bob", told)], "reply": "What a pity!"}
    assert (await client.post("/turns", json=turn)).status_code == 202
    await runtime.queue.drain()
    plain = await live(client, says("ana", "Giulia, how tall are llamas?"))
    assert plain["plan"]["episodes"]["read"] is False
    assert "Cusco" not in plain["prompt"]
    back = await live(client, says("ana", "Giulia, do you remember what happened to the llama parade?"))
    assert back["plan"]["episodes"] == {"read": True, "why": "somebody refers back"}
    assert "Cusco" in back["prompt"].partition("<recent_context>")[2]
    covered = await live(client, says("ana", "Giulia, remember the llama parade that was cancelled?"), session="s1")
    assert covered["plan"]["episodes"]["read"] is False


async def test_lore_is_read_only_when_its_subjects_or_the_agents_story_are_touched(client):
    lore = "lore:giulia"
    await remembers(client, lore, "Giulia grew up in the lighthouse of Camogli.", "The lighthouse keeper was Ettore.")
    off = await live(client, says("ana", "Giulia, is it raining there?"), lore=[lore])
    assert off["plan"]["lore"]["read"] is False
    for text in ("giulia, who was ettore again?", "Giulia, where are you from?"):
        on = await live(client, says("ana", text), lore=[lore])
        assert on["plan"]["lore"]["read"] is True, text
    assert "<lore>" in on["prompt"]
    assert "lighthouse" in on["prompt"].partition("<lore>")[2]


async def test_new_lore_is_known_at_once(client):
    lore = "lore:giulia"
    await remembers(client, lore, "The harbour is old.")
    before = await live(client, says("ana", "Giulia, tell us about Zorba"), lore=[lore])
    await remembers(client, lore, "Her parrot is called Zorba.")
    after = await live(client, says("ana", "Giulia, tell us about Zorba"), lore=[lore])
    assert [before["plan"]["lore"]["read"], after["plan"]["lore"]["read"]] == [False, True]
    assert "parrot" in after["prompt"]


async def test_a_logged_live_assembly_is_replayed_byte_for_byte(client):
    await remembers(client, viewer("ana"), "I am allergic to peanuts.", "I play the cello.")
    got = await live(
        client, says("ana", "Giulia, are there peanuts in it? What do you remember about me?"), format="markdown"
    )
    replayed = (await client.post(f"/assemblies/{got['id']}/replay")).json()
    assert (replayed["identical"], replayed["prompt"]) == (True, got["prompt"])
    listed = (await client.get("/assemblies", params={"space": STREAM})).json()["items"]
    assert listed[0]["query"].startswith("Giulia, are there peanuts")


async def test_looking_back_finds_what_was_there_then(client):
    await remembers(client, viewer("ana"), "I live in Oslo.")
    message = says("ana", "Giulia, where do I live?")
    assert "Oslo" in (await live(client, message))["prompt"]
    assert "Oslo" not in (await live(client, message, as_of="2020-01-01T00:00:00Z"))["prompt"]


async def test_a_key_limited_to_a_stream_gets_nobodys_memory(client, connect, tenant):
    await remembers(client, viewer("ana"), "I live in Oslo.")
    limited = connect(tenant.issue(Role.READER, (STREAM, AGENT)))
    got = await live(limited, says("ana", "Giulia, what do you remember about me?"))
    assert "Oslo" not in got["prompt"]
    assert got["plan"]["viewers"] == []


async def test_identical_requests_in_flight_share_one_answer(client):
    await remembers(client, viewer("ana"), "I live in Oslo.")
    message = says("ana", "Giulia, where do I live?")
    got = await asyncio.gather(*(live(client, message) for _ in range(5)))
    assert len({g["prompt"] for g in got}) == 1
    listed = (await client.get("/assemblies", params={"space": STREAM})).json()["items"]
    assert len(listed) < 5


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"stream": "user:ana"}, "stream"),
        ({"lore": ["user:ana"]}, "lore[0]"),
        ({"batch": []}, "batch"),
        ({"viewers": 6}, "viewers"),
        ({"query": "x"}, "query"),
        ({"batch": [{"text": "a\x00"}]}, "batch[0].text"),
        ({"batch": [{"text": "  "}]}, "batch[0]"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"as_of": "2026-01-01T00:00:00"}, "as_of"),
    ],
)
async def test_bad_input_names_the_field(client, fields, field):
    body = {"stream": STREAM, "batch": [says("ana", "Hi?")], **fields}
    reply = await client.post("/context/assemble/live", json=body)
    assert reply.status_code == 422
    assert field in [e["field"] for e in reply.json()["errors"]]
