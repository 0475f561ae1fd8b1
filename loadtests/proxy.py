"""A relay before a database that can stop answering: some questions only, or altogether."""

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Final

import psycopg

_CHUNK: Final = 1 << 16


class Fault(Enum):
    """What becomes of a connection that asks the wrong question."""

    HANGS = "hangs"
    DIES = "dies"


@dataclass(slots=True)
class Relay:
    """Passes everything on, but what a fault is set for.

    Attributes:
        url: Where it listens, for the user and database of the server behind it.
        struck: How many connections met the fault.
    """

    url: str = ""
    struck: int = 0
    _fault: Fault | None = None
    _markers: tuple[bytes, ...] = ()

    def break_at(self, fault: Fault, *markers: bytes) -> None:
        """From now on, a connection on which one of these is sent hangs or dies. Without any, every connection does."""
        self._fault, self._markers = fault, markers or (b"",)

    def mend(self) -> None:
        """Pass everything on again. What hangs goes on hanging: nobody ever answers it."""
        self._fault = None

    async def questions(self, source: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        """From the service to the server, up to the question that is never answered."""
        while data := await source.read(_CHUNK):
            if self._fault is not None and any(marker in data for marker in self._markers):
                self.struck += 1
                if self._fault is Fault.DIES:
                    return
                while await source.read(_CHUNK):
                    pass
                return
            server.write(data)
            await server.drain()


async def _answers(server: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await server.read(_CHUNK):
        target.write(data)
        await target.drain()


@asynccontextmanager
async def relayed(database_url: str) -> AsyncIterator[Relay]:
    """A relay before the server of a URL, which is reached by a socket in a folder or by host and port."""
    known = psycopg.conninfo.conninfo_to_dict(database_url)
    host, port = str(known.get("host") or "localhost"), int(known.get("port") or 5432)
    relay = Relay()

    async def relay_one(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        behind = asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        answers, server = await (behind if host.startswith("/") else asyncio.open_connection(host, port))
        both = [asyncio.create_task(relay.questions(source, server)), asyncio.create_task(_answers(answers, target))]
        try:
            with suppress(asyncio.CancelledError):  # the loop ends
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            for writer in (server, target):
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()

    server = await asyncio.start_server(relay_one, "127.0.0.1", 0)
    port_here = server.sockets[0].getsockname()[1]
    overrides = {"host": "127.0.0.1", "port": port_here, "sslmode": "disable", "gssencmode": "disable"}
    relay.url = psycopg.conninfo.make_conninfo(database_url, **overrides)
    async with server:
        yield relay


@contextmanager
def relayed_beside(database_url: str) -> Iterator[Relay]:
    """The same, in a thread of its own."""
    ready: queue.SimpleQueue[tuple[Relay, asyncio.AbstractEventLoop, asyncio.Event]] = queue.SimpleQueue()

    async def relaying() -> None:
        done = asyncio.Event()
        async with relayed(database_url) as relay:
            ready.put((relay, asyncio.get_running_loop(), done))
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(relaying(),), daemon=True)
    thread.start()
    relay, loop, done = ready.get()
    try:
        yield relay
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
