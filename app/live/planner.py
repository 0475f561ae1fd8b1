"""The planner: whose memory is read for a batch, and which other sources. Pure, deterministic, without a model.

Every decision is made of what can be observed, and says why. Reading nothing is a valid plan.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.assembly.plan import asks_outright
from app.live.records import (
    LEAST_SALIENCE,
    VIEWERS,
    WEIGHTS,
    Heard,
    LivePlan,
    Pick,
    Shared,
    Signal,
    Source,
)
from app.live.signals import (
    asks_of_agent,
    is_foreign,
    is_question,
    meant,
    refers_back,
    signals_of,
    subject,
    substance,
)
from app.text.normalise import fold, plain, visible

COVERED = 0.6
"""From this share of its content words on, recent history holds what somebody refers back to."""

SUBJECT_WORDS = 2
"""Fewer content words name no subject that could be looked for in recent history."""

NAME_CHARS = 80


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the planner knows beside the batch.

    Attributes:
        agents: What the agent is called.
        history: Texts of recent history.
        entities: What the lore is about, as it is written there.
        has_lore: Whether the request names any.
    """

    agents: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    has_lore: bool = False


def plan_live(batch: Sequence[Heard], around: Surroundings, viewers: int = VIEWERS) -> LivePlan:
    """Decide what is read for a batch.

    Args:
        batch: In the order in which it was said.
        viewers: How many people's memory is read at most.
    """
    picks = _picks(batch, around)
    chosen = picks[:viewers]
    said = [message for message in batch if message.own_words]
    episodes = _episodes(said, around)
    lore = _lore(said, around, alone=len({m.viewer for m in said}) == 1)
    reads = any(pick.reads for pick in chosen) or episodes.is_read or lore.is_read
    records = Shared(Source.RECORDS, reads, "something is read" if reads else "nothing else is read")
    return LivePlan(chosen, tuple(pick.space for pick in picks[viewers:]), episodes, lore, records)


def _picks(batch: Sequence[Heard], around: Surroundings) -> tuple[Pick, ...]:
    """Everybody who took part and can be told, most salient first, then who spoke first."""
    own: dict[str, list[Heard]] = {}
    for message in batch:
        if message.viewer is not None:
            own.setdefault(message.viewer, []).append(message)
    names = Counter(messages[-1].author.name for messages in own.values())
    picks: list[Pick] = []
    for space, messages in own.items():
        others = [m for m in batch if m.viewer != space]
        observed = signals_of(messages, others=others, agents=around.agents, alone=len(own) == 1)
        if names[messages[-1].author.name] > 1:  # a mention does not say which of them
            by_id = any(messages[-1].author.id in m.mentions for m in others)
            observed -= set() if by_id else {Signal.MENTIONED}
        picks.append(_pick(space, messages, observed, around.agents))
    return tuple(sorted(picks, key=lambda pick: -pick.salience))


def _pick(space: str, messages: Sequence[Heard], observed: set[Signal], agents: Iterable[str]) -> Pick:
    signals = tuple(signal for signal in Signal if signal in observed)
    salience = sum(WEIGHTS[signal] for signal in signals)
    query = "\n".join(message.own_words for message in messages if message.own_words)
    outright = any(asks_outright(message.own_words) for message in messages)
    reads, why = _reads(salience, query, agents, outright=outright)
    return Pick(
        space=space,
        name=_name_of(messages[-1]),
        salience=salience,
        signals=signals,
        query=query,
        reads=reads,
        why=why,
        asks_outright=outright,
    )


def _reads(salience: int, query: str, agents: Iterable[str], *, outright: bool) -> tuple[tuple[Source, ...], str]:
    if salience < LEAST_SALIENCE:
        return (), "only took part or was mentioned"
    if outright:
        return (Source.PROFILE, Source.RECALL), "asks what is remembered"
    if not query:
        return (Source.PROFILE,), "wrote nothing that could be looked for"
    if not substance(query).difference(*map(substance, agents)):
        return (
            ((Source.PROFILE,), "says nothing that could be looked for")
            if salience >= WEIGHTS[Signal.ADDRESSES_AGENT]
            else ((), "only calls out")
        )
    return (Source.PROFILE, Source.RECALL), "says something to be answered"


