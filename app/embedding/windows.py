"""Cutting a long text into windows that a model can take, and pooling their vectors again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUL: Final = "\0"


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """How much of a text is read. Characters behind the last window are ignored.

    Attributes:
        max_windows: Windows of one text, >= 1.
        window_words: Blank-separated words of one window, >= 1.
        window_chars: Characters of one window, >= 1: what bounds a text without blanks.
    """

    max_windows: int
    window_words: int
    window_chars: int

    def __post_init__(self) -> None:
        if min(self.max_windows, self.window_words, self.window_chars) < 1:
            raise ValueError(f"window limits must be >= 1, got {self}")


def windows(text: str, limits: WindowLimits) -> tuple[str, ...]:
    """The windows of a text, at least one, each within the limits, cut between words where there are blanks.

    Lone surrogates become U+FFFD, and NUL, where engines in C stop to read, a blank. The text is brought to
    NFKC first, because a model does that anyway and one character can become eighteen. A text of one window
    keeps its blanks.
    """
    cap = limits.max_windows * limits.window_chars
    clean = normalize("NFKC", _SURROGATE.sub("\ufffd", text[:cap]).replace(_NUL, " "))
    if len(clean) <= limits.window_chars and len(clean.split()) <= limits.window_words:
        return (clean,)
    return tuple(islice(_cut(clean, limits), limits.max_windows)) or ("",)


def pool(vectors: NDArray[np.float32], counts: Sequence[int]) -> NDArray[np.float32]:
    """The mean direction of each group of consecutive rows.

    Args:
        vectors: (m, d), unit-normalised, the windows of all texts in order.
        counts: Windows of each text, each >= 1, m in sum.

    Returns:
        (n, d), unit-normalised. A group whose vectors cancel out has the direction of its first.
    """
    if len(counts) == len(vectors):
        return vectors
    starts = np.concatenate(([0], np.cumsum(counts[:-1], dtype=np.intp)))
    sums = np.add.reduceat(vectors, starts, axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    pooled = np.where(norms > 1e-6, sums / np.maximum(norms, 1e-6), vectors[starts])
    return np.asarray(pooled, dtype=np.float32)


def _cut(text: str, limits: WindowLimits) -> Iterator[str]:
    taken: list[str] = []
    taken_chars = 0
    for word in _words(text, limits.window_chars):
        is_full = len(taken) == limits.window_words or taken_chars + len(word) > limits.window_chars
        if taken and is_full:
            yield " ".join(taken)
            taken, taken_chars = [], 0
        taken.append(word)
        taken_chars += len(word) + 1
    if taken:
        yield " ".join(taken)


def _words(text: str, max_chars: int) -> Iterator[str]:
    """The blank-separated words, longer ones in pieces."""
    for word in text.split():
        yield from (word[start : start + max_chars] for start in range(0, len(word), max_chars))
