"""The pipeline: from what was retrieved to a prompt. Read it top to bottom; each line is a stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

import numpy as np

from app.assembly.likeness import Likeness
from app.assembly.pack import TokenCounter, group_of, pack, pack_notes
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
    render_record,
    render_remark,
    render_section,
)
from app.assembly.screen import BandOf, Overruling, Screened, screen, unrepeated
from app.assembly.variety import varied
from app.contradictions.resolve import Supersession, question
from app.domain.ids import PublicId
from app.domain.records import Record
from app.scoring.relevance import Calibration, relevance_of, weight_for, weights_of_evidence
from app.scoring.score import boost, scores
from app.scoring.signals import (
    DEFAULT_CONFIDENCE,
    DEFAULT_IMPORTANCE,
    HALF_LIFE_DAYS,
    Lasting,
    Signals,
    days_of,
    frequency,
    recency,
)
from app.scoring.support import Place, supported
from app.scoring.wording import Wording
from app.text.normalise import visible


def assemble(
    request: AssemblyRequest, plan: QueryPlan, retrieved: Retrieved, rules: AssemblyRules, count: TokenCounter
) -> Assembly:
    """Turn what was retrieved into a prompt. Pure: equal arguments, equal bytes."""
    return compose(select(request, plan, retrieved, rules, count), request)


def select(
    request: AssemblyRequest,
    plan: QueryPlan,
    retrieved: Retrieved,
    rules: AssemblyRules,
    count: TokenCounter,
    *,
    wordings: Mapping[str, Wording] = MappingProxyType({}),
) -> Selection:
    """Decide what goes into the prompt.

    Args:
        wordings: What the questions to single spaces say, where they are not the plan's.
    """
    of_space = {space: rules.of(model_id) for space, model_id in retrieved.models.items()}
    holding = Overruling(retrieved.records)
    bands = {s: r.band for s, r in of_space.items()}
    merged = merge(retrieved.candidates)
    likeness = Likeness(merged)
    screened = screen(merged, request, rules.band, bands, holding=holding, likeness=likeness)
    calibrations = {s: r.calibration for s, r in of_space.items()}
    relevances = rate(screened.kept, plan, calibrations, rules, wordings)
    rising = threshold(score_all(screened.kept, relevances, request), request, rules)
    telling = unrepeated([s.candidate for s in rising.kept], request.history)
    repeated = {dropped.id for dropped in telling.dropped}
    telling_most = [s for s in rising.kept if s.candidate.id not in repeated] if repeated else rising.kept
    ranked = rank(telling_most, request.overrides.must_include, lambda space: of_space.get(space, rules).band, likeness)
    packed = pack(ranked, retrieved.soul, request, count)
    remarks = remark(screened, packed.entries, plan, retrieved, request)
    texts = remark_texts(remarks, packed.entries, request, retrieved.notices)
    records = concerning(retrieved.records, request)
    stored = _stored_supersessions(packed.entries)
    noted = pack_notes(records, list(zip(remarks, texts, strict=True)), packed, request, count)
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
            *(Dropped(s.superseded, DropReason.SUPERSEDED) for s in stored),
        ),
        supersessions=(*screened.supersessions, *stored),
        unresolved=screened.unresolved,
        remarks=noted.remarks,
        tokens={"total": sum(packed.tokens.values()) + noted.tokens, **packed.tokens},
        notices=_told(noted.remarks, retrieved.notices),
        records=noted.records,
    )


def concerning(records: Sequence[Record], request: AssemblyRequest) -> tuple[Record, ...]:
    """The records that are rendered: in a live chat without those that are about nobody who is read."""
    if not request.people:
        return tuple(records)
    return tuple(r for r in records if not r.subjects or not request.people.keys().isdisjoint(r.subjects))


def _left_behind(retrieved: Retrieved, request: AssemblyRequest) -> tuple[Dropped, ...]:
    """What the store judged not relevant enough, unless it was brought up in another way."""
    if not retrieved.below_floor:
        return ()
    found = {candidate.id for candidate in retrieved.candidates if candidate.is_preference or candidate.is_standing}
    found |= request.overrides.must_include
    excluded = request.overrides.exclude
    return tuple(
        Dropped(entry_id, DropReason.EXCLUDED if entry_id in excluded else DropReason.MIN_RELEVANCE)
        for entry_id in retrieved.below_floor
        if not (found and entry_id in found)
    )


_ID = attrgetter("id")
_SCORE = attrgetter("score")


def merge(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """One candidate per id, with what each arm saw of it; in the order of ids, whatever the arms' order."""
    ordered = sorted(candidates, key=_ID)
    if len({candidate.id for candidate in ordered}) == len(ordered):  # no entry was brought up twice
        return tuple(ordered)
    merged: list[Candidate] = []
    for candidate in ordered:
        if merged and merged[-1].id == candidate.id:
            merged[-1] = _merge_pair(merged[-1], candidate)
        else:
            merged.append(candidate)
    return tuple(merged)


