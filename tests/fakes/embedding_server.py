"""An embedding server on the loopback that can misbehave: OpenAI's and TEI's way of asking."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import orjson

from tests.fakes.embedder import HashedEmbedder


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    fields: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return self.fields["inputs" if self.path == "/embed" else "input"]


@dataclass(frozen=True)
class Reply:
    """What goes over the wire. `cut_bytes`: the connection closes before so many last bytes are sent."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut_bytes: int = 0


Behaviour = Callable[["EmbeddingServer", Asked], Awaitable[Reply | None]]
"""Makes the reply to a request; None closes the connection without one."""


async def well(server: "EmbeddingServer", asked: Asked) -> Reply:
    """Right vectors, as hashed words; OpenAI's in reverse order, told by `index`."""
    return await embedded(server, asked)


async def embedded(
    server: "EmbeddingServer", asked: Asked, change: Callable[[list[list[float]]], Sequence[Any]] = lambda rows: rows
) -> Reply:
    """A reply of the asked form, over changed vectors."""
    rows = change((await server.model.embed_documents(asked.texts)).tolist())
    if asked.path == "/embed":
        return Reply(orjson.dumps(rows))
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return Reply(orjson.dumps({"object": "list", "data": data[::-1], "model": asked.fields["model"]}))


def changed(change: Callable[[list[list[float]]], Sequence[Any]]) -> Behaviour:
    """A reply whose vectors were changed."""

    async def behaviour(server: "EmbeddingServer", asked: Asked) -> Reply:
        return await embedded(server, asked, change)

    return behaviour


def answers(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    """The same answer to anything."""

    async def behaviour(_server: "EmbeddingServer", _asked: Asked) -> Reply:
        return Reply(body, status, headers)

    return behaviour


async def truncates(server: "EmbeddingServer", asked: Asked) -> Reply:
    """Promises more bytes than it sends."""
    reply = await embedded(server, asked)
    return Reply(reply.body, cut_bytes=len(reply.body) // 2)


async def hangs_up(_server: "EmbeddingServer", _asked: Asked) -> None:
    """Closes the connection."""


async def stalls(server: "EmbeddingServer", _asked: Asked) -> None:
    """Says nothing until the server is closed."""
    await server.closing.wait()


class EmbeddingServer:
    """Listens on a free port. Behaviours in `coming` are used up first, then `always` holds."""

    def __init__(self, dimensions: int = 64) -> None:
        self.model = HashedEmbedder(dimensions)
        self.coming: deque[Behaviour] = deque()
        self.always: Behaviour = well
        self.asked: list[Asked] = []
        self.arrived = asyncio.Event()
        self.closing = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.close()

    def url(self, path: str = "/v1/embeddings") -> str:
        """Of an endpoint."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client left
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers["content-length"]))
        asked = Asked(start.split()[1], headers, orjson.loads(body))
        self.asked.append(asked)
        self.arrived.set()
        behaviour = self.coming.popleft() if self.coming else self.always
        reply = await behaviour(self, asked)
        if reply is None:
            return False
        head = {"Content-Length": str(len(reply.body)), **reply.headers}
        text = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
        writer.write(f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}\r\n{text}\r\n".encode())
        writer.write(reply.body[: len(reply.body) - reply.cut_bytes])
        await writer.drain()
        return not reply.cut_bytes
