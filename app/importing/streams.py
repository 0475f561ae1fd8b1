"""Files as streams of text: encodings, archives, and bounds that hold whatever a file claims of itself."""

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO, cast

from app.importing.items import BrokenFileError

ARCHIVE_BYTES: Final = 8 << 30
"""What the files of an archive may unpack to."""

ARCHIVE_RATIO: Final = 200
"""How much longer than packed a file may be: text packs to a tenth, a bomb to a thousandth."""

_ALWAYS_BYTES: Final = 16 << 20
"""Below this nothing is a bomb."""

_ZIP: Final = b"PK\x03\x04"
_PNG: Final = b"\x89PNG"
"""A card in a PNG lies in its chunks, whatever is behind the picture."""

_BLOCK_BYTES: Final = 1 << 16
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Counted(io.RawIOBase):
    """A stream that counts what was read of it, and ends with an error at its bound."""

    def __init__(self, source: BinaryIO, limit: int | None = None) -> None:
        super().__init__()
        self._source = source
        self._limit = limit
        self.bytes = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read what fits."""
        room = memoryview(buffer).cast("B")
        try:
            read = self._source.read(len(room))
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise BrokenFileError(f"it cannot be read any further: {error}") from error
        except zlib.error as error:
            raise BrokenFileError("the archive is damaged") from error
        self.bytes += len(read)
        if self._limit is not None and self.bytes > self._limit:
            raise BrokenFileError(f"the archive unpacks to more than {self._limit:,} bytes, which no export does")
        room[: len(read)] = read
        return len(read)


def buffered(source: Counted) -> io.BufferedReader:
    """A stream that can be looked into before it is read."""
    return io.BufferedReader(source, _BLOCK_BYTES)


@contextmanager
def opened(path: Path) -> Iterator[Counted]:
    """The bytes of a file."""
    with path.open("rb") as file:
        yield Counted(file)


@dataclass(slots=True)
class Archive:
    """Files of an archive, one after the other.

    Attributes:
        names: Of all its files.
    """

    _zip: zipfile.ZipFile
    names: Sequence[str]
    _read: list[Counted] = field(default_factory=list)
    _bytes: int = 1

    def each(self, names: Sequence[str]) -> Iterator[tuple[str, Counted]]:
        """Some of them, unpacked while they are read."""
        found = [self._zip.getinfo(name) for name in names]
        self._bytes = max(sum(one.file_size for one in found), 1)
        for one in found:
            self._read.append(_member(self._zip, one))
            yield one.filename, self._read[-1]

    def progress(self) -> float:
        """How much of these was read, from 0 to 1."""
        return min(sum(one.bytes for one in self._read) / self._bytes, 1.0)


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, or has one behind a picture."""
    with path.open("rb") as file:
        head = file.read(len(_ZIP))
        return head == _ZIP or (head != _PNG and zipfile.is_zipfile(file))


@contextmanager
def unpacked(path: Path) -> Iterator[Archive]:
    """An archive.

    Raises:
        BrokenFileError: If it is none.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise BrokenFileError(f"it is no zip archive: {error}") from error
    with archive:
        yield Archive(archive, sorted(archive.namelist()))


def _member(archive: zipfile.ZipFile, one: zipfile.ZipInfo) -> Counted:
    try:
        source = archive.open(one)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # encrypted, or packed in another way
        raise BrokenFileError(f"{one.filename} cannot be unpacked: {error}") from error
    limit = min(ARCHIVE_BYTES, max(_ALWAYS_BYTES, one.compress_size * ARCHIVE_RATIO))
    return Counted(cast("BinaryIO", source), limit)


def text_of(source: io.BufferedReader, encoding: str | None = None) -> TextIO:
    """The text of a stream: UTF-8 unless it begins like UTF-16 or UTF-32, or an encoding is named.

    Bytes that are no UTF-8 become lone surrogates, which whoever takes a text refuses by name.

    Raises:
        BrokenFileError: If there is no such encoding.
    """
    name = encoding or _encoding(source.peek(4)[:4])
    errors = "surrogateescape" if name.startswith("utf-8") else "replace"
    try:
        return io.TextIOWrapper(source, encoding=name, errors=errors)
    except LookupError as error:
        raise BrokenFileError(f"there is no encoding {name}") from error


def _encoding(head: bytes) -> str:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if len(head) == 4 and head.count(0) == 2:
        return "utf-16-le" if head[1] == head[3] == 0 else "utf-16-be"
    return "utf-8"


def is_unreadable(text: str) -> bool:
    """Whether some of it was no text in the encoding of its file."""
    return any("\udc80" <= character <= "\udcff" for character in text)
