"""The files of the inspector, under a strict content security policy."""

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

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


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    headers: Mapping[str, str]

    @classmethod
    def of(cls, path: Path) -> Self:
        content = path.read_bytes()
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        told = {"Content-Type": f"{kind}; charset=utf-8", "ETag": f'"{blake2b(content, digest_size=12).hexdigest()}"'}
        return cls(content, {**HEADERS, **told})


class _Files:
    """The files of a folder, read once: a page asks for forty, and from the disk each would take a thread its turn."""

    def __init__(self, folder: Path) -> None:
        files = {path.relative_to(folder).as_posix(): _File.of(path) for path in folder.rglob("*") if path.is_file()}
        self._files = {**files, "": files["index.html"]}

    async def answer(self, request: Request) -> Response:
        """The file that the path names."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        if found.headers["ETag"] in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=found.headers)
        return Response(found.content, headers=found.headers)


async def _to_folder(request: Request) -> Response:
    """To the same address with a slash, relative so that it holds behind a proxy that adds a prefix."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PATH[1:]}/{query}")


def inspector_routes() -> list[BaseRoute]:
    """The page and its files."""
    files = _Files(Path(__file__).with_name("static"))
    return [Route(PATH, _to_folder), Route(f"{PATH}/{{name:path}}", files.answer)]
