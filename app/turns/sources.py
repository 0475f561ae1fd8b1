"""The messages that an entry comes of, as far as they are there and may be read. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from app.domain.callers import Caller
from app.domain.evidence import Basis
from app.domain.ids import PublicId
from app.turns.records import Message

SOURCES: Final = 200
"""So many messages of an entry are told, the latest."""


class SourceState(StrEnum):
    """What is left of a message."""

    SAID = "said"
    CHANGED = "changed"
    """Its text was edited since, or cut by what was forgotten."""
    DELETED = "deleted"
    """It was taken back, or forgotten: no word is left."""
    PURGED = "purged"
    """It is older than history is kept."""
    OUT_OF_REACH = "out_of_reach"
    """It was said in a space that the key does not reach."""


@dataclass(frozen=True, slots=True)
class EntrySource:
    """A message that an entry comes of.

    Attributes:
        turn: None if only the message's id is known.
        said_at: Likewise.
        message: None unless there is a text that may be read.
    """

    id: PublicId
    turn: PublicId | None
    said_at: datetime | None
    state: SourceState
    message: Message | None = None


def sources_by_id(
    caller: Caller, wanted: Sequence[PublicId], bases: Iterable[Basis], found: Mapping[PublicId, Message]
) -> tuple[EntrySource, ...]:
    """Messages that are known by their ids, in the order of `wanted`."""
    known = {basis.message: basis for basis in bases}
    sources: list[EntrySource] = []
    for message_id in wanted:
        message, basis = found.get(message_id), known.get(message_id)
        if message is not None:
            sources.append(source_of(caller, message))
        elif basis is not None:
            sources.append(EntrySource(message_id, basis.turn, basis.said_at, SourceState.PURGED))
        else:
            sources.append(EntrySource(message_id, None, None, SourceState.PURGED))
    return tuple(sources)


def source_of(caller: Caller, message: Message) -> EntrySource:
    """A message as a source."""
    state = _state(caller, message)
    readable = message if state in (SourceState.SAID, SourceState.CHANGED) else None
    return EntrySource(message.id, message.turn, message.said_at, state, readable)


def _state(caller: Caller, message: Message) -> SourceState:
    if not reaches(caller, message):
        return SourceState.OUT_OF_REACH
    if not message.is_said:
        return SourceState.DELETED
    return SourceState.SAID if message.edited_at is None else SourceState.CHANGED


def reaches(caller: Caller, message: Message) -> bool:
    """Whether a key reaches the space of a message, or that of its author, which holds the same words."""
    return caller.may_touch(message.space) or (
        message.personal_space is not None and caller.may_touch(message.personal_space)
    )
