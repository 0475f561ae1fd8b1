"""Which entries say the same, and what is left when they are merged. Similarity alone never merges.

Two entries are merged only within a scope, and only if they hold at the same times, were said by the same author
(unless they are plainly about somebody else), and assert the same.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from app.consolidation.blocks import Block
from app.consolidation.records import Item, Why
from app.contradictions.claims import claim_key, value_key
from app.contradictions.detect import SimilarityBand, contradicts
from app.contradictions.lexicon import languages
from app.contradictions.reading import bare_reading
from app.contradictions.subjects import SELF
from app.contradictions.wording import TEXT_CHARS, fold, sentences
from app.domain.entries import TAGS, Author, Claim, Content, Entry, Tier
from app.domain.ids import PublicId
from app.entries.decide import is_kept_by_hand
from app.text.content import negations
from app.text.normalise import normalise_text

COMPARED = 50
"""An entry is compared with so many of its block that differ from each other."""

ROTATED_WORDS = 4
"""From so many words on, a phrase may have moved from the end of a sentence to its start."""

_SAY_NOTHING = frozenset(
    (
        *("a", "an", "the", "really", "actually", "please", "that"),
        *("il", "lo", "la", "gli", "le", "un", "uno", "una", "davvero", "proprio", "che"),
        *("opravdu", "vazne", "ze"),
    )
)
"""Folded words that make no difference: articles, emphasis, and what introduces a clause."""


@dataclass(frozen=True, slots=True)
class Merge:
    """One entry says what another says."""

    kept: Entry
    merged: Entry
    why: Why


def find_merges(items: Iterable[Item], band: SimilarityBand | None) -> tuple[Merge, ...]:
    """Who gives way to whom within a block: the one that says most stays, of equals the earliest.

    Args:
        band: From its lower end on, similarity confirms that two wordings are one; None: only texts and claims do.
    """
    kept: list[Item] = []
    merges: list[Merge] = []
    for item in sorted(items, key=_precedence):
        for place, other in enumerate(kept[:COMPARED]):
            why = None if is_kept_by_hand(item.entry) else says_the_same(other, item, band)
            if why is not None:
                merges.append(Merge(other.entry, item.entry, why))
                kept[place] = replace(other, entry=united(other.entry, [item.entry]))
                break
        else:
            kept.append(item)
    return tuple(merges)


def says_the_same(kept: Item, other: Item, band: SimilarityBand | None) -> Why | None:
    """Why one entry adds nothing to another; None if it may."""
    one, two = kept.entry, other.entry
    if not _may_be_one(one, two):
        return None
    if normalise_text(one.content.text) == normalise_text(two.content.text):
        return Why.SAME_TEXT
    if one.tier is not Tier.MEMORIES or contradicts(*_texts(one, two), _claims(one, two)) is not None:
        return None
    if _same_words(*_texts(one, two)) and _is_near(kept, other, band):
        return Why.SAME_WORDING
    return Why.SAME_CLAIM if _same_claim(one.content, two.content) else None


def united(kept: Entry, merged: Sequence[Entry]) -> Entry:
    """The entry that stays, with all that the others knew; the same in whatever order they come.

    Its text, its author and its own source stay. The others keep theirs, and are named in `merged_from`.
    """
    content, confirmed, sources = kept.content, kept.last_confirmed_at, set(kept.merged_from)
    for other in merged:
        content = _united(content, other.content)
        confirmed = max(confirmed, other.last_confirmed_at)
        sources |= {other.id, *other.merged_from}
    ordered = tuple(sorted(sources))
    return replace(kept, content=content, last_confirmed_at=confirmed, merged_from=ordered)


def _united(one: Content, two: Content) -> Content:
    takes_claim = two.claim is not None and not two.claim_derived and (one.claim is None or one.claim_derived)
    return replace(
        one,
        category=one.category or two.category,
        tags=tuple(dict.fromkeys((*one.tags, *sorted(two.tags))))[:TAGS],
        claim=two.claim if takes_claim else one.claim,
        claim_derived=False if takes_claim else one.claim_derived,
        importance=_most(one.importance, two.importance),
        confidence=_most(one.confidence, two.confidence),
    )


def _most(one: float | None, two: float | None) -> float | None:
    known = [value for value in (one, two) if value is not None]
    return max(known) if known else None


def _precedence(item: Item) -> tuple[int, PublicId]:
    return (-len(_folded(item.entry.content.text) - _SAY_NOTHING), item.entry.id)


def _may_be_one(one: Entry, two: Entry) -> bool:
    """Whether nothing beside the wording tells two entries apart."""
    first, second = one.content, two.content
    return (
        (one.tier, first.scope, one.unresolved) == (two.tier, second.scope, two.unresolved)
        and (first.valid_from, first.valid_to) == (second.valid_from, second.valid_to)
        and (second.category is None or first.category in (None, second.category))
        and normalise_text(first.trigger or "") == normalise_text(second.trigger or "")
        and second.context in (None, first.context)
        and _agree(first.claim, second.claim)
        and (_author_key(first.author) == _author_key(second.author) or _about_others(first, second))
        and (one.tier is not Tier.EPISODES or _same_event(first, second))
    )


def _same_event(one: Content, two: Content) -> bool:
    """What happened at one known moment among the same people: without a moment, things happen again."""
    known = one.occurred_at is not None
    return known and (one.occurred_at, one.session, sorted(one.participants)) == (
        two.occurred_at,
        two.session,
        sorted(two.participants),
    )


def _agree(one: Claim | None, two: Claim | None) -> bool:
    return one is None or two is None or _told(one) == _told(two)


def _told(claim: Claim) -> tuple[tuple[str, str], str, str]:
    return claim_key(claim), value_key(claim), claim.cardinality.value


def _author_key(author: Author | None) -> tuple[str, ...]:
    if author is None:
        return ()
    if author.id is not None:
        return ("id", author.platform or "", author.id)
    return ("name", author.platform or "", fold(author.name or ""))


def _about_others(one: Content, two: Content) -> bool:
    """Whether both claim something of somebody who is not their author: then it is no matter who says it."""
    return all(
        content.claim is not None and claim_key(content.claim)[0].partition("'s ")[0] != SELF for content in (one, two)
    ) and not any(_speaks_of_self(content.text) for content in (one, two))


def _speaks_of_self(text: str) -> bool:
    words = _folded(text)
    return any(not words.isdisjoint(language.words["first_person"]) for language in languages())


def _texts(one: Entry, two: Entry) -> tuple[str, str]:
    return one.content.text, two.content.text


def _claims(one: Entry, two: Entry) -> tuple[Claim | None, Claim | None]:
    return one.content.claim, two.content.claim


def _same_words(one: str, two: str) -> bool:
    """Whether two texts have the same words in the same order, but for some that say nothing and a moved phrase."""
    if max(len(one), len(two)) > TEXT_CHARS:
        return False
    first, second = _words(one), _words(two)
    if len(first) != len(second) or not first:
        return False
    if first == second:
        return True
    is_one_sentence = len(first) >= ROTATED_WORDS and len(sentences(one)) == len(sentences(two)) == 1
    return is_one_sentence and any(first == second[cut:] + second[:cut] for cut in range(1, len(second)))


def _words(text: str) -> list[str]:
    folded = [word.folded for sentence in sentences(text) for word in sentence.words]
    return [word for word in folded if word not in _SAY_NOTHING and word != ","]


def _is_near(one: Item, two: Item, band: SimilarityBand | None) -> bool:
    if band is None or one.vector is None or two.vector is None:
        return False
    return float(np.dot(one.vector, two.vector)) >= band.lower


def _same_claim(kept: Content, other: Content) -> bool:
    """Whether both say one thing and the other says nothing beside it that is not in the kept one."""
    if kept.claim is None or other.claim is None or _told(kept.claim) != _told(other.claim):
        return False
    if negations(kept.text) != negations(other.text) or max(len(kept.text), len(other.text)) > TEXT_CHARS:
        return False
    if _beside_claim(other) <= _folded(kept.text):
        return True
    return _is_bare(kept) and _is_bare(other) and _names(kept) == _names(other)


def _is_bare(content: Content) -> bool:
    read = bare_reading(content.text)
    return read is not None and content.claim is not None and _told(read.claim) == _told(content.claim)


def _names(content: Content) -> frozenset[str]:
    """Words outside the claim that no wording of a claim is made of: "uncle Bob" and "uncle Tom" are two uncles."""
    claim = content.claim
    claimed = _folded("" if claim is None else f"{claim.value} {claim.attribute}")
    return _folded(content.text) - claimed - _words_of_claims()


@cache
def _words_of_claims() -> frozenset[str]:
    """Every word that the wordings of claims know, in all languages."""
    known: set[str] = set()
    for language in languages():
        known |= language.vocabulary
        for texts in (language.attribute_nouns, language.attributes, [rule.pattern.pattern for rule in language.rules]):
            known.update(_LETTERS.findall(" ".join(texts)))
    return frozenset(known)


_LETTERS = re.compile(r"[^\W\d_]+")


def _beside_claim(content: Content) -> frozenset[str]:
    """The words of a text that its claim does not give: neither its own nor other names of the attribute."""
    claim = content.claim
    if claim is None:
        return _folded(content.text)
    attribute = claim_key(claim)[1]
    names = [name for one in languages() for name, key in one.attributes.items() if key == attribute]
    empty = frozenset().union(*(one.words["stopwords"] for one in languages()))
    return _folded(content.text) - _folded(f"{claim.subject} {claim.attribute} {claim.value} {' '.join(names)}") - empty


def _folded(text: str) -> frozenset[str]:
    """The words of a text, signs and clitics left out."""
    return frozenset(word.folded for sentence in sentences(text) for word in sentence.words if word.folded[0].isalnum())


def merge_blocks(blocks: Iterable[Block], items: Mapping[PublicId, Item], band: SimilarityBand | None) -> list[Merge]:
    """The merges of several blocks, one after the other: what a block merged away is not there for the next."""
    present = dict(items)
    merges: list[Merge] = []
    for block in blocks:
        for merge in find_merges([present[i] for i in block if i in present], band):
            merges.append(merge)
            item = present[merge.kept.id]
            present[merge.kept.id] = replace(item, entry=united(item.entry, [merge.merged]))
            del present[merge.merged.id]
    return merges
