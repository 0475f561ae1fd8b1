"""What was said becomes memories of a locked space, and is taken back from them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from app.domain.entries import Content, Entry
from app.domain.evidence import Evidence, KeptEvidence
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.entries.decide import Settled, claim_keys, relieved, rivals_of, settle
from app.entries.evidence import owned, rebuilt, remembered, reopened, rewritten
from app.entries.ports import IndexedText, NewId, SpaceUnit, VersionWrite
from app.entries.repeat import reinforce, repeated_by, same_author
from app.entries.tombstones import Mark, Tombstone, erased_mark, is_refused, value_marks

Index = Callable[[int, Sequence[Content]], Awaitable[list[IndexedText]]]
"""Embeds contents by a model, and cuts them into terms."""


async def add(
    unit: SpaceUnit, space: SpaceKey, turn: PublicId, fresh: Sequence[tuple[Evidence, IndexedText]], new_id: NewId
) -> None:
    """Remember what was said: make a memory of each statement, or reinforce the one that says it already.

    What was said before it was forgotten, or before a correction took it back, is left out: nothing revives it.
    """
    if not fresh:
        return
    contents = [one.content for one, _ in fresh]
    alike = {e.id: e for e in await unit.same_texts([content.text for content in contents])}
    keys = claim_keys([*contents, *(e.content for e in alike.values())])
    claimants = {e.id: e for e in await unit.claimants(keys)}
    buried = await unit.tombstones([mark for c in contents for mark in (*value_marks(c), erased_mark(c.text))])
    writes: list[VersionWrite] = []
    kept: list[KeptEvidence] = []
    for one, index in fresh:
        if _must_not_return(one, buried):
            continue
        moment = unit.advance()
        # Since when it holds is not said: only that it holds now.
        again = repeated_by(replace(one.content, valid_from=None), (alike | claimants).values())
        if again:
            written, new_index = reinforce(again, one.content, moment, said_at=one.said_at), None
        else:
            entry_id = new_id(IdKind.MEMORY, space.space_id)
            await unit.mark_derived(entry_id)
            written, new_index = (
                _of_its_author(remembered(entry_id, space.name, one, moment), claimants.values()),
                index,
            )
        settled = settle(written, claimants.values(), moment, heard=True)
        claimants |= {e.id: e for e in (settled.entry, *settled.rivals)}
        writes += [*map(VersionWrite, settled.rivals), VersionWrite(settled.entry, new_index)]
        kept.append(
            KeptEvidence(
                turn=turn.uuid, of=one.of, key=one.key, entry=written.id, said_at=one.said_at, content=one.content
            )
        )
    writes += map(VersionWrite, relieved(claimants.values(), unit.advance()))
    await unit.write(writes)
    await unit.keep_evidence(kept)


def _must_not_return(one: Evidence, buried: Mapping[Mark, Tombstone]) -> bool:
    """Whether it was forgotten after it was said, or taken back."""
    forgotten = buried.get(erased_mark(one.content.text))
    if forgotten is not None and one.said_at <= forgotten.created_at:
        return True
    return is_refused(one.content, buried) is not None


def _of_its_author(entry: Entry, claimants: Iterable[Entry]) -> Entry:
    """Without its claim where another author claims otherwise: two people who tell of themselves do not contradict."""
    author = entry.content.author
    others = (rival.content.author for rival in rivals_of(entry, claimants))
    if author is None or all(other is None or same_author(author, other) for other in others):
        return entry
    return replace(entry, content=replace(entry.content, claim=None, claim_derived=False))


async def take_back(unit: SpaceUnit, stale: Sequence[KeptEvidence], index: Index, *, erase: bool) -> None:
    """Take back what is not said any more: memories that rest on nothing else go, others are made anew of the rest.

    A memory that a caller gave, or whose text somebody has rewritten, stays.
    """
    await unit.drop_evidence(stale)
    for entry_id in dict.fromkeys(one.entry for one in stale):
        entry = await unit.current(entry_id)
        if entry is None or not await unit.is_derived(entry_id):
            continue
        lost = [one for one in stale if one.entry == entry_id]
        rest = await unit.evidence_of(entry_id)
        if not owned(entry, (*lost, *rest)):
            made = rebuilt(entry, rest, unit.advance()) if rest else None
        elif erase:
            made = rewritten(entry, unit.advance())
        else:
            continue
        await _replace(unit, entry, made, index)


async def _replace(unit: SpaceUnit, entry: Entry, made: Entry | None, index: Index) -> None:
    """Put what is left of an entry in its place; what had given way to it holds again, unless that contradicts it."""
    replaced = await unit.replaced_by(entry.id)
    before = {e.id: e.content for e in await unit.versions([(e.id, e.version - 1) for e in replaced])}
    await unit.erase(entry)
    standing = [entry.content, *(e.content for e in replaced), *([made.content] if made else [])]
    claimants = {e.id: e for e in await unit.claimants(claim_keys(standing))}
    writes: list[VersionWrite] = []
    indexes = {} if made is None else {made.id: (await index(unit.model_id, [made.content]))[0]}
    reopening = [reopened(e, before.get(e.id), unit.advance()) for e in replaced]
    for one in [*([made] if made else []), *reopening]:
        settled = settle(one, claimants.values(), unit.advance(), heard=True) if one.is_live else Settled(one)
        claimants |= {e.id: e for e in (settled.entry, *settled.rivals)}
        writes += [*map(VersionWrite, settled.rivals), VersionWrite(settled.entry, indexes.get(one.id))]
    writes += map(VersionWrite, relieved(claimants.values(), unit.advance()))
    await unit.write(writes)
