"""What was moved to an archive is forgotten like anything else: decided at once, done to the files, once or again."""

import asyncio
import json
from datetime import UTC, datetime

import psycopg
import pytest
from test_forgetting import found_in
from test_forgetting_everywhere import OWN, STREAM, VIEWER, forget, verified
from test_retention import age as age  # noqa: PLC0414 - a fixture
from test_turn_work import ANA, BEN
from test_turns import post, said

from app.domain.errors import UnavailableError
from app.main import create_app
from app.runtime import open_runtime
from app.settings import Settings
from app.store.archive import FolderArchive
from app.store.archives import PostgresArchives, lock_archive
from app.store.keys import tenant_id_of
from app.store.pool import tenant_transaction

WORD = "Ostervale"
FACT = f"I live in {WORD}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("archive")


@pytest.fixture(scope="module")
async def runtime(database_url, folder, tmp_path_factory):
    """A service with an archive."""
    settings = {
        "database_url": database_url,
        "data_dir": tmp_path_factory.mktemp("keys"),
        "database_connections": 4,
        "worker": "none",
        "history_archive_dir": folder,
    }
    async with open_runtime(Settings.model_validate(settings)) as opened:
        yield opened


@pytest.fixture(scope="module")
def app(runtime):
    application = create_app(runtime)
    application.state.runtime = runtime
    return application


@pytest.fixture
def files(folder, tenant):
    """The texts of a tenant's files, by name."""

    def read():
        of = folder / str(tenant_id_of(tenant.name))
        return {path.name: path.read_text(encoding="utf-8") for path in sorted(of.glob("*"))}

    return read


@pytest.fixture
def archived(runtime, tenant, age):
    """Moves everything that was said to the archive."""

    async def move():
        for _ in range(3):
            await runtime.queue.drain()
        await age(31)
        return await runtime.history.purge(tenant_id_of(tenant.name))

    return move


@pytest.fixture
def archives(runtime, folder):
    """The archive, as the service has it."""
    return PostgresArchives(runtime.spaces.pool, FolderArchive(folder))


async def memory_of(client, space):
    items = (await client.get("/memories", params={"space": space})).json()["items"]
    return next(item for item in items if WORD in item["text"])


def messages_in(files):
    lines = [json.loads(line) for text in files.values() for line in text.splitlines()]
    return [message["text"] for line in lines for message in line["messages"]]


async def test_a_forgotten_memory_is_cut_out_of_the_archive(client, archived, files):
    """del-04, del-05: the sentence goes, and what the agent answered to it; what else was said stays."""
    await post(client, f"Hello! {FACT}. I have two dogs.", session="s", reply=f"So you live in {WORD}? I see.")
    await post(client, f"Yes, {FACT.lower()}, as I said.", session="s")
    assert await archived() == 2
    memory = await memory_of(client, OWN)
    receipt = (await forget(client, OWN, ids=[memory["id"]]))["receipt"]
    assert (receipt["removed"]["messages"], receipt["removed"]["archived_messages"]) == (0, 3)
    assert messages_in(files()) == ["Hello! I have two dogs.", "I see."]
    assert await verified(client, receipt) == {"valid": True, "sealed": True, "remaining": {}}


async def test_an_erased_space_leaves_no_line_in_the_archive(client, archived, files):
    """del-06: neither its own turns nor what its person said elsewhere; other spaces keep theirs."""
    await post(client, f"{FACT}.", space=VIEWER, session="own")
    both = [{"author": ANA, "text": f"{FACT}."}, {"author": BEN, "text": "I live in Oslo."}]
    await post(client, stream=STREAM, session="live", messages=both)
    await archived()
    receipt = (await client.delete(f"/spaces/{VIEWER}")).json()
    assert receipt["removed"]["archived_messages"] == 2
    assert messages_in(files()) == ["I live in Oslo."]
    await client.delete(f"/spaces/{STREAM}")
    assert files() == {}
    assert await verified(client, receipt) == {"valid": True, "sealed": True, "remaining": {}}


