"""How an exported space comes in: line by line, once each, and nothing that was forgotten here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
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
from app.entries.tombstones import (
    ERASED_SPACE,
    Mark,
    Tombstone,
    erased_block_mark,
    erased_mark,
    erased_record_mark,
    erased_since,
)
from app.store.entries import Pool, PostgresUnit
from app.store.exported import VERSIONS, Line, Lines, Report, Survey, Travelling, as_uuid, sound_lines
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.spaces import lock_space
from app.store.tombstones import find_tombstones

_SQL = load("transfer")

_AT_ONCE: Final = 200
_MADE: Final = ("created_at", "recorded_at", "made_at", "raised_at", "said_at")
"""Columns that say since when there is a row; the first that a table has counts."""

_OF_ENTRIES: Final = frozenset(("entry_uses", "procedure_outcomes"))
"""Tables that say something of an entry under its own id."""

_WORDS: Final = ("text", "told")
"""Columns that hold what may have been forgotten."""

_OWN_MARK: Final[Mapping[str, Callable[[str], Mark]]] = {
    "soul_blocks": erased_block_mark,
    "record_versions": erased_record_mark,
}

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
        whole: The tombstone of the whole space, if it was erased.
    """

    versions: Mapping[UUID, int]
    forgotten: frozenset[UUID]
    whole: Mapping[Mark, Tombstone]

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
    whole = await find_tombstones(connection, address, [ERASED_SPACE])
    entries = (line.entry for line in sound_lines(lines, space, found.bad) if line.entry is not None)
    while portion := list(islice(entries, _AT_ONCE)):
        there: dict[UUID, dict[int, datetime]] = {entry.id.uuid: {} for entry in portion}
        cursor = await connection.execute(_SQL["known"], {**address, "ids": list(there)})
        for entry_id, version, recorded_at in await cursor.fetchall():
            there[entry_id][version] = recorded_at
        # Versions are told apart by when they were recorded.
        versions |= {i: len(v) for i, v in there.items() if v.items() <= found.entries[i].versions.items()}
        marks = {erased_mark(entry.content.text) for entry in portion}
        buried = {**whole, **await find_tombstones(connection, address, sorted(marks))}
        for entry in portion:
            since = erased_since(erased_mark(entry.content.text), buried)
            if since is not None and entry.first_recorded_at <= since:
                forgotten.add(entry.id.uuid)
    return Here({i: n for i, n in versions.items() if i not in forgotten}, frozenset(forgotten), whole)


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
        entries = [line.entry for line in lines if line.entry and line.entry.id.uuid not in self._refused]
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
            marks = {mark for line in lines for mark in _marks(line)}
            buried = {**self.here.whole, **await find_tombstones(connection, _address(self.space), sorted(marks))}
            kept: list[Line] = []
            for line in lines:
                if self._is_forgotten(line, buried):
                    done.forgotten += 1
                elif table not in _OF_ENTRIES or as_uuid(line.row.get("id")) in self.here.versions:
                    kept.append(line)
            await self._insert(connection, table, kept, done)

    def _is_forgotten(self, line: Line, buried: Mapping[Mark, Tombstone]) -> bool:
        """Whether a row is about a forgotten entry, or is no younger than the forgetting of what it says."""
        if not self.here.forgotten.isdisjoint(_entries_of(line)):
            return True
        since = [at for mark in (*_marks(line), ERASED_SPACE) if (at := erased_since(mark, buried)) is not None]
        made = next((line.row[name] for name in _MADE if line.row.get(name)), None)
        return bool(since) and _moment(made) <= max(since)

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


def _marks(line: Line) -> Iterator[Mark]:
    """What the words of a row would be forgotten under."""
    for text in (line.row.get(name) for name in _WORDS):
        if isinstance(text, str) and text:
            yield _OWN_MARK.get(line.table, erased_mark)(text)


def _moment(value: object) -> datetime:
    """When a row was made; what cannot be read is taken to be old."""
    try:
        read = datetime.fromisoformat(str(value))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _insertion(table: str) -> sql.Composed:
    into = sql.SQL(
        "INSERT INTO {0} SELECT * FROM json_populate_recordset(NULL::{0}, %(rows)s::json) ON CONFLICT DO NOTHING"
    )
    return into.format(sql.Identifier(table))


def _address(space: SpaceKey) -> dict[str, Any]:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}
