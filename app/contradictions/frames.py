"""Frames: a short text with one place left open, where only one member of a closed set can stand.

"An old man in a grey coat feeds pigeons" and the same with a brown coat differ in one colour. Whether they
exclude each other depends on the rest: two descriptions of what is to be seen, word for word alike but
for that, are of one scene; so are two sentences that say of one definite thing what it is made of, or of one
person where they come from. "Plays the violin" and "has a grey cat" are no frames: one can play the
cello too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from app.contradictions.features import language_of
from app.contradictions.lexicon import EXCLUSIVE, Language
from app.contradictions.phrase import Phrase, number_at
from app.contradictions.wording import Word, sentences

FRAME_WORDS = 45
"""How long a sentence may be; long ones are told apart by their claims alone."""

HEAD_WITHIN = 6
"""The noun that a description is about stands among so many first words."""

ENOUGH_AROUND = 2
"""So many words with content must stand around the open place of a scene."""

_LISTED = frozenset(("drink", "vegetable", "instrument"))
_PREDICATES = frozenset(("material", "nationality"))
_ORDINAL_MARKS = frozenset(("st", "nd", "rd", "th"))


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around an open place, and what stands in it, in normal form."""

    around: str
    value: str


@dataclass(frozen=True, slots=True)
class _Slot:
    """Words `start` to `end` of a sentence are `value`, one of the set `name`."""

    start: int
    end: int
    name: str
    value: str


@lru_cache(maxsize=8192)
def frames_of(text: str) -> tuple[Frame, ...]:
    """The frames of a text of one sentence, in its order; none for a longer one."""
    found = sentences(text)
    if len(found) != 1 or found[0].is_question or len(found[0].words) > FRAME_WORDS:
        return ()
    words = found[0].words
    language = language_of(text, words)
    if _is_scene(words, language):
        return tuple(_scene_frames(words, language))
    return tuple(_predicate_frames(words, language))


def _is_scene(words: tuple[Word, ...], language: Language) -> bool:
    """Whether a sentence describes people or animals as they are seen, not what they do as a rule."""
    folded, scenes = [word.folded for word in words], language.scenes
    marked = language.words["past"] | language.words["first_person"] | language.words["hedges"]
    if not (marked - scenes.after_head).isdisjoint(folded) or not _has_head(folded, language):
        return False
    going_on = scenes.progressive is not None and any(map(scenes.progressive.fullmatch, folded))
    if scenes.indefinite:
        return going_on or folded[0] in scenes.indefinite | language.numbers.keys() | scenes.heads
    return language.words["many"].isdisjoint(folded)


def _has_head(folded: list[str], language: Language) -> bool:
    """Whether one of the first words names whom a scene is about, before any verb of having or doing."""
    scenes, others = language.scenes, language.words["many"] | language.subjects.kin.keys() - language.scenes.kin_heads
    for index, word in enumerate(folded[:HEAD_WITHIN]):
        if word in scenes.heads:
            return True
        after = folded[index + 1] if index + 1 < len(folded) else ""
        if word in others or language.synonyms.get(word) == "have":
            return False
        if word in scenes.kin_heads and (index or after in scenes.after_head):
            return True
    return False


def _scene_frames(words: tuple[Word, ...], language: Language) -> Iterator[Frame]:
    slots = list(_slots(words, language))
    for slot in slots:
        if not (slot.name in _LISTED and _is_listed(words, slot, language)):
            yield from _frame(words, slot, slots, language, enough=ENOUGH_AROUND)
    negators = language.words["negators"]
    rest = [word.folded for word in words if word.folded not in negators | {"do", "does"}]
    yield Frame("negation\n" + " ".join(_without_articles(rest, language)), f"{len(rest) < len(words)}")


def _predicate_frames(words: tuple[Word, ...], language: Language) -> Iterator[Frame]:
    """What a definite thing is made of, or where somebody comes from, at the end of a sentence."""
    known = language.subjects
    first = words[0].folded
    if (first,) in known.self_phrases or (first in language.words["first_person"] and len(words) < 4):
        return
    if first in known.indefinite or first in known.copulas:
        return
    slots = [slot for slot in _slots(words, language) if slot.name in _PREDICATES]
    if not slots or slots[-1].end != len(words):
        return
    before = [word.folded for word in words[: slots[-1].start]]
    if any(copula in before[-3:] for copula in known.copulas):
        yield from _frame(words, slots[-1], slots, language, enough=1)


def _is_listed(words: tuple[Word, ...], slot: _Slot, language: Language) -> bool:
    lists = language.scenes.lists
    before = words[slot.start - 1].folded if slot.start else ""
    after = words[slot.end].folded if slot.end < len(words) else ""
    return before in lists or after in lists


def _frame(
    words: tuple[Word, ...], slot: _Slot, slots: list[_Slot], language: Language, *, enough: int
) -> Iterator[Frame]:
    """The frame of a slot, the other slots in normal form; none when hardly anything stands around it."""
    filled = {other.start: other for other in slots}
    around, index = list[str](), 0
    while index < len(words):
        other = filled.get(index)
        if other is None:
            around.append(words[index].folded)
        elif other is not slot:
            around.append(f"{other.name}={other.value}")
        else:
            around.append(f"<{slot.name}>")
        index = other.end if other else index + 1
    around = _without_articles(around, language)
    content = sum(word not in language.words["stopwords"] and word[0] != "<" for word in around)
    if content >= enough:
        yield Frame(" ".join(around), slot.value)


def _without_articles(folded: list[str], language: Language) -> list[str]:
    dropped = language.subjects.articles | {"a", "an"}
    return [word for word in folded if word not in dropped]


def _slots(words: tuple[Word, ...], language: Language) -> Iterator[_Slot]:
    index = 0
    while index < len(words):
        slot = _slot_at(words, index, language)
        if slot:
            yield slot
        index = slot.end if slot else index + 1


def _slot_at(words: tuple[Word, ...], index: int, language: Language) -> _Slot | None:
    ordinal = _ordinal(words, index, language)
    if ordinal:
        return ordinal
    number = number_at(Phrase(words[index : index + 2], language))
    if number:
        return _Slot(index, index + number[1], "number", f"{number[0]:g}")
    for count in range(min(3, len(words) - index), 0, -1):
        text = " ".join(word.folded for word in words[index : index + count])
        for form in (text, text.removesuffix("s")) if language.code == "en" else (text,):
            for name in EXCLUSIVE:
                if form in language.closed[name]:
                    return _Slot(index, index + count, name, language.closed[name][form])
        if text in language.scenes.opposites:
            axis, pole = language.scenes.opposites[text]
            return _Slot(index, index + count, axis, f"{pole}")
    return None


def _ordinal(words: tuple[Word, ...], index: int, language: Language) -> _Slot | None:
    word = words[index].folded
    after = words[index + 1].folded if index + 1 < len(words) else ""
    if word in language.ordinals:
        return _Slot(index, index + 1, "ordinal", f"{language.ordinals[word]}")
    if word.isdigit() and after in _ORDINAL_MARKS:
        return _Slot(index, index + 2, "ordinal", word)
    return None
