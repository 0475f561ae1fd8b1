"""What other programs exported, in a running service: once each, and never what was forgotten."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import product

import psycopg
import pytest

from app.domain.callers import Caller, Role
from app.domain.spaces import SpaceKey
from app.importing.formats import format_of
from app.importing.items import BrokenFileError
from app.importing.service import Import
from app.runtime import new_uuid
from app.store.exported import _Version
from app.store.keys import find_tenant
from tests.unit.importing.files import card, choices, conversation, png

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SPACE = "user:ana"


@pytest.fixture
def bring(runtime, tenant, database_url, tmp_path):
    """Imports a file into the tenant's store; the outcome, and what was bad."""
    from app.importing.formats import opened_items  # noqa: PLC0415 - read by this fixture alone

    caller = Caller(find_tenant(database_url, tenant.name), Role.ADMINISTRATOR)

    async def bring(content, *, dry_run=False, **given):
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        told = []
        with opened_items(path, format_of(path), choices(**given)) as (items, _):
            into = Import(None if dry_run else caller, None if dry_run else runtime, NOW, told.append)
            return await into.bring(items, lambda _: None), [(one.where, one.why) for one in told]

    return bring


async def listed(client, path, **params):
    reply = await client.get(path, params=params)
    assert reply.status_code == 200, reply.text
    return reply.json()["items"]


async def test_a_chat_becomes_history_episodes_and_memories_once(bring, client, runtime):
    chats = [
        conversation(
            ("user", "I moved to Turin in May."), ("assistant", "Lovely."), ("user", "I am allergic to nuts.")
        ),
        conversation(("user", "What is a quark?"), ("assistant", "A particle."), name="c-2"),
    ]
    done, told = await bring(chats)
    assert (done.turns, done.messages, done.known, told) == (3, 5, 0, [])
    await runtime.queue.drain()
    messages = await listed(client, "/messages", space=SPACE)
    assert [m["text"] for m in messages][::-1] == [
        "I moved to Turin in May.", "Lovely.", "I am allergic to nuts.", "What is a quark?", "A particle.",
    ]  # fmt: skip
    assert messages[-1]["at"].startswith("2023-11-14T22:13:21")
    memories = await listed(client, "/memories", space=SPACE)
    assert any("Turin" in m["text"] and m["valid_from"].startswith("2023-11-14") for m in memories)
    assert len(await listed(client, "/episodes", space=SPACE)) == 3
    prompt = await client.post("/context/assemble", json={"space": SPACE, "query": "Where do I live?"})
    assert "Turin" in prompt.json()["prompt"]

    again, _ = await bring(chats)
    assert (again.turns, again.messages, again.known) == (0, 0, 5)
    await runtime.queue.drain()
    assert await listed(client, "/messages", space=SPACE) == messages
    assert await listed(client, "/memories", space=SPACE) == memories


async def test_a_later_export_brings_what_is_new_in_it(bring, client):
    await bring([conversation(("user", "Hi"))])
    done, told = await bring([conversation(("user", "Hi"), ("assistant", "Hello"), ("user", "More"))])
    assert (done.messages, done.known, told) == (2, 1, [])
    assert [m["text"] for m in await listed(client, "/messages", space=SPACE)] == ["More", "Hello", "Hi"]


async def test_history_that_has_run_out_does_not_come_twice(bring, client, runtime, database_url, tenant):
    chats = [conversation(("user", "I play the cello."))]
    await bring(chats)
    await runtime.queue.drain()
    before = await listed(client, "/memories", space=SPACE)
    with psycopg.connect(database_url, autocommit=True) as connection:
        tenant_id = find_tenant(database_url, tenant.name)
        for table in ("message_postings", "messages", "turns"):
            connection.execute(f"DELETE FROM {table} WHERE tenant_id = %s", [tenant_id])
    assert (await bring(chats))[0].known == 1
    await runtime.queue.drain()
    assert await listed(client, "/memories", space=SPACE) == before


