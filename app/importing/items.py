"""What readers give: what is to be written, in the shape of the API, and what cannot be."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

Json = Mapping[str, Any]


class BrokenFileError(Exception):
    """A file that cannot be read, or not any further, in one line."""


class RowError(ValueError):
    """One thing in a file that cannot be read; the next one may."""


@dataclass(frozen=True, slots=True)
class Bad:
    """Something that cannot be imported.

    Attributes:
        where: Where it stands in the file, such as `line 12`.
    """

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is left out because it is meant to be, such as an entry that its author switched off."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message.

    Attributes:
        mark: Of this message, whenever it is read again.
        body: As `POST /turns` has it.
        cut: Whether it was longer than a message can be.
    """

    where: str
    mark: UUID
    body: Json
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said until it was answered; becomes one turn."""

    space: str
    session: str
    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory, or an entry of lore.

    Attributes:
        mark: Of this entry, whenever it is read again.
        learnt_at: When the other program learnt it, if it says so.
        body: As `POST /memories` has it.
    """

    where: str
    space: str
    mark: UUID
    body: Json
    learnt_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a character's identity.

    Attributes:
        lore: The space in which its paragraphs are lore if it does not fit into the soul.
    """

    where: str
    space: str
    name: str
    text: str
    lore: str


Item = Bad | LeftOut | Exchange | Fact | Block


@dataclass(frozen=True, slots=True)
class Choices:
    """What the caller says of a file that the file does not.

    Attributes:
        space: Where it goes; None: where the format says.
        session: The session of a chat log.
        agent: Who of a chat log is the agent.
        zone: Of times that name none.
        day_first: Whether dates such as 3/4/2024 begin with the day; None: what the file's other dates say.
    """

    name: str
    zone: Any
    space: str | None = None
    session: str | None = None
    agent: str | None = None
    day_first: bool | None = None


def mark_of(*parts: object) -> UUID:
    """The mark of something that some parts tell from everything else, the same whenever it is read."""
    said = "\x00".join("" if part is None else str(part) for part in parts)
    return UUID(bytes=blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16, person=b"ricordo import").digest())
