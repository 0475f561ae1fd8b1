"""Turns, messages, sessions and jobs on the wire."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import orjson
from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, WithJsonSchema, model_validator

from app.corrections.records import Correction
from app.domain.entries import Author, Tier
from app.domain.evidence import Derived
from app.domain.ids import PublicId, parse_id
from app.domain.spaces import SpaceKey
from app.schemas.common import (
    PAGE_ITEMS,
    PAGE_ITEMS_LIMIT,
    IdCursor,
    Instant,
    Line,
    NameCursor,
    PageLimit,
    Query,
    ScopePath,
    SpaceName,
    Text,
    WireModel,
    wire_time,
)
from app.schemas.corrections import CorrectionReply, correction_json
from app.schemas.entries import AuthorBody
from app.turns.ports import Erasure, JobQuery, MessageQuery, SessionQuery
from app.turns.records import (
    SUBJECT_KIND,
    TURN_CHARS,
    Conversation,
    Job,
    JobState,
    Message,
    Session,
    Speaker,
    Task,
    Turn,
)
from app.turns.service import Posted, PostedTurn, session_position
from app.turns.sources import EntrySource, SourceState

TURN_MESSAGES = 200
HISTORY_DAYS_LIMIT = 36_500


def _is_platform(author: AuthorBody) -> AuthorBody:
    if author.platform is not None and ":" in author.platform:
        raise ValueError("a platform's name has no ':'")
    return author


_SpeakerBody = Annotated[AuthorBody, AfterValidator(_is_platform)]


class MediumBody(WireModel):
    """Something shown with a message."""

    kind: Line
    url: Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00\s]+$")] | None = None
    caption: Annotated[Query, Field(max_length=2_000)] | None = None


class PostedMessage(WireModel):
    """What one author said. Without a time it was said now; an `event` is what the platform reports."""

    id: Line | None = None
    author: _SpeakerBody | None = None
    role: Speaker = Speaker.USER
    text: Query = ""
    at: Instant | None = None
    mentions: Annotated[tuple[Line, ...], Field(max_length=64)] = ()
    media: Annotated[tuple[MediumBody, ...], Field(max_length=16)] = ()
    event: Line | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.text.strip() or self.media or self.event):
            raise ValueError("needs a text, media or an event")
        return self

    def to_domain(self) -> Posted:
        """As the use case has it."""
        return Posted(
            text=self.text,
            role=self.role,
            author=Author() if self.author is None else self.author.to_domain(),
            at=self.at,
            given_id=self.id,
            mentions=self.mentions,
            media=tuple(medium.model_dump(exclude_none=True) for medium in self.media),
            event=self.event,
        )


class ReplyBody(WireModel):
    """What the agent answered."""

    id: Line | None = None
    author: _SpeakerBody | None = None
    text: Text
    at: Instant | None = None

    def to_domain(self) -> Posted:
        """As the use case has it."""
        author = Author() if self.author is None else self.author.to_domain()
        return Posted(text=self.text, role=Speaker.ASSISTANT, author=author, at=self.at, given_id=self.id)


class TurnBody(WireModel):
    """One batch of messages, and the reply.

    `space` is one person's, `stream` is where many speak; one of them. Without a `session` one is made up.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "space": "user:42",
                    "session": "s-9",
                    "id": "turn-17",
                    "messages": [{"author": {"name": "Ana"}, "text": "I moved to Turin in May."}],
                    "reply": {"text": "How do you like it there?"},
                }
            ]
        }
    )

    id: Line | None = None
    space: SpaceName | None = None
    stream: SpaceName | None = None
    session: Line | None = None
    scope: ScopePath | None = Field(None, description="Where what is said holds, for the rest of its session.")
    messages: Annotated[tuple[PostedMessage, ...], Field(min_length=1, max_length=TURN_MESSAGES)]
    reply: ReplyBody | Text | None = None

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if (self.space is None) == (self.stream is None):
            raise ValueError("name either a space or a stream")
        if (self.space or "").startswith("lore:"):
            raise ValueError("what is said becomes no lore: space must be of another kind")
        if self.stream is not None and not self.stream.startswith("stream:"):
            raise ValueError("stream must be a space of the kind stream")
        if sum(len(message.text) for message in self._posted()) > TURN_CHARS:
            raise ValueError(f"all messages of a turn together have at most {TURN_CHARS} characters")
        ids = [(m.author.platform, m.given_id) for m in self._posted() if m.given_id is not None]
        if len(set(ids)) != len(ids):
            raise ValueError("two messages have the same id")
        return self

    def _posted(self) -> tuple[Posted, ...]:
        messages = tuple(message.to_domain() for message in self.messages)
        if self.reply is None:
            return messages
        reply = ReplyBody(text=self.reply) if isinstance(self.reply, str) else self.reply
        return (*messages, reply.to_domain())

    def to_domain(self) -> PostedTurn:
        """As the use case has it, with a fingerprint of all that was posted."""
        given = orjson.dumps(self.model_dump(mode="json", exclude_defaults=True), option=orjson.OPT_SORT_KEYS)
        return PostedTurn(
            space=self.space or self.stream or "",
            session=self.session,
            given_id=self.id,
            fingerprint=blake2b(given, digest_size=16).digest(),
            messages=self._posted(),
            scope=self.scope,
        )


