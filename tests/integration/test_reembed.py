"""A live store changes its embedding model: nothing is lost, whoever writes, reads or pulls the plug meanwhile."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import Mock

import psycopg
import pytest

from app.assembly.plan import plan
from app.assembly.records import AssemblyRequest, Overrides
from app.changing import Target, finish, move, status
from app.domain.callers import Caller, Role
from app.domain.entries import Content, Entry, Status, Tier
from app.domain.errors import UnavailableError
from app.embedding.factory import EmbedderSetupError
from app.embedding.served import POLL_SECONDS
from app.entries.search import SearchRequest
from app.reembed.ports import SpaceId
from app.runtime import ConfigurationError, Runtime, open_runtime_with
from app.settings import Settings
from app.store.keys import ensure_tenant
from app.store.migrate import migrate
from app.store.models import ModelSpec, WrongModelError, adopt_model, list_models
from app.store.pool import create_pool
from app.store.reembed import PostgresChange, make_current
from tests.fakes.changing import CALIBRATION, DIMENSIONS, build_fake
from tests.fakes.embedder import HashedEmbedder
from tests.integration.consistency import assert_consistent
from tests.integration.stores import LATER, Space, Store, claim, heard
from tests.integration.test_centring import assert_cosines_are_centred

OLD, NEXT = "bundled", "e5"
ANIMALS = ("bees", "hens", "goats", "geese")


@dataclass(frozen=True)
class Service:
    """A serving process over a store of its own, within this one."""

    settings: Settings
    url: str
    runtime: Runtime

    def caller(self, name: str) -> Caller:
        """A tenant that the store knows."""
        return Caller(ensure_tenant(self.url, name), Role.ADMINISTRATOR)

    async def write(self, caller: Caller, space: str, text: str, **content) -> Entry:
        (effect,) = await self.runtime.entries.create(caller, space, Tier.MEMORIES, [Content(text=text, **content)])
        return effect.entry

    async def dense(self, caller: Caller, space: str, text: str, **request):
        """What the dense arm alone brings up, best first, and what is missing."""
        key = caller.space(space)
        looks_back = "known_at" in request
        asked_for = AssemblyRequest(
            space=key, persona=key, query=text, as_of=LATER, looks_back=looks_back,
            overrides=Overrides(candidate_limit=5), **request,
        )  # fmt: skip
        asked = await self.runtime.assembly.models.ask(text, 5)
        found = await self.runtime.assembly.retriever.retrieve(replace(plan(asked_for), terms=()), heard(asked))
        hits = [c for c in found.candidates if c.cosine_similarity is not None]
        return sorted(hits, key=lambda c: -c.cosine_similarity), found.degraded

    async def move(self, kind: str = NEXT, *, settle_s: float = 0):
        moved = await move(self.settings, Target(kind, {}), Mock(), build=build_fake, settle_s=settle_s)
        await self.runtime.assembly.models.models.refresh()
        return moved

    async def back(self):
        return await move(self.settings, None, Mock(), build=build_fake, settle_s=0)

    async def sql(self, statement: str, **named):
        return await Store(self.url, None, None, None).sql(statement, **named)

    async def as_space(self, caller: Caller, name: str, model: str) -> Space:
        """The space for the checks of other suites, with the model that should serve it."""
        async with create_pool(self.url, 1) as pool:
            rows = {row.name: row for row in await list_models(pool)}
        embedder = HashedEmbedder(DIMENSIONS[model])
        pool = self.runtime.entries.store.pool
        return Space(Store(self.url, pool, rows[embedder.name], embedder), caller, name)


@asynccontextmanager
async def serving(url: str, data_dir: Path, kind: str = OLD) -> AsyncIterator[Service]:
    settings = Settings.model_validate(
        {"database_url": url, "data_dir": data_dir, "database_connections": 6, "embedder": kind}
    )
    async with open_runtime_with(settings, HashedEmbedder(DIMENSIONS[kind]), CALIBRATION, build_fake) as runtime:
        yield Service(settings, url, runtime)


@pytest.fixture
async def service(new_database, tmp_path) -> AsyncIterator[Service]:
    async with serving(new_database(), tmp_path) as opened:
        yield opened


def rare(number: int) -> str:
    """A word that no other text has."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


def text_of(number: int) -> str:
    return f"Ana keeps {rare(number)} beside {ANIMALS[number % 4]} and told {rare(number)} to Ben."


