"""An embedder without a model: texts that share words have similar vectors."""

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


class HashedEmbedder:
    """Bags of words, each word a fixed pseudo-random direction. Deterministic, immediate, unit vectors."""

    def __init__(self, dimensions: int = 64) -> None:
        self.name = f"hashed/{dimensions}"
        self.dimensions = dimensions

    async def start(self) -> None:
        """Nothing to load."""

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector (d,) of a question."""
        words = re.findall(r"\w+", text.casefold()) or ["\N{EMPTY SET}"]
        total = np.sum([self._direction(word) for word in words], axis=0)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The unit vectors (n, d) of texts, in order."""
        rows = [await self.embed_query(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimensions), np.float32)

    async def close(self) -> None:
        """Nothing to stop."""

    def _direction(self, word: str) -> NDArray[np.float64]:
        digest = blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "big")).standard_normal(self.dimensions)
