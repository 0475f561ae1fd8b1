"""What can be observed in messages: rules over words, without a model. Pure."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from app.domain.spaces import normalise_handle
from app.live.records import Heard, Signal
from app.text.content import content_terms
from app.text.language import detect_language
from app.text.normalise import fold, plain

LANGUAGES = ("en", "it", "cs")
"""Those whose references back are recognised by rules."""

_LINK = re.compile(r"https?://\S+|www\.\S+")
_QUOTED = re.compile(r"^\s*>.*$", re.MULTILINE)
_Patterns = Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class _Wordings:
    patterns: _Patterns
    chatter: frozenset[str]


@cache
def _wordings() -> _Wordings:
    raw = tomllib.loads(files("app.live").joinpath("data", "wordings.toml").read_text(encoding="utf-8"))
    languages = [raw[code] for code in LANGUAGES]
    patterns = {
        name: re.compile("|".join(pattern for language in languages for pattern in language[name]), re.MULTILINE)
        for name in languages[0]
    }
    return _Wordings(patterns, frozenset(raw["chatter"].split()))


@lru_cache(maxsize=8_192)
def meant(text: str) -> str:
    """A text as the rules read it: folded, without links and without quoted lines."""
    return fold(plain(_QUOTED.sub("", _LINK.sub(" ", text)))).strip()


def _says(name: str, text: str) -> bool:
    return _wordings().patterns[name].search(meant(text)) is not None


def asks_to_remember(text: str) -> bool:
    """Whether somebody wishes something to be remembered."""
    return _says("remember", text)


def is_question(text: str) -> bool:
    """Whether something is asked."""
    return "?" in _LINK.sub(" ", text) or _says("asks", text)


def refers_back(text: str) -> bool:
    """Whether somebody speaks of what was said or done together before, as far as rules tell."""
    return _says("back", text) or (_says("ago", text) and _says("we", text) and is_question(text))


def is_foreign(text: str) -> bool:
    """Whether the rules cannot read a text: its language is certain, and another."""
    language = detect_language(text)
    return language is not None and language not in LANGUAGES


def asks_of_agent(text: str) -> bool:
    """Whether somebody asks the agent about itself."""
    return is_question(text) and _says("story", text)


@cache
def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(fold(plain(name)))}(?!\w)")


def names(text: str, name: str) -> bool:
    """Whether a text names somebody, as a word of its own."""
    return bool(name) and _named(name).search(meant(text)) is not None


def substance(text: str) -> frozenset[str]:
    """The content words of a text, without what people only call out in a chat."""
    return content_terms(meant(text)) - _wordings().chatter


def only_calls(text: str) -> bool:
    """Whether somebody only calls out: no word but those that a chat is full of, and figures."""
    words = (word.strip(".,!?:;") for word in meant(text).split())
    return all(not word or word.isdigit() or word in _wordings().chatter for word in words)


def subject(text: str) -> frozenset[str]:
    """What a reference back is about: the content words that the reference itself does not consist of."""
    patterns = _wordings().patterns
    return substance(patterns["ago"].sub(" ", patterns["back"].sub(" ", meant(text))))


def signals_of(own: Sequence[Heard], *, others: Iterable[Heard], agents: Sequence[str], alone: bool) -> set[Signal]:
    """What is observed of one person.

    Args:
        own: The person's messages and what the platform reports of them, at least one.
        others: Everybody else's messages.
        agents: What the agent is called.
        alone: Whether nobody else takes part: then what the person says is said to the agent.
    """
    found = {Signal.TOOK_PART}
    words = [message.own_words for message in own if message.own_words]
    if any(message.event is not None for message in own):
        found.add(Signal.PLATFORM_EVENT)
    if any(map(asks_to_remember, words)):
        found.add(Signal.ASKS_TO_REMEMBER)
    if any(_addresses(message, agents) for message in own) or (alone and any(map(substance, words))):
        found.add(Signal.ADDRESSES_AGENT)
    if any(map(is_question, words)):
        found.add(Signal.QUESTION)
    if any(message.has_media for message in own):
        found.add(Signal.MEDIA)
    if any(mentions(message, own[-1]) for message in others):
        found.add(Signal.MENTIONED)
    return found


def _addresses(message: Heard, agents: Sequence[str]) -> bool:
    called = {normalise_handle(agent) for agent in agents}
    mentioned = any(normalise_handle(mention) in called for mention in message.mentions)
    return bool(message.own_words) and (mentioned or any(names(message.own_words, agent) for agent in agents))


def mentions(message: Heard, person: Heard) -> bool:
    """Whether a message mentions a person: by the platform's id, by `@name`, or by the name at its start."""
    author = person.author
    if author.id is not None and author.id in message.mentions:
        return True
    if not author.name:
        return False
    handle, called = _called(author.name)
    if any(normalise_handle(mention) == handle for mention in message.mentions):
        return True
    text = meant(message.own_words)
    return called in text and (f"@{called}" in text or text.startswith((f"{called}:", f"{called},")))


@lru_cache(maxsize=8_192)
def _called(name: str) -> tuple[str, str]:
    """A name as a handle, and as the rules read it."""
    return normalise_handle(name), fold(plain(name))
