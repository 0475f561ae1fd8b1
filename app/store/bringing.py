"""How an exported space comes in: line by line, once each, and nothing that was forgotten here."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Final
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from app.domain.entries import Entry
from app.domain.spaces import SpaceKey
from app.entries.ports import Embedders, VersionWrite
from app.entries.service import index_contents
from app.store.buried import Buried, find_buried
from app.store.entries import Pool, PostgresUnit
from app.store.exported import VERSIONS, Line, Lines, Report, Row, Survey, Travelling, as_uuid, sound_lines, space_of
from app.store.left import left_of_entry, left_of_row, made_at
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.spaces import lock_space
from app.turns.tasks import found_by

_SQL = load("transfer")
_TURNS = load("turns")

_AT_ONCE: Final = 200
_OF_ENTRIES: Final = frozenset(("entry_uses", "procedure_outcomes"))
"""Tables that say something of an entry under its own id."""

Connection = AsyncConnection[TupleRow]


@dataclass(slots=True)
class Brought:
    """What an import did.

    Attributes:
        lines: In the file, the header not counted.
        read: Of them, those that are done.
        rows: That were written, by table.
        known: Entries, and rows of other tables, that are here already.
        forgotten: Those that were forgotten here.
        bad: Lines that cannot be read or written.
    """

    lines: int
    read: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    known: int = 0
    forgotten: int = 0
    bad: int = 0


Progress = Callable[[Brought], None]
"""Told how far it is, after every portion."""


@dataclass(frozen=True, slots=True)
class Here:
    """What is here of a file's entries.

    Attributes:
        versions: How many of an entry's versions are here; an entry that went another way here is not among them.
        forgotten: Entries that were forgotten.
        buried: What was forgotten, here or in the space that was exported.
        exported_at: When the file was made, if it says so.
        derived: Ids of the file's entries that were made of what was said.
        cut: Ids of the file's messages that quote what was forgotten.
    """

    versions: Mapping[UUID, int]
    forgotten: frozenset[UUID]
    buried: Buried
    exported_at: datetime | None
    derived: frozenset[str]
    cut: frozenset[str]

    def lacks(self, entry: Entry) -> bool:
        """Whether a version is to come."""
        there = self.versions.get(entry.id.uuid)
        return there is not None and entry.version > there

    def is_whole(self, entry_id: UUID, travelling: Travelling) -> bool:
        """Whether nothing of an entry is to come, though it was not forgotten."""
        if entry_id in self.forgotten:
            return False
        return self.versions.get(entry_id, len(travelling.versions)) >= len(travelling.versions)


async def look_here(connection: Connection, space: SpaceKey, found: Survey, lines: Lines) -> Here:
    """Compare the entries of a file with what is here, and with what was forgotten here."""
    address = _address(space)
    versions: dict[UUID, int] = {}
    forgotten: set[UUID] = set()
    source = SpaceKey(space.tenant_id, space_of(lines))
    buried = await find_buried(connection, space.tenant_id, [space.space_id, source.space_id])
    derived, cut = _touched(lines, space, found, buried)
    entries = (line.entry for line in sound_lines(lines, space, found.bad) if line.entry is not None)
    while portion := list(islice(entries, _AT_ONCE)):
        there: dict[UUID, dict[int, datetime]] = {entry.id.uuid: {} for entry in portion}
        cursor = await connection.execute(_SQL["known"], {**address, "ids": list(there)})
        for entry_id, version, recorded_at in await cursor.fetchall():
            there[entry_id][version] = recorded_at
        # Versions are told apart by when they were recorded.
        versions |= {i: len(v) for i, v in there.items() if v.items() <= found.entries[i].versions.items()}
        forgotten |= {entry.id.uuid for entry in portion if left_of_entry(entry, derived, buried) is None}
    kept = {i: n for i, n in versions.items() if i not in forgotten}
    return Here(kept, frozenset(forgotten), buried, found.exported_at, derived, cut)


def _touched(lines: Lines, space: SpaceKey, found: Survey, buried: Buried) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of derived entries, and of messages that quote what was forgotten; none where nothing was."""
    derived: set[str] = set()
    cut: set[str] = set()
    for line in sound_lines(lines, space, found.bad) if buried.stones else ():
        if line.table == "derived_entries":
            derived.add(str(line.row.get("id")))
        elif line.table == "messages" and buried.is_quoted_in(
            line.row.get("text"), made_at(line.row, found.exported_at)
        ):
            cut.add(str(line.row.get("id")))
    return frozenset(derived), frozenset(cut)


