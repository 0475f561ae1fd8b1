"""`make eval-extraction DATA=folder OUT=file.json`: what the rules extract, against labels written before them."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from app.extraction.records import Proposal, Said
from app.extraction.rules import extract
from evals.files import read_all

LABELS = Path(__file__).parent / "data"
LANGUAGES = ("en", "it", "cs")

_IRC_LINE = re.compile(r"\[\d\d:\d\d\] <[^>]+> (.*)")
_LOCOMO_SESSION = re.compile(r"session_\d+")


@dataclass
class Counts:
    """How the proposals of one language and half compare with its labels.

    Attributes:
        right: Proposals that share characters with something that must be remembered.
        optional: Those that share characters only with what may be.
        wrong: The others.
        categories: Of the right ones, those with a fitting category.
        expected: What must be remembered.
        found: How much of that is.
    """

    messages: int = 0
    right: int = 0
    optional: int = 0
    wrong: int = 0
    categories: int = 0
    expected: int = 0
    found: int = 0
    wrongly: list[str] = field(default_factory=list)

    def add(self, proposals: Sequence[Proposal], labels: Sequence[Mapping[str, Any]]) -> None:
        """Count one message."""
        self.messages += 1
        for proposal in proposals:
            met = [label for label in labels if _meet(proposal, label)]
            must = [label for label in met if not label.get("optional")]
            self.right += bool(must)
            self.optional += bool(met) and not must
            self.wrong += not met
            self.categories += any(proposal.category in label["categories"] for label in must)
            if not met:
                self.wrongly.append(proposal.text)
        wanted = [label for label in labels if not label.get("optional")]
        self.expected += len(wanted)
        self.found += sum(any(_meet(proposal, label) for proposal in proposals) for label in wanted)

    def figures(self) -> dict[str, float]:
        """Precision with what is optional counted as right, and as wrong; recall; the share of fitting categories."""
        proposals = self.right + self.optional + self.wrong
        return {
            "messages": self.messages,
            "expected": self.expected,
            "proposals": proposals,
            "precision": _share(self.right + self.optional, proposals),
            "precision_strict": _share(self.right, proposals),
            "recall": _share(self.found, self.expected),
            "category": _share(self.categories, self.right),
        }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def _meet(proposal: Proposal, label: Mapping[str, Any]) -> bool:
    return bool(label["start"] < proposal.end and proposal.start < label["end"])


def counted(data: Path) -> dict[tuple[str, str], Counts]:
    """Counts by language and half; messages whose data set is not there are left out."""
    loaded: dict[str, Mapping[str, str]] = {}
    counts: dict[tuple[str, str], Counts] = {}
    for language in LANGUAGES:
        for row in read_all(LABELS, f"extraction.{language}"):
            text = row["text"] if "text" in row else _text(row["set"], row["id"], data, loaded)
            if text is not None:
                here = counts.setdefault((language, row["half"]), Counts())
                here.add(extract(Said(row["id"], text)).proposals, row["expect"])
    return counts


def _text(name: str, key: str, data: Path, loaded: dict[str, Mapping[str, str]]) -> str | None:
    if name not in loaded:
        loaded[name] = dict(_MESSAGES[name](data))
    return loaded[name].get(key)


def _locomo(data: Path) -> Iterator[tuple[str, str]]:
    for sample in read_all(data / "locomo", "conversations"):
        for name, turns in sample["conversation"].items():
            for turn in turns if _LOCOMO_SESSION.fullmatch(name) and turns else ():
                yield f"{sample['sample_id']}:{turn['dia_id']}", turn["text"]


def _longmemeval(data: Path) -> Iterator[tuple[str, str]]:
    for instance in read_all(data / "longmemeval", "instances"):
        for number, session in enumerate(instance["haystack_sessions"]):
            for place, turn in enumerate(session):
                yield f"{instance['question_id']}:{number}:{place}", turn["content"]


def _beam(data: Path) -> Iterator[tuple[str, str]]:
    for number, sample in enumerate(read_all(data / "beam_100k", "conversations")):
        for message in sample["messages"]:
            yield f"{number}:{message['id']}", message["content"]


def _crd3(data: Path) -> Iterator[tuple[str, str]]:
    for episode in read_all(data / "crd3_test", "episodes"):
        for number, turn in enumerate(episode["turns"]):
            yield f"{episode['episode']}:{number}", turn["text"]


def _irc(data: Path) -> Iterator[tuple[str, str]]:
    for log in read_all(data / "irc_disentanglement", "files"):
        for number, line in enumerate(log["lines"]):
            if found := _IRC_LINE.match(line):
                yield f"{log['file']}:{number}", found[1]


_MESSAGES: dict[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "beam": _beam,
    "crd3": _crd3,
    "irc": _irc,
}


def main() -> None:
    """Count, print the table, write the file."""
    parser = argparse.ArgumentParser(prog="make eval-extraction", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets, one folder each")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--wrong", action="store_true", help="print the wrong proposals of the development half")
    options = parser.parse_args(sys.argv[1:])
    counts = counted(options.data)
    figures = {f"extraction.{language}.{half}": counts[language, half].figures() for language, half in counts}
    print("| | messages | expected | proposals | precision | strict | recall | category |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, row in figures.items():
        print(f"| `{name}` | {' | '.join(f'{value:g}' for value in row.values())} |")
    for language in LANGUAGES if options.wrong else ():
        for text in counts[language, "dev"].wrongly if (language, "dev") in counts else ():
            print(f"{language}: {text}")
    if options.out:
        options.out.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    main()
