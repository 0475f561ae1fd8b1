"""The terms of the keyword arm: what a text is indexed under, and what a question looks for.

A word is indexed under its stem, marked with STEM_MARK, and under its folded surface form where that
differs. A question asks for both, so that the very word counts more than another form of it, and for
the stems of all languages, because nobody knows the language of what it should find.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple

from app.text.concepts import concepts
from app.text.grams import (
    SoughtWord,
    cjk_document_words,
    cjk_sought_words,
    cluster_document_words,
    cluster_sought_words,
    hangul_document_word,
    hangul_sought_word,
)
from app.text.language import LANGUAGES, likely_languages
from app.text.normalise import plain
from app.text.stems import stems
from app.text.stop_words import stop_words
from app.text.words import Run, RunKind, runs

STEM_MARK: Final = "~"
"""First character of a stem's term. No surface form starts with it."""

CONCEPT_MARK: Final = "^"
"""First character of a concept's term, likewise."""

CONCEPT_WEIGHT: Final = 0.7
"""Of each concept of a word that has any; its forms share the rest."""

SURFACE_WEIGHT: Final = 0.3
STEM_WEIGHT: Final = 0.7
FOREIGN_STEM_WEIGHT: Final = 0.2
"""Of a stem in another language than the question's, kept for names and loanwords in foreign texts.

Such terms are rare, so each hit has a high idf, of the word's own spelling too (a word that is its own
stem in a foreign text is worth this and SURFACE_WEIGHT). At STEM_WEIGHT, BM25 recall at 5 on LoCoMo
(5 conversations, turns) falls from .540 to .525.
"""
PART_WEIGHT: Final = 0.5
"""Of a piece of a compound beside the whole: `4471` in `ZX-4471`."""

CONTEXT_WEIGHT: Final = 0.5
"""Of a word of the context beside one of the text, while both are short."""

SHORT_WORDS: Final = 40
"""Up to this length a text gains from its context in full; twice as long, by a quarter.

Where turns are short (LoCoMo, some 25 words) half of the evidence is in the turn before; the long replies of an
assistant beside the questions that they repeat only take the questions' place (BEAM, docs/decisions/013-retrieval.md).
"""

_LEAST_SHARE: Final = 0.05

MAX_DOCUMENT_CHARS: Final = 200_000
MAX_DOCUMENT_WORDS: Final = 20_000
MAX_DOCUMENT_TERMS: Final = 4_096
"""Bounds of one indexed text: what lies behind them is not found by keyword. LoCoMo's longest sessions
have some 1,500 words; each term is a row of about 100 bytes."""

MAX_QUERY_CHARS: Final = 20_000
MAX_QUERY_WORDS: Final = 64
"""Distinct words of a question that are looked up; of a longer one the longest, which are the rarest."""


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """What one text is indexed under.

    Attributes:
        frequencies: Occurrences of each term, > 0; one in the context counts as its share.
        length_words: Words counted, >= 0 (a bigram of an unspaced script is a word): BM25's document length.
        context_share: What a word of the context counts, in [0, 1]; 0 without a context that counts.
    """

    frequencies: Mapping[str, float]
    length_words: int
    context_share: float = 0.0


class QueryTerm(NamedTuple):
    """A term to look up.

    Attributes:
        term: As in DocumentTerms.frequencies.
        weight: What a hit is worth, in (0, 1].
        word: Number of the query's word that it is a form of. Hits of one word are worth at most 1
            together: only a text of unsure language has its stems in several.
    """

    term: str
    weight: float
    word: int


def document_terms(text: str, context: str = "") -> DocumentTerms:
    """The terms of a text, stems in its language, or in all likely ones when that is unsure.

    Keeps every word, function words too. Bounded by MAX_DOCUMENT_CHARS, MAX_DOCUMENT_WORDS and
    MAX_DOCUMENT_TERMS. Deterministic.

    Args:
        context: What was said around it; its words count less, and the less the longer either is.
    """
    own, around = _counted(text), _counted(context) if context else DocumentTerms({}, 0)
    share = context_share(own.length_words, around.length_words)
    if not share:
        return own
    frequencies = dict(own.frequencies)
    for term, number in around.frequencies.items():
        if term in frequencies or len(frequencies) < MAX_DOCUMENT_TERMS:
            frequencies[term] = frequencies.get(term, 0) + share * number
    return DocumentTerms(frequencies, own.length_words + round(share * around.length_words), share)


def context_share(text_words: int, context_words: int) -> float:
    """What a context counts beside a text, by their lengths: in [0, CONTEXT_WEIGHT], falling in both."""
    if not context_words:
        return 0.0
    share = CONTEXT_WEIGHT * min(1.0, SHORT_WORDS / max(text_words, context_words)) ** 2
    return share if share >= _LEAST_SHARE else 0.0


