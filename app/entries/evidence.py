"""What memories become when what was said changes. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.domain.entries import Content, Entry, Status
from app.domain.evidence import Evidence, KeptEvidence, MessageVersion
from app.domain.ids import PublicId
from app.entries.decide import Moment, first_version, next_version
from app.entries.repeat import reinforce


@dataclass(frozen=True, slots=True)
class Weighed:
    """How what is stored of a turn differs from what was said in it.

    Attributes:
        fresh: Not stored yet.
        stale: Not said any more.
        renewed: Still said, by a later version of the message.
    """

    fresh: tuple[Evidence, ...]
    stale: tuple[KeptEvidence, ...]
    renewed: tuple[KeptEvidence, ...]


def weigh(kept: Sequence[KeptEvidence], said: Sequence[Evidence], standing: frozenset[MessageVersion]) -> Weighed:
    """Compare what is stored of a turn with what its messages say now.

    What is stored of a message stands until the message changes: reading it again, by a model or by newer rules,
    changes nothing. What its owner erased is neither stale nor fresh.

    Args:
        standing: The messages that were read.
    """
    known = {(one.of.message, one.key): one for one in kept}
    read = {one.of for one in kept}
    now = {(one.of.message, one.key): one for one in said if one.of not in read}
    fresh = tuple(one for place, one in now.items() if _differs(known.get(place), one))
    outdated = [one for one in kept if one.of not in standing]
    stale = tuple(
        one
        for one in outdated
        if one.content is not None
        and ((one.of.message, one.key) not in now or _differs(one, now[one.of.message, one.key]))
    )
    renewed = tuple(
        replace(one, of=now[one.of.message, one.key].of)
        for one in outdated
        if (one.of.message, one.key) in now and one not in stale
    )
    return Weighed(fresh, stale, renewed)


def _differs(known: KeptEvidence | None, said: Evidence) -> bool:
    return known is None or (known.content is not None and known.content != said.content)


def remembered(entry_id: PublicId, space: str, evidence: Evidence | KeptEvidence, moment: Moment) -> Entry:
    """A memory that rests on one piece of evidence: confirmed when it was said."""
    content = _content(evidence)
    return replace(first_version(entry_id, space, content, moment), last_confirmed_at=evidence.said_at)


def rebuilt(entry: Entry, rest: Sequence[KeptEvidence], moment: Moment) -> Entry:
    """An entry made anew of what is left of what it rests on, oldest first; its fate and its tags stay."""
    made = remembered(entry.id, entry.space, rest[0], moment)
    for one in rest[1:]:
        made = reinforce(made, _content(one), moment, said_at=one.said_at)
    until, since = entry.content.valid_to, made.content.valid_from
    until = until if until and (since is None or until > since) else None
    content = replace(made.content, tags=entry.content.tags, valid_to=until)
    return replace(rewritten(entry, moment), content=content, last_confirmed_at=made.last_confirmed_at)


def rewritten(entry: Entry, moment: Moment) -> Entry:
    """An entry as it is, in its first version: nothing of what it was before stays."""
    first = first_version(entry.id, entry.space, entry.content, moment)
    return replace(
        first,
        first_recorded_at=entry.first_recorded_at,
        last_confirmed_at=entry.last_confirmed_at,
        status=entry.status,
        superseded_by=entry.superseded_by,
        unresolved=entry.unresolved,
    )


def owned(entry: Entry, evidence: Iterable[KeptEvidence]) -> bool:
    """Whether an entry says something that none of its evidence does: somebody has rewritten it."""
    return entry.content.text not in {one.content.text for one in evidence if one.content is not None}


def reopened(entry: Entry, before: Content | None, moment: Moment) -> Entry:
    """An entry whose winner is gone: it holds again, as long as it did before."""
    until = None if before is None else before.valid_to
    version = next_version(entry, moment, reason="resolved", content=replace(entry.content, valid_to=until))
    return replace(version, status=Status.ACTIVE, superseded_by=None)


def _content(evidence: Evidence | KeptEvidence) -> Content:
    if evidence.content is None:
        raise ValueError("what was erased makes no memory")
    return evidence.content
