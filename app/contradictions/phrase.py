"""A run of words in one language, and the numbers in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.contradictions.lexicon import Language
from app.contradictions.wording import Word

CLOCK = re.compile(r"([01]?[0-9]|2[0-3])[:.]([0-5][0-9])")
ISO_DATE = re.compile(r"[0-9]{4}-([01][0-9])-([0-3][0-9])")
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words from some place of a sentence on, in one language."""

    words: Sequence[Word]
    language: Language

    def at(self, index: int) -> str:
        """The folded word at an index, "" after the last."""
        return self.words[index].folded if index < len(self.words) else ""

    def until(self, stops: frozenset[str], limit: int) -> int:
        """How many words come before one of the stops; 0 when there are more than `limit`."""
        count = next((i for i, word in enumerate(self.words) if word.folded in stops), len(self.words))
        return count if count <= limit else 0

    def dropping(self, count: int) -> "Phrase":
        """The same without the first words."""
        return Phrase(self.words[count:], self.language)


def phrase_text(phrase: Phrase, count: int) -> str:
    """The first words, folded and joined; "" when there are not so many."""
    return " ".join(word.folded for word in phrase.words[:count]) if len(phrase.words) >= count else ""


def number_at(phrase: Phrase) -> tuple[float, int] | None:
    """The number at the start of a phrase, in digits or words, and how many words it takes."""
    first = phrase.at(0)
    if _NUMBER.fullmatch(first):
        return float(first.replace(",", ".")), 1
    numbers = phrase.language.numbers
    ten, dash, unit = first.partition("-")
    if dash and ten in phrase.language.tens and 0 < numbers.get(unit, 0) < 10:
        return float(numbers[ten] + numbers[unit]), 1
    if first not in numbers:
        return None
    if first in phrase.language.tens and 0 < numbers.get(phrase.at(1), 0) < 10:
        return float(numbers[first] + numbers[phrase.at(1)]), 2
    return float(numbers[first]), 1
