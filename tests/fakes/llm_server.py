"""A chat endpoint on the loopback that can misbehave."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

GOOD = {
    "summary": "Ana told that she moved to Turin in May, and likes it there.",
    "people": ["Ana"],
    "places": ["Turin"],
    "topics": ["moving"],
    "sentiment": "positive",
}

Answer = Callable[[], Awaitable[bytes | None]]
"""The bytes that go over the wire; None closes the connection without any."""


def http(body: bytes, status: str = "200 OK") -> bytes:
    """A reply."""
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def chat(content: Any) -> bytes:
    """A reply of a chat endpoint with some content."""
    return http(orjson.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}))


@dataclass
class LlmServer:
    """What it was asked, and what it answers."""

    answer: bytes | None = field(default_factory=lambda: chat(orjson.dumps(GOOD).decode()))
    hangs: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request and answer it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(
            next(line for line in head.lower().split("\r\n") if line.startswith("content-length")).split(":")[1]
        )
        self.headers.append(head)
        self.asked.append(orjson.loads(await reader.readexactly(length)))
        if self.hangs:
            await reader.read()
        elif self.answer is not None:
            writer.write(self.answer)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def running_llm() -> AsyncIterator[LlmServer]:
    """A server that runs until the end of the block."""
    fake = LlmServer()
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield fake
    finally:
        server.close()
