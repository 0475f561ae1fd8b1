"""What happens around every answer, whoever gives it: its version and id, a line in the log, a count and a span.

What nobody foresaw ends here too, so that nothing outside logs it with its message, which may quote a text.
"""

import asyncio
import re
import time

import structlog
from fastapi.routing import iter_route_contexts
from opentelemetry.trace import Span
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import crash_response
from app.api.openapi import VERSION
from app.runtime import Runtime, new_uuid

_log = structlog.get_logger()

_VERSION = (b"ricordo-version", VERSION.encode())
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SILENT = ("/health", "/metrics", "/inspector")
"""Asked every few seconds by machines, or files of a page: counted, not logged."""

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
        status = 0

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = (_VERSION, (b"x-request-id", request_id.encode()))
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        runtime: Runtime = scope["app"].state.runtime
        with runtime.traces.request(scope["method"], Headers(scope=scope)) as span:
            try:
                await self._app(scope, receive, marked)
                await asyncio.sleep(0)  # the answer leaves before it is noted: uvloop writes when a callback ends
            except Exception as error:  # noqa: BLE001 - the HTTP boundary
                failure = crash_response(error)
                if status:
                    raise BrokenOffError from None
                await failure(scope, receive, marked)
            finally:
                self._note(scope, status, time.perf_counter() - started, span)
                structlog.contextvars.clear_contextvars()
                structlog.contextvars.bind_contextvars(**around)

    def _note(self, scope: Scope, status: int, seconds: float, span: Span) -> None:
        runtime: Runtime = scope["app"].state.runtime
        route = self._route(scope)
        runtime.metrics.answered(scope["method"], route, status, seconds)
        if span.is_recording():
            span.update_name(f"{scope['method']} {route}")
            ids = {f"ricordo.{name}": str(value) for name, value in structlog.contextvars.get_contextvars().items()}
            span.set_attributes({"http.route": route, "http.response.status_code": status, **ids})
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


class BrokenOffError(Exception):
    """An answer failed after it began: the connection is all that can be ended."""


def _request_id(scope: Scope) -> str:
    """The caller's id of the request if it is a plain one, else a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given.decode() if _GIVEN_ID.fullmatch(given) else new_uuid().hex
