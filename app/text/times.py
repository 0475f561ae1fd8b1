"""Expressions of time in a question (`last week`, `a maggio 2023`, `před třemi dny`), resolved against a moment."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from app.text.normalise import fold, plain

TIME_LANGUAGES: Final = ("en", "it", "cs")
"""ISO 639-1 codes: those with a file times.CODE.toml. A question is read in all of them at once."""

MAX_CHARS: Final = 2_000
"""Of a question that are read."""

_DAY: Final = timedelta(days=1)
_SEASONS: Final = MappingProxyType({"spring": 3, "summer": 6, "autumn": 9, "winter": 12})
"""The month that each begins in, north of the equator."""


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, `since` inclusive and `until` exclusive, both UTC."""

    since: datetime
    until: datetime

    def __post_init__(self) -> None:
        if not self.since < self.until:
            raise ValueError("a period must end after it begins")


def period_of(text: str, moment: datetime) -> Period | None:
    """The stretch of time that a question speaks of, the longest expression if there are several; None for none.

    Args:
        moment: When the question is asked: `yesterday` is the day before it, in UTC.
    """
    folded = fold(plain(text[:MAX_CHARS]))
    if _HINT.search(folded) is None and _words().isdisjoint(re.findall(r"\w+", folded)):
        return None
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    found = sorted(_expressions(folded), key=lambda pair: (-len(pair[1].group()), pair[1].start()))
    for resolve, match in found:
        try:
            return resolve(match, day)
        except (ValueError, OverflowError):  # the 31st of June; a million years ago
            continue
    return None


_Resolve = Callable[["re.Match[str]", datetime], Period]


def _expressions(text: str) -> Iterator[tuple[_Resolve, "re.Match[str]"]]:
    for match in _ISO.finditer(text):
        yield _iso, match
    for match in _DOTTED.finditer(text):
        yield _dotted, match
    for language in map(_language, TIME_LANGUAGES):
        for kind, pattern in language.patterns:
            for match in pattern.finditer(text):
                yield language.resolver(kind), match


_HINT: Final = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}\.")
_ISO: Final = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_DOTTED: Final = re.compile(r"\b(\d{1,2})\. ?(\d{1,2})\. ?((?:19|20)\d\d)\b")


def _iso(match: "re.Match[str]", _: datetime) -> Period:
    year, month = int(match[1]), int(match[2])
    return _month(year, month) if match[3] is None else _date(year, month, int(match[3]))


