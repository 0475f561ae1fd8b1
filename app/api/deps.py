"""What routes are given: the runtime, the caller, the moment, the headers of a write.

All are coroutines: FastAPI would run a plain function in another thread, which costs more than it does.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated

from fastapi import Depends, Header, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.domain.callers import Caller
from app.domain.errors import FieldProblem, InvalidInputError, NotFoundError
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, find_id
from app.runtime import Runtime
from app.schemas.common import SpaceName
from app.turns.service import session_of

_IDEMPOTENCY_KEY_CHARS = 200


async def get_runtime(request: Request) -> Runtime:
    """The runtime that the application was started with."""
    runtime: Runtime = request.app.state.runtime
    return runtime


RuntimeDep = Annotated[Runtime, Depends(get_runtime)]


_BEARER = HTTPBearer(auto_error=False, description="An API key, or a token made with POST /tokens.")


async def get_caller(
    request: Request, documented: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Caller:
    """Who calls, as `app/api/authentication.py` found out."""
    del documented
    caller: Caller = request.state.caller
    return caller


CallerDep = Annotated[Caller, Depends(get_caller)]


async def get_now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


Now = Annotated[datetime, Depends(get_now)]


async def get_idempotency(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            description="Repeating a write with the same key does it once (24 h).",
            json_schema_extra={"pattern": f"^[ -~]{{1,{_IDEMPOTENCY_KEY_CHARS}}}$"},
        ),
    ] = None,
) -> IdempotencyKey | None:
    """The caller's key for this write, with a fingerprint of method, path and body."""
    if idempotency_key is None:
        return None
    printable = idempotency_key.isascii() and idempotency_key.isprintable()
    if not (printable and 1 <= len(idempotency_key) <= _IDEMPOTENCY_KEY_CHARS):
        problem = f"must have 1 to {_IDEMPOTENCY_KEY_CHARS} printable ASCII characters"
        raise InvalidInputError(FieldProblem("Idempotency-Key", problem))
    asked = b"\n".join((request.method.encode(), request.url.path.encode(), await request.body()))
    return IdempotencyKey(idempotency_key, blake2b(asked, digest_size=16).digest())


Idempotency = Annotated[IdempotencyKey | None, Depends(get_idempotency)]


async def get_if_match(
    if_match: Annotated[
        str | None,
        Header(
            description='The version that is to be changed, such as "3".',
            json_schema_extra={"pattern": r'^(\*|"?[0-9]{1,9}"?)$'},
        ),
    ] = None,
) -> int | None:
    """The version that the caller has seen; None for any."""
    if if_match is None or if_match.strip() == "*":
        return None
    digits = if_match.strip().strip('"')
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise InvalidInputError(FieldProblem("If-Match", 'must be an ETag such as "3"'))
    return int(digits)


IfMatch = Annotated[int | None, Depends(get_if_match)]


@dataclass(frozen=True, slots=True)
class PathId:
    """Reads the id in the path. What is no id of this kind is no item either: 404, like an unknown one."""

    kind: IdKind

    def __call__(self, item_id: Annotated[str, Path(alias="id")]) -> PublicId:
        """The id.

        Raises:
            NotFoundError: If it is malformed, or of another kind.
        """
        found = find_id(item_id, self.kind)
        if found is None:
            raise NotFoundError(f"no item {item_id}")
        return found


MemoryId = Annotated[PublicId, Depends(PathId(IdKind.MEMORY))]
EpisodeId = Annotated[PublicId, Depends(PathId(IdKind.EPISODE))]
ProcedureId = Annotated[PublicId, Depends(PathId(IdKind.PROCEDURE))]
SoulId = Annotated[PublicId, Depends(PathId(IdKind.SOUL))]
CorrectionId = Annotated[PublicId, Depends(PathId(IdKind.CORRECTION))]
ReceiptId = Annotated[PublicId, Depends(PathId(IdKind.RECEIPT))]
AssemblyId = Annotated[PublicId, Depends(PathId(IdKind.ASSEMBLY))]
TurnId = Annotated[PublicId, Depends(PathId(IdKind.TURN))]
MessageId = Annotated[PublicId, Depends(PathId(IdKind.MESSAGE))]
JobId = Annotated[PublicId, Depends(PathId(IdKind.JOB))]


async def get_session_id(
    caller: CallerDep,
    item_id: Annotated[str, Path(alias="id", description="Our id, or the platform's name with `space`.")],
    space: Annotated[
        SpaceName | None, Query(description="The session's space, to name it as the platform does.")
    ] = None,
) -> PublicId:
    """The session in the path.

    Raises:
        NotFoundError: If it is neither an id of ours, nor a name in a space.
    """
    if space is not None:
        where = caller.space(space)
        return PublicId(session_of(where, item_id), where.space_id, IdKind.SESSION)
    found = find_id(item_id, IdKind.SESSION)
    if found is None:
        raise NotFoundError(f"no session {item_id}; to name it as the platform does, name its space too")
    return found


SessionId = Annotated[PublicId, Depends(get_session_id)]
