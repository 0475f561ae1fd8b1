"""Extraction by rules: which clauses say something lasting of their author."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from app.contradictions.claims import claim_key
from app.contradictions.lexicon import languages as claim_languages
from app.contradictions.reading import ATTITUDE, Reading, readings
from app.contradictions.subjects import SELF
from app.contradictions.wording import Sentence
from app.domain.entries import Category, Claim
from app.extraction.clauses import Clause, clause_at, is_prose, meant_sentences, starts
from app.extraction.lexicon import LANGUAGES, Language, Rule, languages
from app.extraction.records import Extracted, Proposal, Said, Tense
from app.text.language import likely_languages

CONFIDENCE = 0.8
HEDGED = 0.5
WISHED = 0.95
WISHED_IMPORTANCE = 0.15
"""What a wish to be remembered adds to the importance."""

FIRST_PERSON_WITHIN = 4
"""Who a clause is about stands among so many first words."""

TEXT_WORDS = 4
"""Fewer words are no memory by themselves: the rest of the sentence comes along."""

ADVERBIAL_WORDS = 4
"""How long an adverbial before a statement may be."""

SENTENCE_WORDS = 60
"""Longer sentences are seldom statements of somebody about themselves."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A statement: the clause's words from `first` on."""

    first: int
    category: Category
    importance: float
    tense: Tense
    claim: Claim | None
    hedged: bool
    wished: bool


def extract(said: Said) -> Extracted:
    """What a message says that is worth remembering, in the order of the message.

    Questions, greetings, jokes, play, quotations, reports of what others say, code, conditions and commands
    give nothing. Deterministic.
    """
    known = [code for code in likely_languages(said.text) if code in LANGUAGES]
    for code in known:
        language = languages()[code]
        found = tuple(_proposals(said, language))
        if found:
            return Extracted(found, code)
    return Extracted((), known[0] if known else None)


def _proposals(said: Said, language: Language) -> Iterator[Proposal]:
    folded = " ".join(sentence.joined for sentence in meant_sentences(said.text, language))
    if not is_prose(said.text) or language.play.search(folded):
        return
    for sentence in meant_sentences(said.text, language):
        if len(sentence.words) > SENTENCE_WORDS:
            continue
        found = list(_statements(said.text, sentence, language))
        for place, statement in enumerate(found):
            after = found[place + 1].first if place + 1 < len(found) else len(sentence.words)
            yield _proposal(said, sentence, statement, after, language)


def _statements(text: str, sentence: Sentence, language: Language) -> Iterator[_Found]:
    wished = hedged = False
    reached = 0
    for start in starts(sentence, language):
        if start < reached:
            continue
        found = _statement(text, sentence, start, language, wished=wished, hedged=hedged)
        if isinstance(found, _Found):
            reached = found.first + 1
            yield found
        wished, hedged = found.wished, found.hedged and not isinstance(found, _Found)


@dataclass(frozen=True, slots=True)
class _Nothing:
    """No statement, but a wish or a guess may have begun: "remember, please, that ..."."""

    wished: bool
    hedged: bool


def _statement(
    text: str, sentence: Sentence, start: int, language: Language, *, wished: bool, hedged: bool
) -> _Found | _Nothing:
    first, is_wish, is_hedge = _without_leads(sentence, start, language)
    wished, hedged = wished or is_wish, hedged or is_hedge
    if first >= len(sentence.words):
        return _Nothing(wished, hedged)
    clause = clause_at(sentence, first)
    reading = _reading(text, clause, language)
    rule = _rule(clause, language)
    told = is_wish and bool(language.told.match(sentence.joined))
    nothing = rule is None and reading is None and not told
    if nothing or language.dangling.match(clause.text) or language.passing.match(clause.text):
        return _Nothing(wished, hedged)
    folded = {word.folded for word in sentence.words[first : first + 6]}
    return _Found(
        first,
        _category(rule, reading, language),
        rule.importance if rule else 0.55,
        rule.tense if rule else Tense.PRESENT,
        reading.claim if reading and not reading.denied else None,
        hedged or not language.hedging.isdisjoint(folded),
        wished,
    )