@pytest.mark.parametrize("selector", ["turn", "session", "author", "time"])
async def test_what_is_archived_is_selected_as_what_is_not(client, archived, files, selector):
    ana, ben = said(f"{FACT}.", name="Ana"), said("I keep bees.", name="Ben")
    turn = await post(client, space="user:77", session="s", messages=[ana, ben])
    await archived()
    wanted = {
        "turn": {"turn": turn["id"]},
        "session": {"session": turn["session"]},
        "author": {"author": {"name": "Ana"}},
        "time": {"until": datetime.now(UTC).isoformat()},
    }
    await forget(client, "user:77", **wanted[selector])
    assert messages_in(files()) == (["I keep bees."] if selector == "author" else [])


async def test_a_wish_in_a_conversation_reaches_the_archive(client, runtime, archived, files):
    await post(client, f"{FACT}. I have two dogs.", session="s")
    await archived()
    await post(client, f"Please forget that {FACT}!", session="s")
    for _ in range(3):
        await runtime.queue.drain()
    assert messages_in(files()) == ["I have two dogs."]


async def test_a_dry_run_counts_and_leaves_the_archive(client, archived, files, tenant, database_url):
    await post(client, f"{FACT}. I have two dogs.", session="s")
    await archived()
    before = files()
    memory = await memory_of(client, OWN)
    assert (await forget(client, OWN, ids=[memory["id"]], dry_run=True))["receipt"]["removed"]["archived_messages"] == 1
    would = (await client.delete(f"/spaces/{OWN}", params={"dry_run": "true"})).json()
    assert would["removed"]["archived_messages"] == 1
    assert files() == before
    assert pending(database_url, tenant) == 0


def pending(database_url, tenant):
    with psycopg.connect(database_url) as connection:
        of = (tenant_id_of(tenant.name),)
        return connection.execute("SELECT count(*) FROM archive_cuts WHERE tenant_id = %s", of).fetchone()[0]


@pytest.fixture
async def interrupted(client, archived, monkeypatch, tenant, folder):
    """Something is forgotten, and the service dies before a file was touched; the receipt."""
    await post(client, f"{FACT}. I have two dogs.", session="s", reply=f"{WORD}! How nice.")
    await archived()
    memory = await memory_of(client, OWN)

    async def dies(self, tenant_id):
        raise UnavailableError("dead")

    with monkeypatch.context() as patched:
        patched.setattr(PostgresArchives, "finish", dies)
        receipt = (await forget(client, OWN, ids=[memory["id"]]))["receipt"]
    # As a kill leaves it: the file whole, and half of its successor.
    part = next(folder.glob(f"{tenant_id_of(tenant.name)}/*")).with_suffix(".part")
    part.write_text(f'{{"id": "x", "messages": [{{"text": "{FACT}', encoding="utf-8")
    return receipt


async def test_what_was_interrupted_is_told_and_done_at_the_next_pass(
    client, interrupted, runtime, *, files, tenant, database_url
):
    assert await verified(client, interrupted) == {"valid": False, "sealed": True, "remaining": {"archives": 1}}
    with psycopg.connect(database_url) as connection:
        (kept,) = connection.execute(
            "SELECT messages::text FROM archive_cuts WHERE tenant_id = %s", (tenant_id_of(tenant.name),)
        ).fetchone()
    assert WORD not in kept
    await runtime.maintenance.run_once()
    assert await verified(client, interrupted) == {"valid": True, "sealed": True, "remaining": {}}
    assert messages_in(files()) == ["I have two dogs.", "How nice."]
    assert pending(database_url, tenant) == 0


async def test_a_space_that_is_erased_before_that_is_gone_all_the_same(client, interrupted, files):
    receipt = (await client.delete(f"/spaces/{OWN}")).json()
    assert files() == {}
    for one in (interrupted, receipt):
        assert (await verified(client, one))["remaining"] == {}


