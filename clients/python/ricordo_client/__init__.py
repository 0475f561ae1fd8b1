"""The Python client of Ricordo, memory as a service.

`Ricordo` blocks, `AsyncRicordo` is awaited; both have the same calls with the same arguments, from one source.
"""

from ricordo_client.clients import AsyncRicordo, Ricordo
from ricordo_client.errors import (
    ConflictError,
    DeadlineError,
    FieldError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    ProblemError,
    RicordoError,
    UnauthenticatedError,
    UnreachableError,
    VersionError,
)
from ricordo_client.models import (
    Assembly,
    Author,
    Claim,
    Correction,
    Entry,
    Forgotten,
    Found,
    Job,
    Message,
    Said,
    Session,
    SoulBlock,
    Space,
    Token,
    Turn,
)

__all__ = [
    "Assembly",
    "AsyncRicordo",
    "Author",
    "Claim",
    "ConflictError",
    "Correction",
    "DeadlineError",
    "Entry",
    "FieldError",
    "ForbiddenError",
    "Forgotten",
    "Found",
    "InvalidInputError",
    "Job",
    "Message",
    "NotFoundError",
    "PreconditionFailedError",
    "ProblemError",
    "Ricordo",
    "RicordoError",
    "Said",
    "Session",
    "SoulBlock",
    "Space",
    "Token",
    "Turn",
    "UnauthenticatedError",
    "UnreachableError",
    "VersionError",
]
