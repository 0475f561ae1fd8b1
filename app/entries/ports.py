"""What writing entries needs of the world."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.domain.entries import Category, Entry, Status, Tier
from app.domain.evidence import Basis, KeptEvidence
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.entries.decide import Moment
from app.entries.tombstones import Mark, Tombstone
from app.text.terms import DocumentTerms

NewId = Callable[[IdKind, UUID], PublicId]
"""Makes an id of a kind for an item of a space."""


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What the arms know of a text: its words, and its unit vector of shape (d,), by which model."""

    terms: DocumentTerms
    vector: NDArray[np.float32]
    model_id: int


@dataclass(frozen=True, slots=True)
class VersionWrite:
    """One version to be stored. `index` is given when its text is new."""

    entry: Entry
    index: IndexedText | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Which current entries to list; None does not filter. Newest first, `before` exclusive."""

    space: SpaceKey
    tier: Tier
    limit: int
    before: UUID | None = None
    statuses: tuple[Status, ...] | None = (Status.ACTIVE,)
    category: Category | None = None
    tag: str | None = None
    scope: str | None = None
    unresolved: bool | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A supersession that an assembly proposed, with the versions that it saw."""

    kept: PublicId
    kept_version: int
    superseded: PublicId
    superseded_version: int


@dataclass(frozen=True, slots=True)
class SpaceSummary:
    """What is in a space: live entries by tier. `created_at` is None before the first write."""

    name: str
    created_at: datetime | None
    entries: Mapping[Tier, int]


@dataclass(frozen=True, slots=True)
class Written:
    """One entry as it was written: enough to answer the same request again."""

    id: PublicId
    version: int
    superseded: tuple[PublicId, ...] = ()
    unresolved_with: tuple[PublicId, ...] = ()
    reinforced: bool = False
    """It was known already, and is now surer."""


class Embedders(Protocol):
    """Turn texts into unit vectors, each for the spaces that it serves."""

    @property
    def only(self) -> int | None:
        """The one model of the store; None while there are several."""
        ...

    async def embed_documents(self, model_id: int, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), in the order of the texts. A model that is not loaded is loaded first.

        Raises:
            UnavailableError: If the model fails, or cannot be had.
        """
        ...


class SpaceUnit(Protocol):
    """One space, locked, in one transaction."""

    @property
    def model_id(self) -> int:
        """The model that serves the space: what is indexed here must be its vectors."""
        ...

    def advance(self) -> Moment:
        """The moment of the next write: the transaction's time, and the next sequence of the space."""
        ...

    async def earlier(self, key: IdempotencyKey) -> tuple[Written, ...] | None:
        """What the same request wrote before; None if it was not seen.

        Raises:
            IdempotencyConflictError: If the key was used for another request.
        """
        ...

    async def remember(self, key: IdempotencyKey, written: Sequence[Written]) -> None:
        """Keep what was written under a key."""
        ...

    async def current(self, entry_id: PublicId) -> Entry | None:
        """The current version of an entry."""
        ...

    async def currents(self, entry_ids: Sequence[PublicId]) -> tuple[Entry, ...]:
        """The current versions of entries, in no order; those erased are missing."""
        ...

    async def merged_into(self, entry_id: PublicId) -> tuple[Entry, ...]:
        """The entries that said the same as this one and gave way to it, by id."""
        ...

    async def carry_uses(self, merged: Sequence[PublicId], kept: PublicId) -> None:
        """Count the uses of entries that were merged for the one that is kept."""
        ...

    async def versions(self, wanted: Sequence[tuple[PublicId, int]]) -> tuple[Entry, ...]:
        """Given versions of entries, in the order asked for; those erased are missing."""
        ...

    async def same_texts(self, texts: Sequence[str]) -> tuple[Entry, ...]:
        """The active memories whose normalised text may be that of one of these; a few may be others."""
        ...

    async def claimants(self, keys: Sequence[tuple[str, str]]) -> tuple[Entry, ...]:
        """The active entries that have one of these claim keys."""
        ...

    async def tombstones(self, marks: Sequence[Mark]) -> Mapping[Mark, Tombstone]:
        """Those of some marks that stand in the space."""
        ...

    async def write(self, writes: Sequence[VersionWrite]) -> None:
        """Store versions and bring every index up to them."""
        ...

    async def erase(self, *entries: Entry) -> Mapping[str, int]:
        """Remove entries physically, all versions and traces; says how many rows of each kind."""
        ...

    async def take_proposals(self) -> tuple[Proposal, ...]:
        """The pending proposals of the space, oldest first; they are gone afterwards."""
        ...

    async def count_outcome(self, entry_id: PublicId, *, success: bool) -> tuple[int, int]:
        """Count an outcome of a procedure; returns (successes, failures) so far."""
        ...

    async def revision(self, source: PublicId) -> int:
        """How often the turn or conversation has changed; it cannot change until the transaction ends. 0: gone."""
        ...

    async def mark_derived(self, entry_id: PublicId) -> bool:
        """Note that an entry is made from something; whether it never was before, even if it was erased since."""
        ...

    async def is_derived(self, entry_id: PublicId) -> bool:
        """Whether an entry was made from something."""
        ...

    async def evidence_of_turn(self, turn: PublicId) -> tuple[KeptEvidence, ...]:
        """What is remembered here of the messages of a turn, and what is not to be."""
        ...

    async def evidence_of(self, entry_id: PublicId) -> tuple[KeptEvidence, ...]:
        """What an entry rests on, oldest first; without what was erased."""
        ...

    async def keep_evidence(self, evidence: Sequence[KeptEvidence]) -> None:
        """Store evidence, in place of what is there of the same message and key."""
        ...

    async def drop_evidence(self, evidence: Sequence[KeptEvidence]) -> None:
        """Remove evidence without a trace."""
        ...

    async def forget_evidence(self, entry_ids: Sequence[PublicId]) -> None:
        """Take every word out of what some entries rest on; that there was something stays known."""
        ...

    async def replaced_by(self, entry_id: PublicId) -> tuple[Entry, ...]:
        """The entries that gave way to an entry, in the order of the space's history."""
        ...


class EntryStore(Protocol):
    """Keeps entries."""

    def unit(self, space: SpaceKey) -> AbstractAsyncContextManager[SpaceUnit]:
        """Lock a space, making it if need be; leaving the block commits, an exception rolls back."""
        ...

    async def model_of(self, space: SpaceKey) -> int:
        """The model that serves a space, or that would if it were made now."""
        ...

    async def current(self, tenant_id: UUID, entry_id: PublicId) -> Entry | None:
        """The current version of an entry."""
        ...

    async def history(
        self, tenant_id: UUID, entry_id: PublicId, *, limit: int | None = None, before: int | None = None
    ) -> tuple[Entry, ...]:
        """Versions below `before`, newest first, at most `limit`; None is no bound."""
        ...

    async def bases(self, tenant_id: UUID, entry_ids: Sequence[PublicId], limit: int) -> tuple[Basis, ...]:
        """The messages that some entries of one space rest on, the latest first."""
        ...

    async def listing(self, listing: Listing) -> tuple[Entry, ...]:
        """Current entries, newest first."""
        ...
