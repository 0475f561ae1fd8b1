"""What records need of the world."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.domain.idempotency import IdempotencyKey
from app.domain.ids import PublicId
from app.domain.records import Barrier, Record, RecordStatus
from app.domain.spaces import SpaceKey


@dataclass(frozen=True, slots=True)
class RecordListing:
    """Which current records to list; None does not filter. Newest first, `before` exclusive.

    Attributes:
        at: Those that have expired by then are left out; None lists them too.
    """

    space: SpaceKey
    limit: int
    before: UUID | None = None
    kind: str | None = None
    subject: str | None = None
    status: RecordStatus | None = None
    at: datetime | None = None


class RecordUnit(Protocol):
    """The records of one locked space, inside its transaction."""

    @property
    def now(self) -> datetime:
        """The moment of this write: later than that of any write to the space before."""
        ...

    async def earlier(self, key: IdempotencyKey) -> tuple[PublicId, int] | None:
        """What the same request wrote before.

        Raises:
            IdempotencyConflictError: If the key was used for another request.
        """
        ...

    async def remember(self, key: IdempotencyKey, record: Record) -> None:
        """Keep what was written under a key."""
        ...

    async def current(self, record_id: PublicId) -> Record | None:
        """The current version."""
        ...

    async def write(self, record: Record) -> None:
        """Store a version; it closes the one before."""
        ...

    async def erase(self, record_id: PublicId) -> int:
        """Remove a record physically; how many versions there were."""
        ...

    async def raise_barrier(self, barrier: Barrier, record_id: PublicId) -> None:
        """Keep a turn out of personal memory. What was derived of it before is withdrawn by a job."""
        ...


class RecordStore(Protocol):
    """Keeps records."""

    def unit(self, space: SpaceKey) -> AbstractAsyncContextManager[RecordUnit]:
        """Lock a space for one transaction."""
        ...

    async def current(self, tenant_id: UUID, record_id: PublicId) -> Record | None:
        """The current version of a record."""
        ...

    async def listing(self, listing: RecordListing) -> tuple[Record, ...]:
        """Current records."""
        ...

    async def history(self, tenant_id: UUID, record_id: PublicId, limit: int, before: int | None) -> Sequence[Record]:
        """Versions below `before`, newest first."""
        ...
