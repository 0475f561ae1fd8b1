"""Which format a file has, and its reader."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TextIO

from app.importing import cards, chatgpt, chatlogs, lorebooks, mem0
from app.importing.items import BrokenFileError, Choices, Item
from app.importing.scanning import Scanner, members
from app.importing.streams import Archive, Counted, buffered, is_archive, opened, text_of, unpacked

_HEAD_LINES = 50
_LINE_CHARS = 4_096

Progress = Callable[[], float]
"""How much of a file was read, from 0 to 1."""


class Format(StrEnum):
    """What a file can be."""

    RICORDO = "ricordo"
    CHATGPT = "chatgpt"
    MEM0 = "mem0"
    LOREBOOK = "lorebook"
    CARD = "card"
    CHAT = "chat"


_READERS = {
    Format.CHATGPT: chatgpt.read,
    Format.MEM0: mem0.read,
    Format.LOREBOOK: lorebooks.read,
    Format.CARD: cards.read,
}


@contextmanager
def opened_items(
    path: Path, kind: Format, choices: Choices, encoding: str | None = None
) -> Iterator[tuple[Iterator[Item], Progress]]:
    """The items of a file, read while they are asked for.

    Raises:
        BrokenFileError: If it cannot be read; also while its items are asked for.
    """
    if is_archive(path):
        with unpacked(path) as archive:
            yield _packed(archive, kind, choices, encoding), archive.progress
        return
    size = max(path.stat().st_size, 1)
    with opened(path) as source:
        yield _items(source, kind, choices, encoding), lambda: min(source.bytes / size, 1.0)


def _packed(archive: Archive, kind: Format, choices: Choices, encoding: str | None) -> Iterator[Item]:
    names = _members(archive.names).get(kind)
    if not names:
        raise BrokenFileError(f"the archive holds nothing that can be read as {kind}")
    for name, source in archive.each(names):
        try:
            yield from _items(source, kind, choices, encoding)
        except BrokenFileError as error:
            raise BrokenFileError(f"{name}, {error}") from error


def _members(names: Sequence[str]) -> dict[Format, list[str]]:
    """What an archive can be read as, and which of its files that is."""
    last = {name: name.rpartition("/")[2].lower() for name in names}
    texts = [name for name in names if last[name].endswith(".txt")]
    chats = [name for name in texts if last[name] == "_chat.txt" or "whatsapp" in last[name]]
    found = {
        Format.CARD: [name for name in names if name == "card.json"],
        Format.CHATGPT: [n for n in names if last[n].startswith("conversations") and last[n].endswith(".json")],
        Format.CHAT: chats[:1] or (texts if len(texts) == 1 else []),
    }
    return {kind: members for kind, members in found.items() if members}


def _items(source: Counted, kind: Format, choices: Choices, encoding: str | None) -> Iterator[Item]:
    stream = buffered(source)
    if kind is Format.CARD and stream.peek(len(cards.PNG)).startswith(cards.PNG):
        return cards.read(Scanner(cards.card_of(stream)), choices)
    text = text_of(stream, encoding)
    return chatlogs.read(text, choices) if kind is Format.CHAT else _READERS[kind](Scanner(text), choices)


def format_of(path: Path, encoding: str | None = None) -> Format:
    """The format of a file, by what it begins with.

    Raises:
        BrokenFileError: If it is none that is known.
    """
    with path.open("rb") as file:
        head = file.read(len(cards.PNG))
    if head == cards.PNG:
        return Format.CARD
    if is_archive(path):
        with unpacked(path) as archive:
            return _of_archive(archive)
    with opened(path) as source:
        text = text_of(buffered(source), encoding)
        scanner = Scanner(text)
        found = _of_json(scanner) if scanner.peek() in {"{", "["} else None
    if found is None:
        with opened(path) as source:
            found = _of_text(text_of(buffered(source), encoding))
    if found is None:
        raise BrokenFileError("its format is not known: name it with --format")
    return found


def _of_archive(archive: Archive) -> Format:
    found = next(iter(_members(archive.names)), None)
    if found is None:
        raise BrokenFileError("the archive holds neither a card, nor a ChatGPT export, nor one chat")
    return found


def _of_json(scanner: Scanner) -> Format | None:
    """By the first member that only one format has."""
    try:
        if scanner.peek() == "[":
            scanner.take("[")
            one = scanner.value() if scanner.peek() == "{" else None
            return _of_names(iter(one)) if isinstance(one, dict) else None
        return _of_names(_walked(scanner))
    except BrokenFileError:  # a chat log may begin with a bracket; what is broken is told when it is read
        return None


def _walked(scanner: Scanner) -> Iterator[str]:
    for name in members(scanner):
        yield name
        scanner.value()


_TELLING = {
    "ricordo": Format.RICORDO,
    "mapping": Format.CHATGPT,
    "conversations": Format.CHATGPT,
    "memory": Format.MEM0,
    "memories": Format.MEM0,
    "results": Format.MEM0,
    "entries": Format.LOREBOOK,
    "first_mes": Format.CARD,
    "char_name": Format.CARD,
    "personality": Format.CARD,
    "data": Format.CARD,
}


def _of_names(names: Iterator[str]) -> Format | None:
    return next((_TELLING[name] for name in names if name in _TELLING), None)


def _of_text(text: TextIO) -> Format | None:
    lines = [line.rstrip("\n") for line in islice(iter(lambda: text.readline(_LINE_CHARS), ""), _HEAD_LINES)]
    return Format.CHAT if chatlogs.shape_of(chatlogs.visible(lines)) else None
