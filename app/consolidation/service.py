"""The shell of consolidation: reads a space in portions, plans, and applies in small transactions."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

import structlog

from app.assembly.outlines import Outline, outline, pack_outline
from app.consolidation.apply import apply_changes
from app.consolidation.blocks import Block, fact_blocks, repetition_blocks, wording_blocks
from app.consolidation.conflicts import find_conflicts
from app.consolidation.decay import has_faded, joined
from app.consolidation.duplicates import merge_blocks, united
from app.consolidation.ports import ConsolidationStore, Scanned
from app.consolidation.records import Action, Change, Item, Sketch, Vitality, Why
from app.contradictions.claims import claim_key
from app.contradictions.detect import SimilarityBand
from app.domain.callers import Caller
from app.domain.entries import Entry
from app.domain.errors import ConflictError, UnavailableError
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.entries.decide import may_give_way, relieved
from app.entries.ports import SpaceUnit, VersionWrite

BATCH: Final = 25
"""Changes in one transaction: it holds the space for some hundred milliseconds, and is what a kill loses."""

LOADED: Final = 500
"""Entries that are loaded at once."""

DUE: Final = 20
"""Spaces of a tenant that are consolidated in one pass of maintenance."""

LISTED: Final = 1_000
"""Changes that a report lists; it counts all."""

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a consolidation is: entries or changes of a stage."""

    stage: str
    done: int
    total: int

    def line(self) -> str:
        """In words."""
        return f"{self.stage}: {self.done:,} of {self.total:,}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a consolidation did, or would do.

    Attributes:
        entries: Live entries that were looked at.
        counts: Changes by what they do.
        undecided: Contradictions that nothing decides; assemblies go on asking about them.
        skipped: Changes whose entries were changed by others meanwhile: the next consolidation sees to them.
        outlines: Texts that were read anew because the rules have changed.
        centre: Whether the centre of the space moved.
        changes: At most LISTED of the changes.
    """

    entries: int
    counts: Mapping[Action, int]
    undecided: int
    skipped: int
    outlines: int
    centre: bool
    changes: tuple[Change, ...]

    @property
    def figures(self) -> dict[str, int]:
        """The counts by name, as logs and replies give them."""
        counts = {name: self.counts.get(action, 0) for action, name in _FIGURES.items()}
        return {
            "entries": self.entries,
            **counts,
            "undecided": self.undecided,
            "skipped": self.skipped,
            "outlines": self.outlines,
        }


_FIGURES = {Action.MERGE: "merged", Action.SUPERSEDE: "superseded", Action.ARCHIVE: "archived"}


def _silent(progress: Progress) -> None:
    """Nobody looks."""


@dataclass(slots=True)
class _Run:
    """One consolidation on its way."""

    space: SpaceKey
    model_id: int
    band: SimilarityBand | None
    now: datetime
    dry: bool
    report: Callable[[Progress], None]
    sketches: dict[PublicId, Sketch] = field(default_factory=dict)
    gone: set[PublicId] = field(default_factory=set)
    expected: dict[PublicId, Entry] = field(default_factory=dict)
    vital: dict[PublicId, Vitality] = field(default_factory=dict)
    versions: dict[PublicId, int] = field(default_factory=dict)
    counts: Counter[Action] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)
    undecided: int = 0
    skipped: int = 0
    outlines: int = 0

    def standing(self) -> list[Sketch]:
        """What is still live."""
        return [sketch for entry_id, sketch in self.sketches.items() if entry_id not in self.gone]

    def note(self, change: Change) -> None:
        """Take a change for done."""
        self.gone.add(change.entry)
        self.counts[change.action] += 1
        if len(self.changes) < LISTED:
            self.changes.append(change)
        if change.action is Action.MERGE and change.kept in self.vital and change.entry in self.vital:
            self.vital[change.kept] = joined(self.vital[change.kept], self.vital[change.entry])


@dataclass(frozen=True, slots=True)
class ConsolidationService:
    """Consolidates spaces, one at a time each.

    Attributes:
        band_of: The similarity band of a model; None if this process does not know the model.
        archive_below: The strength below which an entry is archived, in [0, 1]; 0 archives nothing.
    """

    store: ConsolidationStore
    band_of: Callable[[int], SimilarityBand | None]
    archive_below: float
    _running: set[SpaceKey] = field(default_factory=set)

    async def consolidate(self, caller: Caller, space_name: str, now: datetime, *, dry_run: bool) -> Report:
        """Consolidate a space for somebody who may write there.

        Raises:
            ForbiddenError: If the key may not write there.
            ConflictError: If this process consolidates the space already.
        """
        return await self.run(caller.writable_space(space_name), now, dry_run=dry_run)

    async def run_due(self, tenant_id: UUID, every_hours: float, now: datetime) -> int:
        """Consolidate the spaces of a tenant that are due, at most DUE; how many.

        A space that cannot be consolidated is logged, and does not keep the others waiting.

        Raises:
            UnavailableError: If the store does not answer.
        """
        done = 0
        for space in await self.store.due(tenant_id, every_hours, DUE):
            try:
                report = await self.run(space, now)
            except ConflictError:  # somebody asked for it just now
                continue
            except UnavailableError:
                raise
            except Exception:  # noqa: BLE001 - a fault in the rules must not stop what else is due
                _log.exception("a space cannot be consolidated", space_id=str(space.space_id))
                continue
            done += 1
            _log.info("consolidated", space_id=str(space.space_id), **report.figures)
        return done

    async def run(
        self,
        space: SpaceKey,
        now: datetime,
        *,
        dry_run: bool = False,
        report: Callable[[Progress], None] = _silent,
    ) -> Report:
        """Merge, supersede and archive what is due. It can be killed and run again; others may write meanwhile.

        Args:
            now: The moment at which entries have faded.
            dry_run: Plan only; nothing is written.

        Raises:
            ConflictError: If this process consolidates the space already.
            UnavailableError: If the store does not answer.
        """
        if space in self._running:
            raise ConflictError(f"{space.name} is being consolidated; wait for that")
        self._running.add(space)
        try:
            return await self._run(space, now, dry_run=dry_run, report=report)
        finally:
            self._running.discard(space)

    async def _run(
        self, space: SpaceKey, now: datetime, *, dry_run: bool, report: Callable[[Progress], None]
    ) -> Report:
        state = await self.store.state(space)
        if state is None:
            return Report(0, Counter(), 0, 0, 0, centre=False, changes=())
        run = _Run(space, state.model_id, self.band_of(state.model_id), now, dry_run, report)
        await self._scan(run, state.live)
        await self._proposals(run)
        await self._merge(run)
        await self._settle(run)
        await self._archive(run)
        moved = False
        if not dry_run:
            moved = await self.store.refresh_centre(space, state.model_id)
            await self.store.mark(space, state.sequence)
        return Report(
            len(run.sketches), run.counts, run.undecided, run.skipped, run.outlines, moved, tuple(run.changes)
        )

    async def _scan(self, run: _Run, live: int) -> None:
        async for portion in self.store.scan(run.space):
            read = await asyncio.to_thread(_read_stale, portion)
            for scanned in portion:
                known = scanned.outline or read[scanned.id]
                run.sketches[scanned.id] = _sketch(scanned, known)
                run.vital[scanned.id] = scanned.vitality
            run.outlines += len(read)
            if read and not run.dry:
                packed = {(s.id, s.version): pack_outline(read[s.id]) for s in portion if s.id in read}
                await self.store.keep_outlines(run.space, packed)
            run.report(Progress("read", len(run.sketches), max(live, len(run.sketches))))

    async def _proposals(self, run: _Run) -> None:
        pending = await self.store.pending(run.space)
        ids = {i for one in pending for i in (one.proposal.kept, one.proposal.superseded)}
        items = await self._load(run, sorted(ids))
        changes: dict[PublicId, Change] = {}
        for one in pending:
            proposal = one.proposal
            kept, lost = items.get(proposal.kept), items.get(proposal.superseded)
            if kept is None or lost is None or proposal.kept in changes or not may_give_way(lost.entry, kept.entry):
                continue
            if (kept.entry.version, lost.entry.version) == (proposal.kept_version, proposal.superseded_version):
                changes[lost.entry.id] = _change(Action.SUPERSEDE, Why(one.why), lost.entry, kept.entry)
        await self._apply(run, list(changes.values()))  # maintenance takes them away: they are moot by then

    async def _merge(self, run: _Run) -> None:
        blocks = await asyncio.to_thread(repetition_blocks, run.standing())
        total, done = len(blocks), 0
        for pack in _packs(blocks):
            items = await self._load(run, _members(pack))
            merges = await asyncio.to_thread(merge_blocks, pack, items, run.band)
            await self._apply(run, [_change(Action.MERGE, m.why, m.merged, m.kept) for m in merges])
            if run.dry:
                for merge in merges:
                    before = run.expected.get(merge.kept.id, merge.kept)
                    run.expected[merge.kept.id] = united(before, [merge.merged])
            done += len(pack)
            run.report(Progress("compared for repetitions", done, total))

    async def _settle(self, run: _Run) -> None:
        standing = run.standing()
        facts = await asyncio.to_thread(fact_blocks, standing)
        wordings = await asyncio.to_thread(wording_blocks, standing)
        members = _members((*facts, *wordings))
        run.report(Progress("compared for contradictions", 0, len(members)))
        items = await self._load(run, members)
        found = await asyncio.to_thread(find_conflicts, items, facts, wordings, run.band)
        run.undecided = len(found.undecided)
        run.report(Progress("compared for contradictions", len(members), len(members)))
        changes = [
            _change(Action.SUPERSEDE, why, items[loser].entry, items[kept].entry) for loser, kept, why in found.losers
        ]
        await self._apply(run, changes)

    async def _archive(self, run: _Run) -> None:
        faded = [s for s in run.standing() if has_faded(run.vital[s.id], run.now, self.archive_below)]
        for portion in _batched(faded, LOADED):
            items = await self._load(run, [sketch.id for sketch in portion])
            seen = {sketch.id: run.versions.get(sketch.id, sketch.version) for sketch in portion}
            whole = [item.entry for item in items.values() if item.entry.version == seen[item.entry.id]]
            await self._apply(run, [_change(Action.ARCHIVE, Why.FADED, entry) for entry in whole])

    async def _load(self, run: _Run, ids: Sequence[PublicId]) -> dict[PublicId, Item]:
        items: dict[PublicId, Item] = {}
        for portion in _batched(ids, LOADED):
            items |= await self.store.load(run.space, run.model_id, portion)
        if run.dry:
            items = {
                i: Item(run.expected.get(i, item.entry), item.vector) for i, item in items.items() if i not in run.gone
            }
        return items

    async def _apply(self, run: _Run, changes: Sequence[Change]) -> None:
        done = 0
        for batch in _apart(changes):
            applied = batch if run.dry else await self._apply_batch(run, batch)
            for change in applied:
                run.note(change)
            run.skipped += len(batch) - len(applied)
            done += len(batch)
            run.report(Progress("planned" if run.dry else "changed", done, len(changes)))

    async def _apply_batch(self, run: _Run, batch: Sequence[Change]) -> tuple[Change, ...]:
        seen = {change.entry: change.version for change in batch}
        seen |= {change.kept: change.kept_version for change in batch if change.kept and change.kept_version}
        async with self.store.unit(run.space) as unit:
            current = {entry.id: entry for entry in await unit.currents(sorted(seen))}
            seen = {
                i: max(version, run.versions.get(i, 0)) for i, version in seen.items()
            }  # what this run wrote itself
            applied = apply_changes(batch, current, seen, unit.advance)
            if not applied.done:
                return ()
            await unit.write([VersionWrite(version) for version in applied.versions])
            for kept, merged in applied.merged.items():
                await unit.carry_uses(merged, kept)
            await _relieve(unit, [current[change.entry] for change in applied.done])
        run.versions |= {version.id: version.version for version in applied.versions}
        return applied.done


async def _relieve(unit: SpaceUnit, gone: Iterable[Entry]) -> None:
    """Those that only what is gone contradicted are no longer in doubt."""
    claims = [entry.content.claim for entry in gone if entry.unresolved]
    keys = sorted({claim_key(claim) for claim in claims if claim is not None})
    if keys:
        free = relieved(await unit.claimants(keys), unit.advance())
        if free:
            await unit.write([VersionWrite(entry) for entry in free])


def _read_stale(portion: Sequence[Scanned]) -> dict[PublicId, Outline]:
    return {s.id: outline(s.text or "", s.given_claim) for s in portion if s.outline is None}


def _sketch(scanned: Scanned, known: Outline) -> Sketch:
    return Sketch(scanned.id, scanned.version, scanned.tier, scanned.scope, known, scanned.claim, scanned.vitality)


def _change(action: Action, why: Why, entry: Entry, kept: Entry | None = None) -> Change:
    seen = Change(action, why, entry.id, entry.version, entry.content.text)
    if kept is None:
        return seen
    return replace(seen, kept=kept.id, kept_version=kept.version, kept_text=kept.content.text)


def _members(blocks: Iterable[Block]) -> list[PublicId]:
    return sorted({entry_id for block in blocks for entry_id in block})


def _packs(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """The blocks in their order, so many together as are loaded at once; a block is never cut."""
    pack: list[Block] = []
    size = 0
    for block in blocks:
        if pack and size + len(block) > LOADED:
            yield pack
            pack, size = [], 0
        pack.append(block)
        size += len(block)
    if pack:
        yield pack


def _apart(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    """Changes in batches, in their order, in each of which no entry both gives way and stays."""
    batch: list[Change] = []
    leaving: set[PublicId] = set()
    staying: set[PublicId] = set()
    for change in changes:
        clash = change.entry in staying or change.entry in leaving or change.kept in leaving
        if batch and (clash or len(batch) == BATCH):
            yield batch
            batch, leaving, staying = [], set(), set()
        batch.append(change)
        leaving.add(change.entry)
        if change.kept is not None:
            staying.add(change.kept)
    if batch:
        yield batch


def _batched(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
