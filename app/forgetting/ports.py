"""What forgetting needs of the world."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol
from uuid import UUID

from app.domain.entries import Entry
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.ports import SpaceUnit
from app.forgetting.records import Cut, Receipt, Selector, Verified


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

    async def cut(
        self, entries: Sequence[Entry], texts: Sequence[str], selector: Selector | None, receipt_id: PublicId
    ) -> Cut:
        """Take out of what was said what some entries say, and all that a selector names.

        Those are the messages that they rest on or are made of, and the sentences in which the space's people say the
        same word for word. Messages in streams count if they are the words of the person whose space it is. What was
        moved to the archive is noted under the receipt, and cut once the transaction is committed.

        Raises:
            UnavailableError: If this process cannot read the archive.
        """
        ...

    async def cut_own(self, receipt_id: PublicId) -> Cut:
        """Empty what was said elsewhere by the person whose space it is; in the archive, all that is the space's.

        Raises:
            UnavailableError: If this process cannot read the archive.
        """
        ...

    async def sessions(self) -> tuple[PublicId, ...]:
        """The sessions of the space."""
        ...

    async def erase_space(self) -> Mapping[str, int]:
        """Remove everything that the space holds, and the space; rows by table."""
        ...

    async def seal(self, receipt_id: PublicId, body: Mapping[str, Any]) -> Receipt:
        """Keep a receipt."""
        ...


class SessionMemory(Protocol):
    """The latest messages of each session."""

    async def forget(self, tenant_id: UUID, session: PublicId, messages: Sequence[PublicId] | None) -> None:
        """Drop messages of a session, or all."""
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
