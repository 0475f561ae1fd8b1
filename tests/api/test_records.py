"""Records: structured state that explicit calls change, that outranks memories, and keeps a turn out of them."""

import pytest

from app.domain.callers import Role

STREAM = "stream:twitch:giulia"
ANA, BOB = "viewer:twitch:ana", "viewer:twitch:bob"


async def record(client, kind="note", space=ANA, **fields):
    payload = fields.pop("payload", {"text": "Sings on Fridays."})
    return await client.post("/records", json={"space": space, "kind": kind, "payload": payload, **fields})


async def created(client, **fields):
    reply = await record(client, **fields)
    assert reply.status_code == 201, reply.text
    return reply.json()


async def prompt_of(client, query, space=ANA, **fields):
    body = {"space": space, "query": query, "trace": True, "timeout_ms": 30_000, **fields}
    return (await client.post("/context/assemble", json=body)).json()


def says(who, text):
    return {"author": {"platform": "twitch", "id": who, "name": who.title()}, "text": text}


async def test_a_record_lives_through_versions(client):
    reply = await record(client, kind="request", payload={"what": "A song by Mina"}, expires_at="2090-01-01T00:00:00Z")
    made = reply.json()
    assert (reply.status_code, reply.headers["ETag"], made["version"], made["status"]) == (201, '"1"', 1, "open")
    url = f"/records/{made['id']}"
    done = await client.patch(url, json={"status": "done"}, headers={"If-Match": '"1"'})
    assert (done.json()["version"], done.json()["status"], done.json()["reason"]) == (2, "done", "done")
    late = await client.patch(url, json={"status": "open"}, headers={"If-Match": '"1"'})
    assert late.status_code == 412
    versions = (await client.get(f"{url}/versions")).json()["items"]
    assert [v["version"] for v in versions] == [2, 1]
    assert (await client.get("/records", params={"space": ANA, "status": "open"})).json()["items"] == []
    assert (await client.delete(url)).json()["removed"] == {"versions": 2}
    assert (await client.get(url)).status_code == 404


async def test_the_same_idempotency_key_writes_one_record(client):
    headers = {"Idempotency-Key": "k-1"}
    body = {"space": ANA, "kind": "joke", "payload": {"text": "The duck again."}}
    ids = {(await client.post("/records", json=body, headers=headers)).json()["id"] for _ in range(2)}
    assert len(ids) == 1
    other = await client.post("/records", json={**body, "kind": "note"}, headers=headers)
    assert other.status_code == 409


async def test_records_come_first_and_only_while_they_hold(client):
    await client.post("/memories", json={"space": ANA, "text": "I have two cats."})
    await created(client, payload={"text": "Moderates the <chat> today."}, expires_at="2090-01-01T00:00:00Z")
    await created(client, payload={"text": "Was banned."}, expires_at="2020-01-01T00:00:00Z")
    await created(client, payload={"text": "Asked for a song."}, status="done")
    prompt = (await prompt_of(client, "cats"))["prompt"]
    facts = prompt.partition("<relevant_facts>")[2]
    assert '<record kind="note" of="viewer:twitch:ana">Moderates the &lt;chat&gt; today.</record>' in facts
    assert facts.index("<record") < facts.index("<recall")
    assert "banned" not in prompt
    assert "song" not in prompt


async def test_a_memory_whose_claim_a_record_covers_is_not_served(client):
    await client.post("/memories", json={"space": ANA, "text": "I live in Rome."})
    before = await prompt_of(client, "where do I live?")
    assert "Rome" in before["prompt"]
    made = await created(client, payload={"text": "I live in Turin."})
    during = await prompt_of(client, "where do I live?")
    assert "Rome" not in during["prompt"]
    assert during["dropped_counts"]["overridden_by_record"] == 1
    await client.patch(f"/records/{made['id']}", json={"status": "cancelled"})
    assert "Rome" in (await prompt_of(client, "where do I live?"))["prompt"]


async def test_a_record_about_one_overrides_nobody_elses_memory(client):
    for space in (ANA, BOB):
        await client.post("/memories", json={"space": space, "text": "I live in Rome."})
    await created(client, space=STREAM, subjects=[ANA], payload={"text": "I live in Turin."})
    body = {
        "stream": STREAM,
        "persona": "agent:giulia",
        "batch": [says("ana", "Giulia, where do I live?"), says("bob", "Giulia, where do I live?")],
        "timeout_ms": 30_000,
        "trace": True,
    }
    got = (await client.post("/context/assemble/live", json=body)).json()
    assert got["prompt"].count("Rome") == 1
    assert '<record kind="note" of="viewer:twitch:ana">I live in Turin.</record>' in got["prompt"]
    assert got["dropped_counts"]["overridden_by_record"] == 1
    assert "records" in got["plan"]["sources"]


