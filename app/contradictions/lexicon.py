"""What the data files say, in a form that is quick to look up.

One file per language (`data/*.toml`), all with the same tables; loaded once, never changed.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "it", "cs")
EXCLUSIVE = (
    "colour", "material", "nationality", "country", "planet", "room", "instrument", "drink", "vegetable", "weekday",
)  # fmt: skip
"""Closed sets whose members exclude each other where only one can stand."""

CLASSES = ("month", "daypart", "language", "job", "region", "city", *EXCLUSIVE)
_END = r"(?= ?$| (?:[,():]|{tail})(?= |$))"


@dataclass(frozen=True, slots=True)
class Rule:
    """One wording of a claim.

    Attributes:
        attribute: The canonical attribute.
        kind: Which reader takes the value after the pattern; "" when `value` is fixed.
        value: The value that the wording itself gives.
        many: Whether somebody can have several such values at once.
        denies: The wording says that the value no longer holds.
        flips: A negation turns the value into its opposite; otherwise it denies the value.
        of_things: Only for a named subject, never for an elided one.
        imperative: An order to the assistant: always said by the person themselves.
        pattern: Matches at the start of the predicate.
        suffix: Must match right after the value.
    """

    attribute: str
    kind: str
    pattern: re.Pattern[str]
    value: str = ""
    many: bool = False
    denies: bool = False
    flips: bool = False
    of_things: bool = False
    imperative: bool = False
    suffix: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Subjects:
    """How a language names whom a sentence is about. Phrases are tuples of folded words."""

    self_phrases: tuple[tuple[str, ...], ...]
    possessives: tuple[tuple[str, ...], ...]
    indefinite: frozenset[str]
    strangers: frozenset[tuple[str, ...]]
    articles: frozenset[str]
    genitive_before: frozenset[str]
    genitive_after: frozenset[str]
    copulas: frozenset[str]
    kin: Mapping[str, str]
    own: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Antonyms:
    """Opposites: word to (axis, pole). Verbs decide anywhere, other words only in a predicate."""

    verbs: Mapping[str, tuple[str, int]]
    others: Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Scenes:
    """How a language describes what is to be seen.

    Attributes:
        heads: Nouns that such a description is about.
        kin_heads: Nouns that are heads only after another word or before one of `after_head`.
        indefinite: Words that begin a description; none in a language without articles.
        progressive: Matches a verb of something that is going on.
        lists: Words that join members of a list.
        opposites: Word to (axis, pole), as in `Antonyms`.
    """

    heads: frozenset[str]
    kin_heads: frozenset[str]
    after_head: frozenset[str]
    indefinite: frozenset[str]
    progressive: re.Pattern[str] | None
    lists: frozenset[str]
    opposites: Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Language:
    """One language's words and rules."""

    code: str
    words: Mapping[str, frozenset[str]]
    negator_phrases: tuple[tuple[str, ...], ...]
    subjects: Subjects
    rules: tuple[Rule, ...]
    attribute_nouns: Mapping[str, tuple[str, str]]
    favourite: re.Pattern[str]
    nouns: Mapping[str, str]
    antonyms: Antonyms
    comparing: frozenset[str]
    synonyms: Mapping[str, str]
    numbers: Mapping[str, int]
    tens: frozenset[str]
    ordinals: Mapping[str, int]
    units: Mapping[str, str]
    closed: Mapping[str, Mapping[str, str]]
    attributes: Mapping[str, str]
    scenes: Scenes
    vocabulary: frozenset[str]


_WORD_LISTS = (
    "stopwords", "negators", "many", "single_time", "single_place", "past", "past_suffix", "place_prepositions",
    "measure_nouns", "label_nouns", "hedges", "tail", "hard_tail", "phones", "name_particles", "not_things",
    "not_jobs", "leads", "switches", "keeps_ne", "loses", "ordered", "scoping", "scoping_traits", "name_stops",
    "clause_starts", "first_person",
)  # fmt: skip
_TELLING = (
    "stopwords", "many", "first_person", "hedges", "negators", "single_place", "single_time", "loses", "past",
    "measure_nouns",
)  # fmt: skip


@lru_cache(maxsize=1)
def languages() -> tuple[Language, ...]:
    """Every language, in a fixed order: rules of an earlier one are tried first."""
    return tuple(_language(code, _read(code)) for code in LANGUAGES)


@lru_cache(maxsize=1)
def country_of() -> Mapping[str, str]:
    """The country of each city that the data files know, both canonical."""
    return {city: country for country, cities in _read("en")["cities_in"].items() for city in cities.split()}


def _read(code: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("data", f"{code}.toml").read_text(encoding="utf-8"))


def _language(code: str, raw: dict[str, Any]) -> Language:
    endings = raw["endings"].split()
    words = {name: frozenset(raw[name].split()) for name in _WORD_LISTS}
    closed = {name: _inverse(raw["closed"].get(name, {}), endings) for name in CLASSES}
    antonyms = Antonyms(*(_poles(raw["antonyms"][name], f"{code}.{name}", endings) for name in ("verbs", "others")))
    numbers, tens = _numbers(raw["numbers"])
    subjects, synonyms, units = _subjects(raw), _inverse(raw["synonyms"], endings), _inverse(raw["units"], endings)
    tables = (*closed.values(), antonyms.verbs, antonyms.others, numbers, synonyms, units, subjects.kin, subjects.own)
    known = frozenset[str]().union(*(words[name] for name in _TELLING), *tables, raw["attribute_nouns"])
    return Language(
        code=code,
        words=words,
        negator_phrases=_phrases(raw["negator_phrases"]),
        subjects=subjects,
        rules=_rules(raw, words["tail"]),
        attribute_nouns={noun: _pair(value) for noun, value in raw["attribute_nouns"].items()},
        favourite=re.compile(raw["favourite"]["pattern"]),
        nouns=_inverse(raw["nouns"], endings),
        antonyms=antonyms,
        comparing=frozenset(raw["comparing"]["words"].replace("_", " ").split()) - {"rather", "more"},
        synonyms=synonyms,
        numbers=numbers,
        tens=tens,
        ordinals={word: value for value, word in enumerate(raw["numbers"]["ordinals"].split(), start=1)},
        units=units,
        closed=closed,
        attributes={form: name for name, forms in raw["attributes"].items() for form in forms.split(";")},
        scenes=_scenes(raw["scene"], code, endings),
        vocabulary=known,
    )


