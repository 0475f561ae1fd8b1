"""The fenced blocks of the documentation that are to be run, and what they are said to print."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(\w+) (run|output|sample)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = "…"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a Markdown file.

    Attributes:
        mark: `run`, `output` (of the run block before it) or `sample` (what `make run` prints).
        line: Where it starts, from 1.
    """

    language: str
    mark: str
    text: str
    line: int


def blocks(path: Path) -> tuple[Block, ...]:
    """The marked blocks of a file, in order."""
    markdown = path.read_text(encoding="utf-8")
    return tuple(
        Block(found[1], found[2], found[3], markdown.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(markdown)
    )


def agrees(documented: str, printed: str) -> bool:
    """Whether a text is what the documentation shows of it: `…` stands for anything, also for lines left out."""
    parts = [re.escape(" ".join(part.split())) for part in documented.split(_PLACEHOLDER)]
    # Blanks beside a placeholder belong to it.
    return re.fullmatch(r"\s*.*?\s*".join(parts), " ".join(printed.split()), re.DOTALL) is not None