async def test_memories_of_another_program_come_once_and_yield_to_what_was_said_since(bring, client):
    await client.post("/memories", json={"space": SPACE, "text": "I live in Turin"})
    rows = [
        {"id": "1", "memory": "I live in Rome", "user_id": "ana", "created_at": "2020-05-01T00:00:00Z"},
        {"id": "2", "memory": "I collect clocks", "user_id": "ana", "categories": ["hobby"], "created_at": None},
        {"id": "3", "memory": "I am Ben", "user_id": "ben"},
    ]
    done, told = await bring({"results": rows}, space=None)
    assert (done.memories, told) == (3, [])
    found = {m["text"]: m for m in await listed(client, "/memories", space=SPACE, status="any")}
    assert found["I live in Rome"]["status"] == "superseded"
    assert found["I live in Turin"]["status"] == "active"
    assert found["I collect clocks"]["tags"] == ["hobby"]
    assert [m["source"] for m in await listed(client, "/memories", space="user:ben")] == ["mem0:3"]
    again, _ = await bring({"results": rows}, space=None)
    assert (again.memories, again.known) == (0, 3)
    assert {m["text"]: m for m in await listed(client, "/memories", space=SPACE, status="any")} == found


async def test_what_was_forgotten_or_erased_stays_away(bring, client):
    """del-05: the export still has it."""
    rows = [
        {"id": "1", "memory": "I keep bees", "user_id": "ana", "created_at": "2024-05-01T00:00:00Z"},
        {"id": "2", "memory": "I keep goats", "user_id": "ana"},
    ]
    kept = (await client.post("/memories", json={"space": SPACE, "text": "I keep bees"})).json()["id"]
    assert (await client.post("/forget", json={"space": SPACE, "ids": [kept]})).status_code == 200
    done, _ = await bring(rows, space=None)
    assert (done.memories, done.forgotten) == (1, 1)
    [goats] = await listed(client, "/memories", space=SPACE)
    await client.delete(f"/memories/{goats['id']}")
    again, _ = await bring(rows, space=None)
    assert (again.memories, again.known) == (0, 2)
    chat, _ = await bring([conversation(("user", "I keep bees"))])
    assert (chat.messages, chat.forgotten) == (0, 1)
    assert await listed(client, "/messages", space=SPACE) == []


async def test_bad_rows_are_named_and_the_rest_comes(bring, client):
    rows = [
        {"id": "1", "memory": "I row", "user_id": "ana"},
        {"id": "2", "memory": "a\0b", "user_id": "ana"},
        {"id": "3", "memory": "a\ud800b", "user_id": "ana"},
        {"id": "4", "memory": "x" * 20_001, "user_id": "ana"},
        {"id": "5", "memory": " ", "user_id": "ana"},
        {"id": "6", "memory": "I sing", "user_id": "a/b"},
        {"id": "7", "memory": "I swim", "user_id": "ana", "created_at": "yesterday"},
        {"id": "8", "memory": "I ski", "user_id": "ana", "expiration_date": "2020-01-01", "created_at": "2024-01-01"},
        {"id": "9", "memory": "I sew", "user_id": "ana"},
    ]
    content = ("[" + ",\n".join(map(json.dumps, rows)) + "]").encode()
    done, told = await bring(content, space=None)
    assert (done.memories, done.bad) == (2, 7)
    assert sorted(where for where, _ in told) == [f"line {number}" for number in range(2, 9)]
    assert "NUL" in dict(told)["line 2"]
    assert [m["text"] for m in await listed(client, "/memories", space=SPACE)] == ["I sew", "I row"]
    chat, told = await bring([conversation(("user", "fine"), ("user", "a\0b"), ("user", "x" * 20_001))])
    assert (chat.messages, chat.bad, chat.cut) == (2, 1, 1)
    again, told = await bring([conversation(("user", "fine"), ("user", "a\0b"), ("user", "x" * 20_001))])
    assert (again.messages, again.known, again.bad, len(told)) == (0, 2, 1, 1)  # what is bad is told every time


async def test_a_file_that_breaks_off_brings_what_came_before(bring, client):
    content = b'[{"id": "1", "memory": "I row", "user_id": "ana"}, {"id": '
    with pytest.raises(BrokenFileError):
        await bring(content, space=None)
    assert [m["text"] for m in await listed(client, "/memories", space=SPACE)] == ["I row"]


