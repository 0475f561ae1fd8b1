"""Public chats with many voices, as turns: whose words stand under whom, in the store and in prompts."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from app.assembly.records import AssemblyRequest
from app.domain.entries import Tier
from app.entries.ports import Listing
from app.live.records import Heard
from app.live.service import LiveRequest
from app.text.normalise import fold
from app.turns.documents import viewer_of
from app.turns.service import Posted, PostedTurn
from evals.files import read_all, spread
from evals.live_plans import LABELS, heard, logs
from evals.service import Service

LABELLED: Final = 12
"""Batches of the labels that are asked."""

BEFORE: Final = 120
"""Lines before a batch that are posted, so many to a turn."""

_TURN_LINES: Final = 20
_WORD: Final = re.compile(r"\w+")
_ENTRIES: Final = 200
_NOW: Final = datetime(2026, 3, 1, 20, tzinfo=UTC)


@dataclass
class Attributed:
    """Entries in personal spaces, and entries under a person in prompts; `wrong` hold what the person never said."""

    chats: int = 0
    people: int = 0
    stored: int = 0
    shown: int = 0
    wrong: int = 0

    def figures(self) -> dict[str, float]:
        """As they are printed."""
        return {
            "chats": self.chats,
            "people": self.people,
            "stored": self.stored,
            "shown": self.shown,
            "wrong_attributions": self.wrong,
        }


async def attributions(service: Service, data: Path) -> Attributed:
    """Post what was said before some labelled batches, and assemble for each batch."""
    said = logs(data)
    counts = Attributed()
    labels = [label for label in read_all(LABELS, "live") if (label["data"], label["file"]) in said]
    for label in spread(labels, LABELLED):
        lines = said[label["data"], label["file"]]
        before = [heard(who, text) for n, who, text in lines if n < label["first"]][-BEFORE:]
        batch = [heard(who, text) for n, who, text in lines if label["first"] <= n <= label["last"]]
        name = str(label["id"])
        batch = [_apart(message, name) for message in batch if message.author.name != label["agent"]]
        before = [_apart(message, name) for message in before]
        await _post(service, name, before)
        own = _own_words(before)
        await _count_stored(service, own, counts)
        agents = (label["agent"],) if label["agent"] else ()
        request = LiveRequest(base=_base(service, name), batch=tuple(batch), agents=agents)
        await _count_shown(service, request, own, counts)
        counts.chats += 1
    return counts


def _apart(message: Heard, chat: str) -> Heard:
    """The people of a chat have nothing to do with those of another."""
    author = message.author
    apart = replace(author, platform=chat)
    return replace(message, author=apart, viewer=viewer_of(apart, message.role))


async def _post(service: Service, chat: str, lines: Sequence[Heard]) -> None:
    for start in range(0, len(lines), _TURN_LINES):
        messages = tuple(
            Posted(text=m.text, role=m.role, author=m.author) for m in lines[start : start + _TURN_LINES] if m.text
        )
        posted = PostedTurn(space=f"stream:{chat}", session=chat, given_id=None, fingerprint=b"", messages=messages)
        await service.runtime.turns.post(service.caller, posted, _NOW - timedelta(days=1))
    await service.runtime.queue.drain()


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text)))


def _own_words(lines: Sequence[Heard]) -> Mapping[str, frozenset[str]]:
    words: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for message in lines:
        if message.viewer is not None:
            words[message.viewer] |= _words(message.text)
    return words


async def _count_stored(service: Service, own: Mapping[str, frozenset[str]], counts: Attributed) -> None:
    for space, words in own.items():
        counts.people += 1
        for tier in (Tier.MEMORIES, Tier.EPISODES):
            listing = Listing(service.caller.space(space), tier, _ENTRIES)
            for entry in await service.runtime.entries.listing(listing):
                counts.stored += 1
                counts.wrong += not _words(entry.content.text) <= words


def _base(service: Service, chat: str) -> AssemblyRequest:
    stream = service.caller.space(f"stream:{chat}")
    return AssemblyRequest(space=stream, persona=stream, query="", as_of=_NOW, record=False, timeout_ms=60_000)


async def _count_shown(
    service: Service, request: LiveRequest, own: Mapping[str, frozenset[str]], counts: Attributed
) -> None:
    got, _ = await service.runtime.live.assemble(request)
    for entry in got.assembled.assembly.selection.entries:
        candidate = entry.scored.candidate
        if candidate.space.startswith("viewer:"):
            counts.shown += 1
            counts.wrong += not _words(candidate.text) <= own.get(candidate.space, frozenset())
