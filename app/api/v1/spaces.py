"""Spaces: the isolated containers of one tenant's memory."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.api.deps import CallerDep, RuntimeDep
from app.api.replies import json_response, page_response
from app.schemas.common import Page, SpaceName
from app.schemas.spaces import SpaceReply, SpacesQuery, space_json

router = APIRouter(prefix="/spaces", tags=["spaces"])


@router.get("", summary="List the spaces that the key reaches, by name", response_model=Page[SpaceReply])
async def list_spaces(query: Annotated[SpacesQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    found = await runtime.spaces.listing(caller, limit=query.limit + 1, after=query.cursor)
    return page_response(found, query.limit, space_json, lambda summary: summary.name)


@router.get("/{space}", summary="Count what is in a space", response_model=SpaceReply)
async def read_space(space: Annotated[SpaceName, Path()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    """A space that nothing was written to is empty, not unknown."""
    return json_response(space_json(await runtime.spaces.summary(caller, space)))
