"""What the data files say: one file per language, all with the same tables; loaded once, never changed."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "it", "cs")
_FLAGS = re.IGNORECASE


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How one language puts something right, and what is answered in it.

    Attributes:
        swaps: Whole sentences that name what was wrong and what is right, and nothing else.
        contrasts: The end of a sentence that names what was wrong.
        inverted: A verb before its subject, as it stands after a place; never matches where that order is unknown.
        joins: Words that join a clause to the one before.
        leads: What may stand before a correction.
        denials: What says, first in a sentence or alone, that something was wrong.
        triggers: Folded words of which a message must have one to be read for corrections and wishes.
        facts: Whole sentences that wish something to be forgotten, <fact>.
        topics: The same for everything about a <topic>.
        whole: The same for all that is known.
        moves: Whole sentences that change where the last correction holds.
        lasting: Says that something is to hold from now on.
        fleeting: Says that something is not to last.
        places: Kind of scope, or `everywhere`, to the phrases that name it.
        here: The same kinds to how a place is called by whoever is there; `there` by others.
        answers: Whole messages that answer a question: `everything`, `nothing`, <named>, and the `ordinals` in order.
        around: What may stand around a place that answers one.
        say: Sentences that are answered, by name.
        view: Words of the memory view, by name.
    """

    code: str
    swaps: tuple[re.Pattern[str], ...]
    contrasts: tuple[re.Pattern[str], ...]
    inverted: re.Pattern[str]
    joins: re.Pattern[str]
    leads: re.Pattern[str]
    denials: re.Pattern[str]
    triggers: frozenset[str]
    facts: tuple[re.Pattern[str], ...]
    topics: tuple[re.Pattern[str], ...]
    whole: tuple[re.Pattern[str], ...]
    moves: tuple[re.Pattern[str], ...]
    lasting: re.Pattern[str]
    fleeting: re.Pattern[str]
    places: Mapping[str, re.Pattern[str]]
    here: Mapping[str, str]
    there: Mapping[str, str]
    answers: Mapping[str, tuple[re.Pattern[str], ...]]
    around: re.Pattern[str]
    say: Mapping[str, str]
    view: Mapping[str, str]


@cache
def lexicons() -> Mapping[str, Lexicon]:
    """Every language, in a fixed order."""
    return {code: _lexicon(code) for code in LANGUAGES}


def _lexicon(code: str) -> Lexicon:
    raw: dict[str, Any] = tomllib.loads(files(__package__).joinpath("data", f"{code}.toml").read_text(encoding="utf-8"))
    forget = raw["forget"]
    return Lexicon(
        code=code,
        denials=re.compile(rf"\s*(?:{_any(raw['denials'])})(?=\s*[,:;.!–-]|\s*$|\s+\w)", _FLAGS),
        triggers=frozenset(raw["triggers"].split()),
        facts=_wishes(forget, "facts"),
        topics=_wishes(forget, "topics"),
        whole=_wishes(forget, "whole"),
        swaps=tuple(re.compile(pattern, _FLAGS) for pattern in raw["swaps"]),
        contrasts=tuple(re.compile(pattern, _FLAGS) for pattern in raw["contrasts"]),
        inverted=re.compile(raw["inverted"], _FLAGS),
        joins=re.compile(rf"(?:[.;!]|,?\s+(?:{_any(raw['joins'])}))\s+(?=\w+\s+\w)", _FLAGS),
        leads=re.compile(rf"\s*(?:{_any(raw['leads'])})(?:\s*[,:;.!–-]+\s*|\s+(?=\w))", _FLAGS),
        moves=tuple(re.compile(pattern, _FLAGS) for pattern in raw["moves"]),
        lasting=_phrase(raw["lasting"]),
        fleeting=_phrase(raw["fleeting"]),
        places={kind: _phrase(phrases) for kind, phrases in raw["places"].items()},
        here=raw["here"],
        there=raw["there"],
        answers={
            name: tuple(re.compile(pattern, _FLAGS) for pattern in patterns)
            for name, patterns in raw["answers"].items()
            if name != "around"
        },
        around=_phrase(raw["answers"]["around"]),
        say=raw["say"],
        view=raw["view"],
    )


def _wishes(forget: Mapping[str, Any], name: str) -> tuple[re.Pattern[str], ...]:
    """Whole sentences that ask for something to be forgotten, plainly or politely."""
    found = []
    for pattern in forget[name]:
        plain, polite = (pattern.replace("{verb}", forget[verb]) for verb in ("verb", "infinitive"))
        forms = (
            rf"{forget['before']}{plain}{forget['after']}",
            rf"{forget['before']}{forget['polite']}{polite}{forget['after']}",
        )
        found += [re.compile(form, _FLAGS) for form in forms]
    return tuple(found)


def _any(patterns: Iterable[str]) -> str:
    return "|".join(sorted(patterns, key=len, reverse=True))


def _phrase(patterns: Iterable[str]) -> re.Pattern[str]:
    """A phrase with the punctuation that sets it off."""
    return re.compile(rf"\s*,?\s*\b(?:{_any(patterns)})\b\s*[,:]?", _FLAGS)
