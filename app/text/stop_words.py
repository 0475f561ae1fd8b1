"""Function words, which say little about what a question is after."""

from collections.abc import Collection
from functools import cache
from importlib import resources

from app.text.language import LANGUAGES
from app.text.normalise import fold


def stop_words(languages: Collection[str]) -> frozenset[str]:
    """The folded words that are function words in every one of these languages; none for no language.

    `die` is a function word in German and none in English, so it goes only where German is certain.
    """
    if not languages:
        return frozenset()
    return frozenset.intersection(*(_stop_words(language) for language in languages))


@cache
def _stop_words(language: str) -> frozenset[str]:
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}, known are {', '.join(LANGUAGES)}")
    listed = resources.files("app.text").joinpath("data", f"stop_words.{language}.txt").read_text("utf-8")
    return frozenset(fold(word) for word in listed.split())
