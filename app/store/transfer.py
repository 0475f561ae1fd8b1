"""A space as JSON lines, and back: every version and scope; indexes are built anew, tombstones are respected.

The tables are those of the catalogue (`space_tables()`), so that one that is added later travels as well.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from app.domain.entries import Entry, Tier
from app.domain.spaces import SpaceKey, check_space
from app.entries.ports import Embedders, VersionWrite
from app.entries.service import index_contents
from app.forgetting.cutting import shortened, statements, without
from app.store.buried import Buried, find_buried
from app.store.entries import Pool, PostgresUnit
from app.store.pool import connected, tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from
from app.store.spaces import lock_space
from app.turns.tasks import found_by

_SQL = load("transfer")
_TURNS = load("turns")
_EVER = datetime(1, 1, 2, tzinfo=UTC)

FORMAT = 1
VERSIONS = "entry_versions"
NOT_CARRIED = frozenset(
    ("entry_vectors", "entry_postings", "claims", "tier_statistics", "space_centres", "assemblies", "jobs", "archives")
)
"""What is built anew from the versions, the log of some days, work that is under way, and what is no longer here."""

_TIMES = ("valid_from", "valid_to", "occurred_at", "recorded_at", "first_recorded_at", "last_confirmed_at")
_AT_ONCE = 200

Row = dict[str, Any]
Progress = Callable[[int], None]
"""Told how many lines are done."""


class TransferError(Exception):
    """What cannot be exported or imported, in one line."""


@dataclass(slots=True)
class Brought:
    """What an import did: rows by table, and how many were left out because they were forgotten, or there already."""

    rows: dict[str, int] = field(default_factory=dict)
    forgotten: int = 0
    known: int = 0


@dataclass(frozen=True, slots=True)
class PostgresTransfer:
    """Exports and imports spaces of one pool."""

    pool: Pool

    async def export(self, space: SpaceKey) -> AsyncIterator[bytes]:
        """The space in JSON lines, as it is at one moment: a header, the versions in their order, the other tables.

        Raises:
            TransferError: If nothing was written to it.
        """
        address = _address(space)
        async with connected(self.pool) as connection, connection.transaction():
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await connection.execute(_SQL["tenant"], address)
            cursor = await connection.execute(_SQL["header"], address)
            row = await cursor.fetchone()
            if row is None:
                raise TransferError(f"there is no space {space.name}")
            yield _line({"ricordo": FORMAT, "space": space.name, "exported_at": row[0], "versions": row[1]})
            for table in await _tables(connection):
                async with connection.cursor(name=f"export_{table}") as rows:
                    await rows.execute(_select(table), address)
                    async for (found,) in rows:
                        yield _line({"table": table, "row": _without_address(found)})

    async def bring(self, space: SpaceKey, lines: Sequence[bytes], embedders: Embedders, progress: Progress) -> Brought:
        """Import a space. What was forgotten here stays away; what is here already stays as it is.

        Raises:
            TransferError: If the lines are no export of this version.
            UnavailableError: If the embedder or the database does not answer.
        """
        rows = list(_read(lines))
        versions = [_entry(row, space) for table, row in rows if table == VERSIONS]
        others = [(table, row) for table, row in rows if table != VERSIONS]
        brought = Brought()
        buried = await self._buried(space, space_of(lines))
        if buried.has_space(_exported_at(lines)):
            brought.forgotten = len(rows)
            return brought
        derived = {row.get("id") for table, row in others if table == "derived_entries"}
        kept = await self._admitted(space, versions, derived, buried, brought)
        for start in range(0, len(kept), _AT_ONCE):
            await self._write(space, kept[start : start + _AT_ONCE], embedders)
            progress(min(start + _AT_ONCE, len(kept)))
        brought.rows[VERSIONS] = len(kept)
        try:
            await self._add(space, others, {str(entry.id.uuid) for entry in kept}, buried, brought)
        except psycopg.DataError as error:
            raise TransferError(f"a row cannot be read: {error}") from error
        progress(len(rows))
        return brought

    async def _buried(self, space: SpaceKey, source: str) -> Buried:
        """What was forgotten in a space, or in the one that was exported."""
        space_ids = [space.space_id, SpaceKey(space.tenant_id, source).space_id]
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            return await find_buried(connection, space.tenant_id, space_ids)

    async def _admitted(
        self, space: SpaceKey, versions: Sequence[Entry], derived: set[Any], buried: Buried, brought: Brought
    ) -> list[Entry]:
        """The versions of entries that are neither here nor forgotten; of derived episodes what is left of them."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            ids = sorted({entry.id.uuid for entry in versions})
            cursor = await connection.execute(_SQL["known"], {**_address(space), "ids": ids})
            known = {row[0] for row in await cursor.fetchall()}
        left = [_left_of(entry, derived, buried) for entry in versions]
        forgotten = {entry.id.uuid for entry, rest in zip(versions, left, strict=True) if rest is None}
        brought.forgotten, brought.known = len(forgotten), len(known - forgotten)
        return [entry for entry in left if entry is not None and entry.id.uuid not in forgotten | known]

    async def _write(self, space: SpaceKey, entries: Sequence[Entry], embedders: Embedders) -> None:
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            unit = _Unit(connection, _address(space), await lock_space(connection, space))
            fresh = [entry for entry in entries if entry.text_version == entry.version]
            indexes = await index_contents(embedders, unit.model_id, [entry.content for entry in fresh])
            index_of = {(e.id, e.version): index for e, index in zip(fresh, indexes, strict=True)}
            await unit.write([VersionWrite(unit.placed(e), index_of.get((e.id, e.version))) for e in entries])
            await unit.finish()

    async def _add(
        self, space: SpaceKey, rows: Iterable[tuple[str, Row]], ids: set[str], buried: Buried, brought: Brought
    ) -> None:
        """The rows of the other tables: of entries that came, or of no entry at all."""
        cut = {row.get("id") for table, row in rows if table == "messages" and _quotes(row, buried)}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            tables = set(await _tables(connection))
            for table, row in rows:
                if table not in tables:
                    raise TransferError(f"this version has no table {table}")
                if table in _OF_ENTRIES and row.get("id") not in ids:
                    continue
                left = _left_of_row(table, row, buried)
                brought.forgotten += left != row
                if left is None or (table == "message_postings" and row.get("id") in cut):
                    continue
                address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
                added = await connection.execute(_insert(table), {"row": orjson.dumps({**left, **address}).decode()})
                brought.rows[table] = brought.rows.get(table, 0) + added.rowcount
                if table == "messages" and left != row and added.rowcount:
                    await _index(connection, {**address, "id": left["id"]}, left["text"])


