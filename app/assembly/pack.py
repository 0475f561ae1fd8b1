"""Packing: by rank into the budgets, counting exactly what will be rendered."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.assembly.records import (
    PREFERENCE_SHARE,
    SECTION_OF_TIER,
    AssemblyRequest,
    Candidate,
    Dropped,
    DropReason,
    Remark,
    Scored,
    Section,
    Selected,
)
from app.assembly.render import (
    MARKUP,
    Group,
    Markup,
    render_block,
    render_entry,
    render_record,
    render_remark,
    wrapper_of_group,
    wrapper_of_section,
)
from app.domain.entries import Tier
from app.domain.records import Record
from app.domain.soul import SoulBlock
from app.text.tokens import fewest_tokens

TokenCounter = Callable[[str], int]

REMARK_TOKENS = 300
"""Budget of records, conflicts and notices, apart from the memories."""

LORE_SHARE = 0.25
ALSO_READ_SHARE = 0.4
"""Shares of the memory budget that lore and other people's spaces may take while the main space has
entries that would fit; what the main space leaves is theirs."""

PROFILE_SHARE = 0.4
"""Of one person's share in a live chat, the part that the profile may take while something is recalled that fits."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits, in the order of rank, and what does not. `tokens` holds `soul` and every tier."""

    soul: tuple[SoulBlock, ...]
    dropped_soul: tuple[SoulBlock, ...]
    entries: tuple[Selected, ...]
    dropped: tuple[Dropped, ...]
    tokens: Mapping[str, int]


@dataclass(slots=True)
class _Purse:
    """Tokens left of one budget, and of the budgets it is part of."""

    left: float
    parent: "_Purse | None" = None
    spent: int = 0

    @property
    def room(self) -> float:
        """Tokens that can still be paid."""
        left, purse = self.left, self.parent
        while purse is not None:
            left, purse = min(left, purse.left), purse.parent
        return left

    def pay(self, tokens: int) -> bool:
        """Take the tokens if all budgets allow it."""
        if tokens > self.left or (self.parent is not None and not self.parent.pay(tokens)):
            return False
        self.left -= tokens
        self.spent += tokens
        return True


def _tokens_of(candidate: Candidate, section: Section, markup: Markup, count: TokenCounter) -> int:
    """What an entry takes, tags included."""
    key = (section, markup.leaf, count)
    known = candidate.memo.tokens
    if known is None or known[0] != key:
        known = candidate.memo.tokens = (key, count(render_entry(candidate, section, markup)))
    return known[1]


@dataclass(slots=True)
class _Packer:
    """Fills sections. Wrappers are paid for with the first element that needs them."""

    markup: Markup
    count: TokenCounter
    open: set[object] = field(default_factory=set)
    entries: list[Selected] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    def offer(
        self, scored: Scored, section: Section, purse: _Purse, group: Callable[[Scored], Group] | None = None
    ) -> bool:
        """Put one entry in if it fits.

        Args:
            group: Tells which group of the section an entry belongs to.
        """
        room = purse.room
        tokens = self._tokens(scored.candidate, section, room)
        fits = tokens <= room and self._pay(tokens, section, purse, None if group is None else group(scored))
        if fits:
            self.entries.append(Selected(scored, section, tokens))
        return fits

    def _tokens(self, candidate: Candidate, section: Section, room: float) -> int:
        """What an entry takes; of one that cannot fit, at least how much."""
        if candidate.memo.tokens is None:
            fewest = candidate.memo.fewest_tokens
            if fewest is None:
                fewest = candidate.memo.fewest_tokens = fewest_tokens(candidate.text)
            if fewest > room:
                return fewest
        return _tokens_of(candidate, section, self.markup, self.count)

    def offer_text(self, element: str, section: Section, purse: _Purse) -> bool:
        """Put one element that is no entry in if it fits."""
        return self._pay(self.count(element), section, purse, None)

    def drop(self, scored: Iterable[Scored]) -> None:
        """Leave entries out for lack of room."""
        self.dropped.extend(Dropped(s.candidate.id, DropReason.BUDGET) for s in scored)

    def _pay(self, tokens: int, section: Section, purse: _Purse, group: Group | None) -> bool:
        opening: list[object] = []
        if section not in self.open:
            opening.append(section)
            tokens += self.count(wrapper_of_section(section, self.markup))
        if group is not None and (key := (group.name, group.space)) not in self.open:
            opening.append(key)
            tokens += self.count(wrapper_of_group(group, self.markup))
        if not purse.pay(tokens):
            return False
        self.open.update(opening)
        return True


