"""Plain chat logs: `name: text`, `[time] name: text`, `<nick> text`, and what WhatsApp exports."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import chain, islice
from typing import Final, TextIO

from app.importing.chatgpt import exchanges
from app.importing.items import Bad, BrokenFileError, Choices, Exchange, Item, LeftOut, Said, mark_of
from app.importing.streams import is_unreadable
from app.importing.values import given, label, shortened, wire

LINE_CHARS: Final = 1 << 20
_SAMPLE_LINES: Final = 1_000
_TURN_MESSAGES: Final = 20
_SILENCE: Final = timedelta(minutes=30)
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")

_CLOCK = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?(?:[.,]\d+)?(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\.?)?"
)
_SHAPES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[?(?P<iso>\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)\]?(?:\s+-)?\s+(?P<rest>.*)",
        rf"\[?(?P<one>\d{{1,4}})[./-](?P<two>\d{{1,2}})[./-](?P<three>\d{{2,4}}),?\s+{_CLOCK}\]?(?:\s+-)?\s+(?P<rest>.*)",
        rf"\[?{_CLOCK}\]?\s+(?P<rest>.*)",
        r"(?P<rest><[^<>]{1,60}>\s.*)",
        r"(?P<rest>[^\s:<>\[\]][^:<>\[\]]{0,59}:(?:\s.*|$))",
    )
)
_SPEAKERS: Final = (
    re.compile(r"<[@+%&~ ]?(?P<name>[^<>]{1,60})>\s?(?P<text>.*)", re.DOTALL),
    re.compile(r"\*\s(?P<name>\S{1,60})\s(?P<text>.*)", re.DOTALL),
    re.compile(r"(?P<name>[^\t:]{1,60})\t(?P<text>.*)", re.DOTALL),
    re.compile(r"(?P<name>[^:]{1,100}?):(?:\s(?P<text>.*)|$)", re.DOTALL),
)
_NEW_DAY = re.compile(r"--- (?:Day changed|Log opened) (?P<day>.*)")
_ATTACHED = re.compile(
    r"<[^<>:]+:\s[^<>]+\.\w{2,5}>"
    r"|.+\.(?:jpe?g|png|gif|webp|mp4|3gp|mov|opus|ogg|m4a|mp3|aac|pdf|vcf|docx?|xlsx?|pptx?|txt|zip) \([^()]+\)",
    re.IGNORECASE,
)
"""What stands for a file: `<attached: photo.jpg>`, `photo.jpg (file attached)`, in any language."""

_NOT_SHOWN = re.compile(r"<[^<>]*(?:omitted|ausgeschlossen|omessi|omis)[^<>]*>|\S+ omitted", re.IGNORECASE)


@dataclass(slots=True)
class _Open:
    """A message that may go on in the next line."""

    where: str
    name: str
    at: datetime | None
    lines: list[str] = field(default_factory=list)


def read(source: TextIO, choices: Choices) -> Iterator[Item]:
    """What was said, as turns: until somebody speaks after the agent's answer, or after half an hour of silence.

    Raises:
        BrokenFileError: If it is no log of a shape that is known.
    """
    session = choices.session or label(choices.name)
    seen: Counter[str] = Counter()
    part: list[Said] = []
    last: datetime | None = None
    for found in _messages(source, choices):
        if not isinstance(found, _Open):
            yield found
            continue
        said = _said(found, choices, session, seen)
        if said is None:
            continue
        silence = found.at is not None and last is not None and found.at - last > _SILENCE
        answered = bool(part) and part[-1].body["role"] == "assistant" and said.body["role"] == "user"
        if part and (silence or answered or len(part) == _TURN_MESSAGES):
            yield from _turns(part, choices, session)
            part = []
        part.append(said)
        last = found.at or last
    yield from _turns(part, choices, session)


def _turns(part: Sequence[Said], choices: Choices, session: str) -> Iterator[Exchange]:
    for turn in exchanges(part):
        yield Exchange(choices.space or "", session, turn)


def _said(found: _Open, choices: Choices, session: str, seen: Counter[str]) -> Said | None:
    said = [line for line in found.lines if not _ATTACHED.fullmatch(line.strip())]
    text, cut = shortened("\n".join(said).strip())
    if not text or _NOT_SHOWN.fullmatch(text):
        return None
    is_agent = choices.agent is not None and found.name.casefold() == choices.agent.casefold()
    at = wire(found.at)
    same = "\0".join((found.name, at or "", text))
    seen[same] += 1
    mark = mark_of("chat", session, same, seen[same])
    body = given(
        role="assistant" if is_agent else "user",
        text=text,
        at=at,
        author=None if is_agent else {"name": label(found.name)},
    )
    return Said(found.where, mark, body, cut)


def shape_of(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The shape that half of some lines have; None if none is."""
    said = [line for line in lines if line.strip()]
    for shape in _SHAPES:
        if said and 2 * sum(shape.match(line) is not None for line in said) >= len(said):
            return shape
    return None


