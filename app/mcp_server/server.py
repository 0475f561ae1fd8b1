"""The server of the SDK with our tools, for its two transports."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx
from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import ToolAnnotations

from app.mcp_server.calls import Door
from app.mcp_server.tools import READING, TOOLS, forget, profile, soul

INSTRUCTIONS = """\
Ricordo is your memory of people. Before you answer a message, call assemble_context with it. Use recall for one thing
that you need to know, search_conversations for what was said earlier, remember for lasting
facts, and correct when the person says that something is remembered wrongly. Records are state that was set outright:
read_records shows them. What a person says now outranks records, and records outrank memories, which can be out of
date. Never claim to remember what no tool told you.
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


def stateless(open_api: Callable[[Mapping[str, str]], httpx.AsyncClient], version: str) -> StreamableHTTPSessionManager:
    """Answers requests over HTTP once it runs, each by itself.

    Args:
        open_api: Opens the API for a request with given headers.
    """
    return StreamableHTTPSessionManager(
        build_server(Door(open_api), version)._lowlevel_server,  # noqa: SLF001 - the SDK has no other way to one's own routing
        json_response=True,
        stateless=True,
        max_request_body_size=_BODY_BYTES,
    )


async def serve_stdio(url: str, key: str, space: str | None, version: str) -> None:
    """Serve a model over standard input and output, from a service that runs elsewhere."""
    headers = {"Authorization": f"Bearer {key}"}

    def open_api(_: Mapping[str, str]) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=_TIMEOUT_S)

    await build_server(Door(open_api, space), version).run_stdio_async()