class MessagePatch(WireModel):
    """What to change of a message."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "I moved to Turin in June."}]})

    text: Text


class MessageReply(WireModel):
    """A message."""

    id: str
    turn: str
    session: str
    space: str
    given_id: str | None
    author: AuthorBody | None
    role: Speaker
    text: str
    at: Instant
    recorded_at: Instant
    mentions: list[str]
    media: list[MediumBody]
    event: str | None
    version: int
    edited_at: Instant | None


class TurnReply(WireModel):
    """A turn that is stored; what is derived from it follows within a second or so."""

    id: str
    space: str
    session: str
    session_name: str | None
    conversation: str
    given_id: str | None
    scope: str
    said_at: Instant
    recorded_at: Instant
    messages: list[MessageReply]


class DerivedReply(WireModel):
    """An entry that came of a turn. `message` is the one that a memory rests on; null for an episode."""

    id: str
    space: str
    tier: Tier
    message: str | None


class TurnWithEntries(TurnReply):
    """A turn, and what came of it so far and is there; `corrections` tell what its people wished of their memory."""

    entries: list[DerivedReply]
    corrections: list[CorrectionReply]


class EntrySourceReply(WireModel):
    """A message that an entry comes of.

    `said`: as it is; `changed`: its text was edited since, or cut by what was forgotten; `deleted`: no word is left;
    `purged`: history is not kept for so long; `out_of_reach`: the key does not reach the space in which it was said.
    `position` counts the messages of its turn from 0; `message` is there while there is a text that may be read.
    """

    id: str
    turn: str | None
    position: int | None
    at: Instant | None
    state: SourceState
    message: MessageReply | None


class SourcesReply(WireModel):
    """The messages that an entry comes of, the latest first, 200 at most."""

    items: list[EntrySourceReply]


class ErasedMessagesReply(WireModel):
    """What a deletion removed; `jobs` take it out of everything derived."""

    id: str
    messages: int
    jobs: int


class SummaryReply(WireModel):
    """What a conversation was about."""

    text: str
    people: list[str]
    places: list[str]
    topics: list[str]
    sentiment: Literal["positive", "neutral", "negative", "mixed"]
    by_model: bool


class ConversationReply(WireModel):
    """What was said without a silence of half an hour. `episode` is the entry that holds its summary."""

    id: str
    started_at: Instant
    last_at: Instant
    closed_at: Instant | None
    summary: SummaryReply | None
    episode: str | None


class SessionReply(WireModel):
    """A platform's conversation in one space. `name` is the platform's own; `latest` begins what was said last."""

    id: str
    name: str | None
    space: str
    started_at: Instant
    last_at: Instant
    messages: int
    latest: str | None


class SessionWithConversations(SessionReply):
    """A session with its conversations, the latest first."""

    conversations: list[ConversationReply]


class RecentReply(WireModel):
    """What working memory holds of a session, oldest first."""

    items: list[MessageReply]


class EndedReply(WireModel):
    """How many conversations were closed; a worker summarises each."""

    id: str
    closed: int


class SessionsQuery(WireModel):
    """Which sessions to list, the latest first: those that went on at `from` or later, and had begun before `to`."""

    space: SpaceName
    since: Instant | None = Field(None, alias="from")
    until: Instant | None = Field(None, alias="to")
    limit: PageLimit = PAGE_ITEMS
    cursor: NameCursor | None = None

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.since and self.until and self.until <= self.since:
            raise ValueError("to must be after from")
        return self

    def to_domain(self, space: SpaceKey) -> SessionQuery:
        """As the use case has it, with one session more than the page."""
        before = None if self.cursor is None else session_position(self.cursor)
        return SessionQuery(space, self.limit + 1, before, self.since, self.until)


class MessagesQuery(WireModel):
    """Which past messages of a space to list, newest first; with a `query` those that have its words, best first."""

    space: SpaceName
    session: Line | None = None
    author: Line | None = Field(None, description="Whose: their id or their name, exactly.")
    query: Query = ""
    since: Instant | None = Field(None, alias="from")
    until: Instant | None = Field(None, alias="to")
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.since and self.until and self.until <= self.since:
            raise ValueError("to must be after from")
        if self.query.strip() and self.cursor is not None:
            raise ValueError("a search has one page: raise its limit")
        return self

    def to_domain(self, space: SpaceKey, session: UUID | None) -> MessageQuery:
        """As the use case has it, with one message more than the page where there is a next one."""
        limit = self.limit if self.query.strip() else self.limit + 1
        return MessageQuery(space, limit, session, (), self.since, self.until, self.cursor, self.author)


class JobReply(WireModel):
    """Work on a turn or conversation: `waiting` (also to be tried again), `running`, `succeeded` or `failed`, and why.

    `note` says whom a barrier kept out of personal memory, and what came of the corrections and wishes to be forgotten
    that were said, or why they were left alone.
    """

    id: str
    space: str
    task: Task
    subject: str
    state: JobState
    attempts: int
    error: str | None
    created_at: Instant
    tried_at: Instant | None
    note: str | None


class JobWithCorrections(JobReply):
    """A job; that of a turn's memories with what was put right, asked and forgotten because of the turn."""

    corrections: list[CorrectionReply]


