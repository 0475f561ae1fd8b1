"""What somebody said, read as a correction: what was wrong, what is right, where it holds. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from app.corrections.lexicon import LANGUAGES, Lexicon, lexicons
from app.text.language import likely_languages

EVERYWHERE = "everywhere"
SAID_CHARS = 2_000
"""How long a text may be to be read as a correction."""

EDGES = ' \t\r\n,;:.!…–-"“”«»„'
_WISH_EDGES = f"{EDGES}?"
_VALUE_EDGES = EDGES + "'’()"


class Extent(StrEnum):
    """How much somebody wishes to be forgotten."""

    FACT = "fact"
    TOPIC = "topic"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a text says.

    Attributes:
        language: Of the rules that read it, or else the likeliest.
        statement: What is right, as a sentence of its own; None if only `old` and `new` are named.
        old: What was wrong, in words.
        new: What is right instead, in words.
        place: The kind of scope in which it is to hold, or `everywhere`; None if nothing is said.
        lasting: Whether it is meant to last; None if nothing is said.
        moves: Whether the last correction is to hold at `place`, and nothing else is said.
        forget: How much is to be forgotten, and `about` what; None if nothing is.
        denies: Whether it says first that something was wrong.
    """

    language: str
    statement: str | None = None
    old: str | None = None
    new: str | None = None
    place: str | None = None
    lasting: bool | None = None
    moves: bool = False
    forget: Extent | None = None
    about: str = ""
    denies: bool = False

    @property
    def marks(self) -> int:
        """How many signs of a correction were found."""
        return sum((self.old is not None, self.place is not None, self.lasting is not None, self.moves))


def read(said: str) -> Reading:
    """Read a text in the language whose rules find most in it; of equals, the language that it is written in."""
    said = said[:SAID_CHARS]
    wish = read_wish(said)
    if wish is not None:
        return wish
    readings = [_read(said, lexicon) for lexicon in _in_order(said)]
    return max(readings, key=lambda reading: reading.marks)


def read_wish(said: str) -> Reading | None:
    """Read a text as a wish that something be forgotten; None if it is none."""
    text = said.strip(_WISH_EDGES)
    for lexicon in _in_order(said):
        if any(pattern.fullmatch(text) for pattern in lexicon.whole):
            return Reading(language=lexicon.code, forget=Extent.ALL)
        for extent, patterns in ((Extent.TOPIC, lexicon.topics), (Extent.FACT, lexicon.facts)):
            for pattern in patterns:
                if found := pattern.fullmatch(text):
                    return Reading(language=lexicon.code, forget=extent, about=found[extent.value].strip(_VALUE_EDGES))
    return None


def language_of(text: str) -> str:
    """The language of the three that a text is likeliest written in; English if it says nothing."""
    return next(_codes(text))


def _codes(text: str) -> Iterator[str]:
    likely = [code for code in likely_languages(text) if code in LANGUAGES]
    yield from dict.fromkeys([*likely, *LANGUAGES])


def _in_order(text: str) -> Iterator[Lexicon]:
    for code in _codes(text):
        yield lexicons()[code]


def _read(said: str, lexicon: Lexicon) -> Reading:
    text = _without_leads(said.strip(), lexicon)
    moved = _moved(text, lexicon)
    if moved:
        return Reading(language=lexicon.code, place=moved, moves=True)
    text, place = take_place(text, lexicon)
    text, fleeting = _take(text, lexicon.fleeting)
    text, lasting = _take(text, lexicon.lasting)
    text = _without_leads(text.strip(EDGES), lexicon)
    if place or lasting or fleeting:
        text = _in_order_of_statements(text, lexicon)
    swap = _swap(text, lexicon)
    statement, old = (None, None) if swap else _contrast(text, lexicon)
    return Reading(
        language=lexicon.code,
        statement=statement,
        old=swap["old"] if swap else old,
        new=swap["new"] if swap else None,
        place=place,
        lasting=False if fleeting else True if lasting else None,
        denies=lexicon.denials.match(said) is not None,
    )


def _without_leads(text: str, lexicon: Lexicon) -> str:
    while True:
        found = lexicon.leads.match(text)
        if found is None or not text[found.end() :].strip(EDGES) or _swap(text, lexicon):
            return text
        text = text[found.end() :]


def _moved(text: str, lexicon: Lexicon) -> str | None:
    for pattern in lexicon.moves:
        found = pattern.fullmatch(text.strip(EDGES))
        if found:
            rest, place = take_place(found["place"], lexicon)
            if place and not rest.strip(EDGES):
                return place
    return None


def take_place(text: str, lexicon: Lexicon) -> tuple[str, str | None]:
    """The text without the place that it names, and the kind of that; None if it names none."""
    for kind, phrase in lexicon.places.items():
        rest, found = _take(text, phrase)
        if found:
            return rest, kind
    return text, None


def _take(text: str, phrase: re.Pattern[str]) -> tuple[str, bool]:
    """The text without a phrase, if it is there."""
    found = phrase.search(text)
    if found is None:
        return text, False
    return f"{text[: found.start()]} {text[found.end() :]}".strip(), True


def _in_order_of_statements(text: str, lexicon: Lexicon) -> str:
    """The subject before its verb, once what stood before both is gone."""
    found = lexicon.inverted.match(text)
    return text if found is None else f"{found['name']} {found['verb'].lower()}{text[found.end() :]}"


def _swap(text: str, lexicon: Lexicon) -> dict[str, str] | None:
    for pattern in lexicon.swaps:
        found = pattern.fullmatch(text.strip(EDGES))
        if found:
            named = {name: value.strip(_VALUE_EDGES) for name, value in found.groupdict().items()}
            if all(named.values()):
                return named
    return None


def _contrast(text: str, lexicon: Lexicon) -> tuple[str | None, str | None]:
    """The sentence that is right, and what its end says was wrong."""
    body = text.strip(EDGES)
    for pattern in lexicon.contrasts:
        found = pattern.search(body)
        if found and found.start():
            return sentence(body[: found.start()]), found["old"].strip(_VALUE_EDGES)
    return (sentence(body) if body else None), None


def sentence(text: str) -> str:
    """Words as a sentence: a capital first, and a full stop."""
    text = " ".join(text.split()).strip(EDGES)
    return f"{text[:1].upper()}{text[1:]}." if text else text
