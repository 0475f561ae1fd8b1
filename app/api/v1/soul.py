"""Soul: the named pieces of an agent's identity. Editors write them; every key reads them."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, Idempotency, IfMatch, RuntimeDep, SoulId
from app.api.replies import json_response, page_response, versioned_response
from app.domain.soul import SoulBlock
from app.schemas.common import Page, VersionsQuery
from app.schemas.entries import ErasedReply
from app.schemas.soul import OrderBody, RestoreBody, SoulBody, SoulPatch, SoulQuery, SoulReply, block_json
from app.soul.ports import PlacedBlock

router = APIRouter(prefix="/soul", tags=["soul"])


@router.post("", status_code=201, summary="Create a soul block", response_model=SoulReply)
async def create_block(body: SoulBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency) -> Response:
    """The active blocks of a space must fit into the budget of the identity section, 500 tokens."""
    block = await runtime.soul.create(caller, body.space, body.to_draft(), idempotency)
    content = block_json(PlacedBlock(body.space, block))
    return versioned_response(content, block.version, location=f"/api/v1/soul/{block.id}")


@router.get("", summary="List the soul blocks of a space, in their order", response_model=Page[SoulReply])
async def list_blocks(query: Annotated[SoulQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    """All current blocks, inactive ones too, on one page."""
    return _blocks_response(query.space, await runtime.soul.blocks(caller.space(query.space)))


@router.post("/order", summary="Put the soul blocks of a space in an order", response_model=Page[SoulReply])
async def order_blocks(body: OrderBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency) -> Response:
    return _blocks_response(body.space, await runtime.soul.order(caller, body.space, body.ids, idempotency))


@router.get("/{id}", summary="Read a soul block", response_model=SoulReply)
async def read_block(block_id: SoulId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return _block_response(await runtime.soul.get(caller, block_id))


@router.patch("/{id}", summary="Edit, activate or deactivate a soul block", response_model=SoulReply)
async def edit_block(
    body: SoulPatch,
    block_id: SoulId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Writes a new version. Fields that are absent stay as they are."""
    placed = await runtime.soul.edit(caller, block_id, body.apply, if_version=if_version, idempotency=idempotency)
    return _block_response(placed)


@router.delete("/{id}", summary="Erase a soul block for good, all versions", response_model=ErasedReply)
async def delete_block(block_id: SoulId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch) -> Response:
    versions = await runtime.soul.delete(caller, block_id, if_version=if_version)
    return json_response({"id": str(block_id), "removed": {"versions": versions}})


@router.get("/{id}/versions", summary="List the versions of a soul block, newest first", response_model=Page[SoulReply])
async def list_block_versions(
    query: Annotated[VersionsQuery, Query()], block_id: SoulId, runtime: RuntimeDep, caller: CallerDep
) -> Response:
    found = await runtime.soul.history(caller, block_id, limit=query.limit + 1, before=query.cursor)
    return page_response(found, query.limit, block_json, lambda placed: placed.block.version)


@router.post("/{id}/restore", summary="Go back to an earlier version of a soul block", response_model=SoulReply)
async def restore_block(
    body: RestoreBody,
    block_id: SoulId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Writes a new version that equals the earlier one."""
    placed = await runtime.soul.restore(caller, block_id, body.version, if_version=if_version, idempotency=idempotency)
    return _block_response(placed)


def _block_response(placed: PlacedBlock) -> Response:
    return versioned_response(block_json(placed), placed.block.version)


def _blocks_response(space: str, blocks: Sequence[SoulBlock]) -> Response:
    return json_response({"items": [block_json(PlacedBlock(space, block)) for block in blocks], "next_cursor": None})
