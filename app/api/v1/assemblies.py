"""Assemblies: what was put into a prompt, and why; kept for some days."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.assembling import assembly_request
from app.api.deps import AssemblyId, CallerDep, RuntimeDep
from app.api.replies import json_response, page_response
from app.api.v1.context import prompt_json, selection_json
from app.assembly.log import LogRow, Replayed, replay
from app.domain.callers import Caller
from app.domain.errors import NotFoundError
from app.domain.ids import PublicId
from app.runtime import Runtime
from app.schemas.assemble import AssembleBody
from app.schemas.assemblies import AssemblyQuery, AssemblySummary, LoggedReply, ReplayReply
from app.schemas.common import Page, wire_time

router = APIRouter(prefix="/assemblies", tags=["assemblies"])


@router.get("", summary="List the assemblies of a space, newest first", response_model=Page[AssemblySummary])
async def list_assemblies(query: Annotated[AssemblyQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    await runtime.recorder.settled()
    found = await runtime.assembly_log.listing(caller.space(query.space), query.limit + 1, query.cursor)
    return page_response(found, query.limit, _summary, lambda row: row.id.uuid)


@router.get("/{id}", summary="Look at an assembly: its request, prompt and trace", response_model=LoggedReply)
async def read_assembly(assembly_id: AssemblyId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    row, replayed = await _replay(assembly_id, runtime, caller)
    return json_response(
        {
            **_summary(row),
            "request": row.body,
            **prompt_json(replayed.assembly),
            **selection_json(replayed.assembly.selection),
            "timings_ms": row.outcome["timings_ms"],
            "erased": replayed.erased,
        }
    )


@router.post("/{id}/replay", summary="Render a logged assembly again", response_model=ReplayReply)
async def replay_assembly(assembly_id: AssemblyId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """The same bytes as the first time, unless something in it was erased since."""
    row, replayed = await _replay(assembly_id, runtime, caller)
    return json_response(
        {
            "id": str(row.id),
            **prompt_json(replayed.assembly),
            "identical": replayed.identical,
            "erased": replayed.erased,
        }
    )


async def _replay(assembly_id: PublicId, runtime: Runtime, caller: Caller) -> tuple[LogRow, Replayed]:
    await runtime.recorder.settled()
    row = await _find(assembly_id, runtime, caller)
    parts = await runtime.assembly_log.parts(caller.tenant_id, row)
    request = assembly_request(AssembleBody.model_validate(row.body), caller, row.created_at)
    return row, replay(row, request, parts, runtime.count)


async def _find(assembly_id: PublicId, runtime: Runtime, caller: Caller) -> LogRow:
    """The log's row, if the key reaches every space that was read."""
    row = await runtime.assembly_log.find(caller.tenant_id, assembly_id)
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
