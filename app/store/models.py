"""The embedding models of a store: one normally, two while it changes from one to the other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import Vector
from pgvector.psycopg import register_vector
from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from app.store.entries import Pool
from app.store.pool import connected
from app.store.queries import load

_SQL = load("models")

ModelCentre = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The mean of statements, and the way from there to the mean of questions; each of shape (dimensions,)."""


DIMENSIONS = 1302
"""The most that fit entry_vectors_live: a btree entry takes 2,704 bytes. Without that index every question would
read all vectors from the table."""


class WrongModelError(Exception):
    """The store has vectors of other embedding models, or cannot hold those of this one."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model, and how it is built.

    Attributes:
        kind: What RICORDO_EMBEDDER calls it; None if no service with it has started since this is kept.
        options: What else it takes, without secrets.
    """

    name: str
    dimensions: int
    kind: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of the store.

    Attributes:
        mean: Where statements lie on average, shape (dimensions,).
        question_shift: How far questions lie from statements, shape (dimensions,). Taken from every
            query: it is the same for all questions, and drowns what they ask (docs/decisions/002-centring.md).
        kind: See ModelSpec.
        is_current: Whether new spaces are served by it.
    """

    id: int
    name: str
    dimensions: int
    mean: NDArray[np.float32]
    question_shift: NDArray[np.float32]
    kind: str | None
    options: Mapping[str, Any]
    is_current: bool

    def __str__(self) -> str:
        return f"{self.name} ({self.dimensions} dimensions)"


def _row(mean: Vector, question_shift: Vector, **columns: Any) -> ModelRow:
    return ModelRow(mean=mean.to_numpy(), question_shift=question_shift.to_numpy(), **columns)


async def list_models(pool: Pool) -> tuple[ModelRow, ...]:
    """All models of the store, the current one first.

    Raises:
        UnavailableError: If the database does not answer.
    """
    async with connected(pool) as connection, connection.cursor(row_factory=kwargs_row(_row)) as cursor:
        await cursor.execute(_SQL["models"])
        return tuple(await cursor.fetchall())


def adopt_model(database_url: str, spec: ModelSpec, centre: Callable[[], ModelCentre]) -> ModelRow:
    """Register the model in an empty store, or check that it is one of the store's.

    Runs as the owner of the schema: the serving role cannot change what the store was filled with. How the model is
    built is kept, so that other processes can build it too.

    Args:
        centre: Measures where the model's vectors lie; called for an empty store only.

    Raises:
        WrongModelError: If other models filled the store (names them and their dimensions), or if its vectors
            do not fit the index.
    """
    return _registered(database_url, spec, centre, is_next=False)


def add_model(database_url: str, spec: ModelSpec, centre: Callable[[], ModelCentre]) -> ModelRow:
    """Register the model beside the store's current one, unless it is one of the store's.

    Runs as the owner of the schema.

    Raises:
        WrongModelError: If the store has two other models already, or if its vectors do not fit the index.
    """
    return _registered(database_url, spec, centre, is_next=True)


def _registered(database_url: str, spec: ModelSpec, centre: Callable[[], ModelCentre], *, is_next: bool) -> ModelRow:
    _check_dimensions(spec)
    with psycopg.connect(database_url) as connection:
        register_vector(connection)
        connection.execute("LOCK TABLE embedding_models IN SHARE ROW EXCLUSIVE MODE")
        known = _models(connection)
        if not known or (is_next and len(known) == 1 and spec.name not in known):
            mean, shift = centre()
            parameters = {"mean": Vector(mean), "question_shift": Vector(shift), **_columns(spec)}
            connection.execute(_SQL["add_model"], parameters)
            known = _models(connection)
        found = known.get(spec.name)
        if found is None or found.dimensions != spec.dimensions:
            raise WrongModelError(_refusal(spec, list(known.values()), is_next=is_next))
        if spec.kind is not None:
            connection.execute(_SQL["describe_model"], _columns(spec))
    return found


def _models(connection: psycopg.Connection[Any]) -> dict[str, ModelRow]:
    with connection.cursor(row_factory=kwargs_row(_row)) as cursor:
        return {row.name: row for row in cursor.execute(_SQL["models"])}


def _columns(spec: ModelSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "dimensions": spec.dimensions,
        "kind": spec.kind,
        "options": Jsonb(dict(spec.options)),
    }


def _check_dimensions(spec: ModelSpec) -> None:
    if spec.dimensions > DIMENSIONS:
        raise WrongModelError(
            f"RICORDO_EMBEDDER is {spec.name} with {spec.dimensions} dimensions, but vectors can be indexed up to "
            f"{DIMENSIONS}: choose a smaller model, or one that can shorten its vectors"
        )


def _refusal(spec: ModelSpec, known: list[ModelRow], *, is_next: bool) -> str:
    names = " and ".join(map(str, known))
    wanted = f"{spec.name} ({spec.dimensions} dimensions)"
    if is_next:
        return f"the store is changing between {names}: end that with `ricordo reembed --finish` before {wanted}"
    return (
        f"the store was filled by {names}, but RICORDO_EMBEDDER is {wanted}: start with what filled it, and move the "
        f"store with `ricordo reembed --to {spec.kind or spec.name}`, or use another database"
    )
