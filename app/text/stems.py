"""Stems of single words."""

from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

import Stemmer

from app.text.language import LANGUAGES
from app.text.normalise import fold

_ALGORITHMS: Final = MappingProxyType(
    {
        "cs": "czech",
        "de": "german",
        "en": "english",
        "es": "spanish",
        "fr": "french",
        "it": "italian",
        "nl": "dutch",
        "pt": "portuguese",
    }
)
_SCRIPT_ALGORITHMS: Final = (
    ("\u0370", "\u03ff", "greek"),
    ("\u1f00", "\u1fff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
)
"""First and last character of a script, and the one stemmer used for it, whatever the language."""


@lru_cache(maxsize=65_536)
def stems(word: str, languages: tuple[str, ...] = LANGUAGES) -> tuple[str, ...]:
    """The distinct folded stems of a word in these languages, in their order.

    A word in Greek, Cyrillic, Arabic or Devanagari has the one stem of its script; a word in another
    script than these and Latin is its own stem.

    Args:
        word: One word in lower case, with its accents: the stemmers use them.
        languages: Codes of app.text.language.LANGUAGES.
    """
    algorithms = _algorithms(word[:1], languages)
    found = dict.fromkeys(fold(_stemmer(algorithm).stemWord(word)) for algorithm in algorithms)
    return tuple(stem for stem in found if stem) or (fold(word),)


def _algorithms(first: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    if first < "\u0250" or "\u1e00" <= first <= "\u1eff":
        return tuple(_ALGORITHMS[language] for language in languages)
    return tuple(name for start, end, name in _SCRIPT_ALGORITHMS if start <= first <= end)


@cache
def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    """Without the stemmer's own cache, a call is one C function under the interpreter lock: threads may share it."""
    return Stemmer.Stemmer(algorithm, 0)