def pack(
    scored: Sequence[Scored],
    soul: Sequence[SoulBlock],
    request: AssemblyRequest,
    count: TokenCounter,
) -> Packed:
    """Fill the prompt's parts in their order; an entry that does not fit makes room for a smaller one.

    Args:
        scored: Best first within each tier; preferences of the preference arm in their stable order.
        soul: In the order in which they are rendered.

    Returns:
        Kept and dropped together are the input. Rendered, no part exceeds its budget.
    """
    budgets = request.overrides.budget_tokens
    total = _Purse(float("inf") if budgets.total is None else budgets.total)
    purses = {tier: _Purse(budgets.of(tier), total) for tier in Tier}
    soul_purse = _Purse(budgets.soul, total)
    packer = _Packer(MARKUP[request.format], count)

    blocks = [(b, packer.offer_text(render_block(b, packer.markup), Section.IDENTITY, soul_purse)) for b in soul]
    memories = purses[Tier.MEMORIES]
    preferences = _Purse(int(budgets.memories * PREFERENCE_SHARE), memories)
    passed_over = [
        s for s in scored if s.candidate.is_preference and not packer.offer(s, Section.PREFERENCES, preferences)
    ]
    facts = [s for s in scored if s.candidate.tier is Tier.MEMORIES and not s.candidate.is_preference]
    _pack_facts(packer, facts, request, memories)
    packer.drop(passed_over)
    for tier in (Tier.EPISODES, Tier.PROCEDURES):
        packer.drop(
            [s for s in scored if s.candidate.tier is tier and not packer.offer(s, SECTION_OF_TIER[tier], purses[tier])]
        )
    return Packed(
        soul=tuple(block for block, fits in blocks if fits),
        dropped_soul=tuple(block for block, fits in blocks if not fits),
        entries=tuple(packer.entries),
        dropped=tuple(packer.dropped),
        tokens={"soul": soul_purse.spent, **{tier.value: purse.spent for tier, purse in purses.items()}},
    )


@dataclass(frozen=True, slots=True)
class Noted:
    """The records and remarks that fit, and the tokens that they take."""

    records: tuple[Record, ...]
    remarks: tuple[Remark, ...]
    tokens: int


def pack_notes(
    records: Sequence[Record],
    remarks: Sequence[tuple[Remark, str]],
    packed: Packed,
    request: AssemblyRequest,
    count: TokenCounter,
) -> Noted:
    """The records and remarks that fit in their own budget and in what is left of the total, each in their order.

    Args:
        records: The latest first.
        remarks: Most important first, each with its sentence.
    """
    total = request.overrides.budget_tokens.total
    left = float("inf") if total is None else total - sum(packed.tokens.values())
    purse = _Purse(min(REMARK_TOKENS, left))
    packer = _Packer(MARKUP[request.format], count, open={e.section.value for e in packed.entries})
    section = Section.RELEVANT_FACTS
    kept = tuple(r for r in records if packer.offer_text(render_record(r, packer.markup), section, purse))
    said = tuple(r for r, text in remarks if packer.offer_text(render_remark(text, packer.markup), section, purse))
    return Noted(kept, said, purse.spent)


def group_of(scored: Scored, request: AssemblyRequest) -> Group:
    """The group of the facts that an entry belongs to."""
    candidate = scored.candidate
    if candidate.is_lore:
        return Group("lore", "", ())
    is_recall = request.query.strip() and not candidate.is_standing
    return Group("recall" if is_recall else "profile", candidate.space, (), request.people.get(candidate.space))


def _pack_facts(packer: _Packer, facts: Sequence[Scored], request: AssemblyRequest, memories: _Purse) -> None:
    """Share the memory budget: first within the shares, then whatever is left, by rank."""
    budget = request.overrides.budget_tokens.memories
    lore = _Purse(int(budget * LORE_SHARE), memories)
    others = _Purse(int(budget * ALSO_READ_SHARE), memories)

    shares = {
        c.space: lore if c.is_lore else memories if c.space == request.space.name else others
        for c in {s.candidate.space: s.candidate for s in facts}.values()
    }
    each = int(budget * (1 - LORE_SHARE) / max(1, len(request.people)))
    shares |= {person: _Purse(each, memories) for person in request.people}
    profiles = {person: _Purse(int(each * PROFILE_SHARE), shares[person]) for person in request.people}

    def share(scored: Scored) -> _Purse:
        space = scored.candidate.space
        return profiles[space] if scored.candidate.is_standing and space in profiles else shares[space]

    groups: dict[tuple[str, bool], Group] = {}

    def group(scored: Scored) -> Group:
        key = (scored.candidate.space, scored.candidate.is_standing)
        known = groups.get(key)
        if known is None:
            known = groups[key] = group_of(scored, request)
        return known

    def offered(scored: Scored, purse: _Purse) -> bool:
        return packer.offer(scored, Section.RELEVANT_FACTS, purse, group)

    waiting = [s for s in facts if not offered(s, share(s))]
    packer.drop([s for s in waiting if share(s) is memories or not offered(s, memories)])
