"""What goes of turns that were moved to an archive, as JSON has them. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.entries import Author
from app.domain.ids import parse_id
from app.forgetting.cutting import without
from app.forgetting.records import Selector
from app.turns.records import Speaker

ArchivedTurn = Mapping[str, Any]
"""A turn as the archive writes it: `id`, `space`, `messages` with `id`, `text`, `author`, `recorded_at`, ..."""

Left = Mapping[str, str]
"""Ids of messages to what is left of their texts; nothing for those that go."""


@dataclass(frozen=True, slots=True)
class RestedOn:
    """The messages that some entries rest on, and the turns of which they are part."""

    turns: frozenset[UUID] = frozenset()
    messages: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What is to go of what was said in a space, or elsewhere by the person whose space it is.

    Attributes:
        is_whole: All of it goes.
        turns: Those that go in full.
        rested_on: What erased entries rest on, in whatever words.
        texts: Sentences that say one of these go.
        echoes: In a turn on which an entry rests, sentences of the agent's answer that say one of these go too.
        selector: Names what else goes: a turn, a session, an author, a time.
    """

    space: str
    is_whole: bool = False
    turns: frozenset[UUID] = frozenset()
    rested_on: RestedOn = RestedOn()
    texts: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()
    selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class ArchiveCut:
    """What goes of one turn.

    Attributes:
        turn: Its id.
        left: None: the whole turn goes.
        messages: How many messages go or are shortened.
    """

    turn: str
    left: Left | None
    messages: int


def spaces_in(turns: Iterable[ArchivedTurn]) -> tuple[str, ...]:
    """The spaces of whose words some turns hold any."""
    names = {turn["space"] for turn in turns} | {m.get("personal_space") for turn in turns for m in turn["messages"]}
    return tuple(sorted(name for name in names if name))


def cut_of(turn: ArchivedTurn, sought: Sought) -> ArchiveCut | None:
    """What goes of a turn; None if nothing does."""
    if sought.is_whole and turn["space"] == sought.space:
        return ArchiveCut(turn["id"], None, len(turn["messages"]))
    left = {m["id"]: rest for m in turn["messages"] if (rest := _rest(turn, m, sought)) is not None}
    return ArchiveCut(turn["id"], left, len(left)) if left else None


def cut_away(turn: ArchivedTurn, left: Left | None) -> ArchivedTurn | None:
    """The turn once something is gone of it; None if all of it is. Doing it again changes nothing."""
    if left is None:
        return None
    kept = [{**m, "text": left.get(m["id"], m["text"])} for m in turn["messages"] if left.get(m["id"]) != ""]
    return {**turn, "messages": kept}


def _rest(turn: ArchivedTurn, message: Mapping[str, Any], sought: Sought) -> str | None:
    """What is left of a message's text; None if it stays as it is."""
    answers = message["role"] == Speaker.ASSISTANT and _is_one_of(turn, sought.rested_on.turns)
    if sought.space not in {turn["space"], message.get("personal_space")}:
        left = without(message["text"], sought.echoes) if answers else message["text"]
        return None if left == message["text"] else left
    if sought.is_whole or _is_one_of(turn, sought.turns) or _is_selected(turn, message, sought.selector):
        return ""
    left = without(message["text"], (*sought.texts, *(sought.echoes if answers else ())))
    if left != message["text"]:
        return left
    return "" if _is_one_of(message, sought.rested_on.messages) else None


def _is_one_of(item: Mapping[str, Any], ids: frozenset[UUID]) -> bool:
    return bool(ids) and parse_id(item["id"]).uuid in ids


def _is_selected(turn: ArchivedTurn, message: Mapping[str, Any], selector: Selector | None) -> bool:
    if selector is None:
        return False
    at = datetime.fromisoformat(message["recorded_at"])
    match selector.by:
        case "turn":
            return bool(turn["id"] == str(selector.turn))
        case "session":
            return bool(turn["session"] == str(selector.session))
        case "author":
            return all(message["author"][name] == value for name, value in _given(selector.author).items())
        case "time":
            after = selector.since is None or at >= selector.since
            return after and (selector.until is None or at < selector.until)
        case _:
            return False


def _given(author: Author | None) -> Mapping[str, str]:
    fields = {} if author is None else asdict(author)
    return {name: value for name, value in fields.items() if value is not None}
