"""Character cards: JSON of versions 1 to 3, alone, in the text chunks of a PNG, or in an archive (CharX)."""

import base64
import binascii
import io
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.importing.items import Block, BrokenFileError, Choices, Item
from app.importing.lorebooks import entries, filled, lore_space, named
from app.importing.scanning import Scanner
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
    nickname = data.get("nickname")
    called = nickname if isinstance(nickname, str) and nickname.strip() else name
    for field, block in _FIELDS:
        said = _filled(data, field, called)
        if said:
            yield Block(f"field {field}", space, block, said, "" if block in _NOT_SERVED else lore)
    book = data.get("character_book")
    if isinstance(book, dict) and book.get("entries"):
        yield from entries(book, lore, called)


def _filled(data: Mapping[str, Any], field: str, character: str) -> str:
    try:
        return filled(text(data.get(field), field), character).strip()
    except ValueError as error:
        raise BrokenFileError(str(error)) from error


def card_of(stream: io.BufferedReader) -> io.StringIO:
    """The JSON in the text chunks of a PNG: the newer `ccv3` before `chara`.

    Raises:
        BrokenFileError: If there is none.
    """
    if stream.read(len(PNG)) != PNG:
        raise BrokenFileError("it is no PNG")
    found: dict[bytes, bytes] = {}
    for kind, content in _chunks(stream):
        keyword, separator, value = content.partition(b"\0")
        if kind in _TEXTS and separator and keyword.lower() in _KEYWORDS:
            found.setdefault(keyword.lower(), _TEXTS[kind](value))
    coded = next((found[keyword] for keyword in _KEYWORDS if keyword in found), None)
    if coded is None:
        raise BrokenFileError("the PNG holds no character: it has no text chunk ccv3 or chara")
    try:
        return io.StringIO(base64.b64decode(coded, validate=False).decode("utf-8-sig"))
    except (binascii.Error, UnicodeDecodeError) as error:
        raise BrokenFileError("the character in the PNG is damaged") from error


def _chunks(stream: io.BufferedReader) -> Iterator[tuple[bytes, bytes]]:
    while len(head := stream.read(8)) == 8 and head[4:] != b"IEND":
        length = int.from_bytes(head[:4], "big")
        if length > _CHUNK_BYTES:
            raise BrokenFileError(f"a chunk of the PNG has more than {_CHUNK_BYTES:,} bytes")
        content = stream.read(length)
        if len(content) < length:
            raise BrokenFileError("the PNG ends too early")
        stream.read(4)
        yield head[4:], content


def _plain(value: bytes) -> bytes:
    return value


def _compressed(value: bytes) -> bytes:
    """After the byte that names the method, of which there is one."""
    return _inflated(value[1:])


def _international(value: bytes) -> bytes:
    """After two flags, the language, and the keyword in that language."""
    _, _, rest = value[2:].partition(b"\0")
    _, _, text = rest.partition(b"\0")
    return _inflated(text) if value[:1] == b"\1" else text


def _inflated(packed: bytes) -> bytes:
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, _CHUNK_BYTES)
    except zlib.error as error:
        raise BrokenFileError("the character in the PNG is damaged") from error
    if unpacker.unconsumed_tail:
        raise BrokenFileError(f"a text of the PNG unpacks to more than {_CHUNK_BYTES:,} bytes")
    return text


_TEXTS: Final = {b"tEXt": _plain, b"zTXt": _compressed, b"iTXt": _international}
_KEYWORDS: Final = (b"ccv3", b"chara")
