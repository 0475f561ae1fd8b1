"""The score: a weighted sum of the signals, times the boosts that match."""

from collections.abc import Iterable, Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from app.scoring.weights import ScoringWeights


def scores(signals: NDArray[np.float64], weights: ScoringWeights) -> NDArray[np.float64]:
    """Weighted sums of the five signals, rising in each.

    Args:
        signals: One row for each candidate, in the order of the fields of Signals; shape (n, 5), in [0, 1].

    Returns:
        Shape (n,), in [0, 1]. Equal rows give equal sums, wherever they stand: no matrix product promises that.
    """
    relevance, importance, recency, frequency, confidence = signals.T
    total: NDArray[np.float64] = (
        weights.relevance * relevance
        + weights.importance * importance
        + weights.recency * recency
        + weights.frequency * frequency
        + weights.confidence * confidence
    )
    return total


def boost(labels: Iterable[str], boosts: Mapping[str, float]) -> float:
    """Product of the boosts of those labels (tags, and the category) that have one; 1 without any."""
    return prod(boosts.get(label, 1.0) for label in set(labels))
