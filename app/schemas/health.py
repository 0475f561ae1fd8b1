"""Health on the wire."""

from typing import Literal

from app.schemas.common import WireModel


class LiveReply(WireModel):
    """The process lives."""

    status: Literal["ok"]


class ReadyReply(WireModel):
    """What works."""

    status: Literal["ok", "degraded", "unavailable"]
    database: Literal["ok", "unavailable"]
    embedder: Literal["ok", "unavailable"]
