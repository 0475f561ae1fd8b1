"""Nothing crosses tenants, and a key that is limited to spaces reaches no other: on every route."""

import uuid

import psycopg
import pytest
from routes import Victim, request_for, routes_of

from app.domain.callers import Role
from app.domain.ids import parse_id

SECRET = "xylophone"
SPACE = "user:victim"


async def written(client, path, **body):
    reply = await client.post(path, json={"space": SPACE, **body})
    assert reply.status_code in (200, 201), reply.text
    return reply.json()["id"]


async def a_failed_job(client, database_url) -> str:
    """The id of a job of the victim's, made to have failed."""
    job = (await client.get("/jobs", params={"space": SPACE})).json()["items"][0]["id"]
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        failed = "UPDATE jobs SET state = 'failed', error = %s WHERE id = %s"
        await connection.execute(failed, (f"no {SECRET}", parse_id(job).uuid))
    return job


def claimed(attribute):
    return {"subject": "Ana", "attribute": attribute, "value": SECRET}


@pytest.fixture
async def victim(client, runtime, database_url) -> Victim:
    """A tenant's space with an item of every kind, each of which holds the secret."""
    text = f"The secret is {SECRET}."
    posted = {"space": SPACE, "session": SECRET, "messages": [{"text": text}]}
    turn = (await client.post("/turns", json=posted)).json()
    await runtime.queue.drain()
    for episode in (await client.get("/episodes", params={"space": SPACE})).json()["items"]:
        await client.delete(f"/episodes/{episode['id']}")
    await written(client, "/memories", text="To be forgotten.")
    forgotten = await client.post("/forget", json={"space": SPACE, "content": "To be forgotten."})
    found = Victim(
        space=SPACE,
        memory=await written(client, "/memories", text=text, category="output_preference", importance=0.9),
        episode=await written(client, "/episodes", text=text),
        procedure=await written(client, "/procedures", text=text),
        block=await written(client, "/soul", name="persona", text=text),
        assembly=await written(client, "/context/assemble", query=f"What is the {SECRET}?", timeout_ms=30_000),
        turn=turn["id"],
        message=turn["messages"][0]["id"],
        session=turn["session"],
        job=await a_failed_job(client, database_url),
        correction=await written(client, "/corrections", **claimed("instrument")),
        question=await written(client, "/corrections", **claimed("toy"), scopes=["story:au1"]),
        receipt=forgotten.json()["receipt"]["id"],
        record=await written(client, "/records", kind="note", payload={"text": f"The note says {SECRET}."}),
    )
    items = {"memories": found.memory, "episodes": found.episode, "procedures": found.procedure, "soul": found.block}
    for resource, item in items.items():
        await client.patch(f"/{resource}/{item}", json={"text": text + " Still."})
    return found


async def everything(client, victim):
    """All that the victim has, as the owner sees it."""
    paths = [
        *(f"/{tier}?space={SPACE}&status=any" for tier in ("memories", "episodes", "procedures")),
        f"/soul?space={SPACE}",
        f"/corrections?space={SPACE}",
        f"/memories/{victim.memory}/versions",
        f"/soul/{victim.block}/versions",
        f"/spaces/{SPACE}",
        f"/turns/{victim.turn}",
        f"/messages?space={SPACE}",
        f"/sessions/{victim.session}",
        f"/sessions/{victim.session}/messages",
        f"/jobs/{victim.job}",
        f"/records?space={SPACE}",
        f"/records/{victim.record}/versions",
        "/history/settings",
    ]
    return [(await client.get(path)).json() for path in paths]


def api_routes(app):
    return [(method, path) for method, path in routes_of(app) if path.startswith("/api/")]


async def test_every_route_has_a_request_that_reaches_the_owners_data(app, client, victim):
    """The table of requests is worth something only if they succeed with the owner's key."""
    for method, path in sorted(api_routes(app), key=lambda route: (route[0] == "DELETE", -len(route[1]))):
        url, arguments = request_for(method, path, victim)
        reply = await client.request(method, url, **arguments)
        assert reply.status_code < 300, (method, path, reply.text)


