"""Evidence: what one message says that a memory rests on."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.domain.entries import Content, Tier
from app.domain.ids import PublicId


class MessageVersion(NamedTuple):
    """A message as it was read."""

    message: UUID
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one message says.

    Attributes:
        of: The message as it was read.
        key: Stands for what is said: the same statement in the same message has the same key.
        said_at: When it was said; no two messages of a turn at the same time.
        content: The memory as this message alone would make it.
    """

    of: MessageVersion
    key: bytes
    said_at: datetime
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvidence:
    """Evidence as it is stored, with the memory that rests on it.

    Attributes:
        content: None when the owner of the memory erased it.
        corrects: Whether the message put something right; extraction leaves such evidence alone.
    """

    turn: UUID
    of: MessageVersion
    key: bytes
    entry: PublicId
    said_at: datetime
    content: Content | None
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class Basis:
    """A message that a memory rests on, and when it was said."""

    turn: PublicId
    message: PublicId
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Derived:
    """An entry that came of a turn.

    Attributes:
        message: The message that a memory rests on; None for an episode.
    """

    id: PublicId
    space: str
    tier: Tier
    message: PublicId | None
