"""Compares sets of weights: what each puts into the same prompts, from the same candidates.

Public data hardly vary importance, use and confidence, so that two kinds of stores take part: LoCoMo's turns, at the
time when they were said, and stores in which relevance ties (`evals/ties.py`).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from pathlib import Path

import orjson

from app.assembly.pipeline import select
from app.assembly.plan import plan
from app.assembly.records import AssemblyRequest, Candidate, Overrides, Retrieved
from app.domain.entries import Content, Tier
from app.domain.ids import PublicId
from app.scoring.asked import Asked
from app.scoring.weights import ScoringWeights
from evals.metrics import distinct, fraction_at
from evals.records import Corpus
from evals.service import NO_DATE, PATIENCE_S, Service, batches, content_of
from evals.ties import Tie

Values = Mapping[str, Sequence[float]]
"""What each question gave, by figure."""

WEIGHT_SETS = ("a", "b")


@dataclass(frozen=True, slots=True)
class Compared:
    """What each set of weights gave, in the order of the sets, and where each question comes from."""

    values: tuple[Values, ...]
    groups: Mapping[str, Sequence[str]]


def weight_sets(path: Path) -> dict[str, ScoringWeights]:
    """The sets `a` and `b` of a file: `{"a": {"relevance": 0.55, …}, "b": {…}}`, five weights each that sum to 1.

    Raises:
        ValueError: If the file is not like that.
    """
    try:
        read = orjson.loads(path.read_bytes())
        return {
            name: ScoringWeights(**{key: float(value) for key, value in read[name].items()}) for name in WEIGHT_SETS
        }
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path.name} is no pair of weights a and b: {error!r}") from error


def without_each(weights: ScoringWeights) -> tuple[ScoringWeights, ...]:
    """The weights without each of the five, the others sharing what it had."""
    shares = {field.name: getattr(weights, field.name) for field in fields(weights)}
    return tuple(
        ScoringWeights(**{name: 0.0 if name == gone else share / (1 - shares[gone]) for name, share in shares.items()})
        for gone in shares
    )


async def compare(
    service: Service,
    sets: Sequence[ScoringWeights],
    conversations: Sequence[Corpus],
    ties: Sequence[Tie],
    advance: Callable[[str], None],
) -> Compared:
    """Ask everything once, and select under each set of weights."""
    values: tuple[defaultdict[str, list[float]], ...] = tuple(defaultdict(list) for _ in sets)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for number, tie in enumerate(ties):
        orders = await _orders_of(service, sets, tie, f"user:tie-{number}")
        for found, order in zip(values, orders, strict=True):
            place = order.index(tie.right) if tie.right in order else None
            found["ties.first"].append(float(place == 0))
            found["ties.reciprocal_rank"].append(0.0 if place is None else 1 / (place + 1))
        for key in ("ties.first", "ties.reciprocal_rank"):
            groups[key].append(tie.name.partition(".")[0])
        advance(f"ties {number + 1} of {len(ties)}")
    for corpus in conversations:
        await _conversation(service, sets, corpus, values, groups)
        advance(corpus.name)
    return Compared(values, groups)


async def _orders_of(service: Service, sets: Sequence[ScoringWeights], tie: Tie, space: str) -> list[list[int]]:
    """The places of a tie's facts in the prompt under each set, best first."""
    contents = [
        Content(
            text=fact.text,
            importance=fact.importance,
            confidence=fact.confidence,
            occurred_at=NO_DATE - timedelta(days=fact.age_days),
        )
        for fact in tie.facts
    ]
    written = await service.runtime.entries.create(service.caller, space, Tier.MEMORIES, contents)
    places = {effect.entry.id: place for place, effect in enumerate(written)}
    uses = {effect.entry.id: fact.uses for effect, fact in zip(written, tie.facts, strict=True)}
    key = service.caller.space(space)
    request = AssemblyRequest(space=key, persona=key, query=tie.question, as_of=NO_DATE)
    retrieved = _used(await _retrieved(service, request), uses)
    return [[places[entry_id] for entry_id in _selected(service, request, retrieved, weights)] for weights in sets]


async def _conversation(
    service: Service,
    sets: Sequence[ScoringWeights],
    corpus: Corpus,
    values: Sequence[defaultdict[str, list[float]]],
    groups: defaultdict[str, list[str]],
) -> None:
    space = f"user:{corpus.name}-dated"
    keys: dict[PublicId, str] = {}
    for batch in batches(corpus):
        contents = [replace(content_of(document), occurred_at=document.at) for document in batch]
        written = await service.runtime.entries.create(service.caller, space, Tier.MEMORIES, contents)
        keys |= {effect.entry.id: document.key for effect, document in zip(written, batch, strict=True)}
    key = service.caller.space(space)
    for question in corpus.questions:
        request = AssemblyRequest(space=key, persona=key, query=question.text, as_of=question.at or NO_DATE)
        retrieved = await _retrieved(service, request)
        for found, weights in zip(values, sets, strict=True):
            order = distinct(keys[entry_id] for entry_id in _selected(service, request, retrieved, weights))
            found["locomo.prompt.evidence"].append(fraction_at(len(order), order, question.evidence))
            found["locomo.prompt.fraction@10"].append(fraction_at(10, order, question.evidence))
        for name in ("locomo.prompt.evidence", "locomo.prompt.fraction@10"):
            groups[name].append(corpus.name)


async def _retrieved(service: Service, request: AssemblyRequest) -> Retrieved:
    assembly = service.runtime.assembly

    async def ask() -> Sequence[Asked]:
        return await assembly.models.ask(request.query, PATIENCE_S)

    return await assembly.retriever.retrieve(plan(request, assembly.models.rules.min_relevance), ask)


def _used(retrieved: Retrieved, uses: Mapping[PublicId, int]) -> Retrieved:
    """With use counts that would take weeks of sessions to gather."""

    def used(candidate: Candidate) -> Candidate:
        return replace(candidate, uses=uses[candidate.id])

    return replace(retrieved, candidates=tuple(map(used, retrieved.candidates)))


def _selected(
    service: Service, request: AssemblyRequest, retrieved: Retrieved, weights: ScoringWeights
) -> list[PublicId]:
    rules = service.runtime.assembly.models.rules
    weighed = replace(request, overrides=Overrides(weights=weights))
    selection = select(weighed, plan(weighed, rules.min_relevance), retrieved, rules, service.runtime.count)
    return [chosen.scored.candidate.id for chosen in selection.entries]
