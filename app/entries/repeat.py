"""What is said again: a repetition reinforces the memory that says it already. Pure.

Same text, blind to case, spacing and punctuation, or same claim in words that add nothing. Another scope, another
validity, another author or another category makes another memory, whatever it says.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from app.contradictions.claims import claim_key, value_key
from app.contradictions.features import features
from app.domain.entries import TAGS, Author, Claim, Content, Entry
from app.entries.decide import Moment, next_version
from app.scoring.signals import DEFAULT_CONFIDENCE
from app.text.normalise import fold, normalise_text

CONFIDENCE_GAIN = 0.25
"""What a repetition that is certain takes away of the doubt that is left."""


COMPARED_WORDS = 60
"""Longer texts are not compared by their words: what comes late would not be seen."""


def repeated_by(content: Content, standing: Iterable[Entry]) -> Entry | None:
    """The live memory that a content says again, the oldest if there are several; one of the same text goes first."""
    alike = sorted((e for e in standing if e.is_live and _may_be_same(content, e.content)), key=lambda e: e.sequence)
    normal = normalise_text(content.text)
    same_text = (e for e in alike if normalise_text(e.content.text) == normal and _claims_agree(content, e.content))
    same_claim = (e for e in alike if _same_claim(content.claim, e.content.claim) and _adds_nothing(content, e.content))
    return next(same_text, None) or next(same_claim, None)


def reinforce(entry: Entry, content: Content, moment: Moment, *, said_at: datetime | None = None) -> Entry:
    """The next version: confirmed, surer, at least as important; its text and its claim stay.

    Args:
        said_at: When it was said again, maybe before what is known; None for now.
    """
    known, at = entry.content, said_at or moment.now
    later = at >= entry.last_confirmed_at
    merged = replace(
        known,
        category=known.category or content.category,
        tags=tuple(dict.fromkeys((*known.tags, *content.tags)))[:TAGS],
        importance=max((one for one in (known.importance, content.importance) if one is not None), default=None),
        confidence=_surer(known.confidence, content.confidence),
        session=(content.session if later else None) or known.session,
        source=(content.source if later else None) or known.source,
        valid_from=known.valid_from and min(known.valid_from, said_at or known.valid_from),
    )
    version = next_version(entry, moment, reason="reinforced", content=merged)
    return replace(version, last_confirmed_at=max(entry.last_confirmed_at, at))


def _may_be_same(content: Content, known: Content) -> bool:
    return (
        (content.scope, content.valid_to) == (known.scope, known.valid_to)
        and same_author(content.author, known.author)
        and content.valid_from in (None, known.valid_from)
        and content.category in (None, known.category, *(() if known.category else (content.category,)))
        and content.context in (None, known.context)
    )


def same_author(one: Author | None, other: Author | None) -> bool:
    """By the platform's id where both have one, because names change; else by name, blind to case."""
    if one is None or other is None:
        return one is other
    if one.id is not None and other.id is not None:
        return (one.platform, one.id) == (other.platform, other.id)
    return (one.platform, one.id, fold(one.name or "")) == (other.platform, other.id, fold(other.name or ""))


def _claims_agree(content: Content, known: Content) -> bool:
    """Whether a claim that a caller gave with the same text is the one that is known."""
    given = content.claim is not None and not content.claim_derived
    return not given or _same_claim(content.claim, known.claim)


def _same_claim(one: Claim | None, other: Claim | None) -> bool:
    if one is None or other is None or one.cardinality is not other.cardinality:
        return False
    return claim_key(one) == claim_key(other) and value_key(one) == value_key(other)


def _adds_nothing(content: Content, known: Content) -> bool:
    """Whether the words of a content say nothing that the known ones do not."""
    said, before = features(content.text), features(known.text)
    return (
        len(content.text.split()) <= COMPARED_WORDS
        and said.content <= before.content
        and set(said.numbers) <= set(before.numbers)
        and said.times <= before.times
        and said.places <= before.places
        and (said.negated, said.poles, said.is_past) == (before.negated, before.poles, before.is_past)
    )


def _surer(known: float | None, said: float | None) -> float:
    before = DEFAULT_CONFIDENCE if known is None else known
    again = DEFAULT_CONFIDENCE if said is None else said
    return before + (1 - before) * again * CONFIDENCE_GAIN
