"""Health and metrics: whether the process lives, whether it can work, and how it does. They answer without a key."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from app.api.deps import RuntimeDep
from app.api.replies import json_response
from app.metrics import CONTENT_TYPE
from app.schemas.health import LiveReply, ReadyReply

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="Whether the process lives", response_model=LiveReply)
async def live() -> Response:
    """Always `ok`: restart the process when there is no answer."""
    return json_response({"status": "ok"})


@router.get("/health/ready", summary="Whether prompts can be assembled", response_model=ReadyReply)
async def ready(runtime: RuntimeDep) -> Response:
    """`degraded` while something else than the database fails: prompts are assembled. 503 without the database.

    `why` says which part is not well, and why.
    """
    health = await runtime.probes.check()
    parts = {"database": health.database, "embedder": health.embedder, "working_memory": health.working_memory}
    states = {name: _state(works=trouble is None) for name, trouble in parts.items()}
    reply = {"status": health.status, **states, "queue": health.queue_json, "why": health.why}
    return json_response(reply, 200 if health.database is None else 503)


@router.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse)
async def metrics(runtime: RuntimeDep) -> Response:
    """Counts and times of this process, and the queue's; of no tenant, space or person. docs/operating.md has them."""
    return Response(runtime.metrics.page(await runtime.read_metrics()), media_type=CONTENT_TYPE)


def _state(*, works: bool) -> str:
    return "ok" if works else "unavailable"
