"""What turns need of the world."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from app.domain.entries import Content
from app.domain.evidence import Derived, Evidence, MessageVersion
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.extraction.records import Extracted, Said
from app.turns.records import Conversation, Job, JobState, Message, NewTurn, Session, Task, Turn
from app.turns.summary import Summary

NewId = Callable[[IdKind, UUID], PublicId]
"""Makes an id of a kind for an item of a space."""


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """Which messages of a space to list; None does not filter.

    Attributes:
        terms: What they must say, as hashed words: any of them, best first. Without, newest first.
        before: Continues a list that is newest first, exclusive.
        author: Whose, exactly: their id or their name.
    """

    space: SpaceKey
    limit: int
    session: UUID | None = None
    terms: tuple[int, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    before: UUID | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """Which sessions of a space to list, the latest first; None does not filter.

    Attributes:
        before: Continues the list: the last time and the id of its last session, exclusive.
        since: They went on then or later; `until`: they had begun before.
    """

    space: SpaceKey
    limit: int
    before: tuple[datetime, UUID] | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which jobs to list, newest first; None does not filter.

    Attributes:
        spaces: The only spaces to look at.
        subjects: The turns or conversations that they work on; empty does not filter.
        before: Continues the list, exclusive.
    """

    limit: int
    spaces: tuple[str, ...] | None = None
    state: JobState | None = None
    subjects: tuple[PublicId, ...] = ()
    before: UUID | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a deletion removed, and the jobs that take it out of everything derived."""

    messages: int
    jobs: int


class TurnStore(Protocol):
    """Keeps turns, each with its jobs in one transaction."""

    async def keep(self, turn: NewTurn, tasks: Sequence[Task], idempotency: IdempotencyKey | None) -> Turn | PublicId:
        """Store a turn, unless it is there; the stored turn, or the id of the one that was there.

        Raises:
            ConflictError: If another turn has its id, or one of its messages' ids.
            IdempotencyConflictError: If the key was used for another request.
            UnavailableError: If the store does not answer.
        """
        ...

    async def turn(self, tenant_id: UUID, turn_id: PublicId) -> Turn | None:
        """A turn with its messages, and those of the turn before it."""
        ...

    async def entries(self, turn: Turn, spaces: Sequence[SpaceKey]) -> tuple[Derived, ...]:
        """The entries of some spaces that came of a turn and are still there: episodes first."""
        ...

    async def message(self, tenant_id: UUID, message_id: PublicId) -> Message | None:
        """A message; one that was deleted is none."""
        ...

    async def messages_by_id(self, tenant_id: UUID, message_ids: Sequence[PublicId]) -> tuple[Message, ...]:
        """Messages of any spaces, those that were deleted included; in no order."""
        ...

    async def messages(self, query: MessageQuery) -> tuple[Message, ...]:
        """Messages of a space, newest first, or best first."""
        ...

    async def edit(
        self, tenant_id: UUID, message: Message, text: str, tasks: Sequence[Task], idempotency: IdempotencyKey | None
    ) -> Message:
        """Replace the text of the version that is given.

        Raises:
            PreconditionFailedError: If it is not the current one.
            NotFoundError: If it was deleted at the same moment.
        """
        ...

    async def delete(
        self, space: SpaceKey, tasks: Sequence[Task], *, message: UUID | None = None, session: UUID | None = None
    ) -> Erasure:
        """Take every word out of a message, or of all messages of a session."""
        ...

    async def sessions(self, query: SessionQuery) -> tuple[Session, ...]:
        """The sessions of a space, the latest first."""
        ...

    async def session(self, tenant_id: UUID, session: PublicId) -> Session | None:
        """A session with its conversations, the latest first."""
        ...

    async def close(self, space: SpaceKey, session: UUID) -> int:
        """Close the conversations of a session that are open, each to be summarised; how many."""
        ...

    async def close_silent(self, tenant_id: UUID, gap_s: float) -> int:
        """Close a tenant's conversations that have been silent for so long, likewise."""
        ...

    async def is_awaited(self, tenant_id: UUID, turn: PublicId) -> bool:
        """Whether earlier turns of the space are still to be remembered, and have been for no more than a minute."""
        ...

    async def conversation(
        self, tenant_id: UUID, conversation_id: PublicId
    ) -> tuple[Conversation, tuple[Message, ...], int] | None:
        """A conversation, all that was said in it in order, and its revision."""
        ...

    async def summarise(self, tenant_id: UUID, conversation_id: PublicId, summary: Mapping[str, Any] | None) -> None:
        """Keep a summary."""
        ...

    async def index(self, tenant_id: UUID, turn: Turn, terms: Mapping[PublicId, Mapping[int, float]]) -> bool:
        """Make the messages of a turn searchable by their words: hashed terms to frequencies.

        Returns:
            Whether the turn was still as it had been read; if not, nothing was done.
        """
        ...


