"""How an item and a page are answered: JSON, ETag, Location, cursor."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson
from fastapi import Response

from app.schemas.common import cursor_of

_T = TypeVar("_T")


def json_response(content: Any, status: int = 200) -> Response:
    """A JSON document."""
    return Response(orjson.dumps(content), status, media_type="application/json")


def versioned_response(content: Any, version: int, *, location: str | None = None) -> Response:
    """One version of an item, with its ETag; 201 when it is new and lives at `location`."""
    response = json_response(content, 200 if location is None else 201)
    response.headers["ETag"] = f'"{version}"'
    if location is not None:
        response.headers["Location"] = location
    return response


def page_response(
    found: Sequence[_T], limit: int, to_json: Callable[[_T], Any], position: Callable[[_T], object]
) -> Response:
    """A page of a list.

    Args:
        found: The items of the page, and one more if there are others behind it.
        position: Where an item stands in the list: what the next page continues from.
    """
    items = found[:limit]
    more = len(found) > limit
    return json_response(
        {"items": [to_json(item) for item in items], "next_cursor": cursor_of(position(items[-1])) if more else None}
    )
