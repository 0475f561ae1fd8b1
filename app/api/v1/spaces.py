"""Spaces: the isolated containers of one tenant's memory."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response

from app.api.deps import CallerDep, Now, RuntimeDep
from app.api.replies import json_response, page_response
from app.profile.service import profile_text
from app.schemas.common import Page, SpaceName
from app.schemas.spaces import (
    ConsolidateBody,
    ConsolidateReply,
    ProfileQuery,
    ProfileReply,
    SpaceReply,
    SpacesQuery,
    profile_json,
    report_json,
    space_json,
)

router = APIRouter(prefix="/spaces", tags=["spaces"])

_AS_A_RULE = ConsolidateBody()


@router.get("", summary="List the spaces that the key reaches, by name", response_model=Page[SpaceReply])
async def list_spaces(query: Annotated[SpacesQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    found = await runtime.spaces.listing(caller, limit=query.limit + 1, after=query.cursor)
    return page_response(found, query.limit, space_json, lambda summary: summary.name)


@router.get("/{space}", summary="Count what is in a space", response_model=SpaceReply)
async def read_space(space: Annotated[SpaceName, Path()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    """A space that nothing was written to is empty, not unknown."""
    return json_response(space_json(await runtime.spaces.summary(caller, space)))


@router.get("/{space}/profile", summary="Read who this is, by category", response_model=ProfileReply)
async def read_profile(
    space: Annotated[SpaceName, Path()],
    query: Annotated[ProfileQuery, Query()],
    *,
    request: Request,
    runtime: RuntimeDep,
    caller: CallerDep,
    now: Now,
) -> Response:
    """What matters most of each category, and when it was last confirmed. `Accept: text/plain`: the text alone."""
    profile = await runtime.profile.read(caller, space, now, scopes=query.scopes, limit=query.limit)
    if request.headers.get("accept", "").startswith("text/plain"):
        return Response(profile_text(profile), media_type="text/plain; charset=utf-8")
    return json_response(profile_json(profile))


@router.post("/{space}/consolidate", summary="Put a space in order", response_model=ConsolidateReply)
async def consolidate_space(
    space: Annotated[SpaceName, Path()],
    runtime: RuntimeDep,
    caller: CallerDep,
    now: Now,
    body: Annotated[ConsolidateBody, Body()] = _AS_A_RULE,
) -> Response:
    """Merge what is said twice, supersede what no longer holds, archive what has faded; with `dry_run` only say so.

    Each change is a version with its reason, and can be undone.
    """
    report = await runtime.consolidation.consolidate(caller, space, now, dry_run=body.dry_run)
    return json_response(report_json(space, report, dry_run=body.dry_run))
