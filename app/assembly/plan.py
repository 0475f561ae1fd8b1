"""Planning: what a request asks of the store, and what it asks outright."""

import re
from dataclasses import dataclass, field
from datetime import datetime

from app.assembly.records import AssemblyRequest
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey, visible_scopes
from app.scoring.wording import Wording, wording
from app.text.terms import QueryTerm, query_terms

_ASKS_OUTRIGHT = re.compile(
    r"\b(?:do|did|can|don't|dont) you (?:still )?(?:remember|recall)\b"
    r"|\bwhat (?:do|did) you (?:know|remember) (?:about|of)\b"
    r"|\bwhat have i told you\b"
    r"|\b(?:ti ricordi|ricordi|cosa sai (?:di me|su di me)|che cosa sai di me|cosa ti ho detto)\b"
    r"|\b(?:pamatuješ si|pamatujes si|vzpomínáš si|co o mně víš|co víš o mně)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What is looked up.

    Attributes:
        spaces: The spaces to search, the main one first.
        scopes: Every scope that is visible, shallow first.
        terms: The query's words for the keyword arm; empty for an empty query.
        wording: What else the query says.
        pinned: Entries to fetch whatever search brings up.
        asks_outright: Whether the query asks what is remembered.
        record_spaces: Whose records hold for the prompt.
        wants_soul: Whether the persona's blocks come along.
        profile_limit: With a question, how many of the memories that matter most come along whatever it asks.
        min_relevance: Below it an entry cannot be in the prompt; 0 when the query sets no floor.
    """

    spaces: tuple[SpaceKey, ...]
    persona: SpaceKey
    query: str
    terms: tuple[QueryTerm, ...]
    scopes: tuple[str, ...]
    as_of: datetime
    looks_back: bool
    known_at: datetime | None
    candidate_limit: int
    pinned: tuple[PublicId, ...]
    asks_outright: bool
    min_relevance: float = 0.0
    profile_limit: int = 0
    record_spaces: tuple[SpaceKey, ...] = ()
    wants_soul: bool = True
    wording: Wording = field(default_factory=Wording)


def plan(request: AssemblyRequest, min_relevance: float = 0.0) -> QueryPlan:
    """Decide what to look up for a request.

    Args:
        min_relevance: The floor, unless the request sets another.
    """
    query = request.query.strip()
    asked = request.overrides.min_relevance
    terms = query_terms(query) if query else ()
    return QueryPlan(
        spaces=request.spaces,
        persona=request.persona,
        query=query,
        terms=terms,
        scopes=visible_scopes(request.scopes),
        as_of=request.as_of,
        looks_back=request.looks_back,
        known_at=request.known_at,
        candidate_limit=request.overrides.candidate_limit,
        pinned=tuple(sorted(request.overrides.must_include)),
        asks_outright=asks_outright(query),
        wording=wording(query, terms, request.as_of),
        record_spaces=() if request.looks_back else request.spaces,
        min_relevance=0.0 if not query or request.looks_back else min_relevance if asked is None else asked,
    )


def asks_outright(text: str) -> bool:
    """Whether somebody asks what is remembered."""
    return _ASKS_OUTRIGHT.search(text) is not None
