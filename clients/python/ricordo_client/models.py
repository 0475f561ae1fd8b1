"""What the service answers, as typed records. Fields that a later service adds are let pass."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Record(BaseModel):
    """A JSON object of the service."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Author(Record):
    """Who said it. The platform's id is compared exactly, the name is a label."""

    name: str | None = None
    platform: str | None = None
    id: str | None = None


class Claim(Record):
    """What a memory asserts."""

    subject: str
    attribute: str
    value: str
    cardinality: Literal["one", "many"] = "one"


class Said(Record):
    """Something said a moment ago, for `history`; the author `assistant` is the agent."""

    text: str
    author: str | None = None
    at: datetime | None = None


class Assembly(Record):
    """An assembled prompt.

    Attributes:
        id: Of the assembly; None for a fallback.
        degraded: What failed or was late; `service` for a fallback.
        failure: Why it is a fallback; None when the service answered.
        entries, dropped, timings_ms, plan: With `trace`.
    """

    id: str | None = None
    prompt: str
    tokens: dict[str, int] = {}
    conflicts: list[dict[str, Any]] = []
    degraded: list[str] = []
    dropped_counts: dict[str, int] = {}
    overridden: list[str] = []
    stable_prefix: dict[str, Any] | None = None
    took_ms: float | None = None
    entries: list[dict[str, Any]] | None = None
    dropped: list[dict[str, Any]] | None = None
    timings_ms: dict[str, float] | None = None
    plan: dict[str, Any] | None = None
    failure: str | None = None


class Entry(Record):
    """A version of a memory, an episode or a procedure; what its tier does not have is None or empty."""

    id: str
    space: str
    tier: Literal["memories", "episodes", "procedures"]
    version: int
    status: str
    text: str
    tags: list[str] = []
    scope: str = ""
    importance: float | None = None
    confidence: float | None = None
    author: Author | None = None
    session: str | None = None
    context: str | None = None
    source: str | None = None
    recorded_at: datetime
    first_recorded_at: datetime
    last_confirmed_at: datetime
    unresolved: bool = False
    superseded_by: str | None = None
    reason: str
    category: str | None = None
    claim: Claim | None = None
    claim_derived: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None
    participants: list[str] = []
    trigger: str | None = None
    superseded: list[str] = []
    unresolved_with: list[str] = []
    reinforced: bool = False


class Hit(Entry):
    """An entry that was found, with its relevance in [0, 1] (None without a query)."""

    relevance: float | None = None


class Found(Record):
    """What a search found, best first. `degraded` names what failed."""

    items: list[Hit]
    degraded: list[str] = []


class BatchItem(Record):
    """What became of one entry of a batch: 201 with the entry, 200 with a known one, or 422 with what is wrong."""

    index: int
    status: int
    entry: Entry | None = None
    errors: list[dict[str, str]] | None = None


class Batch(Record):
    """What became of every entry of a batch, in its order."""

    items: list[BatchItem]


class Message(Record):
    """A message of the history."""

    id: str
    turn: str
    session: str
    space: str
    given_id: str | None = None
    author: Author | None = None
    role: str
    text: str
    at: datetime
    recorded_at: datetime
    version: int
    edited_at: datetime | None = None


class Source(Record):
    """A message that an entry comes of.

    Attributes:
        position: Among the messages of its turn, from 0.
        state: `said`, `changed`, `deleted`, `purged` or `out_of_reach`.
        message: None unless there is a text that may be read.
    """

    id: str
    turn: str | None = None
    position: int | None = None
    at: datetime | None = None
    state: str
    message: Message | None = None


class Sources(Record):
    """The messages that an entry comes of, the latest first."""

    items: list[Source]


class Correction(Record):
    """What came of a correction.

    Attributes:
        told: The confirmation, the question or the reason, in plain words; it is in the next prompt too.
        before, after: The memories that gave way, as they were, and what holds now.
        options: Answers to the question: `key` and `label` of each.
        open: Whether the question waits for its answer.
        turn, message: Where it was said, if it was found in a conversation.
        receipt: Of what was forgotten.
    """

    id: str
    created_at: datetime
    outcome: str
    told: str
    scope: str = ""
    before: list[Entry] = []
    after: list[Entry] = []
    options: list[dict[str, str]] = []
    open: bool = False
    answered_by: str | None = None
    turn: str | None = None
    message: str | None = None
    receipt: str | None = None
    dry_run: bool = False


class Turn(Record):
    """A turn. When it is read: `entries` came of it so far, `corrections` were put right or forgotten because of it."""

    id: str
    space: str
    session: str
    session_name: str | None = None
    conversation: str
    given_id: str | None = None
    scope: str = ""
    said_at: datetime
    recorded_at: datetime
    messages: list[Message]
    corrections: list[Correction] = []
    entries: list[dict[str, Any]] = []


