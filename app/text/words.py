"""Cutting a text into runs: words, identifiers, runs of scripts without blanks, symbols."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

import regex

from app.text.normalise import fold, plain

MAX_TERM_CHARS: Final = 64
"""Words are compared by so many first characters; a longer identifier counts only by its parts."""


class RunKind(Enum):
    """How a run becomes terms."""

    WORD = "word"  # letters: has stems
    PART = "part"  # letters inside a compound or a name: has stems
    NAME = "name"  # holds a digit or punctuation, never stemmed: ZX-4471, 2026, a@b.example, #plan, c++
    NAME_PART = "name part"  # a piece of a name that holds a digit
    CJK = "cjk"  # Han, hiragana and katakana, mixed
    HANGUL = "hangul"  # one blank-separated Korean word
    CLUSTERS = "clusters"  # Thai, Lao, Khmer, Burmese
    SYMBOL = "symbol"  # one emoji or other symbol


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a text that becomes terms in one way.

    `text` is in lower case with its accents (stemmers want them), `surface` the same folded.
    """

    kind: RunKind
    text: str
    surface: str


_CJK: Final = r"\p{Han}\p{Hiragana}\p{Katakana}ー々"
_CLUSTERED: Final = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LETTER: Final = rf"[[\p{{L}}\p{{N}}]--[{_CJK}\p{{Hangul}}{_CLUSTERED}]]"
_WORD: Final = rf"{_LETTER}[[\p{{L}}\p{{N}}\p{{M}}\u200d]--[{_CJK}\p{{Hangul}}{_CLUSTERED}]]*+"
_PICTOGRAPH: Final = r"\p{Extended_Pictographic}[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*+"

_RUN: Final = regex.compile(
    rf"""(?P<word>[#@]?+{_WORD}(?:[.@_\-/:+&\u2010\u2011]{_WORD})*+(?:\+\+|\#(?!{_LETTER}))?+)
    |(?P<cjk>[{_CJK}]++)
    |(?P<hangul>\p{{Hangul}}++)
    |(?P<clusters>[{_CLUSTERED}][{_CLUSTERED}\p{{M}}]*+)
    |(?P<symbol>\p{{Regional_Indicator}}{{2}}|{_PICTOGRAPH}(?:\u200d{_PICTOGRAPH})*+|[\p{{So}}\p{{Sc}}])
    """,
    regex.VERBOSE | regex.VERSION1,
)
_PART: Final = regex.compile(_WORD, regex.VERSION1)
_JOINING_HYPHEN: Final = regex.compile(r"(?<!\d)[-_\u2010\u2011]|[-_\u2010\u2011](?!\d)")
_NOT_LETTERS: Final = regex.compile(r"[^\p{L}\p{M}\u200d]")
_EMOJI_STYLE: Final = regex.compile(r"[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_CLUSTER: Final = regex.compile(r"\X")


def runs(text: str) -> Iterator[Run]:
    """The runs of a text, in order, one at a time.

    A word with inner punctuation gives the whole, without hyphens unless they stand between digits
    (so that `e-mail` is `email`, `ZX-4471` is `zx4471`, but `2026-03` is not `202603`), then its parts.
    Apostrophes divide words. Skin tone and style of an emoji do not matter.
    """
    for match in _RUN.finditer(plain(text)):
        found = match.group()
        match match.lastgroup:
            case "word":
                yield from _word_runs(found)
            case "symbol":
                symbol = _EMOJI_STYLE.sub("", found) or found
                yield Run(RunKind.SYMBOL, symbol, symbol)
            case kind:
                yield Run(RunKind(kind), found, fold(found))


def clusters(text: str) -> tuple[str, ...]:
    """The user-perceived characters of a text."""
    return tuple(_CLUSTER.findall(text))


def _word_runs(found: str) -> Iterator[Run]:
    parts = _PART.findall(found)
    if parts == [found]:
        yield _word(found, RunKind.WORD, RunKind.NAME)
        return
    whole = _JOINING_HYPHEN.sub("", found)
    if len(whole) <= MAX_TERM_CHARS:
        yield _word(whole, RunKind.WORD, RunKind.NAME)
    for part in parts:
        yield _word(part, RunKind.PART, RunKind.NAME_PART)


def _word(found: str, lettered: RunKind, other: RunKind) -> Run:
    text = found[:MAX_TERM_CHARS].lower()
    return Run(other if _NOT_LETTERS.search(text) else lettered, text, fold(text))
