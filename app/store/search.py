"""Search in Postgres: exact scans over one space at a time, with the filters before the cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import dict_row

from app.entries.search import POOL, Brought, Hit, SearchRequest
from app.scoring.asked import Asked
from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.retriever import is_deaf, question_parameters
from app.store.rows import entry_from
from app.text.terms import QueryTerm, term_hash

_SQL = load("search")
_MODELS_OF = load("retrieval")["models_of"]


@dataclass(frozen=True, slots=True)
class PostgresSearch:
    """Searches one store, each space with the model that serves it."""

    pool: Pool

    async def search(self, request: SearchRequest, terms: Sequence[QueryTerm], asked: Sequence[Asked]) -> Brought:
        """The best hits of every space, at most `limit` of each, or POOL if that is more."""
        shared = {**_parameters(request, terms), **question_parameters(asked)}
        tenant_id = request.spaces[0].tenant_id
        hits: list[Hit] = []
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            for space in request.spaces:
                await cursor.execute(_SQL["search"], {**shared, "tenant_id": tenant_id, "space_id": space.space_id})
                hits += [_hit(row) for row in await cursor.fetchall()]
            space_ids = [space.space_id for space in request.spaces]
            await cursor.execute(_MODELS_OF, {"tenant_id": tenant_id, "space_ids": space_ids})
            served_by = [row["model_id"] for row in await cursor.fetchall()]
        return Brought(tuple(hits), is_deaf=is_deaf(asked, served_by), served_by=frozenset(served_by))


def _parameters(request: SearchRequest, terms: Sequence[QueryTerm]) -> dict[str, Any]:
    return {
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
        "limit": max(request.limit, POOL),
    }


def _hit(row: dict[str, Any]) -> Hit:
    return Hit(entry_from(row), row["cosine_similarity"], row["bm25_score"], row["coverage"], row["model_id"])
