"""The model server behind the proxy: asked with the caller's own key, answers passed on as they come."""

from collections.abc import Iterable
from dataclasses import dataclass

import httpx

from app.domain.errors import UpstreamError

CONNECT_SECONDS = 10.0
READ_SECONDS = 600.0
"""A model may think this long before the next word."""

_NOT_PASSED_ON = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers of one connection alone (RFC 9110, 7.6.1)."""

_OURS = frozenset({"host", "content-length", "accept-encoding", "cookie", "x-request-id"})


def open_upstream_client() -> httpx.AsyncClient:
    """A client for it, which keeps connections and no cookies."""
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
    return httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)


@dataclass(frozen=True, slots=True)
class Upstream:
    """An OpenAI-compatible server."""

    client: httpx.AsyncClient
    url: str

    async def ask(self, content: bytes, headers: Iterable[tuple[str, str]]) -> httpx.Response:
        """Its answer, whose body is still to be read and closed. Plain bytes are asked for, so that they can be heard.

        Raises:
            UpstreamError: If it does not answer.
        """
        passed = [(name, value) for name, value in headers if _is_passed_on(name)]
        request = self.client.build_request(
            "POST", self.url, content=content, headers=[*passed, ("accept-encoding", "identity")]
        )
        try:
            return await self.client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise UpstreamError(f"the model server does not answer ({type(error).__name__})") from error

    @staticmethod
    def headers(answer: httpx.Response) -> dict[str, str]:
        """Those of an answer that are passed on."""
        return {name: value for name, value in answer.headers.items() if name.lower() not in _NOT_PASSED_ON}


def _is_passed_on(name: str) -> bool:
    lower = name.lower()
    return not (lower in _NOT_PASSED_ON or lower in _OURS or lower.startswith("x-ricordo-"))
