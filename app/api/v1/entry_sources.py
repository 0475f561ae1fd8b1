"""Where an entry comes from: what the routes of the three tiers share."""

from fastapi import Response

from app.api.replies import json_response
from app.domain.callers import Caller
from app.domain.ids import PublicId
from app.runtime import Runtime
from app.schemas.turns import sources_json
from app.turns.sources import SOURCES


async def sources_response(runtime: Runtime, caller: Caller, entry_id: PublicId) -> Response:
    """The messages that an entry comes of."""
    entry, bases = await runtime.entries.bases(caller, entry_id, SOURCES)
    return json_response(sources_json(await runtime.turns.sources(caller, entry, bases)))
