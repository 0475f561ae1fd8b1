"""The pipeline: from what was retrieved to a prompt. Read it top to bottom; each line is a stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.assembly.pack import TokenCounter, group_of, pack, pack_remarks
from app.assembly.plan import QueryPlan
from app.assembly.records import (
    Assembly,
    AssemblyRequest,
    AssemblyRules,
    Candidate,
    Dropped,
    DropReason,
    Notice,
    Remark,
    RemarkKind,
    Retrieved,
    Scored,
    Section,
    Selected,
    Selection,
)
from app.assembly.render import (
    MARKUP,
    Group,
    render_block,
    render_entry,
    render_groups,
    render_remark,
    render_section,
)
from app.assembly.screen import BandOf, Screened, screen, unrepeated
from app.assembly.variety import varied
from app.contradictions.resolve import Supersession, question
from app.domain.ids import PublicId
from app.scoring.relevance import Calibration, weight_for, weight_of_evidence
from app.scoring.score import boost, score
from app.scoring.signals import (
    DEFAULT_CONFIDENCE,
    DEFAULT_IMPORTANCE,
    HALF_LIFE_DAYS,
    Signals,
    age_days,
    frequency,
    recency,
)
from app.scoring.support import Place, supported


def assemble(
    request: AssemblyRequest, plan: QueryPlan, retrieved: Retrieved, rules: AssemblyRules, count: TokenCounter
) -> Assembly:
    """Turn what was retrieved into a prompt. Pure: equal arguments, equal bytes."""
    return compose(select(request, plan, retrieved, rules, count), request)


def select(
    request: AssemblyRequest, plan: QueryPlan, retrieved: Retrieved, rules: AssemblyRules, count: TokenCounter
) -> Selection:
    """Decide what goes into the prompt."""
    of_space = {space: rules.of(model_id) for space, model_id in retrieved.models.items()}
    screened = screen(merge(retrieved.candidates), request, rules.band, {s: r.band for s, r in of_space.items()})
    relevances = relevance_of(screened.kept, plan, {s: r.calibration for s, r in of_space.items()}, rules)
    scored = tuple(score_candidate(c, request, r) for c, r in zip(screened.kept, relevances, strict=True))
    rising = threshold(scored, request, rules)
    telling = unrepeated([s.candidate for s in rising.kept], request.history)
    kept = frozenset(c.id for c in telling.kept)
    telling_most = [s for s in rising.kept if s.candidate.id in kept]
    ranked = rank(telling_most, request.overrides.must_include, lambda space: of_space.get(space, rules).band)
    packed = pack(ranked, retrieved.soul, request, count)
    remarks = remark(screened, packed.entries, plan, retrieved)
    texts = remark_texts(remarks, packed.entries, retrieved.notices)
    kept_remarks, remark_tokens = pack_remarks(remarks, texts, packed, request, count)
    return Selection(
        soul=packed.soul,
        dropped_soul=packed.dropped_soul,
        entries=_reading_order(packed.entries),
        dropped=(
            *screened.dropped,
            *_left_behind(retrieved, request),
            *rising.dropped,
            *telling.dropped,
            *packed.dropped,
            *_replaced(packed.entries),
        ),
        supersessions=(*screened.supersessions, *_stored_supersessions(packed.entries)),
        unresolved=screened.unresolved,
        remarks=kept_remarks,
        tokens={"total": sum(packed.tokens.values()) + remark_tokens, **packed.tokens},
        notices=_told(kept_remarks, retrieved.notices),
    )


def _left_behind(retrieved: Retrieved, request: AssemblyRequest) -> tuple[Dropped, ...]:
    """What the store judged not relevant enough, unless it was brought up in another way."""
    found = {candidate.id for candidate in retrieved.candidates} if retrieved.below_floor else ()
    excluded = request.overrides.exclude
    return tuple(
        Dropped(entry_id, DropReason.EXCLUDED if entry_id in excluded else DropReason.MIN_RELEVANCE)
        for entry_id in retrieved.below_floor
        if entry_id not in found
    )


def merge(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """One candidate per id, with what each arm saw of it; in the order of ids, whatever the arms' order."""
    merged: dict[PublicId, Candidate] = {}
    for candidate in candidates:
        known = merged.get(candidate.id)
        merged[candidate.id] = candidate if known is None else _merge_pair(known, candidate)
    return tuple(merged[key] for key in sorted(merged, key=lambda key: key.order))


def _merge_pair(one: Candidate, other: Candidate) -> Candidate:
    return replace(
        one,
        cosine_similarity=_larger(one.cosine_similarity, other.cosine_similarity),
        bm25_score=_larger(one.bm25_score, other.bm25_score),
        coverage=_larger(one.coverage, other.coverage),
        vector=one.vector if one.vector is not None else other.vector,
        is_preference=one.is_preference or other.is_preference,
    )


