"""The weights of the score: an invariant of the code base, changed only by an A/B benchmark."""

from dataclasses import astuple, dataclass
from math import fsum, isclose


@dataclass(frozen=True, slots=True)
class ScoringWeights:
    """Share of each signal in the final score. Shares are >= 0 and sum to 1."""

    relevance: float
    importance: float
    recency: float
    frequency: float
    confidence: float

    def __post_init__(self) -> None:
        shares = astuple(self)
        if not (min(shares) >= 0 and isclose(fsum(shares), 1.0, abs_tol=1e-9)):
            raise ValueError(f"weights must be >= 0 and sum to 1, got {shares}")


WEIGHTS = ScoringWeights(relevance=0.55, importance=0.17, recency=0.07, frequency=0.06, confidence=0.15)
"""The weights in force (docs/decisions/011-weights.md). Zero is for experiments: none of the five is zero here."""
