"""The normal form in which two values are compared."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from app.contradictions.lexicon import country_of, languages
from app.contradictions.phrase import CLOCK, ISO_DATE, Phrase, number_at
from app.contradictions.wording import Word, sentences

_TRAILING_VOWELS = re.compile(r"(?<=..)[aeiouy]+$")


def is_place(text: str) -> bool:
    """Whether folded text names a city or a country that the data files know, in any language."""
    return bool(text) and (text in _places() or text in country_of())


@lru_cache(maxsize=1)
def _places() -> dict[str, str]:
    merged: dict[str, str] = {}
    for language in languages():
        merged |= {**language.closed["country"], **language.closed["region"], **language.closed["city"]}
    return merged


def is_in(name: str, text: str) -> bool:
    """Whether folded text is in a closed set of some language, such as "country"."""
    return any(text in language.closed[name] for language in languages())


@lru_cache(maxsize=1)
def wide_places() -> frozenset[str]:
    """The canonical countries and regions: somebody can be in one of them and in a town."""
    return frozenset(
        name for one in languages() for kind in ("country", "region") for name in one.closed[kind].values()
    )


def normal_place(text: str) -> str:
    """A place's canonical name if the data files know it, else folded without its case ending."""
    known = _places().get(text, text)
    return known if known in country_of() or known != text or text in _places() else without_ending(text)


def without_ending(text: str) -> str:
    """Each word without its last vowels, so that cases and plurals of a name agree."""
    return " ".join(_TRAILING_VOWELS.sub("", word) for word in text.split())


_KIND_OF_ATTRIBUTE = {
    "residence": "place", "country of residence": "place", "region of residence": "place",
    "origin": "place", "birthplace": "place", "work city": "place",
    "employer": "employer", "age": "number", "children": "number", "birthday": "date", "date": "date",
    "deadline": "date", "height": "length", "weight": "mass", "price": "money", "time": "time", "day": "weekday",
    "language": "language", "native language": "language", "answer language": "language", "eye colour": "colour",
    "hair colour": "colour", "favourite colour": "colour", "job": "job", "preferred drink": "drink", "car": "colour",
}  # fmt: skip


@lru_cache(maxsize=4096)
def normal_value(attribute: str, value: str) -> str:
    """The form in which values of a canonical attribute are compared.

    Numbers are digits, lengths centimetres, times HH:MM, dates MM-DD; members of closed sets
    (colours, languages, places, jobs) have one name in every language.
    """
    words = tuple(word for sentence in sentences(value) for word in sentence.words)
    kind = _KIND_OF_ATTRIBUTE.get(attribute, "number")
    for language in languages():
        phrase = Phrase(words, language)
        found = _NORMAL[kind](phrase) if kind in _NORMAL else ""
        if found:
            return found
    folded = _without_article(words)
    if kind in ("place", "employer"):
        return normal_place(folded) if kind == "place" else without_ending(folded)
    return " ".join(_canonical(kind, word) for word in folded.split()) if kind in _CLASSES else folded


_CLASSES = frozenset(("colour", "language", "weekday", "job", "drink"))


def _canonical(name: str, word: str) -> str:
    return next((found for language in languages() if (found := language.closed[name].get(word))), word)


def _without_article(words: Sequence[Word]) -> str:
    articles = frozenset().union(*(language.subjects.articles for language in languages()))
    skip = 1 if len(words) > 1 and words[0].folded in articles else 0
    return " ".join(word.folded for word in words[skip:] if word.folded not in (",", ":", '"'))


def _plain(number: float) -> str:
    return f"{number:.10g}"


def _normal_number(phrase: Phrase) -> str:
    found = number_at(phrase)
    return _plain(found[0]) if found and found[1] == len(phrase.words) else ""


def _normal_length(phrase: Phrase) -> str:
    found, unit = number_at(phrase), phrase.language.units.get(phrase.at(1))
    return f"{_plain(found[0] * (100 if unit == 'm' else 1))} cm" if found and unit in ("m", "cm") else ""


def _normal_measure(phrase: Phrase) -> str:
    found = number_at(phrase)
    unit = phrase.language.units.get(phrase.at(found[1])) if found else None
    return f"{_plain(found[0])} {unit.lower()}" if found and unit else ""


def _normal_money(phrase: Phrase) -> str:
    found, unit = number_at(phrase.dropping(1)), phrase.language.units.get(phrase.at(0))
    return f"{_plain(found[0])} {unit.lower()}" if found and unit else _normal_measure(phrase)


def _normal_time(phrase: Phrase) -> str:
    clock = CLOCK.fullmatch(phrase.at(0))
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (_hour(phrase.at(0)), 0)
    if hour is None:
        return ""
    if phrase.at(1) in ("am", "pm"):
        hour = hour % 12 + (12 if phrase.at(1) == "pm" else 0)
    return f"{hour:02d}:{minute:02d}"


def _hour(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() and int(word) < 25 else None


def _normal_date(phrase: Phrase) -> str:
    iso = ISO_DATE.fullmatch(phrase.at(0))
    if iso:
        return f"{iso[1]}-{iso[2]}"
    folded = [word.folded for word in phrase.words]
    months = [phrase.language.closed["month"][word] for word in folded if word in phrase.language.closed["month"]]
    days = [word for word in folded if word.isascii() and word.isdigit() and len(word) < 3]
    return f"{months[0]}-{int(days[0]):02d}" if months and days else ""


_NORMAL: dict[str, Callable[[Phrase], str]] = {
    "number": _normal_number,
    "length": _normal_length,
    "mass": _normal_measure,
    "money": _normal_money,
    "time": _normal_time,
    "date": _normal_date,
}
