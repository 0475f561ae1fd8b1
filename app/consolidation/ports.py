"""What consolidation needs of the world."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from app.assembly.outlines import Outline
from app.consolidation.records import ClaimTriple, Item, Vitality
from app.domain.entries import Claim, Tier
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.ports import Proposal, SpaceUnit


@dataclass(frozen=True, slots=True)
class SpaceState:
    """A space before it is looked at.

    Attributes:
        sequence: Its last write.
        model_id: The model that serves it.
        live: How many entries are live.
    """

    sequence: int
    model_id: int
    live: int


@dataclass(frozen=True, slots=True)
class Scanned:
    """A live entry as a scan brings it.

    Attributes:
        outline: What is stored of its text; None where other rules made it: then the text comes along.
    """

    id: PublicId
    version: int
    tier: Tier
    scope: str
    claim: ClaimTriple | None
    vitality: Vitality
    outline: Outline | None
    text: str | None
    given_claim: Claim | None


@dataclass(frozen=True, slots=True)
class Pending:
    """A proposal of an assembly, with its reason."""

    proposal: Proposal
    why: str


class ConsolidationStore(Protocol):
    """Reads a space in portions and changes it under its lock."""

    async def state(self, space: SpaceKey) -> SpaceState | None:
        """The space as it is; None if nothing was ever written to it."""
        ...

    def scan(self, space: SpaceKey) -> AsyncIterator[Sequence[Scanned]]:
        """All live entries in portions, by id; what is written meanwhile may be missing."""
        ...

    async def load(self, space: SpaceKey, model_id: int, ids: Sequence[PublicId]) -> Mapping[PublicId, Item]:
        """Live entries in full, with the vectors of a model; those that are gone are missing."""
        ...

    async def pending(self, space: SpaceKey) -> tuple[Pending, ...]:
        """The proposals that wait, oldest first; they go on waiting."""
        ...

    def unit(self, space: SpaceKey) -> AbstractAsyncContextManager[SpaceUnit]:
        """Lock the space; leaving the block commits, an exception rolls back."""
        ...

    async def keep_outlines(self, space: SpaceKey, outlines: Mapping[tuple[PublicId, int], bytes]) -> None:
        """Store what was read of texts, by entry and version; versions that are past are left alone."""
        ...

    async def refresh_centre(self, space: SpaceKey, model_id: int) -> bool:
        """Bring the centre up to the space and all vectors up to the centre; whether anything had to be done."""
        ...

    async def mark(self, space: SpaceKey, sequence: int) -> None:
        """Note that the space was consolidated just now, up to a write."""
        ...

    async def due(self, tenant_id: UUID, every_hours: float, limit: int) -> tuple[SpaceKey, ...]:
        """The spaces of a tenant whose consolidation is due, those that have waited longest first."""
        ...
