"""How a tool calls the API, and what it tells a model when it is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

OpenApi = Callable[[Mapping[str, str]], httpx.AsyncClient]
"""A client of the API for one call, given the headers of the MCP request; none of them over stdio."""

SPACE_HEADER = "x-ricordo-space"


class RefusedError(ToolError, ResourceError):
    """What a model is told when a tool or a resource is refused: the type of the problem, and its detail."""


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
        RefusedError: If there is none.
    """
    found = given or _headers(context).get(SPACE_HEADER) or context.request_context.lifespan_context.space
    if found is None:
        raise RefusedError("invalid-input: space: name the space, such as user:42; this connection has none of its own")
    return found


async def call(context: Asking, method: str, path: str, **what: Any) -> dict[str, Any]:
    """Call the API with the caller's key.

    Raises:
        RefusedError: If it refuses or does not answer; the type of the problem and its detail, for a model to read.
    """
    try:
        async with context.request_context.lifespan_context.open_api(_headers(context)) as api:
            reply = await api.request(method, path, **what)
    except httpx.HTTPError as error:
        raise RefusedError(f"unavailable: the service does not answer ({type(error).__name__})") from None
    try:
        content: dict[str, Any] = reply.json()
    except ValueError:
        raise RefusedError(f"unavailable: the service answers with the status {reply.status_code}") from None
    if reply.is_success:
        return content
    code = str(content.get("type", "")).rpartition(":")[2]
    raise RefusedError(f"{code}: {content.get('detail', '')}")


def _headers(context: Asking) -> Mapping[str, str]:
    return context.headers or {}
