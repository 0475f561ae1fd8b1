"""Corrections in Postgres: kept beside the entries, written in the transaction that writes those."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from app.corrections.ports import CorrectionUnit, Kept
from app.corrections.records import Correction, Option, Origin, Outcome
from app.corrections.view import Standing
from app.domain.entries import Entry
from app.domain.errors import ConflictError
from app.domain.evidence import MessageVersion
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, parse_id
from app.domain.spaces import SpaceKey
from app.entries.tombstones import Mark
from app.store.archives import lock_archive
from app.store.entries import Pool
from app.store.forgetting import PostgresForgettingUnit, Reached
from app.store.idempotency import find_outcome, keep_outcome
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from
from app.store.spaces import lock_space
from app.store.tombstones import bury, exhume, exhume_by
from app.text.terms import query_terms, term_hash

_SQL = load("corrections")

Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PostgresCorrections:
    """The corrections of one pool."""

    pool: Pool
    reached: Reached

    @asynccontextmanager
    async def unit(self, space: SpaceKey, *, keep: bool = True, erases: bool = False) -> AsyncIterator[CorrectionUnit]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            if erases:
                await lock_archive(connection, space.tenant_id)
            locked = await lock_space(connection, space)
            unit = PostgresCorrectionUnit(connection, space, locked, self.reached)
            yield unit
            await unit.finish()
            if not keep:
                raise psycopg.Rollback
        if keep:
            await self.reached.settle(unit)

    async def find(self, tenant_id: UUID, correction_id: PublicId) -> Kept | None:
        """A correction."""
        address = {"tenant_id": tenant_id, "space_id": correction_id.space_id}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, "find_correction", {**address, "id": correction_id.uuid})
            found = await _corrections(connection, address, rows)
        return Kept(rows[0]["space"], found[0]) if rows else None

    async def listing(
        self, space: SpaceKey, *, limit: int, before: UUID | None, open_only: bool
    ) -> tuple[Correction, ...]:
        """The corrections of a space, newest first."""
        address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        part = {"limit": limit, "before": before, "open_only": open_only}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            return await _corrections(connection, address, await _rows(connection, "list_corrections", address | part))

    async def is_asked(self, space: SpaceKey, turn: PublicId) -> bool:
        """Whether a question that came of a turn is open."""
        of = {"tenant_id": space.tenant_id, "space_id": space.space_id, "turn": turn.uuid}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            return bool(await _rows(connection, "questions_of", of))

    async def of_turn(self, turn: PublicId, spaces: Sequence[SpaceKey]) -> tuple[Correction, ...]:
        """What was put right, asked and forgotten in some spaces because of a turn."""
        found: list[Correction] = []
        for space in spaces:
            address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
            async with tenant_transaction(self.pool, space.tenant_id) as connection:
                rows = await _rows(connection, "of_turn", {**address, "turn": turn.uuid})
                found += await _corrections(connection, address, rows)
        return tuple(sorted(found, key=lambda correction: correction.id))

    async def viewed(
        self, space: SpaceKey, *, limit: int, before: UUID | None, standing: Standing | None
    ) -> tuple[tuple[Entry, Entry | None], ...]:
        """Memories as their owner sees them, each with the one that replaced it."""
        address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        part = {"limit": limit, "before": before, "standing": standing}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            entries = [entry_from(row) for row in await _rows(connection, "viewed", address | part)]
            ids = [e.superseded_by.uuid for e in entries if e.superseded_by is not None]
            rows = await _rows(connection, "current", {**address, "ids": ids}) if ids else []
        others = {entry.id: entry for entry in map(entry_from, rows)}
        return tuple((e, None if e.superseded_by is None else others.get(e.superseded_by)) for e in entries)


class PostgresCorrectionUnit(PostgresForgettingUnit):
    """One locked space with its corrections, inside its transaction."""

    async def saying(self, text: str) -> tuple[Entry, ...]:
        """The active memories that have every word of a text in some form."""
        terms = query_terms(text)
        if not terms:
            return ()
        sought = {
            "terms": [term_hash(term.term) for term in terms],
            "words": [term.word for term in terms],
            "words_count": len({term.word for term in terms}),
        }
        return tuple(map(entry_from, await self._named("saying", sought)))

    async def last_applied(self, scopes: Sequence[str]) -> Entry | None:
        """What the latest correction left."""
        rows = await self._named("last_applied", {"scopes": list(scopes)})
        return entry_from(rows[0]) if rows else None

    async def correction(self, correction_id: PublicId) -> Correction | None:
        """A correction of the space."""
        rows = await self._named("find_correction", {"id": correction_id.uuid})
        found = await _corrections(self._connection, self._address, rows)
        return found[0] if found else None

    async def keep(self, correction: Correction) -> None:
        """Keep a correction."""
        touched = {*(e.id.uuid for e in (*correction.before, *correction.after))}
        touched |= {option.entry_id.uuid for option in correction.options if option.entry_id is not None}
        touched |= {entry_id.uuid for option in correction.options for entry_id in option.erase or ()}
        await self._connection.execute(
            _SQL["insert_correction"],
            {
                **self._address,
                "id": correction.id.uuid,
                "created_at": correction.created_at,
                "outcome": correction.outcome.value,
                "scope": correction.scope,
                "told": correction.told,
                "entries": sorted(touched),
                "before": _versions_json(correction.before),
                "after": _versions_json(correction.after),
                "asked": None if correction.asked is None else orjson.dumps(correction.asked).decode(),
                **_origin_parameters(correction.origin),
                "receipt": correction.receipt and correction.receipt.uuid,
                "options": orjson.dumps([_option_json(option) for option in correction.options]).decode(),
            },
        )

    async def questions_of(self, turn: PublicId) -> tuple[Correction, ...]:
        """The open questions that came of a turn."""
        rows = await self._named("questions_of", {"turn": turn.uuid})
        return await _corrections(self._connection, self._address, rows)

    async def answer(self, question: PublicId, by: PublicId) -> None:
        """Close a question."""
        answered = {"id": question.uuid, "answered_by": by.uuid}
        await self._connection.execute(_SQL["answer"], {**self._address, **answered})

    async def corrected_before(self, key: IdempotencyKey) -> Correction | None:
        """What the same request did before."""
        outcome = await find_outcome(self._connection, self._address["tenant_id"], key)
        if outcome is None:
            return None
        correction = await self.correction(parse_id(outcome[0]["correction"]))
        if correction is None:
            raise ConflictError("what this Idempotency-Key did has been erased since")
        return correction

    async def remember_correction(self, key: IdempotencyKey, correction: Correction) -> None:
        """Keep what was done under a key."""
        outcome = [{"correction": str(correction.id)}]
        await keep_outcome(self._connection, self._address["tenant_id"], key, outcome)

    async def bury(self, marks: Mapping[Mark, PublicId | None], since: datetime | None = None) -> None:
        """Put up tombstones."""
        await bury(self._connection, self._address, marks, since or self._now)

    async def exhume(self, marks: Sequence[Mark]) -> None:
        """Take tombstones away."""
        await exhume(self._connection, self._address, marks)

    async def exhume_by(self, entries: Sequence[PublicId]) -> None:
        """Take the tombstones away that stand because of some entries."""
        await exhume_by(self._connection, self._address, entries)

    async def said_in(self, turn: PublicId) -> tuple[Origin, ...]:
        """Where in a turn something was wanted of which a correction tells."""
        return tuple(origin for r in await self._named("said_in", {"turn": turn.uuid}) if (origin := _origin(r)))

    async def follow(self, origins: Sequence[Origin]) -> None:
        """Note the versions of the messages in which something is still wanted."""
        await self._each("follow", origins)

    async def drop_said(self, origins: Sequence[Origin]) -> None:
        """Remove what was told and asked because of what is not said any more."""
        await self._each("drop_said", origins)

    async def _each(self, name: str, origins: Sequence[Origin]) -> None:
        for origin in origins:
            await self._connection.execute(_SQL[name], {**self._address, **_origin_parameters(origin)})

    async def _named(self, name: str, parameters: Parameters) -> list[DictRow]:
        return await _rows(self._connection, name, {**self._address, **parameters})


async def _rows(connection: AsyncConnection[Any], name: str, parameters: Parameters) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_SQL[name], parameters)
        return await cursor.fetchall()


async def _corrections(
    connection: AsyncConnection[Any], address: Parameters, rows: Sequence[DictRow]
) -> tuple[Correction, ...]:
    """Rows as corrections, with the versions that are still there."""
    pairs = [(UUID(i), v) for row in rows for i, v in (*row["before"], *row["after"])]
    wanted = {"ids": [i for i, _ in pairs], "versions": [v for _, v in pairs]}
    found = await _rows(connection, "versions", {**address, **wanted}) if pairs else []
    known = {(entry.id.uuid, entry.version): entry for entry in map(entry_from, found)}
    return tuple(_correction(row, known) for row in rows)


def _correction(row: DictRow, known: Mapping[tuple[UUID, int], Entry]) -> Correction:
    def entries(column: str) -> tuple[Entry, ...]:
        return tuple(known[UUID(i), v] for i, v in row[column] if (UUID(i), v) in known)

    space_id: UUID = row["space_id"]
    return Correction(
        id=PublicId(row["id"], space_id, IdKind.CORRECTION),
        created_at=row["created_at"],
        outcome=Outcome(row["outcome"]),
        told=row["told"],
        scope=row["scope"],
        before=entries("before"),
        after=entries("after"),
        options=tuple(map(_option_from, row["options"])),
        asked=row["asked"],
        origin=_origin(row),
        receipt=row["receipt"] and PublicId(row["receipt"], space_id, IdKind.RECEIPT),
        answered_by=row["answered_by"] and PublicId(row["answered_by"], space_id, IdKind.CORRECTION),
    )


def _versions_json(entries: Sequence[Entry]) -> str:
    return orjson.dumps([[str(entry.id.uuid), entry.version] for entry in entries]).decode()


def _option_json(option: Option) -> dict[str, Any]:
    return {
        "key": option.key,
        "label": option.label,
        "scope": option.scope,
        "entry_id": option.entry_id and str(option.entry_id),
        "text": option.text,
        "erase": None if option.erase is None else [str(entry_id) for entry_id in option.erase],
        "whole": option.whole,
    }


def _option_from(kept: Mapping[str, Any]) -> Option:
    entry_id = kept["entry_id"] and parse_id(kept["entry_id"])
    erase = kept.get("erase")
    ids = None if erase is None else tuple(map(parse_id, erase))
    return Option(kept["key"], kept["label"], kept["scope"], entry_id, kept["text"], ids, kept.get("whole", False))


def _origin(row: Mapping[str, Any]) -> Origin | None:
    if row["turn"] is None:
        return None
    turn = PublicId(row["turn"], row["turn_space"], IdKind.TURN)
    return Origin(turn, MessageVersion(row["message"], row["version"]), bytes(row["key"]), row["said_at"])


def _origin_parameters(origin: Origin | None) -> Parameters:
    return {
        "turn": origin and origin.turn.uuid,
        "turn_space": origin and origin.turn.space_id,
        "message": origin and origin.message.message,
        "version": origin and origin.message.version,
        "key": origin and origin.key,
        "said_at": origin and origin.said_at,
    }
