"""What a question says beside its content: whom it names, and whether it is about what the agent said."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from app.text.normalise import fold
from app.text.terms import STEM_MARK, QueryTerm


@dataclass(frozen=True, slots=True)
class Wording:
    """What a question says beside its content.

    Attributes:
        words: Folded, without function words: some may name somebody.
        is_about_agent: Whether it addresses the agent, and so may be about what the agent said.
    """

    words: frozenset[str] = frozenset()
    is_about_agent: bool = False


def wording(query: str, terms: Iterable[QueryTerm]) -> Wording:
    """Read a question whose terms are known."""
    words = frozenset(term.term.lstrip(STEM_MARK) for term in terms)
    return Wording(words, not _address().isdisjoint(_WORD.findall(fold(query))))


_WORD = re.compile(r"\w+")


@cache
def _address() -> frozenset[str]:
    """Folded words that address somebody, in all languages at once."""
    listed = files("app.scoring").joinpath("data", "address.txt").read_text(encoding="utf-8")
    return frozenset(fold(word) for word in listed.split())
