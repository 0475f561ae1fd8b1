"""Which entries are worth comparing: blocks of entries that share something. Linear in the size of the space."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from app.consolidation.records import Sketch
from app.contradictions.wordings import ENOUGH_SHARED
from app.domain.entries import Tier
from app.domain.ids import PublicId

Block = tuple[PublicId, ...]
"""Entries of one tier and scope, in the order of their ids."""


def repetition_blocks(sketches: Iterable[Sketch]) -> tuple[Block, ...]:
    """Entries that may say the same: the same text, the same content words and denials, or the same claim."""
    groups: defaultdict[Hashable, list[Sketch]] = defaultdict(list)
    for sketch in sketches:
        gist = sketch.outline.gist
        groups["text", sketch.tier, sketch.scope, gist.normal].append(sketch)
        groups["words", sketch.tier, sketch.scope, gist.words, gist.negations].append(sketch)
        if sketch.claim is not None:
            groups["claim", sketch.tier, sketch.scope, sketch.claim].append(sketch)
    return _blocks(groups.values())


def fact_blocks(sketches: Iterable[Sketch]) -> tuple[Block, ...]:
    """Memories that may assert something else of the same subject and attribute."""
    groups: defaultdict[Hashable, list[Sketch]] = defaultdict(list)
    for sketch in _memories(sketches):
        for key in sketch.outline.topics.keys:
            groups[sketch.scope, key].append(sketch)
    return _blocks(groups.values())


def wording_blocks(sketches: Iterable[Sketch]) -> tuple[Block, ...]:
    """Memories whose content words are the same, or differ by one among many."""
    groups: defaultdict[tuple[str, frozenset[int]], list[Sketch]] = defaultdict(list)
    for sketch in _memories(sketches):
        if sketch.outline.topics.words:
            groups[sketch.scope, sketch.outline.topics.words].append(sketch)
    near: list[Sequence[Sketch]] = list(groups.values())
    for (scope, words), members in groups.items():
        if len(words) > ENOUGH_SHARED:
            fewer = ((scope, words - {word}) for word in sorted(words))
            near += [members + groups[key] for key in fewer if key in groups]
    return _blocks(near)


def _memories(sketches: Iterable[Sketch]) -> Iterable[Sketch]:
    return (sketch for sketch in sketches if sketch.tier is Tier.MEMORIES)


def _blocks(groups: Iterable[Sequence[Sketch]]) -> tuple[Block, ...]:
    blocks = {tuple(sorted(sketch.id for sketch in group)) for group in groups if len(group) > 1}
    return tuple(sorted(blocks, key=lambda block: (block[0], -len(block), block)))
