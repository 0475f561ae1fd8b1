"""The life of one serving process: takes the port, opens the runtime, serves until a signal comes, stops it all."""

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import typer
import uvicorn

from app.logs import configure_logging, log_failures_of
from app.main import create_app
from app.runtime import ConfigurationError, open_runtime
from app.settings import Settings

_GRACE_SECONDS = 10
"""What a request may still take once the service is asked to stop."""

_COLLECTED_AFTER = 50_000
"""Objects made and not yet freed after which the youngest are looked through for cycles."""

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - what to call instead, not where to listen

AfterStart = Callable[[str], Coroutine[Any, Any, None]]
"""Work to be done once the service answers; it is given the URL."""


async def serve(settings: Settings, after_start: AfterStart | None = None) -> None:
    """Serve until SIGINT or SIGTERM. One that comes during the start is obeyed once all can be stopped in order.

    Raises:
        ConfigurationError: If the port cannot be had.
    """
    log_failures_of(asyncio.get_running_loop())
    stopping = _stopping()
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(_listen(settings))
        with _uncollected():
            runtime = await stack.enter_async_context(open_runtime(settings))
        configure_logging(settings.log_level)
        config = uvicorn.Config(
            create_app(runtime),
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        await _run(uvicorn.Server(config), listener, stopping, after_start)


async def work(settings: Settings) -> None:
    """Work on jobs until SIGINT or SIGTERM; what is under way is finished, or given back."""
    log_failures_of(asyncio.get_running_loop())
    stopping = _stopping()
    alone = settings.model_copy(update={"worker": "embedded"})
    async with open_runtime(alone):
        typer.echo("Ricordo works on what was said. Ctrl-C stops it.")
        await stopping.wait()


def _stopping() -> asyncio.Event:
    """Set by SIGINT or SIGTERM."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stopping.set)
    return stopping


@contextmanager
def _uncollected() -> Iterator[None]:
    """Allocate without garbage collection, keep what is there out of all later ones, and let these come seldom.

    A start frees nothing, so collecting is in vain; afterwards the vocabularies and models need not be walked again.
    Requests leave hardly any cycles behind, but the spaces in memory are walked with everything else.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
        gc.set_threshold(_COLLECTED_AFTER)
    finally:
        gc.enable()


async def _run(
    server: uvicorn.Server, listener: socket.socket, stopping: asyncio.Event, after_start: AfterStart | None
) -> None:
    if stopping.is_set():
        return
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event for this
        await asyncio.sleep(0.01)
    try:
        if stopping.is_set():  # before uvicorn listened to signals itself
            server.should_exit = True
        elif server.started:
            url = _url(listener)
            typer.echo(f"Ricordo listens on {url} (API page: {url}/docs). Ctrl-C stops it.")
            if after_start is not None:
                await _unless_ended(after_start(url), serving)
    except BaseException:
        server.should_exit = True
        raise
    finally:
        await serving


async def _unless_ended(work: Coroutine[Any, Any, None], serving: asyncio.Task[None]) -> None:
    """Do some work, or drop it when serving ends first."""
    task = asyncio.create_task(work)
    await asyncio.wait({task, serving}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        task.cancel()
        await asyncio.wait({task})
    else:
        task.result()


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else starts.

    Raises:
        ConfigurationError: If it cannot be had.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise ConfigurationError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}; "
            "set RICORDO_PORT to a free port, RICORDO_HOST to an address of this machine"
        ) from error
    # Connections inherit it. Without it a reply waits 40 ms for the client's delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _url(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    host = _ANY_ADDRESS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