def _rule(clause: Clause, language: Language) -> Rule | None:
    """The first rule that fits the clause, or what follows an adverbial: "since May I teach"."""
    words = clause.sentence.words
    longest = ADVERBIAL_WORDS if words[clause.first].folded in language.adverbials else 0
    for skipped in range(min(longest, len(words) - clause.first - 1) + 1):
        text = clause_at(clause.sentence, clause.first + skipped).text
        for rule in language.rules:
            if any(one.match(text) for one in rule.patterns):
                return rule
    return None


def _without_leads(sentence: Sentence, start: int, language: Language) -> tuple[int, bool, bool]:
    """The first word that means something, and whether a wish and a hedge stood before it."""
    first, wished, hedged, before = start, False, False, -1
    while first != before and first < len(sentence.words):
        before = first
        clause = clause_at(sentence, first)
        for patterns, is_wish, is_hedge in (
            (language.wishes, True, False),
            (language.hedges, False, True),
            (language.lead_phrases, False, False),
        ):
            match = next((found for one in patterns if (found := one.match(clause.text))), None)
            if match:
                first = clause.word_at(match.end())
                wished, hedged = wished or is_wish, hedged or is_hedge
                break
        else:
            first += sentence.words[first].folded in language.leads
    return first, wished, hedged


def _reading(text: str, clause: Clause, language: Language) -> Reading | None:
    """The first thing that the clause claims of its author or somebody of theirs; it must begin in the first person."""
    words = clause.sentence.words[clause.first :]
    if language.first_person.isdisjoint(word.folded for word in words[:FIRST_PERSON_WITHIN]):
        return None
    found = readings(text[words[0].start : words[-1].end])
    return next((one for one in found if _is_of_self(one.claim.subject)), None)


def _is_of_self(subject: str) -> bool:
    """Whether a subject is the author, or a relative or an animal of theirs."""
    return subject == SELF or subject.removeprefix(f"{SELF}'s ") in _relations()


@lru_cache(maxsize=1)
def _relations() -> frozenset[str]:
    own = (one.subjects for one in claim_languages())
    return frozenset(name for known in own for names in (known.kin, known.own) for name in names.values())


def _category(rule: Rule | None, reading: Reading | None, language: Language) -> Category:
    if rule:
        return rule.category
    if reading is None:
        return Category.FACT
    if reading.claim.subject != SELF:
        return Category.RELATIONSHIP
    attribute = claim_key(reading.claim)[1]
    if attribute.startswith(f"{ATTITUDE}:"):
        attribute = f"attitude_{reading.claim.value}"
    if attribute.startswith(("preference:", "favourite ")):
        attribute = "preference"
    return language.categories.get(attribute, Category.FACT)


def _proposal(said: Said, sentence: Sentence, found: _Found, after: int, language: Language) -> Proposal:
    words = sentence.words[found.first : after]
    while after < len(sentence.words) and words[-1].folded in language.splitters | language.leads and len(words) > 1:
        words = words[:-1]
    if len(words) < TEXT_WORDS:
        words = sentence.words[found.first :]
    start, end = words[0].start, words[-1].end
    tense = found.tense
    if tense is Tense.PRESENT and found.category is Category.GOAL:
        tense = Tense.FUTURE
    return Proposal(
        message=said.id,
        start=start,
        end=end,
        text=said.text[start:end],
        category=found.category,
        claim=found.claim if tense is Tense.PRESENT and not found.hedged else None,
        importance=min(1.0, found.importance + WISHED_IMPORTANCE * found.wished),
        confidence=WISHED if found.wished else HEDGED if found.hedged else CONFIDENCE,
        tense=tense,
        negated=not language.negators.isdisjoint(word.folded for word in words),
        wished=found.wished,
    )
