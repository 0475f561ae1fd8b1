"""What a text says, as sets of words: for telling whether another text says it already."""

from functools import cache, lru_cache
from importlib.resources import files

from app.text.language import LANGUAGES, likely_languages
from app.text.normalise import fold
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


@cache
def _negations() -> frozenset[str]:
    text = files("app.text").joinpath("data", "negations.txt").read_text(encoding="utf-8")
    return frozenset(fold(word) for word in text.split())
