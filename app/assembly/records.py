"""The records that travel between the stages of an assembly."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.assembly.outlines import Outline
from app.contradictions.detect import SimilarityBand, Statement
from app.contradictions.resolve import Supersession, Unresolved
from app.domain.entries import PREFERENCE_CATEGORIES, Category, Claim, Tier
from app.domain.ids import PublicId
from app.domain.records import Record
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey
from app.scoring.relevance import Calibration
from app.scoring.signals import Lasting, Signals
from app.scoring.support import Place
from app.scoring.weights import WEIGHTS, ScoringWeights

PREFERENCE_IMPORTANCE = 0.7
"""From this importance on, a preference is in every prompt."""

PREFERENCE_SHARE = 0.25
"""Preferences take at most this share of the memory budget."""

CANDIDATE_LIMIT = 100
"""Candidates that search brings up per tier, unless the request says otherwise."""


class Section(StrEnum):
    """A part of the prompt, in the order in which they stand there."""

    IDENTITY = "identity"
    PREFERENCES = "preferences"
    RELEVANT_FACTS = "relevant_facts"
    RECENT_CONTEXT = "recent_context"
    WORKFLOWS = "workflows"


SECTION_OF_TIER: Mapping[Tier, Section] = {
    Tier.MEMORIES: Section.RELEVANT_FACTS,
    Tier.EPISODES: Section.RECENT_CONTEXT,
    Tier.PROCEDURES: Section.WORKFLOWS,
}


class Format(StrEnum):
    """How the prompt is written."""

    XML = "xml"
    MARKDOWN = "markdown"
    PLAIN = "plain"


class DropReason(StrEnum):
    """Why a candidate is not in the prompt."""

    BUDGET = "budget"
    MIN_RELEVANCE = "min_relevance"
    MIN_SCORE = "min_score"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    COVERED_BY_HISTORY = "covered_by_history"
    CONTRADICTED_BY_HISTORY = "contradicted_by_history"
    OVERRIDDEN_BY_RECORD = "overridden_by_record"
    OUT_OF_SCOPE = "out_of_scope"
    EXPIRED = "expired"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class BudgetTokens:
    """Tokens that each part of the prompt may take, tags included; 0 means none.

    `total` caps all parts together, filled in the order of the prompt; None means no such cap.
    """

    memories: int = 2000
    episodes: int = 1000
    procedures: int = 500
    soul: int = 500
    total: int | None = None

    def of(self, tier: Tier) -> int:
        """The budget of a tier."""
        return {Tier.MEMORIES: self.memories, Tier.EPISODES: self.episodes, Tier.PROCEDURES: self.procedures}[tier]


@dataclass(frozen=True, slots=True)
class Message:
    """Something said in the conversation a moment ago.

    Attributes:
        space: The only space whose memories it can contradict; None for any.
        turn: The turn that it is part of, if that is known: its episode has the id of it and says nothing new.
    """

    text: str
    author: str | None = None
    at: datetime | None = None
    space: str | None = None
    turn: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What a request changes of the defaults. None keeps the default."""

    budget_tokens: BudgetTokens = field(default_factory=BudgetTokens)
    min_relevance: float | None = None
    min_score: float = 0.0
    candidate_limit: int = CANDIDATE_LIMIT
    tag_boosts: Mapping[str, float] = field(default_factory=dict)
    weights: ScoringWeights = WEIGHTS
    must_include: frozenset[PublicId] = frozenset()
    exclude: frozenset[PublicId] = frozenset()
    names: tuple[str, ...] = ()
    """Names of the fields that the request overrode, sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyRequest:
    """One prompt that is asked for.

    Attributes:
        space: Whose memory it is.
        query: The message to answer; empty asks for the profile.
        also_read: Further spaces, in the order in which they are rendered.
        persona: The space whose soul blocks are used.
        scopes: Where the conversation is; what holds elsewhere is not visible.
        history: Recent messages, oldest first.
        as_of: The moment the question is asked for.
        looks_back: Whether the caller named as_of or known_at.
        known_at: Only what was recorded by then; None for everything.
        session: Whose latest messages are the history, and count one use of an entry; None for neither.
        people: In a live chat: those whose memory is read, in their order, each with the name they go by.
        asked_outright: Spaces whose owners ask what is remembered of them.
    """

    space: SpaceKey
    query: str
    as_of: datetime
    also_read: tuple[SpaceKey, ...] = ()
    persona: SpaceKey
    scopes: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    looks_back: bool = False
    known_at: datetime | None = None
    session: PublicId | None = None
    format: Format = Format.XML
    timeout_ms: int = 1000
    record: bool = True
    overrides: Overrides = field(default_factory=Overrides)
    people: Mapping[str, str] = field(default_factory=dict)
    asked_outright: tuple[str, ...] = ()

    @property
    def spaces(self) -> tuple[SpaceKey, ...]:
        """The spaces that are read, the main one first."""
        return (self.space, *self.also_read)


@dataclass(slots=True, eq=False)
class Memo:
    """What the stages worked out from one version of an entry, each its own field.

    Candidates of that version may share it: it says how often a thing is worked out, never what comes of it.

    Attributes:
        fewest_tokens: That any rendering takes.
        element: The last rendering, after what it depended on.
        tokens: What it takes, likewise.
    """

    place: Place | None = None
    lasting: Lasting | None = None
    outline: Outline | None = None
    statement: Statement | None = None
    fewest_tokens: int | None = None
    element: tuple[object, str] | None = None
    tokens: tuple[object, int] | None = None


@dataclass(slots=True)
class Candidate:
    """An entry that search brought up, with what each arm saw. Never changed once it is made.

    Not frozen, and built by position where a request needs hundreds: by name it takes twice as long, and frozen twenty
    times. The fields of the entry come first, what search saw last.

    Attributes:
        cosine_similarity: Centred, in [-1, 1]; None if the dense arm did not see it.
        bm25_score: >= 0; None if no word matched.
        coverage: Share of the query's information that matched, in [0, 1]; None likewise.
        vector: Raw unit vector of shape (d,), for memories; None elsewhere.
        outline: What was read in the text when it was written (`outlines.py`), if that is known.
        is_preference: Brought up by the preference arm, whatever the query.
        is_standing: Brought up as part of the profile, and not by the query.
        superseded: Entries that this one has replaced.
        outdated_by: The entry that a pending proposal holds to be newer.
        session: The conversation that it comes from, if that is known.
        author: Whose words it holds, if that is known.
        memo: Filled by the stages.
    """

    id: PublicId
    version: int
    sequence: int
    space: str
    tier: Tier
    text: str
    scope: str
    recorded_at: datetime
    last_confirmed_at: datetime
    category: Category | None = None
    tags: tuple[str, ...] = ()
    claim: Claim | None = None
    importance: float | None = None
    confidence: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None
    trigger: str | None = None
    unresolved: bool = False
    outline: bytes | None = None
    superseded: tuple[PublicId, ...] = ()
    session: str | None = None
    author: str | None = None
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)
    uses: int = 0
    cosine_similarity: float | None = None
    bm25_score: float | None = None
    coverage: float | None = None
    is_preference: bool = False
    is_standing: bool = False
    vector: NDArray[np.floating] | None = field(default=None, compare=False)
    outdated_by: PublicId | None = None

    @property
    def is_lore(self) -> bool:
        """Whether it is canon, kept in a space of kind lore."""
        return self.space.startswith("lore:")

    @property
    def may_be_preference(self) -> bool:
        """Whether it belongs to the preferences, whatever the query."""
        return (
            self.category in PREFERENCE_CATEGORIES
            and self.importance is not None
            and self.importance >= PREFERENCE_IMPORTANCE
        )


class Notice(NamedTuple):
    """What the prompt tells of a correction once: what was saved, or a question."""

    id: PublicId
    text: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the store brought up in one round trip.

    Attributes:
        degraded: What is missing: `dense`, `lexical` or `store`; in a live chat the sources.
        unread: Spaces that could not be read.
        records: What holds, the latest first.
        below_floor: What is not relevant enough to be in the prompt, so that its text was left behind.
        models: The embedding model that serves each space, by the space's name.
        notices: Of corrections of the main space, oldest first.
    """

    candidates: tuple[Candidate, ...] = ()
    soul: tuple[SoulBlock, ...] = ()
    degraded: tuple[str, ...] = ()
    below_floor: tuple[PublicId, ...] = ()
    models: Mapping[str, int] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    unread: frozenset[str] = frozenset()
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class AssemblyRules:
    """What is fixed for a running service: the embedder's calibration and band, and the floor.

    `others` are those of the further models that serve spaces of the store.
    """

    calibration: Calibration
    band: SimilarityBand
    min_relevance: float
    others: "Mapping[int, AssemblyRules]" = field(default_factory=dict)

    def of(self, model_id: int | None) -> "AssemblyRules":
        """Those of a model; of one that is not known, the service's own."""
        return self.others.get(model_id, self) if model_id is not None else self


