"""One assembly from any door: assembled, noted for the log, counted."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from app.assembly.log import Logged
from app.assembly.records import AssemblyRequest
from app.assembly.service import Assembled
from app.domain.callers import Caller
from app.domain.ids import IdKind, PublicId
from app.runtime import Runtime
from app.schemas.assemble import AssembleBody
from app.turns.service import session_of


@dataclass(frozen=True, slots=True)
class Answered:
    """An assembly, with the id under which it can be looked at."""

    id: PublicId
    request: AssemblyRequest
    assembled: Assembled


async def assemble(body: AssembleBody, runtime: Runtime, caller: Caller, now: datetime) -> Answered:
    """Build a prompt for a caller.

    Raises:
        ForbiddenError: If the key does not reach a space.
        NotFoundError: If a pinned entry is not there.
    """
    asked = assembly_request(body, caller, now)
    assembled = await runtime.assembly.assemble(asked)
    assembly_id = runtime.entries.new_id(IdKind.ASSEMBLY, asked.space.space_id)
    structlog.contextvars.bind_contextvars(assembly=str(assembly_id))
    runtime.traces.assembled(assembled.timings_ms)
    runtime.metrics.assembled(assembled.timings_ms, assembled.degraded)
    if asked.record:
        runtime.recorder.submit(Logged(assembly_id, now, asked, partial(body.model_dump, mode="json"), assembled))
    return Answered(assembly_id, asked, assembled)


def assembly_request(body: AssembleBody, caller: Caller, now: datetime) -> AssemblyRequest:
    """The request as the domain has it; every space is one that the caller may read."""
    space = caller.space(body.space)
    session = (
        None if body.session is None else PublicId(session_of(space, body.session), space.space_id, IdKind.SESSION)
    )
    return AssemblyRequest(
        space=space,
        session=session,
        query=body.query,
        as_of=body.as_of or body.known_at or now,
        also_read=tuple(caller.space(name) for name in dict.fromkeys(body.also_read) if name != body.space),
        persona=caller.space(body.persona or body.space),
        scopes=body.scopes,
        history=tuple(message.to_domain() for message in body.history),
        looks_back=body.as_of is not None or body.known_at is not None,
        known_at=body.known_at,
        format=body.format,
        timeout_ms=body.timeout_ms,
        record=body.record,
        overrides=body.overrides.to_domain(),
    )
