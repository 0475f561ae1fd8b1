"""Memories, episodes and procedures on the wire."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, PlainValidator, ValidationError, model_validator

from app.domain.entries import Author, Cardinality, Category, Claim, Content, Entry, Status, Tier
from app.domain.errors import FieldProblem, InvalidInputError
from app.domain.spaces import SpaceKey
from app.entries.ports import Listing
from app.schemas.common import (
    PAGE_ITEMS,
    EntryId,
    IdCursor,
    Instant,
    Line,
    PageLimit,
    ScopePath,
    SpaceName,
    Tag,
    Tags,
    Text,
    UnitInterval,
    WireModel,
    wire_time,
)
from app.schemas.problems import FieldError, field_errors

BATCH_ENTRIES = 500
PARTICIPANTS = 64

Participants = Annotated[tuple[Line, ...], Field(max_length=PARTICIPANTS)]


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
    participants: Participants = ()


class ProcedureFields(_EntryFields):
    """How to do something, and when it applies."""

    trigger: Line | None = None


class MemoryBody(MemoryFields):
    """A memory to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "space": "user:42",
                    "text": "I am allergic to peanuts.",
                    "category": "fact",
                    "tags": ["food"],
                    "importance": 0.9,
                }
            ]
        }
    )

    space: SpaceName


class EpisodeBody(EpisodeFields):
    """An episode to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"space": "user:42", "text": "We cooked risotto together.", "occurred_at": "2026-01-31T18:30:00Z"}
            ]
        }
    )

    space: SpaceName


class ProcedureBody(ProcedureFields):
    """A procedure to create."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "space": "user:42",
                    "text": "Ask about allergies, then propose two dishes.",
                    "trigger": "asked for a recipe",
                }
            ]
        }
    )

    space: SpaceName


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry of a batch that cannot be accepted."""

    errors: tuple[FieldError, ...]


FieldsT = TypeVar("FieldsT", MemoryFields, EpisodeFields, ProcedureFields)


def _each_on_its_own(model: type[FieldsT], value: object) -> FieldsT | Rejected:
    """Read one entry of a batch; what is wrong with it spoils no other."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        return Rejected(tuple(field_errors(error.errors())))


_BATCH_SIZE = Field(min_length=1, max_length=BATCH_ENTRIES)


class MemoryBatch(WireModel):
    """Memories to create, all in one space."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"space": "user:42", "entries": [{"text": "I live in Turin."}, {"text": "I have two cats."}]}]
        }
    )

    space: SpaceName
    entries: Annotated[
        tuple[
            Annotated[
                MemoryFields | Rejected,
                PlainValidator(partial(_each_on_its_own, MemoryFields), json_schema_input_type=MemoryFields),
            ],
            ...,
        ],
        _BATCH_SIZE,
    ]


class EpisodeBatch(WireModel):
    """Episodes to create, all in one space."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"space": "user:42", "entries": [{"text": "We cooked risotto."}, {"text": "We watched a film."}]}
            ]
        }
    )

    space: SpaceName
    entries: Annotated[
        tuple[
            Annotated[
                EpisodeFields | Rejected,
                PlainValidator(partial(_each_on_its_own, EpisodeFields), json_schema_input_type=EpisodeFields),
            ],
            ...,
        ],
        _BATCH_SIZE,
    ]


class ProcedureBatch(WireModel):
    """Procedures to create, all in one space."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"space": "user:42", "entries": [{"text": "Back up first.", "trigger": "a new release"}]}]
        }
    )

    space: SpaceName
    entries: Annotated[
        tuple[
            Annotated[
                ProcedureFields | Rejected,
                PlainValidator(partial(_each_on_its_own, ProcedureFields), json_schema_input_type=ProcedureFields),
            ],
            ...,
        ],
        _BATCH_SIZE,
    ]


class _EntryPatch(WireModel):
    """What to change of an entry. Fields that are absent stay; null clears."""

    text: Text = Field(default_factory=str, description="Cannot be cleared.")
    tags: Tags | None = None
    scope: ScopePath | None = None
    importance: UnitInterval | None = None
    confidence: UnitInterval | None = None
    author: AuthorBody | None = None
    session: Line | None = None
    context: Text | None = None
    source: Line | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must change something")
        return self

    def apply(self, content: Content) -> Content:
        """The content once changed.

        Raises:
            InvalidInputError: If what comes out breaks a rule that holds between fields.
        """
        try:
            return replace(content, **self._changes())
        except ValueError as error:
            raise InvalidInputError(FieldProblem("body", str(error))) from error

    def _changes(self) -> dict[str, Any]:
        changes: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        for name in ("claim", "author"):
            if changes.get(name) is not None:
                changes[name] = changes[name].to_domain()
        changes |= {name: empty for name, empty in _CLEARED.items() if name in changes and changes[name] is None}
        return changes | ({"claim_derived": False} if "claim" in changes else {})


_CLEARED = {"tags": (), "scope": "", "participants": ()}
"""What null means where nothing is not null."""


class MemoryPatch(_EntryPatch):
    """What to change of a memory. Without a claim of its own (null), the text's is derived."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "I am allergic to peanuts and walnuts.", "importance": 1.0}]}
    )

    category: Category | None = None
    claim: ClaimBody | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None


