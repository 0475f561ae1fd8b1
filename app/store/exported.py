"""The lines of an exported space: each is checked, and the file is looked over whole before anything is written."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

import orjson
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from app.domain.entries import Cardinality, Category, Entry, Status, Tier
from app.domain.spaces import SpaceKey, check_scope, check_space
from app.store.rows import entry_from

FORMAT: Final = 1
VERSIONS: Final = "entry_versions"

_LINE_BYTES: Final = 1 << 26
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LATEST_SEQUENCE: Final = 1 << 53
"""No space comes near it, and it leaves room for what is written afterwards."""

Row = dict[str, Any]

Lines = Callable[[], Iterable[bytes]]
"""The lines of a file from its beginning, the header included."""

Report = Callable[[int, str], None]
"""Told of a line that is bad: its number from 1, and why. No text is quoted."""


class TransferError(Exception):
    """What cannot be exported or imported, in one line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table; `entry` is the version that it is, in the table of versions."""

    number: int
    table: str
    row: Row
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that makes no sense; `entry` is of which entry it would be a version, if that can be read."""

    number: int
    why: str
    entry: UUID | None = None


@dataclass(slots=True)
class Travelling:
    """An entry of a file: its lines, and when each of its versions was recorded."""

    lines: list[int] = field(default_factory=list)
    versions: dict[int, datetime] = field(default_factory=dict)