async def test_doing_it_again_changes_nothing(interrupted, archives, files, tenant, database_url):
    tenant_id = tenant_id_of(tenant.name)
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT * FROM archive_cuts WHERE tenant_id = %s", (tenant_id,)).fetchall()
    assert await archives.finish(tenant_id) == 1
    done = files()
    with psycopg.connect(database_url) as connection:
        connection.cursor().executemany(
            "INSERT INTO archive_cuts VALUES (%s, %s, %s, %s, %s::jsonb, %s)",
            [(*row[:4], json.dumps(row[4]), row[5]) for row in rows],
        )
    assert await archives.finish(tenant_id) == 1
    assert files() == done


async def test_a_file_that_the_database_does_not_know_is_looked_through(client, archived, files, tenant, database_url):
    """Of a purge that died between the file and its commit, or of an earlier version."""
    await post(client, f"{FACT}. I have two dogs.", session="s")
    await archived()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM archives WHERE tenant_id = %s", (tenant_id_of(tenant.name),))
    memory = await memory_of(client, OWN)
    await forget(client, OWN, ids=[memory["id"]])
    assert messages_in(files()) == ["I have two dogs."]


async def test_nothing_is_moved_to_the_archive_while_somebody_forgets(client, runtime, tenant, files, age):
    await post(client, f"{FACT}. I have two dogs.", session="s")
    await runtime.queue.drain()
    await age(31)
    memory = await memory_of(client, OWN)
    tenant_id = tenant_id_of(tenant.name)
    async with tenant_transaction(runtime.spaces.pool, tenant_id) as connection:
        await lock_archive(connection, tenant_id)
        moving = asyncio.create_task(runtime.history.purge(tenant_id))
        forgetting = asyncio.create_task(forget(client, OWN, ids=[memory["id"]]))
        await asyncio.wait({moving, forgetting}, timeout=0.2)
        assert not moving.done()
        assert not forgetting.done()
    await asyncio.gather(moving, forgetting)
    assert messages_in(files()) == ["I have two dogs."]


async def test_several_forget_at_once(client, archived, files):
    """Each takes its own sentence out of the same message."""
    facts = [f"My {what} lives in {WORD}" for what in ("aunt", "uncle", "cousin", "niece")]
    await post(client, ". ".join([*facts, "I have two dogs."]), session="s")
    await archived()
    items = (await client.get("/memories", params={"space": OWN})).json()["items"]
    ids = [item["id"] for item in items if WORD in item["text"]]
    assert len(ids) == len(facts)
    await asyncio.gather(*(forget(client, OWN, ids=[memory_id]) for memory_id in ids))
    assert messages_in(files()) == ["I have two dogs."]


async def test_an_archive_that_cannot_be_read_refuses_and_erases_nothing(client, archived, folder, tenant):
    await post(client, f"{FACT}.", session="s")
    await archived()
    memory = await memory_of(client, OWN)
    of = folder / str(tenant_id_of(tenant.name))
    elsewhere = of.with_name(f"{of.name}-unmounted")
    of.rename(elsewhere)
    try:
        refused = await client.post("/forget", json={"space": OWN, "ids": [memory["id"]]})
        assert refused.status_code == 503
        assert (await client.get(f"/memories/{memory['id']}")).status_code == 200
    finally:
        elsewhere.rename(of)
    (of / next(of.glob("*")).name).unlink()  # an operator let a file run out
    assert (await forget(client, OWN, ids=[memory["id"]]))["receipt"]["removed"]["archived_messages"] == 0


async def test_a_broken_file_refuses_and_erases_nothing(client, archived, folder, tenant):
    await post(client, f"{FACT}.", session="s")
    await archived()
    memory = await memory_of(client, OWN)
    (path,) = (folder / str(tenant_id_of(tenant.name))).glob("*.jsonl")
    path.write_text('{"id": "half', encoding="utf-8")
    refused = await client.post("/forget", json={"space": OWN, "ids": [memory["id"]]})
    assert refused.status_code == 503
    assert (await client.get(f"/memories/{memory['id']}")).status_code == 200


async def test_an_archive_that_was_never_written_has_nothing(tmp_path, tenant):
    assert await FolderArchive(tmp_path / "later").names(tenant_id_of(tenant.name)) == ()


