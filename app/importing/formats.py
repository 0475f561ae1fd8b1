"""Which format a file has, and its reader."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from app.importing import cards, chatgpt, chatlogs, lorebooks, mem0
from app.importing.items import BrokenFileError, Choices, Item
from app.importing.scanning import Scanner, members
from app.importing.streams import Counted, opened, text_of, unpacked

_ARCHIVE = b"PK\x03\x04"
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
    size = max(path.stat().st_size, 1)
    with path.open("rb") as file:
        head = file.read(len(cards.PNG))
    if kind is Format.CHATGPT and head.startswith(_ARCHIVE):
        with unpacked(path, "conversations") as found:
            yield chain.from_iterable(_named(name, text_of(one), choices) for name, one in found), lambda: 0.0
        return
    with opened(path) as source:
        yield _items(source, head, kind, choices, encoding), lambda: min(source.bytes / size, 1.0)


def _named(name: str, text: TextIO, choices: Choices) -> Iterator[Item]:
    try:
        yield from chatgpt.read(Scanner(text), choices)
    except BrokenFileError as error:
        raise BrokenFileError(f"{name}, {error}") from error


def _items(source: Counted, head: bytes, kind: Format, choices: Choices, encoding: str | None) -> Iterator[Item]:
    if head == cards.PNG:
        return cards.read(Scanner(cards.card_of(source)), choices)
    text = text_of(source, encoding)
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
    if head.startswith(_ARCHIVE):
        return Format.CHATGPT
    with opened(path) as source:
        text = text_of(source, encoding)
        scanner = Scanner(text)
        found = _of_json(scanner) if scanner.peek() in {"{", "["} else None
    if found is None:
        with opened(path) as source:
            found = _of_text(text_of(source, encoding))
    if found is None:
        raise BrokenFileError("its format is not known: name it with --format")
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
