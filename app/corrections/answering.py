"""A question that is answered in plain words, in the next turn: only by what names exactly one of its options. Pure."""

from collections.abc import Iterator, Sequence

from app.corrections.lexicon import Lexicon, lexicons
from app.corrections.matching import words_of
from app.corrections.reading import EDGES, EVERYWHERE, take_place
from app.corrections.records import Option
from app.text.content import content_terms

ANSWER_WORDS = 12
"""Longer messages are talk."""


def may_answer(text: str) -> bool:
    """Whether a message is short enough to be an answer, and asks nothing."""
    return "?" not in text and 0 < len(text.split()) <= ANSWER_WORDS


def chosen_by(text: str, options: Sequence[Option]) -> Option | None:
    """The only option that an answer names; None if it names none, or more than one."""
    said = text.strip(EDGES)
    found = {option.key: option for lexicon in lexicons().values() for option in _named(said, options, lexicon)}
    return next(iter(found.values())) if len(found) == 1 else None


def _named(said: str, options: Sequence[Option], lexicon: Lexicon) -> Iterator[Option]:
    for key in ("everything", "nothing"):
        if any(pattern.fullmatch(said) for pattern in lexicon.answers[key]):
            yield from (option for option in options if option.key == key)
            return
    place = _place(said, lexicon)
    if place is not None:
        yield from (option for option in options if _kind(option) == place)
        return
    entries = [option for option in options if _is_entry(option)]
    for pattern, option in zip(lexicon.answers["ordinals"], entries, strict=False):
        if pattern.fullmatch(said):
            yield option
            return
    for pattern in lexicon.answers["named"]:
        words = set(words_of(found["named"])) if (found := pattern.fullmatch(said)) else set()
        if found and content_terms(found["named"]):
            meant = [option for option in entries if words <= set(words_of(option.label))]
            yield from meant
            if meant:
                return


def _place(said: str, lexicon: Lexicon) -> str | None:
    """The kind of scope that an answer names, and nothing else."""
    rest, place = take_place(said, lexicon)
    return place if place and not lexicon.around.sub("", rest).strip(EDGES) else None


def _kind(option: Option) -> str | None:
    """The kind of scope that an option is about; None for one that names an entry."""
    if _is_entry(option) or option.scope is None:
        return None
    return option.scope.rpartition("/")[2].partition(":")[0] or EVERYWHERE


def _is_entry(option: Option) -> bool:
    return option.entry_id is not None or (option.erase is not None and len(option.erase) == 1)
