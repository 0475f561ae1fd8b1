"""Forgetting in Postgres: what is named is erased with its traces; receipts are kept."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row

from app.domain.entries import KIND_OF_TIER, Author, Entry, Tier
from app.domain.ids import IdKind, PublicId, last_uuid_of, parse_id
from app.domain.spaces import SpaceKey
from app.entries.decide import withheld
from app.entries.ports import VersionWrite
from app.entries.tombstones import erased_mark
from app.forgetting.cutting import statements, without
from app.forgetting.ports import ForgettingUnit
from app.forgetting.records import Cut, Receipt, Selector, Verified
from app.store.entries import Pool, PostgresUnit
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from
from app.store.spaces import Locked, lock_space
from app.store.tombstones import bury, find_secret, make_secret, sealed
from app.store.turns import PostgresTurns
from app.text.terms import query_terms, term_hash
from app.turns.service import DERIVED

_SQL = load("forgetting")
_BURIED_AT_ONCE = 5_000

Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PostgresForgetting:
    """Erasing, in one pool.

    Attributes:
        on_erased: Told of every space from which something was erased, once it is gone.
    """

    pool: Pool
    turns: PostgresTurns
    on_erased: Callable[[SpaceKey], None]

    @asynccontextmanager
    async def unit(self, space: SpaceKey, *, keep: bool = True) -> AsyncIterator[ForgettingUnit]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            unit = PostgresForgettingUnit(connection, _address(space), await lock_space(connection, space), self.turns)
            yield unit
            await unit.finish()
            if not keep:
                raise psycopg.Rollback
        if keep and unit.has_erased:
            self.on_erased(space)

    async def exists(self, space: SpaceKey) -> bool:
        """Whether there is such a space."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            row = await (await connection.execute(_SQL["exists"], _address(space))).fetchone()
        return row is not None and bool(row[0])

    async def receipt(self, tenant_id: UUID, receipt_id: PublicId) -> Receipt | None:
        """A receipt."""
        parameters = {"tenant_id": tenant_id, "space_id": receipt_id.space_id, "id": receipt_id.uuid}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, "find_receipt", parameters)
        if not rows:
            return None
        return Receipt(receipt_id, rows[0]["created_at"], rows[0]["body"], bytes(rows[0]["digest"]).hex())

    async def verify(self, tenant_id: UUID, receipt: Receipt) -> Verified:
        """Look whether a receipt still holds."""
        of_space = receipt.body["kind"] == "space"
        sought = {
            "tenant_id": tenant_id,
            "space_id": receipt.id.space_id,
            "ids": None if of_space else [parse_id(i).uuid for i in receipt.body["ids"]],
            "until": last_uuid_of(receipt.created_at) if of_space else None,
        }
        async with tenant_transaction(self.pool, tenant_id) as connection:
            secret = await find_secret(connection, tenant_id)
            (row,) = await _rows(connection, "remaining", sought)
            turns = [parse_id(turn) for turn in receipt.body.get("turns", ())]
            of = {"tenant_id": tenant_id, "space_ids": [t.space_id for t in turns], "turns": [t.uuid for t in turns]}
            (left,) = await _rows(connection, "jobs_left", of)
        is_sealed = secret is not None and _digest(secret, receipt.id, receipt.body).hex() == receipt.digest
        return Verified(is_sealed, {**row["remaining"], **({"jobs": left["jobs"]} if left["jobs"] else {})})


