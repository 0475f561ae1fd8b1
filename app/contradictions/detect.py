"""Which statements cannot both hold.

Claims about the same single-valued attribute conflict whatever their similarity. Wording decides only
between statements whose similarity lies in the band of the embedder.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.contradictions.facts import facts_clash, facts_of
from app.contradictions.features import features
from app.contradictions.wordings import clash, said_of_self
from app.domain.entries import Claim
from app.domain.ids import PublicId
from app.text.content import number_of, pairs_where, signature, signatures

Why = Literal["claim", "negation", "antonym", "number", "time", "place"]


@dataclass(frozen=True, slots=True)
class SimilarityBand:
    """Cosine similarities, in [-1, 1], between which wording is compared; both ends belong to it."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not -1 <= self.lower <= self.upper <= 1:
            raise ValueError(f"-1 <= lower <= upper <= 1, got {self.lower} and {self.upper}")


@dataclass(frozen=True, slots=True)
class Topics:
    """What a statement is about, as numbers: whatever two statements share, their topics share.

    Attributes:
        keys: Subjects and attributes of its claims.
        words: The content of its wording.
        signature: Of the words.
    """

    keys: frozenset[int]
    words: frozenset[int]
    signature: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", signature(self.words))


def topics(text: str, claim: Claim | None) -> Topics:
    """Read what a statement is about."""
    keys = (number_of("\n".join(key)) for key in facts_of(text, claim).keys)
    return Topics(frozenset(keys), frozenset(map(number_of, features(text).content)))


@dataclass(frozen=True, slots=True)
class Statement:
    """What is compared of an entry, a record or a message.

    Attributes:
        claim: Given by a caller or derived when it was stored; the text is read as well.
        scope: Where in the space it holds.
        valid_from: Since when it is true, if known.
        confirmed_at: When somebody last said so.
        sequence: Position in the history of the space; decides when times are equal.
        topics: Of text and claim, if they are known already.
    """

    id: PublicId
    text: str
    claim: Claim | None
    scope: str
    valid_from: datetime | None
    confirmed_at: datetime
    sequence: int
    topics: Topics | None = None

    @property
    def since(self) -> tuple[datetime, int]:
        """When it became true, as far as anybody knows, and its position in the history."""
        return (self.valid_from or self.confirmed_at, self.sequence)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that cannot both hold; `one` has the smaller id when found by this package."""

    one: PublicId
    other: PublicId
    why: Why


def find_contradictions(
    statements: Sequence[Statement], similarity: NDArray[np.float32] | None, band: SimilarityBand
) -> tuple[Contradiction, ...]:
    """Every pair that cannot both hold, by id; the order of the statements is irrelevant.

    Args:
        statements: At most a few hundred; ids are unique.
        similarity: Cosine similarities, `(n, n)`, symmetric, in the order of `statements`; NaN where
            unknown, which is never inside the band. None: only claims are compared.
        band: Where wording is compared.
    """
    known = [one.topics or topics(one.text, one.claim) for one in statements]
    found: dict[tuple[int, int], Why] = {}
    for i, j in _wording_candidates(known, similarity, band):
        why = clash(features(statements[i].text), features(statements[j].text))
        if why:
            found[i, j] = why
    for i, j in _claim_candidates(known):
        by_claim = _facts_why(statements[i], statements[j])
        if by_claim:
            found[i, j] = by_claim
    pairs = (_contradiction(statements[i], statements[j], why) for (i, j), why in found.items())
    return tuple(sorted((pair for pair in pairs if pair), key=lambda pair: (pair.one, pair.other)))


def _contradiction(one: Statement, other: Statement, why: Why) -> Contradiction | None:
    if not scopes_can_meet(one.scope, other.scope):
        return None
    return Contradiction(min(one.id, other.id), max(one.id, other.id), why)


def contradicts(earlier: str, later: str, claims: tuple[Claim | None, Claim | None] = (None, None)) -> Why | None:
    """Why two texts cannot both hold, similarity apart; None when they can."""
    by_claim = facts_clash(facts_of(earlier, claims[0]), facts_of(later, claims[1]))
    return by_claim or clash(features(earlier), features(later))


def contradicted_by(memory: Statement, message_text: str, message_claim: Claim | None) -> bool:
    """Whether what somebody just said shows that a memory about them no longer holds.

    The author of the message is the person whom the memory calls "self". Questions, wishes and
    sentences about others say nothing about them.
    """
    known = facts_of(memory.text, memory.claim)
    if facts_clash(known, facts_of(message_text, message_claim)):
        return True
    return any(clash(features(memory.text), said) for said in said_of_self(message_text))


def says_of_self(text: str) -> bool:
    """Whether a message can contradict any memory at all: most say nothing of their author."""
    return bool(facts_of(text, None) or said_of_self(text))


def scopes_can_meet(one: str, other: str) -> bool:
    """Whether two scopes can hold at once: not two stories, two chats, two scenes of one story."""
    for first, second in zip(one.split("/"), other.split("/"), strict=False):
        if first != second:
            return first.partition(":")[0] != second.partition(":")[0]
    return True


def _facts_why(one: Statement, other: Statement) -> Why | None:
    earlier, later = (other, one) if one.since > other.since else (one, other)
    return facts_clash(facts_of(earlier.text, earlier.claim), facts_of(later.text, later.claim))


def _claim_candidates(known: Sequence[Topics]) -> Iterator[tuple[int, int]]:
    """Pairs that may say something about the same subject and attribute."""
    index: defaultdict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(known):
        for key in one.keys:
            index[key].append(number)
    groups = (numbers for numbers in index.values() if len(numbers) > 1)
    return iter(sorted({pair for numbers in groups for pair in combinations(numbers, 2)}))


def _wording_candidates(
    known: Sequence[Topics], similarity: NDArray[np.float32] | None, band: SimilarityBand
) -> list[tuple[int, int]]:
    """Pairs inside the band whose content words differ by one at most."""
    if similarity is None or len(known) < 2:
        return []
    rows, columns = pairs_where((similarity >= band.lower) & (similarity <= band.upper))
    differing = np.zeros(len(rows), dtype=np.int16)  # words in only one of two, at least
    for part in signatures([one.signature for one in known]).T:
        differing += np.bitwise_count(part[rows] ^ part[columns])
    close = differing <= 1
    return list(zip(rows[close].tolist(), columns[close].tolist(), strict=True))
