"""What a write changes: the versions that follow from it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from app.contradictions.claims import claim_key, values_conflict
from app.contradictions.detect import Statement
from app.contradictions.resolve import direction
from app.domain.entries import TIER_OF_KIND, Cardinality, Content, Entry, Status
from app.domain.ids import PublicId

ClaimPlace = tuple[str, str, str]
"""Scope, subject and attribute: where at most one value is current."""


BY_HAND = frozenset({"undo", "restored"})
"""Reasons of versions by which somebody took a change back."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a write happens: the transaction's time, and the place in the space's history."""

    now: datetime
    sequence: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A written entry, and what it did to the entries that claim otherwise."""

    entry: Entry
    rivals: tuple[Entry, ...] = ()
    """New versions of the rivals."""

    @property
    def superseded(self) -> tuple[PublicId, ...]:
        """The entries that this one replaced."""
        return tuple(r.id for r in self.rivals if r.status is Status.SUPERSEDED)

    @property
    def unresolved_with(self) -> tuple[PublicId, ...]:
        """The entries that contradict this one while nothing decides between them."""
        return tuple(r.id for r in self.rivals if r.unresolved and r.status is Status.ACTIVE)


def first_version(entry_id: PublicId, space: str, content: Content, moment: Moment) -> Entry:
    """The first version of a new entry."""
    return Entry(
        id=entry_id,
        version=1,
        text_version=1,
        sequence=moment.sequence,
        tier=TIER_OF_KIND[entry_id.kind],
        space=space,
        content=content,
        status=Status.ACTIVE,
        recorded_at=moment.now,
        first_recorded_at=moment.now,
        last_confirmed_at=moment.now,
    )


def next_version(entry: Entry, moment: Moment, *, reason: str, content: Content | None = None) -> Entry:
    """The version that follows, with another content if one is given."""
    version = entry.version + 1
    content = content or entry.content
    same_text = content.indexed == entry.content.indexed
    return replace(
        entry,
        version=version,
        text_version=entry.text_version if same_text else version,
        sequence=moment.sequence,
        content=content,
        recorded_at=moment.now,
        reason=reason,
    )


def claim_place(entry: Entry) -> ClaimPlace | None:
    """Where an active entry's claim must be the only one; None for entries without such a claim."""
    claim = entry.content.claim
    if claim is None or claim.cardinality is Cardinality.MANY or not entry.is_live:
        return None
    return (entry.content.scope, *claim_key(claim))


def claim_keys(contents: Iterable[Content]) -> list[tuple[str, str]]:
    """The claim keys of some contents, sorted."""
    return sorted({claim_key(content.claim) for content in contents if content.claim is not None})


def rivals_of(entry: Entry, claimants: Iterable[Entry]) -> tuple[Entry, ...]:
    """The active entries that claim another value at the same place, oldest first."""
    place = claim_place(entry)
    if place is None or entry.content.claim is None:
        return ()
    found = [
        other
        for other in claimants
        if other.id != entry.id
        and claim_place(other) == place
        and other.content.claim is not None
        and values_conflict(entry.content.claim, other.content.claim)
    ]
    return tuple(sorted(found, key=lambda other: other.sequence))


def settle(entry: Entry, claimants: Iterable[Entry], moment: Moment, *, heard: bool = False) -> Settled:
    """Decide between an entry and those that claim otherwise: the later one holds.

    When an older one turns out to hold, the entry is stored as already superseded; when nothing decides,
    all stay and are marked unresolved.

    Args:
        heard: Whether it was said in a conversation, of which we may learn late: what somebody has said since holds.
    """
    entry = replace(entry, unresolved=False)
    rivals: list[Entry] = []
    for rival in rivals_of(entry, claimants):
        if heard and entry.last_confirmed_at < rival.last_confirmed_at:
            return Settled(_as_superseded(entry, rival))
        match _direction(entry, rival):
            case "new":
                rivals.append(supersede(rival, entry, moment))
            case "old":
                return Settled(_as_superseded(entry, rival))
            case _:
                entry = replace(entry, unresolved=True)
                if not rival.unresolved:
                    rivals.append(replace(next_version(rival, moment, reason="unresolved"), unresolved=True))
    return Settled(entry, tuple(rivals))


def _direction(entry: Entry, rival: Entry) -> Literal["new", "old"] | None:
    """Which of two holds: a correction against what is none, else what `direction` says."""
    if entry.corrected and not rival.corrected:
        return "new"
    return direction(statement(entry), statement(rival))


def refused(entry: Entry, by: Entry | None) -> Entry:
    """An entry that says again what a correction took back: kept as history, never served.

    Args:
        by: What holds instead, if it is still there.
    """
    kept = replace(entry, reason="refused", unresolved=False)
    return replace(kept, status=Status.RETRACTED) if by is None else _as_superseded(kept, by)


def relieved(standing: Iterable[Entry], moment: Moment) -> tuple[Entry, ...]:
    """New versions of those in doubt that nothing contradicts any more, among all that have their claim keys."""
    standing = tuple(standing)
    return tuple(
        replace(next_version(entry, moment, reason="resolved"), unresolved=False)
        for entry in sorted(standing, key=lambda entry: entry.sequence)
        if entry.unresolved and entry.is_live and not rivals_of(entry, standing)
    )


WITHHELD = "withheld"
"""Why an entry is not served until it is made anew: something that it is derived from was forgotten."""


def withheld(entry: Entry, moment: Moment) -> Entry:
    """The next version of what must be made anew before it is served again."""
    return replace(next_version(entry, moment, reason=WITHHELD), status=Status.RETRACTED)


def supersede(loser: Entry, winner: Entry, moment: Moment, *, reason: str = "superseded") -> Entry:
    """The loser's next version: superseded, true until the winner began to be."""
    return _as_superseded(next_version(loser, moment, reason=reason), winner)


def is_kept_by_hand(entry: Entry) -> bool:
    """Whether somebody undid the last change: what they undid is not done again until the entry changes."""
    return entry.reason in BY_HAND


def may_give_way(loser: Entry, winner: Entry) -> bool:
    """Whether the loser may be superseded unasked: not if one of both was kept by hand when the other was known."""
    return not (_is_kept_beside(loser, winner) or _is_kept_beside(winner, loser))


def _is_kept_beside(entry: Entry, other: Entry) -> bool:
    return is_kept_by_hand(entry) and other.sequence < entry.sequence


def _as_superseded(entry: Entry, winner: Entry) -> Entry:
    content = entry.content
    until = effective_from(winner)
    if content.valid_from is not None and until <= content.valid_from:
        until = content.valid_from + timedelta(microseconds=1)
    if content.valid_to is not None:
        until = min(until, content.valid_to)
    return replace(
        entry,
        status=Status.SUPERSEDED,
        superseded_by=winner.id,
        unresolved=False,
        content=replace(content, valid_to=until),
    )


def effective_from(entry: Entry) -> datetime:
    """Since when an entry is taken to be true: as it says, or else since somebody last said so."""
    return entry.content.valid_from or entry.last_confirmed_at


def statement(entry: Entry) -> Statement:
    """An entry as the contradiction rules see it."""
    return Statement(
        id=entry.id,
        text=entry.content.text,
        claim=entry.content.claim,
        scope=entry.content.scope,
        valid_from=entry.content.valid_from,
        confirmed_at=entry.last_confirmed_at,
        sequence=entry.sequence,
    )
