"""The signals of a candidate, each in [0, 1]."""

from collections.abc import Mapping
from datetime import datetime
from math import log
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.domain.entries import Tier

DEFAULT_IMPORTANCE = 0.5
DEFAULT_CONFIDENCE = 0.8

HALF_LIFE_DAYS: Mapping[Tier, float] = MappingProxyType(
    {Tier.MEMORIES: 90.0, Tier.EPISODES: 14.0, Tier.PROCEDURES: 180.0}
)

_SATURATING_USES: Final = 20
_SECONDS_PER_DAY = 86_400.0


Shares = NDArray[np.float64]
"""Numbers in [0, 1]."""


class Signals(NamedTuple):
    """What the score is made of. Each is in [0, 1], higher is better."""

    relevance: float
    importance: float
    recency: float
    frequency: float
    confidence: float


class Lasting(NamedTuple):
    """What the signals of an entry are made of that does not change with the request."""

    importance: float
    confidence: float
    since_days: float
    half_life_days: float


def recency(age_days: ArrayLike, half_life_days: ArrayLike) -> Shares:
    """Exponential forgetting: 1.0 now, 0.5 after one half-life.

    Args:
        age_days: Days since each entry was last confirmed. A negative age (a clock ahead, or a
            question asked for an earlier moment) counts as 0.
        half_life_days: Days until the signal halves, > 0.

    Returns:
        Signals in [0, 1], decreasing in age_days; in the shape of the arguments.

    Source: Park et al., Generative Agents, UIST 2023, section 4.1 (an exponential decay per hour).
    """
    return np.asarray(0.5 ** (np.maximum(age_days, 0.0) / np.asarray(half_life_days)))


def frequency(uses: ArrayLike) -> Shares:
    """How often each entry was used, >= 0: log(1 + uses) / log(21), at most 1 (from 20 uses on)."""
    return np.asarray(np.minimum(1.0, np.log1p(uses) / log(1 + _SATURATING_USES)))


def age_days(since: datetime, moment: datetime) -> float:
    """Days from one moment to another; negative when `since` is the later one."""
    return (moment - since).total_seconds() / _SECONDS_PER_DAY


def days_of(moment: datetime) -> float:
    """Days since the epoch, to a microsecond: ages are differences of these."""
    return moment.timestamp() / _SECONDS_PER_DAY
