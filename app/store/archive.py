"""The archive of history: a folder of JSON lines, a turn a line."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import orjson

from app.domain.errors import UnavailableError
from app.forgetting.archived import ArchivedTurn, Left, cut_away
from app.turns.records import Message, Turn

T = TypeVar("T")
_IDS = ("id", "turn", "session")


@dataclass(frozen=True, slots=True)
class FolderArchive:
    """Files `<tenant>/<day>-<first turn>.jsonl`, each written under another name, synced, then renamed.

    Every method raises UnavailableError if the folder cannot be read or written.
    """

    folder: Path

    async def put(self, tenant_id: UUID, turns: Sequence[Turn]) -> str:
        """Keep turns durably; the same turns again replace their file."""
        name = f"{tenant_id}/{turns[0].recorded_at:%Y-%m-%d}-{turns[0].id.uuid}.jsonl"
        await _off_loop(_write, self.folder / name, b"".join(_line(turn) for turn in turns))
        return name

    async def names(self, tenant_id: UUID) -> tuple[str, ...]:
        """The files of a tenant, in order. Nobody else may be writing: what a writer left unfinished is removed."""
        return await _off_loop(self._names, str(tenant_id))

    async def read(self, name: str) -> tuple[ArchivedTurn, ...]:
        """The turns of a file; none if it is there no more."""
        return await _off_loop(self._read, name)

    async def rewrite(self, name: str, cuts: Mapping[str, Left | None]) -> bool:
        """Take something out of a file; whether anything is left of it. Doing it again changes nothing."""
        return await _off_loop(self._rewrite, name, cuts)

    def _names(self, tenant: str) -> tuple[str, ...]:
        folder = self.folder / tenant
        for part in folder.glob("*.part"):
            part.unlink()
        return tuple(sorted(f"{tenant}/{path.name}" for path in folder.glob("*.jsonl")))

    def _read(self, name: str) -> tuple[ArchivedTurn, ...]:
        path = self.folder / name
        if not path.exists():
            path.parent.stat()  # a folder that is not mounted is no file that is gone
            return ()
        return tuple(orjson.loads(line) for line in path.read_bytes().splitlines())

    def _rewrite(self, name: str, cuts: Mapping[str, Left | None]) -> bool:
        turns = self._read(name)
        kept = [cut_away(turn, cuts[turn["id"]]) if turn["id"] in cuts else turn for turn in turns]
        lines = [orjson.dumps(turn, option=orjson.OPT_APPEND_NEWLINE) for turn in kept if turn is not None]
        path = self.folder / name
        if lines:
            _write(path, b"".join(lines))
        elif turns:
            path.unlink()
            _sync(path.parent)
        return bool(lines)


async def _off_loop(work: Callable[..., T], *arguments: Any) -> T:
    try:
        return await asyncio.to_thread(work, *arguments)
    except OSError as error:
        raise UnavailableError(f"the archive cannot be read or written: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise UnavailableError("the archive cannot be read: a file of it is broken") from error


def _write(path: Path, lines: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _line(turn: Turn) -> bytes:
    line = {
        "id": str(turn.id),
        "space": turn.space,
        "session": str(turn.session),
        "session_name": turn.session_name,
        "conversation": str(turn.conversation),
        "given_id": turn.given_id,
        "said_at": turn.said_at,
        "recorded_at": turn.recorded_at,
        "messages": [_message(message) for message in turn.messages if message.is_said],
    }
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


def _message(message: Message) -> dict[str, Any]:
    names = [field.name for field in fields(message) if field.name not in {"space", "position", "deleted_at"}]
    kept = {name: getattr(message, name) for name in names}
    return kept | {name: str(kept[name]) for name in _IDS}
