"""The shell of writing and reading entries: checks who asks, embeds, locks the space, decides, writes."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeGuard

from app.contradictions.claims import derive_claim
from app.domain.callers import Caller
from app.domain.entries import KIND_OF_TIER, Content, Entry, Status, Tier
from app.domain.errors import ConflictError, NotFoundError, PreconditionFailedError
from app.domain.evidence import Basis, Evidence, MessageVersion
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.arrivals import Arrival, Arrived, settle_in
from app.entries.decide import (
    WITHHELD,
    Settled,
    claim_keys,
    first_version,
    may_give_way,
    next_version,
    refused,
    relieved,
    rivals_of,
    settle,
    supersede,
)
from app.entries.evidence import weigh
from app.entries.ports import (
    Embedders,
    EntryStore,
    IndexedText,
    Listing,
    NewId,
    SpaceUnit,
    VersionWrite,
    Written,
)
from app.entries.remember import add, take_back
from app.entries.repeat import reinforce, repeated_by
from app.entries.tombstones import Tombstone, erased_mark, is_refused, value_marks
from app.scoring.context import mixed, to_embed
from app.scoring.signals import DEFAULT_CONFIDENCE
from app.text.terms import document_terms

Change = Callable[[Content], Content]
"""What an edit makes of the present content."""

_PRIOR_OUTCOMES = 2
"""A procedure starts as if it had been tried this often, with its stated confidence."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An entry as a write left it, and what the write did to others."""

    entry: Entry
    written: Written


