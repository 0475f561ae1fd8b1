"""Public ids: a prefix for the kind, a UUIDv7 and the id of the space that holds the item.

The space travels in the id so that an item route touches one partition.
"""

from base64 import b32hexdecode
from binascii import Error as BinasciiError
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Self
from uuid import UUID

_BODY_CHARS = 52
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PADDING = "===="


class IdKind(StrEnum):
    """Prefix of a public id."""

    MEMORY = "mem"
    EPISODE = "epi"
    PROCEDURE = "pro"
    SOUL = "sol"
    ASSEMBLY = "asm"
    SESSION = "ses"
    CONVERSATION = "cnv"
    TURN = "trn"
    MESSAGE = "msg"
    JOB = "job"
    CORRECTION = "cor"
    RECEIPT = "rcp"
    RECORD = "rec"


_PREFIXES = frozenset(kind.value for kind in IdKind)


class PublicId(tuple[int, int, IdKind]):  # noqa: SLOT001 - a tuple that has slots cannot have attributes
    """Id of an item. Orders by time of creation: the UUIDv7 comes first.

    A tuple of its numbers, because assemblies compare, sort and hash ids by the thousand.
    """

    uuid: UUID
    space_id: UUID
    _text: str

    def __new__(cls, uuid: UUID, space_id: UUID, kind: IdKind) -> Self:
        """The id of an item of a kind in a space."""
        made = super().__new__(cls, (uuid.int, space_id.int, kind))
        made.uuid = uuid
        made.space_id = space_id
        return made

    def __getnewargs__(self) -> tuple[UUID, UUID, IdKind]:
        return self.uuid, self.space_id, self.kind

    @property
    def kind(self) -> IdKind:
        """What the item is."""
        return self[2]

    def __repr__(self) -> str:
        return f"PublicId({str(self)!r})"

    def __str__(self) -> str:
        known: str | None = self.__dict__.get("_text")
        if known is not None:
            return known
        first_bits, tail = _space_digits(self[1])
        number = self[0] << 2 | first_bits
        text = f"{self.kind}_{''.join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])}{tail}"
        self._text = text  # ids of spaces in memory are printed again and again
        return text


_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_PAIRS = tuple(one + other for one in _DIGITS for other in _DIGITS)
_SHIFTS = range(120, -1, -10)


@lru_cache(maxsize=4_096)
def _space_digits(space_id: int) -> tuple[int, str]:
    """The two bits of a space's id that share a digit with the item's, and the digits of all others.

    Together with the item's, they are its 32 bytes in base32hex; encoding each id anew takes four times as long.
    """
    rest = (space_id & ((1 << 126) - 1)) << 4
    return space_id >> 126, "".join(_PAIRS[rest >> shift & 1023] for shift in _SHIFTS)


def last_uuid_of(moment: datetime) -> UUID:
    """The greatest UUIDv7 that can have been made in the millisecond of a moment (RFC 9562, section 5.7)."""
    milliseconds = (moment - _EPOCH) // timedelta(milliseconds=1)
    return UUID(int=max(milliseconds, 0) << 80 | (1 << 80) - 1)


def parse_id(text: str) -> PublicId:
    """Read a public id.

    Raises:
        ValueError: If the text is no public id.
    """
    prefix, separator, body = text.partition("_")
    if not separator or prefix not in _PREFIXES or len(body) != _BODY_CHARS or body != body.lower():
        raise ValueError("no such kind of id")
    try:
        raw = b32hexdecode(body.upper() + _PADDING)
    except (BinasciiError, ValueError) as error:
        raise ValueError("no such kind of id") from error
    found = PublicId(UUID(bytes=raw[:16]), UUID(bytes=raw[16:]), IdKind(prefix))
    if str(found) != text:
        raise ValueError("no such kind of id")
    return found


def find_id(text: str, *kinds: IdKind) -> PublicId | None:
    """Read a public id of one of some kinds; None if the text is none."""
    try:
        found = parse_id(text)
    except ValueError:
        return None
    return found if found.kind in kinds else None