@dataclass
class Crowd:
    """Writers and readers; `acknowledged` is what they were told is kept, and nobody is changing."""

    service: Service
    places: list[tuple[Caller, str]]
    acknowledged: dict[int, tuple[Caller, str, Entry]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(2_000, 100_000)))
    fresh: set[str] = field(default_factory=set)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    looked: int = 0

    async def fill(self, entries: int) -> None:
        share = entries // len(self.places)
        for place, (caller, space) in enumerate(self.places):
            numbers = range(place * share, (place + 1) * share)
            contents = [Content(text=text_of(n)) for n in numbers]
            effects = await self.service.runtime.entries.create(caller, space, Tier.MEMORIES, contents)
            self.acknowledged |= {n: (caller, space, e.entry) for n, e in zip(numbers, effects, strict=True)}

    async def find(self, number: int) -> None:
        """By its own vector, and by its own word."""
        caller, space, entry = self.acknowledged[number]
        hits, degraded = await self.service.dense(caller, space, text_of(number))
        assert degraded == ()
        assert hits[0].id == entry.id
        assert hits[0].cosine_similarity > 0.7
        search = SearchRequest(spaces=(caller.space(space),), query=rare(number), as_of=LATER)
        found = await self.service.runtime.search.search(search)
        assert found.hits[0].hit.entry.id == entry.id
        self.looked += 1

    async def write(self, order: random.Random) -> None:
        entries = self.service.runtime.entries
        while not self.stopping.is_set():
            number = next(self.numbers)
            caller, space = order.choice([*self.places, (self.places[0][0], f"user:fresh {number % 7}")])
            if space.startswith("user:fresh"):
                self.fresh.add(space)
            entry = await self.service.write(caller, space, text_of(number))
            if number % 5 == 0:
                entry = (await entries.edit(caller, entry.id, lambda c: replace(c, text=c.text + " Twice."))).entry
            if number % 7 == 0:
                await entries.delete(caller, entry.id)
            else:
                self.acknowledged[number] = (caller, space, entry)
            await self.find(order.choice(list(self.acknowledged)))

    async def read(self, order: random.Random) -> None:
        while not self.stopping.is_set():
            await self.find(order.choice(list(self.acknowledged)))


@pytest.mark.slow
async def test_a_store_moves_while_writers_and_readers_go_on_and_every_acknowledged_write_is_found(service):
    ana, ben = service.caller("ana"), service.caller("ben")
    crowd = Crowd(service, [(caller, f"user:{n}") for caller in (ana, ben) for n in range(4)])
    await crowd.fill(2_000)
    for number in random.Random(1).sample(range(2_000), 20):
        await crowd.find(number)
    work = [crowd.write, crowd.write, crowd.write, crowd.read, crowd.read]
    tasks = [asyncio.create_task(one(random.Random(n))) for n, one in enumerate(work)]
    moved = await service.move(settle_s=POLL_SECONDS + 1)
    crowd.stopping.set()
    await asyncio.gather(*tasks)
    assert moved.progress.embedded >= 2_000
    assert crowd.looked > 50
    await service.move()
    assert [s.spaces for _, s in await status(service.settings)] == [0, 8 + len(crowd.fresh)]
    during = [number for number in crowd.acknowledged if number >= 2_000]
    for number in [*during, *random.Random(2).sample(range(2_000), 200)]:
        await crowd.find(number)
    for caller, space in [*crowd.places, *((ana, space) for space in sorted(crowd.fresh))]:
        checked = await service.as_space(caller, space, NEXT)
        await assert_consistent(checked)
        await assert_cosines_are_centred(checked, "Where are the bees?")


KILLED = """
import asyncio, sys
from app.changing import Target, move
from app.settings import Settings
from tests.fakes.changing import build_fake
settings = Settings.model_validate({"database_url": sys.argv[1], "data_dir": "/nonexistent"})
report = lambda progress, seconds: print(progress.done, flush=True)
moved = asyncio.run(move(settings, Target("e5", {"text_seconds": 0.0005}), report, build=build_fake, settle_s=0))
print("moved", moved.progress.embedded, flush=True)
"""