class JobStore(Protocol):
    """The jobs of a tenant."""

    async def job(self, tenant_id: UUID, job_id: PublicId) -> Job | None:
        """A job."""
        ...

    async def jobs(self, tenant_id: UUID, query: JobQuery) -> tuple[Job, ...]:
        """Jobs, newest first."""
        ...

    async def retry(self, tenant_id: UUID, job: Job) -> None:
        """Queue a failed job again.

        Raises:
            ConflictError: If it has not failed.
        """
        ...


class Source(NamedTuple):
    """What an entry is derived from, as it was read: a turn, or a conversation, and its revision."""

    id: PublicId
    revision: int


class Keeper(Protocol):
    """Keeps derived entries."""

    async def keep(
        self, space: SpaceKey, entry_id: PublicId, content: Content | None, source: tuple[PublicId, int], *, erase: bool
    ) -> bool:
        """Bring an entry up to its source: made once, edited where it differs, erased for None.

        Args:
            erase: Whether earlier versions must not stay.

        Returns:
            Whether the source was still as it had been read; if not, nothing was done.
        """
        ...


class Rememberer(Protocol):
    """Keeps the memories that grow from what was said."""

    async def remember(
        self,
        space: SpaceKey,
        said: Sequence[Evidence],
        standing: frozenset[MessageVersion],
        source: tuple[PublicId, int],
        *,
        erase: bool,
    ) -> bool:
        """Bring the memories of a space up to what the messages of a turn say.

        Args:
            standing: The messages that were read; those that are missing say nothing any more.
            erase: Whether what was taken back must not stay in earlier versions.

        Returns:
            Whether the turn was still as it had been read; if not, nothing was done.
        """
        ...


class Reader(Protocol):
    """Finds what is worth remembering."""

    async def extract(self, tenant_id: UUID, messages: Sequence[Said], now: datetime) -> tuple[Extracted, ...]:
        """One result for each message, in their order."""
        ...


class WorkingMemory(Protocol):
    """The latest messages of each session, for a while."""

    async def recent(self, tenant_id: UUID, session: PublicId) -> tuple[Message, ...]:
        """Oldest first; without those that ran out or were deleted.

        Raises:
            UnavailableError: If it does not answer.
        """
        ...

    async def add(self, tenant_id: UUID, messages: Sequence[Message]) -> None:
        """Note messages that are stored. A memory that does not answer gets them with the next `refresh`."""
        ...

    async def forget(self, tenant_id: UUID, session: PublicId, messages: Sequence[PublicId] | None) -> None:
        """Drop messages of a session, or all; likewise."""
        ...

    async def refresh(self, tenant_id: UUID, session: PublicId) -> None:
        """Bring it up to what is stored.

        Raises:
            UnavailableError: If it does not answer.
        """
        ...


class Summariser(Protocol):
    """A language model that may summarise better."""

    async def summarise(
        self, tenant_id: UUID, plain: Summary, messages: Sequence[Message], now: datetime
    ) -> Summary | None:
        """A better summary than the extractive one; None if it refuses, fails, is late or talks nonsense."""
        ...


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What a job must do beyond bringing things up to date.

    Attributes:
        erase: Earlier versions of what is derived must not stay.
    """

    erase: bool = False


Handler = Callable[[UUID, PublicId, JobOptions], Awaitable[str | None]]
"""Does a task: tenant, subject, options. Returns what is to be said of it, if anything."""
