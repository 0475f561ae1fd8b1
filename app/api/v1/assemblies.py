"""Assemblies: what was put into a prompt, and why; kept for some days."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, RuntimeDep
from app.api.v1.context import assembly_request, prompt_json, selection_json
from app.assembly.log import LogRow, Replayed, replay
from app.domain.callers import Caller
from app.domain.errors import FieldProblem, InvalidInputError, NotFoundError
from app.domain.ids import IdKind, find_id
from app.runtime import Runtime
from app.schemas.assemble import AssembleBody
from app.schemas.assemblies import AssemblyPage, LoggedReply, ReplayReply
from app.schemas.common import PAGE_ITEMS, PAGE_ITEMS_LIMIT, SpaceName, wire_time

router = APIRouter(prefix="/assemblies", tags=["assemblies"])


@router.get("", summary="List the assemblies of a space, newest first", response_model=AssemblyPage)
async def list_assemblies(
    runtime: RuntimeDep,
    caller: CallerDep,
    space: SpaceName,
    cursor: str | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE_ITEMS_LIMIT)] = PAGE_ITEMS,
) -> Response:
    before = None if cursor is None else find_id(cursor, IdKind.ASSEMBLY)
    if cursor is not None and before is None:
        raise InvalidInputError(FieldProblem("cursor", "must be a next_cursor of this list"))
    await runtime.recorder.settled()
    rows = await runtime.assembly_log.listing(caller.space(space), limit + 1, None if before is None else before.uuid)
    items = [_summary(row) for row in rows[:limit]]
    return _json({"items": items, "next_cursor": items[-1]["id"] if len(rows) > limit else None})


@router.get("/{assembly_id}", summary="Look at an assembly: its request, prompt and trace", response_model=LoggedReply)
async def read_assembly(assembly_id: str, runtime: RuntimeDep, caller: CallerDep) -> Response:
    row, replayed = await _replay(assembly_id, runtime, caller)
    return _json(
        {
            **_summary(row),
            "request": row.body,
            **prompt_json(replayed.assembly),
            **selection_json(replayed.assembly.selection),
            "timings_ms": row.outcome["timings_ms"],
            "erased": replayed.erased,
        }
    )


@router.post("/{assembly_id}/replay", summary="Render a logged assembly again", response_model=ReplayReply)
async def replay_assembly(assembly_id: str, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """The same bytes as the first time, unless something in it was erased since."""
    row, replayed = await _replay(assembly_id, runtime, caller)
    return _json(
        {
            "id": str(row.id),
            **prompt_json(replayed.assembly),
            "identical": replayed.identical,
            "erased": replayed.erased,
        }
    )


async def _replay(assembly_id: str, runtime: Runtime, caller: Caller) -> tuple[LogRow, Replayed]:
    await runtime.recorder.settled()
    row = await _find(assembly_id, runtime, caller)
    entries, blocks = await runtime.assembly_log.parts(caller.tenant_id, row)
    request = assembly_request(AssembleBody.model_validate(row.body), caller, row.created_at)
    return row, replay(row, request, entries, blocks, runtime.count)


async def _find(assembly_id: str, runtime: Runtime, caller: Caller) -> LogRow:
    """The log's row, if the key reaches every space that was read."""
    found = find_id(assembly_id, IdKind.ASSEMBLY)
    row = await runtime.assembly_log.find(caller.tenant_id, found) if found else None
    if row is None or not all(map(caller.may_touch, _spaces(row))):
        raise NotFoundError(f"no assembly {assembly_id}")
    return row


def _spaces(row: LogRow) -> tuple[str, ...]:
    return (row.body["space"], row.body["persona"] or row.body["space"], *row.body["also_read"])


def _summary(row: LogRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "space": row.space,
        "created_at": wire_time(row.created_at),
        "query": row.body["query"],
        "degraded": row.outcome["degraded"],
        "took_ms": row.outcome["timings_ms"]["total"],
    }


def _json(content: dict[str, Any]) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")