def _dotted(match: "re.Match[str]", _: datetime) -> Period:
    return _date(int(match[3]), int(match[2]), int(match[1]))


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language speaks of time, compiled.

    Attributes:
        patterns: Kind of expression, and what matches it.
        values: By kind of word (`unit`, `month`, …) and folded word: what it stands for.
    """

    patterns: tuple[tuple[str, "re.Pattern[str]"], ...]
    values: Mapping[str, Mapping[str, Any]]

    def resolver(self, kind: str) -> _Resolve:
        def resolve(match: "re.Match[str]", day: datetime) -> Period:
            known = {name: self._value(name, word) for name, word in match.groupdict().items()}
            return _RESOLVERS[kind](known, day)

        return resolve

    def _value(self, name: str, word: str) -> Any:
        return int(word) if word.isdecimal() else self.values[name][word]


def _days_back(number: int) -> Callable[[Mapping[str, Any], datetime], Period]:
    return lambda _, day: Period(day - number * _DAY, day - (number - 1) * _DAY)


def _years_back(number: int) -> Callable[[Mapping[str, Any], datetime], Period]:
    return lambda _, day: _year(day.year - number)


def _ago(known: Mapping[str, Any], day: datetime) -> Period:
    """About then: a unit around the day, a month ago is no date."""
    unit, number = known["unit"], known.get("n", 1)
    then = _before(day, unit, number)
    if unit == "day":
        return Period(then, then + _DAY)
    margin = {"week": 3, "month": 10, "year": 60}[unit] * _DAY
    return Period(then - margin, min(then + margin, day) + _DAY)


def _within(known: Mapping[str, Any], day: datetime) -> Period:
    return Period(_before(day, known["unit"], known["n"]), day + _DAY)


def _last(known: Mapping[str, Any], day: datetime) -> Period:
    begins = _begin(day, known["unit"])
    return Period(_before(begins, known["unit"], 1), begins)


def _this(known: Mapping[str, Any], day: datetime) -> Period:
    return Period(_begin(day, known["unit"]), day + _DAY)


def _weekday(known: Mapping[str, Any], day: datetime) -> Period:
    """The latest one before the day."""
    then = day - ((day.weekday() - known["weekday"] - 1) % 7 + 1) * _DAY
    return Period(then, then + _DAY)


def _weekend(_: Mapping[str, Any], day: datetime) -> Period:
    saturday = day - ((day.weekday() - 5) % 7) * _DAY
    saturday -= 7 * _DAY if day.weekday() >= 5 else 0 * _DAY  # on a weekend the last one is meant
    return Period(saturday, saturday + 2 * _DAY)


def _season(known: Mapping[str, Any], day: datetime) -> Period:
    """The one of a year, or the latest that has begun."""
    first = _SEASONS[known["season"]]
    year = known.get("year") or (day.year if day.month >= first else day.year - 1)
    begins = day.replace(year=year, month=first, day=1)
    return Period(begins, _after(begins, 3))


def _dated(known: Mapping[str, Any], day: datetime) -> Period:
    year = known.get("year")
    found = _date(year or day.year, known["month"], known["day"])
    return found if year or found.since <= day else _date(day.year - 1, known["month"], known["day"])


def _monthly(known: Mapping[str, Any], day: datetime) -> Period:
    year = known.get("year") or (day.year if known["month"] <= day.month else day.year - 1)
    return _month(year, known["month"])


_RESOLVERS: Final[Mapping[str, Callable[[Mapping[str, Any], datetime], Period]]] = MappingProxyType(
    {
        "days_back_0": _days_back(0),
        "days_back_1": _days_back(1),
        "days_back_2": _days_back(2),
        "ago": _ago,
        "within": _within,
        "last": _last,
        "this": _this,
        "weekday": _weekday,
        "weekend": _weekend,
        "season": _season,
        "date": _dated,
        "month": _monthly,
        "year": lambda known, _: _year(known["year"]),
        "year_back_0": _years_back(0),
        "year_back_1": _years_back(1),
    }
)


def _date(year: int, month: int, day: int) -> Period:
    begins = datetime(year, month, day, tzinfo=UTC)
    return Period(begins, begins + _DAY)


def _month(year: int, month: int) -> Period:
    begins = datetime(year, month, 1, tzinfo=UTC)
    return Period(begins, _after(begins, 1))


def _year(year: int) -> Period:
    return Period(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC))


def _begin(day: datetime, unit: str) -> datetime:
    match unit:
        case "day":
            return day
        case "week":
            return day - day.weekday() * _DAY
        case "month":
            return day.replace(day=1)
        case _:
            return day.replace(month=1, day=1)


def _before(day: datetime, unit: str, number: int) -> datetime:
    if unit in ("day", "week"):
        return day - number * (1 if unit == "day" else 7) * _DAY
    months = number * (1 if unit == "month" else 12)
    return _after(day.replace(day=min(day.day, 28)), -months)


def _after(day: datetime, months: int) -> datetime:
    whole = day.year * 12 + day.month - 1 + months
    return day.replace(year=whole // 12, month=whole % 12 + 1)


@cache
def _words() -> frozenset[str]:
    """Every word that an expression without a figure can begin or end with."""
    listed = (_read(language) for language in TIME_LANGUAGES)
    return frozenset(
        word
        for data in listed
        for phrase in chain(
            *data["units"].values(),
            *data["seasons"].values(),
            *data["months"],
            *data["weekdays"],
            *(phrases for kind, phrases in data["patterns"].items() if "back" in kind or kind == "weekend"),
        )
        for word in re.findall(r"\w+", fold(phrase))
    )


@cache
def _language(code: str) -> _Language:
    data = _read(code)
    values: dict[str, dict[str, Any]] = {
        "n": _numbered(data["numbers"], 1),
        "month": _numbered(data["months"], 1),
        "weekday": _numbered(data["weekdays"], 0),
        "unit": {fold(word): unit for unit, words in data["units"].items() for word in words},
        "season": {fold(word): season for season, words in data["seasons"].items() for word in words},
    }
    slots = {name: "|".join(sorted(map(re.escape, words), key=len, reverse=True)) for name, words in values.items()}
    slots |= {"n": rf"\d{{1,3}}|{slots['n']}", "year": r"(?:19|20)\d\d", "day": r"\d{1,2}"}
    patterns = [
        (kind, re.compile(r"\b" + _SLOT.sub(lambda slot: rf"(?P<{slot[1]}>{slots[slot[1]]})", fold(text)) + r"\b"))
        for kind, texts in data["patterns"].items()
        for text in texts
    ]
    return _Language(tuple(patterns), values)


_SLOT: Final = re.compile(r"\{([a-z]+)\}")


def _numbered(words: list[list[str]], first: int) -> dict[str, Any]:
    return {fold(word): number for number, forms in enumerate(words, first) for word in forms}


def _read(code: str) -> dict[str, Any]:
    return tomllib.loads(files("app.text").joinpath("data", f"times.{code}.toml").read_text(encoding="utf-8"))
