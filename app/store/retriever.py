"""The retriever: every arm over every planned space, and the soul blocks, in one round trip."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from pgvector import HalfVector, Vector
from psycopg import AsyncCursor, AsyncRawCursor
from psycopg.rows import dict_row

from app.assembly.plan import QueryPlan
from app.assembly.records import Candidate, Retrieved
from app.domain.entries import KIND_OF_TIER, Cardinality, Category, Claim
from app.domain.ids import IdKind, PublicId, last_uuid_of
from app.domain.spaces import SpaceKey, scope_key
from app.scoring.asked import Asked
from app.scoring.relevance import evidence_for
from app.store.entries import Pool
from app.store.pool import connected, tenant_pipeline
from app.store.queries import load, numbered
from app.store.rows import block_from
from app.text.terms import term_hash

_SQL = load("retrieval")
_CANDIDATES = numbered(_SQL["candidates"])

_TIERS = {tier.value: (tier, kind) for tier, kind in KIND_OF_TIER.items()}
_CATEGORIES = {category.value: category for category in Category}

_PREFERENCE_LIMIT = 64
"""Preferences brought up per space: more than the quarter of the memory budget can hold by default."""


_ROUNDING = 1e-9
"""Evidence is rounded in the database and here: the pipeline decides about what lies so near the floor."""


class _Row(NamedTuple):
    """A row of `candidates`, in the order of its columns.

    Where `below_floor` holds, nothing else than `id` and `tier` is there.
    """

    id: UUID
    version: int
    sequence: int
    tier: str
    text: str
    scope: str
    recorded_at: datetime
    last_confirmed_at: datetime
    category: str | None
    tags: Sequence[str]
    claim_subject: str | None
    claim_attribute: str
    claim_value: str
    claim_cardinality: str
    importance: float | None
    confidence: float | None
    valid_from: datetime | None
    valid_to: datetime | None
    occurred_at: datetime | None
    trigger: str | None
    unresolved: bool
    uses: int | None
    cosine_similarity: float | None
    bm25_score: float | None
    coverage: float | None
    is_preference: bool
    vector: HalfVector | None
    outline: bytes | None
    superseded: Sequence[UUID]
    outdated_by: UUID | None
    below_floor: bool
    session: str | None
    author: str | None


def _rows(cursor: AsyncCursor[Any]) -> Callable[[Sequence[Any]], _Row]:
    """Makes rows; tuples, because hundreds come for every request."""
    names = tuple(column.name for column in cursor.description or ())
    assert not names or names == _Row._fields, names  # noqa: S101 - the statement and _Row change together
    return _Row._make


class _Terms(NamedTuple):
    """The query's terms as parallel arrays."""

    terms: list[int]
    term_weights: list[float]
    words: list[int]


@dataclass(frozen=True, slots=True)
class PostgresRetriever:
    """Searches one store, each space with the model that serves it."""

    pool: Pool

    async def retrieve(self, plan: QueryPlan, asked: Sequence[Asked]) -> Retrieved:
        """Candidates of all planned spaces and the persona's soul, in one round trip."""
        shared = {**_parameters(plan, asked), **question_parameters(asked)}
        async with connected(self.pool) as connection:
            cursors = [AsyncRawCursor(connection, row_factory=_rows) for _ in plan.spaces]
            soul, models = connection.cursor(row_factory=dict_row), connection.cursor()
            async with tenant_pipeline(connection, plan.persona.tenant_id):
                for space, cursor in zip(plan.spaces, cursors, strict=True):
                    values = _CANDIDATES.values({**shared, **_address(space, plan)})
                    await cursor.execute(_CANDIDATES.text, values, binary=True)
                await soul.execute(_SQL["soul_blocks"], _address(plan.persona, plan))
                await models.execute(_SQL["models_of"], _space_ids(plan))
            candidates: list[Candidate] = []
            below_floor: list[PublicId] = []
            for space, cursor in zip(plan.spaces, cursors, strict=True):
                space_id = space.space_id
                rows = await cursor.fetchall()
                candidates += [_candidate(row, space.name, space_id) for row in rows if not row.below_floor]
                below_floor += [PublicId(row.id, space_id, _TIERS[row.tier][1]) for row in rows if row.below_floor]
            blocks = [block_from(row, plan.persona.space_id) for row in await soul.fetchall()]
            model_of = dict(await models.fetchall())
        names = {space.name: model_of[space.space_id] for space in plan.spaces if space.space_id in model_of}
        deaf = plan.query and is_deaf(asked, names.values())
        return Retrieved(
            candidates=tuple(candidates),
            soul=tuple(blocks),
            degraded=("dense",) if deaf else (),
            below_floor=tuple(below_floor),
            models=names,
        )


