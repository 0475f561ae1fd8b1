"""What was assembled can be looked at and rendered again."""


async def _assemble(client, **body):
    reply = await client.post("/context/assemble", json={"space": "user:1", "query": "Where do I live?", **body})
    assert reply.status_code == 200, reply.text
    return reply.json()


async def _remember(client, text: str, **body) -> str:
    reply = await client.post("/memories", json={"space": "user:1", "text": text, **body})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


async def test_a_replay_has_the_bytes_of_the_first_time_even_after_an_edit(client):
    memory = await _remember(client, "I live in Turin.")
    first = await _assemble(client)
    await client.patch(f"/memories/{memory}", json={"text": "I live in Rome."})
    replayed = (await client.post(f"/assemblies/{first['id']}/replay")).json()
    assert replayed["prompt"] == first["prompt"]
    assert replayed["identical"] is True
    assert replayed["erased"] == 0


async def test_what_was_erased_is_in_no_stored_assembly(client):
    memory = await _remember(client, "I live in Turin.")
    first = await _assemble(client)
    await client.delete(f"/memories/{memory}")
    replayed = (await client.post(f"/assemblies/{first['id']}/replay")).json()
    looked_at = await client.get(f"/assemblies/{first['id']}")
    assert replayed["identical"] is False
    assert replayed["erased"] == 1
    assert "Turin" not in looked_at.text


async def test_an_assembly_can_be_looked_at_with_its_trace(client):
    memory = await _remember(client, "I live in Turin.")
    first = await _assemble(client, trace=True)
    looked_at = (await client.get(f"/assemblies/{first['id']}")).json()
    assert looked_at["prompt"] == first["prompt"]
    assert [e["id"] for e in looked_at["entries"]] == [memory]
    assert looked_at["request"]["query"] == "Where do I live?"
    assert looked_at["entries"] == first["entries"]


async def test_assemblies_are_listed_newest_first_in_pages(client):
    made = [(await _assemble(client))["id"] for _ in range(3)]
    page = (await client.get("/assemblies", params={"space": "user:1", "limit": 2})).json()
    rest = await client.get("/assemblies", params={"space": "user:1", "limit": 2, "cursor": page["next_cursor"]})
    assert [a["id"] for a in page["items"] + rest.json()["items"]] == made[::-1]
    assert rest.json()["next_cursor"] is None


async def test_record_false_leaves_no_trace_in_log_and_use_counts(client):
    await _remember(client, "I live in Turin.")
    unrecorded = await _assemble(client, record=False, trace=True)
    assert (await client.get(f"/assemblies/{unrecorded['id']}")).status_code == 404
    assert (await client.get("/assemblies", params={"space": "user:1"})).json()["items"] == []
    again = await _assemble(client, trace=True)
    assert again["entries"][0]["signals"]["frequency"] == 0.0


async def test_an_entry_counts_one_use_a_day_without_a_session(client):
    await _remember(client, "I live in Turin.")
    for _ in range(3):
        await _assemble(client)
    await client.get("/assemblies", params={"space": "user:1"})
    seen = await _assemble(client, trace=True)
    assert 0.2 < seen["entries"][0]["signals"]["frequency"] < 0.25  # log(2) / log(21)


async def test_a_foreign_tenant_finds_no_assembly(client, connect, new_tenant):
    first = await _assemble(client)
    foreign = connect(new_tenant().key)
    assert (await foreign.get(f"/assemblies/{first['id']}")).status_code == 404
    assert (await foreign.post(f"/assemblies/{first['id']}/replay")).status_code == 404
    assert (await foreign.get("/assemblies", params={"space": "user:1"})).json()["items"] == []
