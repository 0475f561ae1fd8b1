"""POST /v1/chat/completions: an existing application's calls to its model, with memory put in and the turn kept.

The application's own key goes to the model server as it came, and nowhere else. Ricordo's comes in `X-Ricordo-Key`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from httpx import Response as UpstreamResponse

from app.api.assembling import assemble
from app.api.authentication import PROXY_PATH
from app.api.deps import Now, RuntimeDep
from app.domain.callers import Caller
from app.domain.entries import TEXT_CHARS
from app.domain.errors import NotFoundError
from app.proxy.answer import AnswerReader
from app.proxy.conversation import USER, Conversation, Line, read_conversation, with_context
from app.runtime import Runtime, new_uuid
from app.schemas.assemble import HISTORY_MESSAGES, AssembleBody, MessageBody
from app.schemas.completions import Place, place_of
from app.schemas.turns import TurnBody

router = APIRouter()

_CALLER_LEFT = 499
"""Nobody reads it; the log and the metrics do not count it as a failure of ours."""

_TURN_LINES = 4
"""Messages of one turn that are kept: with the reply, the longest texts are as long as a turn may be."""


@router.post(f"{PROXY_PATH}/chat/completions", include_in_schema=False)
async def complete(request: Request, runtime: RuntimeDep, now: Now) -> Response:
    """Assemble the context, ask the model server, pass its answer on as it comes, and keep the turn afterwards."""
    if runtime.upstream is None:
        raise NotFoundError("this service has no model server behind it: RICORDO_UPSTREAM_URL is not set")
    content = await request.body()
    asked = _object(content)
    place = place_of(request.headers, asked.get("user"))
    conversation = read_conversation(asked)
    caller: Caller | None = request.state.caller
    own_headers: dict[str, str] = {"X-Ricordo-Degraded": "store"}
    if caller is not None:
        answered = await assemble(_assemble_body(place, conversation), runtime, caller, now)
        prompt = answered.assembled.assembly.prompt
        content = json.dumps(with_context(asked, prompt)).encode() if prompt else content
        degraded = ",".join(answered.assembled.degraded)
        own_headers = {"X-Ricordo-Assembly": str(answered.id), **({"X-Ricordo-Degraded": degraded} if degraded else {})}
    answer = await _while_wanted(request, runtime.upstream.ask(content, request.headers.items()))
    if answer is None:
        return Response(status_code=_CALLER_LEFT)
    keep = partial(_keep, runtime, _Turn(_key(request.headers), place, conversation, now))
    headers = {**runtime.upstream.headers(answer), **own_headers}
    return StreamingResponse(_passed_on(answer, keep), answer.status_code, headers)


async def _while_wanted(request: Request, asking: Coroutine[Any, Any, UpstreamResponse]) -> UpstreamResponse | None:
    """The model server's answer; None if the caller leaves before it begins: then nobody is to think on."""
    asked = asyncio.create_task(asking)
    left = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({asked, left}, return_when=asyncio.FIRST_COMPLETED)
        return await asked if asked.done() else None
    finally:
        for task in (asked, left):
            task.cancel()
        await asyncio.gather(asked, left, return_exceptions=True)


async def _left(request: Request) -> None:
    """Wait until the caller goes away; the body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _passed_on(answer: UpstreamResponse, keep: "partial[None]") -> AsyncIterator[bytes]:
    """The bytes of an answer as they come. What was heard of it is kept, also if nobody listens to the end."""
    reader = AnswerReader(streams=answer.headers.get("content-type", "").startswith("text/event-stream"))
    try:
        async for part in answer.aiter_raw():
            reader.feed(part)
            yield part
    finally:
        if answer.is_success:
            reader.end()
            keep(reader)
        await answer.aclose()


@dataclass(frozen=True, slots=True)
class _Turn:
    """What is needed to store a turn, but for the answer. The key stays no longer than until it is stored."""

    key: str
    place: Place
    conversation: Conversation
    now: datetime


def _keep(runtime: Runtime, asked: _Turn, reader: AnswerReader) -> None:
    """Have a turn stored soon. One that goes on with the result of a tool, or has no answer, is none yet."""
    place, conversation = asked.place, asked.conversation
    if reader.calls_tools or not reader.text.strip() or not conversation.said:
        return
    turn = TurnBody.model_validate(
        {
            "stream" if place.space.startswith("stream:") else "space": place.space,
            "session": place.session,
            "id": f"proxy:{new_uuid()}",  # a repetition after a lost answer of the database is the same turn
            "messages": [{"text": _storable(line.text)} for line in conversation.said[-_TURN_LINES:]],
            "reply": _storable(reader.text),
        }
    )

    async def post() -> None:
        caller = await runtime.keys.authenticate(asked.key)
        await runtime.turns.post(caller, turn.to_domain(), asked.now)

    runtime.afterwards.submit(post)


def _object(content: bytes) -> dict[str, Any]:
    """The body as an object; anything else is the model server's to refuse, and has no conversation in it."""
    try:
        read = json.loads(content)  # and not orjson: large numbers and odd characters have to come out as they went in
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _assemble_body(place: Place, conversation: Conversation) -> AssembleBody:
    history = conversation.before[-HISTORY_MESSAGES:]
    return AssembleBody(
        space=place.space,
        persona=place.persona,
        scopes=place.scopes,
        also_read=place.also_read,
        query=_storable(conversation.question),
        history=tuple(MessageBody(author=_author(line), text=_storable(line.text)) for line in history),
    )


def _author(line: Line) -> str | None:
    return None if line.role == USER else line.role


def _storable(text: str) -> str:
    """As much of a text as Ricordo takes."""
    return text[:TEXT_CHARS]


def _key(headers: Mapping[str, str]) -> str:
    return headers.get("X-Ricordo-Key", "").strip()
