"""Terms of scripts that do not put a blank between words: pairs of neighbouring characters."""

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from app.text.words import MAX_TERM_CHARS, clusters

WHOLE_WEIGHT: Final = 0.7
"""Of a katakana word as a whole (a loanword or a name, used as it stands); its pairs share the rest."""

EOJEOL_WEIGHT: Final = 0.3
"""Of a Korean word as a whole: particles are attached to it, so its pairs find more and share the rest."""

CLUSTERS_PER_WORD: Final = 4
"""Of Thai, Lao, Khmer and Burmese, about."""

_LONG_MARK: Final = "ー"


class SoughtWord(NamedTuple):
    """A word of a question.

    Attributes:
        terms: Distinct terms with what a hit of each is worth, in (0, 1].
        is_telling: Whether it says what the question is after; function words do not.
    """

    terms: tuple[tuple[str, float], ...]
    is_telling: bool = True


class _Script(Enum):
    HAN = "han"
    HIRAGANA = "hiragana"
    KATAKANA = "katakana"


class _Piece(NamedTuple):
    script: _Script
    text: str
    inflection: str  # a lone Han character with the hiragana after it (`食べ`), or nothing


def cjk_document_words(text: str) -> Iterator[tuple[str, ...]]:
    """Pairs within each script, single Han characters, also with the kana after it, katakana words whole."""
    for piece in _pieces(text):
        yield from ((pair,) for pair in _pairs(piece.text))
        if piece.script is _Script.HAN and len(piece.text) > 1:
            yield from ((char,) for char in piece.text)
        if piece.inflection:
            yield (piece.inflection,)
        if _is_whole_beside_pairs(piece):
            yield (piece.text,)


def cjk_sought_words(text: str) -> Iterator[SoughtWord]:
    """The words of a run of Han and kana: a run of n Han characters weighs as n/2 words.

    Hiragana alone (particles, endings) is not telling.
    """
    for piece in _pieces(text):
        pairs = tuple(dict.fromkeys(_pairs(piece.text)))
        match piece.script:
            case _Script.HIRAGANA:
                yield from (SoughtWord(((pair, 0.5),), is_telling=False) for pair in pairs)
            case _Script.KATAKANA:
                whole = piece.text if _is_whole_beside_pairs(piece) else ""
                yield SoughtWord(_shared(whole, WHOLE_WEIGHT, pairs))
            case _Script.HAN if len(piece.text) == 1:
                endings = (piece.inflection,) if piece.inflection else ()
                yield SoughtWord(_shared(piece.text, WHOLE_WEIGHT, endings))
            case _Script.HAN:
                weight = len(piece.text) / 2 / (len(piece.text) - 1)
                yield from (SoughtWord(((pair, weight),)) for pair in pairs)


def hangul_document_word(text: str) -> tuple[str, ...]:
    """One blank-separated Korean word: the whole, its pairs, and its first syllable (`개` of `개를`)."""
    whole = () if len(text) > MAX_TERM_CHARS else (text,)
    return tuple(dict.fromkeys((*whole, text[:1], *_pairs(text))))


def hangul_sought_word(text: str) -> SoughtWord:
    """The same, asked for: two syllables may be a noun of one with its particle."""
    if len(text) == 2:
        return SoughtWord(_shared(text, WHOLE_WEIGHT, (text[:1],)))
    whole = "" if len(text) > MAX_TERM_CHARS else text
    others = tuple(pair for pair in dict.fromkeys(_pairs(text)) if pair != text)
    return SoughtWord(_shared(whole, EOJEOL_WEIGHT, others))


def cluster_document_words(text: str) -> Iterator[tuple[str, ...]]:
    """Pairs of user-perceived characters: a vowel sign is never parted from its consonant."""
    return ((pair,) for pair in _pairs(clusters(text)))


def cluster_sought_words(text: str) -> Iterator[SoughtWord]:
    """The same, asked for: a run weighs as a word for every CLUSTERS_PER_WORD."""
    found = clusters(text)
    pairs = dict.fromkeys(_pairs(found))
    weight = min(1.0, max(1.0, len(found) / CLUSTERS_PER_WORD) / max(len(found) - 1, 1))
    return (SoughtWord(((pair, weight),)) for pair in pairs)


def _pieces(text: str) -> Iterator[_Piece]:
    scripts = _scripts(text)
    start = 0
    for script, group in groupby(scripts):
        end = start + sum(1 for _ in group)
        is_lone_han = script is _Script.HAN and end - start == 1
        is_inflected = is_lone_han and end < len(text) and scripts[end] is _Script.HIRAGANA
        yield _Piece(script, text[start:end], text[start : end + 1] if is_inflected else "")
        start = end


def _scripts(text: str) -> list[_Script]:
    """The script of each character; a long mark belongs to what it lengthens."""
    scripts: list[_Script] = []
    for char in text:
        if char == _LONG_MARK and scripts and scripts[-1] is not _Script.HAN:
            scripts.append(scripts[-1])
        elif "\u3041" <= char <= "\u309f":
            scripts.append(_Script.HIRAGANA)
        elif "\u30a0" <= char <= "\u30ff" or "\u31f0" <= char <= "\u31ff":
            scripts.append(_Script.KATAKANA)
        else:
            scripts.append(_Script.HAN)
    return scripts


def _is_whole_beside_pairs(piece: _Piece) -> bool:
    """A katakana word of two characters is its own pair already."""
    return piece.script is _Script.KATAKANA and 2 < len(piece.text) <= MAX_TERM_CHARS


def _pairs(units: Sequence[str]) -> Iterator[str]:
    """Neighbours joined; the one unit where there is no neighbour."""
    return iter(units) if len(units) == 1 else (left + right for left, right in pairwise(units))


def _shared(whole: str, whole_weight: float, others: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """The whole at its weight, the others sharing what is left of 1; either alone has all of it."""
    if not others:
        return ((whole, 1.0),)
    rest = 1.0 - whole_weight if whole else 1.0
    shares = tuple((other, rest / len(others)) for other in others)
    return ((whole, whole_weight), *shares) if whole else shares
