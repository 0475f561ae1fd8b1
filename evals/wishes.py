"""How much of unseen talk is taken for a correction or a wish to be forgotten: `python -m evals.wishes --data FOLDER`.

Each speaker's statements are remembered as the rules extract them, and every message is looked at with what was said
just before it, as the worker does. Nobody in these data speaks to a memory, so nearly all that is taken is taken
wrongly: the count is an upper bound of false alarms in talk. `--show N` prints N findings, to be judged by hand.
"""

import argparse
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from app.contradictions.claims import claim_key, derive_claim
from app.corrections.decide import Known, decide
from app.corrections.heard import is_meant, wishes
from app.corrections.matching import words_of
from app.corrections.reading import read
from app.corrections.records import Decision, Wanted
from app.domain.entries import Entry
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.entries.decide import Moment, first_version, rivals_of
from app.extraction.records import Said, content_of
from app.extraction.rules import extract
from evals.files import read_all, spread

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SPACE = SpaceKey(UUID(int=0), "user:speaker")
_BEFORE = 6
_IRC_LINE = re.compile(r"\[\d\d:\d\d\] <([^>]+)> (.*)")
_LOCOMO_SESSION = re.compile(r"session_\d+")

Talk = Iterator[tuple[str, str | None, str]]
"""Conversation, who speaks (None: an agent, who is not heard), and what is said; in order."""


@dataclass
class Counts:
    """What was found in one data set."""

    messages: int = 0
    may_be: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


class Memory:
    """What is remembered of one speaker."""

    def __init__(self) -> None:
        """Nothing."""
        self.entries: list[Entry] = []
        self._number = 0

    def add(self, text: str) -> None:
        """Remember what the rules extract; a later value takes the place of an earlier one."""
        for proposal in extract(Said("", text)).proposals:
            self._number += 1
            number = self._number
            entry_id = PublicId(UUID(int=number), _SPACE.space_id, IdKind.MEMORY)
            entry = first_version(entry_id, _SPACE.name, content_of(proposal, Said("", text)), Moment(_NOW, number))
            gone = {rival.id for rival in rivals_of(entry, self.entries)}
            self.entries = [*(one for one in self.entries if one.id not in gone), entry]

    def saying(self, text: str) -> list[Entry]:
        """What has every word of a text; nothing for none."""
        words = set(words_of(text))
        return [one for one in self.entries if words and words <= set(words_of(one.content.text))]


def taken(memory: Memory, text: str, before: tuple[str, ...]) -> Iterator[tuple[str, Decision]]:
    """The sentences of a message that are taken for wishes, with what would be done."""
    for wish in wishes(text):
        reading = read(wish.text)
        reading = replace(reading, denies=reading.denies or wish.denied)
        known = _known(memory, reading.about or reading.old or "", reading.statement)
        decision = decide(Wanted(space=_SPACE, said=wish.text), reading, known)
        if is_meant(wish, reading, decision, known, before):
            yield wish.text, decision


def _known(memory: Memory, about: str, statement: str | None) -> Known:
    """What a wish may be about: what says its words, or claims something of the same."""
    claim = derive_claim(statement) if statement else None
    key = None if claim is None else claim_key(claim)
    claimants = [one for one in memory.entries if one.content.claim and claim_key(one.content.claim) == key]
    found = {entry.id: entry for entry in (*memory.saying(about), *claimants)}
    return Known(tuple(sorted(found.values(), key=lambda entry: entry.sequence)))


def count(talk: Talk) -> Counts:
    """Listen to a data set."""
    counts = Counts()
    memories: defaultdict[tuple[str, str], Memory] = defaultdict(Memory)
    before: deque[str] = deque(maxlen=_BEFORE)
    place = ""
    for conversation, speaker, text in talk:
        if conversation != place:
            before.clear()
            place = conversation
        if speaker is not None:
            memory = memories[conversation, speaker]
            counts.messages += 1
            counts.may_be += bool(wishes(text))
            for sentence, decision in taken(memory, text, tuple(before)):
                kind = type(decision).__name__.lower()
                counts.taken[kind] += 1
                counts.findings.append(f"{kind}: {sentence}")
            memory.add(text)
        before.append(text)
    return counts


def _locomo(data: Path) -> Talk:
    for sample in read_all(data / "locomo", "conversations"):
        for name, turns in sample["conversation"].items():
            for turn in turns if _LOCOMO_SESSION.fullmatch(name) and turns else ():
                yield sample["sample_id"], turn["speaker"], turn["text"]


def _longmemeval(data: Path) -> Talk:
    heard: set[str] = set()
    for instance in read_all(data / "longmemeval", "instances"):
        for name, session in zip(instance["haystack_session_ids"], instance["haystack_sessions"], strict=True):
            for turn in () if name in heard else session:
                yield name, "user" if turn["role"] == "user" else None, turn["content"]
            heard.add(name)


def _beam(data: Path) -> Talk:
    for sample in read_all(data / "beam_100k", "conversations"):
        for message in sample["messages"]:
            yield str(sample["conversation"]), "user" if message["role"] == "user" else None, message["content"]


def _crd3(data: Path) -> Talk:
    for episode in read_all(data / "crd3_test", "episodes"):
        for turn in episode["turns"]:
            yield episode["episode"], " & ".join(turn["names"]), turn["text"]


def _irc(data: Path) -> Talk:
    for log in read_all(data / "irc_disentanglement", "files"):
        for found in map(_IRC_LINE.match, log["lines"]):
            if found:
                yield log["file"], found[1], found[2]


_TALK: Mapping[str, Callable[[Path], Talk]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "beam_100k": _beam,
    "crd3_test": _crd3,
    "irc_disentanglement": _irc,
}


def main() -> None:
    """Count, print a line for each data set, and the findings that are asked for."""
    parser = argparse.ArgumentParser(description="How much of unseen talk is taken for a correction or a wish.")
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets (evals/README.md)")
    parser.add_argument("--show", type=int, default=0, help="how many findings to print")
    options = parser.parse_args()
    findings: list[str] = []
    for name, talk in _TALK.items():
        counts = count(talk(options.data))
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.taken.items())) or "none"
        print(f"{name}: {counts.messages:,} messages, {counts.may_be:,} looked into, taken: {kinds}")
        findings += [f"{name}: {finding}" for finding in counts.findings]
    for finding in spread(findings, options.show):
        print(finding)


if __name__ == "__main__":
    main()
