"""Entries to consolidate, built from what a test cares about."""

from datetime import timedelta
from uuid import UUID

import numpy as np

from app.consolidation.records import Item
from app.contradictions.claims import derive_claim
from app.contradictions.detect import SimilarityBand
from app.domain.entries import KIND_OF_TIER, Content, Entry, Status, Tier
from app.domain.ids import PublicId
from tests.builders import NOW, SPACE

BAND = SimilarityBand(0.35, 0.92)
SOME = object()


def vector_of(number):
    """A unit vector whose cosine with that of every other number is .7: inside the band."""
    vector = np.zeros(1_000, np.float32)
    vector[0], vector[number] = np.sqrt(0.7), np.sqrt(0.3)
    return vector


def item(number, text, *, days=0.0, tier=Tier.MEMORIES, reason="created", vector=SOME, unresolved=False, **content):
    """A live entry; `days` is how long ago it was said."""
    claim = content.pop("claim", derive_claim(text) if tier is Tier.MEMORIES else None)
    moment = NOW - timedelta(days=days)
    entry = Entry(
        id=PublicId(UUID(int=number), SPACE.space_id, KIND_OF_TIER[tier]),
        version=1,
        text_version=1,
        sequence=number,
        tier=tier,
        space=SPACE.name,
        content=Content(text=text, claim=claim, claim_derived=claim is not None, **content),
        status=Status.ACTIVE,
        recorded_at=moment,
        first_recorded_at=moment,
        last_confirmed_at=moment,
        unresolved=unresolved,
        reason=reason,
    )
    return Item(entry, vector_of(number) if vector is SOME else vector)
