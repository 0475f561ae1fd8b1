"""Fills a store fast: rows as the product makes them, copied straight into the tables.

The measured spaces are written with COPY. The other spaces are copies of them inside the database, row
by row under other ids, so that the tables have the size and the statistics of a store in use.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector, Vector
from pgvector.psycopg import register_vector
from psycopg import sql

from app.contradictions.claims import claim_key, derive_claim, value_key
from app.domain.entries import Category, Content, Entry, Tier
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey, scope_key
from app.entries.decide import ClaimPlace, Moment, claim_place, first_version
from app.runtime import DEFAULT_TENANT, new_id, new_uuid
from app.store.keys import tenant_id_of
from app.store.rows import entry_parameters
from app.text.terms import DocumentTerms, document_terms, term_hash
from loadtests import texts

EPISODES_SHARE, PROCEDURES_SHARE = 10, 20
CROWD_TABLES = ("entry_versions", "entry_vectors", "entry_postings", "claims", "tier_statistics", "space_centres")

_STARTED = datetime(2026, 1, 1, tzinfo=UTC)
_CATEGORIES = (Category.FACT, Category.KNOWLEDGE, Category.INTEREST, Category.RELATIONSHIP, None)
_SOUL = (
    ("persona", "You are Ricordo's guinea pig: a patient companion who has known the user for years."),
    ("tone", "Warm, brief, concrete. No flattery."),
    ("limits", "You never invent a shared past, and you say so when you do not know."),
)
_SMALLEST_NORM = 0.05

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Space:
    """One measured space: so many memories, a tenth as many episodes, a twentieth as many procedures."""

    memories: int

    @property
    def key(self) -> SpaceKey:
        """Its address."""
        return SpaceKey(tenant_id_of(DEFAULT_TENANT), f"user:bench-{self.memories}")

    @property
    def entries(self) -> int:
        """Entries of all tiers."""
        return self.memories + self.memories // EPISODES_SHARE + self.memories // PROCEDURES_SHARE


@dataclass(frozen=True, slots=True)
class _Model:
    id: int
    mean: Vectors


@dataclass(frozen=True, slots=True)
class _Row:
    entry: Entry
    terms: DocumentTerms
    vector: Vectors


def fill(url: str, spaces: Sequence[Space], crowd: int, embed: Embed, report: Report) -> None:
    """Fill an empty, migrated store whose model is registered.

    Args:
        url: The owner's connection.
        crowd: Entries of other spaces, about.
        embed: Texts to unit vectors.
        report: Called with a line whenever a part is done.
    """
    with psycopg.connect(url) as connection:
        register_vector(connection)
        connection.execute("SET synchronous_commit = off")
        row = connection.execute("SELECT id, mean FROM embedding_models").fetchone()
        assert row is not None
        model = _Model(row[0], row[1].to_numpy())
        for space in spaces:
            _fill_space(connection, space, model, embed)
            connection.commit()
            report(f"filled {space.key.name}: {space.entries} entries")
        _crowd(connection, spaces[:2], crowd, report)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")
    report("vacuumed")


def _fill_space(connection: psycopg.Connection[Any], space: Space, model: _Model, embed: Embed) -> None:
    key = space.key
    entries = list(_entries(space))
    address = {"tenant_id": key.tenant_id, "space_id": key.space_id}
    connection.execute(
        "INSERT INTO spaces (tenant_id, id, name, sequence, created_at) VALUES (%s, %s, %s, %s, %s)",
        (key.tenant_id, key.space_id, key.name, len(entries), _STARTED),
    )
    vectors = embed([entry.content.indexed.text for entry in entries])
    rows = [
        _Row(entry, document_terms(entry.content.indexed.text), vector)
        for entry, vector in zip(entries, vectors, strict=True)
    ]
    centre = _centre(vectors, model)
    norms = np.maximum(np.linalg.norm(vectors - centre, axis=1), _SMALLEST_NORM)
    _copy(connection, "entry_versions", ({**address, **_version(row)} for row in rows))
    _copy(
        connection,
        "entry_vectors",
        (
            {
                **address,
                **_mirrored(row),
                "model_id": model.id,
                "centred_norm": float(n),
                "embedding": HalfVector(row.vector),
            }
            for row, n in zip(rows, norms, strict=True)
        ),
    )
    _copy(connection, "entry_postings", ({**address, **posting} for row in rows for posting in _postings(row)))
    _copy(connection, "claims", ({**address, **claim} for row in rows for claim in _claims(row)))
    _copy(connection, "tier_statistics", ({**address, **counts} for counts in _statistics(rows)))
    centred = {"model_id": model.id, "version": 1, "entries_count": len(rows), "centre": Vector(centre)}
    _copy(connection, "space_centres", [{**address, **centred}])
    _copy(connection, "soul_blocks", ({**address, **block} for block in _soul(key)))


def _entries(space: Space) -> Iterator[Entry]:
    """The entries of a space, a quarter of an hour apart; no two claim different things."""
    sequence = 0
    taken: set[ClaimPlace] = set()
    for kind, wanted, contents in _contents(space):
        kept = 0
        while kept < wanted:
            now = _STARTED + timedelta(minutes=15 * sequence)
            entry_id = new_id(kind, space.key.space_id)
            entry = first_version(entry_id, space.key.name, next(contents), Moment(now, sequence + 1))
            place = claim_place(entry)
            if place is None or place not in taken:
                taken |= {place} if place else set()
                sequence += 1
                kept += 1
                yield entry


def _contents(space: Space) -> Iterator[tuple[IdKind, int, Iterator[Content]]]:
    """How many of which kind, and where to take them from."""
    preferences = [
        Content(text=text, category=Category(category), importance=0.8, confidence=0.9)
        for category, text in texts.PREFERENCES
    ]
    facts = (
        Content(
            text=text,
            category=_CATEGORIES[number % len(_CATEGORIES)],
            claim=(claim := derive_claim(text)),
            claim_derived=claim is not None,
            importance=None if number % 3 else number % 10 / 10,
            tags=("family",) if number % 7 == 0 else (),
        )
        for number, text in enumerate(texts.distinct("memories", space.memories))
    )
    happened = (
        Content(text=text, occurred_at=_STARTED + timedelta(hours=number))
        for number, text in enumerate(texts.distinct("episodes", space.memories))
    )
    known_how = (Content(text=text, confidence=0.8) for text in texts.distinct("procedures", space.memories))
    yield IdKind.MEMORY, len(preferences), iter(preferences)
    yield IdKind.MEMORY, space.memories - len(preferences), facts
    yield IdKind.EPISODE, space.memories // EPISODES_SHARE, happened
    yield IdKind.PROCEDURE, space.memories // PROCEDURES_SHARE, known_how


def _centre(vectors: Vectors, model: _Model) -> Vectors:
    """As `refresh_centre` of app/store/sql/entries.sql has it."""
    share = len(vectors) / (2 * len(vectors) + 20)
    centre: Vectors = vectors.mean(axis=0) * share + model.mean * (1 - share)
    return centre


def _version(row: _Row) -> dict[str, Any]:
    hashed = [term_hash(term) for term in row.terms.frequencies]
    return {**entry_parameters(row.entry), "terms": hashed, "term_count": row.terms.length_words}


def _mirrored(row: _Row) -> dict[str, Any]:
    entry = row.entry
    return {
        "id": entry.id.uuid,
        "text_version": entry.text_version,
        "tier": entry.tier.value,
        "live": True,
        "scope_key": scope_key(entry.content.scope),
        "holds_from": entry.content.holds_from,
        "holds_to": entry.content.valid_to,
    }


def _postings(row: _Row) -> Iterator[dict[str, Any]]:
    for term, tf in row.terms.frequencies.items():
        yield {**_mirrored(row), "term": term_hash(term), "tf": tf, "length": row.terms.length_words}


def _claims(row: _Row) -> Iterator[dict[str, Any]]:
    claim = row.entry.content.claim
    if claim is not None:
        subject, attribute = claim_key(claim)
        yield {
            "id": row.entry.id.uuid,
            "scope": row.entry.content.scope,
            "subject": subject,
            "attribute": attribute,
            "value": value_key(claim),
            "cardinality": claim.cardinality.value,
            "unresolved": False,
            "restated": False,
        }


def _statistics(rows: Sequence[_Row]) -> Iterator[dict[str, Any]]:
    for tier in Tier:
        lengths = [row.terms.length_words for row in rows if row.entry.tier is tier]
        yield {"tier": tier.value, "documents": len(lengths), "terms": sum(lengths)}


def _soul(key: SpaceKey) -> Iterator[dict[str, Any]]:
    for position, (name, text) in enumerate(_SOUL):
        yield {
            "id": PublicId(new_uuid(), key.space_id, IdKind.SOUL).uuid,
            "version": 1,
            "name": name,
            "text": text,
            "position": position,
            "active": True,
            "recorded_at": _STARTED,
            "reason": "created",
        }


def _copy(
    connection: psycopg.Connection[Any], table: str, rows: Iterator[dict[str, Any]] | list[dict[str, Any]]
) -> None:
    """COPY rows, all with the same columns, into a table."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    columns = sql.SQL(", ").join(map(sql.Identifier, first))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write_row(list(first.values()))
        for row in rows:
            copy.write_row(list(row.values()))