async def test_a_dry_run_changes_nothing_and_says_the_same(bring, client):
    rows = [{"id": "1", "memory": "I row", "user_id": "ana"}, {"id": "2", "memory": "", "user_id": "ana"}]
    done, told = await bring(rows, space=None, dry_run=True)
    assert (done.memories, done.bad, len(told)) == (1, 1, 1)
    assert await listed(client, "/memories", space=SPACE) == []
    assert (await bring([conversation(("user", "hi"))], dry_run=True))[0].messages == 1
    assert (await bring(card(), dry_run=True, space=None))[0].blocks == 2
    assert await listed(client, "/spaces") == []


async def test_a_character_speaks_and_knows_its_world(bring, client):
    book = {
        "name": "b",
        "entries": [{"keys": ["Calypso"], "content": "The Calypso has a cracked reactor.", "enabled": True}],
    }
    long = "\n\n".join(f"Mira once crossed the strait number {n} in a storm, and tells of it." for n in range(60))
    done, told = await bring(png(chara=card(scenario=long, character_book=book)), space=None)
    assert (done.blocks, done.memories, done.unfit, told) == (3, 61, ["scenario"], [])
    blocks = {b["name"]: b for b in await listed(client, "/soul", space="character:Mira")}
    assert {name: block["active"] for name, block in blocks.items()} == {
        "persona": True, "personality": True, "scenario": False,
    }  # fmt: skip
    asked = {
        "space": SPACE,
        "persona": "character:Mira",
        "also_read": ["lore:Mira"],
        "query": "What about the Calypso?",
    }
    prompt = (await client.post("/context/assemble", json=asked)).json()["prompt"]
    assert "Mira is a captain." in prompt
    assert "cracked reactor" in prompt
    again, _ = await bring(png(chara=card(scenario=long, character_book=book)), space=None)
    assert (again.blocks, again.memories, again.known) == (0, 0, 4)


async def test_a_soul_block_that_was_erased_does_not_come_back_with_its_card(bring, client):
    """del-05: the card still has it."""
    await bring(card(), space=None)
    blocks = {b["name"]: b["id"] for b in await listed(client, "/soul", space="character:Mira")}
    await client.delete(f"/soul/{blocks['persona']}")
    await client.patch(f"/soul/{blocks['personality']}", json={"name": "manner"})
    done, told = await bring(card(), space=None)
    assert (done.blocks, done.known, told) == (0, 2, [])
    assert [b["name"] for b in await listed(client, "/soul", space="character:Mira")] == ["manner"]
    done, _ = await bring(card(description="{{char}} is a pilot."), space=None)  # of which nobody has forgotten a word
    assert (done.blocks, done.known) == (1, 1)


async def test_what_was_erased_by_hand_does_not_come_with_a_card(bring, client):
    block = {"space": "character:Mira", "name": "who", "text": "Mira is a captain."}
    written = (await client.post("/soul", json=block)).json()["id"]
    await client.delete(f"/soul/{written}")
    done, _ = await bring(card(), space=None)
    assert (done.blocks, done.forgotten) == (1, 1)
    assert [b["name"] for b in await listed(client, "/soul", space="character:Mira")] == ["personality"]


async def test_nothing_comes_back_to_a_space_that_was_erased(bring, client, runtime):
    chats = [conversation(("user", "I moved to Turin in May."), ("assistant", "Lovely."))]
    rows = [{"id": "1", "memory": "I keep bees", "user_id": "ana", "created_at": "2024-05-01T00:00:00Z"}]
    for content in (chats, rows, card()):
        await bring(content)
    assert (await client.delete(f"/spaces/{SPACE}")).status_code == 200
    assert [(await bring(content))[0].forgotten for content in (chats, rows, card())] == [2, 1, 2]
    await runtime.queue.drain()
    for path in ("/messages", "/memories", "/episodes", "/soul"):
        assert await listed(client, path, space=SPACE) == []
    since = [{"id": "2", "memory": "I keep goats", "user_id": "ana", "created_at": "2200-01-01T00:00:00Z"}]
    assert (await bring(since))[0].memories == 1