@dataclass(slots=True)
class Survey:
    """What is in a file: sound rows by table, entries by id, the numbers of bad lines, and how many lines there are.

    Attributes:
        exported_at: When it was made; None if it does not say so.
    """

    rows: Counter[str] = field(default_factory=Counter)
    entries: dict[UUID, Travelling] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)
    lines: int = 0
    exported_at: datetime | None = None


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file.

    Raises:
        TransferError: If one is longer than any that is exported.
    """
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LINE_BYTES):
            number += 1
            if len(line) == _LINE_BYTES:
                raise TransferError(f"line {number} has more than {_LINE_BYTES:,} bytes")
            yield line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line


def space_of(lines: Lines) -> str:
    """The name of the space that was exported.

    Raises:
        TransferError: If the lines are no export of this version.
    """
    try:
        return check_space(str(_header(lines).get("space")))
    except ValueError as error:
        raise TransferError(f"line 1: space {error}") from error


def _header(lines: Lines) -> Row:
    try:
        header = orjson.loads(next(iter(lines()), b""))
    except orjson.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("ricordo") != FORMAT:
        raise TransferError("this is no export of a space, or one of another version")
    return header


def sound_lines(lines: Lines, space: SpaceKey, bad: set[int]) -> Iterator[Line]:
    """The lines after the header that a survey found nothing wrong with."""
    for line in _parsed(lines, space):
        if isinstance(line, Line) and line.number not in bad:
            yield line


def survey(lines: Lines, space: SpaceKey, report: Report) -> Survey:
    """Look a file over. An entry of which a version is bad or missing is left out: an earlier one is not what holds.

    Raises:
        TransferError: If the lines are no export of this version, or versions are missing and nobody knows whose.
    """
    header = _header(lines)
    promised = header.get("versions")
    found, torn, versions = Survey(exported_at=moment_of(header.get("exported_at"))), set[UUID](), 0
    for read in _parsed(lines, space):
        found.lines += 1
        line = _placed(found, read, read.entry) if isinstance(read, Line) and read.entry is not None else read
        if isinstance(line, BadLine):
            found.bad.add(line.number)
            report(line.number, line.why)
            torn |= {line.entry} if line.entry else set()
        else:
            found.rows[line.table] += 1
        versions += line.entry is not None if isinstance(line, BadLine) else line.table == VERSIONS
    if isinstance(promised, int) and versions < promised:
        raise TransferError(
            f"only {versions:,} of {promised:,} versions are in the file; nothing was brought, since a version that is "
            "missing may be what holds"
        )
    for entry_id in torn & found.entries.keys():
        _leave_out(found, found.entries.pop(entry_id), report)
    return found


def _placed(found: Survey, line: Line, entry: Entry) -> Line | BadLine:
    """Note a version, if it follows those before it."""
    travelling = found.entries.setdefault(entry.id.uuid, Travelling())
    if entry.version != len(travelling.versions) + 1 or not 1 <= entry.text_version <= entry.version:
        return BadLine(line.number, f"version {entry.version} does not follow those before it", entry.id.uuid)
    travelling.versions[entry.version] = entry.recorded_at
    travelling.lines.append(line.number)
    return line


def _leave_out(found: Survey, entry: Travelling, report: Report) -> None:
    found.rows[VERSIONS] -= len(entry.lines)
    for number in entry.lines:
        found.bad.add(number)
        report(number, "another version of this entry is bad or missing")


def _parsed(lines: Lines, space: SpaceKey) -> Iterator[Line | BadLine]:
    for number, line in enumerate(lines(), 1):
        if number > 1 and line.strip():
            yield _read(number, line, space)


def _read(number: int, line: bytes, space: SpaceKey) -> Line | BadLine:
    try:
        read = orjson.loads(line)
    except orjson.JSONDecodeError:
        return BadLine(number, "it is not JSON")
    if not isinstance(read, dict) or not isinstance(read.get("table"), str) or not isinstance(read.get("row"), dict):
        return BadLine(number, "it has no table and row")
    table, row = read["table"], read["row"]
    of = as_uuid(row.get("id")) if table == VERSIONS else None
    if b"\\u0000" in line and _has_nul(row):
        return BadLine(number, "a text must not contain NUL", of)
    try:
        return Line(number, table, row, _entry(row, space) if table == VERSIONS else None)
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
        return BadLine(number, "; ".join(wrong), of)
    except ValueError as error:
        return BadLine(number, str(error), of)


def moment_of(value: object) -> datetime | None:
    """The moment that a value is written as, in UTC if it does not say where; None if it is none."""
    try:
        read = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def as_uuid(value: object) -> UUID | None:
    """The UUID that a value is written as; None if it is none."""
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _has_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any(_has_nul(inner) for pair in value.items() for inner in pair)
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value


class _Version(BaseModel):
    """A version as it travels."""

    model_config = ConfigDict(extra="ignore", strict=False)

    id: UUID
    version: Annotated[int, Field(ge=1, lt=1 << 31)]
    text_version: Annotated[int, Field(ge=1, lt=1 << 31)]
    sequence: Annotated[int, Field(ge=0, le=_LATEST_SEQUENCE)]
    tier: Tier
    status: Status
    text: Annotated[str, Field(min_length=1)]
    category: Category | None
    tags: tuple[str, ...]
    scope: Annotated[str, AfterValidator(check_scope)]
    claim_subject: str | None
    claim_attribute: str | None
    claim_value: str | None
    claim_cardinality: Cardinality | None
    claim_derived: bool
    importance: float | None
    confidence: float | None
    valid_from: AwareDatetime | None
    valid_to: AwareDatetime | None
    occurred_at: AwareDatetime | None
    participants: tuple[str, ...]
    trigger: str | None
    author_name: str | None
    author_platform: str | None
    author_id: str | None
    session: str | None
    context: str | None
    source: str | None
    recorded_at: AwareDatetime
    first_recorded_at: AwareDatetime
    last_confirmed_at: AwareDatetime
    unresolved: bool
    superseded_by: UUID | None
    merged_from: tuple[UUID, ...]
    reason: str
    corrected: bool


def _entry(row: Row, space: SpaceKey) -> Entry:
    """A version from its row; its id is that of the space that it comes to.

    Raises:
        ValueError: If it cannot be one.
    """
    read = _Version.model_validate(row)
    if read.claim_subject is not None and None in {read.claim_attribute, read.claim_value, read.claim_cardinality}:
        raise ValueError("the claim has no attribute, value or cardinality")
    return entry_from({**dict(read), "space_id": space.space_id, "space": space.name})
