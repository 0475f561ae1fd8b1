"""Replies that the three tiers share."""

from typing import Any

import orjson
from fastapi import Response

from app.domain.entries import Entry
from app.entries.service import Effect
from app.schemas.entries import entry_json


def entry_response(entry: Entry) -> Response:
    """One version, with its ETag."""
    return _response(entry_json(entry), entry, 200)


def effect_response(effect: Effect, status: int = 200) -> Response:
    """A version that was written, with what the write did to others."""
    return _response(effect_json(effect), effect.entry, status)


def created(effect: Effect) -> Response:
    """A new entry, with where it lives."""
    response = effect_response(effect, 201)
    response.headers["Location"] = f"/api/v1/{effect.entry.tier}/{effect.entry.id}"
    return response


def effect_json(effect: Effect) -> dict[str, Any]:
    """A version that was written, and the entries that it superseded or contradicts."""
    return {
        **entry_json(effect.entry),
        "superseded": [str(i) for i in effect.written.superseded],
        "unresolved_with": [str(i) for i in effect.written.unresolved_with],
    }


def _response(content: dict[str, Any], entry: Entry, status: int) -> Response:
    headers = {"ETag": f'"{entry.version}"'}
    return Response(orjson.dumps(content), status, headers=headers, media_type="application/json")
