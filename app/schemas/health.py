"""Health on the wire."""

from typing import Literal

from app.schemas.common import WireModel


class LiveReply(WireModel):
    """The process lives."""

    status: Literal["ok"]


class QueueReply(WireModel):
    """How the queue of work on what was said stands.

    `slow`: something has been due for long; `stuck`: and no worker lives, or one died; `poisoned`: something failed for
    good, and waits for `POST /jobs/{id}/retry`.
    """

    state: Literal["ok", "slow", "stuck", "poisoned", "unavailable"]
    waiting: int
    oldest_seconds: float
    failed: int
    workers: int


class ReadyReply(WireModel):
    """What works. `why` has a sentence for each part that does not."""

    status: Literal["ok", "degraded", "unavailable"]
    database: Literal["ok", "unavailable"]
    embedder: Literal["ok", "unavailable"]
    working_memory: Literal["ok", "unavailable"]
    queue: QueueReply
    why: list[str]
