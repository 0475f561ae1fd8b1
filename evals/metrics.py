"""How a ranking is scored, and how sure a figure is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log2

import numpy as np

RESAMPLES = 1_000
SEED = 20_260_101


def distinct(keys: Iterable[str]) -> list[str]:
    """Each key at its best rank."""
    return list(dict.fromkeys(keys))


def fraction_at(k: int, ranking: Sequence[str], evidence: Sequence[frozenset[str]]) -> float:
    """The share of the pieces of evidence of which some key is among the first k."""
    top = set(ranking[:k])
    return sum(not top.isdisjoint(piece) for piece in evidence) / len(evidence)


def any_at(k: int, ranking: Sequence[str], wanted: frozenset[str]) -> float:
    """1 if one of the wanted keys is among the first k."""
    return float(not wanted.isdisjoint(ranking[:k]))


def all_at(k: int, ranking: Sequence[str], wanted: frozenset[str]) -> float:
    """1 if every wanted key is among the first k."""
    return float(wanted <= set(ranking[:k]))


def ndcg_at(k: int, ranking: Sequence[str], wanted: frozenset[str]) -> float:
    """Normalised discounted cumulative gain, each wanted key worth 1: in [0, 1], with 1 / log2(rank + 1)."""
    gain = sum(1 / log2(rank + 1) for rank, key in enumerate(ranking[:k], 1) if key in wanted)
    return gain / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))


def reciprocal_rank(ranking: Sequence[str], wanted: frozenset[str]) -> float:
    """1 / the rank of the first wanted key; 0 if none is there."""
    return next((1 / rank for rank, key in enumerate(ranking, 1) if key in wanted), 0.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number.

    Attributes:
        value: None if there was nothing to measure (no call, for a precision).
        interval: Bootstrapped 95 % over the items.
        items: Questions or pairs that it is made of.
        bm25: What plain BM25 reaches, where that means something.
    """

    value: float | None
    interval: tuple[float, float] | None
    items: int
    bm25: float | None = None


@dataclass(slots=True)
class Tally:
    """Collects, for each figure, what every item adds to its numerator and denominator."""

    ours: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    plain: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)

    def add(self, key: str, value: float, weight: float = 1.0) -> None:
        """What an item gives: a score, or a part of a ratio."""
        self.ours.setdefault(key, []).append((value, weight))

    def add_plain(self, key: str, value: float, weight: float = 1.0) -> None:
        """The same of plain BM25."""
        self.plain.setdefault(key, []).append((value, weight))

    def sample(self, key: str, value: float) -> None:
        """A measurement of which percentiles are reported."""
        self.samples.setdefault(key, []).append(value)

    def figures(self) -> dict[str, Figure]:
        """Every figure, in the order in which it was first heard of."""
        found = {key: _ratio(items, self.plain.get(key)) for key, items in self.ours.items()}
        for key, values in self.samples.items():
            for percent in (50, 95):
                found[f"{key}.p{percent}"] = _percentile(values, percent)
        return found


def _ratio(items: Sequence[tuple[float, float]], plain: Sequence[tuple[float, float]] | None) -> Figure:
    table = np.array(items, dtype=np.float64)
    sums = table[_draws(len(items))].sum(axis=1)
    drawn = sums[sums[:, 1] > 0]
    interval = _interval(drawn[:, 0] / drawn[:, 1]) if len(drawn) else None
    return Figure(_share(items), interval, len(items), _share(plain) if plain else None)


def _share(items: Sequence[tuple[float, float]]) -> float | None:
    weights = sum(weight for _, weight in items)
    return sum(value for value, _ in items) / weights if weights else None


def _percentile(values: Sequence[float], percent: int) -> Figure:
    table = np.array(values)
    drawn = np.percentile(table[_draws(len(values))], percent, axis=1)
    return Figure(float(np.percentile(table, percent)), _interval(drawn), len(values))


def _draws(items: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    return np.random.default_rng(SEED).integers(0, items, size=(RESAMPLES, items))


def _interval(drawn: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> tuple[float, float]:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(low), float(high)
