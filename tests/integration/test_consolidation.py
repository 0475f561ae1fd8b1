"""A space put in order: what is said twice, what no longer holds, what has faded; and nothing else."""

import pytest

from app.consolidation.service import ConsolidationService
from app.domain.entries import Status
from app.store.consolidation import PostgresConsolidation
from app.store.entries import PostgresEntries
from tests.integration.consistency import assert_consistent
from tests.integration.planted import NOW, cases, plant, states
from tests.integration.stores import CALIBRATION, Space


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
