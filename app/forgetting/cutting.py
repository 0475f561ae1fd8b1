"""What is left of something that was said once parts of it are forgotten. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from app.domain.entries import Content
from app.turns.documents import CONVERSATION_TAG

WORDS = 2
"""Shorter texts are not looked for in what was said: a name is no statement."""

_ECHO_CHARS = 3
_EDGES = " \t\r\n.,;:!?…\"'“”„«»()"
_SPEAKS = re.compile(r"(?:\[[^\]\n]*\] )?(?P<who>[^\n]{1,200}?): ")
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


def echoes(contents: Iterable[Content]) -> tuple[str, ...]:
    """By which words an answer repeats what some memories say, whatever their form: the values of their claims."""
    values = dict.fromkeys(content.claim.value for content in contents if content.claim is not None)
    return tuple(value for value in values if sum(char.isalnum() for char in value) >= _ECHO_CHARS)


def shortened(
    content: Content, erased: Sequence[str], repeated: Sequence[str] = (), speaker: str | None = None
) -> Content | None:
    """An episode without the sentences that hold one of some texts; None if nothing is left of it.

    A summary goes as a whole: its lists of people and places are made of all that it tells. So does a context, which
    nobody reads.

    Args:
        repeated: Texts that are looked for in what is no participant's: the agent's answers.
        speaker: Whose words are meant; what other participants say stays. None for everybody's.
    """
    if CONVERSATION_TAG in content.tags:
        return None
    kept = []
    for who, prefix, said in _blocks(content.text):
        is_others = who in content.participants
        if is_others and speaker not in {None, who}:
            kept.append(prefix + said)
        elif left := without(said, erased if is_others else (*erased, *repeated)):
            kept.append(prefix + left)
    context = content.context or ""
    about = content.context if without(context, erased) == context else None
    return replace(content, text="\n".join(kept), context=about) if kept else None


def _blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """A transcript message by message: who speaks, the start of the line that says so, and what is said."""
    who = prefix = ""
    lines: list[str] = []
    for line in text.splitlines():
        found = _SPEAKS.match(line)
        if found is not None:
            if lines:
                yield who, prefix, "\n".join(lines)
            who, prefix, lines = found["who"], found[0], []
        lines.append(line[len(found[0]) :] if found else line)
    if lines:
        yield who, prefix, "\n".join(lines)


def sentences_of(said: str) -> tuple[str, ...]:
    """The sentences of what somebody said, without outer punctuation, each once."""
    found = dict.fromkeys(part[0].strip(_EDGES) for part in _SENTENCE.finditer(said))
    return tuple(sentence for sentence in found if sentence)
