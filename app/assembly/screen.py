"""Screening: what must not be in the prompt, whatever its score.

Each function takes candidates and returns those that stay, with what it dropped: nothing is lost.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from app.assembly.outlines import Outline, outline, unpack_outline
from app.assembly.records import AssemblyRequest, Candidate, Dropped, DropReason, Message
from app.contradictions.detect import SimilarityBand, Statement, contradicted_by, find_contradictions
from app.contradictions.resolve import Supersession, Unresolved, resolve
from app.domain.entries import AGENT_AUTHORS, Tier
from app.domain.ids import PublicId
from app.domain.spaces import visible_scopes
from app.text.content import Gist, content_terms, negations
from app.text.normalise import normalise_text

BandOf = Callable[[str], SimilarityBand]
"""The band of the model that serves a space."""

_COVERED_WORDS = 2
"""Entries with fewer words than this are never taken for covered by a longer text."""


@dataclass(frozen=True, slots=True)
class Screened:
    """The candidates that may be scored, those that may not, and the conflicts between them."""

    kept: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    supersessions: tuple[Supersession, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


def screen(
    candidates: Sequence[Candidate],
    request: AssemblyRequest,
    band: SimilarityBand,
    bands: Mapping[str, SimilarityBand] = MappingProxyType({}),
) -> Screened:
    """Take out what the request does not admit, then the losers of contradictions in the whole pool.

    Args:
        band: Where contradictions lie, in spaces that `bands` does not name.
    """
    visible = frozenset(visible_scopes(request.scopes))
    admitted, refused = _partition(candidates, lambda c: _refusal(c, request, visible))
    settled = _settle(admitted, lambda space: bands.get(space, band))
    return replace(settled, dropped=(*refused, *settled.dropped))


def unrepeated(candidates: Sequence[Candidate], history: Sequence[Message]) -> Screened:
    """Take out what recent messages contradict or say already, and what another entry says as well.

    Preferences depend on neither query nor history: they are compared among themselves.
    """
    standing = [c for c in candidates if not c.is_preference]
    unsaid, said = _partition(standing, lambda c: _said_in_history(c, history))
    distinct, repeated = _distinct(unsaid)
    preferences, repeated_preferences = _distinct([c for c in candidates if c.is_preference])
    return Screened((*preferences, *distinct), (*said, *repeated, *repeated_preferences))


def _partition(
    candidates: Iterable[Candidate], refusal: Callable[[Candidate], DropReason | None]
) -> tuple[list[Candidate], list[Dropped]]:
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for candidate in candidates:
        reason = refusal(candidate)
        if reason is None:
            kept.append(candidate)
        else:
            dropped.append(Dropped(candidate.id, reason))
    return kept, dropped


def _refusal(candidate: Candidate, request: AssemblyRequest, visible: frozenset[str]) -> DropReason | None:
    if candidate.id in request.overrides.exclude:
        return DropReason.EXCLUDED
    if candidate.scope not in visible:
        return DropReason.OUT_OF_SCOPE
    if not _holds(candidate, request):
        return DropReason.EXPIRED
    if candidate.outdated_by is not None:
        return DropReason.SUPERSEDED
    return None


def _holds(candidate: Candidate, request: AssemblyRequest) -> bool:
    started = candidate.occurred_at or candidate.valid_from
    if started is None and request.looks_back:
        started = candidate.recorded_at
    return (started is None or started <= request.as_of) and (
        candidate.valid_to is None or request.as_of < candidate.valid_to
    )


def _settle(candidates: Sequence[Candidate], band_of: BandOf) -> Screened:
    """Find contradictions in the whole pool and take the losers out.

    A preference loses only to another preference: it is decided among preferences first, and stays for
    this turn when something newer that the query brought up contradicts it (the prompt then says so).
    """
    preferences = [c for c in candidates if c.is_preference]
    among_preferences = _resolve(preferences, band_of)
    lost = set(among_preferences.losers)
    memories = [c for c in candidates if c.tier is Tier.MEMORIES and c.id not in lost]
    among_all = _resolve(memories, band_of)
    lost |= among_all.losers - {c.id for c in preferences}
    return Screened(
        kept=tuple(c for c in candidates if c.id not in lost),
        dropped=tuple(Dropped(c.id, DropReason.SUPERSEDED) for c in candidates if c.id in lost),
        supersessions=(*among_preferences.supersessions, *among_all.supersessions),
        unresolved=among_all.unresolved,
    )


@dataclass(frozen=True, slots=True)
class _Resolved:
    supersessions: tuple[Supersession, ...]
    unresolved: tuple[Unresolved, ...]

    @property
    def losers(self) -> frozenset[PublicId]:
        return frozenset(s.superseded for s in self.supersessions)


def _resolve(candidates: Sequence[Candidate], band_of: BandOf) -> _Resolved:
    by_space: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_space.setdefault(candidate.space, []).append(candidate)
    supersessions: list[Supersession] = []
    unresolved: list[Unresolved] = []
    for space, members in by_space.items():
        statements = tuple(_statement(c) for c in members)
        found = find_contradictions(statements, _similarity(members), band_of(space))
        if not found:
            continue
        resolution = resolve(statements, found)
        supersessions.extend(resolution.supersessions)
        unresolved.extend(resolution.unresolved)
    return _Resolved(tuple(supersessions), tuple(unresolved))


def _statement(candidate: Candidate) -> Statement:
    known: Statement | None = candidate.memo.get(Statement)
    if known is None:
        known = candidate.memo[Statement] = _read(candidate)
    return known


def _read(candidate: Candidate) -> Statement:
    return Statement(
        id=candidate.id,
        text=candidate.text,
        claim=candidate.claim,
        scope=candidate.scope,
        valid_from=candidate.valid_from,
        confirmed_at=candidate.last_confirmed_at,
        sequence=candidate.sequence,
        topics=_outline(candidate).topics,
    )


def _outline(candidate: Candidate) -> Outline:
    known: Outline | None = candidate.memo.get(Outline)
    if known is None:
        known = unpack_outline(candidate.outline) or outline(candidate.text, candidate.claim)
        candidate.memo[Outline] = known
    return known


def _similarity(candidates: Sequence[Candidate]) -> NDArray[np.float32] | None:
    """Raw cosine similarities (n, n); NaN where a vector is missing; None where all are."""
    vectors = [c.vector for c in candidates]
    known = next((vector for vector in vectors if vector is not None), None)
    if known is None:
        return None
    missing = np.full(len(known), np.nan, dtype=np.float32)
    matrix = np.array([missing if vector is None else vector for vector in vectors], dtype=np.float32)
    return matrix @ matrix.T


def _said_in_history(candidate: Candidate, history: Sequence[Message]) -> DropReason | None:
    for message in history:
        if candidate.tier is Tier.EPISODES and candidate.id.uuid == message.turn:
            return DropReason.COVERED_BY_HISTORY
        by_agent = (message.author or "").casefold() in AGENT_AUTHORS
        if candidate.tier is Tier.MEMORIES and not by_agent and _contradicted(candidate, message):
            return DropReason.CONTRADICTED_BY_HISTORY
    if any(_covers(message.text, candidate.text) for message in history):
        return DropReason.COVERED_BY_HISTORY
    return None


def _contradicted(candidate: Candidate, message: Message) -> bool:
    older = message.at is None or candidate.last_confirmed_at <= message.at
    own = message.space is None or message.space == candidate.space
    return older and own and contradicted_by(_statement(candidate), message.text, None)


def _covers(longer: str, shorter: str) -> bool:
    """Whether a text says all that another one says: every word and figure, and as many negations."""
    if normalise_text(longer) == normalise_text(shorter):
        return True
    words, said = content_terms(shorter), content_terms(longer)
    return len(words) >= _COVERED_WORDS and words <= said and negations(shorter) == negations(longer)


def _may_cover(longer: Gist, shorter: Gist) -> bool:
    """Whether `_covers` can be true of two texts with these gists."""
    return longer.normal == shorter.normal or (
        shorter.length >= _COVERED_WORDS and shorter.negations == longer.negations and shorter.words <= longer.words
    )


def _distinct(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Dropped]]:
    """Keep one of several entries of a tier that say the same: the one that says most, then the newest."""
    told = [(candidate, _outline(candidate).gist) for candidate in candidates]
    told.sort(key=lambda pair: (-pair[1].length, -pair[0].sequence, pair[0].id.order))
    repeated: set[PublicId] = set()
    for later, earlier in _perhaps_covered([_signature(candidate, gist) for candidate, gist in told]):
        (one, longer), (other, shorter) = told[earlier], told[later]
        if one.id in repeated or other.id in repeated or (one.space, one.tier) != (other.space, other.tier):
            continue
        if _may_cover(longer, shorter) and _covers(one.text, other.text):
            repeated.add(other.id)
    kept = [c for c in candidates if c.id not in repeated]
    return kept, [Dropped(c.id, DropReason.DUPLICATE) for c in candidates if c.id in repeated]


def _perhaps_covered(signatures: Sequence[NDArray[np.uint8]]) -> list[tuple[int, int]]:
    """Pairs of positions: a later one whose bits are all among those of an earlier one; in order."""
    if len(signatures) < 2:
        return []
    bits = np.unpackbits(np.array(signatures), axis=1).astype(np.float32)
    shared = bits @ bits.T
    later, earlier = np.nonzero(np.tril(shared == shared.diagonal()[:, None], k=-1))
    return list(zip(later.tolist(), earlier.tolist(), strict=True))


def _signature(candidate: Candidate, gist: Gist) -> NDArray[np.uint8]:
    """256 bits, one for each word: those of a text that another one covers are among the other's."""
    signature: NDArray[np.uint8] | None = candidate.memo.get(Gist)
    if signature is None:
        bits = 0
        for word in gist.words:
            bits |= 1 << (word & 255)
        signature = candidate.memo[Gist] = np.frombuffer(bits.to_bytes(32, "little"), np.uint8)
    return signature
