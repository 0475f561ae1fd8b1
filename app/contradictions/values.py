"""Where a value stands in a sentence: one reader for each kind of value."""

import re
from collections.abc import Callable

from app.contradictions.lexicon import country_of
from app.contradictions.normal import is_place, normal_place
from app.contradictions.phrase import CLOCK, ISO_DATE, Phrase, number_at, phrase_text

THING_WORDS = 5
NAME_WORDS = 3
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]+)*[a-z0-9.\-]*")
_ORDINAL_MARKS = frozenset(("st", "nd", "rd", "th"))


Span = tuple[int, int]
"""First word of the value and the one after its last; equal when there is no value."""
NONE: Span = (0, 0)


def read_value(kind: str, phrase: Phrase) -> Span:
    """Where the value of a kind stands at the start of a phrase; `NONE` when there is none."""
    name, _, argument = kind.partition(":")
    if name == "before":
        return _before(phrase, argument)
    return _READERS[name](phrase)


def _closed(name: str) -> Callable[[Phrase], Span]:
    def read(phrase: Phrase) -> Span:
        for count in (2, 1):
            if phrase_text(phrase, count) in phrase.language.closed[name]:
                return (0, count)
        return NONE

    return read


def _number(phrase: Phrase) -> Span:
    found = number_at(phrase)
    return (0, found[1]) if found else NONE


def _measure(*units: str) -> Callable[[Phrase], Span]:
    def read(phrase: Phrase) -> Span:
        found = number_at(phrase)
        if found is None or phrase.language.units.get(phrase.at(found[1])) not in units:
            return NONE
        return (0, found[1] + 1)

    return read


def _money(phrase: Phrase) -> Span:
    if phrase.language.units.get(phrase.at(0)) in _CURRENCIES and number_at(phrase.dropping(1)):
        return (0, 2)
    return _measure(*_CURRENCIES)(phrase)


_CURRENCIES = ("EUR", "USD", "GBP", "CZK")


def _time(phrase: Phrase) -> Span:
    first, second = phrase.at(0), phrase.at(1)
    if CLOCK.fullmatch(first):
        return (0, 2) if second in ("am", "pm") else (0, 1)
    if first.isascii() and first.isdigit() and int(first) < 25:
        return (0, 2) if second in ("am", "pm", "h", "hodin") else NONE if phrase.language.code == "en" else (0, 1)
    return NONE


def _date(phrase: Phrase) -> Span:
    months = phrase.language.closed["month"]
    if ISO_DATE.fullmatch(phrase.at(0)):
        return (0, 1)
    start = 1 if phrase.at(0) in ("the", "on", "il", "l") else 0
    day = phrase.at(start).isdigit()
    if day:
        month = start + 1 + (phrase.at(start + 1) in _ORDINAL_MARKS)
        month += phrase.at(month) == "of"
        return (start, month + 1) if phrase.at(month) in months else NONE
    if phrase.at(start) in months and phrase.at(start + 1).isdigit():
        return (start, start + 2)
    return NONE


def _year(phrase: Phrase) -> Span:
    return (0, 1) if _YEAR.fullmatch(phrase.at(0)) else NONE


def _comparison(phrase: Phrase) -> Span:
    """The preferred thing of two: one or two words, a word that compares, and the other thing."""
    count = phrase.until(phrase.language.comparing, 3)
    return (_article(phrase), count) if count and count + 1 < len(phrase.words) else NONE


def _version(phrase: Phrase) -> Span:
    return (0, 1) if _VERSION.fullmatch(phrase.at(0)) else NONE


def _capital_run(phrase: Phrase, limit: int) -> int:
    """How many words of a proper name stand at the start; particles count only between capitals."""
    run = 0
    for index, word in enumerate(phrase.words[: limit + 1]):
        if word.capital or (index and word.folded[0].isdigit()):
            run = index + 1
        elif not index or word.folded not in phrase.language.words["name_particles"]:
            break
    return min(run, limit)


def _place(phrase: Phrase) -> Span:
    start = 1 if phrase.at(0) == "the" else 0
    rest = phrase.dropping(start)
    known = next((n for n in (2, 1) if is_place(phrase_text(rest, n))), 0)
    run = 0 if start and not known else _capital_run(rest, NAME_WORDS)
    return (start, start + max(run, known)) if max(run, known) else NONE


