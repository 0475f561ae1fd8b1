"""Consolidation among the living: others write meanwhile, it is killed, it runs again."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psycopg
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from app.domain.entries import Content, Status
from app.domain.errors import ConflictError, NotFoundError
from app.store.consolidation import PostgresConsolidation
from tests.integration.consistency import assert_consistent
from tests.integration.planted import NOW, Seed, cases, plant, seeds, states, told
from tests.integration.stores import Space, open_store
from tests.integration.test_consolidation import consolidate, service_of

KILLED = """
import asyncio, sys
from uuid import UUID
from app.domain.callers import Caller, Role
from app.store.pool import create_pool
from tests.integration.stores import Space, open_store
from tests.integration.test_consolidation import consolidate

async def main():
    async with open_store(sys.argv[1], connections=2) as store:
        space = Space(store, Caller(UUID(sys.argv[2]), Role.ADMINISTRATOR), "user:ana")
        print("begins", flush=True)
        await consolidate(space)
        print("ends", flush=True)

asyncio.run(main())
"""


def _run_for(space: Space, seconds: float) -> bool:
    """Consolidate in a process of its own, which is killed after so many seconds; whether it came to the end."""
    command = [sys.executable, "-c", KILLED, space.store.url, str(space.caller.tenant_id)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    lines = [process.stdout.readline()]
    timer = threading.Timer(seconds, process.send_signal, [signal.SIGKILL])
    timer.start()
    lines += process.stdout
    process.wait()
    timer.cancel()
    assert process.returncode in {0, -signal.SIGKILL}
    return "ends\n" in lines


async def test_killed_at_random_and_run_again_it_ends_the_same(store):
    seeds = [seed for case in cases(200) for seed in case.seeds]
    killed, whole = store.space(), store.space()
    for space in (killed, whole):
        await plant(space, seeds)
    await consolidate(whole)
    lives, kills = random.Random(5), 0
    while not await asyncio.to_thread(_run_for, killed, lives.uniform(0.2, 0.8) * (1 + kills / 4)):
        kills += 1
        await _gone(store, killed)
        assert kills < 60
    assert kills
    assert told(await states(killed)) == told(await states(whole))
    await assert_consistent(killed)


async def _gone(store, space):
    """Wait until the database has noticed that the process is dead: its lock of the space is free."""
    async with await psycopg.AsyncConnection.connect(store.url) as connection:
        await connection.execute("SELECT FROM spaces WHERE tenant_id = %s FOR UPDATE", (space.caller.tenant_id,))


async def test_what_others_write_meanwhile_is_never_lost(space):
    """Public report fresh-05: a long consolidation wrote its snapshot back, and what was added meanwhile was gone."""
    owed = cases(200)
    planted = await plant(space, [seed for case in owed for seed in case.seeds])
    added, edited, erased = [], {}, set()
    dice = random.Random(11)

    async def write():
        for number in range(60):
            one = dice.choice(planted)
            try:
                match number % 3:
                    case 0:
                        added.append((await space.write(f"Written meanwhile, number {number}.")).entry.id)
                    case 1 if one.id not in erased:
                        text = f"Edited meanwhile, number {number}."
                        edited[(await space.edit(one, text=text)).entry.id] = text
                    case 2 if one.id not in edited:
                        await space.delete(one)
                        erased.add(one.id)
            except (ConflictError, NotFoundError):  # it gave way or was erased with what it was merged into
                continue

    reports, _, _ = await asyncio.gather(consolidate(space), write(), write())
    now = await states(space)
    assert all(now[entry_id].status is Status.ACTIVE for entry_id in added)
    assert {entry_id: now[entry_id].content.text for entry_id in edited if entry_id in now} == {
        entry_id: text for entry_id, text in edited.items() if entry_id in now
    }
    assert erased.isdisjoint(now)
    assert reports.entries >= len(planted) - len(erased)
    await consolidate(space)
    again = await consolidate(space)
    assert (again.changes, again.skipped) == ((), 0)
    await assert_consistent(space)


async def test_what_was_seen_before_somebody_changed_it_is_skipped(space):
    """A plan is a proposal: each change is applied only to the versions that it was made from."""
    kept, merged = await plant(space, seeds("Ana keeps bees.", "ana keeps bees"))
    service = service_of(space)

    class Overtaken(PostgresConsolidation):
        async def load(self, key, model_id, ids):
            found = await super().load(key, model_id, ids)
            if ids:
                await space.edit(merged, text=f"Ana sold her bees, {len(await space.history(merged))}.")
            return found

    late = replace(service, store=Overtaken(service.store.entries))
    report = await late.run(space.key, NOW)
    assert (report.counts.total(), report.skipped) == (0, 1)
    now = await states(space)
    assert now[merged.id].content.text.startswith("Ana sold her bees")
    assert [now[e.id].status for e in (kept, merged)] == [Status.ACTIVE] * 2


async def test_two_consolidations_at_once_do_the_work_once(space):
    owed = cases(60)
    await plant(space, [seed for case in owed for seed in case.seeds])
    one, other = await asyncio.gather(consolidate(space), consolidate(space))
    assert sum(one.counts.values()) + sum(other.counts.values()) == sum(len(case.reasons) for case in owed)
    await assert_consistent(space)


TEXTS = (
    "Ana lives in Rome.",
    "ana lives in rome",
    "Ana resides in Rome.",
    "Ana lives in Milan.",
    "Ana does not live in Rome.",
    "The gate is open.",
    "The gate is closed.",
    "The office opens at 9:00.",
    "The office opens at 10:30.",
    "On Mondays the club meets in town.",
    "The club meets in town on Mondays",
)
CONTENTS = st.builds(Content, text=st.sampled_from(TEXTS), scope=st.sampled_from(("", "story:ball")))
PLACES = st.integers(0, 30)


class Consolidated(RuleBasedStateMachine):
    """Whatever is written, edited, undone, restored and erased, also while a consolidation runs."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.opened = open_store(self.url, connections=4)
        self.space = self.runner.run(self.opened.__aenter__()).space()
        self.entries, self.texts = [], {}

    @initialize(contents=st.lists(CONTENTS, min_size=4, max_size=10))
    def begin(self, contents):
        self.runner.run(self._write(contents))

    @rule(contents=st.lists(CONTENTS, min_size=1, max_size=3))
    def write(self, contents):
        self.runner.run(self._write(contents))

    @rule(place=PLACES, text=st.sampled_from(TEXTS))
    def edit(self, place, text):
        self.runner.run(self._change("edit", place, text))

    @rule(place=PLACES, deed=st.sampled_from(("undo", "restore", "delete")))
    def change(self, place, deed):
        self.runner.run(self._change(deed, place, ""))

    @rule(
        contents=st.lists(CONTENTS, max_size=2),
        changes=st.lists(
            st.tuples(st.sampled_from(("edit", "undo", "delete")), PLACES, st.sampled_from(TEXTS)), max_size=4
        ),
    )
    def consolidate_while_others_write(self, contents, changes):
        async def all_at_once():
            others = [self._change(*change) for change in changes]
            await asyncio.gather(consolidate(self.space), self._write(contents), *others)

        self.runner.run(all_at_once())

    @rule()
    def consolidate_alone(self):
        self.runner.run(consolidate(self.space))
        again = self.runner.run(consolidate(self.space))
        assert (again.changes, again.skipped) == ((), 0)

    @invariant()
    def nothing_is_lost_and_all_tables_agree(self):
        async def look():
            await assert_consistent(self.space)
            return await states(self.space)

        now = self.runner.run(look())
        assert {entry_id: now[entry_id].content.text for entry_id in self.texts if entry_id in now} == {
            entry_id: text for entry_id, text in self.texts.items() if entry_id in now
        }
        assert self.texts.keys() <= now.keys() | self.erased_with(now)

    def erased_with(self, now):
        """Entries that went with one that they were merged into."""
        return self.gone - now.keys()

    def teardown(self):
        self.runner.run(self.opened.__aexit__(None, None, None))
        self.runner.close()

    gone = frozenset()

    async def _write(self, contents):
        if contents:
            for effect in await self.space.create(*contents):
                self.entries.append(effect.entry)
                self.texts[effect.entry.id] = effect.entry.content.text

    async def _change(self, deed, place, text):
        entry = self.entries[place % len(self.entries)]
        service = self.space.store.entries
        try:
            match deed:
                case "edit":
                    effect = await self.space.edit(entry, text=text)
                case "undo":
                    effect = await self.space.undo(entry)
                case "restore":
                    effect = await service.restore(self.space.caller, entry.id)
                case _:
                    merged = await self._merged_into(entry.id)
                    await self.space.delete(entry)
                    self.gone = self.gone | {entry.id, *merged}
                    self.texts.pop(entry.id, None)
                    return
        except (ConflictError, NotFoundError):
            return
        self.texts[entry.id] = effect.entry.content.text

    async def _merged_into(self, entry_id):
        now = await states(self.space)
        found, waiting = set(), [entry_id]
        while waiting:
            one = waiting.pop()
            next_ = [e.id for e in now.values() if e.superseded_by == one]
            found.update(next_)
            waiting += next_
        return found


