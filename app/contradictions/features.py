"""What of a wording matters when two texts are compared: content, negation, opposites, numbers, times, places."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from app.contradictions.lexicon import Language, languages
from app.contradictions.normal import normal_place, normal_value
from app.contradictions.phrase import CLOCK, Phrase, number_at
from app.contradictions.wording import Word, sentences

FEATURE_WORDS = 80
"""How many words of a text are compared: long texts are told apart by their claims alone."""

_STEMMERS = {"en": "english", "it": "italian", "cs": "czech"}
_LETTERS = {"en": "", "it": "àòùì", "cs": "ěščřžůťďňýáíúĚŠČŘŽÝÁÍÚ"}
_SUPERLATIVE = re.compile(r"nej\w+(?:si|eji|vic|vice|mene|lip|lepe)")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_PRESENT_COPULAS = frozenset(("is", "are", "am", "'s", "è", "sono", "je", "jsou", "jsem"))
_PERFECT = frozenset(("ha", "ho", "hanno", "abbiamo", "have", "has", "had"))


@dataclass(frozen=True, slots=True)
class Features:
    """A wording, taken apart.

    Attributes:
        content: Stems of the words that say what it is about.
        negated: Whether it is said not to be so.
        poles: (axis, pole) of each word that has an opposite.
        numbers: (what is counted, how many), sorted.
        times: Days, months, parts of the day, clock times, dates and years.
        places: Canonical places.
        is_past: Something that happened: it can have happened more than once.
        is_list: Its verb takes many objects: who has one thing can have another.
        one_time: It has one time: a beginning, a departure, being somewhere.
        one_place: It has one place.
        is_indefinite: It begins with "a friend", "one colleague": the next one may be another.
    """

    content: frozenset[str]
    negated: bool
    poles: frozenset[tuple[str, str]]
    numbers: tuple[tuple[str, float], ...]
    times: frozenset[str]
    places: frozenset[str]
    is_past: bool
    is_list: bool
    one_time: bool
    one_place: bool
    is_indefinite: bool


@lru_cache(maxsize=8192)
def features(text: str) -> Features:
    """Take a text apart, in the language that knows most of its words."""
    words = tuple(word for sentence in sentences(text) for word in sentence.words)[:FEATURE_WORDS]
    return _Reader(words, language_of(text, words)).read()


def language_of(text: str, words: tuple[Word, ...]) -> Language:
    """The language that knows most of the words."""
    return max(languages(), key=lambda one: _votes(text, words, one))


def _votes(text: str, words: tuple[Word, ...], language: Language) -> tuple[int, bool]:
    """How much speaks for a language: words it knows, and a letter that only it uses."""
    known = sum(word.folded in language.vocabulary for word in words)
    if language.code == "cs":
        known += sum(word.folded.startswith("ne") and word.folded[2:] in language.vocabulary for word in words)
    letters = any(letter in _LETTERS[language.code] for letter in text)
    vowels = language.code == "it" and all(word.folded[-1] in "aeio" for word in words if len(word.folded) > 2)
    return known + 2 * letters + vowels, language.code == "en"


@lru_cache(maxsize=8192)
def stem_of(word: str, code: str) -> str:
    """The stem of a word in one language."""
    return str(Stemmer.Stemmer(_STEMMERS[code]).stemWord(word))


@lru_cache(maxsize=64)
def _stems(code: str, name: str) -> frozenset[str]:
    language = next(one for one in languages() if one.code == code)
    return frozenset(stem_of(word, code) for word in language.words[name])


@lru_cache(maxsize=8)
def _verb_poles(code: str) -> dict[str, tuple[str, int]]:
    language = next(one for one in languages() if one.code == code)
    return {stem_of(word, code): pole for word, pole in language.antonyms.verbs.items()}


class _Reader:
    """Walks once over the words of a text and sorts them."""

    def __init__(self, words: tuple[Word, ...], language: Language) -> None:
        self.words = words
        self.language = language
        self.content: set[str] = set()
        self.negated = False
        self.poles: set[tuple[str, str]] = set()
        self.numbers: list[tuple[str, float]] = []
        self.times: set[str] = set()
        self.places: set[str] = set()
        self.marks: set[str] = set()
        self.has_predicate = False

    def read(self) -> Features:
        index = 0
        while index < len(self.words):
            index += self._take(index)
        return Features(
            content=frozenset(self.content),
            negated=self.negated,
            poles=frozenset(self.poles),
            numbers=tuple(sorted(self.numbers)),
            times=frozenset(self.times),
            places=frozenset(self.places),
            is_past="past" in self.marks,
            is_list="many" in self.marks,
            one_time="single_time" in self.marks,
            one_place="single_place" in self.marks,
            is_indefinite=self._folded(0) in self.language.subjects.indefinite,
        )

    def _take(self, index: int) -> int:
        """Sort the word at an index; return how many words that used up."""
        for sort in (self._number, self._time, self._place, self._negator, self._pole):
            used = sort(index)
            if used:
                return used
        self._word(index)
        return 1

    def _folded(self, index: int) -> str:
        return self.words[index].folded if 0 <= index < len(self.words) else ""

    def _number(self, index: int) -> int:
        phrase = Phrase(self.words[index : index + 4], self.language)
        if CLOCK.fullmatch(phrase.at(0)) or (phrase.at(0).isdigit() and phrase.at(1) in ("am", "pm")):
            used = 2 if phrase.at(1) in ("am", "pm") else 1
            text = " ".join(word.folded for word in phrase.words[:used])
            self.times.add(f"clock {normal_value('time', text)}")
            return used
        ordinal = self.language.ordinals.get(phrase.at(0))
        if ordinal and phrase.at(1) in self.language.words["ordered"]:
            self.numbers.append((self._normal(phrase.at(1)), float(ordinal)))
            return 2
        found = number_at(phrase)
        return self._counted(index, *found) if found else 0

    def _counted(self, index: int, value: float, used: int) -> int:
        """A number: part of a date, a year, how many of the next word, or a name such as "room 12"."""
        after, before = self._folded(index + used), self._folded(index - 1)
        skip = after in ("st", "nd", "rd", "th", "of")
        month = self.language.closed["month"].get(self._folded(index + used + skip) if skip else after)
        if month:
            self.times.add(f"date {month}-{value:02.0f}")
            return used + skip + 1
        if _YEAR.fullmatch(self._folded(index)) and after not in self.language.units:
            self.times.add(f"year {value:.0f}")
            return used
        if self.language.closed["month"].get(before):
            self.times.add(f"day {value:.0f}")
            return used
        counted = self._what_is_counted(after, before)
        if counted is None:
            self.content.add(f"{self._folded(index)}")
        else:
            self.numbers.append((counted, value))
        return used

    def _what_is_counted(self, after: str, before: str) -> str | None:
        words = self.language.words
        if before == "#" or before in words["label_nouns"]:
            return None
        if before in self.language.units or before in words["measure_nouns"]:
            return before
        if not after:
            return "" if before in _PRESENT_COPULAS else None
        if not after[0].isalpha() and after not in self.language.units:
            return None
        return None if after in words["stopwords"] else self._normal(after)

    def _time(self, index: int) -> int:
        for name in ("weekday", "month", "daypart"):
            found = self.language.closed[name].get(self._folded(index))
            if found:
                self.times.add(f"{name} {found}")
                return 1
        return 0

    def _place(self, index: int) -> int:
        for count in (2, 1):
            text = " ".join(self._folded(index + i) for i in range(count)).strip()
            if any(text in self.language.closed[name] for name in ("city", "country")):
                self.places.add(normal_place(text))
                return count
        capital = self.words[index].capital and self._folded(index - 1) in self.language.words["place_prepositions"]
        if capital:
            self.places.add(normal_place(self._folded(index)))
        return int(capital)

    def _negator(self, index: int) -> int:
        word = self._folded(index)
        following = tuple(one.folded for one in self.words[index : index + 4])
        for phrase in self.language.negator_phrases:
            if following[: len(phrase)] == phrase:
                self.negated = True
                return len(phrase)
        if word in self.language.words["loses"]:
            self.negated = True
            self.content.add("have")
            return 1
        if word in self.language.words["negators"]:
            self.negated = True
            return 1
        if self.language.code == "cs" and self._is_negated(word):
            self.negated = True
            self._sort_word(word[2:], index)
            return 1
        return 0

    def _is_negated(self, word: str) -> bool:
        """Whether a Czech word carries the prefix ne-."""
        known = self.language.vocabulary | self.language.words["keeps_ne"]
        return word.startswith("ne") and len(word) > 3 and word not in known and not _SUPERLATIVE.fullmatch(word)

    def _pole(self, index: int) -> int:
        word = self._folded(index)
        verb = self.language.antonyms.verbs.get(word) or _verb_poles(self.language.code).get(self._normal(word))
        pair = f"{word} {self._folded(index + 1)}"
        used = 2 if pair in self.language.antonyms.others else 1
        other = self.language.antonyms.others.get(pair if used == 2 else word)
        colour = self.language.closed["colour"].get(word)
        if verb:
            self.has_predicate = True
            self.poles.add((f"verb {verb[0]}", str(verb[1])))
            self._mark(word, index)
        elif other and self.has_predicate:
            self.poles.add((f"other {other[0]}", str(other[1])))
            return used
        elif colour and index == len(self.words) - 1 and self._folded(index - 1) in _PRESENT_COPULAS:
            self.poles.add(("other colour", colour))
        else:
            return 0
        return 1

    def _word(self, index: int) -> None:
        self._sort_word(self._folded(index), index)

    def _sort_word(self, word: str, index: int) -> None:
        self._mark(word, index)
        if word in _PRESENT_COPULAS:
            self.has_predicate = True
        elif word not in self.language.words["stopwords"] and (word[0].isalnum() or not word.isascii()):
            self.has_predicate = True
            self.content.add(self._normal(word))

    def _normal(self, word: str) -> str:
        language = self.language
        return language.synonyms.get(word) or language.subjects.kin.get(word) or stem_of(word, language.code)

    def _mark(self, word: str, index: int) -> None:
        self.marks.update(self._marks_of(word, self._folded(index - 1)))

    def _marks_of(self, word: str, before: str) -> Iterator[str]:
        words, code = self.language.words, self.language.code
        if word in _PRESENT_COPULAS:
            yield "single_time"
            yield "single_place"
        if word in words["past"] or (self._is_past(word) and self._may_be_past_after(before)):
            yield "past"
        stem = stem_of(word, code)
        for name in ("many", "single_time", "single_place"):
            if word in words[name] or stem in _stems(code, name):
                yield name

    def _may_be_past_after(self, before: str) -> bool:
        """Italian participles need an auxiliary; after "is" an English or Czech one is a state."""
        return before in _PERFECT or (self.language.code != "it" and before not in _PRESENT_COPULAS)

    def _is_past(self, word: str) -> bool:
        return len(word) > 3 and any(word.endswith(ending) for ending in self.language.words["past_suffix"])
