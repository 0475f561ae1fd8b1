"""The archive of history: a folder of JSON lines, a turn a line."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

from app.domain.errors import UnavailableError
from app.turns.records import Message, Turn

_IDS = ("id", "turn", "session")


@dataclass(frozen=True, slots=True)
class FolderArchive:
    """Files `<tenant>/<day>-<first turn>.jsonl`, each written under another name, synced, then renamed."""

    folder: Path

    async def put(self, tenant_id: UUID, turns: Sequence[Turn]) -> str:
        """Keep turns durably; the same turns again replace their file."""
        name = f"{tenant_id}/{turns[0].recorded_at:%Y-%m-%d}-{turns[0].id.uuid}.jsonl"
        try:
            await asyncio.to_thread(_write, self.folder / name, b"".join(_line(turn) for turn in turns))
        except OSError as error:
            raise UnavailableError(f"the archive cannot be written: {error.strerror}") from error
        return name


def _write(path: Path, lines: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


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
