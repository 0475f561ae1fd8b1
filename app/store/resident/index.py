"""The index of one space in memory: what `candidates` in retrieval.sql finds, without asking the database.

Only numbers are kept: vectors, postings, and what the arms filter by. Texts stay in the database. An index is
changed by `apply` alone, and says by its state whether it is still that of the space.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import log1p
from typing import NamedTuple, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.domain.entries import KIND_OF_TIER, Tier
from app.domain.ids import PublicId
from app.scoring.relevance import Calibration

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]
_Number = TypeVar("_Number", bound=np.generic)

SMALLEST_NORM = 0.05
"""Keeps the cosine finite where all texts of a space are alike."""

LEAST_DOCUMENTS = 100.0
"""Lucene's idf is taken over at least so many documents: in a small space every word would be common."""

MEMORIES = 1
_KIND_OF_KEY = {
    MEMORIES: KIND_OF_TIER[Tier.MEMORIES],
    2: KIND_OF_TIER[Tier.EPISODES],
    3: KIND_OF_TIER[Tier.PROCEDURES],
}
"""The kinds of entries by the key of their tier (`tier_key` in the schema)."""

TIER_KEYS = tuple(_KIND_OF_KEY)

_K1, _B = 0.6, 0.4
_ROOM = 0.25
_SPARE = 64
"""An index has room for a quarter more documents, and these, before it is loaded anew."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class State(NamedTuple):
    """What the database says of a space, moments as it prints them. Equal states mean that nothing was written."""

    sequence: int
    written_at: str
    created_at: str
    model_id: int

    def follows(self, earlier: "State") -> bool:
        """Whether the changes since an earlier state lead to this one: the same space, served by the same model."""
        is_same = (self.created_at, self.model_id) == (earlier.created_at, earlier.model_id)
        return is_same and self.sequence >= earlier.sequence


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Live texts, one row each: ids as 16 bytes, `vectors` raw, shape (n, d), float32; times in microseconds."""

    ids: NDArray[np.bytes_]
    tiers: NDArray[np.int16]
    scopes: NDArray[np.int64]
    holds_from: NDArray[np.int64]
    holds_to: NDArray[np.int64]
    vectors: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Which text has which term how often, and how many words it has in all; one row for each distinct term."""

    terms: NDArray[np.int64]
    ids: NDArray[np.bytes_]
    frequencies: Floats
    lengths: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What the arms need to know of the space beside its texts.

    Attributes:
        average_lengths: Words of a text, by tier key.
        documents: Live texts of all tiers.
        centre: What is taken from every vector, shape (d,); `question_shift` from questions before.
        centre_version: Changes with the centre.
        preferences: Entries of the preference arm with their scopes, in its order.
        standing: Memories of which a profile is made, likewise.
    """

    average_lengths: Mapping[int, float]
    documents: int
    centre: Floats
    question_shift: Floats
    centre_version: int
    preferences: Sequence[tuple[UUID, str]]
    standing: Sequence[tuple[UUID, str]] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Sought:
    """What is looked for.

    Attributes:
        terms: Hashed; each with its weight, and the number of the query's word that it is a form of.
        at: The moment at which entries must hold.
        limit: Candidates of each tier.
    """

    terms: Sequence[int]
    weights: Sequence[float]
    words: Sequence[int]
    scopes: Sequence[str]
    scope_keys: Sequence[int]
    at: datetime
    limit: int
    preference_limit: int
    profile_limit: int
    pinned: Sequence[UUID]


@dataclass(frozen=True, slots=True, eq=False)
class Lexical:
    """What the keyword arm and the filters saw of every text of an index in some state, shape (n,) each."""

    state: State | None
    visible: Mask
    bm25: Doubles
    coverages: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """The question, as the model of the space hears it.

    Attributes:
        question: Its unit vector, shape (d,); None without a dense arm.
        least_evidence: Of entries below it the ids are enough, memories excepted.
    """

    question: Floats | None
    least_evidence: float
    calibration: Calibration