@pytest.mark.slow
async def test_a_change_that_is_killed_again_and_again_goes_on_where_it_stopped(service):
    ana = service.caller("ana")
    places = [f"user:{n}" for n in range(4)]
    entries = {}
    for place, space in enumerate(places):
        contents = [Content(text=text_of(1_000 * place + n)) for n in range(400)]
        for n, effect in enumerate(await service.runtime.entries.create(ana, space, Tier.MEMORIES, contents)):
            entries[1_000 * place + n] = (space, effect.entry)
    order, filled, kills = random.Random(3), [0], 0
    while True:
        process = subprocess.Popen(  # noqa: ASYNC220 - to be killed
            [sys.executable, "-c", KILLED, service.url], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
        )
        lives = order.uniform(0.2, 0.6)
        lines = await asyncio.to_thread(_read_for, process, lives)
        (row,) = await service.sql("SELECT count(*) AS n FROM entry_vectors WHERE model_id <> 1")
        filled.append(row["n"])
        if any(line.startswith("moved") for line in lines):
            break
        kills += 1
        number = 9_000 + kills
        entries[number] = (places[0], await service.write(ana, places[0], text_of(number)))
        assert kills < 60
    assert kills >= 2
    assert filled == sorted(filled)
    for number in order.sample(sorted(entries), 100):
        space, entry = entries[number]
        hits, degraded = await service.dense(ana, space, text_of(number))
        assert (degraded, hits[0].id) == ((), entry.id)
    for space in places:
        checked = await service.as_space(ana, space, NEXT)
        await assert_consistent(checked)
        await assert_cosines_are_centred(checked, "Where are the bees?")


def _read_for(process: subprocess.Popen, seconds: float) -> list[str]:
    """What the process says until it has worked for so many seconds, then it is killed."""
    first = process.stdout.readline()
    timer = threading.Timer(seconds, process.send_signal, [signal.SIGKILL])
    timer.start()
    lines = [first, *process.stdout]
    process.wait()
    timer.cancel()
    assert process.returncode in {0, -signal.SIGKILL}
    return lines


async def test_edits_deletions_supersession_undo_and_looking_back_hold_on_both_sides_of_a_change(service):
    ana = service.caller("ana")
    rt = service.runtime.entries
    edited = await service.write(ana, "user:ana", f"Ana tends {rare(1)} hives.")
    superseded = await service.write(ana, "user:ana", f"Ana lives in {rare(2)}.", claim=claim("home", "Turin"))
    erased = await service.write(ana, "user:ana", f"Ana dislikes {rare(3)}.")
    before = (await rt.edit(ana, edited.id, lambda c: replace(c, text=f"Ana tends {rare(4)} hives."))).entry.recorded_at
    await service.move()
    now_edited = (await rt.edit(ana, edited.id, lambda c: replace(c, text=f"Ana tends {rare(5)} hives."))).entry
    winner = await service.write(ana, "user:ana", f"Ana lives in {rare(6)}.", claim=claim("home", "Rome"))
    await rt.delete(ana, erased.id)
    assert (await rt.get(ana, superseded.id)).status is Status.SUPERSEDED
    for text, entry in ((f"Ana tends {rare(5)} hives.", now_edited), (f"Ana lives in {rare(6)}.", winner)):
        assert (await service.dense(ana, "user:ana", text))[0][0].id == entry.id
    past, _ = await service.dense(ana, "user:ana", f"Ana tends {rare(4)} hives.", known_at=before)
    assert (past[0].id, past[0].version, past[0].text) == (edited.id, 2, f"Ana tends {rare(4)} hives.")
    assert erased.id not in {c.id for c in (await service.dense(ana, "user:ana", rare(3)))[0]}
    await service.back()
    await rt.undo(ana, edited.id)
    assert (await service.dense(ana, "user:ana", f"Ana tends {rare(4)} hives."))[0][0].id == edited.id
    await assert_consistent(await service.as_space(ana, "user:ana", OLD))
    await service.move()
    await assert_consistent(await service.as_space(ana, "user:ana", NEXT))


async def test_back_again_embeds_only_what_came_meanwhile(service):
    ana = service.caller("ana")
    for n in range(30):
        await service.write(ana, "user:ana", text_of(n))
    assert (await service.move()).progress.embedded == 30
    for n in range(30, 35):
        await service.write(ana, "user:ana", text_of(n))
    back = await service.back()
    assert (back.progress.embedded, back.progress.moved, back.model.name) == (5, 1, "hashed/64")
    for n in range(35):
        assert (await service.dense(ana, "user:ana", text_of(n)))[0][0].text == text_of(n)
    await assert_cosines_are_centred(await service.as_space(ana, "user:ana", OLD), "Where are the bees?")


async def test_finishing_removes_the_old_model_with_its_vectors_and_new_spaces_are_the_new_ones(service):
    ana = service.caller("ana")
    for n in range(30):
        await service.write(ana, f"user:{n % 2}", text_of(n))
    with pytest.raises(ConfigurationError, match="one model"):
        await finish(service.settings)
    await service.move()
    kept, gone, removed = await finish(service.settings)
    assert (kept.name, gone.name, removed) == ("hashed/48", "hashed/64", 30)
    assert await service.sql("SELECT DISTINCT vector_dims(embedding) AS d FROM entry_vectors") == [{"d": 48}]
    assert await service.sql("SELECT name, is_current FROM embedding_models") == [
        {"name": "hashed/48", "is_current": True}
    ]
    assert {r["model_id"] for r in await service.sql("SELECT model_id FROM space_centres")} == {kept.id}
    await service.write(ana, "user:new", text_of(99))
    assert (await service.dense(ana, "user:new", text_of(99)))[0][0].text == text_of(99)
    assert await service.sql("SELECT DISTINCT model_id FROM spaces") == [{"model_id": kept.id}]


