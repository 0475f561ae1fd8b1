"""The records of a correction: what is wanted, what is decided, what was done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.entries import Author, Category, Claim, Content, Entry
from app.domain.evidence import MessageVersion
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey


class Outcome(StrEnum):
    """What came of a correction."""

    APPLIED = "applied"
    NEEDS_CLARIFICATION = "needs_clarification"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in a conversation something was wanted.

    Attributes:
        message: As it was read.
        key: Stands for the sentence.
        said_at: When it was said.
    """

    turn: PublicId
    message: MessageVersion
    key: bytes
    said_at: datetime

    @property
    def place(self) -> tuple[UUID, bytes]:
        """The message and the sentence, whichever version was read."""
        return self.message.message, self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody wants to be put right: said freely, or an entry and its new text, or a claim.

    Attributes:
        scopes: Where the conversation is.
        said: What was said, to be read.
        entry_id: The entry that is wrong.
        wrong: Its exact text instead.
        text: What is right; without one, an entry keeps its text and only its scope changes.
        claim: What is right, as a claim.
        scope: Where it holds; None if nobody said.
        lasting: Whether it is meant to last; None if nobody said.
        actor: Who says so; `batch`: who was present when it was said.
        erase: Entries that are to be forgotten, once a question is answered; `()` for none, `whole` for all.
        origin: Where in a conversation it was said, if it was.
    """

    space: SpaceKey
    scopes: tuple[str, ...] = ()
    said: str | None = None
    entry_id: PublicId | None = None
    wrong: str | None = None
    text: str | None = None
    claim: Claim | None = None
    scope: str | None = None
    lasting: bool | None = None
    category: Category | None = None
    valid_from: datetime | None = None
    actor: Author | None = None
    batch: tuple[Author, ...] | None = None
    session: str | None = None
    source: str | None = None
    erase: tuple[PublicId, ...] | None = None
    whole: bool = False
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: the key of an option; who gave it, and who was present, if the caller says so."""

    choice: str
    actor: Author | None = None
    batch: tuple[Author, ...] | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to a question.

    Attributes:
        key: What is sent to choose it: a scope, `everywhere`, the id of an entry, `everything` or `nothing`.
        label: In plain words.
        scope: Where the correction holds if this is chosen.
        entry_id: Which entry is meant if this is chosen.
        text: What it will say.
        erase: What is forgotten if this is chosen; `whole`: everything.
    """

    key: str
    label: str
    scope: str | None = None
    entry_id: PublicId | None = None
    text: str | None = None
    erase: tuple[PublicId, ...] | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """A statement that is to be saved, and the entries that give way to it because they are what was wrong."""

    content: Content
    targets: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """An entry that is to hold in another scope."""

    entry: Entry
    scope: str


@dataclass(frozen=True, slots=True)
class Confirm:
    """An entry that says already what is right."""

    entry: Entry
    targets: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Erase:
    """Entries that are to be forgotten."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, because the answer matters and nobody gave it."""

    question: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """Nothing is saved, and why."""

    reason: str


Decision = Write | Move | Confirm | Erase | Ask | Refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A correction, as it is kept.

    Attributes:
        told: The confirmation, the question or the reason, in the language in which it was said.
        before: The entries that gave way, as they were.
        after: What holds now.
        asked: What was wanted, in JSON, while a question is open.
        scope: Where it was said.
        answered_by: The correction that came of the answer.
        origin: Where in a conversation it was said, if it was.
        receipt: Of what was forgotten.
    """

    id: PublicId
    created_at: datetime
    outcome: Outcome
    told: str
    scope: str
    before: tuple[Entry, ...] = ()
    after: tuple[Entry, ...] = ()
    options: tuple[Option, ...] = ()
    asked: Mapping[str, Any] | None = field(default=None, compare=False)
    answered_by: PublicId | None = None
    origin: Origin | None = None
    receipt: PublicId | None = None

    @property
    def scopes(self) -> tuple[str, ...]:
        """Where what was saved can be seen."""
        return tuple(dict.fromkeys(entry.content.scope for entry in self.after if entry.content.scope))
