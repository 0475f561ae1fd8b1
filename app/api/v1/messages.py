"""Messages: the history, as people browse it, search it and take it back."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, Idempotency, IfMatch, MessageId, RuntimeDep
from app.api.replies import json_response, page_response, versioned_response
from app.schemas.common import Page
from app.schemas.turns import (
    ErasedMessagesReply,
    MessagePatch,
    MessageReply,
    MessagesQuery,
    erasure_json,
    message_json,
)
from app.turns.service import session_of

router = APIRouter(prefix="/messages", tags=["history"])


@router.get("", summary="List or search past messages", response_model=Page[MessageReply])
async def list_messages(query: Annotated[MessagesQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    """Newest first. With a `query`, those that have its words, best first, on one page."""
    space = caller.space(query.space)
    session = None if query.session is None else session_of(space, query.session)
    found = await runtime.turns.messages(query.to_domain(space, session), query.query)
    return page_response(found, query.limit, message_json, lambda message: message.id.uuid)


@router.get("/{id}", summary="Read a message", response_model=MessageReply)
async def read_message(message_id: MessageId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    message = await runtime.turns.message(caller, message_id)
    return versioned_response(message_json(message), message.version)


@router.patch("/{id}", summary="Edit a message, and all that is derived from it", response_model=MessageReply)
async def edit_message(
    body: MessagePatch,
    message_id: MessageId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Working memory has it at once; workers bring the rest along."""
    message = await runtime.turns.edit(caller, message_id, body.text, if_version=if_version, idempotency=idempotency)
    return versioned_response(message_json(message), message.version)


@router.delete(
    "/{id}", summary="Take a message back, also from all that is derived", response_model=ErasedMessagesReply
)
async def delete_message(
    message_id: MessageId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch
) -> Response:
    """No word of it stays. Workers erase it from episodes and summaries, earlier versions included."""
    erased = await runtime.turns.delete(caller, message_id, if_version=if_version)
    return json_response(erasure_json(message_id, erased))
