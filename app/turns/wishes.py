"""The records of what people wish of their memory in a conversation: that something be put right, or forgotten."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.domain.entries import Author
from app.domain.evidence import MessageVersion
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.turns.ports import Source


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence of a message that may be a wish.

    Attributes:
        key: Stands for the sentence: the same words have the same key.
        start: Its first character in the message; `end` is one past the last.
        denied: Whether the sentence before it says that something was wrong.
        forgets: Whether something is to be forgotten, rather than put right.
    """

    key: bytes
    start: int
    end: int
    text: str
    denied: bool = False
    forgets: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishful:
    """A message with wishes of its author.

    Attributes:
        said_at: When it was said.
        author: Whose memories alone are touched; None for whoever's the space is.
        before: What was said just before, by anybody, oldest first.
    """

    message: MessageVersion
    said_at: datetime
    author: Author | None
    session: str
    scope: str
    before: tuple[str, ...]
    wishes: tuple[Wish, ...]


@dataclass(frozen=True, slots=True)
class Granted:
    """What came of the wishes of a turn in one space.

    Attributes:
        heard: The sentences that were wishes, by message and key; the others are talk like any other.
        outcomes: What came of those that were new, in words of the API.
        left: How many were left alone, because they are about somebody else.
    """

    heard: frozenset[tuple[UUID, bytes]]
    outcomes: tuple[str, ...] = ()
    left: int = 0


class Wishes(Protocol):
    """Finds and carries out what people wish of their memory."""

    def may_answer(self, text: str) -> bool:
        """Whether a message may answer a question."""
        ...

    async def answer(
        self, space: SpaceKey, asked_in: PublicId, turn: Source, messages: Sequence[Wishful]
    ) -> Granted | None:
        """Take the answer to the one question that came of a turn, if a message names exactly one of its options.

        Args:
            messages: Whole messages of the next turn of the session, each as a wish.

        Returns:
            None if the turn has changed since it was read; then nothing was done.
        """
        ...

    def find(self, text: str) -> tuple[Wish, ...]:
        """The sentences of a message that may be wishes."""
        ...

    async def grant(
        self,
        space: SpaceKey,
        turn: Source,
        standing: frozenset[MessageVersion],
        messages: Sequence[Wishful],
        *,
        erase: bool,
    ) -> Granted | None:
        """Do what is wished, once, and take back what is not said any more.

        Args:
            standing: The messages that were read.
            erase: Whether what was taken back must not stay in earlier versions.

        Returns:
            None if the turn has changed since it was read; then nothing was done.
        """
        ...
