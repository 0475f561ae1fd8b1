"""Screening: what must not be in the prompt, whatever its score.

Each function takes candidates and returns those that stay, with what it dropped: nothing is lost.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from app.assembly.likeness import Likeness
from app.assembly.outlines import Outline, outline, unpack_outline
from app.assembly.records import AssemblyRequest, Candidate, Dropped, DropReason, Message
from app.contradictions.claims import claim_key
from app.contradictions.detect import (
    SimilarityBand,
    Statement,
    contradicted_by,
    find_contradictions,
    says_of_self,
)
from app.contradictions.resolve import Supersession, Unresolved, resolve
from app.domain.entries import AGENT_AUTHORS, Tier
from app.domain.ids import PublicId
from app.domain.records import Record
from app.domain.spaces import visible_scopes
from app.text.content import Gist, content_terms, gist, negations, pairs_where, signatures
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
    *,
    holding: "Overruling | None" = None,
    likeness: Likeness | None = None,
) -> Screened:
    """Take out what the request does not admit, then the losers of contradictions in the whole pool.

    Args:
        band: Where contradictions lie, in spaces that `bands` does not name.
        holding: The records that hold.
        likeness: Of the candidates, if somebody else needs it too.
    """
    visible = frozenset(visible_scopes(request.scopes))
    admitted, refused = _partition(candidates, partial(_refusal, request=request, visible=visible))
    if holding is not None:
        admitted, overruled = _partition(admitted, holding.overrules)
        refused += overruled
    settled = _settle(admitted, lambda space: bands.get(space, band), likeness or Likeness(admitted))
    return replace(settled, dropped=(*refused, *settled.dropped))


def unrepeated(candidates: Sequence[Candidate], history: Sequence[Message]) -> Screened:
    """Take out what recent messages contradict or say already, and what another entry says as well.

    Preferences depend on neither query nor history: they are compared among themselves.
    """
    standing = [c for c in candidates if not c.is_preference]
    unsaid, said = _partition(standing, _Said(history).drops) if history else (standing, [])
    distinct, repeated = _distinct(unsaid)
    preferences, repeated_preferences = _distinct([c for c in candidates if c.is_preference])
    return Screened((*preferences, *distinct), (*said, *repeated, *repeated_preferences))


class Overruling:
    """Records are believed before memories: what one of them covers is not served."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._keys = [None if r.claim is None else claim_key(r.claim) for r in records]

    def overrules(self, candidate: Candidate) -> DropReason | None:
        """Whether a record speaks of what a memory claims, or says otherwise."""
        if not self._records or candidate.tier is not Tier.MEMORIES or candidate.is_lore:
            return None
        statement = _statement(candidate)
        key = None if candidate.claim is None else claim_key(candidate.claim)
        for record, covered in zip(self._records, self._keys, strict=True):
            if not record.concerns(candidate.space):
                continue
            if (key is not None and key == covered) or contradicted_by(statement, record.text, record.claim):
                return DropReason.OVERRIDDEN_BY_RECORD
        return None


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
    if request.overrides.exclude and candidate.id in request.overrides.exclude:
        return DropReason.EXCLUDED
    if candidate.scope not in visible:
        return DropReason.OUT_OF_SCOPE
    started = candidate.occurred_at or candidate.valid_from or (candidate.recorded_at if request.looks_back else None)
    if started is not None and started > request.as_of:
        return DropReason.EXPIRED
    if candidate.valid_to is not None and candidate.valid_to <= request.as_of:
        return DropReason.EXPIRED
    return None if candidate.outdated_by is None else DropReason.SUPERSEDED


