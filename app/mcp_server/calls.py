"""How a tool calls the API, and what it tells a model when it is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

OpenApi = Callable[[Mapping[str, str]], httpx.AsyncClient]
"""A client of the API for one call, given the headers of the MCP request; none of them over stdio."""

SPACE_HEADER = "x-ricordo-space"


@dataclass(frozen=True, slots=True)
class Door:
    """What tools reach the API through.

    Attributes:
        space: Whose memory it is when a tool does not name a space; None: the request's header, or nobody's.
    """

    open_api: OpenApi
    space: str | None = None


Asking = Context[Door, Any]
"""What the SDK hands to a tool."""


def space_of(context: Asking, given: str | None) -> str:
    """The space that a tool works on: the one it names, or the connection's.

    Raises:
        ToolError: If there is none.
    """
    found = given or _headers(context).get(SPACE_HEADER) or context.request_context.lifespan_context.space
    if found is None:
        raise ToolError("invalid-input: space: name the space, such as user:42; this connection has none of its own")
    return found


async def call(context: Asking, method: str, path: str, **what: Any) -> dict[str, Any]:
    """Call the API with the caller's key.

    Raises:
        ToolError: If it refuses or does not answer; the type of the problem and its detail, for a model to read.
    """
    try:
        async with context.request_context.lifespan_context.open_api(_headers(context)) as api:
            reply = await api.request(method, path, **what)
    except httpx.HTTPError as error:
        raise ToolError(f"unavailable: the service does not answer ({type(error).__name__})") from None
    try:
        content: dict[str, Any] = reply.json()
    except ValueError:
        raise ToolError(f"unavailable: the service answers with the status {reply.status_code}") from None
    if reply.is_success:
        return content
    code = str(content.get("type", "")).rpartition(":")[2]
    raise ToolError(f"{code}: {content.get('detail', '')}")


def _headers(context: Asking) -> Mapping[str, str]:
    return context.headers or {}
