"""Memories, episodes and procedures on the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from app.domain.entries import Author, Cardinality, Category, Claim, Content, Entry
from app.schemas.common import (
    EntryId,
    Instant,
    Line,
    ScopePath,
    SpaceName,
    Tags,
    Text,
    UnitInterval,
    WireModel,
    wire_time,
)

BATCH_ENTRIES = 500


class ClaimBody(WireModel):
    """What a memory asserts. `cardinality` says whether the attribute holds one value or many."""

    subject: Line
    attribute: Line
    value: Line
    cardinality: Cardinality = Cardinality.ONE

    def to_domain(self) -> Claim:
        """As the domain has it."""
        return Claim(self.subject, self.attribute, self.value, self.cardinality)


class AuthorBody(WireModel):
    """Who said it. The platform's id is compared exactly, the name is a label."""

    name: Line | None = None
    platform: Line | None = None
    id: Line | None = None

    def to_domain(self) -> Author:
        """As the domain has it."""
        return Author(self.name, self.platform, self.id)


class _EntryFields(WireModel):
    """What every tier has."""

    text: Text
    tags: Tags = ()
    scope: ScopePath = ""
    importance: UnitInterval | None = None
    confidence: UnitInterval | None = None
    author: AuthorBody | None = None
    session: Line | None = None
    context: Text | None = None
    source: Line | None = None

    def to_content(self) -> Content:
        """As the domain has it."""
        given: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        given.pop("space", None)
        for name in ("claim", "author"):
            if given.get(name) is not None:
                given[name] = given[name].to_domain()
        return Content(**given)


class MemoryFields(_EntryFields):
    """A fact about somebody."""

    category: Category | None = None
    claim: ClaimBody | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None

    @model_validator(mode="after")
    def _validity(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            raise ValueError("valid_to must be after valid_from")
        return self


class EpisodeFields(_EntryFields):
    """Something that happened."""

    occurred_at: Instant | None = None
    participants: Annotated[tuple[Line, ...], Field(max_length=64)] = ()


class ProcedureFields(_EntryFields):
    """How to do something, and when it applies."""

    trigger: Line | None = None


class MemoryBody(MemoryFields):
    """A memory to create."""

    space: SpaceName


class EpisodeBody(EpisodeFields):
    """An episode to create."""

    space: SpaceName


class ProcedureBody(ProcedureFields):
    """A procedure to create."""

    space: SpaceName


class EntryReply(WireModel):
    """A version of an entry."""

    id: EntryId
    space: str
    tier: str
    version: int
    status: str
    text: str
    category: str | None = None
    tags: list[str]
    scope: str
    claim: ClaimBody | None = None
    claim_derived: bool
    importance: float | None
    confidence: float | None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    occurred_at: Instant | None = None
    participants: list[str]
    trigger: str | None = None
    author: AuthorBody | None = None
    session: str | None = None
    context: str | None = None
    source: str | None = None
    recorded_at: Instant
    first_recorded_at: Instant
    last_confirmed_at: Instant
    unresolved: bool
    superseded_by: EntryId | None = None
    reason: str
    superseded: list[EntryId] = []
    unresolved_with: list[EntryId] = []


def entry_json(entry: Entry) -> dict[str, Any]:
    """A version as JSON has it: the fields of EntryReply that its tier uses."""
    content = entry.content
    author = content.author
    claim = content.claim
    return {
        "id": str(entry.id),
        "space": entry.space,
        "tier": entry.tier.value,
        "version": entry.version,
        "status": entry.status.value,
        "text": content.text,
        "category": content.category,
        "tags": list(content.tags),
        "scope": content.scope,
        "claim": None
        if claim is None
        else {
            "subject": claim.subject,
            "attribute": claim.attribute,
            "value": claim.value,
            "cardinality": claim.cardinality.value,
        },
        "claim_derived": content.claim_derived,
        "importance": content.importance,
        "confidence": content.confidence,
        "valid_from": _time(content.valid_from),
        "valid_to": _time(content.valid_to),
        "occurred_at": _time(content.occurred_at),
        "participants": list(content.participants),
        "trigger": content.trigger,
        "author": author and {"name": author.name, "platform": author.platform, "id": author.id},
        "session": content.session,
        "context": content.context,
        "source": content.source,
        "recorded_at": wire_time(entry.recorded_at),
        "first_recorded_at": wire_time(entry.first_recorded_at),
        "last_confirmed_at": wire_time(entry.last_confirmed_at),
        "unresolved": entry.unresolved,
        "superseded_by": entry.superseded_by and str(entry.superseded_by),
        "reason": entry.reason,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else wire_time(moment)


class EntryPage(WireModel):
    """A page of entries, newest first. `next_cursor` continues it; null at the end."""

    items: list[EntryReply]
    next_cursor: str | None


class ErasedReply(WireModel):
    """What a deletion removed: rows by kind."""

    id: str
    removed: dict[str, int]


class OutcomeBody(WireModel):
    """How it went when a procedure was followed."""

    outcome: Literal["success", "failure"]
