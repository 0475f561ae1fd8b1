"""Memories: facts about somebody."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, Idempotency, IfMatch, MemoryId, RuntimeDep
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
    ErasedReply,
    MemoryBatch,
    MemoryBody,
    MemoryPatch,
    MemoryQuery,
    MemoryReply,
    Rejected,
)
from app.schemas.turns import SourcesReply

router = APIRouter(prefix="/memories", tags=["memories"])


@router.post(
    "",
    status_code=201,
    summary="Remember a fact",
    response_model=MemoryReply,
    responses={200: {"model": MemoryReply, "description": "Known already: the memory that says it was reinforced"}},
)
async def create_memory(body: MemoryBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency) -> Response:
    (effect,) = await runtime.entries.create(caller, body.space, Tier.MEMORIES, [body.to_content()], idempotency)
    return created_response(effect)


@router.post("/batch", status_code=207, summary="Create up to 500 memories", response_model=BatchReply[MemoryReply])
async def create_memories(
    body: MemoryBatch, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency
) -> Response:
    """Entries that cannot be accepted are refused one by one; all others are written together."""
    contents = [fields.to_content() for fields in body.entries if not isinstance(fields, Rejected)]
    effects = await runtime.entries.create(caller, body.space, Tier.MEMORIES, contents, idempotency)
    return batch_response(body.entries, effects)


@router.get("", summary="List the memories of a space, newest first", response_model=Page[MemoryReply])
async def list_memories(query: Annotated[MemoryQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    found = await runtime.entries.listing(query.to_listing(caller.space(query.space), Tier.MEMORIES))
    return entries_response(found, query)


@router.get("/{id}", summary="Read a memory", response_model=MemoryReply)
async def read_memory(memory_id: MemoryId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return entry_response(await runtime.entries.get(caller, memory_id))


@router.patch("/{id}", summary="Edit a memory", response_model=MemoryReply)
async def edit_memory(
    body: MemoryPatch,
    memory_id: MemoryId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Writes a new version. Fields that are absent stay as they are; null clears."""
    effect = await runtime.entries.edit(caller, memory_id, body.apply, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)


@router.delete("/{id}", summary="Erase a memory for good, all versions and traces", response_model=ErasedReply)
async def delete_memory(memory_id: MemoryId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch) -> Response:
    return erased_response(await runtime.entries.delete(caller, memory_id, if_version=if_version))


@router.get("/{id}/versions", summary="List the versions of a memory, newest first", response_model=Page[MemoryReply])
async def list_memory_versions(
    query: Annotated[VersionsQuery, Query()], memory_id: MemoryId, runtime: RuntimeDep, caller: CallerDep
) -> Response:
    found = await runtime.entries.history(caller, memory_id, limit=query.limit + 1, before=query.cursor)
    return versions_response(found, query)


@router.get("/{id}/sources", summary="List the messages that a memory comes of", response_model=SourcesReply)
async def list_memory_sources(memory_id: MemoryId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return await sources_response(runtime, caller, memory_id)


@router.post("/{id}/undo", summary="Undo the last change of a memory", response_model=MemoryReply)
async def undo_memory(
    memory_id: MemoryId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch, idempotency: Idempotency
) -> Response:
    """Writes a new version with the content of the one before; undoing twice redoes."""
    effect = await runtime.entries.undo(caller, memory_id, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)


@router.post("/{id}/restore", summary="Bring an archived memory back", response_model=MemoryReply)
async def restore_memory(
    memory_id: MemoryId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch, idempotency: Idempotency
) -> Response:
    """Writes a new version that is active and confirmed now."""
    effect = await runtime.entries.restore(caller, memory_id, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)
