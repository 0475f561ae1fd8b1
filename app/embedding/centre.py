"""Where a model's vectors lie: what generic statements share, and what questions share beyond that."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class _Embedder(Protocol):
    async def embed_documents(self, texts: Sequence[str]) -> Vectors: ...


async def measure_centre(embedder: _Embedder) -> tuple[Vectors, Vectors]:
    """The mean of 60 generic statements, and the way from there to the mean of 100 generic questions.

    The sentences are parallel in English, Italian, French, German and Spanish (data/*.txt).

    Returns:
        Two vectors of shape (d,), not normalised.
    """
    statements = (await embedder.embed_documents(_lines("statements"))).mean(axis=0)
    questions = (await embedder.embed_documents(_lines("questions"))).mean(axis=0)
    return statements, questions - statements


def _lines(name: str) -> list[str]:
    text = files("app.embedding").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    return text.splitlines()
