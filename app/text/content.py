"""What a text says, as sets of words: for telling whether another text says it already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from app.text.language import LANGUAGES, likely_languages
from app.text.normalise import fold, normalise_text
from app.text.stems import stems
from app.text.stop_words import stop_words
from app.text.words import RunKind, runs

_CACHED_TEXTS = 16_384
"""Some 30 MB when full; a text costs 90 µs otherwise."""

_MAX_CHARS = 4_000

_SIGNATURE_BITS = 256

Signatures = NDArray[np.uint64]
"""One signature a row: shape (n, 4)."""


@lru_cache(maxsize=_CACHED_TEXTS)
def content_terms(text: str) -> frozenset[str]:
    """The stems of a text's content words, its figures and names; function words and negations left out.

    Reads the first 4,000 characters.
    """
    head = text[:_MAX_CHARS]
    languages = likely_languages(head) or LANGUAGES
    ignored = stop_words(languages) | _negations()
    return frozenset(
        term
        for run in runs(head)
        if run.surface not in ignored
        for term in (stems(run.text, languages) if run.kind is RunKind.WORD else (run.surface,))
    )


@lru_cache(maxsize=_CACHED_TEXTS)
def negations(text: str) -> int:
    """How many words of a text deny something."""
    return sum(run.surface in _negations() for run in runs(text[:_MAX_CHARS]))


@dataclass(frozen=True, slots=True)
class Gist:
    """What a text says, as numbers: whatever two texts share, their gists share, and seldom anything else.

    Attributes:
        words: The content words; of a text without any, the text itself.
        length: How many content words there are.
        negations: As `negations` counts them.
        normal: Stands for the normalised text.
        signature: Of the words.
    """

    words: frozenset[int]
    length: int
    negations: int
    normal: int
    signature: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", signature(self.words))


@lru_cache(maxsize=_CACHED_TEXTS)
def gist(text: str) -> Gist:
    """The gist of a text."""
    words = content_terms(text)
    normal = number_of(normalise_text(text))
    return Gist(frozenset(map(number_of, words)) or frozenset({normal}), len(words), negations(text), normal)


def number_of(word: str) -> int:
    """A 32-bit number that stands for a word: the same on every machine."""
    return crc32(word.encode("utf-8", "surrogatepass"))


def signature(words: Iterable[int]) -> bytes:
    """A bit for each word, 256 in all: what is in one set only may be hidden by another word, and is never invented."""
    bits = 0
    for word in words:
        bits |= 1 << (word % _SIGNATURE_BITS)
    return bits.to_bytes(_SIGNATURE_BITS // 8, "little")


def signatures(of: Sequence[bytes]) -> Signatures:
    """Signatures to compute with."""
    return np.frombuffer(b"".join(of), dtype="<u8").reshape(len(of), -1)


def pairs_where(is_so: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs i < j of a square table (n, n) for which it says yes, row by row; fast where they are few."""
    first, second = np.divmod(np.flatnonzero(is_so), len(is_so))
    once = first < second
    return first[once], second[once]


@cache
def _negations() -> frozenset[str]:
    text = files("app.text").joinpath("data", "negations.txt").read_text(encoding="utf-8")
    return frozenset(fold(word) for word in text.split())
