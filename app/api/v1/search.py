"""Search over the three tiers."""

from fastapi import APIRouter, Response

from app.api.deps import CallerDep, Now, RuntimeDep
from app.api.replies import json_response
from app.schemas.search import SearchBody, SearchReply, found_json

router = APIRouter(prefix="/search", tags=["search"])


@router.post("", summary="Search memories, episodes and procedures", response_model=SearchReply)
async def search_entries(body: SearchBody, runtime: RuntimeDep, caller: CallerDep, now: Now) -> Response:
    """Hybrid search, by meaning and by keyword. Filters apply before anything is cut off."""
    return json_response(found_json(await runtime.search.search(body.to_domain(caller, now))))
