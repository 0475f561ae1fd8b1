"""How named entries of a locked space are erased, with what was derived from them alone."""

from collections.abc import Sequence

from app.domain.entries import Entry
from app.domain.ids import PublicId
from app.entries.decide import claim_keys, relieved
from app.entries.ports import VersionWrite
from app.forgetting.ports import ForgettingUnit
from app.forgetting.records import By, Receipt, Selector


async def erase_named(
    unit: ForgettingUnit, named: Sequence[Entry], by: By, receipt_id: PublicId, selector: Selector | None = None
) -> tuple[Receipt, tuple[str, ...]]:
    """Erase entries and what was said of them, and keep a receipt; returns it with every text that they ever had.

    Args:
        selector: Names what else was said that is to go: a turn, an author, a time.
    """
    entries = {entry.id: entry for entry in named}
    fresh: Sequence[Entry] = named
    while fresh:
        fresh = [e for e in await unit.derived_from(fresh) if e.id not in entries]
        entries |= {entry.id: entry for entry in fresh}
    texts = tuple([text for entry in entries.values() for text in await unit.texts(entry)])
    claimants = await unit.claimants(claim_keys([entry.content for entry in entries.values()]))
    standing = [claimant for claimant in claimants if claimant.id not in entries]
    await unit.write([VersionWrite(entry) for entry in relieved(standing, unit.advance())])
    cut = await unit.cut(list(entries.values()), texts, selector, receipt_id)
    await unit.forget_evidence(list(entries))
    removed = await unit.erase(*entries.values())
    body = {
        "kind": "entries",
        "by": by,
        "entries": len(entries),
        "derived": len(entries) - len(named),
        "ids": [str(entry_id) for entry_id in sorted(entries)],
        "removed": {**dict(sorted(removed.items())), **cut.counts},
        "turns": [str(turn) for turn in cut.turns],
        "jobs": cut.jobs,
    }
    return await unit.seal(receipt_id, body), texts
