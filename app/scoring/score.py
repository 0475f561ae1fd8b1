"""The score: a weighted sum of the signals, times the boosts that match."""

from collections.abc import Iterable, Mapping
from math import prod

from app.scoring.signals import Signals
from app.scoring.weights import ScoringWeights


def score(signals: Signals, weights: ScoringWeights, boost: float = 1.0) -> float:
    """Weighted sum of the five signals times a boost: in [0, boost], rising in each signal."""
    return boost * (
        weights.relevance * signals.relevance
        + weights.importance * signals.importance
        + weights.recency * signals.recency
        + weights.frequency * signals.frequency
        + weights.confidence * signals.confidence
    )


def boost(labels: Iterable[str], boosts: Mapping[str, float]) -> float:
    """Product of the boosts of those labels (tags, and the category) that have one; 1 without any."""
    return prod(boosts.get(label, 1.0) for label in set(labels))
