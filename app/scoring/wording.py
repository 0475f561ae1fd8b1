"""What a question says beside its content: whom it names, when, and whether it is about what the agent said."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from app.text.normalise import fold
from app.text.terms import STEM_MARK, QueryTerm
from app.text.times import Period, period_of


@dataclass(frozen=True, slots=True)
class Wording:
    """What a question says beside its content.

    Attributes:
        words: Folded, without function words: some may name somebody.
        is_about_agent: Whether it addresses the agent, and so may be about what the agent said.
        period: The stretch of time that it speaks of, if any.
    """

    words: frozenset[str] = frozenset()
    is_about_agent: bool = False
    period: Period | None = None


def wording(query: str, terms: Iterable[QueryTerm], as_of: datetime) -> Wording:
    """Read a question whose terms are known, asked for a moment."""
    words = frozenset(term.term.lstrip(STEM_MARK) for term in terms)
    return Wording(words, not _address().isdisjoint(_WORD.findall(fold(query))), period_of(query, as_of))


_WORD = re.compile(r"\w+")


@cache
def _address() -> frozenset[str]:
    """Folded words that address somebody, in all languages at once."""
    listed = files("app.scoring").joinpath("data", "address.txt").read_text(encoding="utf-8")
    return frozenset(fold(word) for word in listed.split())
