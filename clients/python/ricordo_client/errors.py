"""What can go wrong: problem documents of the service, and a service that does not answer."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError


class RicordoError(Exception):
    """Base of everything that this client raises."""


class UnreachableError(RicordoError):
    """No answer, or one that is none of Ricordo's: it is down, or the URL is another server's."""


class DeadlineError(UnreachableError):
    """No whole answer within the time that the call had."""


class VersionError(RicordoError):
    """The service's version is one that this client does not speak to."""


class FieldError(BaseModel):
    """One field that was not accepted."""

    field: str
    message: str


class ProblemError(RicordoError):
    """The service refused, with a problem document (RFC 9457).

    Attributes:
        status: The HTTP status.
        code: The problem's type without its prefix, such as `not-found`.
        errors: The fields that were not accepted, if the request was invalid.
    """

    def __init__(self, status: int, code: str, detail: str, errors: tuple[FieldError, ...] = ()) -> None:
        """What the document says."""
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors


class InvalidInputError(ProblemError):
    """A field breaks a rule of the API: see `errors`."""


class UnauthenticatedError(ProblemError):
    """The key is unknown, revoked or expired."""


class ForbiddenError(ProblemError):
    """The key may not do this, or does not reach the space."""


class NotFoundError(ProblemError):
    """No such item, or none that the key reaches."""


class ConflictError(ProblemError):
    """The item is in another state, or an idempotency key was used for another request."""


class PreconditionFailedError(ProblemError):
    """Somebody changed the item since: read it again."""


_BY_CODE: dict[str, type[ProblemError]] = {
    "invalid-input": InvalidInputError,
    "unauthenticated": UnauthenticatedError,
    "forbidden": ForbiddenError,
    "not-found": NotFoundError,
    "conflict": ConflictError,
    "idempotency-conflict": ConflictError,
    "precondition-failed": PreconditionFailedError,
}


class _Document(BaseModel):
    type: str
    detail: str = ""
    errors: tuple[FieldError, ...] = ()


def problem_of(status: int, body: bytes) -> RicordoError:
    """The exception that a refusal stands for; UnreachableError when it is no problem document of Ricordo's."""
    try:
        document = _Document.model_validate_json(body)
    except ValidationError:
        return UnreachableError(f"the answer has the status {status} and is no problem document of Ricordo")
    code = document.type.rpartition(":")[2]
    return _BY_CODE.get(code, ProblemError)(status, code, document.detail, document.errors)
