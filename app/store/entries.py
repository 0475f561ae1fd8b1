"""Entries in Postgres: one locked space per write, and every index brought along."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row
from psycopg_pool import AsyncConnectionPool

from app.contradictions.claims import claim_key, value_key
from app.domain.entries import TIER_OF_KIND, Entry, Status, Tier
from app.domain.evidence import Basis, KeptEvidence
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId, find_id, parse_id
from app.domain.spaces import SpaceKey, scope_key
from app.entries.decide import Moment
from app.entries.ports import IndexedText, Listing, Proposal, VersionWrite, Written
from app.entries.tombstones import Mark, Tombstone, erased_mark
from app.store.idempotency import find_outcome, keep_outcome
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from, entry_parameters, evidence_from, evidence_parameters, normal_of
from app.store.spaces import Locked, lock_space, model_of
from app.store.tombstones import bury, find_tombstones
from app.text.terms import term_hash

_SQL = load("entries")
_TURNS = load("turns")
_EVIDENCE = load("evidence")

ERASED = ("versions", "vectors", "postings", "uses", "outcomes", "proposals", "corrections", "assemblies")
"""What goes with an entry: its rows, and what names it or quotes its text."""

CENTRE_FROM = 10
"""Live entries from which on a space has a centre of its own."""

CENTRE_GROWTH = 1.5
"""The centre is computed again when the space has grown by this factor: at most 1.5 times per entry in all."""

_HELD = (Status.ACTIVE, Status.SUPERSEDED)
_NEVER = datetime.min.replace(tzinfo=UTC)
"""The end of what held at no time: a text that was replaced, an entry that was withdrawn or put away."""

_SMALLEST_NORM = 0.05
"""Keeps the cosine finite where all texts of a space are alike."""

Pool = AsyncConnectionPool[AsyncConnection[TupleRow]]
Parameters = dict[str, Any]


def _nothing(space: SpaceKey) -> None:
    """Nobody keeps anything of a space."""


@dataclass(frozen=True, slots=True)
class PostgresEntries:
    """The entry store of one pool.

    Attributes:
        on_erased: Told of every space from which something was erased, once it is gone: for what is kept in memory.
    """

    pool: Pool
    on_erased: Callable[[SpaceKey], None] = _nothing

    @asynccontextmanager
    async def unit(self, space: SpaceKey) -> AsyncIterator["PostgresUnit"]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            unit = await _open_unit(connection, space)
            yield unit
            await unit.finish()
        if unit.has_erased:
            self.on_erased(space)

    async def model_of(self, space: SpaceKey) -> int:
        """The model that serves a space, or that would if it were made now."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            return await model_of(connection, space)

    async def current(self, tenant_id: UUID, entry_id: PublicId) -> Entry | None:
        """The current version of an entry."""
        rows = await self._entries(tenant_id, "current_entry", _address(tenant_id, entry_id))
        return rows[0] if rows else None

    async def history(
        self, tenant_id: UUID, entry_id: PublicId, *, limit: int | None = None, before: int | None = None
    ) -> tuple[Entry, ...]:
        """Versions below `before`, newest first."""
        part = {"limit": limit, "before": before}
        return await self._entries(tenant_id, "entry_history", {**_address(tenant_id, entry_id), **part})

    async def bases(self, tenant_id: UUID, entry_ids: Sequence[PublicId], limit: int) -> tuple[Basis, ...]:
        """The messages that some entries of one space rest on, the latest first."""
        space_id = entry_ids[0].space_id
        of = {"tenant_id": tenant_id, "space_id": space_id, "ids": [i.uuid for i in entry_ids], "limit": limit}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            rows = await _rows(connection, _EVIDENCE["bases_of_entries"], of)
        return tuple(_basis(row, space_id) for row in rows)

    async def listing(self, listing: Listing) -> tuple[Entry, ...]:
        """Current entries, newest first."""
        space = listing.space
        return await self._entries(
            space.tenant_id,
            "list_entries",
            {
                "tenant_id": space.tenant_id,
                "space_id": space.space_id,
                "tier": listing.tier.value,
                "before": listing.before,
                "statuses": None if listing.statuses is None else [s.value for s in listing.statuses],
                "category": listing.category,
                "tag": listing.tag,
                "scope": listing.scope,
                "unresolved": listing.unresolved,
                "limit": listing.limit,
            },
        )

    async def _entries(self, tenant_id: UUID, name: str, parameters: Parameters) -> tuple[Entry, ...]:
        async with tenant_transaction(self.pool, tenant_id) as connection:
            return tuple(entry_from(row) for row in await _rows(connection, _SQL[name], parameters))


