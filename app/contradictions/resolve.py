"""Which of two contradicting statements holds, and what to ask when nothing decides."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.contradictions.detect import Contradiction, Statement
from app.domain.ids import PublicId
from app.domain.spaces import scope_depth

QUOTE_CHARS = 120
QUESTION_CHARS = 320
_RANK_OF_KIND = {"story": 3, "arc": 3, "scene": 3, "character": 2, "chat": 1, "project": 0}

Strength = tuple[int, int, datetime, int, PublicId]


@dataclass(frozen=True, slots=True)
class Supersession:
    """One statement gives way to another.

    Attributes:
        why: As in `Contradiction`.
        for_good: Both hold in the same scope, so that the store may be asked to supersede the loser;
            otherwise the loser is out for this turn only.
    """

    kept: PublicId
    superseded: PublicId
    why: str
    for_good: bool


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Two statements that cannot both hold, and nothing decides.

    Attributes:
        ids: By id.
        question: One line in English that quotes both; at most `QUESTION_CHARS`.
    """

    ids: tuple[PublicId, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """What holds. `kept` and `out` together are the input, each by id; everything else by id too."""

    kept: tuple[PublicId, ...]
    out: tuple[PublicId, ...]
    supersessions: tuple[Supersession, ...]
    unresolved: tuple[Unresolved, ...]


def resolve(statements: Sequence[Statement], contradictions: Iterable[Contradiction]) -> Resolution:
    """Decide every contradiction, the strongest statement first; the order of the arguments is irrelevant.

    A statement is out only if one that is kept contradicts it and is stronger: the strongest always
    stays, and what is out itself pushes nobody out. Statements are visible together; contradictions
    about others are ignored.
    """
    by_id = {one.id: one for one in statements}
    opponents = _opponents(contradictions, by_id)
    kept: set[PublicId] = set()
    supersessions: list[Supersession] = []
    for one in sorted(statements, key=_strength, reverse=True):
        rivals = {rival: why for rival, why in opponents[one.id].items() if rival in kept}
        winners = [rival for rival in rivals if direction(new=by_id[rival], old=one) == "new"]
        if not winners:
            kept.add(one.id)
        for rival in winners:
            for_good = by_id[rival].scope == one.scope
            supersessions.append(Supersession(rival, one.id, rivals[rival], for_good))
    return Resolution(
        kept=tuple(sorted(kept)),
        out=tuple(sorted(by_id.keys() - kept)),
        supersessions=tuple(sorted(supersessions, key=lambda change: (change.superseded, change.kept))),
        unresolved=_unresolved(opponents, kept, by_id),
    )


def direction(new: Statement, old: Statement) -> Literal["new", "old"] | None:
    """Which of two contradicting statements holds; None when nothing decides.

    The deeper scope wins, at equal depth a story before a character, a chat and a project; in equal
    scopes the one that became true later (`valid_from`, else `confirmed_at`), then the later in the
    history of the space. Two given and equal `valid_from` decide nothing.
    """
    both_given = new.valid_from is not None and new.valid_from == old.valid_from
    if both_given and scope_strength(new.scope) == scope_strength(old.scope):
        return None
    return "new" if _strength(new) > _strength(old) else "old"


def scope_strength(scope: str) -> tuple[int, int]:
    """How particular a scope is: deeper first, then by its kind; more is stronger."""
    return scope_depth(scope), _RANK_OF_KIND.get(scope.partition(":")[0], 0)


def _strength(one: Statement) -> Strength:
    return (*scope_strength(one.scope), *one.since, one.id)


def _opponents(
    contradictions: Iterable[Contradiction], by_id: dict[PublicId, Statement]
) -> defaultdict[PublicId, dict[PublicId, str]]:
    """Who contradicts whom and why, both ways; of several reasons the first by name."""
    opponents: defaultdict[PublicId, dict[PublicId, str]] = defaultdict(dict)
    for pair in sorted(contradictions, key=lambda pair: pair.why, reverse=True):
        if pair.one in by_id and pair.other in by_id and pair.one != pair.other:
            opponents[pair.one][pair.other] = pair.why
            opponents[pair.other][pair.one] = pair.why
    return opponents


def _unresolved(
    opponents: dict[PublicId, dict[PublicId, str]], kept: set[PublicId], by_id: dict[PublicId, Statement]
) -> tuple[Unresolved, ...]:
    pairs = sorted((one, other) for one in kept for other in opponents.get(one, {}) if other in kept and one < other)
    return tuple(Unresolved(pair, question(by_id[pair[0]].text, by_id[pair[1]].text)) for pair in pairs)


def question(one: str, other: str) -> str:
    """What to ask about two texts that cannot both hold: one line in English that quotes both."""
    return f"Which of these holds now: \u201c{_quote(one)}\u201d or \u201c{_quote(other)}\u201d?"


def _quote(text: str) -> str:
    """A text on one line, cut to `QUOTE_CHARS`."""
    line = " ".join(text[: 4 * QUOTE_CHARS].split())
    return line if len(line) <= QUOTE_CHARS else line[: QUOTE_CHARS - 1].rstrip() + "\u2026"
