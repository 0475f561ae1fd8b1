"""Lorebooks: SillyTavern's World Info, and the books of character cards."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from app.consolidation.decay import PINNED
from app.importing.items import Bad, BrokenFileError, Choices, Fact, Item, LeftOut, RowError, mark_of
from app.importing.scanning import Scanner
from app.importing.values import given, label, tags, text

_CONSTANT_IMPORTANCE: Final = 0.9
_CONTEXT_CHARS: Final = 2_000
_PLACEHOLDER: Final = re.compile(r"(?:\{\{|<)(char|bot|user|original)(?:\}\}|>)", re.IGNORECASE)
_DECORATORS: Final = re.compile(r"\A\s*(?:@@.*(?:\n|\Z)\s*)+")
"""Lines that tell where in a prompt an entry goes, in the third version of cards."""


def read(scanner: Scanner, choices: Choices) -> Iterator[Item]:
    """The entries of a file.

    Raises:
        BrokenFileError: If it is no lorebook.
    """
    book = scanner.value()
    if isinstance(book, dict) and isinstance(book.get("data"), dict):  # a lorebook of the third version of cards
        book = book["data"]
    if not isinstance(book, dict):
        raise BrokenFileError("it is no lorebook: it has no entries")
    name = book.get("name")
    own = name if isinstance(name, str) and name.strip() else choices.name
    yield from entries(book, choices.space or lore_space(own))


def lore_space(name: str) -> str:
    """The space of a book."""
    return f"lore:{named(name)}"


def named(name: str) -> str:
    """A name as the name of a space can be: without what it cannot hold."""
    kept = "".join(" " if character == "/" or not character.isprintable() else character for character in name)
    return " ".join(kept.split())[:100].strip() or "unnamed"


def filled(text: str, character: str | None) -> str:
    """A text with names in place of SillyTavern's placeholders; those of nobody in particular stay."""
    names = {"char": character, "bot": character, "user": "the user", "original": ""}

    def name(found: re.Match[str]) -> str:
        known = names[found[1].lower()]
        return found[0] if known is None else known

    return _PLACEHOLDER.sub(name, text)


def entries(book: Mapping[str, Any], space: str, character: str | None = None) -> Iterator[Item]:
    """The entries of a book in their order; those that are switched off are left out.

    Args:
        character: Whose book it is.

    Raises:
        BrokenFileError: If it has none.
    """
    found = book.get("entries")
    if not isinstance(found, (dict, list)):
        raise BrokenFileError("it is no lorebook: it has no entries")
    numbered = found.items() if isinstance(found, dict) else enumerate(found)
    for number, one in numbered:
        where = f"entry {label(str(number))}"
        try:
            yield _entry(where, str(number), one, space, character)
        except ValueError as error:
            yield Bad(where, str(error))


def _entry(where: str, number: str, one: Any, space: str, character: str | None) -> Item:
    if not isinstance(one, dict):
        raise RowError("it is no entry")
    if one.get("disable") is True or one.get("enabled") is False:
        return LeftOut(where, "it is switched off")
    content = filled(_DECORATORS.sub("", text(one.get("content"), "content")), character).strip()
    if not content:
        return LeftOut(where, "it has no content")
    keys = tags(one.get("keys", one.get("key")), one.get("secondary_keys", one.get("keysecondary")))
    words = [key for key in keys if not key.startswith("/")]  # the others are regular expressions
    is_constant = one.get("constant") is True
    title = text(one.get("comment"), "comment") or text(one.get("name"), "name")
    identity = one.get("uid", one.get("id", number))
    return Fact(
        where=where,
        space=space,
        mark=mark_of("lorebook", space, identity, content),
        body=given(
            text=content,
            tags=[*([PINNED] if is_constant else []), *words][:32],
            importance=_CONSTANT_IMPORTANCE if is_constant else None,
            context=", ".join(dict.fromkeys(filter(str.strip, (title, *words))))[:_CONTEXT_CHARS],
            source=label(f"lorebook:{identity}"),
        ),
    )
