"""Two wordings of nearly the same content: what makes them exclude each other."""

from functools import lru_cache
from typing import Literal

from app.contradictions.features import Features, features
from app.contradictions.lexicon import languages
from app.contradictions.normal import wide_places
from app.contradictions.wording import Sentence, sentences

ENOUGH_SHARED = 5
"""From so many common content words on, one more word on one side changes little."""

WordingWhy = Literal["negation", "antonym", "number", "time", "place"]


def clash(one: Features, other: Features) -> WordingWhy | None:
    """Why two wordings exclude each other: they differ in exactly one respect that allows one answer.

    Two differences cancel out or name two things: "always early" and "never late" agree, "5 km on
    Monday" and "10 km on Friday" are two runs.
    """
    if one.is_indefinite or other.is_indefinite:
        return None
    if not _same_content(one, other) or {axis for axis, _ in one.poles} != {axis for axis, _ in other.poles}:
        return None
    slots = _differing_slots(one, other)
    opposed = sorted(axis for axis, _ in one.poles - other.poles)
    turns = len(opposed) + (one.negated != other.negated)
    if len(slots) + turns != 1:
        return None
    if slots:
        return _slot_clash(slots[0], one, other)
    if opposed:
        return "antonym" if opposed[0].startswith("verb") or not _may_differ(one, other) else None
    return "negation" if one.content == other.content else None


@lru_cache(maxsize=4096)
def said_of_self(text: str) -> tuple[Features, ...]:
    """The sentences of a message that state something about its author, taken apart."""
    return tuple(
        features(text[sentence.words[0].start : sentence.words[-1].end])
        for number, sentence in enumerate(sentences(text))
        if _is_of_self(sentence, is_first=number == 0)
    )


def _is_of_self(sentence: Sentence, *, is_first: bool) -> bool:
    """Neither a question nor a guess nor about others; a later sentence must say "I" in some way."""
    folded = [word.folded for word in sentence.words]
    of_others = any(
        (folded[0],) in language.subjects.strangers or not language.words["hedges"].isdisjoint(folded)
        for language in languages()
    )
    of_self = any(not language.words["first_person"].isdisjoint(folded[:3]) for language in languages())
    return not sentence.is_question and not of_others and (is_first or of_self)


def _same_content(one: Features, other: Features) -> bool:
    shared = one.content & other.content
    if not shared and not (one.poles and other.poles):
        return False
    extra = one.content ^ other.content
    return not extra or (len(extra) == 1 and len(shared) >= ENOUGH_SHARED)


def _differing_slots(one: Features, other: Features) -> list[WordingWhy]:
    slots: list[WordingWhy] = []
    if one.numbers != other.numbers:
        slots.append("number")
    if one.times != other.times:
        slots.append("time")
    if one.places != other.places:
        slots.append("place")
    return slots


def _slot_clash(slot: WordingWhy, one: Features, other: Features) -> WordingWhy | None:
    if one.is_past or other.is_past:
        return None
    clashes = {"number": _numbers_clash, "time": _times_clash, "place": _places_clash}
    return slot if clashes[slot](one, other) else None


def _may_differ(one: Features, other: Features) -> bool:
    return one.is_past or other.is_past or one.is_list or other.is_list


def _numbers_clash(one: Features, other: Features) -> bool:
    counted = [what for what, _ in one.numbers]
    if not counted or counted != [what for what, _ in other.numbers]:
        return False
    return sum(a != b for a, b in zip(one.numbers, other.numbers, strict=True)) == 1


def _times_clash(one: Features, other: Features) -> bool:
    if not (one.one_time and other.one_time) or one.is_list or other.is_list:
        return False
    return len(one.times) == len(other.times) > 0 and _kinds(one.times) == _kinds(other.times)


def _kinds(times: frozenset[str]) -> list[str]:
    return sorted(time.partition(" ")[0] for time in times)


def _places_clash(one: Features, other: Features) -> bool:
    if not (one.one_place and other.one_place) or one.is_list or other.is_list:
        return False
    if not len(one.places) == len(other.places) == 1:
        return False
    [here], [there] = one.places, other.places
    return (here in wide_places()) == (there in wide_places())
