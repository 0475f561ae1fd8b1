"""An application behind a real server on the loopback, and a Redis."""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn


@asynccontextmanager
async def served(app) -> AsyncIterator[str]:
    """The URL of an application that runs until the end of the block, in this event loop."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event for this
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """The URL of a Redis of its own, from Debian's package redis-server."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    binary = shutil.which("redis-server")
    assert binary is not None
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        for line in server.stdout or ():
            if "Ready to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}/0"
        server.terminate()