class Found(NamedTuple):
    """A text that search brought up: its place in the index, and what each arm saw."""

    place: int
    cosine_similarity: float | None
    bm25_score: float | None
    coverage: float | None
    is_preference: bool
    is_standing: bool = False


@dataclass(frozen=True, slots=True)
class Hits:
    """What search brought up; `below_floor` are places of texts that are not relevant enough."""

    found: tuple[Found, ...]
    below_floor: tuple[int, ...]


@dataclass(slots=True)
class SpaceIndex:
    """The live texts of one space, as one model hears them. Places are positions in its arrays, and never reused.

    `state` is None as long as nothing was ever written to the space.
    """

    state: State | None
    around: Surroundings
    capacity: int
    count: int
    ids: NDArray[np.bytes_]
    alive: Mask
    tiers: NDArray[np.int16]
    scopes: NDArray[np.int64]
    holds_from: NDArray[np.int64]
    holds_to: NDArray[np.int64]
    lengths: Floats
    vectors: Floats
    norms: Floats
    terms: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int32]
    frequencies: Floats
    place_of: dict[bytes, int]
    discounts: Doubles = field(default_factory=lambda: np.empty(0))
    added: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    members: dict[int, Places] = field(default_factory=dict)
    public_ids: dict[int, PublicId] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory."""
        arrays = (self.vectors, self.terms, self.starts, self.places, self.frequencies)
        return sum(array.nbytes for array in arrays) + 300 * self.capacity

    @property
    def live_count(self) -> int:
        """Texts that are live."""
        return len(self.place_of)

    def public_id(self, place: int, space_id: UUID) -> PublicId:
        """The id of the entry at a place."""
        known = self.public_ids.get(place)
        if known is None:
            uuid = UUID(bytes=_whole(self.ids[place]))
            known = self.public_ids[place] = PublicId(uuid, space_id, _KIND_OF_KEY[int(self.tiers[place])])
        return known

    def apply(
        self, state: State, around: Surroundings, changed: Iterable[UUID], documents: Documents, postings: Postings
    ) -> bool:
        """Follow the space: what the changed entries were is gone, what they are now comes in.

        Returns:
            False if there is no room, or if the space lost more than its changes say: then it must be loaded anew.
        """
        if self.count + len(documents.ids) > self.capacity:
            return False
        for entry_id in changed:
            place = self.place_of.pop(entry_id.bytes, None)
            if place is not None:
                self.alive[place] = False
        start = self.count
        stop = self.count = start + len(documents.ids)
        new = slice(start, stop)
        self.ids[new], self.tiers[new], self.scopes[new] = documents.ids, documents.tiers, documents.scopes
        self.holds_from[new], self.holds_to[new] = documents.holds_from, documents.holds_to
        self.vectors[new], self.alive[new] = documents.vectors, True
        self.place_of |= {_whole(entry_id): start + n for n, entry_id in enumerate(documents.ids)}
        for term, entry_id, frequency, length in zip(
            postings.terms.tolist(), postings.ids, postings.frequencies.tolist(), postings.lengths.tolist(), strict=True
        ):
            place = self.place_of.get(_whole(entry_id))
            if place is not None:
                self.added.setdefault(term, []).append((place, frequency))
                self.lengths[place] = length
        has_moved = around.centre_version != self.around.centre_version
        self.state, self.around, self.members = state, around, {}
        self._measure(slice(0, stop) if has_moved else new)
        self._weigh()
        return self.live_count == around.documents

    def read(self, sought: Sought) -> Lexical:
        """What the words and the filters say: all that can be known before the question is embedded."""
        bm25, best = self._bm25(sought)
        coverages = np.minimum(1.0, bm25 / best) if best > 0 else np.zeros_like(bm25)
        return Lexical(self.state, self._visible(sought), bm25, coverages)

    def search(self, sought: Sought, lexical: Lexical, heard: Heard) -> Hits:
        """The best of every tier by both arms, the preferences and the pinned entries.

        The same as `candidates` in retrieval.sql, stage by stage.

        Args:
            lexical: What `read` found; if the index has changed since, it is read again.
        """
        if not self.place_of:
            return Hits((), ())
        if lexical.state != self.state:
            lexical = self.read(sought)
        cosines = self._cosines(heard.question)
        found: list[Found] = []
        below: list[int] = []
        for tier in TIER_KEYS:
            chosen, is_below = self._pool(self._members(tier), sought.limit, lexical, cosines, heard)
            if tier == MEMORIES:
                is_below[:] = False
            below += chosen[is_below].tolist()
            found += _found(chosen[~is_below], lexical, cosines)
        others = [*self._preferences(sought), *self._pinned(sought)]
        found += [
            Found(place, None if cosines is None else float(cosines[place]), None, None, is_preference)
            for place, is_preference in others
        ]
        found += [
            Found(place, None if cosines is None else float(cosines[place]), None, None, False, True)
            for place in self._standing(sought)
        ]
        return Hits(tuple(found), tuple(below))

    def _pool(
        self, members: Places, limit: int, lexical: Lexical, cosines: Floats | None, heard: Heard
    ) -> tuple[Places, Mask]:
        """The best places of a tier, and which of them are below the floor."""
        visible, bm25 = lexical.visible, lexical.bm25
        near = np.zeros(self.count, np.bool_)
        if cosines is not None:
            near[self._best(members, visible, cosines[members], limit)] = True
        worded = members[bm25[members] > 0]
        found = near.copy()
        found[self._best(worded, visible, bm25[worded], limit)] = True
        pool = np.flatnonzero(found)
        is_near = near[pool]
        c = heard.calibration
        said = np.where(is_near, -1.0 if cosines is None else cosines[pool], -1.0) + c.cosine_offset
        keyword = (bm25[pool] * lexical.coverages[pool] / c.bm25_scale) ** c.keyword_power
        evidence = np.maximum(said, 0.0) ** 2 + c.keyword_weight * keyword
        is_below = (evidence < heard.least_evidence) & visible[pool] & is_near
        if len(pool) <= limit:
            return pool, is_below
        kept = np.searchsorted(pool, self._best(pool, visible, evidence, limit))
        return pool[kept], is_below[kept]

    def _best(self, places: Places, visible: Mask, values: NDArray[np.floating], limit: int) -> Places:
        """At most `limit` of some places, visible ones first, then by value, then by id; in the order of places."""
        if len(places) <= limit:
            return places
        seen = visible[places]
        shown = int(seen.sum())
        if shown < limit:
            rest = self._highest(places[~seen], values[~seen], limit - shown)
            return np.sort(np.concatenate([places[seen], rest]))
        return self._highest(places[seen], values[seen], limit)

    def _highest(self, places: Places, values: NDArray[np.floating], limit: int) -> Places:
        if len(places) <= limit:
            return places
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        above, level = places[values > least], places[values == least]
        if len(above) + len(level) > limit:
            level = level[np.argsort(self.ids[level], kind="stable")][: limit - len(above)]
        return np.sort(np.concatenate([above, level]))

    def _visible(self, sought: Sought) -> Mask:
        n = self.count
        at = (sought.at - _EPOCH) // _MICROSECOND
        scopes = self.scopes[:n]
        in_scope: Mask = np.logical_or.reduce([scopes == key for key in sought.scope_keys])
        return in_scope & (self.holds_from[:n] <= at) & (self.holds_to[:n] > at)

    def _cosines(self, question: Floats | None) -> Floats | None:
        """Centred cosine similarities of all texts. The question is rounded as the database rounds it."""
        if question is None:
            return None
        centre = self.around.centre
        centred = question - self.around.question_shift - centre
        length = float(np.linalg.norm(centred))
        exact = centred / length if length > 0 else centred
        rounded = exact.astype(np.float16).astype(np.float32)
        products = np.vecdot(self.vectors[: self.count], rounded)  # row by row: reads memory twice as fast as a product
        cosines: Floats = (products - float(rounded @ centre)) / self.norms[: self.count]
        return cosines

    def _bm25(self, sought: Sought) -> tuple[Doubles, float]:
        """BM25 of every text, and the most that the query could score."""
        total = np.zeros(self.count)
        documents = max(float(self.around.documents), LEAST_DOCUMENTS)
        unknown = log1p((documents + 0.5) / 0.5)
        best = 0.0
        by_word: dict[int, list[tuple[float, Places, Doubles]]] = {}
        least_idf: dict[int, float] = {}
        posted = self._posted(sought.terms)
        for (places, frequencies), weight, word in zip(posted, sought.weights, sought.words, strict=True):
            least_idf.setdefault(word, np.inf)
            if not len(places):
                continue
            n = float(len(places))
            idf = log1p((max(documents, n) - n + 0.5) / (n + 0.5))
            least_idf[word] = min(least_idf[word], idf)
            saturation = frequencies * (_K1 + 1) / (frequencies + self.discounts[places])
            by_word.setdefault(word, []).append((weight, places, weight * idf * saturation))
        for forms in by_word.values():
            if len(forms) == 1:
                weight, places, scores = forms[0]
                total[places] += scores / max(1.0, weight)
                continue
            summed, weights = np.zeros(self.count), np.zeros(self.count)
            for weight, places, scores in forms:
                summed[places] += scores
                weights[places] += weight
            total += summed / np.maximum(1.0, weights)
        best = sum((_K1 + 1) * (unknown if idf == np.inf else idf) for idf in least_idf.values())
        return total, best

    def _posted(self, terms: Sequence[int]) -> Iterator[tuple[Places, Doubles]]:
        """Of each term, places of the live texts that have it, each once, and how often they have it."""
        for term, at in zip(terms, np.searchsorted(self.terms, terms).tolist(), strict=True):
            known = at < len(self.terms) and self.terms[at] == term
            span = slice(self.starts[at], self.starts[at + 1]) if known else slice(0, 0)
            places, frequencies = self.places[span].astype(np.int64), self.frequencies[span].astype(np.float64)
            added = self.added.get(term)
            if added:
                places = np.concatenate([places, [place for place, _ in added]])
                frequencies = np.concatenate([frequencies, [frequency for _, frequency in added]])
            alive = self.alive[places]
            yield (places, frequencies) if alive.all() else (places[alive], frequencies[alive])

    def _weigh(self) -> None:
        """BM25's measure of the length of each text beside the average of its tier."""
        averages = np.array([1.0, *(self.around.average_lengths.get(tier, 1.0) for tier in TIER_KEYS)])
        relative = self.lengths[: self.count] / averages[self.tiers[: self.count]]
        self.discounts = _K1 * (1 - _B + _B * relative)

    def _members(self, tier: int) -> Places:
        if tier not in self.members:
            self.members[tier] = np.flatnonzero(self.alive[: self.count] & (self.tiers[: self.count] == tier))
        return self.members[tier]

    def _preferences(self, sought: Sought) -> list[tuple[int, bool]]:
        visible = [entry_id for entry_id, scope in self.around.preferences if scope in sought.scopes]
        places = (self.place_of.get(entry_id.bytes) for entry_id in visible[: sought.preference_limit])
        return [(place, True) for place in places if place is not None]

    def _standing(self, sought: Sought) -> list[int]:
        if not sought.profile_limit:
            return []
        visible = [entry_id for entry_id, scope in self.around.standing if scope in sought.scopes]
        places = (self.place_of.get(entry_id.bytes) for entry_id in visible[: sought.profile_limit])
        return [place for place in places if place is not None]

    def _pinned(self, sought: Sought) -> list[tuple[int, bool]]:
        places = (self.place_of.get(entry_id.bytes) for entry_id in sought.pinned)
        return [(place, False) for place in places if place is not None]

    def _measure(self, places: slice) -> None:
        """The lengths of vectors once the centre is taken away."""
        difference = np.linalg.norm(self.vectors[places] - self.around.centre, axis=1)
        self.norms[places] = np.maximum(difference, SMALLEST_NORM)


