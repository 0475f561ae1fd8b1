"""What keeping soul blocks needs of the world."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey

NewId = Callable[[IdKind, UUID], PublicId]
"""Makes an id of a kind for an item of a space."""

SoulMeasure = Callable[[Sequence[SoulBlock]], int]
"""Tokens that the identity section takes with these blocks, rendered."""


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block, and the name of the space that it is in."""

    space: str
    block: SoulBlock


class SoulUnit(Protocol):
    """The soul of one locked space, in one transaction."""

    @property
    def now(self) -> datetime:
        """The time of the transaction."""
        ...

    async def earlier(self, key: IdempotencyKey) -> tuple[SoulBlock, ...] | None:
        """What the same request wrote before, without what was erased since; None if it was not seen.

        Raises:
            IdempotencyConflictError: If the key was used for another request.
        """
        ...

    async def remember(self, key: IdempotencyKey, written: Sequence[SoulBlock]) -> None:
        """Keep what was written under a key."""
        ...

    async def blocks(self) -> tuple[SoulBlock, ...]:
        """The current blocks, in the order in which they are rendered, inactive ones too."""
        ...

    async def version(self, block_id: PublicId, version: int) -> SoulBlock | None:
        """One version of a block."""
        ...

    async def write(self, blocks: Sequence[SoulBlock]) -> None:
        """Store versions; each closes the one before."""
        ...

    async def erase(self, block_id: PublicId) -> int:
        """Remove a block physically; says how many versions there were."""
        ...


class SoulStore(Protocol):
    """Keeps soul blocks."""

    def unit(self, space: SpaceKey) -> AbstractAsyncContextManager[SoulUnit]:
        """Lock a space, making it if need be; leaving the block commits, an exception rolls back."""
        ...

    async def current(self, tenant_id: UUID, block_id: PublicId) -> PlacedBlock | None:
        """The current version of a block."""
        ...

    async def blocks(self, space: SpaceKey) -> tuple[SoulBlock, ...]:
        """The current blocks, in the order in which they are rendered, inactive ones too."""
        ...

    async def history(
        self, tenant_id: UUID, block_id: PublicId, *, limit: int, before: int | None
    ) -> tuple[SoulBlock, ...]:
        """Versions below `before`, newest first, at most `limit`; None is no bound."""
        ...
