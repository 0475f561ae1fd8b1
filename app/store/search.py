"""Search in Postgres: exact scans over one space at a time, with the filters before the cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg.rows import dict_row

from app.entries.search import Hit, SearchRequest
from app.scoring.relevance import Calibration
from app.store.entries import Pool
from app.store.models import ModelRow
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.rows import entry_from
from app.text.terms import QueryTerm, term_hash

_SQL = load("search")


@dataclass(frozen=True, slots=True)
class PostgresSearch:
    """Searches one store that one model filled."""

    pool: Pool
    model: ModelRow
    calibration: Calibration

    async def search(
        self, request: SearchRequest, terms: Sequence[QueryTerm], vector: NDArray[np.float32] | None
    ) -> tuple[Hit, ...]:
        """The best hits of every space, at most `limit` of each."""
        shared = self._parameters(request, terms, vector)
        hits: list[Hit] = []
        async with tenant_transaction(self.pool, request.spaces[0].tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            for space in request.spaces:
                address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
                await cursor.execute(_SQL["search"], {**shared, **address})
                hits += [_hit(row) for row in await cursor.fetchall()]
        return tuple(hits)

    def _parameters(
        self, request: SearchRequest, terms: Sequence[QueryTerm], vector: NDArray[np.float32] | None
    ) -> dict[str, Any]:
        return {
            "model_id": self.model.id,
            "vector": None if vector is None else Vector(vector - self.model.question_shift),
            "terms": [term_hash(term.term) for term in terms],
            "term_weights": [term.weight for term in terms],
            "words": [term.word for term in terms],
            "asks": bool(request.query.strip()),
            "tiers": [tier.value for tier in request.tiers],
            "scopes": list(request.scopes),
            "as_of": request.as_of,
            "looks_back": request.looks_back,
            "known_at": request.known_at,
            "category": request.category,
            "tags": None if request.tags is None else list(request.tags),
            "since": request.since,
            "until": request.until,
            "limit": request.limit,
            "cosine_offset": self.calibration.cosine_offset,
            "keyword_weight": self.calibration.keyword_weight,
            "bm25_scale": self.calibration.bm25_scale,
            "keyword_power": self.calibration.keyword_power,
        }


def _hit(row: dict[str, Any]) -> Hit:
    return Hit(entry_from(row), row["cosine_similarity"], row["bm25_score"], row["coverage"])
