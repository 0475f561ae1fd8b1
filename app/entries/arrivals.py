"""Memories that come from another program: each comes once, and nothing that was forgotten or put right comes back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from uuid import UUID

from app.domain.entries import Content
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.entries.decide import claim_keys, first_version, relieved, settle
from app.entries.ports import IndexedText, NewId, SpaceUnit, VersionWrite
from app.entries.repeat import reinforce, repeated_by
from app.entries.tombstones import ERASED_SPACE, erased_mark, erased_since, is_refused, value_marks


class Arrived(Enum):
    """What became of a memory that came."""

    WRITTEN = auto()
    KNOWN = auto()
    """It came before, whatever became of it since."""
    FORGOTTEN = auto()
    """It was forgotten here, or put right, after the other program learnt it."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A memory as it comes.

    Attributes:
        mark: The same whenever it comes; kept, so that it comes once.
        learnt_at: When the other program learnt it; None if it does not say.
    """

    mark: UUID
    content: Content
    learnt_at: datetime | None = None


async def settle_in(
    unit: SpaceUnit, space: SpaceKey, arrivals: Sequence[tuple[Arrival, IndexedText]], new_id: NewId
) -> tuple[Arrived, ...]:
    """Write memories that come from elsewhere; what became of each, in their order.

    One that says what is known reinforces it, as of when it was learnt; one that contradicts what somebody has said
    since is kept as history.
    """
    contents = [arrival.content for arrival, _ in arrivals]
    alike = {e.id: e for e in await unit.same_texts([content.text for content in contents])}
    keys = claim_keys([*contents, *(e.content for e in alike.values())])
    claimants = {e.id: e for e in await unit.claimants(keys)}
    marks = [mark for c in contents for mark in (*value_marks(c), erased_mark(c.text))]
    buried = await unit.tombstones([*marks, ERASED_SPACE])
    became: list[Arrived] = []
    writes: list[VersionWrite] = []
    for arrival, index in arrivals:
        content, learnt = arrival.content, arrival.learnt_at
        if not await unit.mark_derived(PublicId(arrival.mark, space.space_id, IdKind.MEMORY)):
            became.append(Arrived.KNOWN)
            continue
        since = erased_since(erased_mark(content.text), buried)
        if (since and (learnt is None or learnt <= since)) or is_refused(content, buried):
            became.append(Arrived.FORGOTTEN)
            continue
        moment = unit.advance()
        again = repeated_by(replace(content, valid_from=None), (alike | claimants).values())
        if again:
            written = reinforce(again, content, moment, said_at=learnt)
        else:
            made = first_version(new_id(IdKind.MEMORY, space.space_id), space.name, content, moment)
            written = replace(made, last_confirmed_at=min(learnt or moment.now, moment.now))
        settled = settle(written, claimants.values(), moment, heard=True)
        claimants |= {e.id: e for e in (settled.entry, *settled.rivals)}
        alike[settled.entry.id] = settled.entry
        writes += [*map(VersionWrite, settled.rivals), VersionWrite(settled.entry, None if again else index)]
        became.append(Arrived.WRITTEN)
    writes += map(VersionWrite, relieved(claimants.values(), unit.advance()))
    await unit.write(writes)
    return tuple(became)
