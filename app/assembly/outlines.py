"""Outlines: what decides whether two texts are worth comparing, as numbers that are stored beside them.

Reading a text (its claims, its wording, what it says) takes half a millisecond, and an assembly has
hundreds of them. So a text is read once, when it is written. An assembly compares outlines, and reads
only the pairs that may contradict or repeat each other: the rules themselves always judge the texts.
"""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from struct import Struct
from zlib import crc32

from app.contradictions.detect import Topics, topics
from app.domain.entries import Claim
from app.text.content import Gist, gist

_HEAD = Struct("<IHHHHI")
_RULES = ("app.contradictions", "app.text")
_LIBRARIES = ("py3langid", "pystemmer")
_MOST = 65_535


@dataclass(frozen=True, slots=True)
class Outline:
    """What a text can contradict, and what it can repeat."""

    topics: Topics
    gist: Gist


def outline(text: str, claim: Claim | None) -> Outline:
    """Read a text."""
    return Outline(topics(text, claim), gist(text))


def pack_outline(known: Outline) -> bytes:
    """As it is stored, with a fingerprint of the rules that made it."""
    numbers = (known.topics.keys, known.topics.words, known.gist.words)
    head = _HEAD.pack(
        rules_fingerprint(),
        len(known.topics.keys),
        len(known.topics.words),
        min(known.gist.length, _MOST),
        min(known.gist.negations, _MOST),
        known.gist.normal,
    )
    return head + b"".join(number.to_bytes(4, "little") for one in numbers for number in sorted(one))


def unpack_outline(stored: bytes | None) -> Outline | None:
    """What was stored; None when there is nothing, or when other rules made it."""
    if stored is None or len(stored) < _HEAD.size:
        return None
    made_by, keys, topic_words, length, negations, normal = _HEAD.unpack_from(stored)
    if made_by != rules_fingerprint():
        return None
    numbers = memoryview(stored)[_HEAD.size :].cast("I").tolist()
    first, second = keys, keys + topic_words
    return Outline(
        Topics(frozenset(numbers[:first]), frozenset(numbers[first:second])),
        Gist(frozenset(numbers[second:]), length, negations, normal),
    )


@cache
def rules_fingerprint() -> int:
    """Changes with every change of the code, the data or the libraries that read a text."""
    found = 0
    for package in _RULES:
        found = _fingerprint(files(package), found)
    for library in _LIBRARIES:
        found = crc32(version(library).encode(), found)
    return found


def _fingerprint(folder: Traversable, before: int) -> int:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir() and entry.name != "__pycache__":
            before = _fingerprint(entry, before)
        elif entry.name.endswith((".py", ".toml", ".txt")):
            before = crc32(entry.read_bytes(), before)
    return before
