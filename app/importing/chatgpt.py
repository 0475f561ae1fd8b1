"""A ChatGPT export: `conversations.json`, a list of conversations, each a tree of messages.

Only the branch that its owner last saw is read: from `current_node` up to the root.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final

from app.importing.items import Bad, Choices, Exchange, Item, LeftOut, RowError, Said, mark_of
from app.importing.scanning import Scanner, rows
from app.importing.values import given, label, moment, shortened, wire
from app.schemas.turns import TURN_MESSAGES
from app.turns.records import TURN_CHARS

_SPOKEN: Final = ("text", "multimodal_text")
"""Kinds of content that somebody said; others are code that was run, pages that were read, thoughts."""

_ROLES: Final = ("user", "assistant")


def read(scanner: Scanner, choices: Choices) -> Iterator[Item]:
    """The conversations of a file; one that makes no sense is bad, and the next is read.

    Raises:
        BrokenFileError: If the file breaks off.
    """
    for line, one in rows(scanner, "conversations"):
        where = f"line {line}"
        try:
            yield from _conversation(where, one, choices)
        except ValueError as error:
            yield Bad(where, str(error))


def _conversation(where: str, one: Any, choices: Choices) -> Iterator[Item]:
    if not isinstance(one, dict) or not isinstance(one.get("mapping"), dict):
        raise RowError("it is no conversation: it has no mapping")
    name = one.get("conversation_id") or one.get("id")
    if not isinstance(name, str) or not name.strip():
        raise RowError("the conversation has no id")
    began = moment(one.get("create_time"), choices.zone)
    said = []
    for node, message in _branch(one["mapping"], one.get("current_node")):
        try:
            found = _said(where, message, mark_of("chatgpt", name, message.get("id") or node), choices.zone, began)
        except ValueError as error:
            yield Bad(f"{where}, message {label(str(node))}", str(error))
            continue
        if found is not None:
            said.append(found)
    if not said:
        yield LeftOut(where, "nothing was said in it")
    session = label(f"chatgpt:{name}")
    for part in exchanges(said):
        yield Exchange(choices.space or "", session, part)


def _branch(mapping: Mapping[str, Any], leaf: Any) -> list[tuple[str, dict[str, Any]]]:
    """The messages from the root to a leaf, by node; without a valid leaf, to the one that was written last.

    Raises:
        RowError: If the nodes make no tree.
    """
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    if leaf not in nodes:
        leaf = max(nodes, key=lambda name: (_written(nodes[name]), name), default=None)
    branch: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    while leaf in nodes:
        if leaf in seen:
            raise RowError("the messages of the conversation run in a circle")
        seen.add(leaf)
        message = nodes[leaf].get("message")
        if isinstance(message, dict):
            branch.append((leaf, message))
        parent = nodes[leaf].get("parent")
        leaf = parent if isinstance(parent, str) else None
    return branch[::-1]


def _written(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, (int, float)) else 0.0


def _said(where: str, message: Mapping[str, Any], mark: Any, zone: tzinfo, began: Any) -> Said | None:
    """What somebody said to somebody; None for what a program told another.

    Raises:
        RowError: If the message makes no sense.
    """
    author, content = message.get("author"), message.get("content")
    if not isinstance(author, dict) or not isinstance(content, dict):
        raise RowError("the message has no author or no content")
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    told = message.get("recipient") in (None, "all") and message.get("weight") != 0
    if author.get("role") not in _ROLES or content.get("content_type", "text") not in _SPOKEN or hidden or not told:
        return None
    parts = content.get("parts")
    if not isinstance(parts, list):
        raise RowError("the content has no parts")
    text, cut = shortened("\n".join(filter(None, map(_part, parts))))
    media = [{"kind": "image"} for part in parts if isinstance(part, dict) and "image" in str(part.get("content_type"))]
    if not text.strip() and not media:
        return None
    at = moment(message.get("create_time"), zone) or began
    return Said(where, mark, given(role=author["role"], text=text, at=wire(at), media=media[:16]), cut)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    spoken = part.get("text") if isinstance(part, dict) else None
    return spoken if isinstance(spoken, str) else ""


def exchanges(said: Sequence[Said]) -> Iterator[tuple[Said, ...]]:
    """Messages as turns: one ends where somebody speaks after it was answered, or where it is as long as one can be."""
    part: list[Said] = []
    length = 0
    for one in said:
        chars = len(one.body.get("text", ""))
        answered = bool(part) and part[-1].body["role"] == "assistant" and one.body["role"] != "assistant"
        if answered or len(part) == TURN_MESSAGES or (part and length + chars > TURN_CHARS):
            yield tuple(part)
            part, length = [], 0
        part.append(one)
        length += chars
    if part:
        yield tuple(part)