def _pair(text: str) -> tuple[str, str]:
    one, _, other = text.partition(":")
    return one, other


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted((tuple(part.split()) for part in text.split("|")), key=len, reverse=True))


def _forms(text: str, endings: list[str]) -> list[str]:
    forms = []
    for word in text.split():
        stems = [word] if not word.endswith("*") else [word[:-1] + ending for ending in endings]
        forms += [stem.replace("_", " ") for stem in stems]
    return forms


def _inverse(table: dict[str, str], endings: list[str]) -> dict[str, str]:
    return {form: name for name, text in table.items() for form in _forms(text, endings)}


def _poles(axes: list[str], prefix: str, endings: list[str]) -> dict[str, tuple[str, int]]:
    poles = {}
    for number, axis in enumerate(axes):
        for pole, side in enumerate(axis.split("~")):
            poles.update(dict.fromkeys(_forms(side, endings), (f"{prefix}.{number}", pole)))
    return poles


def _numbers(raw: dict[str, str]) -> tuple[dict[str, int], frozenset[str]]:
    numbers = {word: value for value, word in enumerate(raw["units"].split())}
    tens = {word: 10 * value for value, word in enumerate(raw["tens"].split()) if value > 1}
    joined = {ten + unit: tens[ten] + numbers[unit] for ten in tens for unit in list(numbers)[1:10]}
    numbers |= joined | tens | {raw["hundred"]: 100, raw["thousand"]: 1000}
    numbers |= {word: int(value) for word, _, value in (pair.partition("=") for pair in raw["others"].split())}
    return numbers, frozenset(tens)


def _subjects(raw: dict[str, Any]) -> Subjects:
    table = raw["subject"]
    return Subjects(
        self_phrases=_phrases(table["self"]),
        possessives=_phrases(table["possessives"]),
        indefinite=frozenset(table["indefinite"].split("|")),
        strangers=frozenset(_phrases(table["strangers"])),
        articles=frozenset(table["articles"].split("|")),
        genitive_before=frozenset(table["genitive_before"].split("|")) - {""},
        genitive_after=frozenset(table["genitive_after"].split("|")) - {""},
        copulas=frozenset(table["copulas"].split("|")),
        kin=_inverse(raw["kin"], []),
        own=_inverse(raw["own"], []),
    )


def _scenes(table: dict[str, Any], code: str, endings: list[str]) -> Scenes:
    names = ("heads", "kin_heads", "after_head", "indefinite", "lists")
    words = {name: frozenset(table[name].split()) for name in names}
    progressive = re.compile(table["progressive"]) if table["progressive"] else None
    return Scenes(**words, progressive=progressive, opposites=_poles(table["opposites"], f"{code}.scene", endings))


def _rules(raw: dict[str, Any], tail: frozenset[str]) -> tuple[Rule, ...]:
    macros = dict(raw["macros"])
    end = _END.format(tail="|".join(sorted(re.escape(word) for word in tail)))
    traits = [rule for trait in raw["traits"] for rule in _trait_rules(trait, macros, end)]
    attitudes = [rule for table in raw["attitudes"] for rule in _attitude_rules(table, macros)]
    return (*traits, *attitudes, *(rule for table in raw["rules"] for rule in _value_rules(table, macros)))


def _trait_rules(trait: dict[str, Any], macros: dict[str, str], end: str) -> list[Rule]:
    return [
        Rule(
            trait["attribute"],
            "",
            _pattern(pattern, macros, end),
            value=value,
            flips=trait.get("boolean", False),
            imperative=trait.get("imperative", False),
        )
        for value, patterns in trait["values"].items()
        for pattern in patterns
    ]


def _attitude_rules(table: dict[str, Any], macros: dict[str, str]) -> list[Rule]:
    return [
        Rule("attitude", "thing", _pattern(pattern, macros, " "), value=table["value"], flips=table.get("flips", False))
        for pattern in table["patterns"]
    ]


def _value_rules(table: dict[str, Any], macros: dict[str, str]) -> list[Rule]:
    suffix = table.get("suffix")
    return [
        Rule(
            table["attribute"],
            table["kind"],
            _pattern(pattern, macros, " "),
            many=table.get("cardinality") == "many",
            denies=table.get("denies", False),
            of_things=table.get("subject") == "thing",
            suffix=re.compile(suffix) if suffix else None,
        )
        for pattern in table["patterns"]
    ]


def _pattern(pattern: str, macros: dict[str, str], end: str) -> re.Pattern[str]:
    """Compile a pattern. Every `(?P<negN>` marks a negation; what `end` asks for must follow."""
    while "{" in pattern:
        pattern = pattern.replace("{adv}", macros["adv"])
        for name, body in macros.items():
            pattern = pattern.replace("{" + name + "}", body)
    body = f"(?:{pattern})"
    return re.compile(body + r"(?:(?<= )|(?= ))\s?" if end == " " else body + end)
