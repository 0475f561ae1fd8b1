"""Work that nobody waits for: done after the answer, tried again while the database does not answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from app.domain.errors import RicordoError, UnavailableError

_log = structlog.get_logger()

DELAYS_S: Final = (1.0, 5.0, 25.0, 125.0)
"""Before each repetition: two and a half minutes in all, in which a database comes back after a restart."""

WAITING: Final = 1_000
"""Pieces of work at once; beyond that new ones are dropped, so that a lasting failure does not fill the memory."""


class Afterwards:
    """Work under way. For one event loop."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Nothing is under way."""
        self._sleep = sleep
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do some work soon; it may be done more than once only if it failed."""
        if len(self._tasks) >= WAITING:
            _log.warning("a turn was not stored", reason="too many wait already")
            return
        task = asyncio.create_task(self._do(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all is done."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Drop what waits for another attempt."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _do(self, work: Callable[[], Awaitable[object]]) -> None:
        for delay_s in (*DELAYS_S, None):
            try:
                await work()
            except UnavailableError as error:
                if delay_s is None:
                    _log.warning("a turn was not stored", reason=error.code)
                    return
                await self._sleep(delay_s)
            except RicordoError as error:
                _log.warning("a turn was not stored", reason=error.code)
                return
            except Exception as error:  # noqa: BLE001 - nobody else would hear of it
                _log.error("a turn was not stored", exc_info=error)
                return
            else:
                return
