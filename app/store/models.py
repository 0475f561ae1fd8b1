"""Which embedding model filled the store. A store is read and written with that model only."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import Vector
from pgvector.psycopg import register_vector

from app.store.queries import load

_SQL = load("models")

ModelCentre = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The mean of statements, and the way from there to the mean of questions; each of shape (dimensions,)."""


DIMENSIONS = 1302
"""The most that fit entry_vectors_live: a btree entry takes 2,704 bytes. Without that index every question would
read all vectors from the table."""


class WrongModelError(Exception):
    """The store was filled by another embedding model, or cannot hold the vectors of this one."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """The model that fills the store.

    Attributes:
        mean: Where statements lie on average, shape (dimensions,).
        question_shift: How far questions lie from statements, shape (dimensions,). Taken from every
            query: it is the same for all questions, and drowns what they ask (docs/decisions/002-centring.md).
    """

    id: int
    name: str
    dimensions: int
    mean: NDArray[np.float32]
    question_shift: NDArray[np.float32]


def adopt_model(database_url: str, name: str, centre: Callable[[], ModelCentre], dimensions: int) -> ModelRow:
    """Register the model in an empty store, or check that it is the one that filled the store.

    Runs as the owner of the schema: the serving role cannot change what the store was filled with.

    Args:
        centre: Measures where the model's vectors lie; called for an empty store only.

    Raises:
        WrongModelError: If another model filled the store (names both and their dimensions), or if its vectors
            do not fit the index.
    """
    if dimensions > DIMENSIONS:
        raise WrongModelError(
            f"RICORDO_EMBEDDER is {name} with {dimensions} dimensions, but vectors can be indexed up to {DIMENSIONS}: "
            "choose a smaller model, or one that can shorten its vectors"
        )
    with psycopg.connect(database_url) as connection:
        register_vector(connection)
        connection.execute("LOCK TABLE embedding_models IN SHARE ROW EXCLUSIVE MODE")
        found = connection.execute(_SQL["models"]).fetchall()
        if not found:
            mean, shift = centre()
            parameters = {
                "name": name,
                "dimensions": dimensions,
                "mean": Vector(mean),
                "question_shift": Vector(shift),
            }
            connection.execute(_SQL["add_model"], parameters)
            found = connection.execute(_SQL["models"]).fetchall()
    model_id, known, known_dimensions, mean, shift = found[0]
    if (known, known_dimensions) != (name, dimensions):
        raise WrongModelError(
            f"the store was filled by {known} ({known_dimensions} dimensions), but RICORDO_EMBEDDER is {name} "
            f"({dimensions} dimensions): start with the former, or use another database"
        )
    return ModelRow(model_id, known, known_dimensions, mean.to_numpy(), shift.to_numpy())
