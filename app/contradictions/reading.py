"""Sentences read as statements about somebody: what they assert and what they deny."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from re import Match

from app.contradictions.lexicon import Language, Rule, languages
from app.contradictions.normal import is_in
from app.contradictions.phrase import Phrase
from app.contradictions.subjects import SELF, Subject, subjects_of
from app.contradictions.values import NONE, read_value
from app.contradictions.wording import TEXT_CHARS, Sentence, Word, sentences
from app.domain.entries import Cardinality, Claim

ATTITUDE = "attitude"
OPPOSITE = {"positive": "negative", "negative": "positive", "yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that a text says.

    Attributes:
        claim: What is asserted or denied.
        denied: The text says that this does not, or no longer, hold.
    """

    claim: Claim
    denied: bool


@dataclass(frozen=True, slots=True)
class _Clause:
    """A sentence from some word on. `offsets[i]` is where word i starts in `text`."""

    source: str
    words: tuple[Word, ...]
    text: str
    offsets: tuple[int, ...]
    language: Language

    def quote(self, start: int, end: int) -> str:
        """The words as they were written."""
        return self.source[self.words[start].start : self.words[end - 1].end]

    def folded(self, start: int, end: int) -> str:
        return " ".join(word.folded for word in self.words[start:end])

    def has_hedge(self, end: int) -> bool:
        """Whether one of the first words makes what follows a wish, a report or a guess."""
        return not self.language.words["hedges"].isdisjoint(word.folded for word in self.words[:end])

    def is_scoped(self, end: int, *, imperative: bool = False, dayparts: bool = True) -> bool:
        """Whether what follows says that this holds at some times, or for some things, only."""
        words, closed = self.language.words, self.language.closed
        after = [word.folded for word in self.words[end:]]
        clause = after[: next((i for i, word in enumerate(after) if word in words["clause_starts"]), len(after))]
        if imperative and clause and clause[0] in words["scoping_traits"]:
            return True
        some = words["scoping"] | closed["weekday"].keys() | (closed["daypart"].keys() if dayparts else frozenset())
        return not some.isdisjoint(clause)


_Said = tuple[Reading, int, int]
"""A reading, where its value starts in the clause, and where it ends."""


@lru_cache(maxsize=8192)
def readings(text: str) -> tuple[Reading, ...]:
    """Everything that a text asserts or denies, in the order of the text."""
    found: list[Reading] = []
    for number, sentence in enumerate(sentences(text)):
        if not sentence.is_question:
            found.extend(_sentence_readings(text, sentence, is_first=number == 0))
    return tuple(dict.fromkeys(found))


def bare_reading(text: str) -> Reading | None:
    """The one thing that a text asserts, if it says nothing else: a single sentence that ends with the value."""
    known = sentences(text)
    if len(known) != 1 or known[0].is_question or len(text) > TEXT_CHARS:
        return None
    words = known[0].words
    for language in _likely_languages(known[0]):
        for start, may_be_elided in list(_starts(words, language, is_first=True))[:2]:
            clause = _clause(text, words, start, language) if _is_lead(words[:start], language) else None
            said = _first_said(clause, may_be_elided=may_be_elided) if clause else None
            if clause and said and said[2] == len(clause.words) and not said[0].denied:
                return said[0]
    return None


def _is_lead(words: tuple[Word, ...], language: Language) -> bool:
    return all(word.folded in language.words["leads"] for word in words)


def _sentence_readings(text: str, sentence: Sentence, *, is_first: bool) -> Iterator[Reading]:
    read: set[int] = set()
    likely = _likely_languages(sentence)
    if any(sentence.words[0].folded in language.subjects.indefinite for language in likely[:1]):
        return
    for language in likely:
        for start, may_be_elided in _starts(sentence.words, language, is_first=is_first):
            clause = None if start in read else _clause(text, sentence.words, start, language)
            found = _read(clause, may_be_elided=may_be_elided) if clause else None
            if found:
                read.add(start)
                yield found


def _likely_languages(sentence: Sentence) -> list[Language]:
    """The languages that know the most words of a sentence, the likeliest first; all when none stands out."""
    votes = {one.code: sum(word.folded in one.vocabulary for word in sentence.words) for one in languages()}
    known = sorted(languages(), key=lambda one: votes[one.code], reverse=True)
    return [one for one in known if votes[one.code] >= max(votes.values()) - 1]


def _starts(words: tuple[Word, ...], language: Language, *, is_first: bool) -> Iterator[tuple[int, bool]]:
    """Where a statement may begin, and whether its subject may be elided there."""
    yield 0, is_first or _is_first_person(words, 0, language)
    leads = language.words["leads"]
    skipped = next((i for i, word in enumerate(words) if word.folded not in leads), 0)
    if skipped:
        yield skipped, is_first or _is_first_person(words, skipped, language)
    for index, word in enumerate(words[:-1], start=1):
        if word.folded in language.words["clause_starts"] and _is_first_person(words, index, language):
            yield index, True