def _basis(row: DictRow, own_space_id: UUID) -> Basis:
    """Its source names what was said by its id, and with it the space: a stream, or the memory's own."""
    source = find_id(row["source"] or "", IdKind.MESSAGE, IdKind.TURN)
    space_id = own_space_id if source is None else source.space_id
    turn, message = PublicId(row["turn"], space_id, IdKind.TURN), PublicId(row["message"], space_id, IdKind.MESSAGE)
    return Basis(turn, message, row["said_at"])


def _address(tenant_id: UUID, entry_id: PublicId) -> Parameters:
    return {"tenant_id": tenant_id, "space_id": entry_id.space_id, "id": entry_id.uuid}


async def _rows(connection: AsyncConnection[Any], statement: LiteralString, parameters: Parameters) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement, parameters)
        return await cursor.fetchall()


async def _open_unit(connection: AsyncConnection[TupleRow], space: SpaceKey) -> "PostgresUnit":
    address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
    locked = await lock_space(connection, space)
    return PostgresUnit(connection, address, locked)


class PostgresUnit:
    """One locked space, inside its transaction."""

    def __init__(self, connection: AsyncConnection[TupleRow], address: Parameters, locked: Locked) -> None:
        """Take over a transaction in which the space is locked."""
        self._connection = connection
        self._address = address
        self._model_id = locked.model_id
        self._now = locked.now
        self._sequence = locked.sequence
        self.has_erased = False
        """Whether an entry was removed physically."""

    @property
    def model_id(self) -> int:
        """The model that serves the space: what is indexed here must be its vectors."""
        return self._model_id

    def advance(self) -> Moment:
        """The moment of the next write."""
        self._sequence += 1
        return Moment(self._now, self._sequence)

    async def finish(self) -> None:
        """Keep the sequence."""
        await self._execute("advance_space", {"sequence": self._sequence})

    async def earlier(self, key: IdempotencyKey) -> tuple[Written, ...] | None:
        """What the same request wrote before."""
        outcome = await find_outcome(self._connection, self._address["tenant_id"], key)
        return None if outcome is None else tuple(map(_written_from, outcome))

    async def remember(self, key: IdempotencyKey, written: Sequence[Written]) -> None:
        """Keep what was written under a key."""
        await keep_outcome(self._connection, self._address["tenant_id"], key, [_written_json(w) for w in written])

    async def current(self, entry_id: PublicId) -> Entry | None:
        """The current version of an entry."""
        rows = await self._fetch("current_entry", {"id": entry_id.uuid})
        return entry_from(rows[0]) if rows else None

    async def currents(self, entry_ids: Sequence[PublicId]) -> tuple[Entry, ...]:
        """The current versions of entries; those erased are missing."""
        rows = await self._fetch("current_entries", {"ids": [entry_id.uuid for entry_id in entry_ids]})
        return tuple(map(entry_from, rows))

    async def merged_into(self, entry_id: PublicId) -> tuple[Entry, ...]:
        """The entries that said the same as this one and gave way to it, by id."""
        return tuple(map(entry_from, await self._fetch("merged_into", {"id": entry_id.uuid})))

    async def carry_uses(self, merged: Sequence[PublicId], kept: PublicId) -> None:
        """Count the uses of entries that were merged for the one that is kept."""
        await self._execute("carry_uses", {"id": kept.uuid, "merged": [entry_id.uuid for entry_id in merged]})

    async def versions(self, wanted: Sequence[tuple[PublicId, int]]) -> tuple[Entry, ...]:
        """Given versions, in the order asked for."""
        parameters = {"ids": [i.uuid for i, _ in wanted], "versions": [v for _, v in wanted]}
        found = {(e.id, e.version): e for e in map(entry_from, await self._fetch("entry_versions", parameters))}
        return tuple(found[key] for key in wanted if key in found)

    async def same_texts(self, texts: Sequence[str]) -> tuple[Entry, ...]:
        """The active memories whose normalised text may be that of one of these."""
        return tuple(map(entry_from, await self._fetch("same_texts", {"normals": sorted(set(map(normal_of, texts)))})))

    async def claimants(self, keys: Sequence[tuple[str, str]]) -> tuple[Entry, ...]:
        """The active entries that have one of these claim keys."""
        if not keys:
            return ()
        parameters = {"subjects": [s for s, _ in keys], "attributes": [a for _, a in keys]}
        return tuple(map(entry_from, await self._fetch("claimants", parameters)))

    async def tombstones(self, marks: Sequence[Mark]) -> Mapping[Mark, Tombstone]:
        """Those of some marks that stand in the space."""
        return await find_tombstones(self._connection, self._address, marks)

    async def write(self, writes: Sequence[VersionWrite]) -> None:
        """Store versions, in order, and bring every index up to them.

        Raises:
            ValueError: If a text was embedded by another model than the one that serves the space.
        """
        if any(w.index is not None and w.index.model_id != self._model_id for w in writes):
            raise ValueError(f"the space is served by model {self._model_id}")
        texts = await self._indexed_texts([w.entry.id for w in writes if w.entry.version > 1])
        centre = await self._centre()
        before = texts.served()
        async with self._connection.pipeline():
            for write in writes:
                await self._write(write, texts, centre)
        await self._count_documents(before, texts.served())
        await self._move_centre()

    async def erase(self, *entries: Entry) -> Mapping[str, int]:
        """Remove entries physically, with what names or quotes them."""
        texts = await self._indexed_texts([entry.id for entry in entries])
        before = texts.served()
        said = await self._fetch("texts", {"ids": [entry.id.uuid for entry in entries]})
        for entry in entries:
            if entry.content.claim is not None:
                await self._execute("drop_claim", {"id": entry.id.uuid})
        gone = {
            "ids": [entry.id.uuid for entry in entries],
            "terms": sorted({term for terms in texts.known.values() for term in terms}),
            "texts": [row["text"].lower() for row in said],
        }
        await self._execute("forget_winner", gone)
        await self._execute("forget_merged", gone)
        removed = {kind: await self._execute(f"erase_{kind}", gone) for kind in ERASED}
        marks = {erased_mark(row["text"]): None for row in said}
        removed["tombstones"] = await bury(self._connection, self._address, marks, self._now)
        await self._count_documents(before, Counter())
        self.has_erased = True
        return removed

    async def take_proposals(self) -> tuple[Proposal, ...]:
        """The pending proposals of the space, oldest first; they are gone afterwards."""
        space_id: UUID = self._address["space_id"]
        rows = await self._fetch("take_proposals", {})
        return tuple(
            Proposal(
                PublicId(row["kept"], space_id, IdKind.MEMORY),
                row["kept_version"],
                PublicId(row["superseded"], space_id, IdKind.MEMORY),
                row["superseded_version"],
            )
            for row in rows
        )

    async def count_outcome(self, entry_id: PublicId, *, success: bool) -> tuple[int, int]:
        """Count an outcome of a procedure."""
        parameters = {"id": entry_id.uuid, "successes": int(success), "failures": int(not success)}
        (row,) = await self._fetch("count_outcome", parameters)
        return row["successes"], row["failures"]

    async def revision(self, source: PublicId) -> int:
        """How often the turn or conversation has changed."""
        address = {**self._address, "space_id": source.space_id, "id": source.uuid}
        (row,) = await _rows(self._connection, _TURNS["revision"], address)
        revision: int = row["revision"]
        return revision

    async def mark_derived(self, entry_id: PublicId) -> bool:
        """Note that an entry is made from something; whether it never was before."""
        parameters = {**self._address, "id": entry_id.uuid}
        return (await self._connection.execute(_TURNS["mark_derived"], parameters)).rowcount > 0

    async def is_derived(self, entry_id: PublicId) -> bool:
        """Whether an entry was made from something."""
        return bool(await self._fetch_evidence("is_derived", {"id": entry_id.uuid}))

    async def evidence_of_turn(self, turn: PublicId) -> tuple[KeptEvidence, ...]:
        """What is remembered here of the messages of a turn, and what is not to be."""
        return tuple(map(evidence_from, await self._fetch_evidence("evidence_of_turn", {"turn": turn.uuid})))

    async def evidence_of(self, entry_id: PublicId) -> tuple[KeptEvidence, ...]:
        """What an entry rests on, oldest first."""
        return tuple(map(evidence_from, await self._fetch_evidence("evidence_of_entry", {"id": entry_id.uuid})))

    async def keep_evidence(self, evidence: Sequence[KeptEvidence]) -> None:
        """Store evidence, in place of what is there of the same message and key."""
        await self._change_evidence("keep_evidence", map(evidence_parameters, evidence))

    async def drop_evidence(self, evidence: Sequence[KeptEvidence]) -> None:
        """Remove evidence without a trace."""
        await self._change_evidence("drop_evidence", map(evidence_parameters, evidence))

    async def forget_evidence(self, entry_ids: Sequence[PublicId]) -> None:
        """Take every word out of what some entries rest on."""
        await self._change_evidence("forget_evidence", [{"ids": [entry_id.uuid for entry_id in entry_ids]}])

    async def replaced_by(self, entry_id: PublicId) -> tuple[Entry, ...]:
        """The entries that gave way to an entry."""
        return tuple(map(entry_from, await self._fetch_evidence("replaced_by", {"id": entry_id.uuid})))

    async def _fetch_evidence(self, name: str, parameters: Parameters) -> list[DictRow]:
        return await _rows(self._connection, _EVIDENCE[name], {**self._address, **parameters})

    async def _change_evidence(self, name: str, all_parameters: Iterable[Parameters]) -> None:
        for parameters in all_parameters:
            await self._connection.execute(_EVIDENCE[name], {**self._address, **parameters})

    async def _write(self, write: VersionWrite, texts: "_IndexedTexts", centre: NDArray[np.float32]) -> None:
        entry, index = write.entry, write.index
        address = {"id": entry.id.uuid, "text_version": entry.text_version, "tier": entry.tier.value}
        mirrored = {
            "live": entry.is_live,
            "scope_key": scope_key(entry.content.scope),
            "holds_from": entry.content.holds_from,
            "holds_to": entry.content.valid_to if entry.status in _HELD else _NEVER,
        }
        terms = [] if index is None else _hashed(index)
        columns = entry_parameters(entry)
        if entry.version > 1:
            await self._queue("close_version", columns)
            await self._queue("drop_claim", address)
        term_count = 0 if index is None else index.terms.length_words
        await self._queue("insert_version", {**columns, "terms": list(terms), "term_count": term_count})
        if index is None:
            known = {"terms": texts.terms(entry.id)}
            await self._queue("mirror_vector", {**address, **mirrored})
            await self._queue("mirror_postings", {**address, **mirrored, **known})
        else:
            await self._insert_index({**address, **mirrored}, index, centre)
            if entry.version > 1:
                retired = {**address, "never": _NEVER}
                await self._queue("retire_vector", retired)
                await self._queue("retire_postings", {**retired, "terms": texts.terms(entry.id)})
            texts.add(entry, list(terms), term_count)
        texts.serve(entry)
        await self._insert_claim(entry)

    async def _insert_index(self, parameters: Parameters, index: IndexedText, centre: NDArray[np.float32]) -> None:
        hashed = _hashed(index)
        norm = max(float(np.linalg.norm(index.vector - centre)), _SMALLEST_NORM)
        embedding = HalfVector(index.vector)
        await self._queue(
            "insert_vector",
            {**parameters, "model_id": index.model_id, "centred_norm": norm, "embedding": embedding},
        )
        await self._queue(
            "insert_postings",
            {
                **parameters,
                "terms": list(hashed),
                "tfs": list(hashed.values()),
                "length": index.terms.length_words,
            },
        )

    async def _insert_claim(self, entry: Entry) -> None:
        claim = entry.content.claim
        if claim is None or entry.status is not Status.ACTIVE:
            return
        subject, attribute = claim_key(claim)
        await self._queue(
            "insert_claim",
            {
                "id": entry.id.uuid,
                "scope": entry.content.scope,
                "subject": subject,
                "attribute": attribute,
                "value": value_key(claim),
                "cardinality": claim.cardinality.value,
                "unresolved": entry.unresolved,
            },
        )

    async def _count_documents(self, before: "Counter[_Text]", after: "Counter[_Text]") -> None:
        for tier in Tier:
            gone, come = [[t for t in texts if t.tier is tier] for texts in (before - after, after - before)]
            documents = len(come) - len(gone)
            terms = sum(t.term_count for t in come) - sum(t.term_count for t in gone)
            if documents or terms:
                await self._execute("count_documents", {"tier": tier.value, "documents": documents, "terms": terms})

    async def _centre(self) -> NDArray[np.float32]:
        (row,) = await self._fetch("centre", {"model_id": self._model_id})
        centre: NDArray[np.float32] = row["centre"].to_numpy()
        return centre

    async def _move_centre(self) -> None:
        model = {"model_id": self._model_id}
        (row,) = await self._fetch("space_documents", {})
        (centre,) = await self._fetch("centre", model)
        if row["documents"] >= (centre["entries_count"] or CENTRE_FROM / CENTRE_GROWTH) * CENTRE_GROWTH:
            await self._execute("store_centre", model)
            await self._execute("follow_centre", model)

    async def _indexed_texts(self, entry_ids: Sequence[PublicId]) -> "_IndexedTexts":
        texts = _IndexedTexts({})
        by_uuid = {entry_id.uuid: entry_id for entry_id in entry_ids}
        if by_uuid:
            for row in await self._fetch("indexed_texts", {"ids": list(by_uuid)}):
                entry_id = by_uuid[row["id"]]
                text = _Text(entry_id, row["text_version"], row["term_count"])
                texts.known[text] = row["terms"]
                if row["live"]:
                    texts.live.add(text)
        return texts

    async def _fetch(self, name: str, parameters: Parameters) -> list[DictRow]:
        return await _rows(self._connection, _SQL[name], {**self._address, **parameters})

    async def _queue(self, name: str, parameters: Parameters) -> None:
        await self._connection.execute(_SQL[name], {**self._address, **parameters})

    async def _execute(self, name: str, parameters: Parameters) -> int:
        cursor = await self._connection.execute(_SQL[name], {**self._address, **parameters})
        return cursor.rowcount