@dataclass(frozen=True, slots=True)
class Erased:
    """What a deletion removed: rows by kind."""

    id: PublicId
    removed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class EntryService:
    """Create, read, edit, undo and delete entries of every tier."""

    store: EntryStore
    embedders: Embedders
    new_id: NewId

    async def create(
        self,
        caller: Caller,
        space_name: str,
        tier: Tier,
        contents: Sequence[Content],
        idempotency: IdempotencyKey | None = None,
        *,
        derived: bool = False,
    ) -> tuple[Effect, ...]:
        """Remember something, in order; all of it or nothing. Claims that are not given are derived.

        A memory that says again what is known makes no new entry: the known one is reinforced. What a correction took
        back is kept as history, and never served. What was forgotten can be said again; what is only derived anew is
        left out.

        Args:
            derived: Whether it is worked out from something that was said earlier, rather than said now.

        Raises:
            ForbiddenError: If the key may not write there.
            IdempotencyConflictError: If the key was used for another request.
        """
        space = caller.writable_space(space_name)
        if not contents:
            return ()
        known = [_with_claim(content, tier) for content in contents]
        async with self._indexed(space, known) as (unit, indexes):
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return await _replayed(unit, earlier)
            # At once: looking back bounds the time in an id by what was recorded by then.
            ids = [self.new_id(KIND_OF_TIER[tier], space.space_id) for _ in known]
            memories = tier is Tier.MEMORIES
            alike = {e.id: e for e in await unit.same_texts([c.text for c in known])} if memories else {}
            keys = claim_keys([*known, *(e.content for e in alike.values())])
            claimants = {e.id: e for e in await unit.claimants(keys)}
            buried = await unit.tombstones([mark for c in known for mark in (*value_marks(c), erased_mark(c.text))])
            effects: list[Effect] = []
            writes: list[VersionWrite] = []
            for entry_id, content, index in zip(ids, known, indexes, strict=True):
                if derived and erased_mark(content.text) in buried:
                    continue
                moment = unit.advance()
                again = repeated_by(content, (alike | claimants).values()) if memories else None
                taken_back = is_refused(content, buried)
                if again:
                    settled = settle(reinforce(again, content, moment), claimants.values(), moment)
                elif taken_back is None:
                    entry = first_version(entry_id, space.name, content, moment)
                    settled = settle(entry, claimants.values(), moment)
                else:
                    entry = first_version(entry_id, space.name, content, moment)
                    settled = Settled(refused(entry, await _holder(unit, entry, claimants.values(), taken_back)))
                new_index = None if again else index
                claimants |= {e.id: e for e in (settled.entry, *settled.rivals)}
                writes += [*map(VersionWrite, settled.rivals), VersionWrite(settled.entry, new_index)]
                effects.append(_effect(settled, reinforced=again is not None))
            writes += map(VersionWrite, relieved(claimants.values(), unit.advance()))
            await unit.write(writes)
            if idempotency:
                await unit.remember(idempotency, [effect.written for effect in effects])
        return tuple(effects)

    async def get(self, caller: Caller, entry_id: PublicId) -> Entry:
        """The current version.

        Raises:
            NotFoundError: If the caller's tenant has no such entry within the key's reach.
        """
        entry = await self.store.current(caller.tenant_id, entry_id)
        if entry is None or entry.id != entry_id or not caller.may_touch(entry.space):
            raise NotFoundError(f"no entry {entry_id}")
        return entry

    async def history(
        self, caller: Caller, entry_id: PublicId, *, limit: int | None = None, before: int | None = None
    ) -> tuple[Entry, ...]:
        """Versions below `before`, newest first, at most `limit`; None is no bound.

        Raises:
            NotFoundError: If there is no such entry.
        """
        await self.get(caller, entry_id)
        return await self.store.history(caller.tenant_id, entry_id, limit=limit, before=before)

    async def bases(self, caller: Caller, entry_id: PublicId, limit: int) -> tuple[Entry, tuple[Basis, ...]]:
        """An entry, with the latest messages that it, and what was merged into it, rest on.

        Raises:
            NotFoundError: If there is no such entry.
        """
        entry = await self.get(caller, entry_id)
        return entry, await self.store.bases(caller.tenant_id, (entry.id, *entry.merged_from), limit)

    async def listing(self, listing: Listing) -> tuple[Entry, ...]:
        """Current entries of a space, newest first."""
        return await self.store.listing(listing)

    async def edit(
        self,
        caller: Caller,
        entry_id: PublicId,
        change: Change,
        *,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Effect:
        """Write a new version with another content.

        Raises:
            NotFoundError: If there is no such entry.
            PreconditionFailedError: If `if_version` is not the current version.
            ConflictError: If the entry is not active.
        """
        space = await self._writable_space(caller, entry_id)
        before = await self.get(caller, entry_id)
        content = _with_claim(change(before.content), before.tier)
        async with self._indexed(space, [content]) as (unit, (index,)):
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return (await _replayed(unit, earlier))[0]
            current = _present(await unit.current(entry_id), entry_id)
            _check_version(current, if_version)
            if current.version != before.version:
                raise ConflictError(f"{entry_id} was changed at the same moment; read it again and repeat")
            if current.status is not Status.ACTIVE:
                raise ConflictError(f"{entry_id} is {current.status}; undo that first, or write a new entry")
            moment = unit.advance()
            edited = next_version(current, moment, reason="edited", content=content)
            if (content.text, content.claim) != (current.content.text, current.content.claim):
                edited = replace(edited, last_confirmed_at=moment.now)  # a tag says nothing about the world
            claimants = await unit.claimants(claim_keys([content, current.content]))
            return await _store(unit, settle(edited, claimants, moment), claimants, index, idempotency)

    async def undo(
        self,
        caller: Caller,
        entry_id: PublicId,
        *,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Effect:
        """Go back to the content and status of the version before the current one; undoing twice redoes.

        Raises:
            NotFoundError: If there is no such entry.
            PreconditionFailedError: If `if_version` is not the current version.
            ConflictError: If there is nothing to undo, or another entry claims otherwise by now.
        """
        space = await self._writable_space(caller, entry_id)
        history = await self.store.history(caller.tenant_id, entry_id, limit=2)
        async with self._indexed(space, [version.content for version in history[1:]]) as (unit, indexes):
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return (await _replayed(unit, earlier))[0]
            current = _present(await unit.current(entry_id), entry_id)
            _check_version(current, if_version)
            if not indexes or current.version != history[0].version:
                raise ConflictError(f"{entry_id} has no earlier version to go back to")
            moment = unit.advance()
            restored = replace(
                next_version(current, moment, reason="undo", content=history[1].content),
                status=history[1].status,
                last_confirmed_at=history[1].last_confirmed_at,
                superseded_by=history[1].superseded_by,
                merged_from=history[1].merged_from,
            )
            claimants = await unit.claimants(claim_keys([restored.content, current.content]))
            rivals = rivals_of(restored, claimants)
            if rivals and not history[1].unresolved:
                raise ConflictError(f"{rivals[-1].id} claims otherwise; delete or undo that one first")
            return await _store(unit, settle(restored, claimants, moment), claimants, indexes[0], idempotency)

    async def restore(
        self,
        caller: Caller,
        entry_id: PublicId,
        *,
        if_version: int | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Effect:
        """Bring an archived entry back, as if it had been confirmed now. One that is active stays as it is.

        Raises:
            NotFoundError: If there is no such entry.
            PreconditionFailedError: If `if_version` is not the current version.
            ConflictError: If it is superseded or retracted, or another entry claims otherwise by now.
        """
        space = await self._writable_space(caller, entry_id)
        async with self.store.unit(space) as unit:
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return (await _replayed(unit, earlier))[0]
            current = _present(await unit.current(entry_id), entry_id)
            _check_version(current, if_version)
            if current.is_live:
                return Effect(current, Written(current.id, current.version))
            if current.status is not Status.ARCHIVED:
                raise ConflictError(f"{entry_id} is {current.status}, not archived")
            moment = unit.advance()
            version = next_version(current, moment, reason="restored")
            restored = replace(version, status=Status.ACTIVE, last_confirmed_at=moment.now)
            claimants = await unit.claimants(claim_keys([restored.content]))
            rivals = rivals_of(restored, claimants)
            if rivals:
                raise ConflictError(f"{rivals[-1].id} claims otherwise; delete or undo that one first")
            return await _store(unit, settle(restored, claimants, moment), claimants, None, idempotency)

    async def record_outcome(
        self, caller: Caller, entry_id: PublicId, *, success: bool, idempotency: IdempotencyKey | None = None
    ) -> Effect:
        """Note whether a procedure worked: its confidence moves towards the share of successes.

        The confidence is the posterior mean with the stated confidence as a prior of two outcomes.

        Raises:
            NotFoundError: If there is no such procedure.
        """
        space = await self._writable_space(caller, entry_id)
        async with self.store.unit(space) as unit:
            if idempotency and (earlier := await unit.earlier(idempotency)) is not None:
                return (await _replayed(unit, earlier))[0]
            current = _present(await unit.current(entry_id), entry_id)
            moment = unit.advance()
            confidence = await _confidence(unit, current, success=success)
            content = replace(current.content, confidence=confidence)
            confirmed = moment.now if success else current.last_confirmed_at
            version = replace(
                next_version(current, moment, reason="outcome", content=content), last_confirmed_at=confirmed
            )
            return await _store(unit, Settled(version), (), None, idempotency)

    async def apply_proposals(self, space: SpaceKey) -> int:
        """Supersede for good what assemblies proposed, wherever both sides are still as they were seen.

        Returns:
            How many entries were superseded.
        """
        async with self.store.unit(space) as unit:
            superseded = 0
            for proposal in await unit.take_proposals():
                kept, lost = await unit.current(proposal.kept), await unit.current(proposal.superseded)
                if (
                    _still_seen(kept, proposal.kept_version)
                    and _still_seen(lost, proposal.superseded_version)
                    and may_give_way(lost, kept)
                    and (kept.corrected or not lost.corrected)
                ):
                    await unit.write([VersionWrite(supersede(lost, kept, unit.advance()))])
                    superseded += 1
            return superseded

    async def keep(
        self, space: SpaceKey, entry_id: PublicId, content: Content | None, source: tuple[PublicId, int], *, erase: bool
    ) -> bool:
        """Bring an entry up to what it is derived from: made once, edited where it differs, erased for None.

        One that its owner erased or withdrew is left alone.

        Args:
            source: The turn or conversation, and the revision that the content was read from.
            erase: Whether earlier versions must not stay.

        Returns:
            Whether the source still has that revision; if not, nothing was done.
        """
        of, revision = source
        async with self._indexed(space, [] if content is None else [content]) as (unit, indexes):
            if await unit.revision(of) != revision:
                return False
            current = await unit.current(entry_id)
            if current is not None and current.version == 1 and current.content == content:
                return True  # nothing to take out; erased and made anew, its words would count as forgotten
            first = content is not None and await unit.mark_derived(entry_id)
            if current is not None and (content is None or erase):
                await unit.erase(current)
            if content is not None:
                standing = current is not None and (current.is_live or current.reason == WITHHELD)
                if first or (erase and standing):
                    made = first_version(entry_id, space.name, content, unit.advance())
                    await unit.write([VersionWrite(made, indexes[0])])
                elif current is not None and standing and not erase and current.content != content:
                    edited = next_version(current, unit.advance(), reason="edited", content=content)
                    new_text = indexes[0] if edited.text_version == edited.version else None
                    await unit.write([VersionWrite(edited, new_text)])
        return True

    async def remember(
        self,
        space: SpaceKey,
        said: Sequence[Evidence],
        standing: frozenset[MessageVersion],
        source: tuple[PublicId, int],
        *,
        erase: bool,
    ) -> bool:
        """Bring the memories of a space up to what the messages of a turn say: once each, however often this is called.

        What is said for the first time makes a memory, what is known reinforces one; what is not said any more is taken
        back. What its owner erased is not made again.

        Args:
            said: What the messages say, in the order in which it was said.
            standing: The messages that were read; those that are missing say nothing any more.
            source: The turn, and the revision that was read.
            erase: Whether what was taken back must not stay in an earlier version of what its owner rewrote.

        Returns:
            Whether the turn still has that revision; if not, nothing was done.
        """
        turn, revision = source
        async with self._indexed(space, [one.content for one in said]) as (unit, indexes):
            if await unit.revision(turn) != revision:
                return False
            kept = [one for one in await unit.evidence_of_turn(turn) if not one.corrects]
            weighed = weigh(kept, said, standing)
            await unit.keep_evidence(weighed.renewed)
            await take_back(unit, weighed.stale, partial(index_contents, self.embedders), erase=erase)
            index_of = {(one.of, one.key): index for one, index in zip(said, indexes, strict=True)}
            fresh = [(one, index_of[one.of, one.key]) for one in weighed.fresh]
            await add(unit, space, turn, fresh, self.new_id)
        return True

    async def bring(self, caller: Caller, space_name: str, arrivals: Sequence[Arrival]) -> tuple[Arrived, ...]:
        """Take memories in that come from another program, once each; what became of each, in their order.

        Raises:
            ForbiddenError: If the key may not write there.
            UnavailableError: If the embedder or the database does not answer; then none of them came.
        """
        space = caller.writable_space(space_name)
        known = [replace(one, content=_with_claim(one.content, Tier.MEMORIES)) for one in arrivals]
        async with self._indexed(space, [one.content for one in known]) as (unit, indexes):
            return await settle_in(unit, space, list(zip(known, indexes, strict=True)), self.new_id)

    async def delete(self, caller: Caller, entry_id: PublicId, *, if_version: int | None = None) -> Erased:
        """Erase an entry physically: every version, index row, count and proposal; so too what was merged into it.

        Raises:
            NotFoundError: If there is no such entry.
            PreconditionFailedError: If `if_version` is not the current version.
        """
        space = await self._writable_space(caller, entry_id)
        async with self.store.unit(space) as unit:
            current = _present(await unit.current(entry_id), entry_id)
            _check_version(current, if_version)
            claimants = await unit.claimants(claim_keys([current.content]))
            standing = (claimant for claimant in claimants if claimant.id != entry_id)
            await unit.write([VersionWrite(entry) for entry in relieved(standing, unit.advance())])
            erased = (current, *await _merged_into(unit, entry_id))
            await unit.forget_evidence([entry.id for entry in erased])
            return Erased(entry_id, await unit.erase(*erased))

    async def _writable_space(self, caller: Caller, entry_id: PublicId) -> SpaceKey:
        entry = await self.get(caller, entry_id)
        return caller.writable_space(entry.space)

    @asynccontextmanager
    async def _indexed(
        self, space: SpaceKey, contents: Sequence[Content]
    ) -> AsyncIterator[tuple[SpaceUnit, list[IndexedText]]]:
        """The space, locked, and the contents as the model that serves it indexes them.

        They are embedded before the lock is taken; once more if the space moved to another model meanwhile.
        """
        believed = self.embedders.only
        if believed is None:
            believed = await self.store.model_of(space)
        indexes = await index_contents(self.embedders, believed, contents)
        async with self.store.unit(space) as unit:
            if unit.model_id != believed:
                indexes = await index_contents(self.embedders, unit.model_id, contents)
            yield unit, indexes


async def index_contents(embedders: Embedders, model_id: int, contents: Sequence[Content]) -> list[IndexedText]:
    """The contents as a model indexes them.

    Raises:
        UnavailableError: If the model fails, or cannot be had.
    """
    if not contents:
        return []
    texts = [content.indexed for content in contents]
    terms = [document_terms(text, context) for text, context in texts]
    shares = [t.context_share for t in terms]
    vectors = mixed(await embedders.embed_documents(model_id, to_embed(texts, shares)), shares)
    return [IndexedText(t, v, model_id) for t, v in zip(terms, vectors, strict=True)]


def _with_claim(content: Content, tier: Tier) -> Content:
    """The content with the claim that its text makes, unless the caller gave one."""
    if tier is not Tier.MEMORIES or (content.claim is not None and not content.claim_derived):
        return content
    derived = derive_claim(content.text)
    return replace(content, claim=derived, claim_derived=derived is not None)


def _effect(settled: Settled, *, reinforced: bool = False) -> Effect:
    entry = settled.entry
    return Effect(entry, Written(entry.id, entry.version, settled.superseded, settled.unresolved_with, reinforced))


async def _store(
    unit: SpaceUnit,
    settled: Settled,
    claimants: Sequence[Entry],
    index: IndexedText | None,
    idempotency: IdempotencyKey | None,
) -> Effect:
    entry = settled.entry
    new_text = index if entry.text_version == entry.version else None
    standing = {e.id: e for e in (*claimants, entry, *settled.rivals)}
    others = relieved(standing.values(), unit.advance()) if claimants else ()
    await unit.write([*map(VersionWrite, settled.rivals), VersionWrite(entry, new_text), *map(VersionWrite, others)])
    effect = _effect(settled)
    if idempotency:
        await unit.remember(idempotency, [effect.written])
    return effect


async def _replayed(unit: SpaceUnit, earlier: Sequence[Written]) -> tuple[Effect, ...]:
    entries = {e.id: e for e in await unit.versions([(w.id, w.version) for w in earlier])}
    if len(entries) != len(earlier):
        raise ConflictError("what this Idempotency-Key wrote has been erased since")
    return tuple(Effect(entries[w.id], w) for w in earlier)


async def _merged_into(unit: SpaceUnit, entry_id: PublicId) -> list[Entry]:
    """What was merged into an entry, and into that: they say the same."""
    found: list[Entry] = []
    waiting = [entry_id]
    while waiting:
        merged = await unit.merged_into(waiting.pop())
        found += merged
        waiting += [entry.id for entry in merged]
    return found


async def _holder(unit: SpaceUnit, entry: Entry, claimants: Iterable[Entry], taken_back: Tombstone) -> Entry | None:
    """What holds instead of a value that a correction took back."""
    rivals = rivals_of(entry, claimants)
    if rivals:
        return rivals[-1]
    by = None if taken_back.entry is None else await unit.current(taken_back.entry)
    return by if by is not None and by.is_live else None


def _present(entry: Entry | None, entry_id: PublicId) -> Entry:
    if entry is None:
        raise NotFoundError(f"no entry {entry_id}")
    return entry


def _still_seen(entry: Entry | None, version: int) -> TypeGuard[Entry]:
    return entry is not None and entry.is_live and entry.version == version


def _check_version(entry: Entry, if_version: int | None) -> None:
    if if_version is not None and entry.version != if_version:
        raise PreconditionFailedError(f"{entry.id} is at version {entry.version}, not {if_version}")


async def _confidence(unit: SpaceUnit, current: Entry, *, success: bool) -> float:
    successes, failures = await unit.count_outcome(current.id, success=success)
    before = DEFAULT_CONFIDENCE if current.content.confidence is None else current.content.confidence
    weight = _PRIOR_OUTCOMES + successes + failures - 1
    return (before * weight + success) / (weight + 1)
