"""The problem document (RFC 9457) that every error is answered with."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel

ProblemType = Literal[
    "urn:ricordo:problem:invalid-input",
    "urn:ricordo:problem:malformed-json",
    "urn:ricordo:problem:unauthenticated",
    "urn:ricordo:problem:forbidden",
    "urn:ricordo:problem:not-found",
    "urn:ricordo:problem:method-not-allowed",
    "urn:ricordo:problem:conflict",
    "urn:ricordo:problem:idempotency-conflict",
    "urn:ricordo:problem:precondition-failed",
    "urn:ricordo:problem:too-large",
    "urn:ricordo:problem:unavailable",
    "urn:ricordo:problem:upstream-unavailable",
    "urn:ricordo:problem:internal",
]


class FieldError(BaseModel):
    """One field that cannot be accepted."""

    field: str
    message: str


class Problem(BaseModel):
    """An error. `errors` names the fields when the request was invalid."""

    type: ProblemType
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []


def field_errors(errors: Iterable[Any], skip: int = 0) -> list[FieldError]:
    """What pydantic found, in our words.

    Args:
        errors: As from `ValidationError.errors()`.
        skip: Steps at the start of each location that are no part of the field's name.
    """
    found = list(errors)
    return [
        FieldError(field=_field(e["loc"][skip:]) or str(e["loc"][0] if e["loc"] else "body"), message=_message(e))
        for e in found
        if not _follows(e, found)
    ]


def _follows(error: Any, errors: Sequence[Any]) -> bool:
    """Whether a list is only too short because one of its items cannot be accepted."""
    where = error["loc"]
    return error["type"] == "too_short" and any(
        len(other["loc"]) > len(where) and other["loc"][: len(where)] == where for other in errors
    )


def _field(path: Sequence[Any]) -> str:
    """`('overrides', 'must_include', 3)` as `overrides.must_include[3]`."""
    name = ""
    for step in path:
        name += f"[{step}]" if isinstance(step, int) else f".{step}" if name else str(step)
    return name.encode("ascii", "backslashreplace").decode()


_LENGTHS = {"too_short": ("min_length", "at least"), "too_long": ("max_length", "at most")}


def _message(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "is not a known field"
    if error["type"] in _LENGTHS:
        name, bound = _LENGTHS[error["type"]]
        limit = error["ctx"][name]
        return f"must have {bound} {limit} {'item' if limit == 1 else 'items'}"
    message: str = error["msg"].removeprefix("Value error, ")
    return message.encode("utf-8", "backslashreplace").decode()
