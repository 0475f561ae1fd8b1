"""Searching entries: filters first, then the relevance that assemblies use."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import numpy as np

from app.domain.entries import Category, Entry, Tier
from app.domain.spaces import SpaceKey
from app.scoring.asked import Asked
from app.scoring.relevance import Calibration, relevance_of, weight_for, weights_of_evidence
from app.scoring.support import Place, supported
from app.scoring.wording import Wording, wording
from app.text.terms import QueryTerm, query_terms

POOL: Final = 100
"""Hits of a space that are ranked at least, however few are asked for: they support each other."""

EMBED_SECONDS = 5.0
"""The embedder has this long; then the words alone decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What to search for. None does not filter.

    Attributes:
        query: Empty for the newest entries.
        as_of: The moment at which entries must hold.
        looks_back: Whether the caller named as_of or known_at: past versions take part.
        known_at: Only what was recorded by then.
        scopes: Every scope that is visible.
        tags: Any of these.
        since: When it happened or began to hold, at the earliest; recorded, if that is not known.
        until: The same, exclusive.
        min_relevance: Hits below it are left out; None for the service's floor.
    """

    spaces: tuple[SpaceKey, ...]
    query: str
    as_of: datetime
    looks_back: bool = False
    known_at: datetime | None = None
    tiers: tuple[Tier, ...] = tuple(Tier)
    scopes: tuple[str, ...] = ("",)
    category: Category | None = None
    tags: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_relevance: float | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that passed the filters, with what each arm saw.

    Attributes:
        cosine_similarity: Centred, in [-1, 1]; None without a query or an embedder.
        bm25_score: >= 0; None if no word matched.
        coverage: Share of the best possible score, in [0, 1]; None likewise.
        model_id: The embedding model that serves its space.
    """

    entry: Entry
    cosine_similarity: float | None = None
    bm25_score: float | None = None
    coverage: float | None = None
    model_id: int | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit with its relevance in [0, 1]; None without a query."""

    hit: Hit
    relevance: float | None


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first. `degraded` names the arms that failed."""

    hits: tuple[Ranked, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Brought:
    """What a store found.

    Attributes:
        is_deaf: Whether some space could not be searched by the vectors of the model that serves it.
        served_by: The models that serve the spaces.
    """

    hits: tuple[Hit, ...]
    is_deaf: bool
    served_by: frozenset[int]


class Questions(Protocol):
    """Lets the embedding models of the store hear a question."""

    async def ask(self, text: str, timeout_s: float) -> tuple[Asked, ...]:
        """The question as each model hears it, at least one. An empty one, and a model that fails, has no vector."""
        ...

    def expect(self, model_ids: Iterable[int]) -> None:
        """Note which models serve what is read: one that was not there is fetched."""
        ...


class SearchStore(Protocol):
    """Finds entries."""

    async def search(self, request: SearchRequest, terms: Sequence[QueryTerm], asked: Sequence[Asked]) -> Brought:
        """The best hits of every space, at most `limit` of each or POOL if that is more, in no order."""
        ...


@dataclass(frozen=True, slots=True)
class SearchService:
    """The shell: waits for the embedders and the store, then ranks."""

    store: SearchStore
    questions: Questions
    min_relevance: float

    async def search(self, request: SearchRequest) -> Found:
        """The entries that pass the filters and say something to the query, best first."""
        query = request.query.strip()
        asked = await self.questions.ask(query, EMBED_SECONDS)
        terms = query_terms(query) if query else ()
        brought = await self.store.search(request, terms, asked)
        self.questions.expect(brought.served_by)
        floor = self.min_relevance if request.min_relevance is None else request.min_relevance
        ranked = (
            rank(brought.hits, asked, floor, wording(query, terms, request.as_of)) if query else newest(brought.hits)
        )
        return Found(ranked[: request.limit], ("dense",) if query and brought.is_deaf else ())


def rank(hits: Sequence[Hit], asked: Sequence[Asked], floor: float, wording: Wording) -> tuple[Ranked, ...]:
    """The hits at or above a floor, most relevant first; ties by id. Each by the calibration of its space's model."""
    calibrations: dict[int | None, Calibration] = {a.model_id: a.calibration for a in asked}
    weights = np.zeros(len(hits))
    for model_id in {hit.model_id for hit in hits}:
        of_model = [place for place, hit in enumerate(hits) if hit.model_id == model_id]
        seen = [(hits[place].cosine_similarity, hits[place].bm25_score, hits[place].coverage) for place in of_model]
        weights[of_model] = weights_of_evidence(seen, calibrations.get(model_id, asked[0].calibration))
    found = supported(weights, [_place(hit.entry) for hit in hits], wording, weight_for(floor))
    rated = zip(hits, relevance_of(found).tolist(), strict=True)
    kept = [Ranked(hit, relevance) for hit, relevance in rated if relevance >= floor]
    return tuple(sorted(kept, key=lambda ranked: (-(ranked.relevance or 0.0), ranked.hit.entry.id)))


def _place(entry: Entry) -> Place:
    content = entry.content
    return Place(
        session=None if content.session is None else (entry.space, content.session),
        position=entry.sequence,
        author=content.author.name if content.author else None,
        at=content.holds_from or entry.first_recorded_at,
    )


def newest(hits: Iterable[Hit]) -> tuple[Ranked, ...]:
    """The hits by when they happened or began to hold, latest first; ties by id, latest first."""

    def moment(hit: Hit) -> datetime:
        return hit.entry.content.holds_from or hit.entry.first_recorded_at

    ordered = sorted(hits, key=lambda hit: (moment(hit), hit.entry.id), reverse=True)
    return tuple(Ranked(hit, None) for hit in ordered)
