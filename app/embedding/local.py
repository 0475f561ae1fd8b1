"""An embedder whose model runs on this machine, called from a thread of its own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.embedding.batching import BatchLimits, Encode, EncodingThread
from app.embedding.counting import Asked, BatchCounts
from app.embedding.models import EmbeddingModel
from app.embedding.windows import WindowLimits, windows


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants to stand before a text, so that it knows a question from a document."""

    query: str = ""
    document: str = ""


class LocalEmbedder:
    """Windows, batches, cache and life cycle around any function from texts to unit vectors.

    Every text has a finite unit vector: the empty one, NUL (read as a blank), emoji, lone surrogates (read
    as U+FFFD). Texts longer than one window have the normalised mean of their windows' vectors.
    """

    def __init__(
        self, model: EmbeddingModel, load: Callable[[], Encode], limits: BatchLimits, prefixes: Prefixes | None = None
    ) -> None:
        """Nothing is loaded before `start` or the first text.

        Raises:
            ValueError: If the model does not declare its dimensions.
        """
        if model.dimensions is None:
            raise ValueError(f"{model.name} must declare its dimensions")
        self.model = model
        self.name = model.name
        self.dimensions = model.dimensions
        self._prefixes = prefixes or Prefixes()
        self._thread = EncodingThread(load, limits, model.name)

    @property
    def counts(self) -> BatchCounts:
        """The batches until now."""
        return self._thread.counts

    @property
    def asked(self) -> Asked:
        """Questions until now."""
        return self._thread.asked

    async def start(self) -> None:
        """Load the model and warm it, so that the first question finds it ready.

        Raises:
            UnavailableError: If it cannot be loaded.
        """
        await self._thread.start()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector (d,) of a question, read-only.

        Raises:
            UnavailableError: If the model fails or the embedder is closed.
        """
        return await self._thread.query(tuple(_prefixed(text, self.model.query_windows, self._prefixes.query)))

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The unit vectors (n, d) of n >= 0 texts, in order.

        Raises:
            UnavailableError: If the model fails or the embedder is closed.
        """
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        limits, prefix = self.model.document_windows, self._prefixes.document
        return await self._thread.documents(tuple(_prefixed(text, limits, prefix)) for text in texts)

    async def close(self) -> None:
        """Stop the thread after the batch at hand. Idempotent; embedding afterwards raises UnavailableError."""
        self._thread.close()


def _prefixed(text: str, limits: WindowLimits, prefix: str) -> Iterator[str]:
    return (prefix + window for window in windows(text, limits))
