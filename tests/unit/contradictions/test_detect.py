"""Which two memories cannot both hold."""

import numpy as np
import pytest

from app.contradictions.claims import derive_claim
from app.contradictions.detect import (
    SimilarityBand,
    contradicted_by,
    contradicts,
    find_contradictions,
)
from app.domain.entries import Claim
from tests.unit.contradictions.builders import BAND, alike, said
from tests.unit.contradictions.pairs import COMPATIBLE, CONTRADICTIONS, PARAPHRASES


def found(*texts, similarity=0.7):
    statements = [said(number, text) for number, text in enumerate(texts)]
    pairs = find_contradictions(statements, alike(len(texts), similarity), BAND)
    return [(pair.one.uuid.int, pair.other.uuid.int, pair.why) for pair in pairs]


@pytest.mark.parametrize(("one", "other"), CONTRADICTIONS)
def test_these_two_cannot_both_hold(one, other):
    assert found(one, other)
    assert found(other, one)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_these_two_can_both_hold(one, other):
    assert not found(one, other)
    assert not found(other, one)


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_these_two_say_the_same(one, other):
    assert not found(one, other)
    assert not found(other, one)


@pytest.mark.parametrize("text", sorted({text for pair in COMPATIBLE + CONTRADICTIONS for text in pair}))
def test_a_memory_does_not_contradict_itself(text):
    assert not found(text, text)


def test_different_claims_on_one_attribute_conflict_whatever_their_similarity():
    assert found("Lives in Rome", "Moved to Turin", similarity=0.05) == [(0, 1, "claim")]
    assert found("Lives in Rome", "Moved to Turin", similarity=np.nan) == [(0, 1, "claim")]


@pytest.mark.parametrize("similarity", [0.1, 0.99, np.nan])
def test_wording_decides_only_inside_the_band(similarity):
    assert found("Can swim", "Cannot swim", similarity=0.5) == [(0, 1, "negation")]
    assert not found("Can swim", "Cannot swim", similarity=similarity)


def test_without_similarities_only_claims_decide():
    statements = [said(1, "Can swim"), said(2, "Cannot swim"), said(3, "Lives in Rome"), said(4, "Lives in Oslo")]
    assert [pair.why for pair in find_contradictions(statements, None, BAND)] == ["claim"]


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Can swim", "Cannot swim", "negation"),
        ("The garage door is open", "The garage door is closed", "antonym"),
        ("Takes 5 mg of the drug daily", "Takes 10 mg of the drug daily", "number"),
        ("The course starts in May", "The course starts in October", "time"),
        ("Keeps the spare key in Rome", "Keeps the spare key in Naples", "place"),
    ],
)
def test_a_contradiction_says_why(one, other, why):
    assert [pair[2] for pair in found(one, other)] == [why]


def test_many_valued_claims_coexist_whatever_their_similarity():
    assert not found("Is allergic to nuts", "Is allergic to pollen", similarity=0.5)


def test_claims_of_scopes_that_never_meet_do_not_conflict():
    one = said(1, "Lives in Rome", scope="story:a")
    other = said(2, "Lives in Oslo", scope="story:b")
    assert not find_contradictions([one, other], alike(2), BAND)


def test_a_given_claim_takes_part_like_a_derived_one():
    statements = [
        said(1, "x"),
        said(2, "y"),
    ]
    statements = [
        type(one)(one.id, one.text, Claim("user", "shoe size", size), "", None, one.confirmed_at, one.sequence)
        for one, size in zip(statements, ("43", "44"), strict=True)
    ]
    assert [pair.why for pair in find_contradictions(statements, None, BAND)] == ["claim"]


def test_a_band_is_an_interval():
    with pytest.raises(ValueError, match="lower"):
        SimilarityBand(lower=0.9, upper=0.3)


def test_a_pair_can_be_asked_about_alone():
    assert contradicts("Can swim", "Cannot swim") == "negation"
    assert contradicts("Likes tea", "Likes coffee") is None


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ("Lives in Rome", "Hi! By the way, I moved to Turin last month :)"),
        ("Vive a Roma", "ciao, mi sono trasferita a Torino"),
        ("Bydlí v Římě", "Ahoj! Přestěhovala jsem se do Turína."),
        ("Is vegetarian", "I eat meat again, so steak is fine"),
        ("Works at Nokia", "I don't work at Nokia anymore"),
    ],
)
def test_a_message_contradicts_an_older_memory(memory, message):
    assert contradicted_by(said(1, memory), message, derive_claim(message))
    assert contradicted_by(said(1, memory), message, None)


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ("Lives in Rome", "Do I live in Turin?"),
        ("Lives in Rome", "My sister moved to Turin"),
        ("Lives in Rome", "I might move to Turin one day"),
        ("Lives in Rome", "I live in Rome and I love it"),
        ("Lives in Rome", "My sister came by. She lives in Turin."),
        ("Vive a Roma", "È venuta mia sorella. Vive a Torino."),
        ("Likes tea", "I like coffee"),
    ],
)
def test_a_message_leaves_an_older_memory_standing(memory, message):
    assert not contradicted_by(said(1, memory), message, None)
