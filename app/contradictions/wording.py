"""A text as words: folded for comparison, each with its place in the original."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

TEXT_CHARS = 2_000
"""How much of a text is read for claims: what comes later seldom states a fact about somebody."""

_SENTENCE_END = re.compile(
    r"(?<![0-9])[.!?…;]+(?=\s|$)|(?<=[0-9])[!?]+(?=\s|$)|(?<=[0-9])\.(?=\s*$|\s+[A-ZÀ-ÖØ-Þ])|\n+"
)
_WORD = re.compile(
    r"['’](?:s|m|re|ve|ll|d|t)\b"  # an English clitic
    r"|[0-9]{1,2}:[0-9]{2}(?=[ap]m\b)|(?>[0-9]+(?:[.,:/\-][0-9]+)*)(?![^\W_])"  # a number, a time, a date
    r"|[^\W_]+(?:[-.&+@/_][^\W_]+)*[+#]*"  # a word, a version name, an address
    r"|[€$£%:,=()\"“”«»]"
    r"|(?<=\s)[-–—](?=\s)"  # a dash, read as a comma
    r"|[^\w\s.!?;'’…\-–—]+",  # emoji and other signs
    re.IGNORECASE,
)
_NUMBER_THEN_LETTERS = re.compile(r"([0-9]+)(st|nd|rd|th|kg|cm|m|km|am|pm|h|k)", re.IGNORECASE)
_CLITICS = {"'s": "'s", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'t": "not"}
_NEGATED = {"cannot": ("can", "not"), "cant": ("can", "not"), "dont": ("do", "not"), "doesnt": ("does", "not")}
_DASHES = frozenset("-–—")
_IS = {"è": "è", "é": "è", "e'": "è", "e’": "è"}


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word and where it stands in the original text, `text[start:end]`."""

    folded: str
    start: int
    end: int
    capital: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its words, the same joined by blanks, and whether it asks something."""

    words: tuple[Word, ...]
    joined: str
    is_question: bool


def fold(text: str) -> str:
    """Lower case, no accents, compatibility forms replaced. "è" of one letter stays: it means *is*."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char) and not char.isspace())


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order; of a long text only the first `TEXT_CHARS`."""
    text = text[:TEXT_CHARS]
    return tuple(
        Sentence(words, " ".join(word.folded for word in words), is_question)
        for start, end, is_question in _spans(text)
        if (words := tuple(_words(text, start, end)))
    )


def _spans(text: str) -> Iterator[tuple[int, int, bool]]:
    start = 0
    for mark in _SENTENCE_END.finditer(text):
        yield start, mark.start(), "?" in mark.group()
        start = mark.end()
    yield start, len(text), False


def _words(text: str, start: int, end: int) -> Iterator[Word]:
    for found in _WORD.finditer(text, start, end):
        raw = found.group()
        capital = raw[0].isupper()
        for part in _parts(raw, text, found.end()):
            if part:
                yield Word(part, found.start(), found.end(), capital)


def _parts(raw: str, text: str, end: int) -> tuple[str, ...]:
    """What one written word stands for: "cannot" is two words, "doesn" before "'t" is "does"."""
    lowered = raw.lower().replace("’", "'")
    if lowered in _DASHES:
        return (",",)
    if lowered in _CLITICS:
        return (_CLITICS[lowered],)
    if lowered in _IS or (lowered == "e" and text[end : end + 1] in ("'", "’")):
        return ("è",)
    folded = fold(raw)
    if folded in _NEGATED:
        return _NEGATED[folded]
    if folded.endswith("n") and text[end : end + 2].lower().replace("’", "'") == "'t":
        return ({"ca": "can", "wo": "will", "sha": "shall"}.get(folded[:-1], folded[:-1] or "not"),)
    joined = _NUMBER_THEN_LETTERS.fullmatch(folded)
    return (joined.group(1), joined.group(2)) if joined and raw[-1].islower() else (folded,)
