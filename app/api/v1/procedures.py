"""Procedures: how to do something, and when it applies."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, Idempotency, IfMatch, ProcedureId, RuntimeDep
from app.api.v1.entry_replies import (
    batch_response,
    created_response,
    effect_response,
    entries_response,
    entry_response,
    erased_response,
    versions_response,
)
from app.api.v1.entry_sources import sources_response
from app.domain.entries import Tier
from app.schemas.common import Page, VersionsQuery
from app.schemas.entries import (
    BatchReply,
    EntryQuery,
    ErasedReply,
    OutcomeBody,
    ProcedureBatch,
    ProcedureBody,
    ProcedurePatch,
    ProcedureReply,
    Rejected,
)
from app.schemas.turns import SourcesReply

router = APIRouter(prefix="/procedures", tags=["procedures"])


@router.post("", status_code=201, summary="Remember how something is done", response_model=ProcedureReply)
async def create_procedure(
    body: ProcedureBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency
) -> Response:
    (effect,) = await runtime.entries.create(caller, body.space, Tier.PROCEDURES, [body.to_content()], idempotency)
    return created_response(effect)


@router.post(
    "/batch", status_code=207, summary="Create up to 500 procedures", response_model=BatchReply[ProcedureReply]
)
async def create_procedures(
    body: ProcedureBatch, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency
) -> Response:
    """Entries that cannot be accepted are refused one by one; all others are written together."""
    contents = [fields.to_content() for fields in body.entries if not isinstance(fields, Rejected)]
    effects = await runtime.entries.create(caller, body.space, Tier.PROCEDURES, contents, idempotency)
    return batch_response(body.entries, effects)


@router.get("", summary="List the procedures of a space, newest first", response_model=Page[ProcedureReply])
async def list_procedures(query: Annotated[EntryQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    found = await runtime.entries.listing(query.to_listing(caller.space(query.space), Tier.PROCEDURES))
    return entries_response(found, query)


@router.get("/{id}", summary="Read a procedure", response_model=ProcedureReply)
async def read_procedure(procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return entry_response(await runtime.entries.get(caller, procedure_id))


@router.patch("/{id}", summary="Edit a procedure", response_model=ProcedureReply)
async def edit_procedure(
    body: ProcedurePatch,
    procedure_id: ProcedureId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Writes a new version. Fields that are absent stay as they are; null clears."""
    effect = await runtime.entries.edit(
        caller, procedure_id, body.apply, if_version=if_version, idempotency=idempotency
    )
    return effect_response(effect)


@router.delete("/{id}", summary="Erase a procedure for good, all versions and traces", response_model=ErasedReply)
async def delete_procedure(
    procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch
) -> Response:
    return erased_response(await runtime.entries.delete(caller, procedure_id, if_version=if_version))


@router.get(
    "/{id}/versions", summary="List the versions of a procedure, newest first", response_model=Page[ProcedureReply]
)
async def list_procedure_versions(
    query: Annotated[VersionsQuery, Query()], procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep
) -> Response:
    found = await runtime.entries.history(caller, procedure_id, limit=query.limit + 1, before=query.cursor)
    return versions_response(found, query)


@router.get("/{id}/sources", summary="List the messages that a procedure comes of", response_model=SourcesReply)
async def list_procedure_sources(procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return await sources_response(runtime, caller, procedure_id)


@router.post("/{id}/undo", summary="Undo the last change of a procedure", response_model=ProcedureReply)
async def undo_procedure(
    procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch, idempotency: Idempotency
) -> Response:
    """Writes a new version with the content of the one before; undoing twice redoes."""
    effect = await runtime.entries.undo(caller, procedure_id, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)


@router.post("/{id}/outcome", summary="Note how it went when a procedure was followed", response_model=ProcedureReply)
async def record_outcome(
    body: OutcomeBody, procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency
) -> Response:
    """Moves the procedure's confidence towards the share of successes."""
    success = body.outcome == "success"
    effect = await runtime.entries.record_outcome(caller, procedure_id, success=success, idempotency=idempotency)
    return effect_response(effect)


@router.post("/{id}/restore", summary="Bring an archived procedure back", response_model=ProcedureReply)
async def restore_procedure(
    procedure_id: ProcedureId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch, idempotency: Idempotency
) -> Response:
    """Writes a new version that is active and confirmed now."""
    effect = await runtime.entries.restore(caller, procedure_id, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)
