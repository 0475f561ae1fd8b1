"""Memories: facts about somebody."""

from fastapi import APIRouter, Response

from app.api.deps import CallerDep, Idempotency, RuntimeDep
from app.api.v1.entry_replies import created
from app.domain.entries import Tier
from app.schemas.entries import EntryReply, MemoryBody

router = APIRouter(prefix="/memories", tags=["memories"])


@router.post("", status_code=201, summary="Remember a fact", response_model=EntryReply)
async def create_memory(body: MemoryBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency) -> Response:
    (effect,) = await runtime.entries.create(caller, body.space, Tier.MEMORIES, [body.to_content()], idempotency)
    return created(effect)
