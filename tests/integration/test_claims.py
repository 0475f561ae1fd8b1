"""One current value of a single-valued attribute: whoever writes, in whatever order, however many at once."""

import asyncio
from datetime import timedelta

import psycopg
import pytest

from app.domain.entries import Cardinality, Content, Status
from app.domain.errors import ConflictError
from tests.integration.consistency import assert_consistent
from tests.integration.stores import claim, day


async def live(space):
    rows = await space.rows(
        """SELECT text FROM entry_versions WHERE tenant_id = %(tenant)s AND space_id = %(space)s
              AND closed_at IS NULL AND status = 'active' ORDER BY text"""
    )
    return [row["text"] for row in rows]


async def test_a_newer_value_supersedes_the_older_one_which_stays_in_history(space):
    """Public report contra-01: the contradicted fact was deleted and the new one was not stored."""
    old = (await space.write("I love Thai cuisine.")).entry
    new = await space.write("I hate Thai cuisine.")
    assert new.written.superseded == (old.id,)
    assert await live(space) == ["I hate Thai cuisine."]
    now = await space.get(old.id)
    assert (now.status, now.superseded_by, now.reason) == (Status.SUPERSEDED, new.entry.id, "superseded")
    assert now.content.valid_to == new.entry.recorded_at
    assert [e.content.text for e in await space.history(old)] == ["I love Thai cuisine."] * 2
    await assert_consistent(space)


async def test_an_older_fact_that_arrives_late_is_stored_as_superseded(space):
    """Public report contra-10: the order of arrival is not the order of truth."""
    june = (await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"), valid_from=day(2024, 6))).entry
    january = await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"), valid_from=day(2024, 1))
    assert january.written.superseded == ()
    assert (january.entry.status, january.entry.superseded_by) == (Status.SUPERSEDED, june.id)
    assert january.entry.content.valid_to == day(2024, 6)
    assert await live(space) == ["Ana lives in Milan."]
    assert await space.get(june.id) == june
    assert len(await space.history(january.entry)) == 1
    await assert_consistent(space)


async def test_of_two_writes_at_one_moment_the_second_wins(space):
    """Public report contra-11: pure negation, and an order that clocks cannot tell."""
    coffee, no_coffee = await space.create(Content(text="I like coffee."), Content(text="I do not like coffee."))
    assert coffee.entry.recorded_at == no_coffee.entry.recorded_at
    assert coffee.entry.sequence < no_coffee.entry.sequence
    assert no_coffee.written.superseded == (coffee.entry.id,)
    assert await live(space) == ["I do not like coffee."]
    await assert_consistent(space)


async def test_the_second_write_wins_even_if_the_clock_was_set_back(space):
    await space.write("I like coffee.")
    later = (await space.rows("SELECT now() + interval '1 hour' AS later"))[0]["later"]
    await space.rows(
        "UPDATE spaces SET written_at = %(later)s WHERE tenant_id = %(tenant)s AND id = %(space)s", later=later
    )
    for text in ("I do not like coffee.", "I like coffee."):
        entry = (await space.write(text)).entry
        assert entry.recorded_at > later
        assert await live(space) == [text]
    await assert_consistent(space)


async def test_a_value_that_is_said_again_replaces_nothing(space):
    await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))
    again = await space.write("Ana's home is in Rome.", claim=claim("residence", "rome"))
    assert (again.written.superseded, again.written.unresolved_with) == ((), ())
    assert len(await live(space)) == 2
    await assert_consistent(space)


async def test_when_the_one_that_counts_goes_another_that_says_the_same_takes_its_place(space):
    first = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))).entry
    await space.write("Ana's home is in Rome.", claim=claim("residence", "Rome"))
    await space.delete(first)
    await assert_consistent(space)
    moved = await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"))
    assert len(moved.written.superseded) == 1
    assert await live(space) == ["Ana lives in Milan."]
    await assert_consistent(space)


async def test_a_newer_value_supersedes_all_that_say_the_older_one(space):
    for beside in ("her cat", "a lodger", "the river in sight"):
        await space.write(f"Ana lives in Rome with {beside}.", claim=claim("residence", "Rome"))
    moved = await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"))
    assert len(moved.written.superseded) == 3
    await assert_consistent(space)


async def test_when_nothing_decides_both_stay_and_are_marked(space):
    since = day(2024, 6)
    one = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"), valid_from=since)).entry
    other = await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"), valid_from=since)
    assert other.written.unresolved_with == (one.id,)
    assert [e.unresolved for e in (await space.get(one.id), await space.get(other.entry.id))] == [True, True]
    await assert_consistent(space)
    moved = await space.write("Ana lives in Turin.", claim=claim("residence", "Turin"), valid_from=day(2025))
    assert set(moved.written.superseded) == {one.id, other.entry.id}
    assert await live(space) == ["Ana lives in Turin."]
    await assert_consistent(space)


