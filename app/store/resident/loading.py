"""Reads the index of a space from the database, whole or what changed: records of fixed width, in one transaction."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, AsyncCursor

from app.domain.spaces import SpaceKey
from app.store.entries import Pool
from app.store.pool import connected, tenant_transaction
from app.store.queries import load
from app.store.resident.index import (
    Documents,
    Postings,
    SpaceIndex,
    State,
    Surroundings,
    build,
    nothing_written,
)

_SQL = load("resident")

_POSTING = np.dtype([("term", ">i8"), ("id", "S16"), ("frequency", ">f4"), ("length", ">i4")])
"""A record of `postings` in resident.sql."""


def _document(dimensions: int) -> np.dtype[np.void]:
    """A record of `documents` in resident.sql; a vector comes with its dimensions and a spare number before it."""
    return np.dtype(
        [
            ("id", "S16"),
            ("tier", ">i2"),
            ("scope", ">i8"),
            ("holds_from", ">i8"),
            ("holds_to", ">i8"),
            ("head", ">i2", (2,)),
            ("vector", ">f2", (dimensions,)),
        ]
    )


async def load_index(pool: Pool, space: SpaceKey, limit_bytes: int) -> SpaceIndex | None:
    """The index of a space as it is now; None if it would be too large.

    Raises:
        UnavailableError: If the database does not answer.
    """
    parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id}
    async with connected(pool) as connection, connection.transaction():
        await _look(connection, space.tenant_id)
        state = await _state(connection, parameters)
        if state is None:
            return nothing_written()
        around = await _surroundings(connection, parameters)
        if around.documents * 4 * len(around.centre) > limit_bytes:
            return None
        documents = await _bytes(connection, "documents", parameters)
        postings = await _bytes(connection, "postings", parameters)
    return await asyncio.to_thread(_built, state, around, documents, postings)


async def follow(pool: Pool, space: SpaceKey, index: SpaceIndex) -> frozenset[UUID] | None:
    """Bring an index up to the space.

    Returns:
        The entries that are not what they were; None if the index must be loaded anew.

    Raises:
        UnavailableError: If the database does not answer.
    """
    before = index.state
    if before is None:
        return None
    parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id, "sequence": before.sequence}
    async with connected(pool) as connection, connection.transaction():
        await _look(connection, space.tenant_id)
        state = await _state(connection, parameters)
        if state is None or not state.follows(before):
            return None
        around = await _surroundings(connection, parameters)
        changed = await _fetch(connection, "changed", parameters)
        documents = await _bytes(connection, "changed_documents", parameters)
        postings = await _bytes(connection, "changed_postings", parameters)
    ids = [row[0] for row in changed]
    read = _documents(documents, len(around.centre))
    if not index.apply(state, around, ids, read, _postings(postings)):
        return None
    return frozenset([*ids, *(row[1] for row in changed if row[1] is not None)])


async def load_rows(pool: Pool, space: SpaceKey, ids: Sequence[UUID]) -> list[Any]:
    """Entries, as `rows` in resident.sql brings them; those that are not active are missing.

    Raises:
        UnavailableError: If the database does not answer.
    """
    parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id, "ids": list(ids)}
    async with tenant_transaction(pool, space.tenant_id) as connection:
        return await _fetch(connection, "rows", parameters)


async def _look(connection: AsyncConnection[Any], tenant_id: UUID) -> None:
    """One picture of one tenant for the whole transaction."""
    await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    await connection.execute("SELECT set_config('app.tenant_id', %s, true)", (str(tenant_id),))


async def _state(connection: AsyncConnection[Any], parameters: dict[str, Any]) -> State | None:
    rows = await _fetch(connection, "state", parameters)
    return State(*rows[0]) if rows else None


async def _surroundings(connection: AsyncConnection[Any], parameters: dict[str, Any]) -> Surroundings:
    statistics = await _fetch(connection, "statistics", parameters)
    ((question_shift, centre, centre_version),) = await _fetch(connection, "centre", parameters)
    return Surroundings(
        average_lengths={key: length for key, length, _ in statistics},
        documents=sum(documents for _, _, documents in statistics),
        centre=centre.to_numpy(),
        question_shift=question_shift.to_numpy(),
        centre_version=centre_version,
        preferences=tuple(await _fetch(connection, "preferences", parameters)),
        standing=tuple(await _fetch(connection, "standing", parameters)),
    )


async def _fetch(connection: AsyncConnection[Any], name: str, parameters: dict[str, Any]) -> list[Any]:
    return await (await connection.execute(_SQL[name], parameters, binary=True)).fetchall()


async def _bytes(connection: AsyncConnection[Any], name: str, parameters: dict[str, Any]) -> bytes:
    cursor: AsyncCursor[Any] = connection.cursor(binary=True)
    await cursor.execute(_SQL[name], parameters)
    row = await cursor.fetchone()
    assert row is not None  # noqa: S101 - an aggregate
    return bytes(row[0])


def _built(state: State, around: Surroundings, documents: bytes, postings: bytes) -> SpaceIndex:
    return build(state, around, _documents(documents, len(around.centre)), _postings(postings))


def _documents(records: bytes, dimensions: int) -> Documents:
    read = np.frombuffer(records, _document(dimensions))
    return Documents(
        ids=read["id"],
        tiers=read["tier"].astype(np.int16),
        scopes=read["scope"].astype(np.int64),
        holds_from=read["holds_from"].astype(np.int64),
        holds_to=read["holds_to"].astype(np.int64),
        vectors=_floats(read["vector"]),
    )


def _postings(records: bytes) -> Postings:
    read = np.frombuffer(records, _POSTING)
    return Postings(
        terms=read["term"].astype(np.int64),
        ids=read["id"],
        frequencies=_floats(read["frequency"]),
        lengths=_floats(read["length"]),
    )


def _floats(numbers: NDArray[Any]) -> NDArray[np.float32]:
    floats: NDArray[np.float32] = numbers.astype(np.float32)
    return floats
