"""A memory as the person whose it is sees it: in plain words, where it holds, why it is known, what can be done."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol
from uuid import UUID

from app.corrections.lexicon import Lexicon, lexicons
from app.corrections.phrases import quote, where
from app.domain.entries import Entry, Status
from app.domain.spaces import SpaceKey

Standing = Literal["current", "obsolete", "unresolved"]
Action = Literal["correct", "move", "forget"]


@dataclass(frozen=True, slots=True)
class Viewed:
    """One memory in plain words, in one language.

    Attributes:
        label: How it stands, in words.
        where: Its scope in words.
        why: Why it is known: who said it, when, where, and what replaced it.
        actions: What can be done, and how that is called.
    """

    entry: Entry
    standing: Standing
    label: str
    where: str
    why: str
    actions: Mapping[Action, str]


class ViewStore(Protocol):
    """Reads the memories of a space for their owner."""

    async def viewed(
        self, space: SpaceKey, *, limit: int, before: UUID | None, standing: Standing | None
    ) -> tuple[tuple[Entry, Entry | None], ...]:
        """Memories of every status but those withdrawn, newest first, each with the one that replaced it."""
        ...


def view(entry: Entry, replaced_by: Entry | None, language: str) -> Viewed:
    """Show one memory.

    Args:
        replaced_by: What holds instead, if it is obsolete and that is still there.
    """
    lexicon = lexicons()[language]
    standing = standing_of(entry)
    names: tuple[Action, ...] = ("correct", "move", "forget") if entry.is_live else ("forget",)
    return Viewed(
        entry=entry,
        standing=standing,
        label=lexicon.view[standing],
        where=where(entry.content.scope, language),
        why=_why(entry, replaced_by, lexicon),
        actions={name: lexicon.view[name] for name in names},
    )


def standing_of(entry: Entry) -> Standing:
    """How a memory stands."""
    if entry.status is not Status.ACTIVE:
        return "obsolete"
    return "unresolved" if entry.unresolved else "current"


def _why(entry: Entry, replaced_by: Entry | None, lexicon: Lexicon) -> str:
    content, words = entry.content, lexicon.view
    day = _day(entry.first_recorded_at)
    author = content.author and (content.author.name or content.author.id)
    parts = [words["said_by"].format(day=day, author=author) if author else words["said"].format(day=day)]
    if content.session:
        parts.append(words["session"].format(session=quote(content.session)))
    if content.source:
        parts.append(words["source"].format(source=quote(content.source)))
    if entry.corrected:
        parts.append(words["corrected"])
    if replaced_by is not None:
        parts.append(words["replaced"].format(text=quote(replaced_by.content.text)))
    return ", ".join(parts)


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()
