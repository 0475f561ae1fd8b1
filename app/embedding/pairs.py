"""Pairs of sentences whose relation is known: what a model is measured on."""

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from itertools import product

import orjson


class Relation(StrEnum):
    """What two sentences have to do with each other."""

    PARAPHRASE = "paraphrase"
    CONTRADICTION = "contradiction"
    COMPATIBLE = "compatible"
    UNRELATED = "unrelated"
    ANSWER = "answer"
    """The first is a question, the second helps to answer it."""
    IRRELEVANT = "irrelevant"
    """The first is a question, the second does not help."""

    @property
    def has_question(self) -> bool:
        """Whether the first sentence is a question."""
        return self in {Relation.ANSWER, Relation.IRRELEVANT}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences of one language."""

    language: str
    relation: Relation
    first: str
    second: str


def read_pairs(lines: bytes) -> tuple[Pair, ...]:
    """Pairs from JSON lines `{"language", "kind", "a", "b"}`.

    Raises:
        ValueError: If a line is none; it is named.
    """
    pairs: list[Pair] = []
    for number, line in enumerate(lines.splitlines(), start=1):
        try:
            row = orjson.loads(line)
            pairs.append(Pair(row["language"], Relation(row["kind"]), row["a"], row["b"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f'line {number} is no {{"language", "kind", "a", "b"}}: {error}') from error
    return tuple(pairs)


def built_in_pairs() -> tuple[Pair, ...]:
    """50 pairs each in English, Italian and Czech; parallel."""
    return read_pairs(files("app.embedding").joinpath("data", "pairs.jsonl").read_bytes())


def with_crossed(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """The pairs, and those that arise from asking every question of every other answer of its language.

    Two questions may share an answer, and two answers a subject: that blurs a percentile little.
    """
    answers: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.relation is Relation.ANSWER:
            answers[pair.language].append(pair)
    crossed = (
        Pair(language, Relation.IRRELEVANT, one.first, other.second)
        for language, known in answers.items()
        for one, other in product(known, known)
        if one is not other
    )
    return (*pairs, *crossed)
