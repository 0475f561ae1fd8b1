"""The server of the SDK with our tools, and its two transports."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx
import structlog
from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import ToolAnnotations
from starlette.types import ASGIApp, Receive, Scope, Send

from app.mcp_server.calls import Door
from app.mcp_server.tools import READING, TOOLS, forget, profile, soul

PATH = "/mcp"

INSTRUCTIONS = """\
Ricordo is your memory of people. Before you answer a message, call assemble_context with it. Use recall for one thing
that you need to know, search_conversations for what was said earlier, remember for lasting
facts, and correct when the person says that something is remembered wrongly. What a person
says now outranks every memory; a memory can be out of date. Never claim to remember what no tool told you.
"""

_BODY_BYTES = 1 << 20
_TIMEOUT_S = 30.0


def build_server(door: Door, version: str) -> MCPServer[Door]:
    """A server that reaches the API through a door."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Door]) -> AsyncIterator[Door]:
        yield door

    server = MCPServer(
        "ricordo", title="Ricordo", instructions=INSTRUCTIONS, version=version, log_level="WARNING", lifespan=lifespan
    )
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it would quote arguments, and people's texts with them
    for tool in TOOLS:
        reads = tool in READING
        hints = ToolAnnotations(read_only_hint=reads, destructive_hint=tool is forget, open_world_hint=False)
        server.add_tool(tool, annotations=hints, structured_output=False)
    server.resource("ricordo://profile/{space}", name="profile", mime_type="text/markdown")(profile)
    server.resource("ricordo://soul/{space}", name="soul", mime_type="text/markdown")(soul)
    return server


class HttpDoor:
    """Streamable HTTP as an ASGI application: every request stands for itself, so that any process can answer it."""

    def __init__(self, service: Callable[[], ASGIApp], base_path: str, version: str) -> None:
        """Nothing runs before `running`.

        Args:
            service: The application whose API is called, in this process.
        """
        self._service = service
        self._base_path = base_path
        self._version = version
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests until the end of the block; may be entered again afterwards."""
        server = build_server(Door(self._open_api), self._version)
        self._manager = StreamableHTTPSessionManager(
            server._lowlevel_server,  # noqa: SLF001 - the SDK has no other way to one's own routing
            json_response=True,
            stateless=True,
            max_request_body_size=_BODY_BYTES,
        )
        try:
            async with self._manager.run():
                yield
        finally:
            self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; its key was looked at before."""
        if self._manager is None:
            raise RuntimeError("the MCP server does not run")
        await self._manager.handle_request(scope, receive, send)

    def _open_api(self, headers: Mapping[str, str]) -> httpx.AsyncClient:
        own = {"Authorization": headers.get("authorization", "")}
        request_id = structlog.contextvars.get_contextvars().get("request")
        if request_id is not None:
            own["X-Request-Id"] = request_id
        transport = httpx.ASGITransport(app=self._service(), raise_app_exceptions=False)
        return httpx.AsyncClient(
            transport=transport, base_url=f"http://service{self._base_path}", headers=own, trust_env=False
        )


async def serve_stdio(url: str, key: str, space: str | None, version: str) -> None:
    """Serve a model over standard input and output, from a service that runs elsewhere."""
    headers = {"Authorization": f"Bearer {key}"}

    def open_api(_: Mapping[str, str]) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=_TIMEOUT_S)

    await build_server(Door(open_api, space), version).run_stdio_async()