async def test_other_scopes_subjects_and_many_valued_attributes_do_not_conflict(space):
    many = Cardinality.MANY
    await space.write("Everywhere.", claim=claim("residence", "Rome"))
    await space.write("In the story.", claim=claim("residence", "Milan"), scope="story:a")
    await space.write("Ben.", claim=claim("residence", "Turin", subject="Ben"))
    await space.write("Honey.", claim=claim("likes", "honey", cardinality=many))
    await space.write("Tea.", claim=claim("likes", "tea", cardinality=many))
    assert len(await live(space)) == 5
    await assert_consistent(space)


async def test_twenty_writers_of_different_values_leave_one_current_and_a_linear_chain(space):
    """Public report dup-05: two parallel updates of one attribute both became the latest."""
    towns = [f"Town {n}" for n in range(20)]
    outcomes = await asyncio.gather(
        *(space.write(f"Ana lives in {town}.", claim=claim("residence", town)) for town in towns)
    )
    assert len(await live(space)) == 1
    chain = sorted((o.entry for o in outcomes), key=lambda e: e.sequence)
    now = [await space.get(entry.id) for entry in chain]
    assert [e.superseded_by for e in now] == [*(e.id for e in chain[1:]), None]
    assert [e.status for e in now] == [Status.SUPERSEDED] * 19 + [Status.ACTIVE]
    assert [o.written.superseded for o in sorted(outcomes, key=lambda o: o.entry.sequence)] == [
        (), *((e.id,) for e in chain[:-1]),
    ]  # fmt: skip
    assert [e.recorded_at for e in chain] == sorted({e.recorded_at for e in chain})
    await assert_consistent(space)


async def test_two_parallel_edits_of_one_entry_have_one_winner_and_one_refusal(space):
    """Public report dup-05, as edits: both writers get a definite outcome."""
    entry = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))).entry
    outcomes = await asyncio.gather(
        space.edit(entry, text="Ana lives in Milan.", claim=claim("residence", "Milan")),
        space.edit(entry, text="Ana lives in Turin.", claim=claim("residence", "Turin")),
        return_exceptions=True,
    )
    assert [type(o) is ConflictError for o in outcomes].count(True) == 1
    assert [e.version for e in await space.history(entry)] == [2, 1]
    await assert_consistent(space)


async def test_the_database_itself_refuses_a_second_current_value(space):
    await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))
    second = """INSERT INTO claims
        SELECT tenant_id, space_id, gen_random_uuid(), scope, subject, attribute, 'milan', cardinality, FALSE,
               {restated}
          FROM claims WHERE tenant_id = %(tenant)s AND space_id = %(space)s"""
    with pytest.raises(psycopg.errors.UniqueViolation, match="claims_current"):
        await space.rows(second.format(restated="FALSE"))
    await space.rows(second.format(restated="TRUE"))


async def test_an_edit_that_changes_the_value_supersedes_the_others(space):
    rome = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))).entry
    again = (await space.write("Her home: Rome.", claim=claim("residence", "Rome"))).entry
    edited = await space.edit(rome, text="Ana lives in Milan.", claim=claim("residence", "Milan"))
    assert edited.written.superseded == (again.id,)
    await assert_consistent(space)


async def test_undoing_a_supersession_waits_until_the_other_is_gone(space):
    rome = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"))).entry
    milan = (await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"))).entry
    with pytest.raises(ConflictError, match="claims otherwise"):
        await space.undo(rome)
    await space.delete(milan)
    await space.undo(rome)
    assert await live(space) == ["Ana lives in Rome."]
    await assert_consistent(space)


async def test_when_one_of_two_unresolved_goes_the_other_is_no_longer_in_doubt(space):
    since = day(2024, 6)
    one = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"), valid_from=since)).entry
    other = (await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"), valid_from=since)).entry
    await space.delete(other)
    assert not (await space.get(one.id)).unresolved
    await assert_consistent(space)
    later = (await space.write("Ana lives in Turin.", claim=claim("residence", "Turin"), valid_from=since)).entry
    await space.edit(later, valid_from=since + timedelta(days=1))
    assert await live(space) == ["Ana lives in Turin."]
    await assert_consistent(space)


async def test_editing_one_of_two_unresolved_settles_the_other(space):
    since = day(2024, 6)
    one = (await space.write("Ana lives in Rome.", claim=claim("residence", "Rome"), valid_from=since)).entry
    other = (await space.write("Ana lives in Milan.", claim=claim("residence", "Milan"), valid_from=since)).entry
    await space.edit(other, text="Ana works in Milan.", claim=claim("workplace", "Milan"))
    assert [(await space.get(e.id)).unresolved for e in (one, other)] == [False, False]
    await assert_consistent(space)
