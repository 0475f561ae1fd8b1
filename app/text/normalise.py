"""Forms of a text under which spellings of the same thing become equal."""

import unicodedata
from typing import Final

_APOSTROPHES: Final = "\u2018\u2019\u201b\u02bc\u00b4`"
_INVISIBLE: Final = "\u00ad\u061c\u200b\u200c\u200e\u200f\u2060\ufeff"
"""Soft hyphen, zero-width and direction marks. The zero-width joiner stays: emoji are built with it."""

_TO_PLAIN: Final = str.maketrans({**dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_INVISIBLE)})
_LETTERS_WITHOUT_DECOMPOSITION: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ـ": None}
)
_MARKS: Final = dict.fromkeys(
    (
        *range(0x0300, 0x0370),  # Latin, Greek, Cyrillic
        *range(0x0483, 0x0488),  # Cyrillic titlo
        *range(0x0591, 0x05C8),  # Hebrew points
        *range(0x064B, 0x0660),  # Arabic vowels, hamza above and below
        0x0670,
        *range(0x1DC0, 0x1E00),
        0x200D,
    )
)
"""Marks that people leave out when they type. Those of Thai, Indic scripts and kana change the word."""

_EMOJI_VARIANTS: Final = str.maketrans(dict.fromkeys(("\ufe0e", "\ufe0f")))
_KEPT_PUNCTUATION: Final = frozenset("%#@&*§/_")
"""Punctuation that changes what it stands beside: 50% is not 50, #plan is not plan."""


def plain(text: str) -> str:
    """The text in NFKC, with one kind of apostrophe and without invisible characters."""
    return unicodedata.normalize("NFKC", text.translate(_TO_PLAIN))


def fold(word: str) -> str:
    """The word in lower case without the marks that people leave out: `Káva` gives `kava`, `Straße` `strasse`.

    Idempotent. Marks that make another word (Thai vowels, the voicing of kana) stay.
    """
    if word.isascii():
        return word.lower()
    lowered = word.casefold().translate(_LETTERS_WITHOUT_DECOMPOSITION)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", lowered).translate(_MARKS).casefold())


def normalise_text(text: str) -> str:
    """The form under which two texts count as the same: blind to case, spacing and outer punctuation.

    Punctuation inside a word stays (`3.5`, `e-mail`), as do the minus of a number and `%#@&*§/_`.
    Accents stay: they tell words apart. A text of nothing but punctuation keeps it. Idempotent.
    """
    words = plain(text).translate(_EMOJI_VARIANTS).casefold().split()
    kept = [stripped for word in words if (stripped := _without_outer_punctuation(word))]
    return unicodedata.normalize("NFKC", " ".join(kept or words))


def _without_outer_punctuation(word: str) -> str:
    start, end = 0, len(word)
    while start < end and _is_outer(word, start):
        start += 1
    while end > start and _is_punctuation(word[end - 1]):
        end -= 1
    return word[start:end]


def _is_outer(word: str, index: int) -> bool:
    is_minus = word[index] in "-\u2212" and word[index + 1 : index + 2].isdigit()
    return _is_punctuation(word[index]) and not is_minus


def _is_punctuation(char: str) -> bool:
    return char not in _KEPT_PUNCTUATION and unicodedata.category(char).startswith("P")


def visible(name: str) -> str:
    """A name in which nothing is invisible: look-alikes that differ in such characters look different."""
    if name.isprintable():
        return name
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in name)
