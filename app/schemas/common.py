"""Types that several resources share."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)

from app.domain.entries import TAGS, TEXT_CHARS
from app.domain.ids import IdKind, PublicId, parse_id
from app.domain.spaces import SPACE_KINDS, check_scope, check_space

LABEL_CHARS = 200
PAGE_ITEMS = 50
PAGE_ITEMS_LIMIT = 200


class WireModel(BaseModel):
    """A JSON object in which every field is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


ItemT = TypeVar("ItemT")


class Page(WireModel, Generic[ItemT]):
    """A page of a list. `next_cursor` continues it; null at the end."""

    items: list[ItemT]
    next_cursor: str | None


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not contain NUL characters")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _instant(value: object) -> object:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("must be a string such as 2026-01-31T09:30:00Z")  # noqa: TRY004 - pydantic wants ValueError
    return value


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("needs a time zone, such as Z or +01:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("must lie between the years 1 and 9999 in UTC") from error


def wire_time(moment: datetime) -> str:
    """A moment as it is written in JSON: UTC, microseconds, Z."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


_NOT_BLANK = Field(json_schema_extra={"pattern": r"\S"})

Line = Annotated[
    str, Field(max_length=LABEL_CHARS), _NOT_BLANK, AfterValidator(_without_nul), AfterValidator(_not_blank)
]
"""A short label."""

Text = Annotated[
    str, Field(max_length=TEXT_CHARS), _NOT_BLANK, AfterValidator(_without_nul), AfterValidator(_not_blank)
]
"""A stored text."""

Query = Annotated[str, Field(max_length=TEXT_CHARS), AfterValidator(_without_nul)]
"""A question; may be empty."""

Tag = Annotated[str, Field(max_length=80), _NOT_BLANK, AfterValidator(_without_nul), AfterValidator(_not_blank)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=TAGS)]

UnitInterval = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]

Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    AfterValidator(_utc),
    PlainSerializer(wire_time, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A moment; a time without a zone is refused."""

_SPACE = Field(examples=["user:42"], json_schema_extra={"pattern": f"^({'|'.join(SPACE_KINDS)}):"})

SpaceName = Annotated[str, AfterValidator(_without_nul), AfterValidator(check_space), _SPACE]
ScopePath = Annotated[str, AfterValidator(_without_nul), AfterValidator(check_scope), Field(examples=["story:au1"])]


PageLimit = Annotated[int, Field(ge=1, le=PAGE_ITEMS_LIMIT)]


def cursor_of(position: object) -> str:
    """The opaque cursor of a position in a list."""
    return urlsafe_b64encode(str(position).encode()).decode().rstrip("=")


def _position(kind: Callable[[str], object], cursor: object) -> object:
    """The position that a cursor stands for.

    Raises:
        ValueError: If it is no cursor of a list with positions of this kind.
    """
    try:
        text = cursor if isinstance(cursor, str) else ""
        position = kind(urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)).decode())
        if cursor_of(position) == cursor:
            return position
    except ValueError:
        pass
    raise ValueError("must be the next_cursor of an earlier page")


_OPAQUE = WithJsonSchema({"type": "string", "minLength": 1, "description": "The next_cursor of the page before."})

IdCursor = Annotated[UUID, BeforeValidator(partial(_position, UUID)), _OPAQUE]
"""Continues a list that is ordered by id."""

VersionCursor = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(partial(_position, int)), _OPAQUE]
"""Continues a list of versions."""

NameCursor = Annotated[
    str, Field(min_length=1), AfterValidator(_without_nul), BeforeValidator(partial(_position, str)), _OPAQUE
]
"""Continues a list that is ordered by name."""


class VersionsQuery(WireModel):
    """Which part of the versions to list, newest first."""

    limit: PageLimit = PAGE_ITEMS
    cursor: VersionCursor | None = None


def _entry_id(value: Any) -> PublicId:
    if isinstance(value, PublicId):
        return value
    if not isinstance(value, str):
        raise ValueError("must be an id such as mem_…")  # noqa: TRY004 - pydantic wants ValueError
    found = parse_id(value)
    if found.kind not in (IdKind.MEMORY, IdKind.EPISODE, IdKind.PROCEDURE):
        raise ValueError("must be the id of a memory, an episode or a procedure")
    return found


def _turn_id(value: Any) -> PublicId:
    if isinstance(value, PublicId):
        return value
    found = parse_id(value) if isinstance(value, str) else None
    if found is None or found.kind is not IdKind.TURN:
        raise ValueError("must be the id of a turn, such as trn_…")
    return found


TurnPublicId = Annotated[
    PublicId,
    PlainValidator(_turn_id),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^trn_[0-9a-v]{52}$"}),
]

EntryId = Annotated[
    PublicId,
    PlainValidator(_entry_id),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^(mem|epi|pro)_[0-9a-v]{52}$"}),
]
