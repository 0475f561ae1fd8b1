"""The records of forgetting: what is to go, and the receipt of what went."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from app.domain.entries import Author, Entry
from app.domain.ids import PublicId

By = Literal["ids", "content", "turn", "session", "author", "time", "wish"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which entries of a space are to be forgotten: named in exactly one way.

    Attributes:
        content: The exact text, blind to case, spacing and outer punctuation.
        turn: The turn in which it was said; `session`: the session.
        author: The fields that are given must be equal.
        since: When it was first recorded, at the earliest.
        until: The same, exclusive.
        actor: Who asks for it; `batch`: who was present.
    """

    ids: tuple[PublicId, ...] = ()
    content: str | None = None
    turn: PublicId | None = None
    session: PublicId | None = None
    author: Author | None = None
    since: datetime | None = None
    until: datetime | None = None
    actor: Author | None = None
    batch: tuple[Author, ...] | None = None

    @property
    def by(self) -> By:
        """In which way they are named."""
        if self.ids:
            return "ids"
        if self.content is not None:
            return "content"
        if self.turn is not None:
            return "turn"
        if self.session is not None:
            return "session"
        return "author" if self.author is not None else "time"


@dataclass(frozen=True, slots=True)
class Cut:
    """What was taken out of the history of conversations.

    Attributes:
        messages: How many were emptied or shortened.
        turns: Those of which they are part, and which are indexed with them.
        jobs: How many take it out of what is derived from them.
        archived: How many messages that were moved to the archive are emptied or shortened.
        episodes: How many that cannot be made anew, because their turns have run out, were shortened or erased.
    """

    messages: int = 0
    turns: tuple[PublicId, ...] = ()
    jobs: int = 0
    archived: int = 0
    episodes: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """What a receipt counts of it."""
        return {"messages": self.messages, "archived_messages": self.archived, "shortened_episodes": self.episodes}


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure removed.

    Attributes:
        body: Counts and ids in JSON, never a text: `kind` (entries or space), `by`, `entries`, `ids`, `removed` by
            table, the `turns` whose messages were cut, and how many `jobs` take that out of what is derived from them.
        digest: Seals the body with the tenant's key, in hexadecimal.
    """

    id: PublicId
    created_at: datetime
    body: Mapping[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What came of it.

    Attributes:
        receipt: None if nothing was erased: several entries say the same, and nobody said which.
        matches: Those entries.
        mentioned_in: Other entries that contain an erased text word for word; they are left alone.
    """

    receipt: Receipt | None
    matches: tuple[Entry, ...] = ()
    mentioned_in: tuple[PublicId, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """Whether a receipt still holds.

    Attributes:
        is_sealed: Its body is what was sealed.
        remaining: Rows of what it says is gone, by table, where there are any.
    """

    is_sealed: bool
    remaining: Mapping[str, int]

    @property
    def is_valid(self) -> bool:
        """Whether it is genuine, and nothing came back."""
        return self.is_sealed and not self.remaining
