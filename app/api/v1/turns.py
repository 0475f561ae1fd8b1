"""Turns: what was said, stored at once."""

from fastapi import APIRouter, Response

from app.api.deps import CallerDep, Idempotency, Now, RuntimeDep, TurnId
from app.api.replies import json_response
from app.schemas.turns import TurnBody, TurnReply, TurnWithEntries, turn_json, turn_with_entries_json

router = APIRouter(prefix="/turns", tags=["turns"])


@router.post("", status_code=202, summary="Store what was said", response_model=TurnReply)
async def post_turn(
    body: TurnBody, *, runtime: RuntimeDep, caller: CallerDep, now: Now, idempotency: Idempotency
) -> Response:
    """The next assembly of its session sees it. The same turn again, by its id or its messages', changes nothing."""
    turn = await runtime.turns.post(caller, body.to_domain(), now, idempotency)
    response = json_response(turn_json(turn), 202)
    response.headers["Location"] = f"/api/v1/turns/{turn.id}"
    return response


@router.get("/{id}", summary="Read a turn", response_model=TurnWithEntries)
async def read_turn(turn_id: TurnId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """With the entries that came of it so far, episodes first, and with what was put right and forgotten."""
    turn = await runtime.turns.get(caller, turn_id)
    derived = await runtime.turns.entries(caller, turn)
    corrections = await runtime.corrections.of_turn(caller, turn)
    return json_response(turn_with_entries_json(turn, derived, corrections))
