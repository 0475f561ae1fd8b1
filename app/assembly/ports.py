"""What an assembly needs of the world."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.assembly.plan import QueryPlan
from app.assembly.records import Retrieved


class Embedder(Protocol):
    """Turns text into unit vectors of one model."""

    @property
    def name(self) -> str:
        """Stable name of the model; stored with what it embedded."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """One unit vector, shape (d,)."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), in the order of the texts."""
        ...


class Retriever(Protocol):
    """Searches every tier of the planned spaces."""

    async def retrieve(self, plan: QueryPlan, vector: NDArray[np.float32] | None) -> Retrieved:
        """Candidates and soul blocks, in one round trip. Without a vector the dense arm is left out."""
        ...
