"""Which of two contradicting memories holds, and what happens when nothing decides."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contradictions.detect import Contradiction, find_contradictions
from app.contradictions.resolve import QUESTION_CHARS, direction, resolve
from tests.unit.contradictions.builders import BAND, alike, memory_id, said


def numbers(ids):
    return [one.uuid.int for one in ids]


def decide(*statements):
    return resolve(statements, find_contradictions(statements, alike(len(statements)), BAND))


def conflict(one, other):
    return Contradiction(memory_id(one), memory_id(other), "claim")


def test_the_later_one_of_two_holds():
    outcome = decide(said(1, "Lives in Rome"), said(2, "Lives in Oslo"))
    assert numbers(outcome.kept) == [2]
    assert numbers(outcome.out) == [1]
    [change] = outcome.supersessions
    assert (change.kept, change.superseded, change.why, change.for_good) == (
        memory_id(2),
        memory_id(1),
        "claim",
        True,
    )


def test_when_it_became_true_counts_more_than_when_it_was_recorded():
    newer = said(1, "Lives in Oslo", recorded=10, true_since=150)
    back_filled = said(2, "Lives in Rome", recorded=11, true_since=0)
    assert numbers(decide(newer, back_filled).kept) == [1]
    assert direction(new=back_filled, old=newer) == "old"


def test_a_missing_valid_from_is_the_time_of_recording():
    assert direction(new=said(2, "Lives in Oslo", recorded=20), old=said(1, "Lives in Rome", true_since=5)) == "new"


def test_the_same_moment_of_recording_is_decided_by_the_order_of_the_space():
    one, other = said(1, "Likes coffee", recorded=3), said(2, "Doesn't like coffee", recorded=3)
    assert direction(new=other, old=one) == "new"
    assert direction(new=one, old=other) == "old"


def test_two_given_equal_valid_from_decide_nothing():
    one, other = said(1, "Lives in Rome", true_since=5), said(2, "Lives in Oslo", true_since=5)
    assert direction(new=other, old=one) is None
    outcome = decide(one, other)
    assert numbers(outcome.kept) == [1, 2]
    assert not outcome.supersessions
    [open_question] = outcome.unresolved
    assert numbers(open_question.ids) == [1, 2]
    assert "Lives in Rome" in open_question.question
    assert "Lives in Oslo" in open_question.question


def test_a_question_is_one_short_line_whatever_the_texts():
    one = replace(said(1, "Lives in Rome", true_since=5), text="Lives in\nRome " + "x" * 5000)
    other = replace(said(2, "Lives in Oslo", true_since=5), text="Lives in Oslo " + "\u0159" * 5000)
    [open_question] = resolve((one, other), [conflict(1, 2)]).unresolved
    assert len(open_question.question) <= QUESTION_CHARS
    assert "\n" not in open_question.question
    assert open_question.question.endswith("?")


def test_the_deepest_scope_wins_for_this_turn_only():
    everywhere = said(9, "Mira has blue eyes")
    story = said(1, "Mira has green eyes", scope="story:au1")
    outcome = decide(everywhere, story)
    assert numbers(outcome.kept) == [1]
    assert [change.for_good for change in outcome.supersessions] == [False]


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("story:a", "character:mira"),
        ("scene:ball", "character:mira"),
        ("arc:war", "character:mira"),
        ("character:mira", "chat:1"),
        ("chat:1", "project:x"),
    ],
)
def test_at_one_depth_a_story_beats_a_character_a_chat_and_a_project(stronger, weaker):
    one = said(1, "Mira has blue eyes", scope=stronger)
    other = said(2, "Mira has green eyes", scope=weaker)
    outcome = resolve((one, other), [conflict(1, 2)])
    assert numbers(outcome.kept) == [1]
    assert not outcome.supersessions[0].for_good


def test_what_is_already_out_knocks_nobody_out():
    chain = [said(1, "a"), said(2, "b"), said(3, "c")]
    outcome = resolve(chain, [conflict(1, 2), conflict(2, 3)])
    assert numbers(outcome.kept) == [1, 3]
    assert numbers(outcome.out) == [2]


def test_in_a_circle_the_newest_stays():
    circle = [said(1, "a"), said(2, "b"), said(3, "c")]
    outcome = resolve(circle, [conflict(1, 2), conflict(2, 3), conflict(3, 1)])
    assert numbers(outcome.kept) == [3]
    assert {change.kept for change in outcome.supersessions} == {memory_id(3)}


def test_an_open_question_about_one_that_is_out_is_not_asked():
    one, other = said(1, "a", true_since=5), said(2, "b", true_since=5)
    newest = said(3, "c", true_since=9)
    outcome = resolve((one, other, newest), [conflict(1, 2), conflict(1, 3)])
    assert numbers(outcome.kept) == [2, 3]
    assert not outcome.unresolved


def test_one_entry_in_several_open_pairs_is_asked_about_in_each():
    three = [said(n, f"t{n}", true_since=5) for n in (1, 2, 3)]
    outcome = resolve(three, [conflict(1, 2), conflict(1, 3), conflict(2, 3)])
    assert [numbers(one.ids) for one in outcome.unresolved] == [[1, 2], [1, 3], [2, 3]]


def test_contradictions_about_others_are_ignored():
    outcome = resolve([said(1, "a")], [conflict(1, 99)])
    assert numbers(outcome.kept) == [1]


SCOPES = ("", "character:mira", "story:au1", "story:au1/scene:ball", "chat:9")


@st.composite
def worlds(draw):
    count = draw(st.integers(1, 7))
    days = st.integers(0, 3)
    statements = tuple(
        said(
            number,
            f"text {number}",
            recorded=draw(days),
            true_since=draw(st.none() | days),
            scope=draw(st.sampled_from(SCOPES)),
        )
        for number in range(count)
    )
    ends = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=12))
    return statements, [conflict(one, other) for one, other in pairs if one != other]


@given(world=worlds(), data=st.data())
def test_neither_the_order_of_statements_nor_of_pairs_matters(world, data):
    statements, pairs = world
    shuffled = data.draw(st.permutations(statements))
    turned = [
        Contradiction(p.other, p.one, p.why) if data.draw(st.booleans()) else p
        for p in data.draw(st.permutations(pairs))
    ]
    assert resolve(shuffled, turned) == resolve(statements, pairs)


@given(world=worlds())
def test_kept_and_out_are_the_input_and_something_is_always_kept(world):
    statements, pairs = world
    outcome = resolve(statements, pairs)
    assert sorted(outcome.kept + outcome.out) == sorted(one.id for one in statements)
    assert outcome.kept


@given(world=worlds())
def test_whatever_is_out_lost_against_one_that_is_kept(world):
    statements, pairs = world
    outcome = resolve(statements, pairs)
    assert {change.superseded for change in outcome.supersessions} == set(outcome.out)
    assert {change.kept for change in outcome.supersessions} <= set(outcome.kept)


@given(world=worlds())
def test_only_equals_in_scope_are_superseded_for_good(world):
    statements, pairs = world
    scope_of = {one.id: one.scope for one in statements}
    for change in resolve(statements, pairs).supersessions:
        assert change.for_good == (scope_of[change.kept] == scope_of[change.superseded])


@given(world=worlds())
def test_two_kept_ones_that_contradict_each_other_are_an_open_question(world):
    statements, pairs = world
    outcome = resolve(statements, pairs)
    kept = set(outcome.kept)
    open_pairs = {frozenset(one.ids) for one in outcome.unresolved}
    assert open_pairs == {frozenset((p.one, p.other)) for p in pairs if {p.one, p.other} <= kept}
