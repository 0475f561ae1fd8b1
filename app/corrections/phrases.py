"""What is answered, in the language in which something was said. Pure."""

from collections.abc import Iterable

from app.corrections.lexicon import lexicons
from app.corrections.records import Option
from app.domain.spaces import visible_scopes

QUOTE_CHARS = 160
_EVERYWHERE = "everywhere"


def quote(text: str) -> str:
    """A text on one line, cut to `QUOTE_CHARS`."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_CHARS else f"{line[: QUOTE_CHARS - 1].rstrip()}…"


def say(language: str, name: str, **values: str) -> str:
    """A sentence of the data files; its quotations are cut."""
    return lexicons()[language].say[name].format(**{key: quote(value) for key, value in values.items()})


def where(scope: str, language: str, scopes: Iterable[str] | None = None) -> str:
    """A scope in plain words.

    Args:
        scopes: Where the conversation is: a place that is seen from there is called "this". None for a list.
    """
    lexicon = lexicons()[language]
    if not scope:
        return lexicon.there[_EVERYWHERE]
    kind, _, name = scope.rpartition("/")[2].partition(":")
    here = scopes is not None and scope in visible_scopes(tuple(scopes))
    return (lexicon.here if here else lexicon.there)[kind].format(name=name)


def saved(language: str, text: str, place: str, replaced: Iterable[str]) -> str:
    """What was saved, where, and what it replaced."""
    parts = [say(language, "saved", where=place, text=text)]
    parts += [say(language, "replaces", text=old) for old in dict.fromkeys(replaced)]
    return _joined(parts)


def asked(question: str, options: Iterable[Option], language: str) -> str:
    """A question with its options on one line."""
    *labels, last = [option.label for option in options]
    either = f"{', '.join(labels)} {say(language, 'or')} {last}" if labels else last
    return f"{question} {either}?"


def _joined(parts: Iterable[str]) -> str:
    return " ".join(part if part.rstrip("”»“").endswith((".", "!", "?", "…")) else f"{part}." for part in parts)
