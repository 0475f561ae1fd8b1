"""The files of the inspector, under a strict content security policy."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

PATH = "/inspector"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Asked again each time, answered with 304: no page of one version with a script of another.
    "Cache-Control": "no-cache",
}
"""Of every file: no script or style but the page's own, no other host, no markup from text, no frame around it."""


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


async def _to_folder(request: Request) -> Response:
    """To the same address with a slash, relative so that it holds behind a proxy that adds a prefix."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PATH[1:]}/{query}")


def inspector_routes() -> list[BaseRoute]:
    """The page and its files."""
    files = _Files(directory=Path(__file__).with_name("static"), html=True)
    return [Route(PATH, _to_folder), Mount(PATH, files, name="inspector")]
