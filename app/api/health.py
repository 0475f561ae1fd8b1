"""Health: whether the process lives, and whether it can work. Answers without a key."""

from fastapi import APIRouter, Response

from app.api.deps import RuntimeDep
from app.api.replies import json_response
from app.schemas.health import LiveReply, ReadyReply

router = APIRouter(prefix="/health", tags=["health"])


@router.get("/live", summary="Whether the process lives", response_model=LiveReply)
async def live() -> Response:
    """Always `ok`: restart the process when there is no answer."""
    return json_response({"status": "ok"})


@router.get("/ready", summary="Whether prompts can be assembled", response_model=ReadyReply)
async def ready(runtime: RuntimeDep) -> Response:
    """`degraded` while the embedder fails: search by keyword goes on. 503 without the database."""
    health = await runtime.probes.check()
    states = {"database": _state(works=health.database), "embedder": _state(works=health.embedder)}
    return json_response({"status": health.status, **states}, 200 if health.database else 503)


def _state(*, works: bool) -> str:
    return "ok" if works else "unavailable"
