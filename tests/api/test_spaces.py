"""Spaces: what a key reaches, by name, with counts."""

from urllib.parse import quote

import pytest

from app.domain.callers import Role


async def fill(client, *spaces):
    for space in spaces:
        await client.post("/memories", json={"space": space, "text": "I like tea."})


async def test_spaces_are_listed_by_name_with_the_active_entries_of_every_tier(client):
    await fill(client, "user:b", "user:a")
    await client.post("/episodes", json={"space": "user:b", "text": "We had tea."})
    await client.post("/memories", json={"space": "user:a", "text": "I live in Rome."})
    await client.post("/memories", json={"space": "user:a", "text": "I live in Turin."})
    a, b = (await client.get("/spaces")).json()["items"]
    assert (a["name"], a["entries"]) == ("user:a", {"memories": 2, "episodes": 0, "procedures": 0})
    assert (b["name"], b["entries"]) == ("user:b", {"memories": 1, "episodes": 1, "procedures": 0})
    assert a["created_at"].endswith("Z")
    assert (await client.get("/spaces/user:b")).json() == b


async def test_what_is_deleted_is_no_longer_counted(client):
    written = (await client.post("/memories", json={"space": "user:a", "text": "I like tea."})).json()
    await client.delete(f"/memories/{written['id']}")
    assert (await client.get("/spaces/user:a")).json()["entries"]["memories"] == 0


async def test_spaces_come_in_pages(client):
    names = [f"user:{i}" for i in range(5)]
    await fill(client, *names)
    seen, cursor = [], None
    while True:
        page = (await client.get("/spaces", params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        seen += [item["name"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == names


async def test_a_limited_key_sees_its_own_spaces(client, tenant, connect):
    await fill(client, "user:1", "user:2")
    limited = connect(tenant.issue(Role.READER, ("user:2", "user:3")))
    assert [item["name"] for item in (await limited.get("/spaces")).json()["items"]] == ["user:2"]
    assert (await limited.get("/spaces/user:3")).json()["created_at"] is None
    assert (await limited.get("/spaces/user:1")).status_code == 403


@pytest.mark.parametrize(("name", "path"), [("viewer:x:@Zoë B", "viewer:x:@zoë b"), ("user:a?b#c%", "user:a?b#c%")])
async def test_a_name_with_odd_characters_is_read_by_its_escaped_path(client, name, path):
    await fill(client, name)
    reply = await client.get(f"/spaces/{quote(name)}")
    assert (reply.json()["name"], reply.json()["entries"]["memories"]) == (path, 1)


@pytest.mark.parametrize("name", ["nonsense", "user:", "king:1", "viewer:x"])
async def test_a_malformed_name_is_refused(client, name):
    assert (await client.get(f"/spaces/{name}")).status_code == 422
