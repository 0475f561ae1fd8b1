"""Stores in which relevance ties, so that the other signals decide. `evals/data/ties.toml` has the cases."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

CASES: Final = Path(__file__).with_name("data") / "ties.toml"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact with what is known of it beside its text; None is unknown."""

    text: str
    importance: float | None
    age_days: float
    uses: int
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Tie:
    """A store of near-equal facts, and a question.

    Attributes:
        name: Case and topic.
        right: The fact that should come first, by its place.
    """

    name: str
    question: str
    facts: tuple[Fact, ...]
    right: int


def ties(path: Path = CASES) -> Iterator[Tie]:
    """Every case on every topic; the right fact's place and name go round."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    names = data["names"][0]["listed"].split()
    for number, case in enumerate(data["cases"]):
        for place, topic in enumerate(data["topics"]):
            right = (5 * number + 7 * place) % len(names)
            profiles = list(islice(cycle(case["others"]), len(names)))
            profiles[right] = case["right"]
            facts = tuple(_fact(topic["fact"].format(name=n), p) for n, p in zip(names, profiles, strict=True))
            asked: str = topic[case.get("asks", "question")].format(name=names[right])
            yield Tie(f"{case['id']}.{place}", asked, facts, right)


def _fact(text: str, profile: Sequence[float]) -> Fact:
    importance, age_days, uses, confidence = profile
    return Fact(text, _known(importance), age_days, int(uses), _known(confidence))


def _known(value: float) -> float | None:
    return None if value < 0 else value


def labelled(path: Path = CASES) -> Mapping[str, Any]:
    """The cases by their id, with the reason of each label."""
    return {case["id"]: case for case in tomllib.loads(path.read_text(encoding="utf-8"))["cases"]}
