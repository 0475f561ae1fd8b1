"""Candidates from what is stored of an entry and what search saw of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.assembly.records import Candidate
from app.domain.entries import KIND_OF_TIER, Cardinality, Category, Claim
from app.domain.ids import IdKind, PublicId
from app.store.rows import Stored

TIERS = {tier.value: (tier, kind) for tier, kind in KIND_OF_TIER.items()}
_CATEGORIES = {category.value: category for category in Category}


class Seen(NamedTuple):
    """What search saw of an entry: the fields of Candidate that are not stored with it."""

    cosine_similarity: float | None
    bm25_score: float | None
    coverage: float | None
    is_preference: bool
    is_standing: bool
    vector: NDArray[np.floating] | None
    outdated_by: UUID | None


@dataclass(frozen=True, slots=True)
class Template:
    """The fields of a candidate that are those of its entry, and what was worked out from them: for many requests."""

    stored: Stored
    kind: IdKind
    space_id: UUID
    fields: dict[str, Any]

    def candidate(self, seen: Seen) -> Candidate:
        """The candidate of one request."""
        outdated_by = seen.outdated_by
        return Candidate(
            **self.fields,
            cosine_similarity=seen.cosine_similarity,
            bm25_score=seen.bm25_score,
            coverage=seen.coverage,
            is_preference=seen.is_preference,
            is_standing=seen.is_standing,
            vector=seen.vector,
            outdated_by=None if outdated_by is None else PublicId(outdated_by, self.space_id, self.kind),
        )


def template(stored: Stored, space: str, space_id: UUID) -> Template:
    """What every candidate of an entry has."""
    tier, kind = TIERS[stored.tier]
    fields = {
        "id": PublicId(stored.id, space_id, kind),
        "version": stored.version,
        "sequence": stored.sequence,
        "space": space,
        "tier": tier,
        "text": stored.text,
        "scope": stored.scope,
        "recorded_at": stored.recorded_at,
        "last_confirmed_at": stored.last_confirmed_at,
        "category": None if stored.category is None else _CATEGORIES[stored.category],
        "tags": tuple(stored.tags),
        "claim": _claim(stored),
        "importance": stored.importance,
        "confidence": stored.confidence,
        "valid_from": stored.valid_from,
        "valid_to": stored.valid_to,
        "occurred_at": stored.occurred_at,
        "trigger": stored.trigger,
        "unresolved": stored.unresolved,
        "outline": stored.outline,
        "session": stored.session,
        "author": stored.author,
        "uses": stored.uses,
        "superseded": _ids(stored.superseded, space_id, kind) if stored.superseded else (),
        "memo": {},
    }
    return Template(stored, kind, space_id, fields)


def _claim(stored: Stored) -> Claim | None:
    if stored.claim_subject is None:
        return None
    return Claim(
        stored.claim_subject, stored.claim_attribute, stored.claim_value, Cardinality(stored.claim_cardinality)
    )


def _ids(uuids: Sequence[UUID], space_id: UUID, kind: IdKind) -> tuple[PublicId, ...]:
    return tuple(PublicId(uuid, space_id, kind) for uuid in uuids)
