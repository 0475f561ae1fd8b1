"""What a conversation was about, without a model: people, places, topics, sentiment, and the sentences that say most.

Pure. A language model may write the text and the lists better (`app/llm`); the times are always ours.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

from app.domain.entries import Content
from app.text.content import content_terms
from app.text.language import LANGUAGES, likely_languages
from app.text.normalise import fold
from app.text.stop_words import stop_words
from app.turns.documents import CONVERSATION_TAG, heard, participants
from app.turns.records import Conversation, Message, Speaker

SENTIMENTS: Final = ("positive", "neutral", "negative", "mixed")

_SENTENCES: Final = 6
_SENTENCE_CHARS: Final = 300
_LISTED: Final = 8
_CHARS: Final = 60_000
"""Of a longer conversation the first half of this and the last are read."""

_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation was about.

    Attributes:
        text: In sentences; of an extractive summary, what was said word for word.
        sentiment: One of SENTIMENTS.
    """

    text: str
    people: tuple[str, ...]
    places: tuple[str, ...]
    topics: tuple[str, ...]
    sentiment: str
    started_at: datetime
    ended_at: datetime
    by_model: bool = False

    def as_json(self) -> dict[str, Any]:
        """As it is stored and answered."""
        return {
            "text": self.text,
            "people": list(self.people),
            "places": list(self.places),
            "topics": list(self.topics),
            "sentiment": self.sentiment,
            "by_model": self.by_model,
        }


def summarise(conversation: Conversation, messages: Sequence[Message]) -> Summary | None:
    """An extractive summary; None if nothing is left of what was said."""
    said = _read(messages)
    if not said:
        return None
    sentences = [(message.speaker, s) for message, text in said for s in _sentences(text)]
    counts = Counter(term for _, sentence in sentences for term in content_terms(sentence))
    kept = _telling([sentence for _, sentence in sentences], counts)
    own = [text for message, text in said if message.role is Speaker.USER] or [text for _, text in said]
    people, places = _names([text for _, text in said], participants(messages))
    return Summary(
        text="\n".join(f"{sentences[i][0]}: {sentences[i][1]}" for i in kept),
        people=people,
        places=places,
        topics=_topics([text for _, text in said], people, places),
        sentiment=_sentiment(own),
        started_at=conversation.started_at,
        ended_at=conversation.last_at,
    )


def summary_content(summary: Summary, conversation: Conversation) -> Content:
    """A summary as it is kept: an episode that names its times, and is indexed with its lists."""
    started, ended = (moment.astimezone(UTC) for moment in (summary.started_at, summary.ended_at))
    end = f"{ended:%H:%M}" if started.date() == ended.date() else f"{ended:%Y-%m-%d %H:%M}"
    lists = {"people": summary.people, "places": summary.places, "topics": summary.topics}
    about = "; ".join(f"{name}: {', '.join(values)}" for name, values in lists.items() if values)
    head = f"Conversation of {started:%Y-%m-%d %H:%M} to {end} UTC" + (f" ({about})" if about else "")
    return Content(
        text=f"{head}. Sentiment: {summary.sentiment}.\n{summary.text}",
        occurred_at=summary.started_at,
        participants=summary.people,
        tags=(CONVERSATION_TAG, summary.sentiment),
        scope=conversation.scope,
        session=str(conversation.session),
        source=str(conversation.id),
    )


def _read(messages: Iterable[Message]) -> list[tuple[Message, str]]:
    said = [(message, text) for message in messages if (text := heard(message))]
    if sum(len(text) for _, text in said) <= _CHARS:
        return said
    return [*_first(said), *_first(said[::-1])[::-1]]


def _first(said: Sequence[tuple[Message, str]]) -> list[tuple[Message, str]]:
    room, kept = _CHARS // 2, []
    for message, text in said:
        if room <= 0:
            break
        kept.append((message, text[:room]))
        room -= len(text)
    return kept


def _sentences(text: str) -> list[str]:
    found = (part.strip()[:_SENTENCE_CHARS] for part in _SENTENCE.findall(text))
    return [sentence for sentence in found if any(char.isalnum() for char in sentence)]


def _telling(sentences: Sequence[str], counts: Counter[str]) -> list[int]:
    """The places of the sentences that say most, in their order: those whose words come up most, no word twice."""
    left = {place: content_terms(sentence) for place, sentence in enumerate(sentences)}
    told: set[str] = set()
    kept: list[int] = []
    while left and len(kept) < _SENTENCES:
        best = max(left, key=lambda place: (_worth(left[place] - told, counts), -place))
        if kept and not left[best] - told:
            break
        told |= left.pop(best)
        kept.append(best)
    return sorted(kept)


def _worth(terms: frozenset[str] | set[str], counts: Counter[str]) -> float:
    return math.sqrt(sum(counts[term] for term in terms)) * min(len(terms), 8)


def _names(texts: Sequence[str], known: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """People and places: names inside sentences; a place is what stands mostly behind a word such as `in`."""
    people: Counter[str] = Counter()
    places: Counter[str] = Counter()
    before_places, calendar = _words("before_places"), _words("calendar")
    for text in texts:
        for sentence in _sentences(text):
            words = _WORD.findall(sentence)
            for before, word in pairwise(words):
                if word[0].isupper() and word[1:].islower() and fold(word) not in calendar:
                    (places if fold(before) in before_places else people)[word] += 1
    found = [name for name, n in people.most_common() if n > places[name] and name not in known]
    where = [name for name, n in places.most_common() if n >= people[name] and name not in known]
    return tuple([*known, *found][:_LISTED]), tuple(where[:_LISTED])


def _topics(texts: Sequence[str], people: Sequence[str], places: Sequence[str]) -> tuple[str, ...]:
    """The words that come up most, names and function words left out; as they were written first."""
    named = {fold(name) for name in (*people, *places)}
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    for text in texts:
        ignored = stop_words(likely_languages(text) or LANGUAGES)
        for word in _WORD.findall(text):
            key = fold(word)
            if len(key) > 3 and key not in ignored and key not in named:
                written.setdefault(key, word.lower())
                counts[key] += 1
    ranked = sorted(counts, key=lambda key: (-counts[key], -len(key), key))
    return tuple(written[key] for key in ranked[:_LISTED])


def _sentiment(texts: Iterable[str]) -> str:
    found = Counter(fold(word) for text in texts for word in _WORD.findall(text))
    good, bad = (sum(found[word] for word in _words(kind)) for kind in ("good", "bad"))
    if good == bad:
        return "mixed" if good else "neutral"
    if min(good, bad) * 2 >= max(good, bad):
        return "mixed"
    return "positive" if good > bad else "negative"


@cache
def _words(kind: str) -> frozenset[str]:
    read: Mapping[str, Any] = tomllib.loads(
        files("app.turns").joinpath("data", "summary.toml").read_text(encoding="utf-8")
    )
    return frozenset(read[kind])
