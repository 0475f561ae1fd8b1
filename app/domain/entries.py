"""Entries: what a space remembers, in three tiers, as append-only versions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from app.domain.ids import IdKind, PublicId

TEXT_CHARS = 20_000
TAGS = 32


class Tier(StrEnum):
    """What kind of thing an entry is: a fact about somebody, something that happened, how to do something."""

    MEMORIES = "memories"
    EPISODES = "episodes"
    PROCEDURES = "procedures"


TIER_OF_KIND = {
    IdKind.MEMORY: Tier.MEMORIES,
    IdKind.EPISODE: Tier.EPISODES,
    IdKind.PROCEDURE: Tier.PROCEDURES,
}
KIND_OF_TIER = {tier: kind for kind, tier in TIER_OF_KIND.items()}


class Category(StrEnum):
    """What a memory is about."""

    OUTPUT_PREFERENCE = "output_preference"
    PERSONAL_PREFERENCE = "personal_preference"
    ASSISTANT_PREFERENCE = "assistant_preference"
    KNOWLEDGE = "knowledge"
    INTEREST = "interest"
    DISLIKE = "dislike"
    RELATIONSHIP = "relationship"
    WORK = "work"
    GOAL = "goal"
    DECISION = "decision"
    PROJECT = "project"
    FACT = "fact"


PREFERENCE_CATEGORIES = (
    Category.OUTPUT_PREFERENCE,
    Category.PERSONAL_PREFERENCE,
    Category.ASSISTANT_PREFERENCE,
)


class Status(StrEnum):
    """Whether an entry is served. Only active ones are."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    ARCHIVED = "archived"


class Cardinality(StrEnum):
    """Whether an attribute holds one value at a time, or many."""

    ONE = "one"
    MANY = "many"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a memory asserts, in a form that can be compared.

    `subject` and `attribute` are compared after `claim_key` of `app/contradictions`;
    `value` likewise. Everything is kept as it was given.
    """

    subject: str
    attribute: str
    value: str
    cardinality: Cardinality = Cardinality.ONE


@dataclass(frozen=True, slots=True)
class Author:
    """Who said it: the name is a label, the platform's id is compared exactly."""

    name: str | None = None
    platform: str | None = None
    id: str | None = None


AGENT_AUTHORS: Final = frozenset({"assistant", "agent", "system", "tool", "ai", "bot"})
"""Names under which agents speak, in lower case."""


class Indexed(NamedTuple):
    """What search sees of an entry.

    Attributes:
        text: The text, after the trigger if there is one.
        context: What was said around it: helps to find a short text, and counts less.
    """

    text: str
    context: str = ""


def indexed(trigger: str | None, text: str, context: str | None) -> Indexed:
    """What search sees of an entry with these fields."""
    return Indexed(f"{trigger}\n{text}" if trigger else text, context or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a caller can say of an entry. Which fields a tier uses is the wire model's rule.

    Attributes:
        text: What is remembered, verbatim.
        category: Memories only.
        scope: Where in the space it holds; "" is everywhere.
        importance: In [0, 1]; None when the caller does not know.
        confidence: In [0, 1]; None when the caller does not know.
        valid_from: Since when a memory is true, if known.
        valid_to: Until when a memory is true, exclusive; None while it holds.
        occurred_at: When an episode happened, if known.
        trigger: When a procedure applies, in words.
        context: Indexed with the text, never rendered.
        source: Where it comes from: a free label such as a message id.
    """

    text: str
    category: Category | None = None
    tags: tuple[str, ...] = ()
    scope: str = ""
    claim: Claim | None = None
    claim_derived: bool = False
    importance: float | None = None
    confidence: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None
    participants: tuple[str, ...] = ()
    trigger: str | None = None
    author: Author | None = None
    session: str | None = None
    context: str | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("text must not be empty")
        for name in ("importance", "confidence"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {value}")
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            raise ValueError("valid_to must be after valid_from")

    @property
    def holds_from(self) -> datetime | None:
        """Since when it is there to be told: true, or happened; None if that is not known."""
        return self.occurred_at or self.valid_from

    @property
    def indexed(self) -> Indexed:
        """What search sees: text, trigger and context."""
        return indexed(self.trigger, self.text, self.context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One version of an entry, as stored.

    Attributes:
        version: 1 for the first; every change adds one.
        text_version: The version that introduced the indexed text.
        sequence: Position in the history of the space; strictly increasing, unlike clocks.
        recorded_at: When this version was recorded.
        last_confirmed_at: When somebody last said that it holds.
        unresolved: In conflict with another entry, and nothing decides which holds.
        superseded_by: The entry that holds instead, when status is superseded.
        merged_from: Entries that said the same and gave way to this one, by id: they keep where each comes from.
        reason: Why this version was written: created, edited, reinforced, superseded, unresolved, resolved, undo,
            outcome, merged, archived, restored, corrected, refused.
        corrected: Said to put something else right: it outranks what it replaced for good.
    """

    id: PublicId
    version: int
    text_version: int
    sequence: int
    tier: Tier
    space: str
    content: Content
    status: Status
    recorded_at: datetime
    first_recorded_at: datetime
    last_confirmed_at: datetime
    unresolved: bool = False
    superseded_by: PublicId | None = None
    merged_from: tuple[PublicId, ...] = ()
    reason: str = "created"
    corrected: bool = False

    @property
    def is_live(self) -> bool:
        """Whether this version may be served."""
        return self.status is Status.ACTIVE
