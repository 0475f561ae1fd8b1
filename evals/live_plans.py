"""The planner's decisions on batches of public chats, against labels written before its rules."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.domain.entries import Author
from app.live.planner import Surroundings, plan_live
from app.live.records import Heard
from app.turns.documents import viewer_of
from app.turns.records import Speaker
from evals.files import read_all

LABELS: Final = Path(__file__).parent / "data"
BOTS: Final = frozenset({"ubottu", "ubotu"})
HISTORY: Final = 40
"""Messages before the batch that count as recent history."""

_IRC_LINE = re.compile(r"\[\d\d:\d\d\] <([^>]+)> (.*)")


@dataclass
class Decisions:
    """How plans compare with labels.

    Attributes:
        planned: People whose memory would be read; `right` of them rightly, optional ones left out of both.
        wanted: People whose memory should be read; `found` of them are.
        episodes: Decisions whether to read episodes, and those that are right.
    """

    batches: int = 0
    planned: int = 0
    right: int = 0
    wanted: int = 0
    found: int = 0
    episodes: int = 0
    episodes_right: int = 0
    back: int = 0
    back_found: int = 0
    wrong: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Precision and recall of whom to read, accuracy of when to read episodes, and recall of references back."""
        return {
            "batches": self.batches,
            "viewers_precision": _share(self.right, self.planned),
            "viewers_recall": _share(self.found, self.wanted),
            "episodes_accuracy": _share(self.episodes_right, self.episodes),
            "episodes_recall": _share(self.back_found, self.back),
        }


def decisions(data: Path) -> Decisions:
    """Plan every labelled batch whose data set is there."""
    said = logs(data)
    counts = Decisions()
    for label in read_all(LABELS, "live"):
        lines = said.get((label["data"], label["file"]))
        if lines is not None:
            _count(counts, label, lines)
    return counts


def logs(data: Path) -> Mapping[tuple[str, str], list[tuple[int, str, str]]]:
    """By data set and file: number, speaker and text of every line."""
    said = {("irc_disentanglement", name): lines for name, lines in _irc(data)}
    return said | {("crd3_test", name): lines for name, lines in _crd3(data)}


def _count(counts: Decisions, label: Mapping[str, Any], lines: Sequence[tuple[int, str, str]]) -> None:
    agent = label["agent"]
    batch = [heard(who, text) for n, who, text in lines if label["first"] <= n <= label["last"] and who != agent]
    before = [text for n, _, text in lines if n < label["first"]][-HISTORY:]
    plan = plan_live(batch, Surroundings(agents=(agent,) if agent else (), history=tuple(before)))
    counts.batches += 1
    counts.episodes += 1
    counts.episodes_right += plan.episodes.is_read == label["episodes"]
    counts.back += label["episodes"]
    counts.back_found += label["episodes"] and plan.episodes.is_read
    if plan.episodes.is_read != label["episodes"]:
        counts.wrong.append(f"{label['id']}: episodes {plan.episodes.is_read}")
    if label["viewers"] is None:
        return
    planned = {pick.name for pick in plan.readers}
    wanted, optional = set(label["viewers"]), set(label["optional"])
    counts.planned += len(planned - optional)
    counts.right += len(planned & wanted)
    counts.wanted += len(wanted)
    counts.found += len(planned & wanted)
    if planned - optional != wanted:
        counts.wrong.append(
            f"{label['id']}: {sorted(planned - wanted - optional)} too many, {sorted(wanted - planned)} missing"
        )


def heard(who: str, text: str) -> Heard:
    """A line of a chat, as a message of a batch. In these chats nobody has an id but the name."""
    role = Speaker.BOT if who in BOTS else Speaker.USER
    author = Author(who, "chat", who)
    return Heard(text=text, author=author, role=role, viewer=viewer_of(author, role))


def _irc(data: Path) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
    for log in read_all(data / "irc_disentanglement", "files"):
        found = ((n, _IRC_LINE.match(line)) for n, line in enumerate(log["lines"]))
        yield log["file"], [(n, line[1], line[2]) for n, line in found if line]


def _crd3(data: Path) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
    for episode in read_all(data / "crd3_test", "episodes"):
        yield episode["episode"], [(t["n"], t["names"][0], t["text"]) for t in episode["turns"]]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0