def _found(places: Places, lexical: Lexical, cosines: Floats | None) -> list[Found]:
    near = [None] * len(places) if cosines is None else cosines[places].tolist()
    scores, coverages = lexical.bm25[places].tolist(), lexical.coverages[places].tolist()
    return [
        Found(place, cosine, score or None, coverage if score else None, is_preference=False)
        for place, cosine, score, coverage in zip(places.tolist(), near, scores, coverages, strict=True)
    ]


def build(state: State | None, around: Surroundings, documents: Documents, postings: Postings) -> SpaceIndex:
    """An index of the live texts of a space; the order of documents and postings is irrelevant."""
    order = np.argsort(documents.ids, kind="stable")
    n = len(order)
    capacity = n + int(n * _ROOM) + _SPARE
    vectors = np.empty((capacity, documents.vectors.shape[1]), np.float32)
    vectors[:n] = documents.vectors[order]
    ids = _spread(documents.ids[order], capacity)
    places = np.searchsorted(ids[:n], postings.ids)
    is_known = places < n
    is_known[is_known] = ids[places[is_known]] == postings.ids[is_known]
    by_term = np.flatnonzero(is_known)[np.argsort(postings.terms[is_known], kind="stable")]
    terms, starts = np.unique(postings.terms[by_term], return_index=True)
    lengths = np.zeros(capacity, np.float32)
    lengths[places[by_term]] = postings.lengths[by_term]
    index = SpaceIndex(
        state=state,
        around=around,
        capacity=capacity,
        count=n,
        ids=ids,
        alive=_spread(np.ones(n, np.bool_), capacity),
        tiers=_spread(documents.tiers[order], capacity),
        scopes=_spread(documents.scopes[order], capacity),
        holds_from=_spread(documents.holds_from[order], capacity),
        holds_to=_spread(documents.holds_to[order], capacity),
        lengths=lengths,
        vectors=vectors,
        norms=np.ones(capacity, np.float32),
        terms=terms,
        starts=np.append(starts, len(by_term)),
        places=places[by_term].astype(np.int32),
        frequencies=postings.frequencies[by_term],
        place_of={_whole(entry_id): place for place, entry_id in enumerate(ids[:n])},
    )
    index._measure(slice(0, n))  # noqa: SLF001 - of the object made here
    index._weigh()  # noqa: SLF001 - likewise
    return index


def nothing_written() -> SpaceIndex:
    """The index of a space to which nothing was ever written."""
    no_ids, no_numbers, no_floats = np.empty(0, "S16"), np.empty(0, np.int64), np.empty(0, np.float32)
    around = Surroundings({}, 0, no_floats, no_floats, 0, ())
    no_tiers, no_vectors = np.empty(0, np.int16), np.empty((0, 0), np.float32)
    documents = Documents(no_ids, no_tiers, no_numbers, no_numbers, no_numbers, no_vectors)
    return build(None, around, documents, Postings(no_numbers, no_ids, no_floats, no_floats))


def _spread(values: NDArray[_Number], capacity: int) -> NDArray[_Number]:
    """The values, with room behind them."""
    room = np.zeros(capacity, values.dtype)
    room[: len(values)] = values
    return room


def _whole(entry_id: np.bytes_) -> bytes:
    """Sixteen bytes: numpy takes the zeros at the end for padding."""
    return bytes(entry_id).ljust(16, b"\0")
