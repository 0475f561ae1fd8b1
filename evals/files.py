"""Reads JSON lines, compressed or not, whatever half of a data set they hold."""

import lzma
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson

ENDINGS = (".jsonl", ".jsonl.xz")

Item = TypeVar("Item")


def files_of(folder: Path, stem: str) -> list[Path]:
    """The files STEM.jsonl and STEM.HALF.jsonl of a folder, compressed or not, by name."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.name.startswith(f"{stem}.") and path.name.endswith(ENDINGS))


def read_all(folder: Path, stem: str) -> Iterator[dict[str, Any]]:
    """Every object of the files of that stem.

    Raises:
        ValueError: If a line is no JSON; the message names the file and the line.
    """
    for path in files_of(folder, stem):
        with lzma.open(path, "rb") if path.suffix == ".xz" else path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    yield orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise ValueError(f"{path.name}, line {number}: {error}") from error


def spread(items: Sequence[Item], wanted: int | None) -> Sequence[Item]:
    """So many of the items, evenly spaced from the first on; all for None."""
    if wanted is None or wanted >= len(items):
        return items
    return [items[number * len(items) // wanted] for number in range(wanted)]
