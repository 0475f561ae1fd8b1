"""The shell of maintenance: goes through the tenants and leaves each in order."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from app.domain.errors import UnavailableError
from app.domain.spaces import SpaceKey


@dataclass(frozen=True, slots=True)
class Report:
    """What one pass did: entries superseded, rows purged, conversations closed, turns gone, spaces consolidated.

    Attributes:
        cut: Files of the archive out of which something was taken.
    """

    superseded: int = 0
    purged: int = 0
    closed: int = 0
    history: int = 0
    consolidated: int = 0
    cut: int = 0


class Housekeeping(Protocol):
    """What maintenance sees of the store."""

    async def tenants(self) -> tuple[UUID, ...]:
        """All tenants, in a stable order."""
        ...

    async def spaces_with_proposals(self, tenant_id: UUID) -> tuple[SpaceKey, ...]:
        """The spaces of a tenant in which proposals wait."""
        ...

    async def purge(self, tenant_id: UUID, assembly_log_days: int) -> int:
        """Remove assemblies, idempotency keys and tokens that have run out; returns how many."""
        ...


@dataclass(frozen=True, slots=True)
class MaintenanceService:
    """Applies proposals and purges what has run out.

    Attributes:
        apply_proposals: Applies the proposals of a space, returns how many entries were superseded.
        close_silent: Closes a tenant's silent conversations, returns how many.
        purge_history: Purges what has run out of a tenant's history, returns how many turns.
        consolidate_due: Consolidates the spaces of a tenant that are due, returns how many.
        cut_archives: Takes out of the archive what was forgotten and is still there, returns of how many files.
    """

    store: Housekeeping
    apply_proposals: Callable[[SpaceKey], Awaitable[int]]
    assembly_log_days: int
    close_silent: Callable[[UUID], Awaitable[int]]
    purge_history: Callable[[UUID], Awaitable[int]]
    consolidate_due: Callable[[UUID], Awaitable[int]]
    cut_archives: Callable[[UUID], Awaitable[int]]

    async def run_once(self) -> Report:
        """One pass over all tenants.

        Raises:
            UnavailableError: If the store does not answer.
        """
        superseded = purged = closed = history = consolidated = cut = 0
        for tenant_id in await self.store.tenants():
            for space in await self.store.spaces_with_proposals(tenant_id):
                superseded += await self.apply_proposals(space)
            cut += await self.cut_archives(tenant_id)
            purged += await self.store.purge(tenant_id, self.assembly_log_days)
            closed += await self.close_silent(tenant_id)
            history += await self.purge_history(tenant_id)
            consolidated += await self.consolidate_due(tenant_id)
        return Report(superseded, purged, closed, history, consolidated, cut)

    async def run(self, every_seconds: float) -> None:
        """Pass after pass, until cancelled. A store that does not answer is asked again next time."""
        while True:
            await asyncio.sleep(every_seconds)
            try:
                await self.run_once()
            except UnavailableError:
                continue
