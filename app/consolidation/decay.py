"""How entries fade. Docs: docs/decisions/016-consolidation.md."""

from dataclasses import replace
from datetime import datetime

from app.consolidation.records import Vitality
from app.domain.entries import PREFERENCE_CATEGORIES, Tier
from app.entries.decide import BY_HAND
from app.scoring.signals import DEFAULT_IMPORTANCE, HALF_LIFE_DAYS, age_days, frequency, recency

PROTECTED_IMPORTANCE = 0.7
"""From here on nothing fades: the importance from which a preference is in every prompt."""

USE_STRETCH = 2.0
"""What is used in 20 sessions or more fades three times as slowly as what is never used."""

ARCHIVE_BELOW = 0.02
"""The strength below which an entry is archived, by default: 5.6 half-lives after it was last confirmed. Of average
importance and never used, a memory stays 508 days, an episode 79, a procedure 1,016."""

PINNED = "pinned"
"""The tag of entries that never fade."""


def strength(vitality: Vitality, now: datetime) -> float:
    """How much of an entry is left: 1.0 when it is confirmed, halved with every half-life since.

    The half-life is that of the tier's recency, times 0.5 to 1.5 by importance, times up to 3 by use.

    Returns:
        In [0, 1]; falls with age, rises with importance and with use.

    Source: Zhong et al., MemoryBank, AAAI 2024, section 3.2: exponential forgetting after Ebbinghaus, restarted by each
    recall and slower with each; here a confirmation restarts it, and a use slows it down (uses carry no time).
    """
    importance = DEFAULT_IMPORTANCE if vitality.importance is None else vitality.importance
    stretch = (0.5 + importance) * (1.0 + USE_STRETCH * frequency(vitality.uses))
    return float(recency(age_days(vitality.confirmed_at, now), HALF_LIFE_DAYS[vitality.tier] * stretch))


def is_protected(vitality: Vitality) -> bool:
    """Whether an entry never fades: important, a preference, pinned, or in an open contradiction."""
    is_important = vitality.importance is not None and vitality.importance >= PROTECTED_IMPORTANCE
    is_preference = vitality.tier is Tier.MEMORIES and vitality.category in PREFERENCE_CATEGORIES
    return is_important or is_preference or vitality.is_pinned or vitality.in_doubt


def has_faded(vitality: Vitality, now: datetime, archive_below: float) -> bool:
    """Whether an entry is to be archived."""
    return not is_protected(vitality) and strength(vitality, now) < archive_below


def last_kept(last_confirmed_at: datetime, recorded_at: datetime, reason: str, begins: datetime | None) -> datetime:
    """Since when an entry fades: when it was confirmed, kept by hand, or began to hold, whichever came last."""
    known = [last_confirmed_at]
    if reason in BY_HAND:
        known.append(recorded_at)
    if begins is not None:
        known.append(begins)
    return max(known)


def joined(kept: Vitality, merged: Vitality) -> Vitality:
    """What keeps an entry alive once another was merged into it."""
    known = [value for value in (kept.importance, merged.importance) if value is not None]
    return replace(
        kept,
        category=kept.category or merged.category,
        importance=max(known) if known else None,
        confirmed_at=max(kept.confirmed_at, merged.confirmed_at),
        uses=kept.uses + merged.uses,
        is_pinned=kept.is_pinned or merged.is_pinned,
    )