class EpisodePatch(_EntryPatch):
    """What to change of an episode."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"participants": ["Ana", "Ben"]}]})

    occurred_at: Instant | None = None
    participants: Participants | None = None


class ProcedurePatch(_EntryPatch):
    """What to change of a procedure."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"trigger": "asked for a recipe or a menu"}]})

    trigger: Line | None = None


class EntryQuery(WireModel):
    """Which entries of a space to list, newest first."""

    space: SpaceName
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None
    tag: Tag | None = None
    scope: ScopePath | None = Field(None, description="Exactly this scope; empty for what holds everywhere.")
    status: Status | Literal["any"] = Status.ACTIVE
    unresolved: bool | None = Field(None, description="Only those that contradict another and nothing decides.")

    def to_listing(self, space: SpaceKey, tier: Tier) -> Listing:
        """As the use case has it, with one entry more than the page: it tells whether there are others."""
        return Listing(
            space=space,
            tier=tier,
            limit=self.limit + 1,
            before=self.cursor,
            statuses=None if self.status == "any" else (self.status,),
            category=getattr(self, "category", None),
            tag=self.tag,
            scope=self.scope,
            unresolved=self.unresolved,
        )


class MemoryQuery(EntryQuery):
    """Which memories of a space to list, newest first."""

    category: Category | None = None


class EntryReply(WireModel):
    """A version of an entry: what every tier has. The last two fields answer a write."""

    id: EntryId
    space: str
    tier: Tier
    version: int
    status: Status
    text: str
    tags: list[str]
    scope: str
    importance: float | None
    confidence: float | None
    author: AuthorBody | None
    session: str | None
    context: str | None
    source: str | None
    recorded_at: Instant
    first_recorded_at: Instant
    last_confirmed_at: Instant
    unresolved: bool
    superseded_by: EntryId | None
    merged_from: list[EntryId] = Field(description="Entries that said the same: they keep where each comes from.")
    reason: str
    corrected: bool
    superseded: list[EntryId] = Field(default_factory=list)
    unresolved_with: list[EntryId] = Field(default_factory=list)


class MemoryReply(EntryReply):
    """A version of a memory. `reinforced`: what was written was known already, and confirms this one."""

    reinforced: bool = False

    category: Category | None
    claim: ClaimBody | None
    claim_derived: bool
    valid_from: Instant | None
    valid_to: Instant | None


class EpisodeReply(EntryReply):
    """A version of an episode."""

    occurred_at: Instant | None
    participants: list[str]


class ProcedureReply(EntryReply):
    """A version of a procedure."""

    trigger: str | None


ReplyT = TypeVar("ReplyT")


class BatchItem(WireModel, Generic[ReplyT]):
    """What became of one entry of a batch: 201 with the entry, 200 with a known one, or 422 with what is wrong."""

    index: int
    status: Literal[200, 201, 422]
    entry: ReplyT | None = None
    errors: list[FieldError] | None = None


class BatchReply(WireModel, Generic[ReplyT]):
    """What became of every entry of a batch, in its order."""

    items: list[BatchItem[ReplyT]]


def entry_json(entry: Entry) -> dict[str, Any]:
    """A version as JSON has it: the fields of its tier's reply."""
    content = entry.content
    author = content.author
    return {
        "id": str(entry.id),
        "space": entry.space,
        "tier": entry.tier.value,
        "version": entry.version,
        "status": entry.status.value,
        "text": content.text,
        **_OF_TIER[entry.tier](content),
        "tags": list(content.tags),
        "scope": content.scope,
        "importance": content.importance,
        "confidence": content.confidence,
        "author": author and {"name": author.name, "platform": author.platform, "id": author.id},
        "session": content.session,
        "context": content.context,
        "source": content.source,
        "recorded_at": wire_time(entry.recorded_at),
        "first_recorded_at": wire_time(entry.first_recorded_at),
        "last_confirmed_at": wire_time(entry.last_confirmed_at),
        "unresolved": entry.unresolved,
        "superseded_by": entry.superseded_by and str(entry.superseded_by),
        "merged_from": [str(merged) for merged in entry.merged_from],
        "reason": entry.reason,
        "corrected": entry.corrected,
    }


def _memory_json(content: Content) -> dict[str, Any]:
    claim = content.claim
    return {
        "category": content.category,
        "claim": None
        if claim is None
        else {
            "subject": claim.subject,
            "attribute": claim.attribute,
            "value": claim.value,
            "cardinality": claim.cardinality.value,
        },
        "claim_derived": content.claim_derived,
        "valid_from": _time(content.valid_from),
        "valid_to": _time(content.valid_to),
    }


def _episode_json(content: Content) -> dict[str, Any]:
    return {"occurred_at": _time(content.occurred_at), "participants": list(content.participants)}


def _procedure_json(content: Content) -> dict[str, Any]:
    return {"trigger": content.trigger}


_OF_TIER = {Tier.MEMORIES: _memory_json, Tier.EPISODES: _episode_json, Tier.PROCEDURES: _procedure_json}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else wire_time(moment)


class ErasedReply(WireModel):
    """What a deletion removed: rows by kind."""

    id: str
    removed: dict[str, int]


class OutcomeBody(WireModel):
    """How it went when a procedure was followed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"outcome": "success"}]})

    outcome: Literal["success", "failure"]