@dataclass(frozen=True, slots=True)
class _Text:
    """One indexed text of an entry."""

    entry_id: PublicId
    text_version: int
    term_count: int

    @property
    def tier(self) -> Tier:
        return TIER_OF_KIND[self.entry_id.kind]


@dataclass(slots=True)
class _IndexedTexts:
    """The indexed texts of some entries, with their hashed terms, and which are served."""

    known: dict[_Text, Sequence[int]]
    live: set[_Text] = field(default_factory=set)

    def terms(self, entry_id: PublicId) -> list[int]:
        """The terms of all texts of an entry."""
        return sorted({term for text, terms in self.known.items() if text.entry_id == entry_id for term in terms})

    def add(self, entry: Entry, terms: Sequence[int], term_count: int) -> None:
        """Note a text that was written just now."""
        self.known[_Text(entry.id, entry.text_version, term_count)] = terms

    def serve(self, entry: Entry) -> None:
        """Note which text of an entry is served from now on, if any."""
        self.live = {text for text in self.live if text.entry_id != entry.id}
        if entry.is_live:
            self.live |= {t for t in self.known if (t.entry_id, t.text_version) == (entry.id, entry.text_version)}

    def served(self) -> "Counter[_Text]":
        """The texts that are served."""
        return Counter(self.live)


def _hashed(index: IndexedText) -> dict[int, float]:
    """Hashed terms to their frequencies."""
    return {term_hash(term): float(tf) for term, tf in index.terms.frequencies.items()}


def _written_json(written: Written) -> dict[str, Any]:
    return {
        "id": str(written.id),
        "version": written.version,
        "superseded": [str(i) for i in written.superseded],
        "unresolved_with": [str(i) for i in written.unresolved_with],
        "reinforced": written.reinforced,
    }


def _written_from(item: Mapping[str, Any]) -> Written:
    return Written(
        parse_id(item["id"]),
        item["version"],
        tuple(map(parse_id, item["superseded"])),
        tuple(map(parse_id, item["unresolved_with"])),
        item.get("reinforced", False),
    )
