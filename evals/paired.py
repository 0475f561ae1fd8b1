"""Two ways to do one thing, on the same questions: how far apart, and whether that is chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from evals.metrics import RESAMPLES, SEED


@dataclass(frozen=True, slots=True)
class Paired:
    """The means of both, and their difference (second minus first).

    Attributes:
        interval: Bootstrapped 95 % of the difference, over the questions.
        p: Two-sided sign test over the questions that differ; 1 if none does.
    """

    first: float
    second: float
    interval: tuple[float, float]
    better: int
    worse: int
    p: float
    items: int

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second - self.first


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare what each question gave, in the same order.

    Raises:
        ValueError: If there are no questions, or not as many of both.
    """
    if not first or len(first) != len(second):
        raise ValueError(f"needs as many values of both, at least one, got {len(first)} and {len(second)}")
    gains = np.array(second, dtype=np.float64) - np.array(first, dtype=np.float64)
    draws = np.random.default_rng(SEED).integers(0, len(gains), size=(RESAMPLES, len(gains)))
    low, high = np.percentile(gains[draws].mean(axis=1), (2.5, 97.5))
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    return Paired(
        first=float(np.mean(first)),
        second=float(np.mean(second)),
        interval=(float(low), float(high)),
        better=better,
        worse=worse,
        p=sign_test(better, worse),
        items=len(gains),
    )


def sign_test(better: int, worse: int) -> float:
    """Two-sided probability of so uneven a split, or a more uneven one, if both were as likely."""
    total = better + worse
    tail = sum(comb(total, number) for number in range(min(better, worse) + 1))
    return float(min(1.0, 2 * tail / 2**total))


def paired_table(found: Mapping[str, Paired], names: tuple[str, str]) -> str:
    """A Markdown table, a line for each figure."""
    first, second = names
    lines = [
        f"| figure | {first} | {second} | difference | 95 % | better | worse | sign test |",
        "|---|---:|---:|---:|---|---:|---:|---:|",
    ]
    lines += [
        f"| `{key}` | {one.first:.3f} | {one.second:.3f} | {one.difference:+.3f} "
        f"| {one.interval[0]:+.3f} to {one.interval[1]:+.3f} | {one.better} | {one.worse} | {one.p:.3f} |"
        for key, one in found.items()
    ]
    return "\n".join(lines)


def paired_json(found: Mapping[str, Paired]) -> dict[str, dict[str, object]]:
    """Every figure by its key."""
    return {
        key: {
            "first": one.first,
            "second": one.second,
            "difference": one.difference,
            "interval_95": one.interval,
            "better": one.better,
            "worse": one.worse,
            "p": one.p,
            "items": one.items,
        }
        for key, one in found.items()
    }