@pytest.fixture
def own(runtime, tenant, database_url):
    """Exports a space of the tenant, and imports it again; the outcome, and the lines that were bad."""
    address = SpaceKey(find_tenant(database_url, tenant.name), SPACE)

    async def export():
        return [line async for line in runtime.transfer.export(address)]

    async def bring(lines):
        told = {}
        done = await runtime.transfer.bring(
            address, lambda: lines, runtime.entries.embedders, told.__setitem__, lambda _: None
        )
        return done, told

    return export, bring


async def lived(client, runtime):
    """Something of everything that a space can hold; the ids by kind."""
    said = {
        "space": SPACE, "session": "s", "reply": "How nice!",
        "messages": [{"text": "I play the viola."}, {"text": "I own a telescope."}],
    }  # fmt: skip
    turn = (await client.post("/turns", json=said)).json()
    await runtime.queue.drain()
    memory = (await client.post("/memories", json={"space": SPACE, "text": "I keep bees."})).json()["id"]
    block = (await client.post("/soul", json={"space": SPACE, "name": "tone", "text": "Be dry."})).json()["id"]
    note = {"space": SPACE, "kind": "note", "payload": {"text": "Play a song on Friday."}}
    record = (await client.post("/records", json=note)).json()["id"]
    return {"messages": turn["messages"][0]["id"], "memories": memory, "soul": block, "records": record}


async def everything(client):
    found = {path: await listed(client, path, space=SPACE) for path in ("/memories", "/soul", "/records", "/messages")}
    found["heard"] = await listed(client, "/messages", space=SPACE, query="viola telescope")
    return found


async def test_a_space_of_everything_comes_as_it_was_and_once(own, client, runtime):
    export, bring = own
    await lived(client, runtime)
    before, lines = await everything(client), await export()
    done, told = await bring(lines)
    assert (sum(done.rows.values()), told) == (0, {})
    assert await everything(client) == before


async def test_what_was_written_after_a_space_was_erased_travels_whole(own, client, runtime, *, tenant, database_url):
    export, _ = own
    await lived(client, runtime)
    assert (await client.delete(f"/spaces/{SPACE}")).status_code == 200
    await lived(client, runtime)
    lines, other = await export(), SpaceKey(find_tenant(database_url, tenant.name), "user:ana-elsewhere")
    told = {}
    done = await runtime.transfer.bring(
        other, lambda: lines, runtime.entries.embedders, told.__setitem__, lambda _: None
    )
    assert (done.forgotten, told) == (0, {})
    assert len(await listed(client, "/messages", space=other.name, query="viola telescope")) == 2


async def test_what_was_erased_one_by_one_does_not_come_with_an_old_export(
    own, client, runtime, *, tenant, database_url
):
    """del-05: memories, messages, soul blocks and records alike."""
    export, bring = own
    made = await lived(client, runtime)
    lines = await export()
    for path, item in made.items():
        assert (await client.delete(f"/{path}/{item}")).status_code == 200
    await runtime.queue.drain()
    left, tenant_id = await everything(client), find_tenant(database_url, tenant.name)
    indexed = count(database_url, tenant_id, "message_postings")
    _, told = await bring(lines)
    assert count(database_url, tenant_id, "message_postings") == indexed
    await runtime.queue.drain()
    assert (await everything(client), told) == (left, {})
    assert "viola" not in str(left)
    assert (left["/soul"], left["/records"], [m["text"] for m in left["heard"]]) == ([], [], ["I own a telescope."])


async def test_an_old_export_brings_nothing_to_a_space_that_was_erased(own, client, runtime):
    export, bring = own
    await lived(client, runtime)
    lines = await export()
    assert (await client.delete(f"/spaces/{SPACE}")).status_code == 200
    done, told = await bring(lines)
    assert (sum(done.rows.values()), told) == (0, {})
    assert not any((await everything(client)).values())
    assert (await client.post("/memories", json={"space": SPACE, "text": "I keep bees."})).status_code == 201


async def test_a_log_of_a_stream_is_everybodys_own(bring, client, runtime):
    log = b"2024-05-13 21:15 Ana: I am allergic to peanuts.\n2024-05-13 21:16 Ben: Me too\n"
    done, _ = await bring(log, space="stream:kitchen", session="s-1")
    assert done.messages == 2
    await runtime.queue.drain()
    [session] = await listed(client, "/sessions", space="stream:kitchen")
    assert (session["name"], session["messages"]) == ("s-1", 2)