def _larger(one: float | None, other: float | None) -> float | None:
    present = [value for value in (one, other) if value is not None]
    return max(present, default=None)


def relevance_of(
    candidates: Sequence[Candidate], plan: QueryPlan, calibrations: Mapping[str, Calibration], rules: AssemblyRules
) -> list[float]:
    """The relevance of each candidate: what its words say to the question, and what speaks for it beside them."""
    weights = np.array(
        [
            weight_of_evidence(
                c.cosine_similarity, c.bm25_score, c.coverage, calibrations.get(c.space, rules.calibration)
            )
            for c in candidates
        ]
    )
    found = supported(weights, [_place(c) for c in candidates], plan.wording, weight_for(plan.min_relevance))
    relevances: list[float] = (-np.expm1(-found)).tolist()
    return relevances


def _place(candidate: Candidate) -> Place:
    return Place(
        session=None if candidate.session is None else (candidate.space, candidate.session),
        position=candidate.sequence,
        author=candidate.author,
        at=candidate.occurred_at or candidate.valid_from or candidate.recorded_at,
    )


def score_candidate(candidate: Candidate, request: AssemblyRequest, relevance: float) -> Scored:
    """Compute the five signals and the score."""
    since = candidate.occurred_at or candidate.last_confirmed_at
    signals = Signals(
        relevance=relevance,
        importance=DEFAULT_IMPORTANCE if candidate.importance is None else candidate.importance,
        recency=recency(age_days(since, request.as_of), HALF_LIFE_DAYS[candidate.tier]),
        frequency=frequency(candidate.uses),
        confidence=DEFAULT_CONFIDENCE if candidate.confidence is None else candidate.confidence,
    )
    labels = (*candidate.tags, *([candidate.category.value] if candidate.category else []))
    lift = boost(labels, request.overrides.tag_boosts) if request.overrides.tag_boosts else 1.0
    return Scored(candidate, signals, score(signals, request.overrides.weights, lift))


@dataclass(frozen=True, slots=True)
class Rising:
    """The candidates above the thresholds, and those below."""

    kept: tuple[Scored, ...]
    dropped: tuple[Dropped, ...]


def threshold(scored: Sequence[Scored], request: AssemblyRequest, rules: AssemblyRules) -> Rising:
    """Take out what is not relevant enough. Preferences and pinned entries always pass."""
    kept: list[Scored] = []
    dropped: list[Dropped] = []
    for candidate in scored:
        reason = _shortfall(candidate, request, rules)
        if reason is None:
            kept.append(candidate)
        else:
            dropped.append(Dropped(candidate.candidate.id, reason))
    return Rising(tuple(kept), tuple(dropped))


def _shortfall(scored: Scored, request: AssemblyRequest, rules: AssemblyRules) -> DropReason | None:
    overrides = request.overrides
    if scored.candidate.is_preference or scored.candidate.id in overrides.must_include:
        return None
    floor = rules.min_relevance if overrides.min_relevance is None else overrides.min_relevance
    if request.query.strip() and scored.signals.relevance < floor:
        return DropReason.MIN_RELEVANCE
    return DropReason.MIN_SCORE if scored.score < overrides.min_score else None


def rank(scored: Sequence[Scored], pinned: frozenset[PublicId], band_of: BandOf) -> tuple[Scored, ...]:
    """Best first: pinned, then by score, then by id, tellings of one thing apart. Preferences keep their own order."""
    preferences = sorted(
        (s for s in scored if s.candidate.is_preference),
        key=lambda s: (-(s.candidate.importance or 0.0), s.candidate.id),
    )
    others = sorted(
        (s for s in scored if not s.candidate.is_preference),
        key=lambda s: (s.candidate.id not in pinned, -s.score, s.candidate.id),
    )
    first = sum(s.candidate.id in pinned for s in others)
    return (*preferences, *others[:first], *varied(others[first:], band_of))


def remark(screened: Screened, kept: Sequence[Selected], plan: QueryPlan, retrieved: Retrieved) -> tuple[Remark, ...]:
    """What the prompt must say about the memory itself: what was corrected, conflicts, what is missing."""
    present = {e.scored.candidate.id for e in kept}
    conflicts = [Remark(RemarkKind.CONFLICT, u.ids) for u in screened.unresolved if present.issuperset(u.ids)]
    replaced = [
        Remark(RemarkKind.REPLACED_PREFERENCE, (s.superseded, s.kept))
        for s in screened.supersessions
        if s.superseded in present and s.kept in present
    ]
    notices: list[Remark] = []
    if "store" in retrieved.degraded:
        notices.append(Remark(RemarkKind.SOURCE_UNAVAILABLE))
    elif plan.asks_outright and not kept:
        notices.append(Remark(RemarkKind.NOTHING_KNOWN))
    told = [Remark(RemarkKind.NOTICE, (notice.id,)) for notice in retrieved.notices]
    return (*told, *conflicts, *replaced, *notices)


