"""What happens around every answer, whoever gives it: its version and id, a line in the log, and a count."""

import re
import time

import structlog
from fastapi.routing import iter_route_contexts
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.openapi import VERSION
from app.runtime import Runtime, new_uuid

_log = structlog.get_logger()

_VERSION = (b"ricordo-version", VERSION.encode())
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SILENT = ("/health", "/metrics")
"""Asked every few seconds by machines: counted, not logged."""

_NO_ROUTE = "none"
"""Of requests that were refused before a route was found."""


class Observed:
    """ASGI middleware around all others. The log holds ids and the route's template, never a path or a text."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app
        self._routes: dict[object, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and see what comes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        around = structlog.contextvars.get_contextvars()  # of a request that this one is part of
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=request_id)
        status = 500

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = (_VERSION, (b"x-request-id", request_id.encode()))
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        try:
            await self._app(scope, receive, marked)
        finally:
            self._note(scope, status, time.perf_counter() - started)
            structlog.contextvars.clear_contextvars()
            structlog.contextvars.bind_contextvars(**around)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        runtime: Runtime = scope["app"].state.runtime
        route = self._route(scope)
        runtime.metrics.answered(scope["method"], route, status, seconds)
        if not scope["path"].startswith(_SILENT):
            _log.info("answered", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))

    def _route(self, scope: Scope) -> str:
        """The template of the route that answered."""
        if not self._routes:
            self._routes = {
                context.endpoint: context.path or _NO_ROUTE
                for context in iter_route_contexts(scope["app"].routes)
                if context.endpoint is not None
            }
        return self._routes.get(scope.get("endpoint"), _NO_ROUTE)


def _request_id(scope: Scope) -> str:
    """The caller's id of the request if it is a plain one, else a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given.decode() if _GIVEN_ID.fullmatch(given) else new_uuid().hex