def _merge_pair(one: Candidate, other: Candidate) -> Candidate:
    return replace(
        one,
        cosine_similarity=_larger(one.cosine_similarity, other.cosine_similarity),
        bm25_score=_larger(one.bm25_score, other.bm25_score),
        coverage=_larger(one.coverage, other.coverage),
        vector=one.vector if one.vector is not None else other.vector,
        is_preference=one.is_preference or other.is_preference,
        is_standing=one.is_standing or other.is_standing,
    )


def _larger(one: float | None, other: float | None) -> float | None:
    present = [value for value in (one, other) if value is not None]
    return max(present, default=None)


def rate(
    candidates: Sequence[Candidate],
    plan: QueryPlan,
    calibrations: Mapping[str, Calibration],
    rules: AssemblyRules,
    wordings: Mapping[str, Wording] = MappingProxyType({}),
) -> list[float]:
    """The relevance of each candidate: what its words say to the question, and what speaks for it beside them."""
    found = np.zeros(len(candidates))
    for space, members in _by_space(candidates).items():
        seen = [(c.cosine_similarity, c.bm25_score, c.coverage) for c in map(candidates.__getitem__, members)]
        weights = weights_of_evidence(seen, calibrations.get(space, rules.calibration))
        places = [_place(candidates[member]) for member in members]
        wording = wordings.get(space, plan.wording)
        found[members] = supported(weights, places, wording, weight_for(plan.min_relevance))
    relevances: list[float] = relevance_of(found).tolist()
    return relevances


def _by_space(candidates: Sequence[Candidate]) -> dict[str, list[int]]:
    """Positions of the candidates of each space."""
    members: dict[str, list[int]] = {}
    for place, candidate in enumerate(candidates):
        members.setdefault(candidate.space, []).append(place)
    return members


def _place(candidate: Candidate) -> Place:
    """Where an entry stands among those that may speak for it."""
    known = candidate.memo.place
    if known is None:
        known = candidate.memo.place = Place(
            session=None if candidate.session is None else (candidate.space, candidate.session),
            position=candidate.sequence,
            author=candidate.author,
            at=candidate.occurred_at or candidate.valid_from or candidate.recorded_at,
        )
    return known


def score_all(
    candidates: Sequence[Candidate], relevances: Sequence[float], request: AssemblyRequest
) -> tuple[Scored, ...]:
    """The five signals and the score of each candidate, in their order."""
    if not candidates:
        return ()
    lasting = np.fromiter(chain.from_iterable(map(_lasting, candidates)), np.float64, 4 * len(candidates))
    importance, confidence, since_days, half_life_days = lasting.reshape(-1, 4).T
    age_days = days_of(request.as_of) - since_days
    uses = frequency([c.uses for c in candidates])
    signals = np.column_stack((relevances, importance, recency(age_days, half_life_days), uses, confidence))
    totals = scores(signals, request.overrides.weights)
    if request.overrides.tag_boosts:
        totals = totals * [boost(_labels(c), request.overrides.tag_boosts) for c in candidates]
    return tuple(map(Scored, candidates, map(Signals._make, signals.tolist()), totals.tolist()))