class Dropped(NamedTuple):
    """An entry that is not in the prompt, and why."""

    id: PublicId
    reason: DropReason


class Scored(NamedTuple):
    """A candidate with its signals and score."""

    candidate: Candidate
    signals: Signals
    score: float


class Selected(NamedTuple):
    """A scored candidate that is in the prompt.

    `tokens` is what its element takes, tags included.
    """

    scored: Scored
    section: Section
    tokens: int


class RemarkKind(StrEnum):
    """What the prompt says about the memory itself."""

    CONFLICT = "conflict"
    REPLACED_PREFERENCE = "replaced_preference"
    NOTHING_KNOWN = "nothing_known"
    SOURCE_UNAVAILABLE = "source_unavailable"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Remark:
    """One sentence about the memory itself; the entries it is about are in the prompt. Of a notice, its own id.

    `about` is the space whose memory it is about; empty for all that is read.
    """

    kind: RemarkKind
    ids: tuple[PublicId, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """What goes into the prompt, and what does not.

    Attributes:
        entries: In the order of the prompt.
        tokens: Tokens of `total`, `soul` and every tier, wrappers included; the total includes records and remarks.
        notices: Those that the remarks tell.
        records: In their order.
    """

    soul: tuple[SoulBlock, ...]
    dropped_soul: tuple[SoulBlock, ...]
    entries: tuple[Selected, ...]
    dropped: tuple[Dropped, ...]
    supersessions: tuple[Supersession, ...]
    unresolved: tuple[Unresolved, ...]
    remarks: tuple[Remark, ...]
    tokens: Mapping[str, int]
    notices: tuple[Notice, ...] = ()
    records: tuple[Record, ...] = ()

    @property
    def dropped_counts(self) -> dict[str, int]:
        """How many candidates were dropped, by reason; soul blocks that did not fit count as budget."""
        counts = Counter([dropped.reason for dropped in self.dropped])
        counts[DropReason.BUDGET] += len(self.dropped_soul)
        return dict(sorted((reason.value, count) for reason, count in counts.items() if count))


@dataclass(frozen=True, slots=True)
class Assembly:
    """A finished prompt.

    Attributes:
        stable_prefix: The part of the prompt that depends on neither query nor history.
    """

    prompt: str
    selection: Selection
    stable_prefix: str

    @property
    def tokens(self) -> Mapping[str, int]:
        """Tokens of the prompt and of its parts."""
        return self.selection.tokens