def remark_texts(
    remarks: Sequence[Remark], kept: Sequence[Selected], notices: Sequence[Notice] = ()
) -> tuple[str, ...]:
    """The sentences of the remarks, in their order."""
    texts = {e.scored.candidate.id: e.scored.candidate.text for e in kept} | dict(notices)
    return tuple(_sentence(r.kind, [texts[i] for i in r.ids]) for r in remarks)


def _sentence(kind: RemarkKind, texts: Sequence[str]) -> str:
    match kind:
        case RemarkKind.CONFLICT:
            return question(*texts)
        case RemarkKind.REPLACED_PREFERENCE:
            return f"The preference “{texts[0]}” no longer holds; now: “{texts[1]}”"
        case RemarkKind.NOTHING_KNOWN:
            return "Nothing is remembered about this. Say so rather than guess."
        case RemarkKind.NOTICE:
            return texts[0]
        case RemarkKind.SOURCE_UNAVAILABLE:
            return "The memory could not be read just now. Do not guess what it holds."


def _told(remarks: Sequence[Remark], notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """The notices that there was room for."""
    told = {remark.ids[0] for remark in remarks if remark.kind is RemarkKind.NOTICE}
    return tuple(notice for notice in notices if notice.id in told)


def _stored_supersessions(kept: Sequence[Selected]) -> tuple[Supersession, ...]:
    """What the entries in the prompt have replaced in the store."""
    candidates = [e.scored.candidate for e in kept]
    return tuple(Supersession(c.id, old, "stored", for_good=False) for c in candidates for old in c.superseded)


def _replaced(kept: Sequence[Selected]) -> tuple[Dropped, ...]:
    return tuple(Dropped(s.superseded, DropReason.SUPERSEDED) for s in _stored_supersessions(kept))


def _reading_order(entries: Sequence[Selected]) -> tuple[Selected, ...]:
    """The order of the prompt: by section; episodes by time, the others by rank."""
    episodes = sorted(
        (e for e in entries if e.section is Section.RECENT_CONTEXT),
        key=lambda e: (
            e.scored.candidate.occurred_at or e.scored.candidate.recorded_at,
            e.scored.candidate.id,
        ),
    )
    others = [e for e in entries if e.section is not Section.RECENT_CONTEXT]
    order = list(Section)
    return tuple(sorted([*others, *episodes], key=lambda e: order.index(e.section)))


def compose(selection: Selection, request: AssemblyRequest) -> Assembly:
    """Render a selection. Replaying a logged selection gives the same bytes."""
    markup = MARKUP[request.format]
    sections: Mapping[Section, list[str]] = {section: [] for section in Section}
    sections[Section.IDENTITY] += [render_block(block, markup) for block in selection.soul]
    for chosen in selection.entries:
        if chosen.section is not Section.RELEVANT_FACTS:
            sections[chosen.section].append(render_entry(chosen.scored.candidate, chosen.section, markup))
    facts = [e for e in selection.entries if e.section is Section.RELEVANT_FACTS]
    sections[Section.RELEVANT_FACTS].append(render_groups(_groups(facts, request), markup))
    sections[Section.RELEVANT_FACTS] += [
        render_remark(text, markup) for text in remark_texts(selection.remarks, selection.entries, selection.notices)
    ]
    rendered = {section: render_section(section, elements, markup) for section, elements in sections.items()}
    prompt = "".join(rendered.values())
    return Assembly(
        prompt=prompt,
        selection=selection,
        stable_prefix=rendered[Section.IDENTITY] + rendered[Section.PREFERENCES],
    )


def _groups(facts: Sequence[Selected], request: AssemblyRequest) -> tuple[Group, ...]:
    """The facts by whose they are: the main space, the others as asked for, lore last."""
    markup = MARKUP[request.format]
    grouped: dict[tuple[str, str], list[str]] = {}
    for chosen in facts:
        group = group_of(chosen.scored, request)
        element = render_entry(chosen.scored.candidate, chosen.section, markup)
        grouped.setdefault((group.name, group.space), []).append(element)
    order = {space.name: place for place, space in enumerate(request.spaces)}
    places = sorted(grouped, key=lambda key: (key[0] == "lore", order.get(key[1], 0)))
    return tuple(Group(name, space, tuple(grouped[name, space])) for name, space in places)
