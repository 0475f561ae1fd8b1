"""Which memories of a space cannot both hold, and which gives way: the rules of an assembly's pool, without its bound.

Within a block a memory is compared with those that hold more strongly: the strongest of all, and the nearest. So ten
thousand memories take seconds even when they share a subject.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from app.consolidation.blocks import Block
from app.consolidation.records import Item, Why
from app.contradictions.detect import Contradiction, SimilarityBand
from app.contradictions.detect import Why as Clash
from app.contradictions.facts import Facts, facts_clash, facts_of
from app.contradictions.features import Features, features
from app.contradictions.resolve import Resolution, resolve
from app.contradictions.wordings import clash
from app.domain.entries import Cardinality, Content
from app.domain.ids import PublicId
from app.entries.decide import may_give_way, statement

STRONGEST = 50
NEAREST = 50

_Pair = tuple[PublicId, PublicId]
_KindOf = Callable[[Item], object]
"""Items of one kind cannot contradict each other."""


@dataclass(frozen=True, slots=True)
class Conflicts:
    """What was found.

    Attributes:
        losers: Who gives way, to whom, and why; each loser once.
        undecided: Pairs that cannot both hold while nothing decides.
    """

    losers: tuple[tuple[PublicId, PublicId, Why], ...]
    undecided: tuple[tuple[PublicId, PublicId], ...]


def find_conflicts(
    items: Mapping[PublicId, Item],
    facts: Iterable[Block],
    wordings: Iterable[Block],
    band: SimilarityBand | None,
) -> Conflicts:
    """Every contradiction within the blocks, decided; entries that are not among the items are ignored.

    Args:
        band: Where wording is compared; None: only claims are.
    """
    found: dict[_Pair, Clash] = {}
    if band is not None:
        for weaker, stronger in _pairs(items, wordings, _wording_kind):
            why = _wording_why(weaker, stronger, band)
            if why is not None:
                found[weaker.entry.id, stronger.entry.id] = why
    for weaker, stronger in _pairs(items, facts, _facts_kind):
        by_facts = facts_clash(_facts(weaker), _facts(stronger))
        if by_facts is not None:
            found[weaker.entry.id, stronger.entry.id] = by_facts
    return _decided(items, found)


def _decided(items: Mapping[PublicId, Item], found: Mapping[_Pair, Clash]) -> Conflicts:
    concerned = sorted({entry_id for pair in found for entry_id in pair})
    resolution = resolve(
        [statement(items[entry_id].entry) for entry_id in concerned],
        [Contradiction(one, other, why) for (one, other), why in found.items()],
    )
    undecided = tuple((one.ids[0], one.ids[1]) for one in resolution.unresolved)
    return Conflicts(_losers(items, resolution), undecided)


def _losers(items: Mapping[PublicId, Item], resolution: Resolution) -> tuple[tuple[PublicId, PublicId, Why], ...]:
    """Each loser with the strongest of those that it gives way to."""
    best: dict[PublicId, tuple[PublicId, Why]] = {}
    for one in resolution.supersessions:
        if not one.for_good:
            continue
        known = best.get(one.superseded)
        if known is None or _since(items[one.kept]) > _since(items[known[0]]):
            best[one.superseded] = (one.kept, Why(one.why))
    ordered = sorted(best.items(), key=lambda pair: pair[0])
    return tuple((loser, kept, why) for loser, (kept, why) in ordered)


def _pairs(items: Mapping[PublicId, Item], blocks: Iterable[Block], kind: _KindOf) -> Iterator[tuple[Item, Item]]:
    """Pairs of a weaker and a stronger item worth comparing, none twice."""
    seen: set[_Pair] = set()
    for block in blocks:
        members = sorted((items[i] for i in block if i in items), key=_since, reverse=True)
        kinds = [kind(item) for item in members]
        for place, weaker in enumerate(members):
            for other in (*range(min(STRONGEST, place)), *range(max(STRONGEST, place - NEAREST), place)):
                stronger = members[other]
                pair = (weaker.entry.id, stronger.entry.id)
                if kinds[place] == kinds[other] or pair in seen:
                    continue
                seen.add(pair)
                if may_give_way(weaker.entry, stronger.entry) and _overlap(
                    weaker.entry.content, stronger.entry.content
                ):
                    yield weaker, stronger


def _overlap(one: Content, two: Content) -> bool:
    """Whether both are said to be true at some moment."""
    ended = one.valid_to is not None and two.valid_from is not None and one.valid_to <= two.valid_from
    begins = two.valid_to is not None and one.valid_from is not None and two.valid_to <= one.valid_from
    return not (ended or begins)


def _since(item: Item) -> tuple[datetime, int]:
    return statement(item.entry).since


def _facts(item: Item) -> Facts:
    return facts_of(item.entry.content.text, item.entry.content.claim)


def _facts_kind(item: Item) -> object:
    """Equal for items whose facts cannot clash: they assert the same, or only what can have many values."""
    facts = _facts(item)
    of_many = all(claim.cardinality is Cardinality.MANY for _, claim in facts.asserted)
    return "many" if of_many and not (facts.implied or facts.denied or facts.liked or facts.switched) else facts


def _wording_kind(item: Item) -> Features:
    return features(item.entry.content.text)


def _wording_why(weaker: Item, stronger: Item, band: SimilarityBand) -> Clash | None:
    if weaker.vector is None or stronger.vector is None:
        return None
    why = clash(features(weaker.entry.content.text), features(stronger.entry.content.text))
    if why is None or not band.lower <= float(np.dot(weaker.vector, stronger.vector)) <= band.upper:
        return None
    return why
