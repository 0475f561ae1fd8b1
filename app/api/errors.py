"""Every error as one RFC 9457 problem document: the one table of statuses."""

from collections.abc import Sequence

import structlog
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from app.domain.errors import (
    ConflictError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    RicordoError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UpstreamError,
)
from app.schemas.problems import FieldError, Problem, field_errors

_log = structlog.get_logger()

STATUS: dict[type[RicordoError], int] = {
    InvalidInputError: 422,
    UnauthenticatedError: 401,
    ForbiddenError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    IdempotencyConflictError: 409,
    PreconditionFailedError: 412,
    TooLargeError: 413,
    UnavailableError: 503,
    UpstreamError: 502,
}

_HEADERS = {401: {"WWW-Authenticate": 'Bearer realm="ricordo"'}, 503: {"Retry-After": "1"}}

_HTTP_CODES = {404: "not-found", 405: "method-not-allowed"}


def problem_response(
    status: int, code: str, title: str, detail: str, errors: Sequence[FieldError] = ()
) -> JSONResponse:
    """One problem document."""
    problem = Problem.model_validate(
        {"type": f"urn:ricordo:problem:{code}", "title": title, "status": status, "detail": detail, "errors": errors}
    )
    content = problem.model_dump(exclude=None if errors else {"errors"})
    return JSONResponse(content, status, headers=_HEADERS.get(status), media_type="application/problem+json")


def ricordo_problem(error: RicordoError) -> JSONResponse:
    """The problem document of an error of our own."""
    fields = [FieldError(field=p.field, message=p.message) for p in getattr(error, "problems", ())]
    title = (type(error).__doc__ or "").strip().rstrip(".")
    return problem_response(STATUS[type(error)], error.code, title, str(error), fields)


async def on_ricordo_error(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of our own."""
    del request
    assert isinstance(error, RicordoError)  # noqa: S101 - registered for this type
    return ricordo_problem(error)


async def on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that does not fit its wire model: name each field and what is wrong with it."""
    del request
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type
    found = error.errors()
    if any(e["type"] == "json_invalid" for e in found):
        return problem_response(400, "malformed-json", "The body is not JSON", "The body is not valid JSON.")
    fields = field_errors(found, skip=1)
    detail = "; ".join(f"{f.field}: {f.message}" for f in fields[:5])
    return problem_response(422, "invalid-input", "The request breaks a rule of the API", detail, fields)


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Answer what the framework refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type
    code = _HTTP_CODES.get(error.status_code, "invalid-input")
    response = problem_response(error.status_code, code, "The request cannot be answered", str(error.detail))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(_allowed(request))
    return response


def _allowed(request: Request) -> list[str]:
    """The methods of all routes of a path, one that is spelt out before one with an id in it.

    The framework names those of the first route alone.
    """
    path = request.scope["path"]
    routes = [route for route in iter_route_contexts(request.app.routes) if route.path_regex.match(path)]
    spelt_out = [route for route in routes if route.path == path]
    return sorted({method for route in spelt_out or routes for method in route.methods or ()})


def crash_response(error: Exception) -> JSONResponse:
    """Answer what nobody foresaw: log it, tell nothing of the inside."""
    _log.error("request failed", exc_info=error)
    return problem_response(500, "internal", "Something failed inside", "The error was logged.")
