"""Asks for a key before anything else is looked at: unknown paths and bodies that are no JSON included."""

import asyncio

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.errors import ricordo_problem
from app.domain.callers import Caller
from app.domain.errors import RicordoError, UnauthenticatedError, UnavailableError
from app.runtime import Runtime

OPEN_PATHS = ("/health", "/metrics", "/docs", "/openapi.json", "/inspector")
"""What answers without a key."""

PROXY_PATH = "/v1"
"""Below it the key comes in a header of its own: `Authorization` holds the model server's."""

_KEY_SECONDS = 5.0
"""A request waits this long for the database to know the key."""

_PROXY_SECONDS = 1.0
"""A chat waits this long for the database to know the key; then it goes on without memory."""


class Authentication:
    """ASGI middleware that answers 401, or leaves the caller in `request.state.caller`."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look the key up."""
        if scope["type"] != "http" or _is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            find = _proxy_caller if scope["path"].startswith(f"{PROXY_PATH}/") else _caller
            request.state.caller = await find(request, scope["app"].state.runtime)
        except RicordoError as error:
            await ricordo_problem(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_open(path: str) -> bool:
    return any(path == open_path or path.startswith(f"{open_path}/") for open_path in OPEN_PATHS)


async def _caller(request: Request, runtime: Runtime) -> Caller:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.casefold() != "bearer" or not key.strip():
        raise UnauthenticatedError("send the header Authorization: Bearer <key>")
    try:
        async with asyncio.timeout(_KEY_SECONDS):
            return await runtime.keys.authenticate(key.strip())
    except TimeoutError as error:
        raise UnavailableError("the database does not answer") from error


async def _proxy_caller(request: Request, runtime: Runtime) -> Caller | None:
    """The caller; None while the database does not answer: the chat goes on, and nothing is read or written for it."""
    key = request.headers.get("x-ricordo-key", "").strip()
    if not key:
        raise UnauthenticatedError("send the header X-Ricordo-Key: <key>")
    try:
        return await asyncio.wait_for(runtime.keys.authenticate(key), _PROXY_SECONDS)
    except (UnavailableError, TimeoutError):
        return None