class Session(Record):
    """A platform's conversation in one space."""

    id: str
    name: str | None = None
    space: str
    started_at: datetime
    last_at: datetime
    messages: int
    latest: str | None = None
    conversations: list[dict[str, Any]] = []


class Recent(Record):
    """What working memory holds of a session, oldest first."""

    items: list[Message]


class Ended(Record):
    """How many conversations of a session were closed."""

    id: str
    closed: int


class Erased(Record):
    """What an erasure removed."""

    id: str
    removed: dict[str, int] = {}
    messages: int = 0
    jobs: int = 0


class SoulBlock(Record):
    """A version of a named piece of an agent's identity."""

    id: str
    space: str
    name: str
    text: str
    position: int
    active: bool
    version: int
    recorded_at: datetime
    reason: str


class Space(Record):
    """What is in a space. `created_at` is None before the first write."""

    name: str
    created_at: datetime | None = None
    entries: dict[str, int] = {}


class Key(Record):
    """What a key may do. `spaces` are the only ones it reaches; None for all of its tenant."""

    role: str
    spaces: list[str] | None
    expires_at: datetime | None


class Token(Record):
    """A short-lived key of one space, shown once."""

    token: str
    space: str
    role: str
    expires_at: datetime


class AssemblySummary(Record):
    """An assembly of the log."""

    id: str
    space: str
    created_at: datetime
    query: str
    degraded: list[str] = []
    took_ms: float


class LoggedAssembly(AssemblySummary):
    """An assembly of the log with its request, its prompt and what was selected."""

    prompt: str
    request: dict[str, Any]
    entries: list[dict[str, Any]] = []
    dropped: list[dict[str, Any]] = []
    timings_ms: dict[str, float] = {}


class Job(Record):
    """Work on what was said: `waiting`, `running`, `succeeded` or `failed`."""

    id: str
    space: str
    task: str
    subject: str
    state: str
    attempts: int
    error: str | None = None
    created_at: datetime
    tried_at: datetime | None = None
    note: str | None = None
    corrections: list[Correction] = []


class Forgotten(Record):
    """What was erased; or, when several entries have the very text, those: then nothing was."""

    outcome: str
    entries: int
    receipt: dict[str, Any] | None = None
    matches: list[dict[str, Any]] = []
    mentioned_in: list[str] = []


class Receipt(Record):
    """What an erasure removed: counts and ids, never a text. `digest` seals it with a key of the tenant."""

    id: str
    created_at: datetime
    kind: str
    by: str
    entries: int | None = None
    derived: int = 0
    ids: list[str] = []
    removed: dict[str, int] = {}
    digest: str
    dry_run: bool = False


class Verified(Record):
    """Whether a receipt is genuine (`sealed`) and nothing of what it says is gone is there (`remaining`)."""

    valid: bool
    sealed: bool
    remaining: dict[str, int] = {}


class StateRecord(Record):
    """A version of a record: structured state that outranks memories. `text` is what a prompt says of it."""

    id: str
    version: int
    space: str
    kind: str
    subjects: list[str] = []
    payload: dict[str, Any] = {}
    text: str
    claim: dict[str, str] | None = None
    status: str
    expires_at: datetime | None = None
    created_at: datetime
    recorded_at: datetime
    reason: str


class LivePlan(Record):
    """Whose memory is read for a batch of messages, and why."""

    viewers: list[dict[str, Any]]
    passed_over: list[str] = []
    episodes: dict[str, Any] = {}
    lore: dict[str, Any] = {}
    records: dict[str, Any] = {}
    reads_nothing: bool
    degraded: list[str] = []


class Replayed(Record):
    """A prompt that was rendered again: whether its bytes are `identical`, and how many parts were `erased`."""

    id: str
    prompt: str
    identical: bool
    erased: int


class Profile(Record):
    """What is remembered of somebody, by category; `text` is ready for a system prompt."""

    space: str
    categories: list[dict[str, Any]] = []
    text: str


class Viewed(Record):
    """A memory in plain words; `actions` says what its owner can do."""

    id: str
    text: str
    standing: str
    label: str
    scope: str
    where: str
    why: str
    recorded_at: datetime
    actions: dict[str, str] = {}


class Consolidated(Record):
    """What a consolidation did, or would do."""

    space: str
    dry_run: bool
    entries: int
    merged: int
    superseded: int
    archived: int
    undecided: int = 0
    changes: list[dict[str, Any]] = []


class HistorySettings(Record):
    """How long a tenant's history is kept, and what the last purge did."""

    days: int
    is_default: bool
    last_purge: dict[str, Any] | None = None


class Page(Record, Generic[T]):
    """A page of a list; `next_cursor` continues it."""

    items: list[T]
    next_cursor: str | None = None