def _subject_id(value: Any) -> PublicId:
    found = value if isinstance(value, PublicId) else parse_id(value) if isinstance(value, str) else None
    if found is None or found.kind not in SUBJECT_KIND.values():
        raise ValueError("must be the id of a turn or a conversation, such as trn_…")
    return found


_SubjectId = Annotated[
    PublicId, PlainValidator(_subject_id), WithJsonSchema({"type": "string", "pattern": "^(trn|cnv)_[0-9a-v]{52}$"})
]


class JobsQuery(WireModel):
    """Which jobs to list, newest first."""

    space: SpaceName | None = None
    state: JobState | None = None
    subjects: Annotated[tuple[_SubjectId, ...], Field(max_length=PAGE_ITEMS_LIMIT)] = Field(
        (), alias="subject", description="The turns and conversations that they work on."
    )
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None

    def to_domain(self) -> JobQuery:
        """As the use case has it, with one job more than the page."""
        spaces = None if self.space is None else (self.space,)
        return JobQuery(self.limit + 1, spaces, self.state, self.subjects, self.cursor)


class HistorySettingsBody(WireModel):
    """How long history is kept; null for the service's default."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"days": 90}]})

    days: Annotated[int, Field(ge=1, le=HISTORY_DAYS_LIMIT, strict=True)] | None


class HistoryReport(WireModel):
    """What the last purge that found something did. `archive` is the file it was moved to; null if it was not."""

    at: Instant
    turns: int
    messages: int
    archive: str | None


class HistorySettingsReply(WireModel):
    """How long this tenant's history is kept, and what the last purge did."""

    days: int
    is_default: bool
    last_purge: HistoryReport | None


