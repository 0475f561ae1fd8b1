"""Nothing is left of what was erased: every table, Redis, files and the process itself are searched for its words.

Everything that may bring something back is done before the search: work, consolidation, another embedding model,
replays, undoing, a restart, exports and imports. The files of Postgres itself are left out: what a deleted row leaves
in pages and logs there is its own to overwrite (VACUUM), and backups are the operator's.
"""

import functools
import gc
import shutil
import types
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import Mock

import httpx
import psycopg
import pytest
from psycopg import sql
from redis import Redis

from app.changing import Target, move
from app.domain.spaces import SpaceKey
from app.embedding.factory import EmbedderOptions, calibration_of, create_embedder
from app.main import create_app
from app.runtime import Runtime, first_key, open_runtime_with
from app.settings import Settings
from app.store.keys import tenant_id_of
from app.store.transfer import PostgresTransfer
from tests.fakes.changing import build_fake
from tests.serving import redis_server

OWN, STREAM, VIEWER, OTHER = "user:ana", "stream:giulia", "viewer:twitch:7", "user:ben"
ANA = {"platform": "twitch", "id": "7", "name": "Ana"}
BEN = {"platform": "twitch", "id": "8", "name": "Ben"}
PLACE, BOAT = "Zyrgonia", "Vexilquor"
HOME, SHIP = f"I live in {PLACE}", f"My boat is called {BOAT}"
ERASED = (PLACE, BOAT)
STANDS = "I have two dogs"


