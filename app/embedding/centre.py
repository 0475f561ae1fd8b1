"""Where a model's vectors lie: what generic statements share, and what questions share beyond that."""

import asyncio
from collections.abc import Sequence
from importlib.resources import files
from itertools import islice
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


_AT_ONCE: Final = 8
"""Questions asked of the embedder at the same time: a server on a few cores answers so many within a second."""


class _Embedder(Protocol):
    async def embed_query(self, text: str) -> Vectors: ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors: ...


async def measure_centre(embedder: _Embedder) -> tuple[Vectors, Vectors]:
    """The mean of 60 generic statements, and the way from there to the mean of 100 generic questions.

    The sentences are parallel in English, Italian, French, German and Spanish (data/*.txt). Questions are
    embedded as questions: a model's prefixes are part of the way.

    Returns:
        Two vectors of shape (d,), not normalised.
    """
    statements = (await embedder.embed_documents(_lines("statements"))).mean(axis=0)
    asked: list[Vectors] = []
    questions = iter(_lines("questions"))
    while group := tuple(islice(questions, _AT_ONCE)):
        asked += await asyncio.gather(*map(embedder.embed_query, group))
    return statements, np.asarray(np.mean(asked, axis=0) - statements, dtype=np.float32)


def _lines(name: str) -> list[str]:
    text = files("app.embedding").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    return text.splitlines()
