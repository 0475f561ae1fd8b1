"""What forgetting needs of the world."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol
from uuid import UUID

from app.domain.entries import Entry
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.ports import SpaceUnit
from app.forgetting.records import Receipt, Selector, Verified


class ForgettingUnit(SpaceUnit, Protocol):
    """One space, locked, in one transaction, of which something is forgotten."""

    async def selected(self, selector: Selector) -> tuple[Entry, ...]:
        """The current versions of the entries that a selector may name, whatever their status; by id."""
        ...

    async def derived_from(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """The entries that say that they come from one of these."""
        ...

    async def texts(self, entry: Entry) -> tuple[str, ...]:
        """Every text that an entry ever had."""
        ...

    async def mentioning(self, texts: Sequence[str]) -> tuple[PublicId, ...]:
        """The entries that contain one of some texts word for word; a hundred at most."""
        ...

    async def erase_space(self) -> Mapping[str, int]:
        """Remove everything that the space holds, and the space; rows by table."""
        ...

    async def seal(self, receipt_id: PublicId, body: Mapping[str, Any]) -> Receipt:
        """Keep a receipt."""
        ...


class ForgettingStore(Protocol):
    """Erases, and keeps receipts."""

    def unit(self, space: SpaceKey, *, keep: bool = True) -> AbstractAsyncContextManager[ForgettingUnit]:
        """Lock a space; leaving the block commits, unless `keep` is false: then nothing was done."""
        ...

    async def exists(self, space: SpaceKey) -> bool:
        """Whether anything was ever written to a space that is still there."""
        ...

    async def receipt(self, tenant_id: UUID, receipt_id: PublicId) -> Receipt | None:
        """A receipt."""
        ...

    async def verify(self, tenant_id: UUID, receipt: Receipt) -> Verified:
        """Look whether a receipt still holds."""
        ...
