"""Relevance: one fixed, calibrated map of both arms. docs/decisions/003-relevance.md has the measurements."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log1p

import numpy as np
from numpy.typing import NDArray

MIN_RELEVANCE = 0.15
"""Below this an entry is not put into a prompt: it keeps every right entry that ranks among the ten best
of three development sets, and leaves unrelated questions a few entries (docs/decisions/003-relevance.md)."""


Seen = tuple[float | None, float | None, float | None]
"""Cosine similarity, BM25 score and coverage of a candidate, as `relevance` takes them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of the map, for one embedder.

    Attributes:
        cosine_offset: Added to the centred cosine; a cosine of minus this says nothing. >= 0.
        keyword_weight: Weight of the keyword arm beside the dense arm, > 0.
        bm25_scale: BM25 score, once multiplied by the coverage, that counts as 1. > 0.
        keyword_power: Below 1 it lets weak keyword matches count more. > 0.
        steepness: How quickly evidence turns into relevance, > 0.
    """

    cosine_offset: float = 0.1
    keyword_weight: float = 0.7
    bm25_scale: float = 10.0
    keyword_power: float = 0.75
    steepness: float = 4.0

    def __post_init__(self) -> None:
        positive = (self.keyword_weight, self.bm25_scale, self.keyword_power, self.steepness)
        if not (0 <= self.cosine_offset < 1 and min(positive) > 0):
            raise ValueError(f"a calibration needs an offset in [0, 1) and positive constants, got {self}")


def relevance(
    cosine_similarity: float | None, bm25_score: float | None, coverage: float | None, calibration: Calibration
) -> float:
    """Relevance of a candidate to the query: in [0, 1], comparable between queries.

    The evidence of both arms adds up in the exponent (a noisy-or): each can reach the top alone, and no
    threshold of one hides a hit of the other. The keyword arm counts by how much of the query matched
    (coverage) and by how rare it is (BM25).

    Args:
        cosine_similarity: Centred, in [-1, 1]; None if the dense arm did not see the candidate.
        bm25_score: >= 0; None if no word matched.
        coverage: Share of the best possible score that was reached, in [0, 1]; None if no word matched.

    Returns:
        Rises in every argument.
    """
    seen = [(cosine_similarity, bm25_score, coverage)]
    return float(relevance_of(weights_of_evidence(seen, calibration))[0])


def weights_of_evidence(seen: Sequence[Seen], calibration: Calibration) -> NDArray[np.float64]:
    """What `relevance` puts into the exponent, of many candidates: it means the same for every embedder.

    Args:
        seen: What the arms saw of each.

    Returns:
        Shape (n,), >= 0.
    """
    c = calibration
    cosines, scores, coverages = np.array(seen, dtype=np.float64).reshape(-1, 3).T  # what is None is no number
    dense = np.fmax(cosines + c.cosine_offset, 0.0) ** 2
    keyword = (np.fmax(scores * coverages, 0.0) / c.bm25_scale) ** c.keyword_power
    weights: NDArray[np.float64] = c.steepness * (dense + c.keyword_weight * keyword)
    return weights


def relevance_of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The relevance that weights of evidence give: shape (n,), in [0, 1]."""
    return -np.expm1(-weights)


def evidence_for(relevance_wanted: float, calibration: Calibration) -> float:
    """The evidence of both arms, added up, that gives a relevance in [0, 1]; infinite for 1."""
    return weight_for(relevance_wanted) / calibration.steepness


def weight_for(relevance_wanted: float) -> float:
    """The weight of evidence that gives a relevance in [0, 1]; infinite for 1."""
    return inf if relevance_wanted >= 1 else -log1p(-relevance_wanted)
