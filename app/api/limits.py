"""Refuses bodies that are too large before they are read."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import problem_response

BODY_BYTES = 32 * 1024 * 1024
"""A batch of 500 entries with the longest texts in a script of three bytes a character."""


class BodyLimit:
    """ASGI middleware that answers 413 when a body has more than BODY_BYTES."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes as they come."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > BODY_BYTES:
            await _too_large()(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > BODY_BYTES:
                raise BodyTooLargeError
            return message

        try:
            await self._app(scope, counted, send)
        except BodyTooLargeError:
            await _too_large()(scope, receive, send)


class BodyTooLargeError(Exception):
    """More bytes came than BODY_BYTES."""


def _too_large() -> ASGIApp:
    detail = f"The body must have at most {BODY_BYTES} bytes; send a batch in parts."
    return problem_response(413, "too-large", "The request is larger than the service accepts", detail)
