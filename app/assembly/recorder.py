"""Writes the assembly log off the path: a reply never waits for it."""

import asyncio
from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from app.assembly.log import Logged, LogRow, Parts
from app.domain.errors import UnavailableError
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey

_WAITING = 1000
"""Assemblies that wait for the log at most; beyond that the newest are not logged."""

_BATCH = 50
_SETTLE_SECONDS = 2.0

_GATHER_SECONDS = 0.1
"""How long others may join a batch. Written one by one, each assembly's log delays the next request by a tenth."""


class AssemblyLog(Protocol):
    """Keeps what was assembled, counts uses, and keeps proposals."""

    async def record(self, batch: Sequence[Logged]) -> None:
        """Keep some assemblies.

        Raises:
            UnavailableError: If the store does not answer.
        """
        ...

    async def find(self, tenant_id: UUID, assembly_id: PublicId) -> LogRow | None:
        """One assembly."""
        ...

    async def listing(self, space: SpaceKey, limit: int, before: UUID | None) -> tuple[LogRow, ...]:
        """The assemblies of a space, newest first, `before` exclusive."""
        ...

    async def parts(self, tenant_id: UUID, row: LogRow) -> Parts:
        """What still exists of a logged prompt."""
        ...


class Recorder:
    """A bounded queue before the log, and the task that empties it."""

    def __init__(self, log: AssemblyLog) -> None:
        """Nothing is written before `run`."""
        self._log = log
        self._queue: asyncio.Queue[Logged] = asyncio.Queue(_WAITING)
        self.lost = 0
        """Assemblies that could not be logged."""

    def submit(self, logged: Logged) -> None:
        """Have an assembly logged soon; never waits."""
        try:
            self._queue.put_nowait(logged)
        except asyncio.QueueFull:
            self.lost += 1

    async def settled(self) -> None:
        """Wait, two seconds at most, until what was submitted is in the log."""
        try:
            await asyncio.wait_for(self._queue.join(), _SETTLE_SECONDS)
        except TimeoutError:
            return

    async def run(self) -> None:
        """Write until cancelled, what waits together in one transaction."""
        while True:
            batch = [await self._queue.get()]
            await asyncio.sleep(_GATHER_SECONDS)
            while len(batch) < _BATCH and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            try:
                await self._log.record(batch)
            except UnavailableError:
                self.lost += len(batch)
            finally:
                for _ in batch:
                    self._queue.task_done()
