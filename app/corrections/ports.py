"""What corrections need of the world."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from app.corrections.records import Correction, Origin
from app.domain.entries import Entry
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.tombstones import Mark
from app.forgetting.ports import ForgettingUnit


@dataclass(frozen=True, slots=True)
class Kept:
    """A correction with the space that it belongs to."""

    space: str
    correction: Correction


class CorrectionUnit(ForgettingUnit, Protocol):
    """One space, locked, in one transaction, with its corrections."""

    async def saying(self, text: str) -> tuple[Entry, ...]:
        """The active memories that have every word of a text in some form, the newest first; some hundred at most."""
        ...

    async def last_applied(self, scopes: Sequence[str]) -> Entry | None:
        """What the latest correction left that was applied in one of some scopes, if it is still active."""
        ...

    async def correction(self, correction_id: PublicId) -> Correction | None:
        """A correction of the space."""
        ...

    async def keep(self, correction: Correction) -> None:
        """Keep a correction."""
        ...

    async def questions_of(self, turn: PublicId) -> tuple[Correction, ...]:
        """The open questions that came of a turn."""
        ...

    async def answer(self, question: PublicId, by: PublicId) -> None:
        """Close a question: what was asked is gone."""
        ...

    async def corrected_before(self, key: IdempotencyKey) -> Correction | None:
        """What the same request did before.

        Raises:
            IdempotencyConflictError: If the key was used for another request.
            ConflictError: If what it did has been erased since.
        """
        ...

    async def remember_correction(self, key: IdempotencyKey, correction: Correction) -> None:
        """Keep what was done under a key."""
        ...

    async def bury(self, marks: Mapping[Mark, PublicId | None], since: datetime | None = None) -> None:
        """Put up tombstones, each with the entry that holds instead; since now if no other moment is given."""
        ...

    async def exhume(self, marks: Sequence[Mark]) -> None:
        """Take tombstones away: what they forbid is right again."""
        ...

    async def exhume_by(self, entries: Sequence[PublicId]) -> None:
        """Take the tombstones away that stand because of some entries."""
        ...

    async def said_in(self, turn: PublicId) -> tuple[Origin, ...]:
        """Where in a turn something was wanted of which a correction tells: saved, asked, refused or forgotten."""
        ...

    async def follow(self, origins: Sequence[Origin]) -> None:
        """Note the versions of the messages in which something is still wanted."""
        ...

    async def drop_said(self, origins: Sequence[Origin]) -> None:
        """Remove what was told and asked because of what is not said any more."""
        ...


class CorrectionStore(Protocol):
    """Keeps corrections."""

    def unit(
        self, space: SpaceKey, *, keep: bool = True, erases: bool = False
    ) -> AbstractAsyncContextManager[CorrectionUnit]:
        """Lock a space; leaving the block commits, unless `keep` is false: then nothing was done.

        Args:
            erases: Whether something may be erased: then the archive is locked before the space, as forgetting does.
        """
        ...

    async def find(self, tenant_id: UUID, correction_id: PublicId) -> Kept | None:
        """A correction."""
        ...

    async def of_turn(self, turn: PublicId, spaces: Sequence[SpaceKey]) -> tuple[Correction, ...]:
        """What was put right, asked and forgotten in some spaces because of a turn, in the order of its doing."""
        ...

    async def is_asked(self, space: SpaceKey, turn: PublicId) -> bool:
        """Whether a question that came of a turn is open."""
        ...

    async def listing(
        self, space: SpaceKey, *, limit: int, before: UUID | None, open_only: bool
    ) -> tuple[Correction, ...]:
        """The corrections of a space, newest first, `before` exclusive; or its open questions alone."""
        ...
