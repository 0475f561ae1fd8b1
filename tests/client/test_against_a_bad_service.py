"""`assemble` with a fallback answers within its deadline, whatever the service does."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ricordo_client import AsyncRicordo, DeadlineError, Ricordo, UnreachableError

DEADLINE_S = 0.4
GRACE_S = 20.0  # for a busy machine: a client without a deadline of its own would wait forever

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRicordo-Version: 0.1.0\r\nContent-Length: 9000\r\n\r\n"


async def hangs(_reader, _writer):
    await asyncio.Event().wait()


async def drips_headers(_reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-Drip: drop\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drips_a_body(_reader, writer):
    writer.write(HEAD)
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def fails(_reader, writer):
    writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops")
    await writer.drain()
    writer.close()


async def breaks_off(_reader, writer):
    writer.write(HEAD + b'{"prompt')
    await writer.drain()
    writer.close()


async def talks_nonsense(_reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>")
    await writer.drain()
    writer.close()


async def is_busy_for_long(_reader, writer):
    writer.write(b"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()
    writer.close()


async def never_ends(_reader, writer):
    writer.write(HEAD.replace(b"Content-Length: 9000", b"Connection: close"))
    while True:
        writer.write(b" " * 65_536)
        await writer.drain()


async def sends_another_way(_reader, writer):
    writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()
    writer.close()


async def speaks_no_http(_reader, writer):
    writer.write(b"220 mail.example.org ESMTP\r\n")
    await writer.drain()
    writer.close()


@contextmanager
def served(behaviour) -> Iterator[str]:
    """The URL of a server in a thread of its own; without a behaviour nobody listens."""
    started, address = threading.Event(), []
    loop = asyncio.new_event_loop()

    async def start() -> None:
        server = await asyncio.start_server(behaviour or fails, "127.0.0.1", 0)
        address.append(server.sockets[0].getsockname()[1])
        if behaviour is None:
            server.close()
        started.set()

    loop.set_exception_handler(lambda *_: None)
    starting = loop.create_task(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    assert started.wait(30), starting
    try:
        yield f"http://127.0.0.1:{address[0]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


TROUBLES = [
    None, hangs, drips_headers, drips_a_body, never_ends, fails, breaks_off, talks_nonsense, is_busy_for_long,
    sends_another_way, speaks_no_http,
]  # fmt: skip


@pytest.mark.parametrize("behaviour", TROUBLES, ids=lambda b: "down" if b is None else b.__name__)
async def test_the_fallback_comes_within_the_deadline(behaviour, caplog):
    with served(behaviour) as url:
        for ask in (blocking, awaiting):
            started = time.monotonic()
            assembly = await ask(url, fallback="Be kind.")
            assert time.monotonic() - started < DEADLINE_S + GRACE_S
            assert (assembly.prompt, assembly.id, assembly.degraded) == ("Be kind.", None, ["service"])
            assert assembly.failure
    assert "answered without memory" in caplog.text
    assert "rk_secret" not in caplog.text
    assert "a private question" not in caplog.text


async def test_an_empty_fallback_is_one_too(caplog):
    with served(None) as url:
        for ask in (blocking, awaiting):
            assert (await ask(url, fallback="")).prompt == ""


async def test_a_name_that_takes_for_ever_to_look_up_is_no_reason_to_wait(monkeypatch):
    found = threading.Event()

    def slow(*_, **__):
        found.wait(GRACE_S)
        raise socket.gaierror("nobody knows it")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    try:
        for ask in (blocking, awaiting):
            started = time.monotonic()
            assert (await ask("http://ricordo.example", fallback="Be kind.")).prompt == "Be kind."
            assert time.monotonic() - started < GRACE_S
    finally:
        found.set()


@pytest.mark.parametrize("behaviour", [never_ends, drips_a_body], ids=lambda b: b.__name__)
async def test_an_answer_without_an_end_is_not_read_to_the_end(behaviour, monkeypatch):
    monkeypatch.setattr("ricordo_client.clients.ANSWER_BYTES", 5)
    with served(behaviour) as url:
        for ask in (blocking, awaiting):
            assert "more than" in (await ask(url, fallback="Be kind.")).failure


@pytest.mark.parametrize("behaviour", [None, hangs, drips_a_body], ids=["down", "hangs", "drips_a_body"])
async def test_without_a_fallback_it_raises_within_the_deadline(behaviour):
    with served(behaviour) as url:
        for ask in (blocking, awaiting):
            with pytest.raises(UnreachableError) as raised:
                await ask(url)
            assert isinstance(raised.value, DeadlineError) == (behaviour is not None)


async def blocking(url, **options):
    def work():
        with Ricordo(url, "rk_secret") as memory:
            return memory.assemble("user:1", "a private question", timeout=DEADLINE_S, **options)

    return await asyncio.to_thread(work)


async def awaiting(url, **options):
    async with AsyncRicordo(url, "rk_secret") as memory:
        return await memory.assemble("user:1", "a private question", timeout=DEADLINE_S, **options)
