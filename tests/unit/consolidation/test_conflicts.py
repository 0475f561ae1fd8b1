"""Contradictions of a whole space: those of a pool, found without comparing everything with everything."""

from collections.abc import Mapping

from app.assembly.outlines import outline
from app.consolidation.blocks import fact_blocks, repetition_blocks, wording_blocks
from app.consolidation.conflicts import find_conflicts
from app.consolidation.records import Item, Sketch, Vitality, Why
from app.domain.ids import PublicId
from tests.integration.stores import day
from tests.unit.consolidation.items import BAND, item, vector_of


def sketch(one: Item) -> Sketch:
    entry, content = one.entry, one.entry.content
    vital = Vitality(entry.tier, content.category, content.importance, entry.last_confirmed_at, 0)
    return Sketch(entry.id, entry.version, entry.tier, content.scope, outline(content.text, content.claim), None, vital)


def decided(*items: Item, band=BAND):
    known: Mapping[PublicId, Item] = {one.entry.id: one for one in items}
    sketches = [sketch(one) for one in items]
    found = find_conflicts(known, fact_blocks(sketches), wording_blocks(sketches), band)
    return [(loser.uuid.int, kept.uuid.int, why) for loser, kept, why in found.losers], len(found.undecided)


def test_the_later_of_two_that_cannot_both_hold_stays():
    assert decided(item(1, "The gate is open."), item(2, "The gate is closed.")) == ([(1, 2, Why.ANTONYM)], 0)
    assert decided(item(1, "Ana lives in Rome."), item(2, "Ana does not live in Rome.")) == ([(1, 2, Why.NEGATION)], 0)


def test_a_second_sentence_contradicts_too():
    one, other = item(1, "I keep bees. I live in Rome.", claim=None), item(2, "I live in Milan.")
    assert decided(one, other) == ([(1, 2, Why.CLAIM)], 0)


def test_order_of_arrival_is_not_order_of_truth():
    """Public report contra-10: a fact dated June, then an older conflicting one dated January is back-filled."""
    june = item(1, "The gate is open.", valid_from=day(2024, 6))
    january = item(2, "The gate is closed.", valid_from=day(2024, 1))
    assert decided(june, january) == ([(2, 1, Why.ANTONYM)], 0)


def test_what_nothing_decides_is_left_to_be_asked():
    since = day(2024, 6)
    one, other = item(1, "The gate is open.", valid_from=since), item(2, "The gate is closed.", valid_from=since)
    assert decided(one, other) == ([], 1)


def test_what_held_at_another_time_or_holds_elsewhere_contradicts_nothing():
    past = item(1, "The gate is open.", valid_from=day(2020), valid_to=day(2021))
    assert decided(past, item(2, "The gate is closed.", valid_from=day(2021))) == ([], 0)
    assert decided(item(1, "The gate is open.", scope="story:a"), item(2, "The gate is closed.")) == ([], 0)


def test_wording_is_compared_inside_the_band_only():
    far = -vector_of(1)
    assert decided(item(1, "The gate is open."), item(2, "The gate is closed.", vector=far)) == ([], 0)
    assert decided(item(1, "The gate is open."), item(2, "The gate is closed."), band=None) == ([], 0)


def test_what_is_out_itself_pushes_nobody_out():
    items = [
        item(n, text) for n, text in enumerate(("The gate is open.", "The gate is closed.", "The gate is open now."), 1)
    ]
    assert decided(*items) == ([(2, 3, Why.ANTONYM)], 0)


def test_what_somebody_undid_stands_beside_what_was_known_then():
    undone, other = item(5, "The gate is open.", reason="undo"), item(2, "The gate is closed.")
    assert decided(undone, other) == ([], 0)
    assert decided(undone, item(6, "The gate is closed.")) == ([(5, 6, Why.ANTONYM)], 0)


def test_blocks_are_few_however_many_entries_share_a_subject():
    items = [item(n, f"I am allergic to fruit number {n}.") for n in range(1, 400)]
    sketches = [sketch(one) for one in items]
    assert sum(map(len, repetition_blocks(sketches))) == 0
    assert sum(map(len, (*fact_blocks(sketches), *wording_blocks(sketches)))) <= 3 * len(items)
    assert decided(*items) == ([], 0)