def _settle(candidates: Sequence[Candidate], band_of: BandOf, likeness: Likeness) -> Screened:
    """Find contradictions in the whole pool and take the losers out.

    A preference loses only to another preference: it is decided among preferences first, and stays for
    this turn when something newer that the query brought up contradicts it (the prompt then says so).
    """
    preferences = [c for c in candidates if c.is_preference]
    among_preferences = _resolve(preferences, band_of, likeness)
    lost = set(among_preferences.losers)
    memories = [c for c in candidates if c.tier is Tier.MEMORIES and not (lost and c.id in lost)]
    among_all = _resolve(memories, band_of, likeness)
    lost |= among_all.losers - {c.id for c in preferences}
    losers = [c for c in candidates if c.id in lost] if lost else []
    return Screened(
        kept=tuple(c for c in candidates if c.id not in lost) if lost else tuple(candidates),
        dropped=tuple(Dropped(c.id, DropReason.SUPERSEDED) for c in losers),
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


def _resolve(candidates: Sequence[Candidate], band_of: BandOf, likeness: Likeness) -> _Resolved:
    by_space: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_space.setdefault(candidate.space, []).append(candidate)
    supersessions: list[Supersession] = []
    unresolved: list[Unresolved] = []
    for space, members in by_space.items():
        statements = tuple(_statement(c) for c in members)
        found = find_contradictions(statements, likeness.among(members), band_of(space))
        if not found:
            continue
        resolution = resolve(statements, found)
        supersessions.extend(resolution.supersessions)
        unresolved.extend(resolution.unresolved)
    return _Resolved(tuple(supersessions), tuple(unresolved))


def _statement(candidate: Candidate) -> Statement:
    """What contradictions are found in, with the outline of its text."""
    known = candidate.memo.statement
    if known is None:
        known = candidate.memo.statement = _read(candidate)
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
    known = candidate.memo.outline
    if known is None:
        known = unpack_outline(candidate.outline) or outline(candidate.text, candidate.claim)
        candidate.memo.outline = known
    return known


class _Said:
    """What recent history says, by whose memories it bears on."""

    def __init__(self, history: Sequence[Message]) -> None:
        self._history = history
        self._turns = {message.turn for message in history}
        self._of: dict[str, tuple[list[Message], list[tuple[Gist, str]]]] = {}
        self._words: frozenset[str] | None = None

    def drops(self, candidate: Candidate) -> DropReason | None:
        """Whether history contradicts an entry, or says it already."""
        if candidate.tier is Tier.EPISODES and candidate.id.uuid in self._turns:
            return DropReason.COVERED_BY_HISTORY
        contradicting, covering = self._bearing_on(candidate.space)
        if candidate.tier is Tier.MEMORIES and any(_contradicted(candidate, message) for message in contradicting):
            return DropReason.CONTRADICTED_BY_HISTORY
        said = _outline(candidate).gist
        for told, text in covering:
            if _may_cover(told, said) and _covers(text, candidate.text):
                return DropReason.COVERED_BY_HISTORY
        return self._tells(candidate)

    def _bearing_on(self, space: str) -> tuple[list[Message], list[tuple[Gist, str]]]:
        """The messages that can contradict the memories of a space, and the gists and texts of those that can say them.

        Of one of many voices, only that voice's words can do either.
        """
        known = self._of.get(space)
        if known is None:
            own = [m for m in self._history if m.space is None or m.space == space]
            by_people = [m for m in own if (m.author or "").casefold() not in AGENT_AUTHORS]
            covering = [(gist(m.text), m.text) for m in (own if space.startswith("viewer:") else self._history)]
            known = self._of[space] = [m for m in by_people if says_of_self(m.text)], covering
        return known

    def _tells(self, candidate: Candidate) -> DropReason | None:
        """Whether an episode of several voices is nothing but recent history: it is in no single message."""
        if candidate.tier is not Tier.EPISODES or not candidate.space.startswith("stream:"):
            return None
        if self._words is None:
            said = (content_terms(f"{message.author or ''}: {message.text}") for message in self._history)
            self._words = frozenset[str]().union(*said)
        words = content_terms(candidate.text)
        return DropReason.COVERED_BY_HISTORY if len(words) >= _COVERED_WORDS and words <= self._words else None


def _contradicted(candidate: Candidate, message: Message) -> bool:
    older = message.at is None or candidate.last_confirmed_at <= message.at
    return older and contradicted_by(_statement(candidate), message.text, None)


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
    if len(candidates) < 2:
        return list(candidates), []
    told = [(candidate, _outline(candidate).gist) for candidate in candidates]
    told.sort(key=lambda pair: (-pair[1].length, -pair[0].sequence, pair[0].id))
    repeated: set[PublicId] = set()
    for later, earlier in _perhaps_covered([said.signature for _, said in told]):
        (one, longer), (other, shorter) = told[earlier], told[later]
        if one.id in repeated or other.id in repeated or one.space != other.space:
            continue
        if one.tier is not other.tier:
            if longer.normal == shorter.normal and normalise_text(one.text) == normalise_text(other.text):
                repeated.add(one.id if one.tier is Tier.EPISODES else other.id)
            continue
        if _may_cover(longer, shorter) and _covers(one.text, other.text):
            repeated.add(other.id)
    if not repeated:
        return list(candidates), []
    kept = [c for c in candidates if c.id not in repeated]
    return kept, [Dropped(c.id, DropReason.DUPLICATE) for c in candidates if c.id in repeated]


def _perhaps_covered(packed: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pairs of positions: a later one whose signature has no bit that an earlier one has not; in order."""
    if len(packed) < 2:
        return []
    signed = signatures(packed)
    folded = np.bitwise_or.reduce(signed, axis=1)  # a quarter of the bits: what they tell apart needs no second look
    earlier, later = pairs_where((folded & ~folded[:, None]) == 0)
    covered = ~np.any(signed[later] & ~signed[earlier], axis=1)
    return list(zip(later[covered].tolist(), earlier[covered].tolist(), strict=True))
