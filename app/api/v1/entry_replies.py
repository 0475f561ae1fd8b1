"""What the three tiers share: replies, and the creation of a batch."""

from collections.abc import Sequence
from typing import Any

from fastapi import Response

from app.api.replies import json_response, page_response, versioned_response
from app.domain.entries import Entry, Tier
from app.entries.service import Effect, Erased
from app.schemas.common import VersionsQuery
from app.schemas.entries import EntryQuery, EpisodeFields, MemoryFields, ProcedureFields, Rejected, entry_json

Fields = MemoryFields | EpisodeFields | ProcedureFields


def entry_response(entry: Entry) -> Response:
    """One version, with its ETag."""
    return versioned_response(entry_json(entry), entry.version)


def effect_response(effect: Effect) -> Response:
    """A version that was written, with what the write did to others."""
    return versioned_response(effect_json(effect), effect.entry.version)


def created_response(effect: Effect) -> Response:
    """A new entry, with where it lives; 200 for one that was known already."""
    if effect.written.reinforced:
        return effect_response(effect)
    entry = effect.entry
    return versioned_response(effect_json(effect), entry.version, location=f"/api/v1/{entry.tier}/{entry.id}")


def erased_response(erased: Erased) -> Response:
    """What a deletion removed."""
    return json_response({"id": str(erased.id), "removed": dict(erased.removed)})


def entries_response(found: Sequence[Entry], query: EntryQuery) -> Response:
    """A page of entries."""
    return page_response(found, query.limit, entry_json, lambda entry: entry.id.uuid)


def versions_response(found: Sequence[Entry], query: VersionsQuery) -> Response:
    """A page of versions."""
    return page_response(found, query.limit, entry_json, lambda entry: entry.version)


def batch_response(read: Sequence[Fields | Rejected], effects: Sequence[Effect]) -> Response:
    """What became of every entry of a batch; `effects` are those of the entries that could be read."""
    written = iter(effects)
    items = [
        _batch_item(index, entry if isinstance(entry, Rejected) else next(written)) for index, entry in enumerate(read)
    ]
    return json_response({"items": items}, 207)


def _batch_item(index: int, outcome: Effect | Rejected) -> dict[str, Any]:
    if isinstance(outcome, Rejected):
        return {"index": index, "status": 422, "errors": [error.model_dump() for error in outcome.errors]}
    return {"index": index, "status": 200 if outcome.written.reinforced else 201, "entry": effect_json(outcome)}


def effect_json(effect: Effect) -> dict[str, Any]:
    """A version that was written, and the entries that it superseded or contradicts."""
    return {
        **entry_json(effect.entry),
        "superseded": [str(i) for i in effect.written.superseded],
        "unresolved_with": [str(i) for i in effect.written.unresolved_with],
        **({"reinforced": effect.written.reinforced} if effect.entry.tier is Tier.MEMORIES else {}),
    }
