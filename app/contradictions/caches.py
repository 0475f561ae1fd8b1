"""Gives up what is remembered of texts that were read: they may have been erased."""

from app.contradictions import claims, facts, features, normal, reading, wording, wordings
from app.text import content

_CACHES = (
    wording.sentences,
    reading.readings,
    facts.facts_of,
    features.features,
    wordings.said_of_self,
    normal.normal_value,
    claims.claim_key_of,
    content.content_terms,
    content.negations,
    content.gist,
)


def forget_texts() -> None:
    """Empty every cache that has texts for keys. They fill again as texts are read."""
    for cache in _CACHES:
        cache.cache_clear()


def counted() -> tuple[int, int]:
    """How often what was asked of a text was remembered, and how often it was worked out, since they were emptied."""
    known = [cache.cache_info() for cache in _CACHES]
    return sum(one.hits for one in known), sum(one.misses for one in known)
