"""Sentences and questions for the measured spaces: templated, varied, the same at every run."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files

import numpy as np

_DATA = tomllib.loads(files("loadtests").joinpath("texts.toml").read_text(encoding="utf-8"))
_SLOTS: dict[str, list[str]] = {
    **{name: words.split() for name, words in _DATA["words"].items()},
    **_DATA["phrases"],
    "number": [str(number) for number in range(2, 60)],
}

PREFERENCES: tuple[tuple[str, str], ...] = tuple(
    (category, text) for category, texts in _DATA["preferences"].items() for text in texts
)
"""Category and text of what a person prefers."""


def distinct(kind: str, seed: int) -> Iterator[str]:
    """Endless different texts of a kind: memories, episodes, procedures or questions."""
    templates = _DATA["templates"][kind]
    random = np.random.default_rng(seed)
    seen: set[str] = set()
    while True:
        text = _filled(templates[int(random.integers(len(templates)))], random)
        if text not in seen:
            seen.add(text)
            yield text


def _filled(template: str, random: np.random.Generator) -> str:
    first, *parts = template.split("{")
    filled = [first]
    for part in parts:
        name, _, rest = part.partition("}")
        values = _SLOTS[name]
        filled += [values[int(random.integers(len(values)))], rest]
    return "".join(filled)
