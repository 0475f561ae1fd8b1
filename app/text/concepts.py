"""Which concepts a word speaks of: a small thesaurus, so that words of one meaning find each other across languages."""

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from app.text.language import LANGUAGES
from app.text.stems import stems


@lru_cache(maxsize=65_536)
def concepts(word: str, languages: tuple[str, ...] = LANGUAGES) -> tuple[str, ...]:
    """The concepts of a word that may be of any of these languages, sorted; most words have none.

    Args:
        word: One word in lower case, with its accents.
        languages: Codes of app.text.language.LANGUAGES; those without a line in concepts.toml have no concepts.
    """
    known = _stems()
    found = {
        concept
        for language in languages
        if language in known
        for stem in stems(word, (language,))
        for concept in known[language].get(stem, ())
    }
    return tuple(sorted(found))


@cache
def _stems() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """By language and stem."""
    listed = tomllib.loads(files("app.text").joinpath("data", "concepts.toml").read_text(encoding="utf-8"))
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for concept, lines in listed.items():
        for language, words in lines.items():
            for word in words.split():
                for stem in stems(word, (language,)):
                    found[language][stem].add(concept)
    return {language: {stem: frozenset(c) for stem, c in by_stem.items()} for language, by_stem in found.items()}
