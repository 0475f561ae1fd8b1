"""JSON that is too long to be read at once: one value after the other, each with its line."""

import json
from collections.abc import Iterator
from typing import Any, Final, TextIO

from app.importing.items import BrokenFileError

VALUE_CHARS: Final = 1 << 28
"""The longest single value; a conversation of a year has a hundredth of that."""

_CHUNK_CHARS: Final = 1 << 16
_BLANK: Final = " \t\r\n"
_NEAR_END: Final = 16
"""So near the end of what was read a value may be cut in the middle of a word or an escape."""


class Scanner:
    """Reads values from a stream of JSON.

    Attributes:
        line: Where it stands, from 1.
    """

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._decoder = json.JSONDecoder(strict=False)
        self._text = ""
        self._at = 0
        self._ended = False
        self.line = 1

    def peek(self) -> str:
        """The next character that is not blank, which is still to be read; empty at the end."""
        while True:
            start = self._at
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            self.line += self._text.count("\n", start, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, *wanted: str) -> str:
        """Read the next character.

        Raises:
            BrokenFileError: If it is none of those wanted.
        """
        found = self.peek()
        if found not in wanted or not found:
            raise self._broken(f"{' or '.join(wanted)} is missing" if found else "the file ends too early")
        self._at += 1
        return found

    def value(self) -> Any:
        """Read a whole value.

        Raises:
            BrokenFileError: If there is none that can be read.
        """
        if not self.peek():
            raise self._broken("the file ends too early")
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._may_be_cut(error) and self._more():
                    continue
                line = self.line + self._text.count("\n", self._at, error.pos)
                raise self._broken(error.msg.lower(), line) from error
            except (RecursionError, ValueError) as error:
                raise self._broken("a value is nested too deeply, or a number has too many digits") from error
            if end == len(self._text) and self._more():  # a number might go on
                continue
            self.line += self._text.count("\n", self._at, end)
            self._at = end
            return found

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return "Unterminated string" in error.msg or error.pos >= len(self._text) - _NEAR_END

    def _more(self) -> bool:
        """Read on, as much again as is still there; whether there was anything."""
        if self._ended:
            return False
        left = self._text[self._at :]
        if len(left) > VALUE_CHARS:
            raise self._broken(f"a value has more than {VALUE_CHARS:,} characters")
        try:
            read = self._source.read(max(_CHUNK_CHARS, len(left)))
        except UnicodeError as error:
            raise self._broken("it is not in the encoding that its beginning promises") from error
        if not read:
            self._ended = True
            return False
        self._text, self._at = left + read, 0
        return True

    def _broken(self, why: str, line: int | None = None) -> BrokenFileError:
        return BrokenFileError(f"line {line or self.line}: {why}")


def members(scanner: Scanner) -> Iterator[str]:
    """The names of an object's members; the value of each is to be read before the next is asked for."""
    scanner.take("{")
    if scanner.peek() == "}":
        scanner.take("}")
        return
    while True:
        name = scanner.value()
        if not isinstance(name, str):
            raise BrokenFileError(f"line {scanner.line}: a member has no name")
        scanner.take(":")
        yield name
        if scanner.take(",", "}") == "}":
            return


def elements(scanner: Scanner) -> Iterator[tuple[int, Any]]:
    """The elements of an array, each with the line on which it begins."""
    scanner.take("[")
    if scanner.peek() == "]":
        scanner.take("]")
        return
    while True:
        scanner.peek()
        line = scanner.line
        yield line, scanner.value()
        if scanner.take(",", "]") == "]":
            return


def rows(scanner: Scanner, *names: str) -> Iterator[tuple[int, Any]]:
    """The elements of an array that is the whole document, or a member of it that has one of some names.

    Raises:
        BrokenFileError: If there is none; while it is read, if it breaks off.
    """
    if scanner.peek() == "[":
        yield from elements(scanner)
        return
    found = False
    for name in members(scanner):
        if name in names and scanner.peek() == "[":
            found = True
            yield from elements(scanner)
        else:
            scanner.value()
    if not found:
        raise BrokenFileError(f"there is no list {' or '.join(names)} in it")
