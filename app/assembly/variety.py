"""Variety: one fact told five times must not fill the budget.

No similarity tells a second telling from a neighbouring fact (peanuts and walnuts lie closer than two ways to speak of
peanuts), so nothing is dropped here: what resembles a better entry only comes later.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.assembly.records import Scored
from app.assembly.screen import BandOf

_CLOSE = 0.85
"""How far up the band of contradictions two entries count as tellings of one thing: .83 for the bundled model."""

_STEP = 0.25
"""A second telling is worth 1 / (1 + this), a third 1 / (1 + 2 * this)."""


def varied(ranked: Sequence[Scored], band_of: BandOf) -> tuple[Scored, ...]:
    """Entries in the order in which they go in: what resembles a better one comes after what does not.

    Args:
        ranked: Best first. Those without a vector resemble nothing, and those of different spaces nothing either.
    """
    places = [place for place, scored in enumerate(ranked) if scored.candidate.vector is not None]
    if len(places) < 2:
        return tuple(ranked)
    counts = np.zeros(len(ranked))
    counts[places] = _better_alike([ranked[place] for place in places], band_of)
    worth = np.array([scored.score for scored in ranked]) / (1.0 + _STEP * counts)
    return tuple(ranked[place] for place in np.argsort(-worth, kind="stable"))


def _better_alike(ranked: Sequence[Scored], band_of: BandOf) -> NDArray[np.int64]:
    """How many better entries each one resembles, shape (n,)."""
    vectors = [s.candidate.vector for s in ranked]
    spaces = np.array([s.candidate.space for s in ranked])
    counts = np.zeros(len(ranked), dtype=np.int64)
    for space in np.unique(spaces):
        members = np.flatnonzero(spaces == space)
        matrix = np.array([vectors[member] for member in members], dtype=np.float32)
        band = band_of(str(space))
        close = matrix @ matrix.T >= band.lower + _CLOSE * (band.upper - band.lower)
        counts[members] = np.tril(close, -1).sum(axis=1)
    return counts