async def test_a_foreign_tenants_key_reaches_nothing_on_any_route(app, client, connect, new_tenant, victim):
    """leak-04: one predicate for every route: list, search, read, edit, versions, assembly, counts."""
    stranger = connect(new_tenant().key)
    before = await everything(client, victim)
    for method, path in api_routes(app):
        url, arguments = request_for(method, path, victim)
        reply = await stranger.request(method, url, **arguments)
        assert SECRET not in reply.text, (method, path)
        if "{id}" in path or "{assembly_id}" in path:
            assert reply.status_code == 404, (method, path)
    assert await everything(client, victim) == before


@pytest.mark.parametrize("role", [Role.ADMINISTRATOR, Role.READER])
async def test_a_key_of_another_space_reaches_nothing_on_any_route(app, client, *, connect, tenant, victim, role):
    """leak-04: the same within one tenant, for a key that is limited to another space."""
    limited = connect(tenant.issue(role, ("user:other",)))
    before = await everything(client, victim)
    for method, path in api_routes(app):
        url, arguments = request_for(method, path, victim)
        reply = await limited.request(method, url, **arguments)
        assert SECRET not in reply.text, (method, path)
        if path == "/api/v1/spaces":
            assert reply.json() == {"items": [], "next_cursor": None}
        elif path == "/api/v1/tokens/current":
            assert reply.json() == {"role": role.label, "spaces": ["user:other"], "expires_at": None}
        else:
            assert reply.status_code in (403, 404), (method, path)
            assert reply.status_code == 404 or "{id}" not in path
    assert await everything(client, victim) == before


async def test_a_limited_key_cannot_name_another_space_beside_its_own(connect, tenant, victim):
    limited = connect(tenant.issue(Role.ADMINISTRATOR, ("user:other",)))
    for path, fields in [
        ("/search", {"also_read": [victim.space]}),
        ("/context/assemble", {"also_read": [victim.space]}),
        ("/context/assemble", {"persona": victim.space}),
    ]:
        reply = await limited.post(path, json={"space": "user:other", "query": "", **fields})
        assert reply.status_code == 403
        assert SECRET not in reply.text


async def test_a_foreign_id_answers_like_an_unknown_one(client, connect, new_tenant, victim):
    """leak-10: deleting by a foreign or a random id removes nothing and never reports success."""
    stranger = connect(new_tenant().key)
    prefix, _, body = victim.memory.partition("_")
    unknown = f"{prefix}_{'0' * len(body)}"
    for method, suffix in [("GET", ""), ("DELETE", ""), ("GET", "/versions"), ("POST", "/undo")]:
        foreign = await stranger.request(method, f"/memories/{victim.memory}{suffix}")
        random = await stranger.request(method, f"/memories/{unknown}{suffix}")
        malformed = await stranger.request(method, f"/memories/{uuid.UUID(int=7)}{suffix}")
        assert [r.status_code for r in (foreign, random, malformed)] == [404] * 3
        told = [r.text.replace(i, "ID") for r, i in ((foreign, victim.memory), (random, unknown))]
        assert told[0] == told[1]
    assert (await client.get(f"/memories/{victim.memory}")).status_code == 200


async def test_a_foreign_entry_cannot_be_pinned_into_a_prompt(connect, new_tenant, victim):
    stranger = connect(new_tenant().key)
    overrides = {"must_include": [victim.memory]}
    reply = await stranger.post("/context/assemble", json={"space": SPACE, "query": "x", "overrides": overrides})
    assert reply.status_code == 404
    assert SECRET not in reply.text


async def test_counts_of_a_space_are_those_of_the_tenant_alone(client, connect, new_tenant, victim):
    """leak-04: counts leave other tenants' rows out."""
    stranger = connect(new_tenant().key)
    assert (await client.get(f"/spaces/{SPACE}")).json()["entries"] == {"memories": 2, "episodes": 1, "procedures": 1}
    empty = (await stranger.get(f"/spaces/{SPACE}")).json()
    assert empty == {
        "name": SPACE,
        "created_at": None,
        "entries": {"memories": 0, "episodes": 0, "procedures": 0},
    }
    assert (await stranger.get("/spaces")).json()["items"] == []
