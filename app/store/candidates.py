"""Candidates from what is stored of an entry and what search saw of it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
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
    """What search saw of an entry: the last fields of Candidate but for `outdated_by`, in their order."""

    cosine_similarity: float | None
    bm25_score: float | None
    coverage: float | None
    is_preference: bool
    is_standing: bool
    vector: NDArray[np.floating] | None


_ENTRY_FIELDS = attrgetter(*[field.name for field in fields(Candidate)][: -len(Seen._fields) - 2])
"""Of the entry, but for `uses`."""


@dataclass(slots=True)
class Template:
    """What the candidates of an entry share, for many requests: the first fields of Candidate, in their order.

    `uses` alone changes.
    """

    stored: Stored
    kind: IdKind
    space_id: UUID
    shared: tuple[Any, ...]
    uses: int

    def candidate(self, *seen: Any, outdated_by: UUID | None = None) -> Candidate:
        """The candidate of one request.

        Args:
            seen: The fields of Seen.
        """
        newer = None if outdated_by is None else PublicId(outdated_by, self.space_id, self.kind)
        return Candidate(*self.shared, self.uses, *seen, newer)  # type: ignore[call-arg]  # as many as there are


def template(stored: Stored, space: str, space_id: UUID) -> Template:
    """What every candidate of an entry has."""
    tier, kind = TIERS[stored.tier]
    one = Candidate(
        id=PublicId(stored.id, space_id, kind),
        version=stored.version,
        sequence=stored.sequence,
        space=space,
        tier=tier,
        text=stored.text,
        scope=stored.scope,
        recorded_at=stored.recorded_at,
        last_confirmed_at=stored.last_confirmed_at,
        category=None if stored.category is None else _CATEGORIES[stored.category],
        tags=tuple(stored.tags),
        claim=_claim(stored),
        importance=stored.importance,
        confidence=stored.confidence,
        valid_from=stored.valid_from,
        valid_to=stored.valid_to,
        occurred_at=stored.occurred_at,
        trigger=stored.trigger,
        unresolved=stored.unresolved,
        outline=stored.outline,
        superseded=_ids(stored.superseded, space_id, kind) if stored.superseded else (),
        session=stored.session,
        author=stored.author,
    )
    return Template(stored, kind, space_id, _ENTRY_FIELDS(one), stored.uses)


def _claim(stored: Stored) -> Claim | None:
    if stored.claim_subject is None:
        return None
    return Claim(
        stored.claim_subject, stored.claim_attribute, stored.claim_value, Cardinality(stored.claim_cardinality)
    )


def _ids(uuids: Sequence[UUID], space_id: UUID, kind: IdKind) -> tuple[PublicId, ...]:
    return tuple(PublicId(uuid, space_id, kind) for uuid in uuids)
