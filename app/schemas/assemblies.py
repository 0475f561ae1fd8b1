"""Logged assemblies on the wire."""

from typing import Any

from app.schemas.assemble import ConflictReply, DroppedReply, KeptReply, StablePrefixReply, TokensReply
from app.schemas.common import PAGE_ITEMS, IdCursor, Instant, PageLimit, SpaceName, WireModel


class AssemblySummary(WireModel):
    """One assembly in a list."""

    id: str
    space: str
    created_at: Instant
    query: str
    degraded: list[str]
    took_ms: float


class AssemblyQuery(WireModel):
    """Which assemblies to list, newest first."""

    space: SpaceName
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None


class _Rendered(WireModel):
    """A prompt that was rendered again. `erased` counts the parts that are gone."""

    prompt: str
    tokens: TokensReply
    conflicts: list[ConflictReply]
    dropped_counts: dict[str, int]
    stable_prefix: StablePrefixReply
    erased: int


class LoggedReply(AssemblySummary, _Rendered):
    """An assembly with its request and trace."""

    request: dict[str, Any]
    entries: list[KeptReply]
    dropped: list[DroppedReply]
    timings_ms: dict[str, float]


class ReplayReply(_Rendered):
    """A replayed assembly. `identical` says whether the prompt has the bytes of the first time."""

    id: str
    identical: bool
