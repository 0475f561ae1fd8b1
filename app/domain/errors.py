"""The errors Ricordo answers with: few, named, each with one HTTP status (`app/api/errors.py`)."""

from dataclasses import dataclass


class RicordoError(Exception):
    """Base of every error that a caller may see."""

    code = "error"


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field of a request that cannot be accepted, and why."""

    field: str
    message: str


class InvalidInputError(RicordoError):
    """The request breaks a rule of the API."""

    code = "invalid-input"

    def __init__(self, *problems: FieldProblem) -> None:
        super().__init__("; ".join(f"{p.field}: {p.message}" for p in problems))
        self.problems = problems


class UnauthenticatedError(RicordoError):
    """No key, or one that is unknown, revoked or expired."""

    code = "unauthenticated"


class ForbiddenError(RicordoError):
    """The key is valid but may not do this."""

    code = "forbidden"


class NotFoundError(RicordoError):
    """No such item in this tenant."""

    code = "not-found"


class ConflictError(RicordoError):
    """The request does not fit the present state of the item."""

    code = "conflict"


class IdempotencyConflictError(RicordoError):
    """The Idempotency-Key was used before with another request."""

    code = "idempotency-conflict"


class PreconditionFailedError(RicordoError):
    """The If-Match version is not the current one."""

    code = "precondition-failed"


class UnavailableError(RicordoError):
    """Something that this request needs does not answer."""

    code = "unavailable"


class TooLargeError(RicordoError):
    """The request is larger than the service accepts."""

    code = "too-large"


class UpstreamError(RicordoError):
    """The model server behind this service does not answer."""

    code = "upstream-unavailable"
