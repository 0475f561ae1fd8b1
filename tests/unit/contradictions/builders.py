"""Builders that show only what matters to a test."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.contradictions.claims import derive_claim
from app.contradictions.detect import SimilarityBand, Statement
from app.domain.ids import IdKind, PublicId

BAND = SimilarityBand(lower=0.35, upper=0.92)
DAY_ONE = datetime(2026, 1, 1, tzinfo=UTC)
SPACE = UUID(int=7)


def memory_id(number: int) -> PublicId:
    """A memory's id; ids order by number."""
    return PublicId(UUID(int=number), SPACE, IdKind.MEMORY)


def day(number: float) -> datetime:
    """The moment so many days after the first."""
    return DAY_ONE + timedelta(days=number)


def said(
    number: int,
    text: str,
    *,
    recorded: float | None = None,
    true_since: float | None = None,
    scope: str = "",
) -> Statement:
    """A memory whose claim is derived from its text. Recorded on the day of its number, unless said."""
    return Statement(
        id=memory_id(number),
        text=text,
        claim=derive_claim(text),
        scope=scope,
        valid_from=None if true_since is None else day(true_since),
        confirmed_at=day(number if recorded is None else recorded),
        sequence=number,
    )


def alike(count: int, similarity: float = 0.7) -> NDArray[np.float32]:
    """A similarity matrix where every two different statements are equally close."""
    matrix = np.full((count, count), similarity, dtype=np.float32)
    np.fill_diagonal(matrix, 1.0)
    return matrix
