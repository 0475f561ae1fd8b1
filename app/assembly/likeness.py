"""How alike the entries of a request are: worked out once, for all stages that compare them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.assembly.records import Candidate

Similarities = NDArray[np.float32]
"""Raw cosine similarities, shape (n, n), symmetric; NaN where a vector is missing."""


class Likeness:
    """Cosine similarities between candidates of one space: vectors of two spaces need not be of one model."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        """Takes every candidate that will be compared; those without a vector resemble nothing."""
        by_space: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            if candidate.vector is not None:
                by_space.setdefault(candidate.space, []).append(candidate)
        self._rows = {space: {c.id: row for row, c in enumerate(members)} for space, members in by_space.items()}
        self._all = {space: _similarities(members) for space, members in by_space.items()}

    def among(self, candidates: Sequence[Candidate]) -> Similarities | None:
        """The similarities between candidates of one space, in their order; None where no vector is known."""
        if not candidates:
            return None
        known = self._rows.get(candidates[0].space)
        if known is None:
            return None
        rows = [known.get(candidate.id, -1) for candidate in candidates]
        everything = self._all[candidates[0].space]
        if rows == list(range(len(everything))):
            return everything
        chosen = everything[np.ix_(rows, rows)]
        missing = np.array(rows) < 0
        if missing.any():
            chosen[missing], chosen[:, missing] = np.nan, np.nan
        return chosen


def _similarities(candidates: Sequence[Candidate]) -> Similarities:
    vectors = np.array([candidate.vector for candidate in candidates], dtype=np.float32)
    similarities: Similarities = vectors @ vectors.T
    return similarities
