"""Gives up what is remembered of texts that were read: they may have been erased."""

from app.contradictions import claims, facts, features, frames, normal, reading, wording, wordings
from app.text import concepts, content, language, stems

_CACHES = (
    wording.sentences,
    reading.readings,
    facts.facts_of,
    features.features,
    frames.frames_of,
    wordings.said_of_self,
    normal.normal_value,
    claims.claim_key_of,
    content.content_terms,
    content.negations,
    content.gist,
)
_WORDS = (features.stem_of, stems.stems, concepts.concepts, language.languages_of_sample)


def forget_texts() -> None:
    """Empty every cache that has texts or words for keys. They fill again as texts are read."""
    for cache in (*_CACHES, *_WORDS):
        cache.cache_clear()


def counted() -> tuple[int, int]:
    """How often what was asked of a text was remembered, and how often it was worked out, since they were emptied."""
    known = [cache.cache_info() for cache in _CACHES]
    return sum(one.hits for one in known), sum(one.misses for one in known)
