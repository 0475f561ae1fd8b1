"""Spaces on the wire."""

from typing import Any

from app.domain.entries import Tier
from app.entries.ports import SpaceSummary
from app.schemas.common import PAGE_ITEMS, Instant, NameCursor, PageLimit, WireModel, wire_time


class SpacesQuery(WireModel):
    """Which part of the spaces to list, by name."""

    limit: PageLimit = PAGE_ITEMS
    cursor: NameCursor | None = None


class EntryCounts(WireModel):
    """Active entries by tier."""

    memories: int
    episodes: int
    procedures: int


class SpaceReply(WireModel):
    """What is in a space. `created_at` is null before the first write."""

    name: str
    created_at: Instant | None
    entries: EntryCounts


def space_json(summary: SpaceSummary) -> dict[str, Any]:
    """A space as JSON has it."""
    return {
        "name": summary.name,
        "created_at": summary.created_at and wire_time(summary.created_at),
        "entries": {tier.value: summary.entries[tier] for tier in Tier},
    }