def _crowd(connection: psycopg.Connection[Any], models: Sequence[Space], entries: int, report: Report) -> None:
    """Copy the model spaces until there are about so many other entries, shared equally between the models."""
    for model in models:
        copies = entries // len(models) // model.entries
        names = [f"user:crowd-{model.memories}-{number}" for number in range(copies)]
        for start in range(0, copies, 50):
            _copy_space(connection, model, names[start : start + 50])
            connection.commit()
        report(f"added {copies} other spaces of {model.entries} entries")


def _copy_space(connection: psycopg.Connection[Any], model: Space, names: Sequence[str]) -> None:
    tenant_id = model.key.tenant_id
    connection.execute("CREATE TEMP TABLE copied (space_id uuid, name text) ON COMMIT DROP")
    _copy(connection, "copied", [{"space_id": SpaceKey(tenant_id, name).space_id, "name": name} for name in names])
    connection.execute(
        "INSERT INTO spaces (tenant_id, id, name, created_at) SELECT %s, space_id, name, %s FROM copied",
        (tenant_id, _STARTED),
    )
    for table in CROWD_TABLES:
        columns = _columns(connection, table)
        own_id = sql.SQL("md5(t.id::text || c.space_id::text)::uuid")
        values = {"space_id": sql.SQL("c.space_id"), "id": own_id}
        connection.execute(
            sql.SQL(
                "INSERT INTO {table} ({columns}) SELECT {values} FROM {table} t CROSS JOIN copied c "
                "WHERE t.tenant_id = %s AND t.space_id = %s ORDER BY {order}"
            ).format(
                table=sql.Identifier(table),
                columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
                values=sql.SQL(", ").join(values.get(name, sql.Identifier("t", name)) for name in columns),
                order=sql.SQL("c.space_id, t.term" if table == "entry_postings" else "c.space_id"),
            ),
            (tenant_id, model.key.space_id),
        )


def _columns(connection: psycopg.Connection[Any], table: str) -> list[str]:
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attgenerated = '' ORDER BY attnum",
        (table,),
    )
    return [name for (name,) in rows]
