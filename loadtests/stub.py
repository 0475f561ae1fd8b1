"""The service over a model that answers after 40 ms: what a larger embedder would leave of the time.

`python -m loadtests.stub` serves with it, configured by the same variables as `ricordo serve`.
"""

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import uvicorn
from numpy.typing import NDArray
from uvicorn.loops.auto import auto_loop_factory

from app.contradictions.detect import SimilarityBand
from app.embedding.calibration import ModelCalibration
from app.main import create_app
from app.runtime import open_runtime_with
from app.scoring.relevance import Calibration
from app.settings import Settings

DIMENSIONS = 1024
QUERY_SECONDS = 0.04
CALIBRATION = ModelCalibration(Calibration(), SimilarityBand(0.75, 0.92))

Vectors = NDArray[np.float32]


class StubEmbedder:
    """Bags of words, each word a fixed direction: texts that share words lie together."""

    name: str = "stub/bags-of-words"
    dimensions: int = DIMENSIONS

    async def start(self) -> None:
        """Nothing to load."""

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector (d,) of a question, after QUERY_SECONDS."""
        await asyncio.sleep(QUERY_SECONDS)
        return bag(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors (n, d) of n >= 1 texts, at once."""
        return bags(texts)

    async def close(self) -> None:
        """Nothing to stop."""


def bags(texts: Sequence[str]) -> Vectors:
    """The unit vectors (n, d) of n >= 1 texts."""
    return np.stack([bag(text) for text in texts])


def bag(text: str) -> Vectors:
    """The unit vector (d,) of a text."""
    words = re.findall(r"\w+", text.casefold()) or [""]
    total = np.sum([_direction(word) for word in words], axis=0)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


@lru_cache(maxsize=65_536)
def _direction(word: str) -> NDArray[np.float64]:
    digest = blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "big")).standard_normal(DIMENSIONS)


async def serve() -> None:
    """Serve until interrupted."""
    settings = Settings()
    async with open_runtime_with(settings, StubEmbedder(), CALIBRATION) as runtime:
        config = uvicorn.Config(
            create_app(runtime), host=settings.host, port=settings.port, log_level="warning", access_log=False
        )
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(serve())
