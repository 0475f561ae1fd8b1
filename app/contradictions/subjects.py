"""Whom or what a sentence is about: "my wife" is "self's wife", an elided subject is "self"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.contradictions.lexicon import Language, languages
from app.contradictions.phrase import Phrase
from app.contradictions.wording import Word, sentences

SELF = "self"
NOUN_WORDS = 3
_KEY_SEPARATOR = "'s "


@dataclass(frozen=True, slots=True)
class Subject:
    """A way to read the start of a sentence.

    Attributes:
        name: Whom it is about, in normal form.
        after: How many words name the subject.
        attribute: The canonical attribute and the kind of its value when the noun is one ("my name").
        elided: Nothing names the subject.
    """

    name: str
    after: int
    attribute: tuple[str, str] | None = None
    elided: bool = False


def subjects_of(words: Sequence[Word], language: Language) -> Iterator[Subject]:
    """Every way to read the subject of a sentence, the likeliest first; none if it is a stranger or just anybody."""
    phrase = Phrase(words, language)
    known = language.subjects
    if _prefix(phrase, known.strangers) or phrase.at(0) in known.indefinite:
        return
    alone = _prefix(phrase, known.self_phrases)
    if alone:
        yield Subject(SELF, alone)
    yield Subject(SELF, 0, elided=True)
    owned = _prefix(phrase, known.possessives)
    if owned:
        yield from _nouns(phrase, owned, SELF)
    else:
        yield from _names(phrase)
        yield from _things(phrase)


def _prefix(phrase: Phrase, candidates: Sequence[tuple[str, ...]] | frozenset[tuple[str, ...]]) -> int:
    starts = tuple(word.folded for word in phrase.words[:4])
    return max((len(one) for one in candidates if starts[: len(one)] == one), default=0)


def _names(phrase: Phrase) -> Iterator[Subject]:
    """Proper names, and what belongs to them: "Mira", "Mira's brother"."""
    subjects, words = phrase.language.subjects, phrase.language.words
    stops = words["name_stops"] | words["leads"] | subjects.kin.keys() | subjects.own.keys()
    for count in (2, 1):
        named = phrase.words[:count]
        if len(named) == count and all(w.capital and w.folded not in stops for w in named):
            name = " ".join(word.folded for word in named)
            yield Subject(name, count)
            yield from _possessed(phrase, count, name)


def _possessed(phrase: Phrase, after: int, owner: str) -> Iterator[Subject]:
    if phrase.at(after) in phrase.language.subjects.genitive_before:
        yield from _nouns(phrase, after + 1, owner)


def _things(phrase: Phrase) -> Iterator[Subject]:
    """Nouns with an article, and nouns that need none: "the meeting", "favourite colour"."""
    article = int(phrase.at(0) in phrase.language.subjects.articles)
    for subject in _nouns(phrase, article, None):
        if article or subject.attribute or subject.name.startswith(SELF):
            yield subject


def _nouns(phrase: Phrase, start: int, owner: str | None) -> Iterator[Subject]:
    stops = phrase.language.words["negators"] | phrase.language.subjects.copulas | {","}
    for count in range(1, NOUN_WORDS + 1):
        noun = [word.folded for word in phrase.words[start : start + count]]
        if len(noun) < count or noun[-1] in stops:
            return
        after = start + count
        whose, end = owner, after
        if owner is None and phrase.at(after) in phrase.language.subjects.genitive_after:
            whose, end = _genitive(phrase, after)
        subject = _named(" ".join(noun), whose, end, phrase.language)
        yield subject
        if subject.attribute is None:
            yield from _possessed(phrase, end, subject.name)
            if subject.name.startswith(SELF) and end < len(phrase.words) and phrase.words[end].capital:
                yield Subject(subject.name, end + 1)


def _genitive(phrase: Phrase, index: int) -> tuple[str | None, int]:
    """The owner after "of": a proper name only."""
    if index + 1 < len(phrase.words) and phrase.words[index + 1].capital:
        return phrase.at(index + 1), index + 2
    return None, index


def _named(noun: str, owner: str | None, after: int, language: Language) -> Subject:
    """The subject that a noun and its owner are: an attribute of somebody, a relative, a thing."""
    favourite = language.favourite.fullmatch(noun)
    if noun in language.attribute_nouns:
        return Subject(owner or SELF, after, attribute=language.attribute_nouns[noun])
    if favourite:
        of = language.nouns.get(favourite["noun"], favourite["noun"])
        kind = of if of == "colour" else "words"
        return Subject(owner or SELF, after, attribute=(f"favourite {of}", kind))
    return Subject(_owned_name(noun, owner, language), after)


def _owned_name(noun: str, owner: str | None, language: Language) -> str:
    *adjectives, head = noun.split()
    relation = language.subjects.kin.get(head) or language.subjects.own.get(head)
    if relation:
        return " ".join([(owner or SELF) + "'s", *adjectives, relation])
    return f"{owner}'s {noun}" if owner else noun


def subject_key(subject: str) -> str:
    """The normal form of a subject that somebody gave: "the User" is "self", "my wife" "self's wife"."""
    words = tuple(word for sentence in sentences(subject) for word in sentence.words)
    folded = " ".join(word.folded for word in words).replace(" 's ", _KEY_SEPARATOR)
    if not words or folded.startswith(SELF):
        return folded or subject.strip()
    for language in languages():
        found = _key_in(Phrase(words, language))
        if found:
            return found
    return folded


def _key_in(phrase: Phrase) -> str | None:
    subjects = phrase.language.subjects
    if _prefix(phrase, subjects.self_phrases) == len(phrase.words):
        return SELF
    start = _prefix(phrase, subjects.possessives)
    owner = SELF if start else None
    if not start and len(phrase.words) > 1:
        start = int(phrase.at(0) in subjects.articles)
    noun = " ".join(word.folded for word in phrase.words[start:]).replace(" 's ", _KEY_SEPARATOR)
    if not noun:
        return None
    name = _owned_name(noun, owner, phrase.language)
    return name if start or name != noun else None