async def test_a_prompt_with_records_is_replayed_byte_for_byte(client):
    made = await created(client, payload={"text": "Moderates today."})
    got = await prompt_of(client, "hello")
    replayed = (await client.post(f"/assemblies/{got['id']}/replay")).json()
    assert (replayed["identical"], replayed["prompt"]) == (True, got["prompt"])
    await client.delete(f"/records/{made['id']}")
    gone = (await client.post(f"/assemblies/{got['id']}/replay")).json()
    assert (gone["identical"], gone["erased"]) == (False, 1)


TURN = {
    "id": "t-7",
    "stream": STREAM,
    "session": "s",
    "messages": [says("ana", "Put me down for the raffle."), says("bob", "I have three cats.")],
}


async def posted(client, runtime):
    turn = (await client.post("/turns", json=TURN)).json()
    await runtime.queue.drain()
    return turn


async def personal(client, space):
    return [e["text"] for e in (await client.get("/episodes", params={"space": space})).json()["items"]]


async def job_notes(client):
    jobs = (await client.get("/jobs", params={"space": STREAM})).json()["items"]
    return {job["note"] for job in jobs if job["task"] == "personal"}


@pytest.mark.parametrize("turn_first", [True, False])
@pytest.mark.parametrize("by", ["given", "ours"])
async def test_a_record_keeps_its_turn_out_of_the_subjects_memory_whichever_comes_first(
    client, runtime, turn_first, by
):
    fields = {"space": STREAM, "kind": "request", "payload": {"what": "Raffle"}, "subjects": [ANA]}
    if turn_first:
        turn = await posted(client, runtime)
        assert await personal(client, ANA) == ["Put me down for the raffle."]
        await created(client, **fields, turn={"id": "t-7" if by == "given" else turn["id"]})
        await runtime.queue.drain()
    else:
        await created(client, **fields, turn={"id": "t-7"})
        await posted(client, runtime)
    assert await personal(client, ANA) == []
    assert await personal(client, BOB) == ["I have three cats."]
    assert any("raffle" in text for text in await personal(client, STREAM))
    assert f"kept out of personal memory, because records hold it: {ANA}" in await job_notes(client)


async def test_without_subjects_the_whole_batch_stays_out(client, runtime):
    await created(client, space=STREAM, kind="channel", payload={"name": "raffle", "value": True}, turn={"id": "t-7"})
    await posted(client, runtime)
    assert await personal(client, ANA) == await personal(client, BOB) == []
    assert await job_notes(client) == {"kept out of personal memory, because records hold it: the whole batch"}


async def test_a_record_of_a_viewers_own_space_names_the_turns_space(client, runtime):
    await created(client, turn={"id": "t-7", "space": STREAM})
    await posted(client, runtime)
    assert await personal(client, ANA) == []


async def test_a_change_raises_the_barrier_too(client, runtime):
    made = await created(client, space=STREAM, subjects=[BOB])
    await posted(client, runtime)
    await client.patch(f"/records/{made['id']}", json={"status": "done", "turn": {"id": "t-7"}})
    await runtime.queue.drain()
    assert await personal(client, BOB) == []
    assert await personal(client, ANA) != []


async def test_a_limited_key_writes_records_of_nobody_else(client, connect, tenant):
    limited = connect(tenant.issue(Role.WRITER, (ANA,)))
    assert (await record(limited)).status_code == 201
    assert (await record(limited, space=BOB)).status_code == 403
    assert (await record(limited, subjects=[BOB])).status_code == 403
    assert (await record(limited, turn={"id": "t", "space": STREAM})).status_code == 403
    reader = connect(tenant.issue(Role.READER))
    assert (await record(reader)).status_code == 403


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "poem"}, "kind"),
        ({"payload": {}}, "payload"),
        ({"payload": {"text": "x", "more": 1}}, "payload"),
        ({"payload": {"text": "x" * 1001}}, "payload.text"),
        ({"payload": {"text": "a\x00b"}}, "payload"),
        ({"payload": {"text": 7}}, "payload.text"),
        ({"expires_at": "2090-01-01T00:00:00"}, "expires_at"),
        ({"status": "lost"}, "status"),
        ({"subjects": ["nobody"]}, "subjects[0]"),
        ({"importance": 1}, "importance"),
    ],
)
async def test_bad_input_names_the_field(client, fields, field):
    reply = await record(client, **fields)
    assert reply.status_code == 422, reply.text
    assert field in [e["field"] for e in reply.json()["errors"]]


async def test_a_lone_surrogate_in_a_payload_is_refused(client):
    body = b'{"space": "user:a", "kind": "note", "payload": {"text": "a\\ud800"}}'
    reply = await client.post("/records", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422