_OF_ENTRIES = frozenset(("entry_uses", "procedure_outcomes"))
"""Tables that say something of an entry under its own id."""


_RECORDED: Final = ("recorded_at", "created_at", "said_at", "started_at")


def _quotes(row: Row, buried: Buried) -> bool:
    return buried.is_quoted_in(row.get("text"), _recorded_at(row))


def _recorded_at(row: Row) -> datetime:
    at = next((row[name] for name in _RECORDED if row.get(name)), None)
    return _EVER if at is None else datetime.fromisoformat(at)


def _left_of(entry: Entry, derived: set[Any], buried: Buried) -> Entry | None:
    """A version as it may come: whole; without what was forgotten, if it was derived; or not at all."""
    content, at = entry.content, entry.first_recorded_at
    if buried.has_text(content.text, at):
        return None
    if str(entry.id.uuid) not in derived or entry.tier is not Tier.EPISODES:
        return entry
    quoted = buried.quoted("\n".join(filter(None, (content.text, content.context))), at)
    if not quoted:
        return entry
    left = shortened(content, quoted)
    return None if left is None else replace(entry, content=left)


def _left_of_row(table: str, row: Row, buried: Buried) -> Row | None:
    """What may come of a row: all of it, what does not quote what was forgotten, or nothing."""
    at = _recorded_at(row)
    match table:
        case "messages" if _quotes(row, buried):
            whole = buried.has_text(row["text"], at)
            text = "" if whole else without(row["text"], statements(buried.quoted(row["text"], at)))
            return {**row, "text": text, "terms": []} if text else None
        case "memory_evidence" if buried.is_quoted_in(row.get("content"), at):
            return {**row, "content": None}
        case "conversations" if buried.is_quoted_in(row.get("summary"), at):
            return {**row, "summary": None}
        case "corrections" if buried.is_quoted_in(list(row.values()), at):
            return None
        case _:
            is_buried = any(isinstance(value, str) and value and buried.has_text(value, at) for value in row.values())
            return None if is_buried else row