@dataclass(frozen=True, slots=True)
class Arriving:
    """One file on its way into a space."""

    pool: Pool
    space: SpaceKey
    embedders: Embedders
    here: Here
    tables: Collection[str]
    report: Report
    _refused: set[UUID] = field(default_factory=set)
    """Entries of which the database refused a version: later ones would stand on it."""

    async def bring(self, found: Survey, lines: Lines, progress: Progress) -> Brought:
        """Write what is to come, portion by portion; each that is written stays, whatever comes after it."""
        done = Brought(lines=found.lines, bad=len(found.bad), forgotten=len(self.here.forgotten))
        done.known = sum(self.here.is_whole(*entry) for entry in found.entries.items())
        for table, of_table in groupby(sound_lines(lines, self.space, found.bad), key=lambda line: line.table):
            while portion := list(islice(of_table, _AT_ONCE)):
                if table == VERSIONS:
                    await self._versions([line for line in portion if line.entry and self.here.lacks(line.entry)], done)
                else:
                    await self._others(table, portion, done)
                done.read += len(portion)
                progress(done)
        async with tenant_transaction(self.pool, self.space.tenant_id) as connection:
            await connection.execute(_SQL["drop_stray_postings"], _address(self.space))
        return done

    async def _versions(self, lines: Sequence[Line], done: Brought) -> None:
        """Write versions at once; if the database refuses one, it is found by halving."""
        whole = [line.entry for line in lines if line.entry and line.entry.id.uuid not in self._refused]
        left = [left_of_entry(entry, self.here.derived, self.here.buried) for entry in whole]
        entries = [entry for entry in left if entry is not None]
        if not entries:
            return
        try:
            await self._write(entries)
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            if len(lines) == 1:
                self._refused.add(entries[0].id.uuid)
                self._bad(lines[0], error, done)
                return
            for half in _halves(lines):
                await self._versions(half, done)
        else:
            _count(done, VERSIONS, len(entries))

    async def _write(self, entries: Sequence[Entry]) -> None:
        async with tenant_transaction(self.pool, self.space.tenant_id) as connection:
            unit = _Unit(connection, _address(self.space), await lock_space(connection, self.space))
            fresh = [entry for entry in entries if entry.text_version == entry.version]
            indexes = await index_contents(self.embedders, unit.model_id, [entry.content for entry in fresh])
            index_of = {(e.id, e.version): index for e, index in zip(fresh, indexes, strict=True)}
            await unit.write([VersionWrite(unit.placed(e), index_of.get((e.id, e.version))) for e in entries])
            await unit.finish()

    async def _others(self, table: str, lines: Sequence[Line], done: Brought) -> None:
        """Write rows of another table: of entries that are here as in the file, or of no entry at all."""
        if table not in self.tables:
            for line in lines:
                done.bad += 1
                self.report(line.number, f"this version has no table {table}")
            return
        async with tenant_transaction(self.pool, self.space.tenant_id) as connection:
            kept: list[Line] = []
            shortened_lines: list[Line] = []
            for line in lines:
                left = self._left_of_row(line)
                done.forgotten += left != line.row
                if left is None or (table in _OF_ENTRIES and as_uuid(left.get("id")) not in self.here.versions):
                    continue
                if table == "message_postings" and left.get("id") in self.here.cut:
                    continue
                (kept if left == line.row else shortened_lines).append(replace(line, row=left))
            await self._insert(connection, table, kept, done)
            for line in shortened_lines:
                before = done.rows.get(table, 0)
                await self._insert(connection, table, [line], done)
                if table == "messages" and done.rows.get(table, 0) > before:
                    await self._index(connection, line.row)

    def _left_of_row(self, line: Line) -> Row | None:
        """What may come of a row: nothing of one that is about a forgotten entry."""
        if not self.here.forgotten.isdisjoint(_entries_of(line)):
            return None
        return left_of_row(line.table, line.row, self.here.buried, self.here.exported_at)

    async def _index(self, connection: Connection, message: Row) -> None:
        """Make what is left of a message searchable."""
        terms = found_by(message["text"], is_whole=True)
        values = {"terms": list(terms), "tfs": list(terms.values()), "length": sum(terms.values())}
        of = {**_address(self.space), "id": message["id"], **values}
        await connection.execute(_TURNS["index_message"], of)
        await connection.execute(_TURNS["insert_postings"], of)

    async def _insert(self, connection: Connection, table: str, lines: Sequence[Line], done: Brought) -> None:
        if not lines:
            return
        owner = {"tenant_id": self.space.tenant_id, "space_id": self.space.space_id}
        rows = orjson.dumps([{**line.row, **owner} for line in lines]).decode()
        try:
            async with connection.transaction():
                added = (await connection.execute(_insertion(table), {"rows": rows})).rowcount
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            if len(lines) == 1:
                self._bad(lines[0], error, done)
                return
            for half in _halves(lines):
                await self._insert(connection, table, half, done)
        else:
            _count(done, table, added)
            done.known += len(lines) - added

    def _bad(self, line: Line, error: psycopg.Error, done: Brought) -> None:
        """Told by code and column: the database's own words would quote the row."""
        done.bad += 1
        about = error.diag.column_name or error.diag.constraint_name
        self.report(line.number, f"the database refuses it ({error.sqlstate}{f', {about}' if about else ''})")


class _Unit(PostgresUnit):
    """Writes versions that happened elsewhere, in their order."""

    _latest = -1

    def placed(self, entry: Entry) -> Entry:
        """The version where it belongs in this space's history: after what is here, or as it was in an empty space.

        What happened at once there happens at once here.
        """
        if entry.sequence >= self._sequence:
            self._sequence = entry.sequence
        elif entry.sequence != self._latest:
            self._sequence += 1
        self._latest = entry.sequence
        return replace(entry, sequence=self._sequence)


def _count(done: Brought, table: str, added: int) -> None:
    done.rows[table] = done.rows.get(table, 0) + added


def _halves(lines: Sequence[Line]) -> tuple[Sequence[Line], Sequence[Line]]:
    middle = len(lines) // 2
    return lines[:middle], lines[middle:]


def _entries_of(line: Line) -> set[UUID]:
    """The entries that a row is about, as far as it names some."""
    named = [line.row.get("id"), line.row.get("entry")]
    several = line.row.get("entries")
    named += several if isinstance(several, list) else []
    return {found for found in map(as_uuid, named) if found is not None}


def _insertion(table: str) -> sql.Composed:
    into = sql.SQL(
        "INSERT INTO {0} SELECT * FROM json_populate_recordset(NULL::{0}, %(rows)s::json) ON CONFLICT DO NOTHING"
    )
    return into.format(sql.Identifier(table))


def _address(space: SpaceKey) -> dict[str, Any]:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}