def _city(phrase: Phrase) -> Span:
    span = _place(phrase)
    return (
        span
        if normal_place(" ".join(word.folded for word in phrase.words[span[0] : span[1]])) in country_of()
        else NONE
    )


def _employer(phrase: Phrase) -> Span:
    run = _capital_run(phrase, NAME_WORDS)
    return (0, run) if run and not is_place(phrase_text(phrase, run)) else NONE


def _given_name(phrase: Phrase) -> Span:
    run = _capital_run(phrase, NAME_WORDS)
    return (0, run) if run and phrase.at(0) not in phrase.language.words["name_stops"] else NONE


def _name(phrase: Phrase) -> Span:
    span = _given_name(phrase)
    if span != NONE:
        return span
    alone = phrase.until(phrase.language.words["tail"], 1)
    return (0, alone) if alone and phrase.at(0).isalpha() and phrase.at(0) not in phrase.language.vocabulary else NONE


def _article(phrase: Phrase) -> int:
    return int(phrase.at(0) in phrase.language.subjects.articles and len(phrase.words) > 1)


def _product(phrase: Phrase) -> Span:
    start = _article(phrase)
    count = phrase.dropping(start).until(phrase.language.words["tail"], 4)
    named = any(word.capital or word.folded[0].isdigit() for word in phrase.words[start : start + count])
    return (start, start + count) if named else NONE


def _phone(phrase: Phrase) -> Span:
    return _product(phrase) if phrase.at(0) in phrase.language.words["phones"] else NONE


def _job(phrase: Phrase) -> Span:
    start = _article(phrase)
    count = phrase.dropping(start).until(phrase.language.words["tail"], NAME_WORDS)
    known = count and phrase.at(start + count - 1) in phrase.language.closed["job"]
    return (start, start + count) if known and phrase.at(start) not in phrase.language.words["not_jobs"] else NONE


def _role(phrase: Phrase) -> Span:
    count = phrase.until(phrase.language.words["tail"], 4)
    return (0, count) if count and phrase.at(0) not in phrase.language.words["name_stops"] else NONE


def _colour(phrase: Phrase) -> Span:
    start = _article(phrase)
    count = phrase.dropping(start).until(phrase.language.words["tail"], NAME_WORDS)
    colours = phrase.language.closed["colour"]
    return (start, start + count) if any(phrase.at(start + i) in colours for i in range(count)) else NONE


def _before(phrase: Phrase, noun: str) -> Span:
    """What stands before a noun: a colour before eyes or hair, anything before another noun."""
    count = phrase.until(frozenset((noun,)), NAME_WORDS)
    if count == len(phrase.words) or not count:
        return NONE
    colours = phrase.language.closed["colour"]
    is_colour = any(word.folded in colours for word in phrase.words[:count])
    return (0, count) if is_colour or noun == "allergy" else NONE


def _thing(phrase: Phrase) -> Span:
    start = _article(phrase)
    rest = phrase.dropping(start)
    words = phrase.language.words
    count = rest.until(words["hard_tail"], THING_WORDS)
    named = [word.folded for word in rest.words[:count]]
    if not count or any(word in words["name_stops"] or word in words["not_things"] for word in named):
        return NONE
    return (start, start + count) if any(word not in words["stopwords"] for word in named) else NONE


def _words(phrase: Phrase) -> Span:
    start = _article(phrase)
    count = phrase.dropping(start).until(phrase.language.words["tail"], THING_WORDS)
    return (start, start + count) if count and phrase.at(start) != "not" else NONE


def _first(*readers: Callable[[Phrase], Span]) -> Callable[[Phrase], Span]:
    return lambda phrase: next((span for read in readers if (span := read(phrase)) != NONE), NONE)


_READERS: dict[str, Callable[[Phrase], Span]] = {
    "number": _number,
    "money": _money,
    "length": _measure("cm", "m"),
    "mass": _measure("kg", "lb"),
    "time": _time,
    "date": _date,
    "day_or_date": _first(_closed("weekday"), _date),
    "weekday": _closed("weekday"),
    "year": _year,
    "comparison": _comparison,
    "version": _version,
    "place": _place,
    "city": _city,
    "employer": _employer,
    "given_name": _given_name,
    "name": _name,
    "product": _product,
    "phone": _phone,
    "job": _job,
    "role": _role,
    "colour": _colour,
    "language": _closed("language"),
    "drink": _closed("drink"),
    "thing": _thing,
    "words": _words,
}
