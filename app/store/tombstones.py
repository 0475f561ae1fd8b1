"""Tombstones in Postgres: hashes under a key of the tenant, never a text."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from app.domain.ids import IdKind, PublicId
from app.entries.tombstones import Mark, Tombstone
from app.store.queries import load

_SQL = load("tombstones")

Parameters = Mapping[str, Any]


async def find_secret(connection: AsyncConnection[Any], tenant_id: UUID) -> bytes | None:
    """The tenant's key; None while nothing was buried."""
    row = await (await connection.execute(_SQL["secret"], {"tenant_id": tenant_id})).fetchone()
    return None if row is None else bytes(row[0])


async def make_secret(connection: AsyncConnection[Any], tenant_id: UUID) -> bytes:
    """The tenant's key, made if need be."""
    known = await find_secret(connection, tenant_id)
    if known is None:
        await connection.execute(_SQL["make_secret"], {"tenant_id": tenant_id})
        known = await find_secret(connection, tenant_id)
    assert known is not None  # noqa: S101 - it was made just now, or by somebody else
    return known


def sealed(secret: bytes, *parts: str) -> bytes:
    """A keyed hash of some texts, which cannot be told apart otherwise."""
    return blake2b("\x00".join(parts).encode(), digest_size=32, key=secret).digest()


async def find_tombstones(
    connection: AsyncConnection[Any], address: Parameters, marks: Sequence[Mark]
) -> Mapping[Mark, Tombstone]:
    """Those of some marks that stand in a space."""
    secret = await find_secret(connection, address["tenant_id"]) if marks else None
    if secret is None:
        return {}
    by_digest = {digest_of(secret, mark): mark for mark in marks}
    cursor = await connection.execute(_SQL["find"], {**address, "digests": list(by_digest)})
    return {
        by_digest[bytes(digest)]: Tombstone(
            created_at, None if entry is None else PublicId(entry, address["space_id"], IdKind.MEMORY)
        )
        for digest, entry, created_at in await cursor.fetchall()
    }


async def bury(
    connection: AsyncConnection[Any],
    address: Parameters,
    marks: Mapping[Mark, PublicId | None],
    now: datetime,
) -> int:
    """Put up tombstones; returns how many."""
    if not marks:
        return 0
    secret = await make_secret(connection, address["tenant_id"])
    rows = {
        "digests": [digest_of(secret, mark) for mark in marks],
        "kinds": [mark.burial.value for mark in marks],
        "entries": [None if entry is None else entry.uuid for entry in marks.values()],
    }
    return (await connection.execute(_SQL["bury"], {**address, **rows, "now": now})).rowcount


async def exhume(connection: AsyncConnection[Any], address: Parameters, marks: Sequence[Mark]) -> None:
    """Take tombstones away."""
    secret = await find_secret(connection, address["tenant_id"])
    if secret is not None and marks:
        await connection.execute(_SQL["exhume"], {**address, "digests": [digest_of(secret, mark) for mark in marks]})


async def exhume_by(connection: AsyncConnection[Any], address: Parameters, entries: Sequence[PublicId]) -> None:
    """Take the tombstones away that stand because of some entries."""
    if entries:
        await connection.execute(_SQL["exhume_by"], {**address, "entries": [entry.uuid for entry in entries]})


def digest_of(secret: bytes, mark: Mark) -> bytes:
    """By what a mark is stored."""
    return sealed(secret, mark.burial.value, *mark.words)
