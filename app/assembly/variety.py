"""Variety: one fact told five times must not fill the budget.

No similarity tells a second telling from a neighbouring fact (peanuts and walnuts lie closer than two ways to speak of
peanuts), so nothing is dropped here: what resembles a better entry only comes later.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.assembly.likeness import Likeness
from app.assembly.records import Scored
from app.assembly.screen import BandOf
from app.text.content import pairs_where

_CLOSE = 0.85
"""How far up the band of contradictions two entries count as tellings of one thing: .83 for the bundled model."""

_STEP = 0.25
"""A second telling is worth 1 / (1 + this), a third 1 / (1 + 2 * this)."""


def varied(ranked: Sequence[Scored], band_of: BandOf, likeness: Likeness) -> tuple[Scored, ...]:
    """Entries in the order in which they go in: what resembles a better one comes after what does not.

    Args:
        ranked: Best first. Those without a vector resemble nothing, and those of different spaces nothing either.
        likeness: Of them all.
    """
    if len(ranked) < 2:
        return tuple(ranked)
    worth = np.array([scored.score for scored in ranked]) / (1.0 + _STEP * _better_alike(ranked, band_of, likeness))
    return tuple([ranked[place] for place in np.argsort(-worth, kind="stable").tolist()])


def _better_alike(ranked: Sequence[Scored], band_of: BandOf, likeness: Likeness) -> NDArray[np.int64]:
    """How many better entries each one resembles, shape (n,)."""
    places: dict[str, list[int]] = {}
    for place, scored in enumerate(ranked):
        if scored.candidate.vector is not None:
            places.setdefault(scored.candidate.space, []).append(place)
    counts = np.zeros(len(ranked), dtype=np.int64)
    for space, members in places.items():
        similarities = likeness.among([ranked[member].candidate for member in members])
        if similarities is None:
            continue
        band = band_of(space)
        close = similarities >= band.lower + _CLOSE * (band.upper - band.lower)
        counts[members] = np.bincount(pairs_where(close)[1], minlength=len(members))
    return counts