def message_json(message: Message) -> dict[str, Any]:
    """A message as JSON has it."""
    author = message.author
    return {
        "id": str(message.id),
        "turn": str(message.turn),
        "session": str(message.session),
        "space": message.space,
        "given_id": message.given_id,
        "author": None if author == Author() else {"name": author.name, "platform": author.platform, "id": author.id},
        "role": message.role.value,
        "text": message.text,
        "at": wire_time(message.said_at),
        "recorded_at": wire_time(message.recorded_at),
        "mentions": list(message.mentions),
        "media": [dict(medium) for medium in message.media],
        "event": message.event,
        "version": message.version,
        "edited_at": message.edited_at and wire_time(message.edited_at),
    }


def sources_json(sources: Sequence[EntrySource]) -> dict[str, Any]:
    """What an entry comes of, as JSON has it."""
    return {
        "items": [
            {
                "id": str(source.id),
                "turn": source.turn and str(source.turn),
                "position": source.message and source.message.position,
                "at": source.said_at and wire_time(source.said_at),
                "state": source.state.value,
                "message": source.message and message_json(source.message),
            }
            for source in sources
        ]
    }


def messages_json(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages that still stand."""
    return [message_json(message) for message in messages if message.is_said]


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn as JSON has it."""
    return {
        "id": str(turn.id),
        "space": turn.space,
        "session": str(turn.session),
        "session_name": turn.session_name,
        "conversation": str(turn.conversation),
        "given_id": turn.given_id,
        "scope": turn.scope,
        "said_at": wire_time(turn.said_at),
        "recorded_at": wire_time(turn.recorded_at),
        "messages": messages_json(turn.messages),
    }


def derived_json(derived: Derived) -> dict[str, Any]:
    """An entry that came of a turn, as JSON has it."""
    message = derived.message
    return {
        "id": str(derived.id),
        "space": derived.space,
        "tier": derived.tier.value,
        "message": None if message is None else str(message),
    }


def turn_with_entries_json(turn: Turn, derived: Sequence[Derived], corrections: Sequence[Correction]) -> dict[str, Any]:
    """A turn with what came of it, as JSON has it."""
    came = {"entries": [derived_json(one) for one in derived], "corrections": list(map(correction_json, corrections))}
    return {**turn_json(turn), **came}


def session_json(session: Session) -> dict[str, Any]:
    """A session as JSON has it."""
    return {
        "id": str(session.id),
        "name": session.name,
        "space": session.space,
        "started_at": wire_time(session.started_at),
        "last_at": wire_time(session.last_at),
        "messages": session.messages,
        "latest": session.latest,
    }


def conversation_json(conversation: Conversation) -> dict[str, Any]:
    """A conversation as JSON has it."""
    return {
        "id": str(conversation.id),
        "started_at": wire_time(conversation.started_at),
        "last_at": wire_time(conversation.last_at),
        "closed_at": conversation.closed_at and wire_time(conversation.closed_at),
        "summary": conversation.summary,
        "episode": None if conversation.summary is None else str(conversation.episode),
    }


def erasure_json(item: object, erased: Erasure) -> dict[str, Any]:
    """What a deletion removed."""
    return {"id": str(item), "messages": erased.messages, "jobs": erased.jobs}


def job_json(job: Job) -> dict[str, Any]:
    """A job as JSON has it."""
    return {
        "id": str(job.id),
        "space": job.space,
        "task": job.task.value,
        "subject": str(job.subject),
        "state": job.state.value,
        "attempts": job.attempts,
        "error": job.error,
        "created_at": wire_time(job.created_at),
        "tried_at": job.tried_at and wire_time(job.tried_at),
        "note": job.note,
    }


def job_with_corrections_json(job: Job, corrections: Sequence[Correction]) -> dict[str, Any]:
    """A job with what was put right because of its turn, as JSON has it."""
    return {**job_json(job), "corrections": list(map(correction_json, corrections))}
