"""What the contradiction rules call a contradiction, over the similarities that the pipeline would see."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.contradictions.claims import derive_claim
from app.contradictions.detect import SimilarityBand, Statement, find_contradictions
from app.domain.ids import IdKind, PublicId
from evals.metrics import Tally
from evals.records import Pair

_SAID = datetime(2026, 1, 1, tzinfo=UTC)


def called(pair: Pair, similarity: float, band: SimilarityBand) -> bool:
    """Whether the pair is called a contradiction, the second sentence said a day after the first."""
    texts = enumerate((pair.earlier, pair.later))
    statements = [
        Statement(
            id=PublicId(UUID(int=place + 1), UUID(int=1), IdKind.MEMORY),
            text=text,
            claim=derive_claim(text),
            scope="",
            valid_from=None,
            confirmed_at=_SAID + timedelta(days=place),
            sequence=place + 1,
        )
        for place, text in texts
    ]
    similarities = np.array([[1.0, similarity], [similarity, 1.0]], dtype=np.float32)
    return bool(find_contradictions(statements, similarities, band))


def similarities(earlier: NDArray[np.float32], later: NDArray[np.float32]) -> list[float]:
    """Raw cosines of unit vectors, as exact as the store keeps them."""
    stored = [vectors.astype(np.float16).astype(np.float32) for vectors in (earlier, later)]
    cosines: list[float] = np.einsum("ij,ij->i", *stored).tolist()
    return cosines


def count_pairs(pairs: Sequence[Pair], calls: Sequence[bool], tally: Tally) -> None:
    """Add precision and recall of every group, and the share that is called of every kind of memory pair."""
    for pair, is_called in zip(pairs, calls, strict=True):
        right = float(is_called and pair.contradicts)
        for group in pair.groups:
            tally.add(f"{group}.precision", right, float(is_called))
            tally.add(f"{group}.recall", right, float(pair.contradicts))
    for pair, is_called in zip(pairs, calls, strict=True):
        if pair.groups[0].startswith("contradiction_pairs."):
            tally.add(f"contradiction_pairs.called.{pair.kind}", float(is_called))
