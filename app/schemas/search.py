"""Search on the wire."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from app.domain.callers import Caller
from app.domain.entries import Category, Tier
from app.domain.spaces import visible_scopes
from app.entries.search import Found, Ranked, SearchRequest
from app.schemas.common import Instant, Query, ScopePath, SpaceName, Tags, UnitInterval, WireModel
from app.schemas.entries import EpisodeReply, MemoryReply, ProcedureReply, entry_json

SEARCH_HITS = 10
SEARCH_HITS_LIMIT = 100
ALSO_READ = 8


class SearchBody(WireModel):
    """What to search for. Filters that are absent or null do not filter; `from` and `to` are half-open.

    `from` and `to` look at when an episode happened and since when a memory holds; where that is not
    known, at when it was recorded. An empty query lists the newest entries.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"space": "user:42", "query": "What may I not eat?", "tiers": ["memories"], "limit": 5}]
        }
    )

    space: SpaceName
    also_read: Annotated[tuple[SpaceName, ...], Field(max_length=ALSO_READ)] = ()
    query: Query = ""
    tiers: Annotated[tuple[Tier, ...], Field(min_length=1, max_length=len(Tier))] = tuple(Tier)
    limit: Annotated[int, Field(ge=1, le=SEARCH_HITS_LIMIT, strict=True)] = SEARCH_HITS
    scopes: Annotated[tuple[ScopePath, ...], Field(max_length=16)] = ()
    category: Category | None = None
    tags: Tags | None = Field(None, description="Entries with any of these.", min_length=1)
    since: Instant | None = Field(None, alias="from")
    until: Instant | None = Field(None, alias="to")
    min_relevance: UnitInterval | None = None
    as_of: Instant | None = None
    known_at: Instant | None = None

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.since and self.until and self.until <= self.since:
            raise ValueError("to must be after from")
        return self

    def to_domain(self, caller: Caller, now: datetime) -> SearchRequest:
        """As the use case has it; every space is one that the caller may read."""
        names = dict.fromkeys((self.space, *self.also_read))
        return SearchRequest(
            spaces=tuple(caller.space(name) for name in names),
            query=self.query,
            as_of=self.as_of or self.known_at or now,
            looks_back=self.as_of is not None or self.known_at is not None,
            known_at=self.known_at,
            tiers=tuple(dict.fromkeys(self.tiers)),
            scopes=visible_scopes(self.scopes),
            category=self.category,
            tags=self.tags,
            since=self.since,
            until=self.until,
            min_relevance=self.min_relevance,
            limit=self.limit,
        )


class ArmsReply(WireModel):
    """What each arm saw: the centred cosine in [-1, 1], and BM25. Null where an arm saw nothing."""

    cosine_similarity: float | None
    bm25_score: float | None


class FoundMemory(MemoryReply):
    """A memory that was found, with its relevance in [0, 1] (null without a query)."""

    relevance: float | None
    arms: ArmsReply


class FoundEpisode(EpisodeReply):
    """An episode that was found, with its relevance in [0, 1] (null without a query)."""

    relevance: float | None
    arms: ArmsReply


class FoundProcedure(ProcedureReply):
    """A procedure that was found, with its relevance in [0, 1] (null without a query)."""

    relevance: float | None
    arms: ArmsReply


class SearchReply(WireModel):
    """What was found, best first. `degraded` names the arms that failed."""

    items: list[FoundMemory | FoundEpisode | FoundProcedure]
    degraded: list[str]


def found_json(found: Found) -> dict[str, Any]:
    """What was found, as JSON has it."""
    return {"items": [_item_json(ranked) for ranked in found.hits], "degraded": list(found.degraded)}


def _item_json(ranked: Ranked) -> dict[str, Any]:
    hit = ranked.hit
    return {
        **entry_json(hit.entry),
        "relevance": _rounded(ranked.relevance),
        "arms": {"cosine_similarity": _rounded(hit.cosine_similarity), "bm25_score": _rounded(hit.bm25_score)},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
