"""What a change of models needs of the world."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.domain.entries import Indexed


class SpaceId(NamedTuple):
    """A space, without its name."""

    tenant_id: UUID
    space_id: UUID


class TextKey(NamedTuple):
    """One indexed text: an entry, and the version that brought the text."""

    id: UUID
    text_version: int


@dataclass(frozen=True, slots=True)
class SpaceCount:
    """How far a space is.

    Attributes:
        model_id: The model that serves it.
        texts: Its indexed texts, past ones too.
        filled: How many of them have a vector, by model.
    """

    space: SpaceId
    model_id: int
    texts: int
    filled: dict[int, int]

    def lacks(self, model_id: int) -> int:
        """How many texts lack the vector of a model."""
        return self.texts - self.filled.get(model_id, 0)


class Embedder(Protocol):
    """Turns texts into the unit vectors of the model that is moved to."""

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), in the order of the texts.

        Raises:
            UnavailableError: If the model fails.
        """
        ...


class HeldSpace(Protocol):
    """A space that no writer touches until the end of the transaction."""

    async def missing(self, model_id: int) -> tuple[TextKey, ...]:
        """The texts without a vector of the model, served ones first."""
        ...

    async def texts(self, keys: Sequence[TextKey]) -> dict[TextKey, Indexed]:
        """What is embedded of given texts; those erased are missing."""
        ...

    async def fill(self, model_id: int, keys: Sequence[TextKey], vectors: NDArray[np.float32]) -> None:
        """Add vectors of the model to the texts that are still there and have none."""
        ...

    async def rebase(self, model_id: int, keys: Sequence[TextKey]) -> None:
        """Bring the norms of vectors up to the model's centre of the space."""
        ...

    async def serve_by(self, model_id: int) -> None:
        """From now on the model serves the space."""
        ...

    async def drop(self, model_id: int, limit: int) -> int:
        """Remove at most so many vectors of a model that does not serve the space, its centre with the last.

        Returns:
            How many it removed.
        """
        ...


class ChangingStore(Protocol):
    """A store whose spaces change models."""

    async def tenants(self) -> tuple[UUID, ...]:
        """All tenants."""
        ...

    async def counts(self, tenant_id: UUID) -> tuple[SpaceCount, ...]:
        """Every space of a tenant."""
        ...

    async def find_centre(self, space: SpaceId, model_id: int) -> tuple[TextKey, ...]:
        """Compute the model's centre of a space, unless it is too small to have one.

        Returns:
            The texts whose norms follow it: all that have a vector of the model, or none.
        """
        ...

    def held(self, space: SpaceId) -> AbstractAsyncContextManager[HeldSpace]:
        """Lock a space for one transaction."""
        ...
