"""Character cards: JSON of versions 1 to 3, alone or in the text chunks of a PNG."""

import base64
import binascii
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.importing.items import Block, BrokenFileError, Choices, Item
from app.importing.lorebooks import entries, lore_space, named
from app.importing.scanning import Scanner
from app.importing.streams import Counted
from app.importing.values import text

PNG: Final = b"\x89PNG\r\n\x1a\n"
_CHUNK_BYTES: Final = 64 << 20
_FIELDS: Final = (
    ("system_prompt", "instructions"),
    ("description", "persona"),
    ("personality", "personality"),
    ("scenario", "scenario"),
    ("post_history_instructions", "reminders"),
    ("mes_example", "examples"),
    ("first_mes", "greeting"),
)
"""Fields of a card, and the soul blocks that they become; those that matter most come first."""

_NOT_SERVED: Final = frozenset({"greeting"})


def read(scanner: Scanner, choices: Choices) -> Iterator[Item]:
    """The blocks of a character's identity, then the entries of its book.

    Raises:
        BrokenFileError: If it is no card.
    """
    card = scanner.value()
    data = card.get("data") if isinstance(card, dict) and isinstance(card.get("data"), dict) else card
    name = data.get("name") or data.get("char_name") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(name, str) or not name.strip():
        raise BrokenFileError("it is no character card: nobody is named in it")
    space = choices.space or f"character:{named(name)}"
    lore = lore_space(space.partition(":")[2])
    replaced = _placeholders(name)
    for field, block in _FIELDS:
        said = _filled(data, field, replaced)
        if said:
            yield Block(f"field {field}", space, block, said, "" if block in _NOT_SERVED else lore)
    book = data.get("character_book")
    if isinstance(book, dict) and book.get("entries"):
        yield from entries(book, lore, replaced)


def _filled(data: Mapping[str, Any], field: str, replaced: Mapping[str, str]) -> str:
    try:
        said = text(data.get(field), field)
    except ValueError as error:
        raise BrokenFileError(str(error)) from error
    for placeholder, name in replaced.items():
        said = said.replace(placeholder, name)
    return said.strip()


def _placeholders(name: str) -> dict[str, str]:
    return {
        "{{char}}": name,
        "{{Char}}": name,
        "<BOT>": name,
        "{{user}}": "the user",
        "{{User}}": "the user",
        "<USER>": "the user",
        "{{original}}": "",
    }


def card_of(source: Counted) -> io.StringIO:
    """The JSON in the text chunks of a PNG: the newer `ccv3` before `chara`.

    Raises:
        BrokenFileError: If there is none.
    """
    stream = io.BufferedReader(source)
    if stream.read(len(PNG)) != PNG:
        raise BrokenFileError("it is no PNG")
    found: dict[bytes, bytes] = {}
    while len(head := stream.read(8)) == 8 and head[4:] != b"IEND":
        length = int.from_bytes(head[:4], "big")
        if length > _CHUNK_BYTES:
            raise BrokenFileError(f"a chunk of the PNG has more than {_CHUNK_BYTES:,} bytes")
        content = stream.read(length)
        if len(content) < length:
            raise BrokenFileError("the PNG ends too early")
        stream.read(4)
        keyword, separator, value = content.partition(b"\0")
        if head[4:] == b"tEXt" and separator:
            found.setdefault(keyword.lower(), value)
    coded = found.get(b"ccv3") or found.get(b"chara")
    if coded is None:
        raise BrokenFileError("the PNG holds no character: it has no text chunk ccv3 or chara")
    try:
        return io.StringIO(base64.b64decode(coded, validate=False).decode("utf-8-sig"))
    except (binascii.Error, UnicodeDecodeError) as error:
        raise BrokenFileError("the character in the PNG is damaged") from error
