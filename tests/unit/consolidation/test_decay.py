"""How entries fade, and what does not."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.consolidation.decay import ARCHIVE_BELOW, has_faded, last_kept, strength
from app.consolidation.records import Vitality
from app.domain.entries import PREFERENCE_CATEGORIES, Category, Tier
from tests.builders import NOW


def vitality(days, tier=Tier.MEMORIES, importance=None, uses=0, category=None):
    return Vitality(tier, category, importance, NOW - timedelta(days=days), uses)


@pytest.mark.parametrize(("tier", "days"), [(Tier.MEMORIES, 508), (Tier.EPISODES, 79), (Tier.PROCEDURES, 1_016)])
def test_an_unused_entry_of_average_importance_is_archived_after_five_and_a_half_half_lives(tier, days):
    assert not has_faded(vitality(days - 1, tier), NOW, ARCHIVE_BELOW)
    assert has_faded(vitality(days + 1, tier), NOW, ARCHIVE_BELOW)


@given(st.floats(0, 5_000), st.floats(0, 1), st.integers(0, 60), st.sampled_from(list(Tier)))
def test_strength_falls_with_age_and_rises_with_importance_and_use(days, importance, uses, tier):
    one = strength(vitality(days, tier, importance, uses), NOW)
    assert 0 <= one <= 1
    assert strength(vitality(days + 1, tier, importance, uses), NOW) <= one
    assert strength(vitality(days, tier, min(1, importance + 0.1), uses), NOW) >= one
    assert strength(vitality(days, tier, importance, uses + 1), NOW) >= one


@pytest.mark.parametrize(
    "protected",
    [
        vitality(9_999, importance=0.7),
        *(vitality(9_999, category=category) for category in PREFERENCE_CATEGORIES),
        replace(vitality(9_999), is_pinned=True),
        replace(vitality(9_999), in_doubt=True),
    ],
)
def test_what_matters_never_fades(protected):
    assert not has_faded(protected, NOW, 0.5)
    assert has_faded(vitality(9_999, importance=0.69, category=Category.FACT), NOW, ARCHIVE_BELOW)


def test_nothing_fades_when_the_threshold_is_none():
    assert not has_faded(vitality(99_999), NOW, 0.0)


def test_fading_begins_when_it_was_confirmed_kept_by_hand_or_began_to_hold():
    early, late, later = (NOW + timedelta(days=n) for n in range(3))
    assert last_kept(early, late, "created", None) == early
    assert last_kept(early, late, "merged", None) == early
    assert last_kept(early, late, "undo", None) == late
    assert last_kept(early, late, "restored", later) == later