def _episodes(said: Sequence[Heard], around: Surroundings) -> Shared:
    back = [message.own_words for message in said if refers_back(message.own_words)]
    open_ones = [text for text in back if not _is_covered(text, around.history)]
    if open_ones:
        return Shared(Source.EPISODES, True, "somebody refers back", "\n".join(open_ones))
    foreign = [
        message.own_words for message in said if is_question(message.own_words) and is_foreign(message.own_words)
    ]
    if foreign:
        return Shared(
            Source.EPISODES, True, "a question in a language without rules: similarity decides", "\n".join(foreign)
        )
    return Shared(Source.EPISODES, False, "recent history holds what is referred to" if back else "nobody refers back")


def _is_covered(text: str, history: Iterable[str]) -> bool:
    """Whether recent history holds what a reference back is about."""
    wanted = subject(text)
    if len(wanted) < SUBJECT_WORDS:
        return False
    known = frozenset[str]().union(*map(substance, history))
    return len(wanted & known) / len(wanted) >= COVERED


def _lore(said: Sequence[Heard], around: Surroundings, *, alone: bool) -> Shared:
    if not around.has_lore:
        return Shared(Source.LORE, False, "no lore is named")
    of_agent = [m.own_words for m in said if asks_of_agent(m.own_words) and (alone or _is_to_agent(m, around.agents))]
    touched = [m.own_words for m in said if m.own_words not in of_agent and _touches(m.own_words, around.entities)]
    texts = [m.own_words for m in said if m.own_words in {*of_agent, *touched}]
    if not texts:
        return Shared(Source.LORE, False, "nothing touches it")
    why = "somebody asks the agent about itself" if of_agent else "its subjects are named"
    return Shared(Source.LORE, True, why, "\n".join(texts))


def _is_to_agent(message: Heard, agents: Sequence[str]) -> bool:
    return Signal.ADDRESSES_AGENT in signals_of([message], others=(), agents=agents, alone=False)


def _touches(text: str, entities: Iterable[str]) -> bool:
    padded = f" {' '.join(_words(text))} "
    return any(f" {' '.join(words)} " in padded for entity in entities if (words := _words(entity)))


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in meant(text)).split()


def names_of(batch: Iterable[Heard]) -> dict[str, str]:
    """What everybody goes by, as they were called last; by space."""
    return {m.viewer: _name_of(m) for m in batch if m.viewer is not None}


def _name_of(message: Heard) -> str:
    return visible(message.author.name or message.author.id or "")[:NAME_CHARS]


def entity_names(texts: Iterable[str], labels: Iterable[str]) -> tuple[str, ...]:
    """What lore is about: its labels (subjects of claims, tags), and the names in its texts; sorted.

    A name is a word with a capital that does not begin a sentence, or that begins several; and such words in a row.
    """
    found = {label.strip() for label in labels if label.strip()}
    for text in texts:
        found |= set(_names_in(text))
    return tuple(sorted(name for name in found if len(fold(plain(name))) > 2))


def _names_in(text: str) -> list[str]:
    names: list[str] = []
    run: list[str] = []
    begins = True
    for raw in text.split():
        word = raw.strip("\"'“”„‘’(),.;:!?…")
        if word[:1].isupper() and not begins:
            run.append(word.removesuffix("'s").removesuffix("’s"))
        elif run:
            names.append(" ".join(run))
            run = []
        if raw.endswith((",", ";", ":")) and run:
            names.append(" ".join(run))
            run = []
        begins = raw.endswith((".", "!", "?", "…"))
    return [*names, *([" ".join(run)] if run else [])]
