"""Forgetting in the archive: decided and noted in the transaction that forgets, then done to the files, once or again.

Moving turns to the archive, looking for something in it and rewriting its files exclude each other in a tenant. So a
turn is in the database or in a file, never on its way past somebody who looks for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row
from psycopg.types.json import Jsonb

from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId, parse_id
from app.domain.spaces import SpaceKey
from app.forgetting.archived import ArchiveCut, ArchivedTurn, Left, RestedOn, Sought, cut_away, cut_of, spaces_in
from app.store.archive import FolderArchive
from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load

_SQL = load("archives")
_log: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)

Connection = AsyncConnection[TupleRow]


async def lock_archive(connection: Connection, tenant_id: UUID) -> None:
    """Wait until nobody else of a tenant moves, looks for or rewrites what is archived; until the transaction ends."""
    await connection.execute(_SQL["lock"], {"tenant_id": tenant_id})


async def note_file(connection: Connection, tenant_id: UUID, name: str, spaces: Iterable[str]) -> None:
    """Note of whose words a file holds some."""
    space_ids = [SpaceKey(tenant_id, space).space_id for space in spaces]
    await connection.execute(_SQL["note"], {"tenant_id": tenant_id, "name": name, "space_ids": space_ids})


async def files_left(connection: Connection, tenant_id: UUID, receipt: PublicId) -> int:
    """Out of how many files something is still to be taken because of a receipt."""
    (row,) = await _rows(connection, "left", {"tenant_id": tenant_id, "receipt": receipt.uuid})
    files: int = row["files"]
    return files


@dataclass(frozen=True, slots=True)
class PostgresArchives:
    """The archive's files, and what the database knows of them.

    Attributes:
        folder: None: this process has no archive.
    """

    pool: Pool
    folder: FolderArchive | None

    async def rested_on(self, connection: Connection, space: SpaceKey, ids: Sequence[UUID]) -> RestedOn:
        """What some entries rest on, said in the space itself or elsewhere."""
        address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        rows = await _rows(connection, "rested_on", {**address, "ids": ids})
        return RestedOn(frozenset(row["turn"] for row in rows), frozenset(row["message"] for row in rows))

    async def cut(self, connection: Connection, space: SpaceKey, sought: Sought, receipt: PublicId) -> int:
        """Note what is to be taken out of the files of a space; how many messages that is.

        Raises:
            UnavailableError: If this process cannot read the archive.
        """
        address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        names = {row["name"] for row in await _rows(connection, "of_space", address)}
        names |= await self._unknown(connection, space.tenant_id)
        if not names:
            return 0
        if self.folder is None:
            raise UnavailableError(
                "words of the space are in an archive; set RICORDO_HISTORY_ARCHIVE_DIR to its folder"
            )
        messages = 0
        for name in sorted(names):
            pending = await self._cuts_of(connection, space.tenant_id, name)
            turns = _as_they_will_be(await self.folder.read(name), pending)
            await note_file(connection, space.tenant_id, name, spaces_in(turns))
            for found in [cut for turn in turns if (cut := cut_of(turn, sought)) is not None]:
                await connection.execute(_SQL["add_cut"], _parameters(space.tenant_id, name, found, receipt))
                messages += found.messages
        return messages

    async def finish(self, tenant_id: UUID) -> int:
        """Take out of the files what was noted, one file at a time; how many files that was.

        Raises:
            UnavailableError: If the archive or the database does not answer.
        """
        files = 0
        while self.folder is not None and await self._finish_one(tenant_id, self.folder):
            files += 1
        return files

    async def try_to_finish(self, tenant_id: UUID) -> int:
        """The same; what fails is left to the next pass of maintenance."""
        try:
            return await self.finish(tenant_id)
        except UnavailableError as error:
            _log.warning("what was forgotten is still in the archive", reason=str(error))
            return 0

    async def _finish_one(self, tenant_id: UUID, folder: FolderArchive) -> bool:
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await lock_archive(connection, tenant_id)
            (row,) = await _rows(connection, "next_file", {"tenant_id": tenant_id})
            if row["name"] is None:
                return False
            of = {"tenant_id": tenant_id, "name": row["name"]}
            if not await folder.rewrite(row["name"], await self._cuts_of(connection, tenant_id, row["name"])):
                await connection.execute(_SQL["drop_file"], of)
            await connection.execute(_SQL["drop_cuts"], of)
        return True

    async def _unknown(self, connection: Connection, tenant_id: UUID) -> set[str]:
        """The files of which the database knows nothing: of a writer that died, or of an older version."""
        names = () if self.folder is None else await self.folder.names(tenant_id)
        of = {"tenant_id": tenant_id, "names": list(names)}
        return set(names) - {row["name"] for row in await _rows(connection, "known", of)}

    async def _cuts_of(self, connection: Connection, tenant_id: UUID, name: str) -> dict[str, Left | None]:
        rows = await _rows(connection, "cuts_of_file", {"tenant_id": tenant_id, "name": name})
        return {str(PublicId(row["turn"], row["space_id"], IdKind.TURN)): row["messages"] for row in rows}


def _as_they_will_be(turns: Iterable[ArchivedTurn], cuts: dict[str, Left | None]) -> list[ArchivedTurn]:
    """The turns once what is noted is done."""
    left = (cut_away(turn, cuts[turn["id"]]) if turn["id"] in cuts else turn for turn in turns)
    return [turn for turn in left if turn is not None]


def _parameters(tenant_id: UUID, name: str, cut: ArchiveCut, receipt: PublicId) -> dict[str, Any]:
    turn = parse_id(cut.turn)
    return {
        "tenant_id": tenant_id,
        "space_id": turn.space_id,
        "name": name,
        "turn": turn.uuid,
        "messages": None if cut.left is None else Jsonb(dict(cut.left)),
        "receipt": receipt.uuid,
    }


async def _rows(connection: Connection, name: str, parameters: dict[str, Any]) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_SQL[name], parameters)
        return await cursor.fetchall()
