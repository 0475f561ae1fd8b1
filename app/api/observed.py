"""What every answer carries, whoever gives it: the version of the service."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.openapi import VERSION

_VERSION = (b"ricordo-version", VERSION.encode())


class Observed:
    """ASGI middleware around all others."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and add what every answer carries."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), _VERSION]
            await send(message)

        await self._app(scope, receive, marked)
