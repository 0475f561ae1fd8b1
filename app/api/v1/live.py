"""POST /context/assemble/live and /context/plan: many voices at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import Any

import orjson
import structlog
from fastapi import APIRouter, Request, Response

from app.api.deps import CallerDep, Now, RuntimeDep
from app.api.replies import json_response
from app.api.v1.context import assembly_json
from app.assembly.log import Logged
from app.assembly.records import AssemblyRequest, Message
from app.domain.callers import Caller
from app.domain.ids import IdKind, PublicId
from app.live.planner import names_of
from app.live.records import Heard, LivePlan, Shared
from app.live.service import LiveAssembled, LiveRequest
from app.schemas.live import LiveBody, LivePlanBody, LivePlanReply, LiveReply
from app.schemas.turns import PostedMessage
from app.turns.documents import viewer_of
from app.turns.quoted import without_quoted_memory
from app.turns.records import Speaker
from app.turns.service import session_of

router = APIRouter(prefix="/context", tags=["context"])


@router.post(
    "/assemble/live",
    summary="Assemble the system prompt for a batch of messages by many people",
    response_model=LiveReply,
    response_model_exclude_unset=True,
)
async def assemble_live(body: LiveBody, request: Request, runtime: RuntimeDep, caller: CallerDep, now: Now) -> Response:
    """Decide whose memory the batch needs, read it side by side, and render one prompt, each fact under its owner.

    `Accept: text/plain` answers with the prompt alone.
    """
    asked = live_request(body, caller, now)
    live, is_first = await runtime.live.assemble(asked)
    assembly_id = runtime.entries.new_id(IdKind.ASSEMBLY, asked.base.space.space_id)
    structlog.contextvars.bind_contextvars(assembly=str(assembly_id))
    if is_first:
        runtime.traces.assembled(live.assembled.timings_ms)
        runtime.metrics.assembled(live.assembled.timings_ms, live.assembled.degraded, live=True)
    if asked.base.record and is_first:
        runtime.recorder.submit(
            Logged(assembly_id, now, live.request, partial(body.model_dump, mode="json"), live.assembled)
        )
    if request.headers.get("accept", "").startswith("text/plain"):
        return Response(live.assembled.assembly.prompt, media_type="text/plain; charset=utf-8")
    reply = {"id": str(assembly_id), **_reply_json(live, trace=body.trace)}
    return Response(orjson.dumps(reply), media_type="application/json")


@router.post("/plan", summary="Show what would be read for a batch, and why", response_model=LivePlanReply)
async def plan_context(body: LivePlanBody, runtime: RuntimeDep, caller: CallerDep, now: Now) -> Response:
    """Reads nobody's memory: only recent history and what the lore is about."""
    plan, degraded = await runtime.live.plan(live_request(body, caller, now))
    return json_response({**live_plan_json(plan), "degraded": list(degraded)})


def live_request(body: LivePlanBody, caller: Caller, now: datetime) -> LiveRequest:
    """The request as the domain has it; every space that it names is one that the caller may read.

    People whose space the key does not reach take part without memory.
    """
    stream = caller.space(body.stream)
    session = (
        None if body.session is None else PublicId(session_of(stream, body.session), stream.space_id, IdKind.SESSION)
    )
    full = body if isinstance(body, LiveBody) else None
    as_of = now if full is None or full.as_of is None else full.as_of
    named = body.persona.partition(":")[2] if body.persona else ""
    base = AssemblyRequest(
        space=stream,
        session=session,
        query="",
        as_of=as_of,
        persona=caller.space(body.persona or body.stream),
        scopes=body.scopes,
        history=tuple(_said(message, caller) for message in body.history if message.text.strip()),
        timeout_ms=body.timeout_ms,
    )
    if full is not None:
        base = replace(
            base,
            format=full.format,
            record=full.record,
            overrides=full.overrides.to_domain(),
            looks_back=full.as_of is not None,
        )
    return LiveRequest(
        base=base,
        batch=tuple(_heard(message, caller) for message in body.batch),
        lore=tuple(caller.space(name) for name in dict.fromkeys(body.lore)),
        agents=body.agents or ((named,) if named else ()),
        viewers=body.viewers,
        fingerprint=_fingerprint(body, caller),
    )


def replayed_request(body: LiveBody, caller: Caller, made_at: datetime, people: Sequence[str]) -> AssemblyRequest:
    """The request of a logged assembly, as far as rendering needs it."""
    asked = live_request(body, caller, made_at)
    names = names_of(asked.batch)
    return replace(
        asked.base,
        query="\n".join(message.own_words for message in asked.batch),
        people={space: names.get(space, "") for space in people},
    )


def _fingerprint(body: LivePlanBody, caller: Caller) -> bytes:
    """Equal for the same request of the same reach."""
    reach = "" if caller.spaces is None else "\n".join(sorted(caller.spaces))
    given = orjson.dumps([str(caller.tenant_id), reach, body.model_dump(mode="json")])
    return blake2b(given, digest_size=16).digest()


def _heard(message: PostedMessage, caller: Caller) -> Heard:
    posted = message.to_domain()
    viewer = viewer_of(posted.author, posted.role)
    return Heard(
        text=without_quoted_memory(posted.text),
        author=posted.author,
        role=posted.role,
        viewer=viewer if viewer is not None and caller.may_touch(viewer) else None,
        mentions=posted.mentions,
        has_media=bool(posted.media),
        event=posted.event,
        given_id=posted.given_id,
    )


def _said(message: PostedMessage, caller: Caller) -> Message:
    heard = _heard(message, caller)
    is_persons = heard.role is Speaker.USER and heard.event is None
    author = (heard.author.name or heard.author.id) if is_persons else Speaker.ASSISTANT.value
    return Message(heard.text, author, message.at, (heard.viewer or "") if is_persons else "")


def _reply_json(live: LiveAssembled, *, trace: bool) -> dict[str, Any]:
    reply = assembly_json(live.assembled, live.request, trace=trace)
    return {**reply, "plan": {**live_plan_json(live.plan), "sources": dict(live.sources)}} if trace else reply


def live_plan_json(plan: LivePlan) -> dict[str, Any]:
    """Whose memory and which sources are read, and why."""
    return {
        "viewers": [
            {
                "space": pick.space,
                "name": pick.name,
                "salience": pick.salience,
                "signals": [signal.value for signal in pick.signals],
                "reads": [source.value for source in pick.reads],
                "why": pick.why,
                "asks_outright": pick.asks_outright,
            }
            for pick in plan.picks
        ],
        "passed_over": list(plan.passed_over),
        "episodes": _source_json(plan.episodes),
        "lore": _source_json(plan.lore),
        "records": _source_json(plan.records),
        "reads_nothing": plan.reads_nothing,
    }


def _source_json(shared: Shared) -> dict[str, Any]:
    return {"read": shared.is_read, "why": shared.why}
