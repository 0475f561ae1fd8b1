"""What must not come back: marks of texts and claims. The store keeps keyed hashes of them, never a text. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from app.contradictions.claims import claim_key, value_key
from app.contradictions.facts import says_now
from app.domain.entries import Content
from app.domain.ids import PublicId
from app.text.normalise import normalise_text


class Burial(StrEnum):
    """Why something must not come back: it was put right, or forgotten."""

    CORRECTED = "corrected"
    ERASED = "erased"


class Mark(NamedTuple):
    """What a tombstone is found by."""

    burial: Burial
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Since when something must not come back, and the entry that holds instead."""

    created_at: datetime
    entry: PublicId | None = None


def value_marks(content: Content) -> tuple[Mark, ...]:
    """The marks of what a memory says, where it says so: its text, and its claim."""
    return tuple(mark for mark in (_text_mark(content), _claim_mark(content)) if mark is not None)


def _text_mark(content: Content) -> Mark:
    return Mark(Burial.CORRECTED, ("text", content.scope, normalise_text(content.text)))


def _claim_mark(content: Content) -> Mark | None:
    if content.claim is None:
        return None
    return Mark(Burial.CORRECTED, ("claim", content.scope, *claim_key(content.claim), value_key(content.claim)))


def erased_mark(text: str) -> Mark:
    """The mark of a text that was forgotten, wherever it held."""
    return Mark(Burial.ERASED, ("text", normalise_text(text)))


def erased_block_mark(text: str) -> Mark:
    """The mark of a soul block that was erased."""
    return Mark(Burial.ERASED, ("block", normalise_text(text)))


def erased_record_mark(text: str) -> Mark:
    """The mark of a record that was erased."""
    return Mark(Burial.ERASED, ("record", normalise_text(text)))


ERASED_SPACE: Final = Mark(Burial.ERASED, ("space",))
"""The mark of a space that was erased whole."""


def erased_since(mark: Mark, buried: Mapping[Mark, Tombstone]) -> datetime | None:
    """Since when something must not come back, by itself or with its whole space; None: it may."""
    return max((buried[one].created_at for one in (mark, ERASED_SPACE) if one in buried), default=None)


def is_refused(content: Content, buried: Mapping[Mark, Tombstone]) -> Tombstone | None:
    """The correction that took back what a content says; None if none did.

    The same words are never anything but a repetition. Other words for the same value tell something new if they say
    that it began after the correction, by `valid_from` or by a word such as "now".
    """
    by_text = buried.get(_text_mark(content))
    if by_text is not None:
        return None if _began_after(content, by_text) else by_text
    mark = _claim_mark(content)
    by_claim = None if mark is None else buried.get(mark)
    if by_claim is None or _began_after(content, by_claim) or says_now(content.text):
        return None
    return by_claim


def _began_after(content: Content, tombstone: Tombstone) -> bool:
    return content.valid_from is not None and content.valid_from > tombstone.created_at
