"""The main call on the wire."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from app.assembly.records import CANDIDATE_LIMIT, BudgetTokens, DropReason, Format, Message, Overrides, Section
from app.domain.entries import Tier
from app.schemas.common import EntryId, Instant, Line, Query, ScopePath, SpaceName, Tag, Text, UnitInterval, WireModel
from app.scoring.weights import WEIGHTS, ScoringWeights

BUDGET_LIMIT = 200_000
"""The most tokens that a budget may have: beyond the largest context windows."""

CANDIDATES_LIMIT = 1000
HISTORY_MESSAGES = 200
ALSO_READ = 8

Budget = Annotated[int, Field(ge=0, le=BUDGET_LIMIT, strict=True)]


class BudgetTokensBody(WireModel):
    """Tokens per part, tags included. 0 means none; null or absent means the default."""

    memories: Budget | None = None
    episodes: Budget | None = None
    procedures: Budget | None = None
    soul: Budget | None = None
    total: Budget | None = None

    def to_domain(self) -> BudgetTokens:
        """As the domain has it."""
        return BudgetTokens(**{name: value for name, value in self if value is not None})


class WeightsBody(WireModel):
    """Share of each signal; all five, each at least 0, together 1. For experiments."""

    relevance: UnitInterval
    importance: UnitInterval
    recency: UnitInterval
    frequency: UnitInterval
    confidence: UnitInterval

    @model_validator(mode="after")
    def _sum(self) -> Self:
        self.to_domain()
        return self

    def to_domain(self) -> ScoringWeights:
        """As the domain has it."""
        return ScoringWeights(**dict(self))


class OverridesBody(WireModel):
    """What one request changes of the defaults."""

    budget_tokens: BudgetTokensBody | None = None
    min_relevance: UnitInterval | None = None
    min_score: Annotated[float, Field(ge=0, le=10, strict=True, allow_inf_nan=False)] | None = None
    candidate_limit: Annotated[int, Field(ge=1, le=CANDIDATES_LIMIT, strict=True)] | None = None
    tag_boosts: (
        Annotated[
            dict[Tag, Annotated[float, Field(gt=0, le=10, strict=True, allow_inf_nan=False)]], Field(max_length=32)
        ]
        | None
    ) = None
    weights: WeightsBody | None = None
    must_include: Annotated[tuple[EntryId, ...], Field(max_length=50)] | None = None
    exclude: Annotated[tuple[EntryId, ...], Field(max_length=500)] | None = None

    def to_domain(self) -> Overrides:
        """As the domain has it, with the names of what was given."""
        return Overrides(
            budget_tokens=self.budget_tokens.to_domain() if self.budget_tokens else BudgetTokens(),
            min_relevance=self.min_relevance,
            min_score=self.min_score or 0.0,
            candidate_limit=self.candidate_limit or CANDIDATE_LIMIT,
            tag_boosts=self.tag_boosts or {},
            weights=self.weights.to_domain() if self.weights else WEIGHTS,
            must_include=frozenset(self.must_include or ()),
            exclude=frozenset(self.exclude or ()),
            names=tuple(sorted(name for name, value in self if value is not None)),
        )


class MessageBody(WireModel):
    """Something said in the conversation a moment ago."""

    author: Line | None = None
    text: Text
    at: Instant | None = None

    def to_domain(self) -> Message:
        """As the domain has it."""
        return Message(self.text, self.author, self.at)


class AssembleBody(WireModel):
    """What to assemble a prompt for."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"space": "user:42", "query": "What should I cook tonight?"}]}
    )

    space: SpaceName
    query: Query = ""
    also_read: Annotated[tuple[SpaceName, ...], Field(max_length=ALSO_READ)] = ()
    persona: SpaceName | None = None
    scopes: Annotated[tuple[ScopePath, ...], Field(max_length=16)] = ()
    history: Annotated[tuple[MessageBody, ...], Field(max_length=HISTORY_MESSAGES)] = ()
    session: Line | None = None
    as_of: Instant | None = None
    known_at: Instant | None = None
    format: Format = Format.XML
    timeout_ms: Annotated[int, Field(ge=1, le=60_000, strict=True)] = 1000
    record: Annotated[bool, Field(strict=True)] = True
    trace: Annotated[bool, Field(strict=True)] = False
    overrides: OverridesBody = OverridesBody()

    @model_validator(mode="after")
    def _one_history(self) -> Self:
        if self.session is not None and self.history:
            raise ValueError("session and history exclude each other: a session has its own history")
        return self


class TokensReply(WireModel):
    """Tokens of the prompt and of its parts."""

    total: int
    soul: int
    memories: int
    episodes: int
    procedures: int


class ConflictReply(WireModel):
    """A conflict: decided (`kept`, `superseded`, `why`) or open (`unresolved`, `question`)."""

    kept: EntryId | None = None
    superseded: EntryId | None = None
    why: str | None = None
    unresolved: list[EntryId] | None = None
    question: str | None = None


class SignalsReply(WireModel):
    """The five signals of a score, each in [0, 1]."""

    relevance: float
    importance: float
    recency: float
    frequency: float
    confidence: float


class KeptReply(WireModel):
    """An entry of the prompt; `tokens` is what its element takes."""

    id: EntryId
    tier: Tier
    section: Section
    space: str
    text: str
    score: float
    signals: SignalsReply
    tokens: int


class DroppedReply(WireModel):
    """What is not in the prompt, and why: an entry, or a soul block (with the tier `soul`)."""

    id: str
    tier: str
    reason: DropReason


class StablePrefixReply(WireModel):
    """The part of the prompt that stays the same between turns: its length in UTF-8 bytes, its hash."""

    bytes: int
    sha256: str


class AssembleReply(WireModel):
    """An assembled prompt. The last four fields come with `trace`."""

    id: str
    prompt: str
    tokens: TokensReply
    conflicts: list[ConflictReply]
    degraded: list[str]
    dropped_counts: dict[str, int]
    overridden: list[str]
    stable_prefix: StablePrefixReply
    took_ms: float
    entries: list[KeptReply] | None = None
    dropped: list[DroppedReply] | None = None
    timings_ms: dict[str, float] | None = None
    plan: dict[str, Any] | None = None