def command(url, file, *options, **run):
    return {
        "args": [sys.executable, "-m", "app.cli", "import", str(file), *options],
        "env": {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "RICORDO_DATABASE_URL": url,
            "RICORDO_WORKER": "none",
            "RICORDO_API_KEY": "rk_" + "0" * 60,
        },
        **run,
    }


def count(url, tenant_id, table) -> int:
    with psycopg.connect(url) as connection:
        return connection.execute(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [tenant_id]).fetchone()[0]


def exported(many) -> str:
    """Every memory in two versions."""
    row = dict.fromkeys(_Version.model_fields) | {
        "text_version": 1, "tier": "memories", "tags": [], "scope": "", "claim_derived": False, "participants": [],
        "unresolved": False, "merged_from": [], "reason": "created", "corrected": False, "status": "active",
        "first_recorded_at": "2026-01-01T00:00:00Z", "last_confirmed_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    lines = [{"ricordo": 1, "space": SPACE, "versions": many}]
    ids = [str(new_uuid()) for _ in range(many // 2)]
    for sequence, (version, (number, id_)) in enumerate(product((1, 2), enumerate(ids)), 1):
        at = f"2026-01-0{version}T00:00:00Z"
        own = {"id": id_, "version": version, "sequence": sequence, "recorded_at": at, "text": f"I own book {number}"}
        lines.append({"table": "entry_versions", "row": row | own})
    return "\n".join(map(json.dumps, lines))


CONTENT = {
    "chatgpt": lambda many: json.dumps([conversation(("user", f"I own book {n}"), name=f"c-{n}") for n in range(many)]),
    "mem0": lambda many: json.dumps(
        [{"id": n, "memory": f"I own the book {n}", "user_id": "ana"} for n in range(many)]
    ),
    "ricordo": exported,
}


@pytest.mark.parametrize("format_", CONTENT)
def test_a_run_that_is_killed_goes_on_where_it_was(tenant, database_url, tmp_path, format_):
    file = tmp_path / "export.json"
    many = 600
    table = "messages" if format_ == "chatgpt" else "entry_versions"
    file.write_text(CONTENT[format_](many))
    options = ["--tenant", tenant.name, "--space", SPACE]
    tenant_id = find_tenant(database_url, tenant.name)
    process = subprocess.Popen(**command(database_url, file, *options))
    while count(database_url, tenant_id, table) < 100:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert count(database_url, tenant_id, table) < many
    for _ in range(2):
        done = subprocess.run(**command(database_url, file, *options, capture_output=True, text=True), check=False)
        assert done.returncode == 0, done.stderr
        assert count(database_url, tenant_id, table) == many
    assert re.search(rf"\b({many}|{many // 2}) here already", done.stdout)


def test_the_command_says_what_it_cannot_do(database_url, tmp_path, tenant):
    file = tmp_path / "x.json"
    for content, options, said in [
        ('[{"mapping": {}}]', [], "--space"),
        ("[5]", [], "its format is not known"),
        ('{"results": []}', ["--zone", "Mars/Base"], "--zone"),
        ('{"results": [', ["--format", "mem0", "--dry-run"], "line 1: the file ends too early"),
        ('{"results": [5]}', ["--dry-run"], "line 1: it is no memory"),
        ('{"ricordo": 1, "space": "user:a"}\n{}', ["--dry-run"], "line 2: it has no table and row"),
        ('{"ricordo": 1, "space": "user:a"}\n{}', [], "line 2: it has no table and row"),
        ('{"ricordo": 1, "space": "user:a", "versions": 1}', [], "only 0 of 1 versions"),
        ('{"ricordo": 9, "space": "user:a"}', [], "another version"),
    ]:
        file.write_text(content)
        done = subprocess.run(**command(database_url, file, *options, capture_output=True, text=True), check=False)
        assert done.returncode != 0
        assert said in done.stderr.replace("\n", " "), done.stderr
        assert "Traceback" not in done.stderr