async def test_a_finish_that_was_cut_short_is_finished_by_the_next_one(service):
    ana = service.caller("ana")
    for n in range(20):
        await service.write(ana, f"user:{n % 2}", text_of(n))
    model = (await service.move()).model
    await asyncio.to_thread(make_current, service.url, model.id)
    change, place = PostgresChange(service.runtime.entries.store.pool), ana.space("user:0")
    async with change.held(SpaceId(place.tenant_id, place.space_id)) as held:
        assert await held.drop(1, limit=4) == 4
    await service.write(ana, "user:new", text_of(99))
    kept, gone, removed = await finish(service.settings)
    assert (kept.id, gone.id, removed) == (model.id, 1, 16)
    assert await service.sql("SELECT DISTINCT model_id FROM entry_vectors") == [{"model_id": model.id}]


async def test_vectors_of_the_model_that_serves_cannot_be_dropped(service):
    ana = service.caller("ana")
    await service.write(ana, "user:ana", text_of(1))
    change, place = PostgresChange(service.runtime.entries.store.pool), ana.space("user:ana")
    async with change.held(SpaceId(place.tenant_id, place.space_id)) as held:
        assert await held.drop(1, limit=10) == 0


async def test_a_change_that_is_not_complete_cannot_be_finished(service):
    ana = service.caller("ana")
    await service.write(ana, "user:a", text_of(1))
    await service.move()
    await service.write(ana, "user:b", text_of(2))
    with pytest.raises(ConfigurationError, match=r"not complete: hashed/64 serves 1 spaces.*--to e5"):
        await finish(service.settings)
    assert [(m.name, s.spaces, s.lacking) for m, s in await status(service.settings)] == [
        ("hashed/64", 1, 0),
        ("hashed/48", 1, 1),
    ]


async def test_another_model_starts_no_service_over_the_store_and_the_line_names_both_and_the_command(
    service, tmp_path
):
    """Public reports emb-01 and emb-02: another dimension dropped writes, or broke three layers below."""
    ana = service.caller("ana")
    entry = await service.write(ana, "user:ana", text_of(1))
    with pytest.raises(WrongModelError) as refusal:
        async with serving(service.url, tmp_path, NEXT):
            pass
    line = str(refusal.value)
    for part in ("hashed/64 (64 dimensions)", "hashed/48 (48 dimensions)", "ricordo reembed --to e5"):
        assert part in line
    assert "\n" not in line
    await service.move()
    async with serving(service.url, tmp_path, NEXT) as other:
        added = await other.write(ana, "user:ana", text_of(2))
        for each in (service, other):
            for number, written in ((1, entry), (2, added)):
                assert (await each.dense(ana, "user:ana", text_of(number)))[0][0].id == written.id


async def test_live_writes_after_a_change_carry_the_model_that_made_them(service):
    """Public report emb-03: after a re-index live writes failed, and memories vanished without an error."""
    ana = service.caller("ana")
    kept = await service.write(ana, "user:ana", text_of(1))
    await service.move()
    added = await service.write(ana, "user:ana", text_of(2))
    await service.runtime.entries.edit(ana, kept.id, lambda c: replace(c, text=text_of(3)))
    stamped = await service.sql(
        """SELECT v.id, v.text_version, m.name, m.dimensions = vector_dims(v.embedding) AS fits
             FROM entry_vectors v JOIN embedding_models m ON m.id = v.model_id
            ORDER BY v.text_version, m.id"""
    )
    assert all(row["fits"] for row in stamped)
    by_text = {(row["id"], row["text_version"], row["name"]) for row in stamped}
    assert by_text == {
        (kept.id.uuid, 1, "hashed/64"), (kept.id.uuid, 1, "hashed/48"), (kept.id.uuid, 2, "hashed/48"),
        (added.id.uuid, 1, "hashed/48"),
    }  # fmt: skip
    for number in (2, 3):
        assert (await service.dense(ana, "user:ana", text_of(number)))[0][0].text == text_of(number)


