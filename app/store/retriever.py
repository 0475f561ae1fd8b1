"""The retriever: every arm over every planned space, and the soul blocks, in one round trip."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg.rows import dict_row

from app.assembly.plan import QueryPlan
from app.assembly.records import Candidate, Retrieved
from app.domain.entries import KIND_OF_TIER, Category, Tier
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey, scope_key
from app.scoring.relevance import Calibration
from app.store.entries import Pool
from app.store.models import ModelRow
from app.store.pool import connected, tenant_pipeline
from app.store.queries import load
from app.store.rows import block_from, claim_from
from app.text.terms import term_hash

_SQL = load("retrieval")

_PREFERENCE_LIMIT = 64
"""Preferences brought up per space: more than the quarter of the memory budget can hold by default."""


class _Terms(NamedTuple):
    """The query's terms as parallel arrays."""

    terms: list[int]
    term_weights: list[float]
    words: list[int]


@dataclass(frozen=True, slots=True)
class PostgresRetriever:
    """Searches one store that one model filled."""

    pool: Pool
    model: ModelRow
    calibration: Calibration

    async def retrieve(self, plan: QueryPlan, vector: NDArray[np.float32] | None) -> Retrieved:
        """Candidates of all planned spaces and the persona's soul, in one round trip."""
        shared = self._parameters(plan, vector)
        async with connected(self.pool) as connection:
            cursors = [connection.cursor(row_factory=dict_row, binary=True) for _ in plan.spaces]
            soul = connection.cursor(row_factory=dict_row)
            async with tenant_pipeline(connection, plan.persona.tenant_id):
                for space, cursor in zip(plan.spaces, cursors, strict=True):
                    await cursor.execute(_SQL["candidates"], {**shared, **_address(space, plan)})
                await soul.execute(_SQL["soul_blocks"], _address(plan.persona, plan))
            found = [
                _candidate(row, space)
                for space, cursor in zip(plan.spaces, cursors, strict=True)
                for row in await cursor.fetchall()
            ]
            blocks = [block_from(row, plan.persona.space_id) for row in await soul.fetchall()]
        return Retrieved(tuple(found), tuple(blocks), () if vector is not None or not plan.query else ("dense",))

    def _parameters(self, plan: QueryPlan, vector: NDArray[np.float32] | None) -> dict[str, Any]:
        terms = _terms(plan)
        return {
            "model_id": self.model.id,
            "vector": None if vector is None else Vector(vector - self.model.question_shift),
            "terms": terms.terms,
            "term_weights": terms.term_weights,
            "words": terms.words,
            "scopes": list(plan.scopes),
            "scope_keys": [scope_key(scope) for scope in plan.scopes],
            "as_of": plan.as_of,
            "looks_back": plan.looks_back,
            "known_at": plan.known_at,
            "candidate_limit": plan.candidate_limit,
            "preference_limit": _PREFERENCE_LIMIT,
            "cosine_offset": self.calibration.cosine_offset,
            "keyword_weight": self.calibration.keyword_weight,
            "bm25_scale": self.calibration.bm25_scale,
            "keyword_power": self.calibration.keyword_power,
        }


def _terms(plan: QueryPlan) -> _Terms:
    return _Terms([term_hash(t.term) for t in plan.terms], [t.weight for t in plan.terms], [t.word for t in plan.terms])


def _address(space: SpaceKey, plan: QueryPlan) -> dict[str, Any]:
    pinned = [entry_id.uuid for entry_id in plan.pinned if entry_id.space_id == space.space_id]
    return {"tenant_id": space.tenant_id, "space_id": space.space_id, "pinned": pinned}


def _candidate(row: dict[str, Any], space: SpaceKey) -> Candidate:
    tier = Tier(row["tier"])
    kind = KIND_OF_TIER[tier]
    outdated_by: UUID | None = row["outdated_by"]
    return Candidate(
        id=PublicId(row["id"], space.space_id, kind),
        version=row["version"],
        sequence=row["sequence"],
        space=space.name,
        tier=tier,
        text=row["text"],
        scope=row["scope"],
        recorded_at=row["recorded_at"],
        last_confirmed_at=row["last_confirmed_at"],
        category=None if row["category"] is None else Category(row["category"]),
        tags=tuple(row["tags"]),
        claim=claim_from(row),
        importance=row["importance"],
        confidence=row["confidence"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        occurred_at=row["occurred_at"],
        trigger=row["trigger"],
        uses=row["uses"] or 0,
        unresolved=row["unresolved"],
        cosine_similarity=row["cosine_similarity"],
        bm25_score=row["bm25_score"],
        coverage=row["coverage"],
        vector=None if row["vector"] is None else row["vector"].to_numpy().tobytes(),
        is_preference=row["is_preference"],
        superseded=_ids(row["superseded"], space.space_id, kind),
        outdated_by=None if outdated_by is None else PublicId(outdated_by, space.space_id, kind),
    )


def _ids(uuids: Sequence[UUID], space_id: UUID, kind: IdKind) -> tuple[PublicId, ...]:
    return tuple(PublicId(uuid, space_id, kind) for uuid in uuids)