@dataclass
class House:
    """A service with everything on: Postgres, Redis, an archive; it can be stopped and started."""

    settings: Settings
    database_url: str
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    runtime: Runtime | None = None
    client: httpx.AsyncClient | None = None

    async def start(self) -> None:
        embedder = create_embedder("bundled", EmbedderOptions())
        opening = open_runtime_with(self.settings, embedder, calibration_of(embedder.model, None), build_fake)
        self.runtime = await self.stack.enter_async_context(opening)
        app = create_app(self.runtime)
        app.state.runtime = self.runtime
        key = first_key(self.settings.data_dir)
        self.client = await self.stack.enter_async_context(
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app=app),
                base_url="http://test/api/v1",
                headers={"Authorization": f"Bearer {key}"},
            )
        )

    async def stop(self) -> None:
        await self.stack.aclose()
        self.stack, self.runtime, self.client = AsyncExitStack(), None, None

    async def send(self, method: str, path: str, status: int = 299, **request) -> dict:
        reply = await self.client.request(method, path, timeout=60, **request)
        assert reply.status_code <= status, (path, reply.text)
        return reply.json() if reply.content else {}

    async def post(self, path: str, body: dict, **request) -> dict:
        return await self.send("POST", path, json=body, **request)

    async def read(self, path: str, **params) -> list[dict]:
        return (await self.send("GET", path, params=params))["items"]

    async def work(self) -> None:
        for _ in range(4):
            await self.runtime.queue.drain()

    async def purge(self) -> None:
        """Let all that was said until now run out, into the archive."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            for table in ("turns", "messages"):
                older = sql.SQL("UPDATE {} SET recorded_at = recorded_at - interval '31 days'")
                connection.execute(older.format(sql.Identifier(table)))
        await self.runtime.history.purge(tenant_id_of("default"))

    async def export(self, space: str) -> list[bytes]:
        key = SpaceKey(tenant_id_of("default"), space)
        return [line async for line in PostgresTransfer(self.runtime.spaces.pool).export(key)]

    async def bring(self, space: str, lines: list[bytes]):
        key = SpaceKey(tenant_id_of("default"), space)
        bad: list[tuple[int, str]] = []
        arriving = (key, lambda: lines, self.runtime.entries.embedders)
        brought = await self.runtime.transfer.bring(*arriving, lambda *one: bad.append(one), [].append)
        assert bad == []
        return brought

    def found(self, *words: str) -> list[str]:
        """Where any of some words is, in whatever case."""
        return sorted(
            {place for word in words for place in (*self._rows(word), *self._redis(word), *self._files(word))}
        )

    def _rows(self, word: str) -> Iterator[str]:
        tables = """SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, NULL)
                      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                     WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
                       AND n.nspname NOT LIKE 'pg_toast%'"""
        like, raw = f"%{word.lower()}%", word.encode()
        with psycopg.connect(self.database_url) as connection:
            for schema, table, column, kind in connection.execute(tables).fetchall():
                names = {"t": sql.Identifier(schema, table), "c": sql.Identifier(column)}
                query = sql.SQL("SELECT 1 FROM {t} WHERE lower({c}::text) LIKE %s LIMIT 1").format(**names)
                if connection.execute(query, (like,)).fetchone():
                    yield f"{table}.{column}"
                if kind == "bytea":
                    query = sql.SQL("SELECT 1 FROM {t} WHERE position(%s IN {c}) > 0 LIMIT 1").format(**names)
                    if any(connection.execute(query, (form,)).fetchone() for form in (raw, raw.lower())):
                        yield f"{table}.{column}"

    def _redis(self, word: str) -> Iterator[str]:
        with Redis.from_url(self.settings.redis_url.get_secret_value()) as redis:
            for key in redis.keys("*"):
                held = repr(redis.hgetall(key) if redis.type(key) == b"hash" else redis.dump(key))
                if word.lower() in f"{key!r}{held}".lower():
                    yield f"redis {key!r}"

    def _files(self, word: str) -> Iterator[str]:
        for path in self.settings.data_dir.rglob("*"):
            if path.is_file() and word.lower().encode() in path.read_bytes().lower():
                yield f"file {path.name}"

    def held(self, *words: str) -> list[str]:
        """Texts with any of some words that the process holds: of the service, and of caches of functions."""
        gc.collect()
        caches = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
        wanted = [word.lower() for word in words]
        texts = (text for text in _texts([self.runtime, *caches]) if any(word in text.lower() for word in wanted))
        return sorted(set(texts))


def _texts(roots: list[object]) -> Iterator[str]:
    """Every text that is reached from some objects through their data, not their code."""
    code = (type, types.ModuleType, types.FunctionType, types.FrameType, types.CodeType, types.BuiltinFunctionType)
    seen, waiting = set(), list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, code):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
        elif isinstance(one, bytes):
            yield one.decode("utf-8", "replace")
        else:
            waiting += gc.get_referents(one)


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server on this machine: apt-get install redis-server")
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
async def house(new_database: Callable[[], str], tmp_path: Path, redis_url: str) -> AsyncIterator[House]:
    url = new_database()
    settings = {
        "database_url": url,
        "data_dir": tmp_path,
        "history_archive_dir": tmp_path / "archive",
        "redis_url": redis_url,
        "worker": "none",
        "database_connections": 4,
    }
    opened = House(Settings.model_validate(settings), url)
    await opened.start()
    yield opened
    await opened.stop()


async def turn(house, *texts, **fields):
    messages = fields.pop("messages", None) or [{"author": {"name": "Ana"}, "text": text} for text in texts]
    return await house.post("/turns", {"messages": messages, **fields})


async def live_in(house: House) -> dict:
    """Say and do everything that leaves a trace of two facts; what was said first runs out into the archive."""
    await turn(house, f"Hello! {HOME}. {STANDS}.", space=OWN, session="old", reply=f"So you live in {PLACE}.")
    both = [{"author": ANA, "text": f"{HOME}. {STANDS}."}, {"author": BEN, "text": "I live in Oslo."}]
    await turn(house, stream=STREAM, session="show", messages=both)
    await house.post(f"/sessions/{(await house.read('/sessions', space=OWN))[0]['id']}/end", {})
    await house.work()
    await house.purge()

    first = await turn(house, f"{HOME}, as I said. {STANDS}.", space=OWN, session="s", reply=f"{HOME}, you said.")
    await turn(house, stream=STREAM, session="show", messages=both)
    await house.work()
    keyed = {"headers": {"Idempotency-Key": "ship"}}
    ship = await house.post("/memories", {"space": OWN, "text": f"{SHIP}.", "context": f"Of {BOAT} we spoke."}, **keyed)
    await house.post("/episodes", {"space": OWN, "text": "A day at sea.", "source": ship["id"]})
    await house.send("PATCH", f"/memories/{ship['id']}", json={"text": f"{SHIP}, and it is blue."})
    await house.post(f"/memories/{ship['id']}/undo", {})
    await house.post("/corrections", {"space": OWN, "said": f"In this scene: {HOME}.", "scopes": ["story:au1"]})
    await house.post("/corrections", {"space": OWN, "id": ship["id"], "scope": "story:au1"})
    await house.post("/corrections", {"space": OWN, "id": ship["id"], "scope": ""}, headers={"Idempotency-Key": "c"})
    for query in (f"Do you know? {HOME}.", f"{SHIP}!", "Where do I live?"):
        asked = {"space": OWN, "query": query, "history": [{"text": f"{SHIP}. {HOME}."}], "timeout_ms": 30_000}
        await house.post("/context/assemble", asked)
        await house.post("/search", {"space": OWN, "query": query})
    await house.post("/context/assemble", {"space": OWN, "query": "Well?", "session": "s", "timeout_ms": 30_000})
    batch = [{"author": ANA, "text": f"Do you remember that {HOME.lower()}?"}]
    live = {"stream": STREAM, "persona": "agent:giulia", "batch": batch, "timeout_ms": 30_000}
    await house.post("/context/assemble/live", live)
    await house.send("GET", f"/spaces/{OWN}/profile")
    await house.send("GET", f"/spaces/{OWN}/memories/view")
    await house.post(f"/sessions/{first['session']}/end", {})
    await house.work()
    await house.read("/assemblies", space=OWN)
    for _ in range(3):  # until the space is held in memory
        await house.post("/context/assemble", {"space": OWN, "query": "Where do I live?", "timeout_ms": 30_000})
        await house.runtime.assembly.retriever.resident.loaded()
    return ship


async def fill_the_rest(house: House) -> None:
    """What only goes with the space: records, identity, workflows, and labels."""
    note = {"space": OWN, "kind": "note", "payload": {"text": f"Lives in {PLACE}."}}
    await house.post("/records", note)
    await house.post("/soul", {"space": OWN, "name": "persona", "text": f"You know {PLACE}."})
    await house.post("/procedures", {"space": OWN, "trigger": f"asked about {BOAT}", "text": f"Tell of {BOAT}."})
    await turn(house, f"{BOAT}!", space=OWN, session=f"about {BOAT}", id=f"turn-{BOAT}")
    await house.work()


async def come_back(house: House, before: list[bytes], ship: dict) -> None:
    """Everything that may bring something back."""
    await house.work()
    for space in (OWN, VIEWER, STREAM):
        await house.send("POST", f"/spaces/{space}/consolidate", 404)
        for item in await house.read("/assemblies", space=space):
            await house.send("POST", f"/assemblies/{item['id']}/replay", 410)
    for path in (f"/memories/{ship['id']}/undo", f"/memories/{ship['id']}/restore"):
        await house.send("POST", path, 404)
    for item in await house.read("/memories", space=OWN, status="any"):
        await house.send("POST", f"/memories/{item['id']}/undo", 409)
        await house.send("GET", f"/memories/{item['id']}/versions")
    await house.runtime.maintenance.run_once()
    await move(house.settings, Target("e5", {}), Mock(), build=build_fake, settle_s=0)
    await house.stop()
    await house.start()
    await house.work()
    await house.bring(OWN, before)
    await house.bring(OTHER, before)
    if await house.read("/memories", space=OWN):
        await house.bring(f"{OTHER}-2", await house.export(OWN))
    await house.work()
    asked = {"space": OWN, "query": "Where do I live, and what is my boat called?", "timeout_ms": 30_000}
    prompt = (await house.post("/context/assemble", asked))["prompt"]
    assert not [word for word in ERASED if word in prompt]


async def verified(house: House, receipt: dict) -> dict:
    return await house.send("GET", f"/receipts/{receipt['id']}/verify")


async def test_after_a_space_is_erased_nothing_is_found(house):
    """del-01, del-04, del-05, del-06."""
    ship = await live_in(house)
    await fill_the_rest(house)
    before = await house.export(OWN)
    assert len(house.found(*ERASED)) > 10
    assert house.held(*ERASED)
    receipts = [await house.send("DELETE", f"/spaces/{space}") for space in (OWN, VIEWER)]
    await house.work()
    assert house.found(*ERASED) == []
    assert house.held(*ERASED) == []
    await come_back(house, before, ship)
    assert house.found(*ERASED) == []
    for receipt in receipts:
        assert (await verified(house, receipt))["sealed"]
        assert (await verified(house, receipt))["remaining"] == {}
    assert "Oslo" in str(await house.read("/episodes", space=STREAM))


async def test_after_facts_are_forgotten_nothing_of_them_is_found(house):
    """del-01, del-04, del-05: in a space that stays, with all else that is in it."""
    ship = await live_in(house)
    before = await house.export(OWN)
    assert len(house.found(*ERASED)) > 10
    receipts = []
    for space in (OWN, VIEWER):
        for item in await house.read("/memories", space=space, status="any"):
            if any(word in item["text"] for word in ERASED):
                selector = {"space": space, "ids": [item["id"]]}
                receipts.append((await house.post("/forget", selector))["receipt"])
    await house.work()
    assert house.found(*ERASED) == []
    assert house.held(*ERASED) == []
    await come_back(house, before, ship)
    assert house.found(*ERASED) == []
    for receipt in receipts:
        assert await verified(house, receipt) == {"valid": True, "sealed": True, "remaining": {}}
    for space in (OWN, VIEWER):
        assert STANDS in str(await house.read("/memories", space=space))
        assert STANDS in str(await house.read("/episodes", space=space))
    assert STANDS in str(await house.read("/messages", space=OWN))
