"""How long history is kept."""

from typing import Any

from fastapi import APIRouter, Response

from app.api.deps import CallerDep, RuntimeDep
from app.api.replies import json_response
from app.schemas.turns import HistorySettingsBody, HistorySettingsReply
from app.turns.retention import Retention

router = APIRouter(prefix="/history", tags=["history"])


@router.get("/settings", summary="Read how long history is kept", response_model=HistorySettingsReply)
async def read_history_settings(runtime: RuntimeDep, caller: CallerDep) -> Response:
    """With what the last purge did."""
    return json_response(_json(await runtime.history.retention(caller)))


@router.put("/settings", summary="Change how long history is kept", response_model=HistorySettingsReply)
async def change_history_settings(body: HistorySettingsBody, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """For the whole tenant, so it takes an administrator whose key reaches all of it."""
    return json_response(_json(await runtime.history.keep_for(caller, body.days)))


def _json(retention: Retention) -> dict[str, Any]:
    return {"days": retention.days, "is_default": retention.is_default, "last_purge": retention.report}