def test_writers_and_consolidations_in_any_order_lose_nothing(store):
    class Here(Consolidated):
        url = store.url

    case = Here.TestCase()
    case.settings = settings(
        max_examples=10, stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
    )
    case.runTest()


async def test_what_somebody_undid_is_not_done_again_until_something_new_is_said(space):
    first, second = (await space.fill(["The gate is open.", "The gate is closed."]))[:2]
    await consolidate(space)
    assert (await space.get(first.entry.id)).status is Status.SUPERSEDED
    await space.undo(first.entry)
    assert (await consolidate(space)).changes == ()
    assert (await space.get(first.entry.id)).status is Status.ACTIVE
    third = (await space.write("The gate is closed now.")).entry
    done = await consolidate(space)
    assert [(c.entry, c.kept) for c in done.changes if c.entry == first.entry.id] == [(first.entry.id, third.id)]
    assert (await space.get(second.entry.id)).status is Status.ACTIVE


async def test_erasing_an_entry_erases_what_was_merged_into_it(space):
    """A person who erases what is remembered of them means every time that they said it."""
    texts = ["Ana keeps bees in Rome.", "ana keeps bees in rome", "Ana keeps bees in Rome!"]
    entries = await plant(space, [Seed(text) for text in texts])
    await consolidate(space)
    kept = next(entry for entry in (await states(space)).values() if entry.status is Status.ACTIVE)
    assert set(kept.merged_from) == {entry.id for entry in entries} - {kept.id}
    other = next(entry for entry in entries if entry.id != kept.id)
    await space.delete(other)
    assert other.id not in (await space.get(kept.id)).merged_from
    erased = await space.delete(replace(kept))
    assert erased.removed["versions"] == 4
    assert await states(space) == {}
    await assert_consistent(space)


async def test_uses_are_carried_along_and_the_winner_knows_when_it_was_last_said(space):
    planted = await plant(space, [seed for case in cases(30) for seed in case.seeds])
    await space.rows(
        "INSERT INTO entry_uses SELECT tenant_id, space_id, id, 3, 's' FROM entry_versions "
        "WHERE tenant_id = %(tenant)s AND space_id = %(space)s"
    )
    await consolidate(space)
    now = await states(space)
    rows = await space.rows("SELECT id, uses FROM entry_uses WHERE tenant_id = %(tenant)s AND space_id = %(space)s")
    uses = {row["id"]: row["uses"] for row in rows}
    merged = [now[entry.id] for entry in planted if now[entry.id].reason == "merged" and now[entry.id].is_live]
    assert merged
    for entry in merged:
        together = [entry.id, *entry.merged_from]
        said = [seed.last_confirmed_at for seed in planted if seed.id in together]
        assert entry.last_confirmed_at == max(said)
        assert uses[entry.id.uuid] >= 3 * len(together)


def test_planted_entries_are_older_than_any_clock():
    assert NOW.year < 2026
