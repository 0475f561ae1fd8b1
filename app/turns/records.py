"""The records of what was said: turns, messages, sessions, conversations, and the jobs that work on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final
from uuid import UUID

from app.domain.entries import Author
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey

CONVERSATION_GAP: Final = timedelta(minutes=30)
"""A silence of this length ends a conversation."""

TURN_CHARS: Final = 100_000
"""What all messages of a turn may have together."""


class Speaker(StrEnum):
    """Who speaks, as far as memory cares. Only a user's words are personal."""

    USER = "user"
    ASSISTANT = "assistant"
    BOT = "bot"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """Something that was said, as it came.

    Attributes:
        given_id: The platform's id.
        event: What the platform reports (a subscription, a raid) instead of what somebody wrote.
        personal_space: The space of the author's own words, if they have one apart from the turn's.
    """

    id: UUID
    text: str
    role: Speaker
    said_at: datetime
    author: Author = field(default_factory=Author)
    given_id: str | None = None
    mentions: tuple[str, ...] = ()
    media: tuple[Mapping[str, Any], ...] = ()
    event: str | None = None
    personal_space: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn to be stored. The reply is its last message.

    Attributes:
        session: Where it was said; `session_name` is the platform's name for that.
        conversation: The id of the conversation that it begins, if it begins one.
        fingerprint: Of everything that was posted: tells a repetition from another turn under the same id.
        scope: Where it holds, and the session from now on; None for the session's own.
    """

    id: PublicId
    space: SpaceKey
    session: UUID
    session_name: str | None
    conversation: UUID
    given_id: str | None
    fingerprint: bytes
    said_at: datetime
    messages: tuple[NewMessage, ...]
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it is stored. One that was deleted has no word left."""

    id: PublicId
    turn: PublicId
    session: PublicId
    space: str
    position: int
    text: str
    role: Speaker
    said_at: datetime
    recorded_at: datetime
    author: Author
    given_id: str | None
    mentions: tuple[str, ...]
    media: tuple[Mapping[str, Any], ...]
    event: str | None
    personal_space: str | None
    version: int
    edited_at: datetime | None
    deleted_at: datetime | None

    @property
    def is_said(self) -> bool:
        """Whether it still stands."""
        return self.deleted_at is None

    @property
    def speaker(self) -> str:
        """How the author is called: by name, else by id, else by role."""
        return self.author.name or self.author.id or self.role.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as it is stored, with its messages in their order.

    Attributes:
        revision: One more with every change of a message.
        before: The messages of the turn before it in the same session; empty for the first.
        scope: Where in the space holds what is derived from it; "" is everywhere.
        barred: Spaces that its words stay out of, because records hold them; `""` is everybody's.
    """

    id: PublicId
    space: str
    session: PublicId
    session_name: str | None
    conversation: PublicId
    given_id: str | None
    said_at: datetime
    recorded_at: datetime
    revision: int
    messages: tuple[Message, ...]
    before: tuple[Message, ...] = ()
    scope: str = ""
    barred: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said in a session without a long silence.

    Attributes:
        closed_at: When it was found to be over; None while it goes on.
        summary: As `summary.py` writes it; None before.
        scope: The session's.
    """

    id: PublicId
    session: PublicId
    space: str
    started_at: datetime
    last_at: datetime
    closed_at: datetime | None
    summary: Mapping[str, Any] | None
    scope: str = ""

    @property
    def episode(self) -> PublicId:
        """The entry that holds its summary."""
        return PublicId(self.id.uuid, self.id.space_id, IdKind.EPISODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A platform's conversation in one space; over and over, with silences.

    Attributes:
        latest: The first 200 characters of what was said last.
    """

    id: PublicId
    name: str | None
    space: str
    started_at: datetime
    last_at: datetime
    messages: int
    latest: str | None
    conversations: tuple[Conversation, ...] = ()


class Task(StrEnum):
    """What a worker does. Each is independent of the others, and may run any number of times."""

    HISTORY = "history"
    EPISODE = "episode"
    PERSONAL = "personal"
    MEMORIES = "memories"
    SUMMARY = "summary"


class JobState(StrEnum):
    """How a job stands. One that failed is tried again only when somebody asks for it."""

    WAITING = "waiting"
    RUNNING = "running"
    """A worker has it in hand. Never stored: the queue knows."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to be queued.

    Attributes:
        space_id: Where its subject lies.
        subject: The turn or conversation that it works on.
        erase: Whether what was derived before must not stay in an earlier version.
        id: Of a job that is queued again; None for a new one.
    """

    space_id: UUID
    task: Task
    subject: UUID
    erase: bool = False
    id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work as its tenant sees it.

    Attributes:
        attempts: How often it was tried.
        error: Why the last attempt failed, in the queue's own words.
        tried_at: When it was tried last.
        note: What is to be said of what it did, if anything.
    """

    id: PublicId
    space: str
    task: Task
    subject: PublicId
    erase: bool
    state: JobState
    attempts: int
    error: str | None
    created_at: datetime
    tried_at: datetime | None
    note: str | None = None


def session_uuid(space: SpaceKey, name: str) -> UUID:
    """The id of a session that the platform names: derived, so that no look-up is needed to find it."""
    key = space.tenant_id.bytes + space.space_id.bytes
    return UUID(bytes=blake2b(name.encode(), digest_size=16, key=key, person=b"session").digest())


SUBJECT_KIND: Final = {
    Task.HISTORY: IdKind.TURN,
    Task.EPISODE: IdKind.TURN,
    Task.PERSONAL: IdKind.TURN,
    Task.MEMORIES: IdKind.TURN,
    Task.SUMMARY: IdKind.CONVERSATION,
}
"""What a task works on."""
