"""Two views of a turn: the whole of it as an episode, and each author's own words. Pure.

An episode is indexed with the turn before it: LoCoMo finds .620 instead of .549 of the evidence within five hits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from app.domain.entries import TEXT_CHARS, Author, Content
from app.domain.spaces import check_space
from app.turns.quoted import without_quoted_memory
from app.turns.records import Message, NewMessage, Speaker, Turn

EPISODE_TAG: Final = "turn"
PERSONAL_TAG: Final = "said"
CONVERSATION_TAG: Final = "conversation"

_UNHEARD: Final = (Speaker.SYSTEM, Speaker.TOOL)
"""What nobody said: prompts and the output of tools."""

_PARTICIPANTS: Final = 64
_LABEL_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class PersonalDocument:
    """What one author said in a turn, in that author's own space: nobody else's words, and no platform's.

    Attributes:
        space: Where it belongs; the turn's own space where that is one person's.
        messages: Where it comes from; never empty.
    """

    space: str
    author: Author
    messages: tuple[Message, ...]
    text: str


def episode_content(turn: Turn) -> Content | None:
    """The whole turn, word for word, platform events and the reply included; None if nothing of it is left."""
    lines = transcript(turn.messages)
    if not lines:
        return None
    before = "\n".join(transcript(turn.before))
    return Content(
        text="\n".join(lines),
        context=before[-TEXT_CHARS:] or None,
        occurred_at=turn.said_at,
        participants=participants(turn.messages),
        tags=(EPISODE_TAG,),
        scope=turn.scope,
        session=session_label(turn),
        source=str(turn.id),
    )


def session_label(turn: Turn) -> str:
    """What entries say of where it was said: the platform's name of the session, else its id."""
    return (turn.session_name or str(turn.session))[:_LABEL_CHARS]


def transcript(messages: Iterable[Message]) -> list[str]:
    """A line for each message that was said: who, and what."""
    return [line for message in messages if (line := _line(message))]


def participants(messages: Iterable[Message]) -> tuple[str, ...]:
    """Who took part, in the order in which they spoke first; the agent is none of them."""
    heard = (m.speaker for m in messages if m.is_said and m.role is Speaker.USER and (m.author.name or m.author.id))
    return tuple(dict.fromkeys(heard))[:_PARTICIPANTS]


def heard(message: Message) -> str:
    """What was said in a message, without quotations of our own prompts; empty if nothing."""
    return without_quoted_memory(message.text) if message.is_said and message.role not in _UNHEARD else ""


def _line(message: Message) -> str:
    text = heard(message)
    if message.role in _UNHEARD or not message.is_said:
        return ""
    media = "".join(f" [{_media(medium)}]" for medium in message.media)
    said = f"{text}{media}".strip()
    if message.event:
        return (
            f"[{message.event}] {message.speaker}: {said}".rstrip(" :")
            if said
            else f"[{message.event}] {_who(message)}"
        )
    return f"{message.speaker}: {said}" if said else ""


def _who(message: Message) -> str:
    return message.author.name or message.author.id or "platform"


def _media(medium: object) -> str:
    fields = medium if isinstance(medium, dict) else {}
    return ": ".join(str(fields[name]) for name in ("kind", "caption") if fields.get(name))


def personal_space(message: NewMessage, turn_space: str) -> str | None:
    """The space of the author's own words: a viewer's in a stream; None for what is nobody's own.

    Bots, events, the agent's reply and prompts are nobody's. In a space that is no stream, what a user says is that
    person's, and the turn lies in the right space already.
    """
    author = message.author
    if not turn_space.startswith("stream:") or message.role is not Speaker.USER or message.event is not None:
        return None
    identity = author.id or (f"@{author.name}" if author.name else None)
    if author.platform is None or identity is None:
        return None
    try:
        return check_space(f"viewer:{author.platform}:{identity}")
    except ValueError:
        return None


def own_space(message: Message) -> str | None:
    """The only space whose memories a message can contradict: in a stream the author's; None for any."""
    return (message.personal_space or "") if message.space.startswith("stream:") else None


def personal_documents(turn: Turn) -> tuple[PersonalDocument, ...]:
    """What each author said, in the order in which they spoke first; those without a word left have none."""
    own: dict[tuple[str, str | None, str | None], list[Message]] = {}
    for message in turn.messages:
        if message.role is Speaker.USER and message.event is None and heard(message):
            space = message.personal_space or (None if turn.space.startswith("stream:") else turn.space)
            if space is not None:
                apart = message.author.platform, message.author.id or message.author.name
                own.setdefault((space, *(apart if space == turn.space else (None, None))), []).append(message)
    return tuple(
        PersonalDocument(key[0], said[-1].author, tuple(said), "\n".join(map(heard, said))) for key, said in own.items()
    )


def personal_content(turn: Turn, document: PersonalDocument) -> Content:
    """A personal document as it is kept: an episode of its author's."""
    return Content(
        text=document.text,
        occurred_at=min(message.said_at for message in document.messages),
        participants=participants(document.messages),
        tags=(PERSONAL_TAG,),
        author=document.author,
        scope=turn.scope,
        session=session_label(turn),
        source=str(turn.id),
    )
