"""The problem document (RFC 9457) that every error is answered with."""

from typing import Literal

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
