"""What is left of something that was said once parts of it are forgotten. Pure."""

import re
from collections.abc import Iterable

WORDS = 2
"""Shorter texts are not looked for in what was said: a name is no statement."""

_EDGES = " \t\r\n.,;:!?…\"'“”„«»()"
_SENTENCE = re.compile(r"[^.!?…;\n]*(?:[.!?…;]+(?!\s|$)[^.!?…;\n]*)*[.!?…;]*\s*|\n", re.DOTALL)


def statements(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts as they are looked for in what was said: without outer punctuation, each once."""
    found = dict.fromkeys(text.strip(_EDGES) for text in texts)
    return tuple(text for text in found if len(text.split()) >= WORDS)


def without(said: str, erased: Iterable[str]) -> str:
    """What was said without the sentences that hold one of some texts, blind to case and spacing.

    Returns:
        The same, if it holds none; empty, if nothing that says something is left.
    """
    spans = [found.span() for text in erased if text for found in _pattern(text).finditer(said)]
    if not spans:
        return said
    parts = [(m.start(), m.end()) for m in _SENTENCE.finditer(said) if m.end() > m.start()]
    kept = [said[a:b] for a, b in parts if not any(a < end and start < b for start, end in spans)]
    left = "".join(kept).strip()
    return left if any(char.isalnum() for char in left) else ""


def _pattern(text: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, text.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
