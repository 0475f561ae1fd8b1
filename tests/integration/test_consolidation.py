"""A space put in order: what is said twice, what no longer holds, what has faded; and nothing else."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.consolidating import consolidate as consolidate_now
from app.consolidation.service import ConsolidationService
from app.domain.callers import Caller, Role
from app.domain.entries import Status
from app.runtime import ConfigurationError
from app.settings import Settings
from app.store.consolidation import PostgresConsolidation
from app.store.entries import PostgresEntries
from app.store.keys import ensure_tenant
from tests.fakes.changing import build_fake
from tests.integration.consistency import assert_consistent
from tests.integration.planted import LONG_AGO, NOW, cases, plant, seeds, states
from tests.integration.stores import CALIBRATION, Space
from tests.integration.test_centring import assert_cosines_are_centred


def service_of(space: Space) -> ConsolidationService:
    store = PostgresConsolidation(PostgresEntries(space.store.pool))
    return ConsolidationService(store, lambda _: CALIBRATION.band, 0.02)


async def consolidate(space, **options):
    return await service_of(space).run(space.key, NOW, **options)


def what(change):
    return change.action, change.why, change.entry, change.kept


async def assert_in_order(space, planted, owed):
    """Of every case so many live on as is right, and the others went for the right reason."""
    now = await states(space)
    place = 0
    for case in owed:
        ids = [entry.id for entry in planted[place : place + len(case.seeds)]]
        place += len(ids)
        found = [now[entry_id] for entry_id in ids]
        live = [entry for entry in found if entry.status is Status.ACTIVE]
        went = sorted(entry.reason for entry in found if entry.status is not Status.ACTIVE)
        assert (len(live), tuple(went)) == (case.live, case.reasons), [(e.content.text, e.reason) for e in found]
        if case.survivor is not None:
            assert now[ids[case.survivor]].status is Status.ACTIVE
        for entry in live:
            gone = {e.id for e in found if e.reason == "merged" and e.status is Status.SUPERSEDED}
            assert set(entry.merged_from) == (gone if entry.reason == "merged" else set())


@pytest.mark.parametrize("entries", [500, pytest.param(10_000, marks=pytest.mark.slow)])
async def test_repetitions_contradictions_and_old_entries_come_to_what_is_right_in_one_pass(space, entries):
    owed = cases(entries)
    planted = await plant(space, [seed for case in owed for seed in case.seeds])
    seen = []
    plan = await consolidate(space, dry_run=True)
    assert {entry.version for entry in (await states(space)).values()} == {1}
    done = await consolidate(space, report=seen.append)
    await assert_in_order(space, planted, owed)
    assert [what(change) for change in done.changes] == [what(change) for change in plan.changes]
    assert done.counts == plan.counts
    assert done.entries == len(planted)
    assert sum(done.counts.values()) == sum(len(case.reasons) for case in owed)
    assert seen[-1].done == seen[-1].total
    again = await consolidate(space)
    assert (again.changes, again.skipped, again.centre) == ((), 0, False)
    if entries <= 1_000:
        await assert_consistent(space)


async def test_the_centre_follows_a_space_that_has_shrunk_and_all_norms_follow_the_centre(space):
    await plant(space, seeds(*(f"Entry {n} about bees." for n in range(60)), at=LONG_AGO))
    await plant(space, seeds(*(f"Entry {n} about hens and geese." for n in range(40))))
    assert (await consolidate(space)).centre
    (after,) = await space.rows("SELECT entries_count FROM space_centres WHERE tenant_id = %(tenant)s")
    assert after["entries_count"] == 40
    assert not (await consolidate(space)).centre
    await assert_cosines_are_centred(space, "Where are the hens?")
    await space.rows("UPDATE entry_vectors SET centred_norm = 9 WHERE tenant_id = %(tenant)s")  # as if it was stopped
    assert (await consolidate(space)).centre
    await assert_cosines_are_centred(space, "Where are the hens?")


async def test_a_space_is_due_once_it_was_written_to_and_a_while_has_passed(space):
    service = service_of(space)

    async def due(hours):
        return [key.name for key in await service.store.due(space.key.tenant_id, hours, 20)]

    assert await due(0) == []
    await plant(space, seeds("Ana keeps bees.", "ana keeps bees"))
    assert (await due(24), await due(0)) == ([], [space.name])
    assert await service.run_due(space.key.tenant_id, 0, NOW) == 1
    assert [entry.status for entry in (await states(space)).values()].count(Status.ACTIVE) == 1
    await service.run_due(space.key.tenant_id, 0, NOW)
    assert await due(0) == []
    await space.write("Ana keeps hens.")
    assert await due(0) == [space.name]
    await service.run_due(space.key.tenant_id, 0, NOW)
    await space.rows("UPDATE spaces SET consolidated_at = now() - interval '8 days' WHERE id = %(space)s")
    assert await due(24) == [space.name]


async def test_a_space_that_fails_does_not_keep_others_waiting(space):
    other = space.store.space("user:ben", space.caller)
    for one in (space, other):
        await plant(one, seeds("Ana keeps bees.", "ana keeps bees"))
    await space.rows("UPDATE entry_versions SET category = 'nonsense' WHERE space_id = %(space)s")
    service = service_of(space)
    assert await service.run_due(space.key.tenant_id, 0, NOW) == 1
    assert [entry.status for entry in (await states(other)).values()].count(Status.ACTIVE) == 1


async def test_one_process_consolidates_a_space_once_at_a_time(space):
    await plant(space, seeds("Ana keeps bees.", "ana keeps bees"))
    service = service_of(space)
    outcomes = await asyncio.gather(*(service.run(space.key, NOW) for _ in range(3)), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError", "ConflictError", "Report"]
    await service.run(space.key, NOW)


async def test_the_command_shows_progress_and_what_it_did(store):
    space = store.space("user:ana", Caller(await asyncio.to_thread(ensure_tenant, store.url, "ana"), Role.WRITER))
    await plant(space, seeds("Ana keeps bees.", "ana keeps bees", at=datetime.now(UTC) - timedelta(days=9)))
    settings = Settings.model_validate({"database_url": store.url})
    lines = []
    for dry, live in ((True, 2), (False, 1)):
        report, _ = await consolidate_now(
            settings, "ana", space.name, lambda progress: lines.append(progress.line()), dry_run=dry, build=build_fake
        )
        assert report.figures["merged"] == 1
        assert [entry.status for entry in (await states(space)).values()].count(Status.ACTIVE) == live
    assert "read: 2 of 2" in lines
    assert "changed: 1 of 1" in lines
    with pytest.raises(ConfigurationError, match="there is no tenant ben"):
        await consolidate_now(settings, "ben", space.name, lines.append, build=build_fake)
