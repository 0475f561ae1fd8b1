"""Soul blocks: versions, order, activation, and the one limit on every way in."""

import asyncio

import pytest

from app.domain.callers import Role

SPACE = "agent:giulia"
HALF = "word " * 200
"""Some 200 tokens: two fit, three do not."""


async def create(client, name, text="You are kind.", **fields):
    reply = await client.post("/soul", json={"space": SPACE, "name": name, "text": text, **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def names(client):
    return [block["name"] for block in (await client.get("/soul", params={"space": SPACE})).json()["items"]]


async def identity(client):
    reply = await client.post(
        "/context/assemble", json={"space": SPACE, "query": "Hello", "trace": True, "timeout_ms": 30_000}
    )
    return reply.json()


async def test_a_block_can_be_read_where_the_reply_says_and_is_in_the_prompt(client):
    reply = await client.post("/soul", json={"space": SPACE, "name": "persona", "text": "You are Giulia."})
    assert (reply.status_code, reply.headers["ETag"]) == (201, '"1"')
    read = await client.get(reply.headers["Location"].removeprefix("/api/v1"))
    assert read.json() == reply.json()
    assert read.headers["ETag"] == '"1"'
    assert read.json().keys() == {
        *("id", "space", "name", "text", "position", "active", "version", "recorded_at", "reason")
    }
    assert '<block name="persona">You are Giulia.</block>' in (await identity(client))["prompt"]


async def test_blocks_come_in_their_order_and_a_new_one_comes_last(client):
    for name in ("persona", "tone", "values"):
        await create(client, name)
    await create(client, "limits", position=0)
    assert await names(client) == ["limits", "persona", "tone", "values"]
    prompt = (await identity(client))["prompt"]
    assert prompt.index("limits") < prompt.index("persona") < prompt.index("tone") < prompt.index("values")


async def test_blocks_are_reordered_in_one_go(client):
    blocks = [await create(client, name) for name in ("a", "b", "c")]
    a, b, c = (block["id"] for block in blocks)
    reply = await client.post("/soul/order", json={"space": SPACE, "ids": [c, a, b]})
    assert [(block["name"], block["position"]) for block in reply.json()["items"]] == [("c", 0), ("a", 1), ("b", 2)]
    assert await names(client) == ["c", "a", "b"]
    assert (await client.get(f"/soul/{c}")).json()["reason"] == "ordered"
    again = await client.post("/soul/order", json={"space": SPACE, "ids": [c, a, b]})
    assert [block["version"] for block in again.json()["items"]] == [2, 2, 2]


async def test_an_order_names_every_block_once(client, connect, new_tenant):
    a, b = (await create(client, "a"))["id"], (await create(client, "b"))["id"]
    foreign = (await create(connect(new_tenant().key), "c"))["id"]
    for ids in ([a], [a, a], [a, b, b], [a, foreign], [a, b, foreign], []):
        reply = await client.post("/soul/order", json={"space": SPACE, "ids": ids})
        assert reply.status_code == 422
    assert await names(client) == ["a", "b"]


async def test_an_inactive_block_is_listed_but_not_in_the_prompt(client):
    block = await create(client, "secret", "You never speak of it.", active=False)
    assert await names(client) == ["secret"]
    assert "never speak" not in (await identity(client))["prompt"]
    await client.patch(f"/soul/{block['id']}", json={"active": True})
    assert "never speak" in (await identity(client))["prompt"]


async def test_every_change_is_a_version_and_an_earlier_one_can_be_restored(client):
    block = await create(client, "tone", "One.")
    path = f"/soul/{block['id']}"
    for text in ("Two.", "Three."):
        await client.patch(path, json={"text": text})
    restored = await client.post(f"{path}/restore", json={"version": 1})
    assert (restored.json()["text"], restored.json()["version"]) == ("One.", 4)
    assert restored.json()["reason"] == "restored"
    assert restored.headers["ETag"] == '"4"'
    first = (await client.get(f"{path}/versions", params={"limit": 3})).json()
    rest = (await client.get(f"{path}/versions", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [b["text"] for b in first["items"] + rest["items"]] == ["One.", "Three.", "Two.", "One."]
    assert rest["next_cursor"] is None
    assert (await client.post(f"{path}/restore", json={"version": 9})).status_code == 404


async def test_a_name_is_unique_in_its_space(client):
    await create(client, "persona")
    tone = await create(client, "tone")
    again = await client.post("/soul", json={"space": SPACE, "name": "persona", "text": "x"})
    assert again.status_code == 409
    assert (await client.patch(f"/soul/{tone['id']}", json={"name": "persona"})).status_code == 409
    elsewhere = await client.post("/soul", json={"space": "agent:mira", "name": "persona", "text": "x"})
    assert elsewhere.status_code == 201
    await client.patch(f"/soul/{tone['id']}", json={"name": "voice"})
    await create(client, "tone")
    assert (await client.post(f"/soul/{tone['id']}/restore", json={"version": 1})).status_code == 409


async def test_blocks_with_one_name_written_at_the_same_moment_are_one_block(client):
    body = {"space": SPACE, "name": "persona", "text": "x"}
    replies = await asyncio.gather(*(client.post("/soul", json=body) for _ in range(4)))
    assert sorted(reply.status_code for reply in replies) == [201, 409, 409, 409]


async def test_no_way_in_lets_the_soul_outgrow_its_budget(client):
    """bud-06: create, edit, activation, restore and renaming all meet the same limit."""
    await create(client, "a", HALF)
    b = await create(client, "b", HALF)
    waiting = await create(client, "c", HALF, active=False)
    path_b, path_c = f"/soul/{b['id']}", f"/soul/{waiting['id']}"
    await client.patch(path_b, json={"text": "Short."})
    d = await create(client, "d", HALF)
    writes = [
        ("POST", "/soul", {"space": SPACE, "name": "e", "text": HALF}),
        ("PATCH", path_b, {"text": HALF}),
        ("PATCH", path_b, {"name": "n" * 200, "text": "word " * 100}),
        ("PATCH", path_c, {"active": True}),
        ("POST", f"{path_b}/restore", {"version": 1}),
    ]
    for method, path, json in writes:
        reply = await client.request(method, path, json=json)
        assert reply.status_code == 422, (method, path)
        assert "the limit is 500" in reply.json()["detail"]
        assert "tokens now" in reply.json()["detail"]
    assembled = await identity(client)
    assert assembled["tokens"]["soul"] <= 500
    assert assembled["dropped"] == []
    await client.delete(f"/soul/{d['id']}")
    assert (await client.post(f"{path_b}/restore", json={"version": 1})).status_code == 200


async def test_one_block_can_use_the_budget_to_the_last_token(client):
    block = await create(client, "a", "Short.")
    low, high = 1, 1000
    while high - low > 1:
        middle = (low + high) // 2
        reply = await client.patch(f"/soul/{block['id']}", json={"text": "word " * middle})
        low, high = (middle, high) if reply.status_code == 200 else (low, middle)
    await client.patch(f"/soul/{block['id']}", json={"text": "word " * low})
    assembled = await identity(client)
    assert 490 < assembled["tokens"]["soul"] <= 500
    assert assembled["prompt"].count("word") == low


async def test_writes_at_the_same_moment_cannot_outgrow_the_budget_together(client):
    bodies = [{"space": SPACE, "name": f"n{i}", "text": HALF} for i in range(4)]
    replies = await asyncio.gather(*(client.post("/soul", json=body) for body in bodies))
    assert sorted(reply.status_code for reply in replies) == [201, 201, 422, 422]


async def test_a_deleted_block_is_gone_with_all_versions(client):
    block = await create(client, "persona", "You are Giulia.")
    path = f"/soul/{block['id']}"
    await client.patch(path, json={"text": "You are Giulia, a cook."})
    reply = await client.delete(path)
    assert reply.json() == {"id": block["id"], "removed": {"versions": 2}}
    assert "Giulia" not in (await identity(client))["prompt"].replace(SPACE, "")
    for again in (await client.delete(path), await client.get(path), await client.get(f"{path}/versions")):
        assert again.status_code == 404
    await create(client, "persona")


async def test_an_old_version_cannot_be_changed(client):
    block = await create(client, "a")
    path = f"/soul/{block['id']}"
    old = {"If-Match": '"1"'}
    assert (await client.patch(path, json={"text": "Two."}, headers=old)).status_code == 200
    assert (await client.patch(path, json={"text": "Three."}, headers=old)).status_code == 412
    assert (await client.post(f"{path}/restore", json={"version": 1}, headers=old)).status_code == 412
    assert (await client.delete(path, headers=old)).status_code == 412
    assert (await client.delete(path, headers={"If-Match": '"2"'})).status_code == 200


async def test_the_same_write_sent_again_happens_once(client):
    body = {"space": SPACE, "name": "a", "text": "One."}
    key = {"Idempotency-Key": "k"}
    first = await client.post("/soul", json=body, headers=key)
    assert (await client.post("/soul", json=body, headers=key)).json() == first.json()
    assert (await client.post("/soul", json={**body, "name": "b"}, headers=key)).status_code == 409
    path = f"/soul/{first.json()['id']}"
    for method, url, json in [
        ("PATCH", path, {"text": "Two."}),
        ("POST", f"{path}/restore", {"version": 1}),
        ("POST", "/soul/order", {"space": SPACE, "ids": [first.json()["id"]]}),
    ]:
        replies = [await client.request(method, url, json=json, headers={"Idempotency-Key": url}) for _ in range(2)]
        assert replies[0].json() == replies[1].json()
    assert (await client.get(path)).json()["version"] == 3


@pytest.mark.parametrize(
    "patch", [{}, {"text": None}, {"name": ""}, {"active": "yes"}, {"position": -1}, {"position": 1.5}, {"space": "x"}]
)
async def test_an_edit_that_makes_no_sense_is_refused(client, patch):
    block = await create(client, "a")
    assert (await client.patch(f"/soul/{block['id']}", json=patch)).status_code == 422


async def test_only_an_editor_writes_and_every_key_reads(tenant, connect):
    editor, writer, reader = (connect(tenant.issue(role)) for role in (Role.EDITOR, Role.WRITER, Role.READER))
    block = await create(editor, "persona")
    path = f"/soul/{block['id']}"
    for client in (writer, reader):
        assert await names(client) == ["persona"]
        assert (await client.get(path)).status_code == 200
        assert (await client.get(f"{path}/versions")).status_code == 200
        for reply in (
            await client.post("/soul", json={"space": SPACE, "name": "x", "text": "x"}),
            await client.patch(path, json={"text": "x"}),
            await client.post(f"{path}/restore", json={"version": 1}),
            await client.post("/soul/order", json={"space": SPACE, "ids": [block["id"]]}),
            await client.delete(path),
        ):
            assert reply.status_code == 403
