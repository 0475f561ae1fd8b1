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
