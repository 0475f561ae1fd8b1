"""A change of models in Postgres: short transactions, each of which holds one space."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector, Vector
from psycopg import AsyncConnection
from psycopg.rows import DictRow, TupleRow, dict_row

from app.domain.entries import Indexed, indexed
from app.reembed.ports import SpaceCount, SpaceId, TextKey
from app.store.entries import CENTRE_FROM, Pool
from app.store.pool import tenant_transaction, transaction
from app.store.queries import load

_SQL = load("reembed")
_ENTRIES = load("entries")
_MODELS = load("models")
_TENANTS = load("maintenance")["tenants"]


@dataclass(frozen=True, slots=True)
class PostgresChange:
    """The spaces of one pool, while they change models."""

    pool: Pool

    async def tenants(self) -> tuple[UUID, ...]:
        """All tenants, in a stable order."""
        async with transaction(self.pool, "app.maintenance", "on") as connection:
            cursor = await connection.execute(_TENANTS)
            return tuple(row[0] for row in await cursor.fetchall())

    async def counts(self, tenant_id: UUID) -> tuple[SpaceCount, ...]:
        """Every space of a tenant."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = await connection.execute(_SQL["counts"], {"tenant_id": tenant_id})
            return tuple(_count(tenant_id, *row) for row in await cursor.fetchall())

    async def find_centre(self, space: SpaceId, model_id: int) -> tuple[TextKey, ...]:
        """Compute the model's centre of a space, unless it is too small to have one."""
        parameters = {**space._asdict(), "model_id": model_id}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            (row,) = await _fetch(connection, _ENTRIES["space_documents"], parameters)
            if row["documents"] < CENTRE_FROM:
                return ()
            await connection.execute(_ENTRIES["store_centre"], parameters)
            rows = await _fetch(connection, _SQL["filled"], parameters)
            return tuple(TextKey(row["id"], row["text_version"]) for row in rows)

    @asynccontextmanager
    async def held(self, space: SpaceId) -> AsyncIterator["PostgresHeldSpace"]:
        """Lock a space for one transaction."""
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            (row,) = await _fetch(connection, _SQL["hold"], space._asdict())
            yield PostgresHeldSpace(connection, space, row["model_id"])


@dataclass(frozen=True, slots=True)
class PostgresHeldSpace:
    """One space, locked, inside its transaction."""

    connection: AsyncConnection[TupleRow]
    space: SpaceId
    serving_id: int

    async def missing(self, model_id: int) -> tuple[TextKey, ...]:
        """The texts without a vector of the model, served ones first."""
        rows = await self._fetch(_SQL["missing"], model_id=model_id)
        return tuple(TextKey(row["id"], row["text_version"]) for row in rows)

    async def texts(self, keys: Sequence[TextKey]) -> dict[TextKey, Indexed]:
        """What is embedded of given texts; those erased are missing."""
        rows = await self._fetch(_SQL["texts"], **_arrays(keys))
        return {
            TextKey(row["id"], row["text_version"]): indexed(row["trigger"], row["text"], row["context"])
            for row in rows
        }

    async def fill(self, model_id: int, keys: Sequence[TextKey], vectors: NDArray[np.float32]) -> None:
        """Add vectors of the model to the texts that are still there and have none."""
        embeddings = [HalfVector(vector) for vector in vectors]
        centre = await self._centre(model_id)
        await self._execute("fill", model_id=model_id, centre=centre, embeddings=embeddings, **_arrays(keys))

    async def rebase(self, model_id: int, keys: Sequence[TextKey]) -> None:
        """Bring the norms of vectors up to the model's centre of the space."""
        await self._execute("rebase", model_id=model_id, centre=await self._centre(model_id), **_arrays(keys))

    async def serve_by(self, model_id: int) -> None:
        """From now on the model serves the space."""
        await self._execute("serve_by", model_id=model_id)

    async def drop(self, model_id: int, limit: int) -> int:
        """Remove at most so many vectors of a model that does not serve the space, its centre with the last."""
        gone = await self._execute("drop_vectors", model_id=model_id, limit=limit)
        if gone < limit:
            await self._execute("drop_centre", model_id=model_id)
        return gone

    async def _centre(self, model_id: int) -> Vector:
        (row,) = await self._fetch(_ENTRIES["centre"], model_id=model_id)
        centre: Vector = row["centre"]
        return centre

    async def _fetch(self, statement: Any, **parameters: Any) -> list[DictRow]:
        return await _fetch(self.connection, statement, {**self.space._asdict(), **parameters})

    async def _execute(self, name: str, **parameters: Any) -> int:
        known = {**self.space._asdict(), "serving_id": self.serving_id}
        return (await self.connection.execute(_SQL[name], {**known, **parameters})).rowcount


def make_current(database_url: str, model_id: int) -> None:
    """Let new spaces be served by a model. Once it returns, no write goes on that began before.

    Runs as the owner of the schema.
    """
    with psycopg.connect(database_url) as connection:
        connection.execute(_MODELS["retire_current"], {"id": model_id})
        connection.execute(_MODELS["mark_current"], {"id": model_id})
        connection.commit()
        connection.execute(_MODELS["await_writers"])


def remove_model(database_url: str, model_id: int) -> None:
    """Take a model off the store's list. Runs as the owner of the schema."""
    with psycopg.connect(database_url) as connection:
        connection.execute(_MODELS["remove_model"], {"id": model_id})


@asynccontextmanager
async def one_change(database_url: str) -> AsyncIterator[bool]:
    """Whether no other process changes the models of this store; none can begin until the end."""
    async with await AsyncConnection.connect(database_url, autocommit=True) as connection:
        await connection.execute("SET lock_timeout = '3s'")  # one that was killed lets go within moments
        try:
            await connection.execute(_MODELS["claim_change"])
        except psycopg.errors.LockNotAvailable:
            yield False
            return
        yield True


def _count(tenant_id: UUID, space_id: UUID, model_id: int, filled: dict[str, int]) -> SpaceCount:
    by_model = {int(key): number for key, number in filled.items()}
    return SpaceCount(SpaceId(tenant_id, space_id), model_id, by_model.get(model_id, 0), by_model)


def _arrays(keys: Sequence[TextKey]) -> dict[str, Any]:
    return {"ids": [key.id for key in keys], "versions": [key.text_version for key in keys]}


async def _fetch(connection: AsyncConnection[Any], statement: Any, parameters: dict[str, Any]) -> list[DictRow]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement, parameters)
        return await cursor.fetchall()
