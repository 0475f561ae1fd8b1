"""What is forgotten is gone from everywhere, says so, and stays away."""

from datetime import UTC, datetime

import psycopg
import pytest

from app.domain.callers import Role
from app.domain.entries import Content, Tier
from app.domain.ids import parse_id

SPACE = "user:forgetful"
SECRET = "The treasure lies under the quincunx."


async def remember(client, text=SECRET, resource="memories", **fields):
    reply = await client.post(f"/{resource}", json={"space": SPACE, "text": text, **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


async def forget(client, **selector):
    return await client.post("/forget", json={"space": SPACE, **selector})


async def forgotten(client, **selector):
    reply = await forget(client, **selector)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def assemble(client, query, **fields):
    body = {"space": SPACE, "query": query, "timeout_ms": 30_000, **fields}
    return (await client.post("/context/assemble", json=body)).json()


def found_in(database_url, text):
    """The tables in which a text is found, whatever the column."""
    with psycopg.connect(database_url) as connection:
        tables = connection.execute(
            """SELECT format('%I.%I', n.nspname, c.relname)
                 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
                  AND n.nspname NOT LIKE 'pg_toast%'"""
        ).fetchall()
        return [
            table
            for (table,) in tables
            if connection.execute(f"SELECT 1 FROM {table} t WHERE strpos(t::text, %s) > 0 LIMIT 1", (text,)).fetchone()
        ]


async def use_everywhere(client, text=SECRET):
    """Have a text in every table that can hold it: versions, log, history, corrections, a question."""
    memory = await remember(client, text)
    await client.patch(f"/memories/{memory}", json={"tags": ["x"]})
    await assemble(client, f"Do you remember? {text}", history=[{"text": f'I "said": {text}'}])
    await client.post("/corrections", json={"space": SPACE, "id": memory, "scope": "story:au1"})
    asked = {"said": f"In this scene: {text}", "scopes": ["story:au1"]}
    await client.post("/corrections", json={"space": SPACE, **asked})
    await client.get("/assemblies", params={"space": SPACE})
    return memory


async def test_what_is_forgotten_is_found_in_no_table(client, database_url):
    """del-01, del-05: every table, the log and the corrections included; the receipt says what went, and verifies."""
    memory = await use_everywhere(client)
    assert len(found_in(database_url, "quincunx")) >= 3
    done = await forgotten(client, ids=[memory])
    receipt = done["receipt"]
    assert (done["outcome"], done["entries"], receipt["ids"]) == ("erased", 1, [memory])
    assert {"versions", "vectors", "postings", "corrections", "assemblies", "tombstones"} <= receipt["removed"].keys()
    assert all(
        receipt["removed"][kind] > 0 for kind in ("versions", "vectors", "postings", "corrections", "assemblies")
    )
    assert found_in(database_url, "quincunx") == []
    assert "quincunx" not in (await assemble(client, "Where does the treasure lie?"))["prompt"]
    verified = (await client.get(f"/receipts/{receipt['id']}/verify")).json()
    assert verified == {"valid": True, "sealed": True, "remaining": {}}
    assert (await client.get(f"/receipts/{receipt['id']}")).json() == receipt


async def test_a_deleted_space_is_found_in_no_table(client, database_url):
    """del-04, del-06: nothing of it is visible in any view or count; the receipt counts every table."""
    memory = await use_everywhere(client)
    await client.post("/soul", json={"space": SPACE, "name": "persona", "text": SECRET})
    await remember(client, SECRET, "episodes")
    receipt = (await client.delete(f"/spaces/{SPACE}")).json()
    assert receipt["kind"] == "space"
    assert receipt["removed"]["entry_versions"] >= 3
    assert receipt["removed"]["soul_blocks"] == 1
    assert found_in(database_url, "quincunx") == []
    assert (await client.get(f"/spaces/{SPACE}")).json()["created_at"] is None
    assert (await client.get("/spaces")).json()["items"] == []
    assert (await client.get(f"/memories/{memory}")).status_code == 404
    for path in ("memories", "episodes", "soul", "corrections", "assemblies"):
        assert (await client.get(f"/{path}", params={"space": SPACE})).json()["items"] == []
    assert (await client.get(f"/receipts/{receipt['id']}/verify")).json()["valid"] is True
    assert (await client.delete(f"/spaces/{SPACE}")).status_code == 404


async def test_a_space_in_memory_is_gone_with_what_it_held(client, runtime):
    await remember(client)
    for _ in range(3):
        await assemble(client, "Where does the treasure lie?")
        await runtime.assembly.retriever.resident.loaded()
    await client.delete(f"/spaces/{SPACE}")
    assert "quincunx" not in (await assemble(client, "Where does the treasure lie?"))["prompt"]
    await remember(client, "The treasure is a book.")
    prompt = (await assemble(client, "Where does the treasure lie?"))["prompt"]
    assert "book" in prompt
    assert "quincunx" not in prompt


async def test_a_receipt_that_was_changed_or_a_row_that_came_back_does_not_verify(client, database_url, tenant):
    memory = await remember(client)
    receipt = (await forgotten(client, ids=[memory]))["receipt"]
    path = f"/receipts/{receipt['id']}/verify"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE receipts SET body = body || '{\"entries\": 7}' WHERE body->'ids'->>0 = %s", (memory,)
        )
        assert (await client.get(path)).json()["sealed"] is False
        connection.execute(
            "UPDATE receipts SET body = body || '{\"entries\": 1}' WHERE body->'ids'->>0 = %s", (memory,)
        )
        assert (await client.get(path)).json()["valid"] is True
        connection.execute(
            """INSERT INTO entry_uses SELECT r.tenant_id, r.space_id, e.id, 1, 'x' FROM receipts r,
               LATERAL (SELECT encode(substr(decode(%s, 'hex'), 1, 16), 'hex')::uuid AS id) e
               WHERE r.body->'ids'->>0 = %s""",
            (raw_hex(memory), memory),
        )
        assert (await client.get(path)).json() == {"valid": False, "sealed": True, "remaining": {"entry_uses": 1}}


def raw_hex(public_id):
    return parse_id(public_id).uuid.hex


async def test_several_matches_are_listed_and_none_is_erased(client):
    ids = {await remember(client), await remember(client, scope="story:au1")}
    done = await forgotten(client, content=SECRET)
    assert (done["outcome"], done["entries"], done["receipt"]) == ("ambiguous", 0, None)
    assert {match["id"] for match in done["matches"]} == ids
    assert len((await client.get("/memories", params={"space": SPACE})).json()["items"]) == 2


async def test_a_near_match_is_not_forgotten(client):
    """del-07: only "works in Dresden" is there; nothing is erased, and the wish itself is not remembered."""
    await remember(client, "I work in Dresden.")
    reply = await forget(client, content="I live in Dresden.")
    assert reply.status_code == 404
    items = (await client.get("/memories", params={"space": SPACE, "status": "any"})).json()["items"]
    assert [item["text"] for item in items] == ["I work in Dresden."]


async def test_an_exact_text_is_blind_to_case_and_spacing(client):
    await remember(client, "I work in Dresden.")
    assert (await forgotten(client, content="  i WORK in   dresden"))["entries"] == 1


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"content": ""},
        {"content": "   "},
        {"ids": []},
        {"id": "x"},
        {"selector": "all"},
        {"contnet": SECRET},
        {"author": {}},
        {"author": {"platform": "twitch"}},
        {"since": None},
        {"since": "2026-01-01T00:00:00"},
        {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
        {"content": SECRET, "since": "2020-01-01T00:00:00Z"},
        {"content": "a\x00b"},
        {"content": "x" * 20_001},
    ],
)
async def test_an_empty_or_unknown_selector_is_refused(client, selector):
    """del-09: 422 that names the field, and nothing is changed."""
    memory = await remember(client)
    reply = await forget(client, **selector)
    assert reply.status_code == 422
    assert reply.json()["errors"]
    assert (await client.get(f"/memories/{memory}")).status_code == 200


