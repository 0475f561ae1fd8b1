"""Forgetting in Postgres: what is named is erased with its traces; receipts are kept."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
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
from app.entries.ports import Embedders, VersionWrite
from app.entries.tombstones import ERASED_SPACE, erased_mark
from app.forgetting.archived import Sought
from app.forgetting.cutting import echoes, sentences_of, statements, without
from app.forgetting.ports import ForgettingUnit
from app.forgetting.records import Cut, Receipt, Selector, Verified
from app.store.archives import PostgresArchives, files_left, lock_archive
from app.store.entries import Pool, PostgresUnit
from app.store.orphans import Orphans
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from
from app.store.spaces import Locked, lock_space
from app.store.tombstones import bury, find_secret, make_secret, sealed
from app.store.turns import PostgresTurns
from app.text.terms import query_terms, term_hash
from app.turns.documents import PERSONAL_TAG
from app.turns.service import DERIVED
from app.turns.tasks import INDEXED_IN_PART

_SQL = load("forgetting")
_BURIED_AT_ONCE = 5_000

Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reached:
    """What forgetting reaches beside the entries of a space.

    Attributes:
        embedders: For what is left of episodes.
        on_erased: Told of every space from which something was erased, once it is gone.
    """

    turns: PostgresTurns
    archives: PostgresArchives
    embedders: Embedders
    on_erased: Callable[[SpaceKey], None]

    async def settle(self, unit: "PostgresForgettingUnit") -> None:
        """Do what follows the commit: drop what is kept in memory, and cut the archive."""
        for space in unit.erased_in | ({unit.space} if unit.has_erased else set()):
            self.on_erased(space)
        if unit.has_archived:
            await self.archives.try_to_finish(unit.space.tenant_id)


@dataclass(frozen=True, slots=True)
class PostgresForgetting:
    """Erasing, in one pool."""

    pool: Pool
    reached: Reached

    @asynccontextmanager
    async def unit(self, space: SpaceKey, *, keep: bool = True) -> AsyncIterator[ForgettingUnit]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            await lock_archive(connection, space.tenant_id)
            locked = await lock_space(connection, space)
            unit = PostgresForgettingUnit(connection, space, locked, self.reached)
            yield unit
            await unit.finish()
            if not keep:
                raise psycopg.Rollback
        if keep:
            await self.reached.settle(unit)

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
            left["archives"] = await files_left(connection, tenant_id, receipt.id)
        is_sealed = secret is not None and _digest(secret, receipt.id, receipt.body).hex() == receipt.digest
        return Verified(is_sealed, row["remaining"] | {name: count for name, count in left.items() if count})


class PostgresForgettingUnit(PostgresUnit):
    """One locked space of which something is forgotten, inside its transaction."""

    def __init__(
        self,
        connection: AsyncConnection[TupleRow],
        space: SpaceKey,
        locked: Locked,
        reached: "Reached",
    ) -> None:
        """Take over a transaction in which the space is locked."""
        super().__init__(connection, _address(space), locked)
        self.space = space
        self._reached = reached
        self.has_archived = False
        """Whether something is to be taken out of the archive."""
        self.erased_in: set[SpaceKey] = set()
        """The other spaces from which something was removed."""

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

    async def cut(
        self, entries: Sequence[Entry], texts: Sequence[str], selector: Selector | None, receipt_id: PublicId
    ) -> Cut:
        """Take out of what was said what some entries say, and all that a selector names."""
        ids = [entry.id.uuid for entry in entries]
        erased = statements(texts)
        selects = selector is not None and selector.by in {"turn", "session", "author", "time"}
        looked_for = {"texts": [" ".join(text.lower().split()) for text in erased], **_words_of(erased)}
        of = {"ids": ids, "selects": selects, **looked_for, **_others(selector or Selector())}
        await self._connection.execute(_SQL["forget_summaries"], {**self._address, "ids": ids})
        await self._erase_logged(erased)
        changes: dict[UUID, dict[UUID, str]] = defaultdict(dict)
        repeated = echoes(entry.content for entry in entries)
        for row in await self._forgetting("to_cut", of):
            left = "" if row["whole"] else without(row["text"], (*erased, *(repeated if row["answers"] else ())))
            if left == row["text"]:  # in other words, if it rests on it at all
                if not row["rests"]:
                    continue
                left = ""
            changes[row["space_id"]][row["id"]] = left
        sought = Sought(
            space=self.space.name,
            turns=frozenset(ids),
            rested_on=await self._reached.archives.rested_on(self._connection, self.space, ids),
            texts=erased,
            echoes=repeated,
            selector=selector if selects else None,
        )
        cut = await self._cut(changes, sought, receipt_id)
        orphans = self._orphans(cut, sought)
        personal = [one for e in entries if PERSONAL_TAG in e.content.tags for one in sentences_of(e.content.text)]
        told = statements([*erased, *personal])
        quoting = [entry for entry in await orphans.quoting(told) if entry.id.uuid not in ids]
        elsewhere = await orphans.shorten_elsewhere([*quoting, *entries], told)
        self.erased_in |= elsewhere.keys()
        return replace(cut, episodes=await orphans.shorten(quoting, told) + sum(elsewhere.values()))

    async def cut_own(self, receipt_id: PublicId) -> Cut:
        """Empty what was said elsewhere by the person whose space it is; in the archive, all that is the space's."""
        changes: dict[UUID, dict[UUID, str]] = defaultdict(dict)
        rows = await self._forgetting("own_elsewhere", {})
        for row in rows:
            changes[row["space_id"]][row["id"]] = ""
        known = [row["text"] for row in await self._forgetting("texts", {"id": None})]
        await self._erase_logged(statements([*known, *(row["text"] for row in rows)]))
        cut = await self._cut(changes, Sought(space=self.space.name, is_whole=True), receipt_id)
        orphans = self._orphans(cut, Sought(space=self.space.name))
        elsewhere = await orphans.shorten_elsewhere(await orphans.of_person())
        self.erased_in |= elsewhere.keys()
        return replace(cut, episodes=sum(elsewhere.values()))

    def _orphans(self, cut: Cut, sought: Sought) -> Orphans:
        return Orphans(
            self._connection,
            self.space,
            self,
            self._reached.embedders,
            revised=cut.turns,
            answered=sought.rested_on.turns,
            echoes=sought.echoes,
        )

    async def _erase_logged(self, texts: Sequence[str]) -> None:
        if texts:
            await self._connection.execute(
                _SQL["erase_logged"], {**self._address, "texts": [text.lower() for text in texts]}
            )

    async def _cut(self, changes: Mapping[UUID, Mapping[UUID, str]], sought: Sought, receipt_id: PublicId) -> Cut:
        turns: list[PublicId] = []
        jobs = 0
        for space_id, texts in changes.items():
            revised, queued = await self._reached.turns.cut(
                self._connection, self._address["tenant_id"], space_id, texts, DERIVED
            )
            turns += revised
            jobs += queued
        made = await self._forgetting("episodes_of", {"ids": [turn.uuid for turn in turns]})
        await self.write([VersionWrite(withheld(entry_from(row), self.advance())) for row in made])
        archived = await self._reached.archives.cut(self._connection, self.space, sought, receipt_id)
        self.has_archived = self.has_archived or archived > 0
        return Cut(sum(map(len, changes.values())), tuple(sorted(turns)), jobs, archived)

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
        await bury(self._connection, self._address, {ERASED_SPACE: None}, self._now)
        (row,) = await self._forgetting("erase_space", {})
        self.has_erased = True
        removed: dict[str, int] = row["erase_space"]
        return {**dict(sorted(removed.items())), "tombstones": len(set(marks)) + 1}

    async def seal(self, receipt_id: PublicId, body: Mapping[str, Any]) -> Receipt:
        """Keep a receipt."""
        secret = await make_secret(self._connection, self._address["tenant_id"])
        digest = _digest(secret, receipt_id, body)
        kept = {"id": receipt_id.uuid, "created_at": self._now, "body": _canonical(body), "digest": digest}
        await self._connection.execute(_SQL["add_receipt"], {**self._address, **kept})
        return Receipt(receipt_id, self._now, body, digest.hex())

    async def _forgetting(self, name: str, parameters: Parameters) -> list[DictRow]:
        return await _rows(self._connection, name, {**self._address, **parameters})


def _words_of(texts: Sequence[str]) -> Parameters:
    """By which words each of some texts is looked up: all of them, each in one of its forms."""
    sought = [(number, query_terms(text)) for number, text in enumerate(texts)]
    found = [(number, len({t.word for t in terms}), t) for number, terms in sought for t in terms]
    return {
        "numbers": [number for number, _, _ in found],
        "counts": [count for _, count, _ in found],
        "terms": [term_hash(term.term) for _, _, term in found],
        "words": [term.word for _, _, term in found],
        "in_part": INDEXED_IN_PART,
        "reads_all": any(not terms for _, terms in sought),
    }


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
