"""How long history is kept, and what is done with it then: purged, or moved to an archive first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol
from uuid import UUID

from app.domain.callers import Caller, Role
from app.domain.errors import ForbiddenError
from app.turns.ports import WorkingMemory
from app.turns.records import Turn

_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a tenant's history is kept.

    Attributes:
        report: What the last purge that found something did, as JSON; None before.
    """

    days: int
    is_default: bool
    report: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Purged:
    """What was removed from the history, how many messages, and the file of the archive to which it went."""

    turns: tuple[Turn, ...] = ()
    messages: int = 0
    archive: str | None = None


class HistoryStore(Protocol):
    """What runs out of the history."""

    async def history_settings(self, tenant_id: UUID) -> tuple[int | None, Mapping[str, Any] | None]:
        """The days that a tenant chose, and the last report."""
        ...

    async def set_history_days(self, tenant_id: UUID, days: int | None) -> None:
        """Choose the days; None for the default."""
        ...

    async def keep_report(self, tenant_id: UUID, report: Mapping[str, Any]) -> None:
        """Keep what a purge did."""
        ...

    async def purge_turns(self, tenant_id: UUID, until: datetime, limit: int, archive: "Archive | None") -> Purged:
        """Remove the oldest turns that were stored before a moment, with their messages and index rows.

        They are put into the archive first, and nobody forgets anything of them meanwhile.
        """
        ...

    async def purge_rest(self, tenant_id: UUID, until: datetime) -> None:
        """Remove conversations and sessions of which no turn is left, and jobs that are long done."""
        ...


class Archive(Protocol):
    """Where history goes that has run out."""

    async def put(self, tenant_id: UUID, turns: Sequence[Turn]) -> str:
        """Keep turns durably; the same turns again make no copy. Returns the name of the file."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryService:
    """Reads and changes how long history is kept, and purges what has run out.

    Attributes:
        archive: None: what has run out is gone.
    """

    store: HistoryStore
    working: WorkingMemory
    archive: Archive | None
    default_days: int
    now: Callable[[], datetime]

    async def retention(self, caller: Caller) -> Retention:
        """How long the caller's history is kept, in all of its tenant.

        Raises:
            ForbiddenError: If the key is limited to spaces.
        """
        if caller.spaces is not None:
            raise ForbiddenError("this key is limited to spaces; history is kept alike in all of them")
        days, report = await self.store.history_settings(caller.tenant_id)
        return Retention(days or self.default_days, days is None, report)

    async def keep_for(self, caller: Caller, days: int | None) -> Retention:
        """Change it.

        Raises:
            ForbiddenError: If the key is no administrator's, or limited to spaces.
        """
        caller.require(Role.ADMINISTRATOR)
        await self.retention(caller)
        await self.store.set_history_days(caller.tenant_id, days)
        return await self.retention(caller)

    async def purge(self, tenant_id: UUID) -> int:
        """Purge or archive what has run out of a tenant's history; how many turns.

        Raises:
            UnavailableError: If the store or the archive does not answer.
        """
        days, _ = await self.store.history_settings(tenant_id)
        now = self.now()
        until = now - timedelta(days=days or self.default_days)
        purged = messages = 0
        archive: str | None = None
        while (done := await self.store.purge_turns(tenant_id, until, _BATCH, self.archive)).turns:
            purged, messages, archive = purged + len(done.turns), messages + done.messages, done.archive
            for turn in done.turns:
                await self.working.forget(tenant_id, turn.session, [message.id for message in turn.messages])
        await self.store.purge_rest(tenant_id, until)
        if purged:
            at = now.isoformat(timespec="microseconds").replace("+00:00", "Z")
            await self.store.keep_report(
                tenant_id, {"at": at, "turns": purged, "messages": messages, "archive": archive}
            )
        return purged