async def test_an_unknown_id_erases_nothing(client):
    """del-08: an id of the wrong kind, or one that is not there, is never an empty success."""
    memory = await remember(client)
    wrong_kind = "epi" + memory[3:]
    for ids in ([wrong_kind], [memory, wrong_kind]):
        assert (await forget(client, ids=ids)).status_code == 404
    assert (await client.get(f"/memories/{memory}")).status_code == 200


async def test_a_dry_run_says_what_would_go_and_erases_nothing(client):
    memory = await remember(client)
    done = await forgotten(client, ids=[memory], dry_run=True)
    assert (done["entries"], done["receipt"]["dry_run"]) == (1, True)
    assert (await client.get(f"/receipts/{done['receipt']['id']}")).status_code == 404
    would = (await client.delete(f"/spaces/{SPACE}", params={"dry_run": "true"})).json()
    assert would["removed"]["entry_versions"] == 1
    assert (await client.get(f"/memories/{memory}")).status_code == 200


async def test_by_author_and_by_time(client):
    ana = await remember(client, "I keep bees.", author={"name": "Ana", "platform": "twitch", "id": "7"})
    await remember(client, "I keep cats.", author={"name": "Ana", "platform": "twitch", "id": "8"})
    await remember(client, "I keep dogs.")
    done = await forgotten(client, author={"platform": "twitch", "id": "7"})
    assert done["receipt"]["ids"] == [ana]
    now = datetime.now(UTC).isoformat()
    assert (await forget(client, until="2020-01-01T00:00:00Z")).status_code == 404
    assert (await forgotten(client, until=now))["entries"] == 2


async def test_what_comes_from_a_forgotten_entry_alone_goes_with_it(client):
    """del-04, del-05: derived items go; others that quote the text are named and left alone."""
    memory = await remember(client, "I keep bees.")
    derived = await remember(client, "The user is a beekeeper.", source=memory)
    quoting = await remember(client, 'Ana said: "I keep bees." Then she left.', "episodes")
    done = await forgotten(client, ids=[memory])
    assert set(done["receipt"]["ids"]) == {memory, derived}
    assert done["receipt"]["derived"] == 1
    assert done["mentioned_in"] == [quoting]


async def test_what_is_derived_again_from_the_same_source_is_not_created(client, runtime, tenant):
    """del-05: a tombstone blocks what was forgotten; saying it again does not meet it."""
    memory = await remember(client)
    await forgotten(client, ids=[memory])
    caller = await runtime.keys.authenticate(tenant.key)
    contents = [Content(text=SECRET), Content(text="Something else.")]
    effects = await runtime.entries.create(caller, SPACE, Tier.MEMORIES, contents, derived=True)
    assert [effect.entry.content.text for effect in effects] == ["Something else."]
    again = await remember(client)
    assert (await client.get(f"/memories/{again}")).json()["status"] == "active"


async def test_a_space_is_for_administrators(client, connect, tenant):
    await remember(client)
    for role in (Role.READER, Role.WRITER, Role.EDITOR):
        assert (await connect(tenant.issue(role)).delete(f"/spaces/{SPACE}")).status_code == 403
    reader = connect(tenant.issue(Role.READER))
    assert (await forget(reader, content=SECRET)).status_code == 403
