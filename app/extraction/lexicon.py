"""What the data files say, compiled once. One file per language (`data/*.toml`), all with the same tables."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from app.domain.entries import Category
from app.extraction.records import Tense

LANGUAGES = ("en", "it", "cs")

_IMPORTANCE = {
    Category.OUTPUT_PREFERENCE: 0.8,
    Category.ASSISTANT_PREFERENCE: 0.8,
    Category.RELATIONSHIP: 0.65,
    Category.WORK: 0.6,
    Category.DECISION: 0.6,
    Category.FACT: 0.55,
    Category.GOAL: 0.55,
    Category.PROJECT: 0.55,
    Category.PERSONAL_PREFERENCE: 0.55,
}
"""How much it usually matters; 0.5 for the others. Preferences on how to answer are served always (0.7 and above)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One category of statements: any of the patterns at the start of a clause."""

    category: Category
    patterns: tuple[re.Pattern[str], ...]
    importance: float
    tense: Tense


@dataclass(frozen=True, slots=True)
class Language:
    """One language's rules. Patterns see folded words joined by single blanks.

    Attributes:
        leads: Words before a statement that mean nothing.
        lead_phrases: The same of several words.
        splitters: Words after which a clause may begin.
        adverbials: Words that begin an adverbial before a statement.
        wishes: Ways to ask that something be remembered; what follows is it.
        hedges: Ways to begin a guess.
        hedging: Words that make a clause a guess.
        play: A message with one of these is play, a joke or made up.
        unreal: A sentence with one of these is a condition, a report or a dream.
        reported: What begins with one of these is somebody else's words, up to the end of its line.
        negators: Words that negate.
        asking: Words that begin a question.
        first_person: Words by which somebody speaks of themselves.
        told: A sentence that asks to remember something which need not be about its author.
        passing: A clause that likes something of the conversation in passing.
        dangling: A clause that says "it" or "this" of something in another sentence.
        categories: What a claim's attribute is about.
    """

    code: str
    leads: frozenset[str]
    lead_phrases: tuple[re.Pattern[str], ...]
    splitters: frozenset[str]
    adverbials: frozenset[str]
    wishes: tuple[re.Pattern[str], ...]
    hedges: tuple[re.Pattern[str], ...]
    hedging: frozenset[str]
    play: re.Pattern[str]
    unreal: re.Pattern[str]
    reported: re.Pattern[str]
    negators: frozenset[str]
    asking: frozenset[str]
    first_person: frozenset[str]
    told: re.Pattern[str]
    passing: re.Pattern[str]
    dangling: re.Pattern[str]
    rules: tuple[Rule, ...]
    categories: Mapping[str, Category]


@lru_cache(maxsize=1)
def languages() -> Mapping[str, Language]:
    """Every language by its code."""
    return {code: _language(code) for code in LANGUAGES}


def _language(code: str) -> Language:
    raw = tomllib.loads(files(__package__).joinpath("data", f"{code}.toml").read_text(encoding="utf-8"))
    return Language(
        code=code,
        leads=frozenset(raw["leads"].split()),
        lead_phrases=_whole(raw["lead_phrases"]),
        splitters=frozenset(raw["splitters"].split()),
        adverbials=frozenset(raw["adverbials"].split()),
        wishes=_whole(raw["wishes"]),
        hedges=_whole(raw["hedges"]),
        hedging=frozenset(raw["hedging"].split()),
        play=re.compile("|".join(raw["play"])),
        unreal=re.compile("|".join(raw["unreal"])),
        reported=re.compile("|".join(raw["reported"])),
        negators=frozenset(raw["negators"].split()),
        asking=frozenset(raw["asking"].split()),
        first_person=frozenset(raw["first_person"].split()),
        told=re.compile(raw["told"]),
        passing=re.compile(raw["passing"]),
        dangling=re.compile(raw["dangling"]),
        rules=tuple(_rule(table, raw["macros"]) for table in raw["rules"]),
        categories={attribute: Category(name) for attribute, name in raw["categories"].items()},
    )


def _whole(patterns: list[str]) -> tuple[re.Pattern[str], ...]:
    """Each with the blank after it, so that what is left starts with a word."""
    return tuple(re.compile(f"(?:{pattern})(?: |$)") for pattern in patterns)


def _rule(table: dict[str, Any], macros: dict[str, str]) -> Rule:
    category = Category(table["category"])
    return Rule(
        category=category,
        patterns=tuple(re.compile(_expanded(pattern, macros)) for pattern in table["patterns"]),
        importance=table.get("importance", _IMPORTANCE.get(category, 0.5)),
        tense=Tense(table.get("tense", Tense.PRESENT)),
    )


def _expanded(pattern: str, macros: dict[str, str]) -> str:
    while any(f"{{{name}}}" in pattern for name in macros):
        for name, body in macros.items():
            pattern = pattern.replace(f"{{{name}}}", body)
    return pattern
