"""What is one memory said twice, and what only looks like it."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.consolidation.duplicates import find_merges, says_the_same, united
from app.consolidation.records import Why
from app.domain.entries import Author, Cardinality, Category, Claim, Tier
from tests.builders import NOW
from tests.integration.stores import day
from tests.unit.consolidation.items import BAND, item, vector_of

FAR = -vector_of(1)
ANA, BEN = Author(name="Ana"), Author(name="Ben")


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Ana keeps bees.", "  ana keeps BEES!", Why.SAME_TEXT),
        ("The club meets in town on Mondays", "On Mondays the club meets in town.", Why.SAME_WORDING),
        ("I'm really allergic to peanuts.", "I am allergic to peanuts", Why.SAME_WORDING),
        ("I live in Turin.", "I reside in Turin.", Why.SAME_CLAIM),
        ("I live in Turin.", "Vivo a Torino.", Why.SAME_CLAIM),
        ("Bydlím v Praze.", "I live in Prague.", Why.SAME_CLAIM),
        ("My dog is called Rex.", "My dog's name is Rex.", Why.SAME_CLAIM),
        ("I live in Turin with my sister.", "I live in Turin.", Why.SAME_CLAIM),
    ],
)
def test_said_in_other_words_it_is_the_same(one, other, why):
    assert says_the_same(item(1, one), item(2, other), BAND) is why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Turin.", "I used to live in Turin."),
        ("I live in Turin.", "I might live in Turin."),
        ("I move to Turin.", "I will move to Turin."),
        ("I live in Turin.", "I do not live in Turin."),
        ("I live in Turin with my sister.", "I live in Turin with my brother."),
        ("My uncle Bob lives in Rome.", "My uncle Tom lives in Rome."),
        ("Ana loves Ben very much.", "Ben loves Ana very much."),
        ("Dogs chase big cats.", "Cats chase big dogs."),
        ("The printer has 4 trays.", "The printer has 6 trays."),
        ("Ana always arrives early.", "Ana never arrives late."),
        ("The gate is open.", "The gate is closed."),
    ],
)
def test_what_differs_in_one_word_that_matters_is_not_the_same_however_similar(one, other):
    assert says_the_same(item(1, one), item(2, other), BAND) is None
    assert says_the_same(item(1, other), item(2, one), BAND) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"scope": "story:a"}, {"scope": "story:b"}),
        ({}, {"scope": "story:a"}),
        ({"valid_from": day(2020)}, {"valid_from": day(2024)}),
        ({"valid_to": day(2040)}, {}),
        ({"author": ANA}, {"author": BEN}),
        ({"author": ANA}, {}),
        ({"author": Author(platform="x", id="1")}, {"author": Author(platform="x", id="2")}),
        ({"category": Category.FACT}, {"category": Category.GOAL}),
        ({"context": "a"}, {"context": "b"}),
        ({"unresolved": True}, {}),
    ],
)
def test_scope_validity_author_category_and_doubt_keep_entries_apart(one, other):
    assert says_the_same(item(1, "I keep bees.", **one), item(2, "I keep bees.", **other), BAND) is None


def test_who_tells_a_fact_about_somebody_else_does_not_matter():
    one, other = (item(n, "Carla lives in Rome.", author=author) for n, author in enumerate((ANA, BEN), 1))
    assert says_the_same(one, other, BAND) is Why.SAME_TEXT
    mine = [item(n, "My sister lives in Rome.", author=author) for n, author in enumerate((ANA, BEN), 1)]
    assert says_the_same(*mine, BAND) is None


def test_a_similarity_below_the_band_keeps_wordings_apart_and_without_a_model_only_texts_and_claims_count():
    one = item(1, "The club meets in town on Mondays")
    other = "On Mondays the club meets in town."
    assert says_the_same(one, item(2, other, vector=FAR), BAND) is None
    assert says_the_same(one, item(2, other), None) is None
    assert says_the_same(item(1, "I live in Rome."), item(2, "I reside in Rome.", vector=None), None) is Why.SAME_CLAIM


def test_a_given_claim_of_the_same_value_merges_what_adds_nothing():
    claim = Claim("user", "residence", "Rome")
    one = item(1, "Ana lives in Rome.", claim=claim)
    assert says_the_same(one, item(2, "Ana's home: Rome", claim=claim), BAND) is Why.SAME_CLAIM
    assert says_the_same(one, item(2, "Ana has a flat with a garden in Rome", claim=claim), BAND) is None
    many = Claim("user", "residence", "Rome", Cardinality.MANY)
    assert says_the_same(one, item(2, "Ana lives in Rome.", claim=many), BAND) is None


def test_an_episode_is_the_same_only_at_a_known_moment_among_the_same_people():
    def walk(number, **content):
        return item(number, "We went for a walk.", tier=Tier.EPISODES, **content)

    assert says_the_same(walk(1), walk(2), BAND) is None
    at = {"occurred_at": day(2024), "participants": ("Ana", "Ben")}
    assert says_the_same(walk(1, **at), walk(2, **at | {"participants": ("Ben", "Ana")}), BAND) is Why.SAME_TEXT
    assert says_the_same(walk(1, **at), walk(2, **at | {"session": "s"}), BAND) is None


def test_a_procedure_is_the_same_only_with_the_same_trigger():
    one, other = (
        item(n, "Back up first.", tier=Tier.PROCEDURES, trigger=t) for n, t in ((1, "A release"), (2, "a release!"))
    )
    assert says_the_same(one, other, BAND) is Why.SAME_TEXT
    assert says_the_same(one, item(3, "Back up first.", tier=Tier.PROCEDURES), BAND) is None


def test_what_somebody_undid_is_not_merged_again():
    items = [item(1, "Ana keeps bees."), item(2, "Ana keeps bees.", reason="undo")]
    assert find_merges(items, BAND) == ()


def test_the_one_that_says_most_stays_and_of_equals_the_earliest():
    merges = find_merges(
        [item(3, "I live in Turin."), item(1, "I live in Turin."), item(2, "I live in Turin with Ana.")], BAND
    )
    assert [(m.merged.id.uuid.int, m.kept.id.uuid.int) for m in merges] == [(1, 2), (3, 2)]


@given(
    st.lists(
        st.tuples(st.sampled_from((None, 0.2, 0.9)), st.floats(0, 900), st.sampled_from(("a", "b", "c"))),
        min_size=3,
        max_size=4,
    )
)
def test_what_is_left_does_not_depend_on_the_order_and_loses_nothing(told):
    kept, *others = [
        item(n, "Ana keeps bees.", days=days, importance=importance, tags=(tag,)).entry
        for n, (importance, days, tag) in enumerate(told, 1)
    ]
    wholes = [united(kept, order) for order in permutations(others)]
    one = wholes[0]
    for other in wholes:
        assert (
            other.last_confirmed_at == one.last_confirmed_at == max(e.last_confirmed_at for e in (kept, *others)) <= NOW
        )
        assert other.merged_from == one.merged_from == tuple(e.id for e in others)
        assert set(other.content.tags) == {tag for _, _, tag in told}
        assert other.content.importance == max((i for i, _, _ in told if i is not None), default=None)
    again = united(united(kept, others[:1]), others[1:])
    assert (again.merged_from, again.content.importance) == (one.merged_from, one.content.importance)
