"""Corrections and their questions."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from app.api.deps import CallerDep, CorrectionId, Idempotency, Now, RuntimeDep
from app.api.replies import json_response, page_response
from app.assembly.records import AssemblyRequest
from app.corrections.preview import amended
from app.corrections.records import Correction, Wanted
from app.corrections.view import view
from app.runtime import Runtime
from app.schemas.common import Page, SpaceName
from app.schemas.corrections import (
    ChoiceBody,
    CorrectionBody,
    CorrectionReply,
    CorrectionsQuery,
    ViewedReply,
    ViewQuery,
    correction_json,
    effect_json,
    viewed_json,
)

router = APIRouter(tags=["corrections"])

_PREVIEW_MS = 5_000


@router.post("/corrections", summary="Put something right, once and for all", response_model=CorrectionReply)
async def correct(
    body: CorrectionBody, *, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency, now: Now
) -> Response:
    """Saved where it was meant to hold, with what it replaced; or a question, if that matters and nobody said so."""
    wanted = body.to_domain(caller.space(body.space))
    if not body.dry_run:
        return json_response(correction_json(await runtime.corrections.correct(caller, wanted, idempotency)))
    correction = await runtime.corrections.correct(caller, wanted, dry_run=True)
    return json_response({**correction_json(correction), **await _effect(runtime, wanted, correction, now)})


async def _effect(runtime: Runtime, wanted: Wanted, correction: Correction, now: datetime) -> dict[str, Any]:
    """The next prompt about it, without the correction and with it."""
    about = next((entry.content.text for entry in correction.after), wanted.said or wanted.text or "")
    request = AssemblyRequest(
        space=wanted.space,
        persona=wanted.space,
        query=about,
        as_of=now,
        scopes=wanted.scopes or correction.scopes,
        timeout_ms=_PREVIEW_MS,
        record=False,
    )
    before = await runtime.assembly.assemble(request)
    after = await runtime.assembly.assemble(request, partial(amended, correction=correction))
    return effect_json(before, after)


@router.get(
    "/corrections", summary="List the corrections of a space, newest first", response_model=Page[CorrectionReply]
)
async def list_corrections(
    query: Annotated[CorrectionsQuery, Query()], runtime: RuntimeDep, caller: CallerDep
) -> Response:
    found = await runtime.corrections.listing(
        caller.space(query.space), limit=query.limit + 1, before=query.cursor, open_only=query.open
    )
    return page_response(found, query.limit, correction_json, lambda correction: correction.id.uuid)


@router.get("/corrections/{id}", summary="Read a correction", response_model=CorrectionReply)
async def read_correction(correction_id: CorrectionId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return json_response(correction_json(await runtime.corrections.get(caller, correction_id)))


@router.get(
    "/spaces/{space}/memories/view", summary="Show a person what is remembered", response_model=Page[ViewedReply]
)
async def view_memories(
    space: Annotated[SpaceName, Path()],
    query: Annotated[ViewQuery, Query()],
    runtime: RuntimeDep,
    caller: CallerDep,
) -> Response:
    """Text and scope in plain words, in English, Italian or Czech; what no longer holds is labelled so."""
    found = await runtime.views.viewed(
        caller.space(space), limit=query.limit + 1, before=query.cursor, standing=query.standing
    )
    shown = [view(entry, replaced_by, query.language) for entry, replaced_by in found]
    return page_response(shown, query.limit, viewed_json, lambda viewed: viewed.entry.id.uuid)


@router.post("/clarifications/{id}", summary="Answer the question of a correction", response_model=CorrectionReply)
async def clarify(
    body: ChoiceBody,
    correction_id: CorrectionId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    idempotency: Idempotency,
) -> Response:
    """Does what was wanted, where the answer says."""
    done = await runtime.corrections.clarify(caller, correction_id, body.to_domain(), idempotency)
    return json_response(correction_json(done))
