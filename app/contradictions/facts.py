"""The claims of one statement, in normal form, and when those of two exclude each other."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from app.contradictions.claims import claim_key, implied_claim, value_key, values_conflict
from app.contradictions.frames import frames_of
from app.contradictions.lexicon import languages
from app.contradictions.reading import ATTITUDE, readings
from app.contradictions.wording import sentences
from app.domain.entries import Claim

Key = tuple[str, str]
_LIKED = "liked "
_PREFERRED = "preferred "


@dataclass(frozen=True, slots=True)
class Facts:
    """What one statement asserts, implies, denies, and which preference it says has changed.

    Attributes:
        keys: Every key under which it can meet another statement.
        liked: Members of a closed set that are liked, by key.
        switched: The member that is now preferred, by key.
        framed: What stands where only one thing can, by everything that stands around it.
    """

    keys: frozenset[Key]
    asserted: tuple[tuple[Key, Claim], ...]
    implied: tuple[tuple[Key, Claim], ...]
    denied: tuple[tuple[Key, Claim], ...]
    liked: tuple[tuple[Key, str], ...]
    switched: tuple[tuple[Key, str], ...]
    framed: tuple[tuple[Key, str], ...]


@lru_cache(maxsize=8192)
def facts_of(text: str, claim: Claim | None) -> Facts:
    """The facts of a text and of the claim that was given with it; a given one goes first."""
    read = readings(text)
    claims = ([claim] if claim else []) + [one.claim for one in read if not one.denied]
    asserted = tuple({claim_key(one): (claim_key(one), one) for one in reversed(claims)}.values())
    implied = tuple((claim_key(one), one) for _, each in asserted if (one := implied_claim(each)))
    denied = tuple((claim_key(one.claim), one.claim) for one in read if one.denied)
    liked = tuple(found for key, one in asserted if (found := _liking(key, one)))
    switched = tuple(_switch(key, one) for key, one in asserted if key[1].startswith(_PREFERRED) and says_now(text))
    framed = tuple((("frame", frame.around), frame.value) for frame in frames_of(text))
    keys = frozenset(key for pairs in (asserted, implied, denied, liked, switched, framed) for key, _ in pairs)
    return Facts(keys, asserted, implied, denied, liked, switched, framed)


def facts_clash(earlier: Facts, later: Facts) -> Literal["claim", "negation"] | None:
    """Why the facts of two statements exclude each other, if they do."""
    if not earlier.keys & later.keys:
        return None
    if _differ(earlier.asserted, later.asserted):
        return "claim"
    if _differ(earlier.implied, later.asserted) or _differ(earlier.asserted, later.implied):
        return "claim"
    if _denies(earlier, later) or _denies(later, earlier):
        return "negation"
    changed, framed = dict(later.switched), dict(later.framed)
    switched = any(key in changed and changed[key] != value for key, value in earlier.liked)
    return "claim" if switched or any(framed.get(key, value) != value for key, value in earlier.framed) else None


def _differ(ones: tuple[tuple[Key, Claim], ...], others: tuple[tuple[Key, Claim], ...]) -> bool:
    known = dict(others)
    return any(key in known and values_conflict(claim, known[key]) for key, claim in ones)


def _denies(one: Facts, other: Facts) -> bool:
    """Whether one denies just what the other asserts."""
    denied = {(key, value_key(claim)) for key, claim in one.denied}
    return any((key, value_key(claim)) in denied for key, claim in other.asserted)


def _liking(key: Key, claim: Claim) -> tuple[Key, str] | None:
    if not claim.attribute.startswith(ATTITUDE) or value_key(claim) != "positive":
        return None
    thing = claim.attribute.partition(":")[2].strip()
    for language in languages():
        drink = language.closed["drink"].get(thing)
        if drink:
            return (key[0], _LIKED + "drink"), drink
    return None


def _switch(key: Key, claim: Claim) -> tuple[Key, str]:
    subject, attribute = key
    return (subject, _LIKED + attribute.removeprefix(_PREFERRED)), value_key(claim)


def says_now(text: str) -> bool:
    """Whether a text says that something has changed: "now", "instead"."""
    words = {word.folded for sentence in sentences(text) for word in sentence.words}
    return any(not words.isdisjoint(language.words["switches"]) for language in languages())