def _counted(text: str) -> DocumentTerms:
    head = plain(text[:MAX_DOCUMENT_CHARS])[:MAX_DOCUMENT_CHARS]
    languages = likely_languages(head) or LANGUAGES
    frequencies: Counter[str] = Counter()
    length_words = 0
    for word in islice(_document_words(head, languages), MAX_DOCUMENT_WORDS):
        length_words += 1
        for term in word:
            if term in frequencies or len(frequencies) < MAX_DOCUMENT_TERMS:
                frequencies[term] += 1
    return DocumentTerms(dict(frequencies), length_words)


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """The terms that a question looks for, each once, in the order of its words.

    Function words of its language are left out, and so are the hiragana between other scripts
    (particles), unless nothing else remains: `to be or not to be` looks for itself.
    """
    head = plain(text[:MAX_QUERY_CHARS])[:MAX_QUERY_CHARS]
    languages = likely_languages(head)
    ignored = stop_words(languages)
    words = dict.fromkeys(word for run in runs(head) for word in _sought_words(run, languages or LANGUAGES, ignored))
    telling = [word for word in words if word.is_telling] or list(words)
    found: dict[str, QueryTerm] = {}
    for number, word in enumerate(_longest(telling)):
        for term, weight in word.terms:
            if term not in found or weight > found[term].weight:
                found[term] = QueryTerm(term, weight, number)
    return tuple(found.values())


def term_hash(term: str) -> int:
    """The number that stands for a term in SQL: a signed 64-bit integer, the same on every machine.

    Two terms of a million share one with a probability of 3e-8. A lone surrogate counts as `?`.
    """
    digest = blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _document_words(text: str, languages: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The distinct terms of each word of a text."""
    for run in runs(text):
        match run.kind:
            case RunKind.WORD | RunKind.PART:
                yield _indexed_forms(run, languages)
            case RunKind.CJK:
                yield from cjk_document_words(run.surface)
            case RunKind.HANGUL:
                yield hangul_document_word(run.surface)
            case RunKind.CLUSTERS:
                yield from cluster_document_words(run.surface)
            case RunKind.NAME | RunKind.NAME_PART | RunKind.SYMBOL:
                yield (run.surface,)


def _sought_words(run: Run, languages: tuple[str, ...], ignored: frozenset[str]) -> Iterator[SoughtWord]:
    """The words of a question that a run holds."""
    match run.kind:
        case RunKind.WORD:
            yield SoughtWord(_sought_forms(run, languages, 1.0), run.surface not in ignored)
        case RunKind.PART:
            yield SoughtWord(_sought_forms(run, languages, PART_WEIGHT), run.surface not in ignored)
        case RunKind.CJK:
            yield from cjk_sought_words(run.surface)
        case RunKind.HANGUL:
            yield hangul_sought_word(run.surface)
        case RunKind.CLUSTERS:
            yield from cluster_sought_words(run.surface)
        case RunKind.NAME_PART:
            yield SoughtWord(((run.surface, PART_WEIGHT),))
        case RunKind.NAME | RunKind.SYMBOL:
            yield SoughtWord(((run.surface, 1.0),))


def _indexed_forms(run: Run, languages: tuple[str, ...]) -> tuple[str, ...]:
    found = stems(run.text, languages)
    marked = (*(STEM_MARK + s for s in found), *(CONCEPT_MARK + c for c in concepts(run.text, languages)))
    return marked if found == (run.surface,) else (run.surface, *marked)


def _sought_forms(run: Run, languages: tuple[str, ...], share: float) -> tuple[tuple[str, float], ...]:
    """Surface form and stems. A stem that equals the surface stands for both, as it does in a document."""
    weights = dict.fromkeys(stems(run.text), FOREIGN_STEM_WEIGHT)
    weights |= dict.fromkeys(stems(run.text, languages), STEM_WEIGHT)
    if run.surface in weights:
        weights[run.surface] += SURFACE_WEIGHT
    meant = concepts(run.text, languages)
    rest = share * (1.0 - CONCEPT_WEIGHT) if meant else share
    has_other_form = weights.keys() != {run.surface}
    surface = ((run.surface, SURFACE_WEIGHT * rest),) if has_other_form else ()
    shared = tuple((CONCEPT_MARK + concept, share * CONCEPT_WEIGHT) for concept in meant)
    return (*surface, *((STEM_MARK + stem, weight * rest) for stem, weight in weights.items()), *shared)


def _longest(words: Sequence[SoughtWord]) -> list[SoughtWord]:
    """At most MAX_QUERY_WORDS of the words, in their own order."""
    by_length = sorted(words, key=lambda word: -len(word.terms[0][0]))
    kept = set(by_length[:MAX_QUERY_WORDS])
    return [word for word in words if word in kept]