async def test_a_process_without_the_archive_refuses(client, archived, runtime, tenant):
    await post(client, f"{FACT}.", session="s")
    await archived()
    memory = await memory_of(client, OWN)
    reached, archives = runtime.forgetting.store.reached, runtime.forgetting.store.reached.archives
    object.__setattr__(reached, "archives", PostgresArchives(archives.pool, None))
    try:
        refused = await client.post("/forget", json={"space": OWN, "ids": [memory["id"]]})
    finally:
        object.__setattr__(reached, "archives", archives)
    assert refused.status_code == 503
    assert "RICORDO_HISTORY_ARCHIVE_DIR" in refused.text


@pytest.mark.parametrize("how", ["id", "space", "author"])
async def test_what_memory_made_of_it_is_forgotten_though_its_turns_have_run_out(
    client, runtime, archived, database_url, *, how
):
    """del-05: episodes and summaries cannot be made anew then; what others said in them stays."""
    word = f"Quandaria{how}"
    fact = f"I live in {word}"
    both = [{"author": ANA, "text": f"{fact}."}, {"author": BEN, "text": "I live in Oslo."}]
    turn = await post(client, stream=STREAM, session="live", messages=both, reply=f"{fact}, says Ana. How nice.")
    await post(client, stream=STREAM, session="live", messages=[{"author": BEN, "text": "I have two dogs."}])
    await client.post(f"/sessions/{turn['session']}/end")
    await archived()
    assert found_in(database_url, word)
    match how:
        case "id":
            items = (await client.get("/memories", params={"space": VIEWER})).json()["items"]
            (memory,) = [item for item in items if word in item["text"]]
            receipt = (await forget(client, VIEWER, ids=[memory["id"]]))["receipt"]
        case "author":
            receipt = (await forget(client, VIEWER, author={"platform": "twitch", "id": "7"}))["receipt"]
        case _:
            receipt = (await client.delete(f"/spaces/{VIEWER}")).json()
    assert receipt["removed"]["shortened_episodes"] >= 3
    episodes = (await client.get("/episodes", params={"space": STREAM})).json()["items"]
    texts = [episode["text"] for episode in episodes]
    assert "Ben: I have two dogs." in texts
    assert any("Ben: I live in Oslo." in text for text in texts)
    assert not [text for text in texts if f"Ana: {fact}" in text]
    assert found_in(database_url, word) + found_in(database_url, word.lower()) == []
    asked = {"space": STREAM, "query": "Who lives in Oslo?", "timeout_ms": 30_000}
    assert "Oslo" in (await client.post("/context/assemble", json=asked)).json()["prompt"]
    assert await verified(client, receipt) == {"valid": True, "sealed": True, "remaining": {}}


async def test_a_stream_and_its_viewers_forget_at_once(client, archived, files):
    """Each reaches into the stream: none waits for another for ever."""
    people = [{"platform": "twitch", "id": str(number), "name": f"P{number}"} for number in range(20, 26)]
    said_by = [{"author": who, "text": f"I live in Xanadu{who['id']}. I have two dogs."} for who in people]
    said_by.append({"author": BEN, "text": "I have two dogs."})
    await post(client, stream=STREAM, session="live", messages=said_by)
    await archived()
    paths = [f"/spaces/viewer:twitch:{who['id']}" for who in people[:4]]
    forgets = [
        client.post("/forget", json={"space": f"viewer:twitch:{who['id']}", "since": "2020-01-01T00:00:00Z"})
        for who in people[4:]
    ]
    stream = client.post("/forget", json={"space": STREAM, "author": {"platform": "twitch", "id": "20"}})
    replies = await asyncio.gather(*(client.delete(path) for path in paths), *forgets, stream)
    assert {reply.status_code for reply in replies} <= {200, 404}
    assert [reply.status_code for reply in replies[:-1]] == [200] * len(people)
    assert messages_in(files()) == ["I have two dogs."]
    (episode,) = (await client.get("/episodes", params={"space": STREAM})).json()["items"]
    assert episode["text"] == "Ben: I have two dogs."
    assert "Xanadu" not in str((await client.get("/episodes", params={"space": STREAM})).json())
