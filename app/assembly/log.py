"""The assembly log: what was selected, by id and version, never by text. Pure.

A prompt is rendered again from the logged versions and signals: the same bytes, unless something was erased.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from app.assembly.pack import TokenCounter
from app.assembly.pipeline import compose
from app.assembly.records import (
    Assembly,
    AssemblyRequest,
    Candidate,
    Dropped,
    DropReason,
    Notice,
    Remark,
    RemarkKind,
    Scored,
    Section,
    Selected,
    Selection,
)
from app.assembly.service import Assembled
from app.contradictions.resolve import Supersession, Unresolved, question
from app.domain.entries import Entry
from app.domain.ids import PublicId, parse_id
from app.domain.records import Record
from app.domain.soul import SoulBlock
from app.scoring.signals import Signals

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Logged:
    """One assembly, as it goes into the log.

    Attributes:
        body: Gives the request as it came, in JSON, once nobody waits any more.
    """

    id: PublicId
    created_at: datetime
    request: AssemblyRequest
    body: Callable[[], Json]
    assembled: Assembled


@dataclass(frozen=True, slots=True)
class LogRow:
    """One assembly, as it stands in the log."""

    id: PublicId
    space: str
    created_at: datetime
    body: Json
    outcome: Json

    @property
    def entry_versions(self) -> tuple[tuple[PublicId, int], ...]:
        """The entries in the prompt, with their versions."""
        return tuple((parse_id(e["id"]), e["version"]) for e in self.outcome["entries"])

    @property
    def notice_ids(self) -> tuple[PublicId, ...]:
        """The corrections that the prompt told of."""
        told = [ids[0] for kind, ids, *_ in self.outcome["remarks"] if kind == RemarkKind.NOTICE]
        return tuple(map(parse_id, told))

    @property
    def soul_versions(self) -> tuple[tuple[PublicId, int], ...]:
        """The soul blocks that were seen, with their versions."""
        seen = (*self.outcome["soul"], *self.outcome["dropped_soul"])
        return tuple((parse_id(block_id), version) for block_id, version in seen)

    @property
    def record_versions(self) -> tuple[tuple[PublicId, int], ...]:
        """The records in the prompt, with their versions."""
        return tuple((parse_id(record_id), version) for record_id, version in self.outcome.get("records", ()))


@dataclass(frozen=True, slots=True)
class Parts:
    """What still exists of a logged prompt: versions of entries, soul blocks (dropped too), records; notices."""

    entries: tuple[Entry, ...]
    blocks: tuple[SoulBlock, ...]
    notices: tuple[Notice, ...] = ()
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Replayed:
    """A prompt that was rendered again.

    Attributes:
        identical: Whether it has the bytes of the first time.
        erased: How many entries and soul blocks of it are gone.
    """

    assembly: Assembly
    identical: bool
    erased: int


def outcome_json(assembled: Assembled) -> dict[str, Any]:
    """What is logged of an assembly beside its request."""
    assembly, selection = assembled.assembly, assembled.assembly.selection
    return {
        "soul": [[str(block.id), block.version] for block in selection.soul],
        "dropped_soul": [[str(block.id), block.version] for block in selection.dropped_soul],
        "entries": [_entry_json(e) for e in selection.entries],
        "dropped": [[str(d.id), d.reason.value] for d in selection.dropped],
        "supersessions": [[str(s.kept), str(s.superseded), s.why, s.for_good] for s in selection.supersessions],
        "unresolved": [[str(i) for i in u.ids] for u in selection.unresolved],
        "remarks": [[r.kind.value, [str(i) for i in r.ids], r.about] for r in selection.remarks],
        **({"records": [[str(r.id), r.version] for r in selection.records]} if selection.records else {}),
        "tokens": dict(assembly.tokens),
        "prompt_sha256": _digest(assembly.prompt),
        "degraded": list(assembled.degraded),
        **({"people": list(assembled.people)} if assembled.people else {}),
        "timings_ms": dict(assembled.timings_ms),
    }


def _entry_json(selected: Selected) -> dict[str, Any]:
    candidate = selected.scored.candidate
    return {
        "id": str(candidate.id),
        "version": candidate.version,
        "section": selected.section.value,
        **({"standing": True} if candidate.is_standing else {}),
        "score": selected.scored.score,
        "signals": selected.scored.signals._asdict(),
        "tokens": selected.tokens,
    }


def _digest(prompt: str) -> str:
    return sha256(prompt.encode()).hexdigest()


def replay(row: LogRow, request: AssemblyRequest, parts: Parts, count: TokenCounter) -> Replayed:
    """Render a logged assembly again.

    Args:
        request: The logged request.
        parts: What still exists of it.
    """
    selection = selection_from(row, parts)
    assembly = compose(selection, request)
    outcome = row.outcome
    logged = len(outcome["entries"]) + len(outcome["soul"]) + len(row.notice_ids) + len(row.record_versions)
    left = len(selection.entries) + len(selection.soul) + len(selection.notices) + len(selection.records)
    erased = logged - left
    if erased:
        tokens = {**selection.tokens, "total": count(assembly.prompt)}
        assembly = replace(assembly, selection=replace(selection, tokens=tokens))
    return Replayed(
        assembly=assembly, identical=_digest(assembly.prompt) == row.outcome["prompt_sha256"], erased=erased
    )


def selection_from(row: LogRow, parts: Parts) -> Selection:
    """The logged selection, without what was erased since."""
    outcome = row.outcome
    by_version = {(str(e.id), e.version): e for e in parts.entries}
    by_block = {(str(b.id), b.version): b for b in parts.blocks}
    by_record = {(r.id, r.version): r for r in parts.records}
    chosen = tuple(
        _selected(item, by_version[item["id"], item["version"]])
        for item in outcome["entries"]
        if (item["id"], item["version"]) in by_version
    )
    texts = {str(e.scored.candidate.id): e.scored.candidate.text for e in chosen}
    told = texts.keys() | {str(notice.id) for notice in parts.notices}
    return Selection(
        soul=tuple(by_block[i, v] for i, v in outcome["soul"] if (i, v) in by_block),
        dropped_soul=tuple(by_block[i, v] for i, v in outcome["dropped_soul"] if (i, v) in by_block),
        entries=chosen,
        dropped=tuple(Dropped(parse_id(i), DropReason(reason)) for i, reason in outcome["dropped"]),
        supersessions=tuple(
            Supersession(parse_id(kept), parse_id(lost), why, for_good)
            for kept, lost, why, for_good in outcome["supersessions"]
        ),
        unresolved=tuple(
            Unresolved(tuple(map(parse_id, ids)), question(*(texts[i] for i in ids)))
            for ids in outcome["unresolved"]
            if all(i in texts for i in ids)
        ),
        remarks=tuple(
            Remark(RemarkKind(kind), tuple(map(parse_id, ids)), *about)
            for kind, ids, *about in outcome["remarks"]
            if told >= set(ids)
        ),
        tokens=outcome["tokens"],
        notices=parts.notices,
        records=tuple(by_record[key] for key in row.record_versions if key in by_record),
    )


def _selected(item: Json, entry: Entry) -> Selected:
    candidate = replace(candidate_from(entry), is_standing=item.get("standing", False))
    scored = Scored(candidate, Signals(**item["signals"]), item["score"])
    return Selected(scored, Section(item["section"]), item["tokens"])


def candidate_from(entry: Entry) -> Candidate:
    """An entry as the renderer sees it."""
    content = entry.content
    return Candidate(
        id=entry.id,
        version=entry.version,
        sequence=entry.sequence,
        space=entry.space,
        tier=entry.tier,
        text=content.text,
        scope=content.scope,
        recorded_at=entry.first_recorded_at,
        last_confirmed_at=entry.last_confirmed_at,
        category=content.category,
        tags=content.tags,
        claim=content.claim,
        importance=content.importance,
        confidence=content.confidence,
        valid_from=content.valid_from,
        valid_to=content.valid_to,
        occurred_at=content.occurred_at,
        trigger=content.trigger,
        unresolved=entry.unresolved,
    )


def proposals(logged: Logged) -> tuple[tuple[Supersession, int, int], ...]:
    """The supersessions that an assembly may propose, with the versions that were seen.

    None when it looked back in time or ran under overrides: it did not see what holds now.
    """
    if logged.request.looks_back or logged.request.overrides.names:
        return ()
    versions = logged.assembled.versions
    return tuple(
        (s, versions[s.kept], versions[s.superseded])
        for s in logged.assembled.assembly.selection.supersessions
        if s.for_good and s.kept in versions and s.superseded in versions
    )
