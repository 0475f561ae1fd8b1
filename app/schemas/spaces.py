"""Spaces on the wire."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.consolidation.records import Action, Why
from app.consolidation.service import Report
from app.domain.entries import Category, Tier
from app.entries.ports import SpaceSummary
from app.profile.service import PER_CATEGORY, PER_CATEGORY_LIMIT, Profile, profile_text
from app.schemas.common import PAGE_ITEMS, EntryId, Instant, NameCursor, PageLimit, ScopePath, WireModel, wire_time
from app.schemas.entries import MemoryReply, entry_json

SCOPES = 8
SHOWN_CHARS = 200


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


class ConsolidateBody(WireModel):
    """How to consolidate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dry_run": True}]})

    dry_run: bool = Field(False, strict=True, description="Only say what would change and why.")


class ChangeReply(WireModel):
    """What became of an entry, or would: `kept` stays instead of it. Of texts the first 200 characters."""

    action: Action
    why: Why
    id: EntryId
    text: str
    kept: EntryId | None
    kept_text: str | None


class ConsolidateReply(WireModel):
    """What a consolidation did, or would do. `changes` lists the first thousand.

    `skipped` changes met entries that were changed meanwhile; `undecided` pairs contradict each other while nothing
    decides; of `outlines` texts were read anew.
    """

    space: str
    dry_run: bool
    entries: int
    merged: int
    superseded: int
    archived: int
    undecided: int
    skipped: int
    outlines: int
    centre_moved: bool
    changes: list[ChangeReply]


def report_json(space: str, report: Report, *, dry_run: bool) -> dict[str, Any]:
    """A report as JSON has it."""
    return {
        "space": space,
        "dry_run": dry_run,
        **report.figures,
        "centre_moved": report.centre,
        "changes": [
            {
                "action": change.action.value,
                "why": change.why.value,
                "id": str(change.entry),
                "text": change.text[:SHOWN_CHARS],
                "kept": None if change.kept is None else str(change.kept),
                "kept_text": change.kept_text and change.kept_text[:SHOWN_CHARS],
            }
            for change in report.changes
        ],
    }


class ProfileQuery(WireModel):
    """How much of a profile, and where the conversation is."""

    limit: Annotated[int, Field(ge=1, le=PER_CATEGORY_LIMIT, description="Memories of each category.")] = PER_CATEGORY
    scopes: Annotated[tuple[ScopePath, ...], Field(max_length=SCOPES)] = ()


class ProfilePartReply(WireModel):
    """The memories of one category, the most important first; `total` counts all."""

    category: Category | None
    total: int
    memories: list[MemoryReply]


class ProfileReply(WireModel):
    """What is remembered of somebody; `text` is ready for a system prompt."""

    space: str
    categories: list[ProfilePartReply]
    text: str


def profile_json(profile: Profile) -> dict[str, Any]:
    """A profile as JSON has it."""
    return {
        "space": profile.space,
        "categories": [
            {"category": part.category, "total": part.total, "memories": [entry_json(entry) for entry in part.memories]}
            for part in profile.parts
        ],
        "text": profile_text(profile),
    }
