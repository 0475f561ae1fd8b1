"""The signals, the weights and the score."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.entries import Tier
from app.scoring.relevance import Calibration, relevance
from app.scoring.score import boost, scores
from app.scoring.signals import HALF_LIFE_DAYS, Signals, frequency, recency
from app.scoring.weights import WEIGHTS, ScoringWeights

UNIT = st.floats(0, 1)
COSINE = st.floats(-1, 1)
BM25 = st.floats(0, 60)
CALIBRATION = Calibration()


def test_the_weights_in_force_are_these_and_none_is_zero():
    assert ScoringWeights(relevance=0.55, importance=0.17, recency=0.07, frequency=0.06, confidence=0.15) == WEIGHTS
    assert min(astuple(WEIGHTS)) > 0
    assert WEIGHTS.relevance > sum(astuple(WEIGHTS)) / 2


@pytest.mark.parametrize("shares", [(0.5, 0.5, 0.5, 0, 0), (1.2, -0.2, 0, 0, 0), (float("nan"), 1, 0, 0, 0)])
def test_weights_that_are_no_shares_cannot_be_built(shares):
    with pytest.raises(ValueError, match="sum to 1"):
        ScoringWeights(*shares)


def test_recency_halves_per_half_life_of_its_tier():
    assert HALF_LIFE_DAYS == {Tier.MEMORIES: 90, Tier.EPISODES: 14, Tier.PROCEDURES: 180}
    assert recency(0, 14) == 1.0
    assert recency(14, 14) == pytest.approx(0.5)
    assert recency(28, 14) == pytest.approx(0.25)


@given(age=st.floats(0, 1e5), more=st.floats(0, 1e5), half_life=st.floats(0.1, 1e4))
def test_recency_never_rises_with_age(age, more, half_life):
    assert 0 <= recency(age + more, half_life) <= recency(age, half_life) <= 1


def test_an_entry_from_the_future_is_as_fresh_as_one_from_now():
    assert recency(-3, 90) == 1.0


def test_frequency_is_full_from_twenty_uses_on():
    assert frequency(0) == 0
    assert frequency(20) == pytest.approx(1)
    assert frequency(2_000_000) == 1
    assert [frequency(n) for n in range(21)] == sorted(frequency(n) for n in range(21))


@given(signals=st.builds(Signals, UNIT, UNIT, UNIT, UNIT, UNIT), rise=UNIT, name=st.sampled_from(Signals._fields))
def test_the_score_rises_in_each_signal(signals, rise, name):
    higher = signals._replace(**{name: max(rise, getattr(signals, name))})
    low, high = scores(np.array([signals, higher]), WEIGHTS)
    assert 0 <= low <= high <= 1 + 1e-9


def test_boosts_of_matching_labels_multiply():
    assert boost(["decision", "urgent", "urgent"], {"decision": 1.5, "urgent": 2.0, "other": 9.0}) == 3.0
    assert boost([], {"decision": 1.5}) == 1.0


@given(cosine=st.none() | COSINE, bm25=BM25, coverage=UNIT)
def test_relevance_is_bounded(cosine, bm25, coverage):
    assert 0 <= relevance(cosine, bm25, coverage, CALIBRATION) <= 1


@given(cosine=COSINE, bm25=BM25, coverage=UNIT, more=UNIT)
def test_relevance_rises_in_both_arms(cosine, bm25, coverage, more):
    base = relevance(cosine, bm25, coverage, CALIBRATION)
    assert base <= relevance(min(1, cosine + more), bm25, coverage, CALIBRATION)
    assert base <= relevance(cosine, bm25 + more, coverage, CALIBRATION)
    assert base <= relevance(cosine, bm25, min(1, coverage + more), CALIBRATION)


@given(cosine=COSINE, bm25=BM25, coverage=UNIT)
def test_no_arm_hides_a_hit_of_the_other(cosine, bm25, coverage):
    both = relevance(cosine, bm25, coverage, CALIBRATION)
    assert both >= relevance(cosine, None, None, CALIBRATION)
    assert both >= relevance(None, bm25, coverage, CALIBRATION)


def test_a_keyword_hit_on_a_rare_term_beats_a_semantic_near_miss():
    """ret-04: a rare name in 2 of 45 items against an unrelated item of higher cosine."""
    rare_name = relevance(0.0, 1.6 * 3.5, 1.0, CALIBRATION)
    near_miss = relevance(0.25, None, None, CALIBRATION)
    assert rare_name > near_miss


def test_a_strong_paraphrase_beats_a_weak_keyword_coincidence():
    """ret-03: keyword scores are unbounded, yet one common word of five never beats a paraphrase."""
    coincidence = relevance(0.0, 1.6 * 1.2, 0.15, CALIBRATION)
    paraphrase = relevance(0.5, None, None, CALIBRATION)
    assert paraphrase > coincidence
