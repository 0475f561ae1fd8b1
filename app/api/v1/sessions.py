"""Sessions: conversations of a platform, each in one space."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, RuntimeDep, SessionId
from app.api.replies import json_response, page_response
from app.schemas.common import Page, wire_time
from app.schemas.turns import (
    EndedReply,
    ErasedMessagesReply,
    RecentReply,
    SessionReply,
    SessionsQuery,
    SessionWithConversations,
    conversation_json,
    erasure_json,
    messages_json,
    session_json,
)

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get("", summary="List the sessions of a space, the latest first", response_model=Page[SessionReply])
async def list_sessions(query: Annotated[SessionsQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    found = await runtime.turns.sessions(query.to_domain(caller.space(query.space)))
    return page_response(found, query.limit, session_json, lambda s: f"{wire_time(s.last_at)} {s.id.uuid}")


@router.get("/{id}", summary="Read a session with its conversations", response_model=SessionWithConversations)
async def read_session(session_id: SessionId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    session = await runtime.turns.session(caller, session_id)
    conversations = [conversation_json(conversation) for conversation in session.conversations]
    return json_response({**session_json(session), "conversations": conversations})


@router.get("/{id}/messages", summary="Read what working memory holds of a session", response_model=RecentReply)
async def read_recent_messages(session_id: SessionId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """Its latest messages, oldest first, as an assembly with this session sees them."""
    return json_response({"items": messages_json(await runtime.turns.recent(caller, session_id))})


@router.post("/{id}/end", summary="End a session's conversation", response_model=EndedReply)
async def end_session(session_id: SessionId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """A worker summarises it. The next turn of the session begins another one."""
    return json_response({"id": str(session_id), "closed": await runtime.turns.end(caller, session_id)})


@router.delete("/{id}", summary="Take back all that was said in a session", response_model=ErasedMessagesReply)
async def delete_session(session_id: SessionId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """As with a single message: workers erase it from all that is derived."""
    return json_response(erasure_json(session_id, await runtime.turns.delete_session(caller, session_id)))
