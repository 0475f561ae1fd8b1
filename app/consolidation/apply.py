"""What a batch of proposals makes of the entries as they are now. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from app.consolidation.duplicates import united
from app.consolidation.records import Action, Change
from app.domain.entries import Entry, Status
from app.domain.ids import PublicId
from app.entries.decide import Moment, next_version, supersede

Advance = Callable[[], Moment]


@dataclass(frozen=True, slots=True)
class Applied:
    """New versions in the order in which they are to be written, those that give way first.

    Attributes:
        merged: For each entry that others were merged into, these.
        done: The proposals that were applied; all others met entries that had changed meanwhile.
    """

    versions: tuple[Entry, ...]
    merged: Mapping[PublicId, tuple[PublicId, ...]]
    done: tuple[Change, ...]


def apply_changes(
    changes: Iterable[Change], current: Mapping[PublicId, Entry], seen: Mapping[PublicId, int], advance: Advance
) -> Applied:
    """Compare and set: a proposal is applied if its entries are live and at the versions that were seen.

    Args:
        current: The current versions of all entries that the proposals name, as far as they exist.
        seen: Of each of them the version that the proposals were made from.
        advance: Gives the moment of the next version.
    """
    live = {i: entry for i, entry in current.items() if entry.is_live and seen.get(i) == entry.version}
    groups: defaultdict[PublicId, list[Change]] = defaultdict(list)
    losers: list[Entry] = []
    done: list[Change] = []
    for change in changes:
        if change.entry not in live or (change.kept is not None and change.kept not in live):
            continue
        done.append(change)
        if change.action is Action.MERGE and change.kept is not None:
            groups[change.kept].append(change)
        else:
            losers.append(_loser(change, live, advance()))
    kept: list[Entry] = []
    for kept_id, merges in groups.items():
        whole = united(live[kept_id], [live[merge.entry] for merge in merges])
        losers += [supersede(live[merge.entry], whole, advance(), reason="merged") for merge in merges]
        kept.append(_merged_version(live[kept_id], whole, advance()))
    merged = {kept_id: tuple(merge.entry for merge in merges) for kept_id, merges in groups.items()}
    return Applied((*losers, *kept), merged, tuple(done))


def _loser(change: Change, live: Mapping[PublicId, Entry], moment: Moment) -> Entry:
    entry = live[change.entry]
    if change.kept is None:
        return replace(next_version(entry, moment, reason="archived"), status=Status.ARCHIVED)
    return supersede(entry, live[change.kept], moment)


def _merged_version(before: Entry, whole: Entry, moment: Moment) -> Entry:
    version = next_version(before, moment, reason="merged", content=whole.content)
    return replace(version, last_confirmed_at=whole.last_confirmed_at, merged_from=whole.merged_from)