def _is_first_person(words: tuple[Word, ...], start: int, language: Language) -> bool:
    return any(word.folded in language.words["first_person"] for word in words[start : start + 3])


def _clause(text: str, words: tuple[Word, ...], start: int, language: Language) -> _Clause | None:
    if not language.words["hedges"].isdisjoint(word.folded for word in words[:start]):
        return None
    rest = words[start:]
    offsets = tuple(accumulate((len(word.folded) + 1 for word in rest), initial=0))
    return _Clause(text, rest, " ".join(word.folded for word in rest), offsets, language)


def _read(clause: _Clause, *, may_be_elided: bool) -> Reading | None:
    said = _first_said(clause, may_be_elided=may_be_elided)
    return said[0] if said else None


def _first_said(clause: _Clause, *, may_be_elided: bool) -> _Said | None:
    for subject in subjects_of(clause.words, clause.language):
        said = _noun_says(clause, subject) or _verb_says(clause, subject, may_be_elided=may_be_elided)
        if said and not clause.has_hedge(said[1]):
            return said
    return None


def _noun_says(clause: _Clause, subject: Subject) -> _Said | None:
    """What a noun and a copula give, as in "my name is Jo": the noun is the attribute."""
    if subject.attribute is None or subject.after + 1 >= len(clause.words):
        return None
    if clause.words[subject.after].folded not in clause.language.subjects.copulas:
        return None
    attribute, kind = subject.attribute
    start = subject.after + 1
    denied = clause.words[start].folded in clause.language.words["negators"]
    return _with_value(clause, subject.name, attribute, kind, start + denied, denied=denied)


def _verb_says(clause: _Clause, subject: Subject, *, may_be_elided: bool) -> _Said | None:
    if subject.attribute is not None:
        return None
    position = clause.offsets[subject.after]
    for rule in clause.language.rules:
        if subject.elided and (rule.of_things or not (may_be_elided or rule.imperative)):
            continue
        if rule.of_things and subject.name == SELF:
            continue
        match = rule.pattern.match(clause.text, position)
        said = _rule_says(clause, subject, rule, match) if match else None
        if said:
            return said
    return None


def _rule_says(clause: _Clause, subject: Subject, rule: Rule, match: Match[str]) -> _Said | None:
    negated = any(text is not None for name, text in match.groupdict().items() if name.startswith("neg"))
    end = bisect_left(clause.offsets, match.end())
    if not rule.kind:
        value = OPPOSITE[rule.value] if negated and rule.flips else rule.value
        if clause.is_scoped(end, imperative=rule.imperative, dayparts=False):
            return None
        claim = Claim(subject.name, rule.attribute, value)
        return Reading(claim, denied=negated and not rule.flips), end, end
    if rule.attribute == ATTITUDE:
        return _attitude(clause, subject, rule, end, negated=negated)
    denied = negated or rule.denies
    cardinality = Cardinality.MANY if rule.many else Cardinality.ONE
    said = _with_value(clause, subject.name, rule.attribute, rule.kind, end, denied=denied, cardinality=cardinality)
    if said and not (rule.many or rule.of_things) and clause.is_scoped(said[2]):
        return None
    if said and rule.suffix and not rule.suffix.match(clause.text, clause.offsets[said[2]]):
        return None
    return said


def _attitude(clause: _Clause, subject: Subject, rule: Rule, start: int, *, negated: bool) -> _Said | None:
    span = read_value("thing", Phrase(clause.words[start:], clause.language))
    if span == NONE:
        return None
    end = start + span[1]
    value = OPPOSITE[rule.value] if negated and rule.flips else rule.value
    attribute = f"{ATTITUDE}:{clause.folded(start + span[0], end)}"
    return Reading(Claim(subject.name, attribute, value), denied=negated and not rule.flips), start, end


def _with_value(
    clause: _Clause,
    subject: str,
    attribute: str,
    kind: str,
    start: int,
    *,
    denied: bool,
    cardinality: Cardinality = Cardinality.ONE,
) -> _Said | None:
    span = read_value(kind, Phrase(clause.words[start:], clause.language))
    if span == NONE:
        return None
    first, end = start + span[0], start + span[1]
    if attribute == "residence":
        wider = next((name for name in ("country", "region") if is_in(name, clause.folded(first, end))), None)
        attribute = f"{wider} of residence" if wider else attribute
    if kind == "comparison":
        attribute = _comparison(clause, first, end)
    if attribute == "preferred":
        attribute = f"preferred {kind}"
    return Reading(Claim(subject, attribute, clause.quote(first, end), cardinality), denied=denied), start, end


def _comparison(clause: _Clause, first: int, end: int) -> str:
    """One attribute for both ways to prefer one of two things: "preference:coffee|tea"."""
    words = clause.words[end + 1 :]
    rest = Phrase(words, clause.language)
    start = int(rest.at(0) in clause.language.subjects.articles)
    count = rest.dropping(start).until(clause.language.words["tail"], 3)
    other = " ".join(word.folded for word in words[start : start + count])
    return "preference:" + "|".join(sorted((clause.folded(first, end), other)))