class PostgresForgettingUnit(PostgresUnit):
    """One locked space of which something is forgotten, inside its transaction."""

    def __init__(
        self, connection: AsyncConnection[TupleRow], address: Parameters, locked: Locked, turns: PostgresTurns
    ) -> None:
        """Take over a transaction in which the space is locked; `turns` change what was said in it."""
        super().__init__(connection, address, locked)
        self._turns = turns

    async def selected(self, selector: Selector) -> tuple[Entry, ...]:
        """The current versions of the entries that a selector may name."""
        terms = query_terms(selector.content or "")
        sought = {
            "ids": [i.uuid for i in selector.ids] or None,
            "terms": [term_hash(term.term) for term in terms] or None,
            "words": [term.word for term in terms],
            "words_count": len({term.word for term in terms}),
            **_others(selector),
        }
        return tuple(map(entry_from, await self._forgetting("selected", sought)))

    async def derived_from(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """The entries that say that they come from one of these."""
        return tuple(map(entry_from, await self._forgetting("derived", {"sources": [str(e.id) for e in entries]})))

    async def texts(self, entry: Entry) -> tuple[str, ...]:
        """Every text that an entry ever had."""
        return tuple(row["text"] for row in await self._forgetting("texts", {"id": entry.id.uuid}))

    async def mentioning(self, texts: Sequence[str]) -> tuple[PublicId, ...]:
        """The entries that contain one of some texts word for word."""
        rows = await self._forgetting("mentioning", {"texts": [text.lower() for text in texts]})
        space_id: UUID = self._address["space_id"]
        return tuple(PublicId(row["id"], space_id, KIND_OF_TIER[Tier(row["tier"])]) for row in rows)

    async def cut(self, entries: Sequence[Entry], texts: Sequence[str], selector: Selector | None) -> Cut:
        """Take out of what was said what some entries say, and all that a selector names."""
        ids = [entry.id.uuid for entry in entries]
        erased = statements(texts)
        selects = selector is not None and selector.by in {"turn", "session", "author", "time"}
        of = {"ids": ids, "texts": list(erased), "selects": selects, **_others(selector or Selector())}
        await self._connection.execute(_SQL["forget_summaries"], {**self._address, "ids": ids})
        await self._erase_logged(erased)
        changes: dict[UUID, dict[UUID, str]] = defaultdict(dict)
        for row in await self._forgetting("to_cut", of):
            left = "" if row["whole"] else without(row["text"], erased)
            if left == row["text"]:  # in other words, if it rests on it at all
                if not row["rests"]:
                    continue
                left = ""
            changes[row["space_id"]][row["id"]] = left
        return await self._cut(changes)

    async def cut_own(self) -> Cut:
        """Empty every message that was said elsewhere by the person whose space it is."""
        changes: dict[UUID, dict[UUID, str]] = defaultdict(dict)
        rows = await self._forgetting("own_elsewhere", {})
        for row in rows:
            changes[row["space_id"]][row["id"]] = ""
        known = [row["text"] for row in await self._forgetting("texts", {"id": None})]
        await self._erase_logged(statements([*known, *(row["text"] for row in rows)]))
        return await self._cut(changes)

    async def _erase_logged(self, texts: Sequence[str]) -> None:
        if texts:
            await self._connection.execute(_SQL["erase_logged"], {**self._address, "texts": list(texts)})

    async def _cut(self, changes: Mapping[UUID, Mapping[UUID, str]]) -> Cut:
        turns: list[PublicId] = []
        jobs = 0
        for space_id, texts in changes.items():
            revised, queued = await self._turns.cut(
                self._connection, self._address["tenant_id"], space_id, texts, DERIVED
            )
            turns += revised
            jobs += queued
        made = await self._forgetting("episodes_of", {"ids": [turn.uuid for turn in turns]})
        await self.write([VersionWrite(withheld(entry_from(row), self.advance())) for row in made])
        return Cut(sum(map(len, changes.values())), tuple(sorted(turns)), jobs)

    async def sessions(self) -> tuple[PublicId, ...]:
        """The sessions of the space."""
        space_id: UUID = self._address["space_id"]
        return tuple(PublicId(row["id"], space_id, IdKind.SESSION) for row in await self._forgetting("sessions", {}))

    async def erase_space(self) -> Mapping[str, int]:
        """Remove everything that the space holds, and the space."""
        marks = [erased_mark(row["text"]) for row in await self._forgetting("texts", {"id": None})]
        for start in range(0, len(marks), _BURIED_AT_ONCE):
            part = dict.fromkeys(marks[start : start + _BURIED_AT_ONCE])
            await bury(self._connection, self._address, part, self._now)
        (row,) = await self._forgetting("erase_space", {})
        self.has_erased = True
        removed: dict[str, int] = row["erase_space"]
        return {**dict(sorted(removed.items())), "tombstones": len(set(marks))}

    async def seal(self, receipt_id: PublicId, body: Mapping[str, Any]) -> Receipt:
        """Keep a receipt."""
        secret = await make_secret(self._connection, self._address["tenant_id"])
        digest = _digest(secret, receipt_id, body)
        kept = {"id": receipt_id.uuid, "created_at": self._now, "body": _canonical(body), "digest": digest}
        await self._connection.execute(_SQL["add_receipt"], {**self._address, **kept})
        return Receipt(receipt_id, self._now, body, digest.hex())

    async def _forgetting(self, name: str, parameters: Parameters) -> list[DictRow]:
        return await _rows(self._connection, name, {**self._address, **parameters})


def _others(selector: Selector) -> Parameters:
    """What entries and messages are selected by alike."""
    author = selector.author or Author()
    return {
        "turn": selector.turn and selector.turn.uuid,
        "session": selector.session and selector.session.uuid,
        "author_id": author.id,
        "author_name": author.name,
        "author_platform": author.platform,
        "since": selector.since,
        "until": selector.until,
    }


def _address(space: SpaceKey) -> Parameters:
    return {"tenant_id": space.tenant_id, "space_id": space.space_id}


def _digest(secret: bytes, receipt_id: PublicId, body: Mapping[str, Any]) -> bytes:
    return sealed(secret, IdKind.RECEIPT, str(receipt_id), _canonical(body))


def _canonical(body: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(body), option=orjson.OPT_SORT_KEYS).decode()


async def _rows(connection: AsyncConnection[Any], name: str, parameters: Parameters) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_SQL[name], parameters)
        return await cursor.fetchall()
