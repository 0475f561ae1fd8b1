"""What speaks for a candidate beside its own words: who said it, when, and what was said around it.

One stage for search and for assemblies, over the pool that the arms brought up. docs/decisions/013-retrieval.md has
the measurements.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.domain.entries import AGENT_AUTHORS
from app.scoring.wording import Wording
from app.text.normalise import fold
from app.text.times import Period

NAMED_AUTHOR: Final = 1.6
"""Factor for what was said by somebody whom the question names."""

AGENT_SAID: Final = 0.3
"""Factor for what the agent said, unless the question is about that: a fact about a person comes from that person."""

IN_PERIOD: Final = 2.0
"""Factor for what happened in the stretch of time that the question speaks of; less beside it, by the distance."""

SUPPORT: Final = 0.25
"""Share that each of the two best entries of a neighbourhood adds, the entry itself being one of it."""

REACH: Final = 10.0
"""Entries of a session after which what one adds to another has fallen to 1/e."""

Weights = NDArray[np.float64]


class Place(NamedTuple):
    """Where a candidate stands.

    Attributes:
        session: With the space that it is in; None for an entry without a session.
        position: In the order in which the space was written.
        author: Whose words it holds, if that is known.
        at: When it happened, began to hold, or was recorded.
    """

    session: tuple[str, str] | None
    position: int
    author: str | None
    at: datetime


def supported(weights: Weights, places: Sequence[Place], wording: Wording, least: float) -> Weights:
    """The weights of evidence, once the circumstances are looked at.

    Args:
        weights: Of each candidate's own words, shape (n,), >= 0.
        places: Of the same candidates, in the same order.
        wording: Of the question.
        least: What weighs less on its own is neither lifted nor does it lift others.

    Returns:
        Shape (n,), >= 0, rising in every weight.
    """
    if not len(weights):
        return weights
    factors = np.ones(len(weights))
    for number, place in enumerate(places):
        if place.author is not None:
            factors[number] = _by(_author(place.author), wording)
    if wording.period is not None:
        factors *= _when(np.array([place.at.timestamp() for place in places]), wording.period)
    own = np.where(weights >= least, weights * factors, 0.0)
    return np.where(weights >= least, own + SUPPORT * _two_best(own, places), weights)


def _by(author: "_Author", wording: Wording) -> float:
    if author.is_agent:
        return 1.0 if wording.is_about_agent else AGENT_SAID
    return 1.0 if author.names.isdisjoint(wording.words) else NAMED_AUTHOR


def _when(seconds: Weights, period: Period) -> Weights:
    """IN_PERIOD inside; outside it falls by 1/e for every length of the period: people are not exact."""
    since, until = period.since.timestamp(), period.until.timestamp()
    distance = np.maximum(np.maximum(since - seconds, seconds - until), 0.0)
    return np.asarray(1.0 + (IN_PERIOD - 1.0) * np.exp(-distance / (until - since)))


def _two_best(own: Weights, places: Sequence[Place]) -> Weights:
    """The sum of the two best of each entry's session, discounted by distance; without one, the entry alone."""
    numbers: dict[tuple[str, str], int] = {}
    alone = -1
    if all(place.session is None for place in places):
        return own
    session = np.array([alone if p.session is None else numbers.setdefault(p.session, len(numbers)) for p in places])
    position = np.array([place.position for place in places], dtype=np.float64)
    near = np.exp(np.abs(position[:, None] - position) / -REACH)
    near *= (session[:, None] == session) & (session != alone)
    np.fill_diagonal(near, 1.0)
    near *= own
    rows, best = np.arange(len(own)), near.argmax(axis=1)
    first = near[rows, best]
    near[rows, best] = 0.0
    return np.asarray(first + near.max(axis=1))


class _Author(NamedTuple):
    names: frozenset[str]
    is_agent: bool


@lru_cache(maxsize=4_096)
def _author(name: str) -> _Author:
    folded = fold(name)
    return _Author(frozenset(folded.replace("_", " ").split()), folded.strip() in AGENT_AUTHORS)
