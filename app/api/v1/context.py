"""POST /context/assemble: the main call."""

from hashlib import sha256
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from app.api.assembling import assemble
from app.api.deps import CallerDep, Now, RuntimeDep
from app.assembly.plan import QueryPlan
from app.assembly.records import Assembly, AssemblyRequest, Dropped, Selected, Selection
from app.assembly.service import Assembled
from app.domain.entries import TIER_OF_KIND
from app.schemas.assemble import AssembleBody, AssembleReply

router = APIRouter(prefix="/context", tags=["context"])


@router.post(
    "/assemble",
    summary="Assemble the system prompt for one turn",
    response_model=AssembleReply,
    response_model_exclude_unset=True,
)
async def assemble_context(
    body: AssembleBody, request: Request, runtime: RuntimeDep, caller: CallerDep, now: Now
) -> Response:
    """Search the space, decide what matters for this message, and render the prompt.

    `Accept: text/plain` answers with the prompt alone.
    """
    answered = await assemble(body, runtime, caller, now)
    assembled = answered.assembled
    if request.headers.get("accept", "").startswith("text/plain"):
        return Response(assembled.assembly.prompt, media_type="text/plain; charset=utf-8")
    reply = {"id": str(answered.id), **assembly_json(assembled, answered.request, trace=body.trace)}
    return Response(orjson.dumps(reply), media_type="application/json")


def assembly_json(assembled: Assembled, request: AssemblyRequest, *, trace: bool) -> dict[str, Any]:
    """The reply without its id."""
    reply = {
        **prompt_json(assembled.assembly),
        "degraded": list(assembled.degraded),
        "overridden": list(request.overrides.names),
        "took_ms": assembled.timings_ms["total"],
    }
    if not trace:
        return reply
    return {
        **reply,
        **selection_json(assembled.assembly.selection),
        "timings_ms": dict(assembled.timings_ms),
        "plan": plan_json(assembled.plan),
    }


def prompt_json(assembly: Assembly) -> dict[str, Any]:
    """The prompt, and what there is to say of it as a whole."""
    selection = assembly.selection
    prefix = assembly.stable_prefix.encode()
    decided = [{"kept": str(s.kept), "superseded": str(s.superseded), "why": s.why} for s in selection.supersessions]
    unresolved = [{"unresolved": [str(i) for i in u.ids], "question": u.question} for u in selection.unresolved]
    return {
        "prompt": assembly.prompt,
        "tokens": dict(assembly.tokens),
        "conflicts": [*decided, *unresolved],
        "dropped_counts": selection.dropped_counts,
        "stable_prefix": {"bytes": len(prefix), "sha256": sha256(prefix).hexdigest()},
    }


def selection_json(selection: Selection) -> dict[str, Any]:
    """Every entry that is in the prompt, and every one that is not."""
    soul = [{"id": str(b.id), "tier": "soul", "reason": "budget"} for b in selection.dropped_soul]
    return {
        "entries": [_kept_json(e) for e in selection.entries],
        "dropped": [*soul, *(_dropped_json(d) for d in selection.dropped)],
    }


def _kept_json(selected: Selected) -> dict[str, Any]:
    candidate, signals = selected.scored.candidate, selected.scored.signals
    return {
        "id": str(candidate.id),
        "tier": candidate.tier.value,
        "section": selected.section.value,
        "space": candidate.space,
        "text": candidate.text,
        "score": round(selected.scored.score, 6),
        "signals": {
            "relevance": round(signals.relevance, 6),
            "importance": signals.importance,
            "recency": round(signals.recency, 6),
            "frequency": round(signals.frequency, 6),
            "confidence": signals.confidence,
        },
        "tokens": selected.tokens,
    }


def _dropped_json(dropped: Dropped) -> dict[str, Any]:
    return {"id": str(dropped.id), "tier": TIER_OF_KIND[dropped.id.kind].value, "reason": dropped.reason.value}


def plan_json(plan: QueryPlan) -> dict[str, Any]:
    """What was looked up."""
    return {
        "spaces": [space.name for space in plan.spaces],
        "persona": plan.persona.name,
        "scopes": list(plan.scopes),
        "terms": len(plan.terms),
        "candidate_limit": plan.candidate_limit,
        "looks_back": plan.looks_back,
        "asks_outright": plan.asks_outright,
    }
