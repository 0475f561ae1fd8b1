"""The API page: what FastAPI derives from the routes, and the problems that each may answer with."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI

from app.schemas.problems import Problem

VERSION = "0.1.0"
"""Of the service; every answer carries it as `Ricordo-Version`."""

TAGS = [
    {"name": "context", "description": "The main call: the system prompt for one turn."},
    {"name": "turns", "description": "What was said: stored at once, worked on in the background."},
    {"name": "sessions", "description": "Conversations of a platform, and what was said in them lately."},
    {"name": "history", "description": "Past messages: browsed, searched, edited, taken back."},
    {"name": "memories", "description": "Facts about somebody."},
    {"name": "episodes", "description": "What happened."},
    {"name": "procedures", "description": "How to do something, and when it applies."},
    {"name": "soul", "description": "The named pieces of an agent's identity, in every prompt of its space."},
    {"name": "search", "description": "Hybrid search over the three tiers."},
    {"name": "corrections", "description": "What was put right, what it replaced, and what to ask."},
    {"name": "forgetting", "description": "Erasing for good, and the receipts of it."},
    {"name": "assemblies", "description": "What was put into a prompt, and why; kept for some days."},
    {"name": "spaces", "description": "The isolated containers of a tenant's memory."},
    {"name": "tokens", "description": "Keys of one space that expire soon."},
    {"name": "jobs", "description": "The work on what was said, and what became of it."},
    {"name": "health", "description": "For load balancers and operators; no key needed."},
]

DESCRIPTION = """\
Send a key as `Authorization: Bearer rk_…`. Every error is a problem document (RFC 9457) with one of a closed list of
types. Repeating a write with the same `Idempotency-Key` does it once; `If-Match` takes the `ETag` of the version that
is to be changed. Lists answer `{"items", "next_cursor"}`: send `next_cursor` as `cursor` for the next page. Times are
UTC with microseconds; a time without a zone is refused, and so is a field or parameter that is not known.
"""

_PROBLEMS = {
    400: "The body is not JSON.",
    401: "No key, or one that is unknown, revoked or expired.",
    403: "The key may not do this, or does not reach the space.",
    404: "No such item in this tenant, or none that the key reaches.",
    409: "The request does not fit the present state, or its Idempotency-Key was used for another one.",
    412: "If-Match names a version that is not the current one.",
    413: "The body is too large.",
    422: "The request breaks a rule of the API; `errors` names the fields.",
    503: "The database does not answer.",
}


class Api(FastAPI):
    """An application whose API page tells of problems and of the key."""

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
        if self.openapi_schema is None:
            _add_problems(super().openapi())
        assert self.openapi_schema is not None  # noqa: S101 - FastAPI keeps what it made
        return self.openapi_schema


def _add_problems(document: dict[str, Any]) -> None:
    components = document["components"]
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"] |= {**schema.pop("$defs"), "Problem": schema}
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    components["responses"] = {
        _name(status): {"description": text, "content": content} for status, text in _PROBLEMS.items()
    }
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            if path.startswith("/api/"):
                references = {
                    str(status): {"$ref": f"#/components/responses/{_name(status)}"} for status in _statuses(operation)
                }
                operation["responses"] |= references


def _statuses(operation: dict[str, Any]) -> Iterator[int]:
    """The problems that an operation may answer with."""
    yield from (401, 403, 404, 422, 503)
    if "requestBody" in operation:
        yield from (400, 413)
    headers = {parameter["name"].casefold() for parameter in operation.get("parameters", ())}
    if "idempotency-key" in headers:
        yield 409
    if "if-match" in headers:
        yield 412


def _name(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "")
