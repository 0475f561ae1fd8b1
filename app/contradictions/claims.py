"""What a short text asserts of somebody: subject, attribute, value."""

from functools import lru_cache

from app.contradictions.lexicon import country_of, languages
from app.contradictions.normal import normal_value, without_ending
from app.contradictions.reading import ATTITUDE, readings
from app.contradictions.subjects import subject_key
from app.contradictions.wording import sentences
from app.domain.entries import Cardinality, Claim

_NEVER_REFINED = frozenset(("diet", "smoking", "alcohol", "answer length", "units"))


def derive_claim(text: str) -> Claim | None:
    """The first claim that a text makes about somebody or something; None when unsure.

    Questions, wishes, reports of what others say and what no longer holds give no claim. The value
    is quoted from the text, or one of a closed set ("vegetarian", "positive", "no").
    """
    return next((reading.claim for reading in readings(text) if not reading.denied), None)


def claim_key(claim: Claim) -> tuple[str, str]:
    """Subject and attribute in normal form: two claims with one key are about the same thing."""
    return claim_key_of(claim.subject, claim.attribute)


@lru_cache(maxsize=8192)
def claim_key_of(subject: str, attribute: str) -> tuple[str, str]:
    """The key of a claim about a subject and an attribute."""
    return subject_key(subject), _attribute_key(attribute)


def _attribute_key(attribute: str) -> str:
    words = [word.folded for sentence in sentences(attribute) for word in sentence.words]
    folded = " ".join(words) or attribute.strip()
    if words[:2] == [ATTITUDE, ":"]:
        return f"{ATTITUDE}:{_singular(words[2:])}"
    for language in languages():
        if folded in language.attributes:
            return language.attributes[folded]
    return folded


def _singular(words: list[str]) -> str:
    return without_ending(" ".join(word.removesuffix("s") if len(word) > 3 else word for word in words))


def value_key(claim: Claim) -> str:
    """The value in normal form: two claims with one key and one value say the same."""
    return normal_value(claim_key(claim)[1], claim.value)


def values_conflict(one: Claim, other: Claim) -> bool:
    """Whether two claims with one key exclude each other: single-valued, and neither value refines the other."""
    if Cardinality.MANY in (one.cardinality, other.cardinality):
        return False
    first, second = value_key(one), value_key(other)
    if first == second:
        return False
    if claim_key(one)[1] in _NEVER_REFINED or any(char.isdigit() for char in first + second):
        return True
    ones, others = set(first.split()), set(second.split())
    return not (ones <= others or others <= ones)


def implied_claim(claim: Claim) -> Claim | None:
    """What follows from a claim: who lives in a known city lives in its country, who has a job works."""
    attribute = claim_key(claim)[1]
    if attribute in ("job", "employer"):
        return Claim(claim.subject, "working life", "employed")
    country = country_of().get(value_key(claim)) if attribute == "residence" else None
    return Claim(claim.subject, "country of residence", country) if country else None