def _lasting(candidate: Candidate) -> Lasting:
    """What the signals of an entry are made of."""
    known = candidate.memo.lasting
    if known is None:
        known = candidate.memo.lasting = Lasting(
            importance=DEFAULT_IMPORTANCE if candidate.importance is None else candidate.importance,
            confidence=DEFAULT_CONFIDENCE if candidate.confidence is None else candidate.confidence,
            since_days=days_of(candidate.occurred_at or candidate.last_confirmed_at),
            half_life_days=HALF_LIFE_DAYS[candidate.tier],
        )
    return known


def _labels(candidate: Candidate) -> tuple[str, ...]:
    return (*candidate.tags, *([candidate.category.value] if candidate.category else []))


@dataclass(frozen=True, slots=True)
class Rising:
    """The candidates above the thresholds, and those below."""

    kept: tuple[Scored, ...]
    dropped: tuple[Dropped, ...]


def threshold(scored: Sequence[Scored], request: AssemblyRequest, rules: AssemblyRules) -> Rising:
    """Take out what is not relevant enough. Preferences and pinned entries always pass."""
    kept: list[Scored] = []
    dropped: list[Dropped] = []
    floor = rules.min_relevance if request.overrides.min_relevance is None else request.overrides.min_relevance
    for one in scored:
        candidate = _recalled(one, floor) if one.candidate.is_standing else one
        reason = _shortfall(candidate, request, floor)
        if reason is None:
            kept.append(candidate)
        else:
            dropped.append(Dropped(candidate.candidate.id, reason))
    return Rising(tuple(kept), tuple(dropped))


def _recalled(scored: Scored, floor: float) -> Scored:
    """What is relevant to the question is recalled, and no part of the profile any more."""
    if scored.signals.relevance >= floor:
        return scored._replace(candidate=replace(scored.candidate, is_standing=False))
    return scored


def _shortfall(scored: Scored, request: AssemblyRequest, floor: float) -> DropReason | None:
    overrides = request.overrides
    is_irrelevant = (
        scored.signals.relevance < floor and not scored.candidate.is_standing and bool(request.query.strip())
    )
    if not is_irrelevant and scored.score >= overrides.min_score:
        return None
    if scored.candidate.is_preference or scored.candidate.id in overrides.must_include:
        return None
    return DropReason.MIN_RELEVANCE if is_irrelevant else DropReason.MIN_SCORE


def rank(
    scored: Sequence[Scored], pinned: frozenset[PublicId], band_of: BandOf, likeness: Likeness
) -> tuple[Scored, ...]:
    """Best first: pinned, then by score, tellings of one thing apart. Preferences keep their own order.

    Args:
        scored: By id, and so are those of one score afterwards.
    """
    preferences = sorted(
        [s for s in scored if s.candidate.is_preference], key=lambda s: s.candidate.importance or 0.0, reverse=True
    )
    others = sorted([s for s in scored if not s.candidate.is_preference], key=_SCORE, reverse=True)
    first = [s for s in others if s.candidate.id in pinned] if pinned else []
    rest = [s for s in others if s.candidate.id not in pinned] if first else others
    return (*preferences, *first, *varied(rest, band_of, likeness))


def remark(
    screened: Screened,
    kept: Sequence[Selected],
    plan: QueryPlan,
    retrieved: Retrieved,
    request: AssemblyRequest,
) -> tuple[Remark, ...]:
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
    known = {e.scored.candidate.space for e in kept}
    for space in request.asked_outright:
        if space in retrieved.unread:
            notices.append(Remark(RemarkKind.SOURCE_UNAVAILABLE, about=space))
        elif space not in known:
            notices.append(Remark(RemarkKind.NOTHING_KNOWN, about=space))
    told = [Remark(RemarkKind.NOTICE, (notice.id,)) for notice in retrieved.notices]
    return (*told, *conflicts, *replaced, *notices)


def remark_texts(
    remarks: Sequence[Remark], kept: Sequence[Selected], request: AssemblyRequest, notices: Sequence[Notice] = ()
) -> tuple[str, ...]:
    """The sentences of the remarks, in their order."""
    if not remarks:
        return ()
    texts = {e.scored.candidate.id: e.scored.candidate.text for e in kept} | dict(notices)
    return tuple(_sentence(r, [texts[i] for i in r.ids], request.people) for r in remarks)