async def _index(connection: AsyncConnection[TupleRow], address: Row, text: str) -> None:
    """Make what is left of a message searchable."""
    terms = found_by(text, is_whole=True)
    values = {"terms": list(terms), "tfs": list(terms.values()), "length": sum(terms.values())}
    await connection.execute(_TURNS["index_message"], {**address, **values})
    await connection.execute(_TURNS["insert_postings"], {**address, **values})


class _Unit(PostgresUnit):
    """Writes versions that happened elsewhere, in their order."""

    def placed(self, entry: Entry) -> Entry:
        """The version where it belongs in this space's history: after what is here, or as it was in an empty space."""
        sequence = max(entry.sequence, self._sequence)
        self._sequence = sequence
        return replace(entry, sequence=sequence)


def space_of(lines: Sequence[bytes]) -> str:
    """The name of the space that was exported.

    Raises:
        TransferError: If the lines are no export of this version.
    """
    header = _loads(lines[0], 1) if lines else {}
    if header.get("ricordo") != FORMAT:
        raise TransferError("this is no export of a space, or one of another version")
    try:
        return check_space(str(header.get("space")))
    except ValueError as error:
        raise TransferError(f"line 1: space {error}") from error


def _exported_at(lines: Sequence[bytes]) -> datetime:
    """When it was exported; of an export that does not say so, ages ago."""
    at = _loads(lines[0], 1).get("exported_at")
    try:
        return _EVER if at is None else datetime.fromisoformat(at)
    except (TypeError, ValueError) as error:
        raise TransferError("line 1: exported_at is no time") from error


def _read(lines: Sequence[bytes]) -> Iterable[tuple[str, Row]]:
    space_of(lines)
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            read = _loads(line, number)
            if not isinstance(read.get("table"), str) or not isinstance(read.get("row"), dict):
                raise TransferError(f"line {number} has no table and row")
            yield read["table"], read["row"]


def _loads(line: bytes, number: int) -> Row:
    try:
        read = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise TransferError(f"line {number} is not JSON") from error
    if not isinstance(read, dict):
        raise TransferError(f"line {number} is no JSON object")
    return read


def _entry(row: Mapping[str, Any], space: SpaceKey) -> Entry:
    """A version from its row; its id is that of the space that it comes to."""
    try:
        times = {name: row[name] and datetime.fromisoformat(row[name]) for name in _TIMES}
        by = row["superseded_by"] and UUID(row["superseded_by"])
        place = {"id": UUID(row["id"]), "space_id": space.space_id, "space": space.name, "superseded_by": by}
        return entry_from({**row, **times, **place})
    except (KeyError, ValueError, TypeError) as error:
        raise TransferError(f"a version of {row.get('id')} cannot be read: {error!r}") from error


async def _tables(connection: AsyncConnection[TupleRow]) -> list[str]:
    """The tables that travel, versions first."""
    cursor = await connection.execute(_SQL["tables"])
    names = [row[0] for row in await cursor.fetchall() if row[0] not in NOT_CARRIED]
    return sorted(names, key=lambda name: (name != VERSIONS, name))


def _select(table: str) -> sql.Composed:
    order = sql.SQL(" ORDER BY sequence, version DESC, id" if table == VERSIONS else " ORDER BY to_json(t)::text")
    found = sql.SQL("SELECT to_json(t) FROM {} t WHERE tenant_id = %(tenant_id)s AND space_id = %(space_id)s")
    return found.format(sql.Identifier(table)) + order


def _insert(table: str) -> sql.Composed:
    into = sql.SQL(
        "INSERT INTO {0} SELECT * FROM json_populate_record(NULL::{0}, %(row)s::json) ON CONFLICT DO NOTHING"
    )
    return into.format(sql.Identifier(table))


def _without_address(row: Row) -> Row:
    derived = {"tenant_id", "space_id", "tier_key", "terms", "term_count", "outline", "closed_at"}
    left_out = derived if "text_version" in row else {"tenant_id", "space_id"}
    return {name: value for name, value in row.items() if name not in left_out}


def _line(content: Mapping[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


def _address(space: SpaceKey) -> dict[str, Any]:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}
