"""The server of the SDK with our tools, for its two transports."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

import httpx
import structlog
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from app.mcp_server.calls import Door, RefusedError
from app.mcp_server.tools import READING, TOOLS, forget, profile, soul
from app.schemas.problems import field_errors

INSTRUCTIONS = """\
Ricordo is your memory of people. Before you answer a message, call assemble_context with it. Use recall for one thing
that you need to know, search_conversations for what was said earlier, remember for lasting
facts, and correct when the person says that something is remembered wrongly. Records are state that was set outright:
read_records shows them. What a person says now outranks records, and records outrank memories, which can be out of
date. Never claim to remember what no tool told you.
"""

_BODY_BYTES = 1 << 26
"""More than the service takes of a body, which refuses it as it does everywhere."""

_TIMEOUT_S = 30.0
_NAME_CHARS = 80
_CONTEXT = "context"
"""The argument of every tool that the SDK gives, and no model."""

_ARGUMENTS = {tool.__name__: signature(tool).parameters.keys() - {_CONTEXT} for tool in TOOLS}

_log = structlog.get_logger()


class _Server(MCPServer[Door]):
    """Tells a model what is wrong in the words of the API, where the SDK would in its own."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Door, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            RefusedError: If it does not exist, is called with other arguments, or is refused.
        """
        if name not in _ARGUMENTS:
            raise RefusedError(f"not-found: there is no tool {name[:_NAME_CHARS]}")
        unknown = sorted(arguments.keys() - _ARGUMENTS[name])
        if unknown:
            raise RefusedError(f"invalid-input: {unknown[0][:_NAME_CHARS]}: is not a known field")
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            _log.error("a tool failed", tool=name, exc_info=error.__cause__)
            raise RefusedError("internal: something failed inside; it was logged") from None
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = (f"{one.field}: {one.message}" for one in field_errors(error.__cause__.errors()))
                raise RefusedError(f"invalid-input: {'; '.join(wrong)}") from None
            raise RefusedError(str(error.__cause__ or error)) from None


def build_server(door: Door, version: str) -> MCPServer[Door]:
    """A server that reaches the API through a door."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Door]) -> AsyncIterator[Door]:
        yield door

    server = _Server(
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