def _sentence(remark: Remark, texts: Sequence[str], people: Mapping[str, str]) -> str:
    whose = f" {people.get(remark.about, '')} ({visible(remark.about)})" if remark.about else ""
    match remark.kind:
        case RemarkKind.CONFLICT:
            return question(*texts)
        case RemarkKind.REPLACED_PREFERENCE:
            return f"The preference “{texts[0]}” no longer holds; now: “{texts[1]}”"
        case RemarkKind.NOTHING_KNOWN:
            return f"Nothing is remembered about{whose or ' this'}. Say so rather than guess."
        case RemarkKind.NOTICE:
            return texts[0]
        case RemarkKind.SOURCE_UNAVAILABLE:
            return f"The memory{whose and ' of' + whose} could not be read just now. Do not guess what it holds."


def _told(remarks: Sequence[Remark], notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """The notices that there was room for."""
    told = {remark.ids[0] for remark in remarks if remark.kind is RemarkKind.NOTICE}
    return tuple(notice for notice in notices if notice.id in told)


def _stored_supersessions(kept: Sequence[Selected]) -> tuple[Supersession, ...]:
    """What the entries in the prompt have replaced in the store."""
    replacing = [e.scored.candidate for e in kept if e.scored.candidate.superseded]
    return tuple(Supersession(c.id, old, "stored", for_good=False) for c in replacing for old in c.superseded)


def _reading_order(entries: Sequence[Selected]) -> tuple[Selected, ...]:
    """The order of the prompt: by section; episodes by time, the others by rank."""
    by_section: dict[Section, list[Selected]] = {section: [] for section in Section}
    for chosen in entries:
        by_section[chosen.section].append(chosen)
    by_section[Section.RECENT_CONTEXT].sort(
        key=lambda e: (e.scored.candidate.occurred_at or e.scored.candidate.recorded_at, e.scored.candidate.id)
    )
    return tuple(chain.from_iterable(by_section.values()))


def compose(selection: Selection, request: AssemblyRequest) -> Assembly:
    """Render a selection. Replaying a logged selection gives the same bytes."""
    markup = MARKUP[request.format]
    sections: Mapping[Section, list[str]] = {section: [] for section in Section}
    sections[Section.IDENTITY] += [render_block(block, markup) for block in selection.soul]
    for chosen in selection.entries:
        if chosen.section is not Section.RELEVANT_FACTS:
            sections[chosen.section].append(render_entry(chosen.scored.candidate, chosen.section, markup))
    facts = [e for e in selection.entries if e.section is Section.RELEVANT_FACTS]
    sections[Section.RELEVANT_FACTS] += [render_record(record, markup) for record in selection.records]
    sections[Section.RELEVANT_FACTS].append(render_groups(_groups(facts, request), markup))
    sections[Section.RELEVANT_FACTS] += [
        render_remark(text, markup)
        for text in remark_texts(selection.remarks, selection.entries, request, selection.notices)
    ]
    rendered = {section: render_section(section, elements, markup) for section, elements in sections.items()}
    prompt = "".join(rendered.values())
    return Assembly(
        prompt=prompt,
        selection=selection,
        stable_prefix=rendered[Section.IDENTITY] + rendered[Section.PREFERENCES],
    )


def _groups(facts: Sequence[Selected], request: AssemblyRequest) -> tuple[Group, ...]:
    """The facts by whose they are: the main space, the others as asked for, each profile before recall, lore last."""
    markup = MARKUP[request.format]
    grouped: dict[Group, list[str]] = {}
    for chosen in facts:
        group = group_of(chosen.scored, request)
        element = render_entry(chosen.scored.candidate, chosen.section, markup)
        grouped.setdefault(group, []).append(element)
    spaces = (*(space.name for space in request.spaces), *request.people)
    order = {name: place for place, name in enumerate(spaces)}
    groups = sorted(grouped, key=lambda g: (g.name == "lore", order.get(g.space, 0), g.name != "profile"))
    return tuple(replace(group, elements=tuple(grouped[group])) for group in groups)
