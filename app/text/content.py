"""What a text says, as sets of words: for telling whether another text says it already."""

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from zlib import crc32

from app.text.language import LANGUAGES, likely_languages
from app.text.normalise import fold, normalise_text
from app.text.stems import stems
from app.text.stop_words import stop_words
from app.text.words import RunKind, runs

_CACHED_TEXTS = 16_384
"""Some 30 MB when full; a text costs 90 µs otherwise."""

_MAX_CHARS = 4_000


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
    """

    words: frozenset[int]
    length: int
    negations: int
    normal: int


@lru_cache(maxsize=_CACHED_TEXTS)
def gist(text: str) -> Gist:
    """The gist of a text."""
    words = content_terms(text)
    normal = number_of(normalise_text(text))
    return Gist(frozenset(map(number_of, words)) or frozenset({normal}), len(words), negations(text), normal)


def number_of(word: str) -> int:
    """A 32-bit number that stands for a word: the same on every machine."""
    return crc32(word.encode("utf-8", "surrogatepass"))


@cache
def _negations() -> frozenset[str]:
    text = files("app.text").joinpath("data", "negations.txt").read_text(encoding="utf-8")
    return frozenset(fold(word) for word in text.split())
