"""Values of foreign files, taken for no more than they are."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from app.domain.entries import TAGS, TEXT_CHARS
from app.importing.items import RowError
from app.schemas.common import wire_time

_TAG_CHARS: Final = 80
_LABEL_CHARS: Final = 200
_LATEST_S: Final = 253_402_300_799.0


def moment(value: Any, zone: tzinfo) -> datetime | None:
    """A time: seconds since 1970, or ISO 8601; in a zone if it names none. None for nothing.

    Raises:
        RowError: If it is something else.
    """
    if value is None or value == "":
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value) or not 0 <= value <= _LATEST_S:
            raise RowError("a time lies outside the years 1970 to 9999")
        return datetime.fromtimestamp(value, UTC)
    if not isinstance(value, str):
        raise RowError("a time is neither a number nor a string")
    try:
        read = datetime.fromisoformat(value.strip())
        return (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise RowError(f"{value[:40]!r} is no time") from error


def wire(at: datetime | None) -> str | None:
    """A time as JSON has it."""
    return None if at is None else wire_time(at)


def tags(*groups: Any) -> list[str]:
    """What can be tags: texts that are not blank and not too long, each once."""
    flat = (one for group in groups for one in (group if isinstance(group, list) else [group]))
    said = dict.fromkeys(one.strip() for one in flat if isinstance(one, str))
    return [one for one in said if one and len(one) <= _TAG_CHARS and "\0" not in one][:TAGS]


def label(text: str) -> str:
    """As much of a text as a label can hold, on one line."""
    return " ".join(text.split())[:_LABEL_CHARS]


def shortened(text: str) -> tuple[str, bool]:
    """As much of a text as a message can hold, and whether something was cut."""
    return text[:TEXT_CHARS], len(text) > TEXT_CHARS


def text(value: Any, name: str) -> str:
    """A text; the empty one for nothing.

    Raises:
        RowError: If it is something else.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RowError(f"{name} is not a text")
    return value


def given(**fields: Any) -> dict[str, Any]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value is not None and value not in ([], "")}


def first(values: Iterable[Any]) -> Any:
    """The first that says something; None if none does."""
    return next((value for value in values if value), None)