async def test_a_process_that_cannot_have_the_spaces_model_says_so_searches_by_words_and_refuses_writes(
    service, tmp_path
):
    ana = service.caller("ana")
    await service.write(ana, "user:ana", text_of(1))
    await service.write(ana, "user:other", text_of(1))

    def refuse(settings, kind, options):
        raise EmbedderSetupError("not on this machine")

    async with open_runtime_with(service.settings, HashedEmbedder(64), CALIBRATION, refuse) as runtime:
        await service.move()
        poor = replace(service, runtime=runtime)
        assert await poor.dense(ana, "user:ana", text_of(1)) == ([], ("dense",))
        found = await runtime.search.search(SearchRequest(spaces=(ana.space("user:ana"),), query=rare(1), as_of=LATER))
        assert (len(found.hits), found.degraded) == (1, ("dense",))
        with pytest.raises(UnavailableError, match="not on this machine"):
            await poor.write(ana, "user:ana", text_of(2))
    assert len(await service.sql("SELECT id FROM entry_versions")) == 2


async def test_a_process_that_has_not_seen_the_model_yet_fetches_it_when_a_question_needs_it(service, tmp_path):
    ana = service.caller("ana")
    entry = await service.write(ana, "user:ana", text_of(1))
    async with serving(service.url, tmp_path) as other:
        await service.move()
        assert await other.dense(ana, "user:ana", text_of(1)) == ([], ("dense",))
        other.runtime.assembly.models.expect([2])
        async with asyncio.timeout(5):
            while (found := await other.dense(ana, "user:ana", text_of(1))) == ([], ("dense",)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert (found[0][0].id, found[1]) == (entry.id, ())


async def test_a_write_that_was_embedded_before_the_space_moved_is_embedded_again(service):
    ana = service.caller("ana")
    await service.write(ana, "user:ana", text_of(1))
    models, moved = service.runtime.entries.embedders, []

    async def embed(model_id, texts):
        if not moved:
            moved.append(await service.move())
        return await models.embed_documents(model_id, texts)

    class Late:
        only = models.only
        embed_documents = staticmethod(embed)

    entries = replace(service.runtime.entries, embedders=Late())
    (effect,) = await entries.create(ana, "user:ana", Tier.MEMORIES, [Content(text=text_of(2))])
    assert (await service.dense(ana, "user:ana", text_of(2)))[0][0].id == effect.entry.id
    await assert_consistent(await service.as_space(ana, "user:ana", NEXT))


async def test_a_third_model_is_refused_until_the_change_is_finished(service, monkeypatch):
    ana = service.caller("ana")
    await service.write(ana, "user:ana", text_of(1))
    await service.move()
    monkeypatch.setitem(DIMENSIONS, "bge-m3", 96)
    with pytest.raises(WrongModelError, match=r"changing between hashed/64.*hashed/48.*--finish"):
        await service.move("bge-m3")


async def test_two_changes_at_once_are_refused(service):
    ana = service.caller("ana")
    await service.write(ana, "user:ana", text_of(1))
    with psycopg.connect(service.url) as connection:
        connection.execute("SELECT pg_advisory_lock(7263001443)")
        with pytest.raises(ConfigurationError, match="another `ricordo reembed`"):
            await service.move()


def test_a_store_from_before_models_could_change_is_served_by_its_one_model(new_database):
    url, versions = new_database(), Path(__file__).parents[2] / "alembic" / "versions"
    with psycopg.connect(url) as connection:
        connection.execute((versions / "0001_store.sql").read_text(encoding="utf-8"))
        connection.execute("CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
        for name in ("first", "unused"):
            connection.execute(
                "INSERT INTO embedding_models (name, dimensions, mean, question_shift, created_at)"
                " VALUES (%s, 2, '[0,1]', '[0,1]', now())",
                [name],
            )
        connection.execute(
            "INSERT INTO spaces (tenant_id, id, name, created_at)"
            " SELECT gen_random_uuid(), gen_random_uuid(), n::text, now() FROM generate_series(1, 3) AS n"
        )
    migrate(url)
    adopt_model(url, ModelSpec("first", 2, "bundled", {"model": None}), Mock())
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT model_id, count(*) FROM spaces GROUP BY 1").fetchall() == [(1, 3)]
        described = connection.execute("SELECT name, kind, is_current FROM embedding_models ORDER BY id").fetchall()
    assert described == [("first", "bundled", True), ("unused", None, False)]


async def test_an_empty_store_has_nothing_to_move(new_database):
    settings = Settings.model_validate({"database_url": new_database()})
    with pytest.raises(ConfigurationError, match="empty"):
        await move(settings, Target(NEXT, {}), Mock(), build=build_fake, settle_s=0)
