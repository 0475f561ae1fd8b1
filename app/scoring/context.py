"""The vector of a text in its context: one unit vector that leans towards what was said around it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.domain.entries import Indexed

Vectors = NDArray[np.float32]


def to_embed(texts: Sequence[Indexed], shares: Sequence[float]) -> list[str]:
    """What has to be embedded: the texts, then the contexts that count (share > 0), each in order."""
    return [*(t.text for t in texts), *(t.context for t, share in zip(texts, shares, strict=True) if share)]


def mixed(vectors: Vectors, shares: Sequence[float]) -> Vectors:
    """Each text's vector plus its share of the context's, as unit vectors.

    Args:
        vectors: Of what `to_embed` gave, unit vectors, shape (texts + contexts that count, d).

    Returns:
        Shape (texts, d).
    """
    in_context = np.flatnonzero(shares)
    if not len(in_context):
        return vectors
    texts = vectors[: len(shares)].copy()
    share = np.asarray(shares, dtype=np.float32)[in_context, None]
    leaning = texts[in_context] + share * vectors[len(shares) :]
    texts[in_context] = leaning / np.maximum(np.linalg.norm(leaning, axis=1, keepdims=True), 1e-6)
    return texts