def visible(lines: Sequence[str]) -> list[str]:
    """Lines without the marks of direction that some programs put in."""
    return [_INVISIBLE.sub("", line) for line in lines]


def _messages(source: TextIO, choices: Choices) -> Iterator[_Open | Bad | LeftOut]:
    lines = _lines(source)
    sample = list(islice(lines, _SAMPLE_LINES))
    seen = [line for _, line in sample]
    shape = shape_of(seen)
    if shape is None:
        raise BrokenFileError("its lines have no shape of a chat log that is known (docs/importing.md)")
    dates = _Dates(choices, _is_day_first(seen, shape) if choices.day_first is None else choices.day_first)
    message: _Open | None = None
    for number, line in chain(sample, lines):
        if dates.turns_to(line):
            continue
        begins = shape.match(line)
        if begins is None and message is not None and not _trouble(line):
            message.lines.append(line)
            continue
        if message is not None and begins is not None:
            yield message
            message = None
        found = _read(f"line {number}", line, begins, dates)
        if isinstance(found, _Open):
            message = found
        elif found is not None:
            yield found
    if message is not None:
        yield message


def _read(where: str, line: str, begins: re.Match[str] | None, dates: "_Dates") -> _Open | Bad | LeftOut | None:
    """What a line is that does not go on with a message; None for an empty one."""
    if trouble := _trouble(line):
        return Bad(where, trouble)
    if begins is None:
        return Bad(where, "nobody is named before it") if line.strip() else None
    speaker = next((found for one in _SPEAKERS if (found := one.fullmatch(begins["rest"]))), None)
    if speaker is None or not speaker["name"].strip():
        return LeftOut(where, "nobody says it")
    try:
        at = dates.at(begins.groupdict())
    except (ValueError, OverflowError) as error:
        return Bad(where, str(error))
    return _Open(where, " ".join(speaker["name"].split()), at, [speaker["text"] or ""])


def _trouble(line: str) -> str | None:
    if len(line) >= LINE_CHARS - 1:
        return f"the line has more than {LINE_CHARS:,} characters"
    return "it is not UTF-8; name its encoding with --encoding" if is_unreadable(line) else None


def _lines(source: TextIO) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        while line := source.readline(LINE_CHARS):
            number += 1
            yield number, visible([line.rstrip("\n")])[0]
            if len(line) == LINE_CHARS and not line.endswith("\n"):
                while (rest := source.readline(LINE_CHARS)) and not rest.endswith("\n"):
                    pass
    except UnicodeError as error:
        raise BrokenFileError(f"line {number + 1}: it is not in the encoding of the lines before") from error


@dataclass(slots=True)
class _Dates:
    """How the dates of a log are read.

    Attributes:
        today: The day that the log last named, for lines with a clock alone.
    """

    choices: Choices
    is_day_first: bool
    today: date | None = None

    def turns_to(self, line: str) -> bool:
        """Whether a line says that another day begins; the times after it are of that day."""
        new_day = _NEW_DAY.match(line)
        if new_day:
            self.today = _day(new_day["day"])
        return new_day is not None

    def at(self, parts: Mapping[str, str | None]) -> datetime | None:
        """When something was said, in UTC; None if that cannot be known.

        Raises:
            ValueError: If its date is none.
        """
        found = self._at(parts)
        return found and (found if found.tzinfo else found.replace(tzinfo=self.choices.zone)).astimezone(UTC)

    def _at(self, parts: Mapping[str, str | None]) -> datetime | None:
        if (iso := parts.get("iso")) is not None:
            return datetime.fromisoformat(iso.replace(",", "."))
        if parts.get("hour") is None:
            return None
        hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
        if half := parts.get("half"):
            hour = hour % 12 + (12 if half in "Pp" else 0)
        if (one := parts.get("one")) is not None:
            year, month, day = _date(one, parts["two"] or "", parts["three"] or "", is_day_first=self.is_day_first)
        elif self.today is not None:
            year, month, day = self.today.year, self.today.month, self.today.day
        else:
            return None
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - its zone is the caller's to say


def _date(one: str, two: str, three: str, *, is_day_first: bool) -> tuple[int, int, int]:
    if len(one) == 4:
        return int(one), int(two), int(three)
    year = int(three) + (2000 if len(three) == 2 else 0)
    return (year, int(two), int(one)) if is_day_first else (year, int(one), int(two))


def _is_day_first(lines: Sequence[str], shape: re.Pattern[str]) -> bool:
    """Whether days come before months: what most dates say that have a number above twelve."""
    found = [match.groupdict() for line in lines if (match := shape.match(line))]
    firsts, seconds = (sum(int(parts.get(name) or 0) > 12 for parts in found) for name in ("one", "two"))
    return seconds <= firsts


def _day(said: str) -> date | None:
    for pattern in ("%a %b %d %Y", "%a %b %d %H:%M:%S %Y"):
        try:
            return datetime.strptime(said.strip(), pattern).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None
