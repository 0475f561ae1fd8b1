"""Small files as other programs write them."""

import base64
import io
import json
import struct
import zipfile
import zlib
from itertools import count
from zoneinfo import ZoneInfo

from app.importing.formats import Format, opened_items
from app.importing.items import Bad, BrokenFileError, Choices


def choices(**given) -> Choices:
    return Choices(**{"name": "file", "zone": ZoneInfo("UTC"), "space": "user:ana", **given})


def items(path, kind: Format, encoding=None, **given) -> list:
    """All items of a file; last of all why it breaks off, if it does."""
    found = []
    try:
        with opened_items(path, kind, choices(**given), encoding) as (read, _):
            found.extend(read)
    except BrokenFileError as error:
        found.append(error)
    return found


def bad(found) -> list[tuple[str, str]]:
    return [(one.where, one.why) for one in found if isinstance(one, Bad)]


def conversation(*said, name="c-1", at=1_700_000_000.0, **fields) -> dict:
    """A conversation without branches: (role, text) in their order."""
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, (role, text) in zip(count(1), said, strict=False):
        node = f"{name}-{number}"
        mapping[node] = {"id": node, "message": message(role, text, node, at + number), "parent": parent}
        parent = node
    return {"title": "t", "id": name, "create_time": at, "mapping": mapping, "current_node": parent, **fields}


def message(role, text, name, at) -> dict:
    parts = text if isinstance(text, list) else [text]
    content = {"content_type": "text", "parts": parts}
    return {"id": name, "author": {"role": role}, "create_time": at, "content": content, "recipient": "all"}


def card(**data) -> dict:
    given = {"name": "Mira", "description": "{{char}} is a captain.", "personality": "dry", **data}
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": given}


def coded(one) -> bytes:
    """A card as it stands in a PNG."""
    return base64.b64encode(json.dumps(one).encode())


TEXT_CHUNKS = {
    "tEXt": lambda name, text: name + b"\0" + text,
    "zTXt": lambda name, text: name + b"\0\0" + zlib.compress(text),
    "iTXt": lambda name, text: name + b"\0\0\0en\0Charakter\0" + text,
    "iTXt compressed": lambda name, text: name + b"\0\1\0\0\0" + zlib.compress(text),
}


def png(kind="tEXt", **chunks) -> bytes:
    """A picture of one pixel with text chunks."""
    return picture(*((kind[:4].encode(), TEXT_CHUNKS[kind](n.encode(), coded(one))) for n, one in chunks.items()))


def picture(*chunks) -> bytes:
    """A picture of one pixel with chunks after its header."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunk(*one) for one in chunks) + pixel + chunk(b"IEND", b"")


def zipped(**members) -> bytes:
    """A zip of files by name, `__` for a dot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        for name, content in members.items():
            into.writestr(
                name.replace("__", "."), content if isinstance(content, (bytes, str)) else json.dumps(content)
            )
    return packed.getvalue()
