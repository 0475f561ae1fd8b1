"""The records of a live assembly: what was said in a batch, and what is to be read for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.domain.entries import Author
from app.turns.records import Speaker

VIEWERS = 3
"""Whose memory is read, unless the request says otherwise."""

VIEWERS_LIMIT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message of a batch.

    Attributes:
        viewer: The space of its author; None for bots, agents and whoever cannot be told.
        event: What the platform reports instead of what somebody wrote.
        given_id: The platform's id of the message.
    """

    text: str
    author: Author = field(default_factory=Author)
    role: Speaker = Speaker.USER
    viewer: str | None = None
    mentions: tuple[str, ...] = ()
    has_media: bool = False
    event: str | None = None
    given_id: str | None = None

    @property
    def own_words(self) -> str:
        """What the author wrote; nothing for what a platform reports."""
        return "" if self.event is not None or self.role is not Speaker.USER else self.text.strip()


class Signal(StrEnum):
    """What can be observed of somebody in a batch, heaviest first."""

    ASKS_TO_REMEMBER = "asks_to_remember"
    PLATFORM_EVENT = "platform_event"
    ADDRESSES_AGENT = "addresses_agent"
    QUESTION = "question"
    MEDIA = "media"
    MENTIONED = "mentioned"
    TOOK_PART = "took_part"


WEIGHTS: Mapping[Signal, int] = {
    Signal.ASKS_TO_REMEMBER: 64,
    Signal.PLATFORM_EVENT: 16,
    Signal.ADDRESSES_AGENT: 16,
    Signal.QUESTION: 8,
    Signal.MEDIA: 4,
    Signal.MENTIONED: 2,
    Signal.TOOK_PART: 1,
}
"""Each heavier than all lighter ones together; events and addressing the agent weigh the same."""

LEAST_SALIENCE = WEIGHTS[Signal.MEDIA]
"""From this on somebody's memory is read: being mentioned and taking part are not enough."""


class Source(StrEnum):
    """Where memory comes from."""

    PROFILE = "profile"
    RECALL = "recall"
    EPISODES = "episodes"
    LORE = "lore"
    RECORDS = "records"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """Somebody whose memory may be read.

    Attributes:
        space: Whose it is; unique in a plan.
        name: As they were called last in the batch: a label.
        salience: The weights of the signals together.
        query: Their own words of the batch, in order.
        reads: `profile` and `recall`, or nothing; with the reasons in `why`.
        asks_outright: Whether they ask what is remembered.
    """

    space: str
    name: str
    salience: int
    signals: tuple[Signal, ...]
    query: str
    reads: tuple[Source, ...]
    why: str
    asks_outright: bool


@dataclass(frozen=True, slots=True)
class Shared:
    """Whether a source that is nobody's own is read.

    Attributes:
        query: What is looked for there; empty when it is not read.
        why: The reason, either way.
    """

    source: Source
    is_read: bool
    why: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class LivePlan:
    """What is read for a batch.

    Attributes:
        picks: Most salient first.
        passed_over: Spaces of those who took part and are not picked, most salient first.
    """

    picks: tuple[Pick, ...]
    passed_over: tuple[str, ...]
    episodes: Shared
    lore: Shared
    records: Shared

    @property
    def readers(self) -> tuple[Pick, ...]:
        """Those whose memory is read."""
        return tuple(pick for pick in self.picks if pick.reads)

    @property
    def reads_nothing(self) -> bool:
        """Whether no source is read at all."""
        return not (self.readers or self.episodes.is_read or self.lore.is_read or self.records.is_read)