def is_deaf(asked: Sequence[Asked], served_by: Iterable[int]) -> bool:
    """Whether some space could not be searched by its model's vectors, or none could at all."""
    heard = {a.model_id for a in asked if a.vector is not None}
    return not heard or not heard.issuperset(served_by)


def question_parameters(asked: Sequence[Asked]) -> dict[str, Any]:
    """The question as each model hears it, as parallel arrays."""
    return {
        "model_ids": [a.model_id for a in asked],
        "vectors": [None if a.vector is None else Vector(a.vector) for a in asked],
        "cosine_offsets": [a.calibration.cosine_offset for a in asked],
        "keyword_weights": [a.calibration.keyword_weight for a in asked],
        "bm25_scales": [a.calibration.bm25_scale for a in asked],
        "keyword_powers": [a.calibration.keyword_power for a in asked],
    }


def _parameters(plan: QueryPlan, asked: Sequence[Asked]) -> dict[str, Any]:
    terms = _terms(plan)
    return {
        "terms": terms.terms,
        "term_weights": terms.term_weights,
        "words": terms.words,
        "scopes": list(plan.scopes),
        "scope_keys": [scope_key(scope) for scope in plan.scopes],
        "as_of": plan.as_of,
        "looks_back": plan.looks_back,
        "known_at": plan.known_at,
        "known_by": None if plan.known_at is None else last_uuid_of(plan.known_at),
        "asks": bool(plan.query),
        "candidate_limit": plan.candidate_limit,
        "preference_limit": _PREFERENCE_LIMIT,
        "least_evidences": [evidence_for(plan.min_relevance, a.calibration) - _ROUNDING for a in asked],
    }


def _space_ids(plan: QueryPlan) -> dict[str, Any]:
    return {"tenant_id": plan.persona.tenant_id, "space_ids": [space.space_id for space in plan.spaces]}


def _terms(plan: QueryPlan) -> _Terms:
    return _Terms([term_hash(t.term) for t in plan.terms], [t.weight for t in plan.terms], [t.word for t in plan.terms])


def _address(space: SpaceKey, plan: QueryPlan) -> dict[str, Any]:
    pinned = [entry_id.uuid for entry_id in plan.pinned if entry_id.space_id == space.space_id]
    return {"tenant_id": space.tenant_id, "space_id": space.space_id, "pinned": pinned}


def _candidate(row: _Row, space: str, space_id: UUID) -> Candidate:
    tier, kind = _TIERS[row.tier]
    return Candidate(
        id=PublicId(row.id, space_id, kind),
        version=row.version,
        sequence=row.sequence,
        space=space,
        tier=tier,
        text=row.text,
        scope=row.scope,
        recorded_at=row.recorded_at,
        last_confirmed_at=row.last_confirmed_at,
        category=None if row.category is None else _CATEGORIES[row.category],
        tags=tuple(row.tags),
        claim=_claim(row),
        importance=row.importance,
        confidence=row.confidence,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        occurred_at=row.occurred_at,
        trigger=row.trigger,
        uses=row.uses or 0,
        unresolved=row.unresolved,
        cosine_similarity=row.cosine_similarity,
        bm25_score=row.bm25_score,
        coverage=row.coverage,
        vector=None if row.vector is None else row.vector.to_numpy().tobytes(),
        outline=row.outline,
        is_preference=row.is_preference,
        superseded=_ids(row.superseded, space_id, kind),
        outdated_by=None if row.outdated_by is None else PublicId(row.outdated_by, space_id, kind),
        session=row.session,
        author=row.author,
    )


def _claim(row: _Row) -> Claim | None:
    if row.claim_subject is None:
        return None
    return Claim(row.claim_subject, row.claim_attribute, row.claim_value, Cardinality(row.claim_cardinality))


def _ids(uuids: Sequence[UUID], space_id: UUID, kind: IdKind) -> tuple[PublicId, ...]:
    return tuple(PublicId(uuid, space_id, kind) for uuid in uuids)
