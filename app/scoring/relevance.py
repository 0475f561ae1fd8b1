"""Relevance: one fixed, calibrated map of both arms. docs/decisions/003-relevance.md has the measurements."""

from dataclasses import dataclass
from math import exp, inf, log1p

MIN_RELEVANCE = 0.15
"""Below this an entry is not put into a prompt: it keeps every right entry that ranks among the ten best
of three development sets, and leaves unrelated questions a few entries (docs/decisions/003-relevance.md)."""


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
    return 1.0 - exp(-weight_of_evidence(cosine_similarity, bm25_score, coverage, calibration))


def weight_of_evidence(
    cosine_similarity: float | None, bm25_score: float | None, coverage: float | None, calibration: Calibration
) -> float:
    """What `relevance` puts into the exponent: >= 0, and means the same for every embedder. Arguments as there."""
    c = calibration
    dense = 0.0 if cosine_similarity is None else max(cosine_similarity + c.cosine_offset, 0.0) ** 2
    keyword = 0.0
    if bm25_score is not None and coverage is not None:
        keyword = (bm25_score * coverage / c.bm25_scale) ** c.keyword_power
    return c.steepness * (dense + c.keyword_weight * keyword)


def evidence_for(relevance_wanted: float, calibration: Calibration) -> float:
    """The evidence of both arms, added up, that gives a relevance in [0, 1]; infinite for 1."""
    return weight_for(relevance_wanted) / calibration.steepness


def weight_for(relevance_wanted: float) -> float:
    """The weight of evidence that gives a relevance in [0, 1]; infinite for 1."""
    return inf if relevance_wanted >= 1 else -log1p(-relevance_wanted)
