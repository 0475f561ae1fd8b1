"""What of a turn is read for memories, and the evidence that comes of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final

from app.contradictions.claims import claim_key, value_key
from app.domain.entries import Author
from app.domain.evidence import Evidence, MessageVersion
from app.extraction.records import Extracted, Proposal, Said, content_of
from app.text.normalise import fold, normalise_text
from app.turns.documents import heard, personal_documents, session_label
from app.turns.records import Message, NewMessage, Speaker, Turn

_MOMENT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message whose author's memory it may become.

    Attributes:
        space: Where that memory lies.
        said_at: When it was said, and never later than it came; messages of one moment follow one another.
    """

    space: str
    message: Message
    said: Said
    said_at: datetime


def may_be_remembered(messages: Sequence[NewMessage], space: str) -> bool:
    """Whether a turn can become memories: somebody says something of their own, and not in canon."""
    if space.startswith("lore:"):
        return False
    stream = space.startswith("stream:")
    return any(
        m.role is Speaker.USER and m.event is None and m.text and (m.personal_space is not None or not stream)
        for m in messages
    )


def spoken(turn: Turn) -> tuple[Spoken, ...]:
    """Each author's own words, message by message in the order of the turn; of canon none."""
    if turn.space.startswith("lore:"):
        return ()
    times = _times(turn)
    found = [
        Spoken(document.space, message, _said(turn, message), times[message.position])
        for document in personal_documents(turn)
        for message in document.messages
    ]
    own = found if turn.space.startswith("stream:") else _owners(found, turn.space) or found
    return tuple(sorted(own, key=lambda one: one.message.position))


def _owners(found: Sequence[Spoken], space: str) -> list[Spoken]:
    """What the person says whose space it is, if it is called by the id or name of an author: others are not heard."""
    name = space.rpartition(":")[2]
    return [
        one
        for one in found
        if one.message.author.id == name or fold((one.message.author.name or "").strip().lstrip("@")) == fold(name)
    ]


def is_shared(read: Sequence[Spoken], turn: Turn) -> bool:
    """Whether several people speak in a space that is one person's, and none of them is known to be that person."""
    if turn.space.startswith("stream:"):
        return False
    authors = {(m.author.platform, m.author.id or fold(m.author.name or "")) for m in (one.message for one in read)}
    return len(authors) > 1


def owner_speaks(read: Sequence[Spoken], turn: Turn) -> bool:
    """Whether what is read is the words of the person whose space it is, known by the platform or the space's name."""
    return turn.space.startswith("stream:") or bool(_owners(read, turn.space))


def without(one: Spoken, spans: Sequence[tuple[int, int]]) -> Spoken:
    """What somebody said, with line ends in place of some of it."""
    text = one.said.text
    for start, end in spans:
        text = text[:start] + "\n" * (end - start) + text[end:]
    return replace(one, said=replace(one.said, text=text))


def spaces_of(turn: Turn) -> tuple[str, ...]:
    """Every space in which memories of a turn can lie, also of messages that were deleted."""
    return tuple(dict.fromkeys([turn.space, *(m.personal_space for m in turn.messages if m.personal_space)]))


def evidence(one: Spoken, extracted: Extracted) -> tuple[Evidence, ...]:
    """What a message says; of two proposals that say the same, the first."""
    of = MessageVersion(one.message.id.uuid, one.message.version)
    found: dict[bytes, Evidence] = {}
    for proposal in extracted.proposals:
        content = replace(content_of(proposal, one.said), valid_from=one.said_at)
        key = _key(proposal)
        found.setdefault(key, Evidence(of=of, key=key, said_at=one.said_at, content=content))
    return tuple(found.values())


def _key(proposal: Proposal) -> bytes:
    claim = proposal.claim
    says = [normalise_text(proposal.text)] if claim is None else ["", *claim_key(claim), value_key(claim)]
    return blake2b("\0".join(says).encode(), digest_size=16, person=b"evidence").digest()


def _said(turn: Turn, message: Message) -> Said:
    author = None if message.author == Author() else message.author
    return Said(str(message.id), heard(message), author, session_label(turn), turn.scope)


def _times(turn: Turn) -> dict[int, datetime]:
    times: dict[int, datetime] = {}
    before: datetime | None = None
    for message in turn.messages:
        at = min(message.said_at, message.recorded_at)
        if before is not None and before - _MOMENT * len(turn.messages) <= at <= before:
            at = before + _MOMENT
        times[message.position] = before = at
    return times
