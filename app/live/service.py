"""The shell of live assemblies: plans, reads side by side within a budget, and calls the pure pipeline once."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from app.assembly.pack import TokenCounter
from app.assembly.pipeline import compose, select
from app.assembly.plan import QueryPlan, plan
from app.assembly.ports import Models, Retriever, Sessions
from app.assembly.records import AssemblyRequest, Candidate, Message, Retrieved
from app.assembly.service import Assembled, Stopwatch, versions_of
from app.domain.entries import Tier
from app.domain.errors import UnavailableError
from app.domain.spaces import SpaceKey
from app.live.planner import Surroundings, plan_live
from app.live.ports import LoreSubjects
from app.live.records import VIEWERS, Heard, LivePlan, Source
from app.live.signals import is_question, only_calls
from app.scoring.asked import Asked

PROFILE_ENTRIES: Final = 12
"""Memories of a profile: more than its share of the budget holds."""

RECALL_READ: Final = 32
"""Candidates of each tier that one person's memory brings up: a third of the budget holds some twenty-five."""

EPISODES_READ: Final = 20
LORE_READ: Final = 40
"""Candidates that stream and lore bring up."""

SAME_SHARE: Final = 0.25
HISTORY_SHARE: Final = 0.25
EMBED_SHARE: Final = 0.5
SHARES: Final[Mapping[Source, float]] = {
    Source.RECALL: 0.8,
    Source.EPISODES: 0.7,
    Source.LORE: 0.6,
    Source.RECORDS: 0.6,
}
READ_UNTIL: Final = 0.9
"""Of the stage's budget: how long the same request before is waited for, history, the question, and each source; and
until when all of it is read, so that the rest can still be rendered. What is later is left out."""

Planner = Callable[[Sequence[Heard], Surroundings, int], LivePlan]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRequest:
    """A prompt for a batch of messages.

    Attributes:
        base: What every assembly has; its space is the stream, its query is not used.
        batch: In the order in which it was said; authors out of the key's reach have no viewer.
        lore: Spaces of canon that may be read.
        agents: What the agent is called.
        viewers: How many people's memory is read at most.
        fingerprint: Equal for requests that are the same for the same caller.
    """

    base: AssemblyRequest
    batch: tuple[Heard, ...]
    lore: tuple[SpaceKey, ...] = ()
    agents: tuple[str, ...] = ()
    viewers: int = VIEWERS
    fingerprint: bytes = b""


@dataclass(frozen=True, slots=True)
class LiveAssembled:
    """A finished prompt.

    Attributes:
        request: As the pipeline saw it: what is logged and replayed.
        sources: For every source that was read: milliseconds, or what became of it (`late`, `failed`).
    """

    request: AssemblyRequest
    assembled: Assembled
    plan: LivePlan
    sources: Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class _Read:
    """One read of the store: a source's name, what is asked of it, and how long it may take."""

    name: str
    source: Source
    plan: QueryPlan
    timeout_s: float


@dataclass(frozen=True, slots=True)
class LiveService:
    """Assembles prompts for batches. Identical requests that wait at the same time share one answer.

    An answer is shared only by those who asked before anything was read for it: who asks later, perhaps because
    something was forgotten meanwhile, waits for the answer after it.

    Attributes:
        planner: Decides what is read; another one only for experiments.
    """

    models: Models
    retriever: Retriever
    sessions: Sessions
    lore: LoreSubjects
    count: TokenCounter
    seconds: Callable[[], float]
    planner: Planner = plan_live
    _waiting: dict[bytes, asyncio.Task[LiveAssembled]] = field(default_factory=dict)
    _reading: dict[bytes, asyncio.Task[LiveAssembled]] = field(default_factory=dict)

    async def assemble(self, request: LiveRequest) -> tuple[LiveAssembled, bool]:
        """Build a prompt. What fails or is late is left out and named.

        Returns:
            The prompt, and whether it was made for this request: another one shares it.
        """
        if not request.fingerprint:
            return await self._assemble(request, self.seconds()), True
        task = self._waiting.get(request.fingerprint)
        is_first = task is None
        if task is None:
            task = asyncio.create_task(self._in_turn(request, self._reading.get(request.fingerprint)))
            self._waiting[request.fingerprint] = task
        return await asyncio.shield(task), is_first

    async def _in_turn(self, request: LiveRequest, before: asyncio.Task[LiveAssembled] | None) -> LiveAssembled:
        """Build a prompt after that of the same request before, if that does not take too long."""
        started, same = self.seconds(), request.fingerprint
        if before is not None:
            await asyncio.wait({before}, timeout=request.base.timeout_ms / 1000 * SAME_SHARE)
        task = self._reading[same] = self._waiting.pop(same)
        try:
            return await self._assemble(request, started)
        finally:
            if self._reading.get(same) is task:
                del self._reading[same]

    async def plan(self, request: LiveRequest) -> tuple[LivePlan, tuple[str, ...]]:
        """What would be read, and what was missing to decide it."""
        history, subjects, degraded = await self._around(request)
        return self.planner(request.batch, _surroundings(request, history, subjects), request.viewers), degraded

    async def _assemble(self, request: LiveRequest, started: float) -> LiveAssembled:
        watch = Stopwatch(self.seconds, started, started, {})
        history, subjects, degraded = await self._around(request)
        watch.lap("history")
        live = self.planner(request.batch, _surroundings(request, history, subjects), request.viewers)
        watch.lap("plan")
        base = _as_assembly(request, live, history)
        reads = self._reads(request, live, base)
        left_s = base.timeout_ms / 1000 * READ_UNTIL - (self.seconds() - started)
        found, sources = await self._read(reads, left_s)
        watch.lap("retrieve")
        retrieved = _gathered(found, reads, sources, degraded)
        self.models.expect(retrieved.models.values())
        shared_plan = self._shared_plan(base)
        wordings = {read.plan.spaces[0].name: read.plan.wording for read in reads if read.plan.query}
        asked = replace(shared_plan, asks_outright=False)  # of whom it is asked stands in the request
        selection = select(base, asked, retrieved, self.models.rules, self.count, wordings=wordings)
        watch.lap("select")
        assembly = compose(selection, base)
        watch.lap("render")
        assembled = Assembled(
            assembly,
            shared_plan,
            retrieved.degraded,
            versions_of(selection, retrieved.candidates),
            watch.total(),
            tuple(base.people),
        )
        return LiveAssembled(base, assembled, live, sources)

    async def _around(self, request: LiveRequest) -> tuple[tuple[Message, ...], tuple[str, ...], tuple[str, ...]]:
        """Recent history, what lore is about, and the names of what could not be had."""
        timeout_s = request.base.timeout_ms / 1000 * HISTORY_SHARE
        session = request.base.session
        jobs: dict[str, Coroutine[Any, Any, Any]] = {}
        if session is not None:
            jobs["session"] = self.sessions.recent(request.base.space.tenant_id, session)
        if request.lore:
            jobs["lore"] = self.lore.subjects(request.lore)
        if not jobs:
            return request.base.history, (), ()
        tasks = {name: asyncio.create_task(_tried(job)) for name, job in jobs.items()}
        await asyncio.wait(tasks.values(), timeout=timeout_s)
        got = {name: _outcome(task) for name, task in tasks.items()}
        missing = tuple(name for name, value in got.items() if value is None)
        history = request.base.history if session is None else got["session"] or ()
        return history, got.get("lore") or (), missing

    def _shared_plan(self, base: AssemblyRequest) -> QueryPlan:
        """What all reads have in common: the questions are theirs."""
        asked = base.overrides.min_relevance
        floor = self.models.rules.min_relevance if asked is None else asked
        return replace(plan(replace(base, query="")), query=base.query, min_relevance=0.0 if base.looks_back else floor)

    def _reads(self, request: LiveRequest, live: LivePlan, base: AssemblyRequest) -> tuple[_Read, ...]:
        """What is asked of the store: one read for each person, the stream, each lore, and the records."""
        tenant_id = base.space.tenant_id
        reads: list[_Read] = []
        for pick in live.readers:
            query = pick.query if Source.RECALL in pick.reads else ""
            limit = min(base.overrides.candidate_limit, RECALL_READ) if query else PROFILE_ENTRIES
            profile = PROFILE_ENTRIES if query and Source.PROFILE in pick.reads else 0
            space = SpaceKey(tenant_id, pick.space)
            reads.append(self._read_of(base, pick.space, Source.RECALL, query, spaces=(space,), limit=limit))
            reads[-1] = replace(reads[-1], plan=replace(reads[-1].plan, profile_limit=profile))
        if live.episodes.is_read:
            query, spaces = live.episodes.query, (base.space,)
            reads.append(self._read_of(base, "episodes", Source.EPISODES, query, spaces=spaces, limit=EPISODES_READ))
        for space in request.lore if live.lore.is_read else ():
            query, spaces = live.lore.query, (space,)
            reads.append(self._read_of(base, space.name, Source.LORE, query, spaces=spaces, limit=LORE_READ))
        wants_soul = base.persona != base.space
        if live.records.is_read or wants_soul:
            people = (base.space, *(SpaceKey(tenant_id, pick.space) for pick in live.readers))
            read = self._read_of(base, "records" if live.records.is_read else "soul", Source.RECORDS, "")
            holding = people if live.records.is_read and not base.looks_back else ()
            reads.append(replace(read, plan=replace(read.plan, record_spaces=holding, wants_soul=wants_soul)))
        return tuple(reads)

    def _read_of(
        self,
        base: AssemblyRequest,
        name: str,
        source: Source,
        query: str,
        *,
        spaces: tuple[SpaceKey, ...] = (),
        limit: int = 1,
    ) -> _Read:
        overrides = replace(base.overrides, candidate_limit=limit, must_include=frozenset())
        asked = plan(replace(base, query=query, overrides=overrides), self.models.rules.min_relevance)
        wanted = replace(asked, spaces=spaces, record_spaces=(), wants_soul=False)
        return _Read(name, source, wanted, base.timeout_ms / 1000 * SHARES[source])

    async def _read(
        self, reads: Sequence[_Read], left_s: float
    ) -> tuple[Mapping[str, Retrieved], Mapping[str, float | str]]:
        """Every source side by side; those that are late or fail are missing, and said to be so."""
        texts = dict.fromkeys(read.plan.query for read in reads)
        asking = {text: asyncio.create_task(self.models.ask(text, max(left_s * EMBED_SHARE, 0.001))) for text in texts}
        took: dict[str, float] = {}

        async def one(read: _Read) -> Retrieved | None:
            started = self.seconds()

            async def ask() -> Sequence[Asked]:
                return await asyncio.shield(asking[read.plan.query])

            found = await _tried(self.retriever.retrieve(read.plan, ask))
            took[read.name] = round((self.seconds() - started) * 1000, 3)
            return found

        tasks = {
            read.name: asyncio.create_task(_within(one(read), min(read.timeout_s, max(left_s, 0.001))))
            for read in reads
        }
        try:
            if tasks:
                await asyncio.wait(tasks.values())
        finally:
            for task in (*asking.values(), *tasks.values()):
                task.cancel()
        found = {name: got for name, task in tasks.items() if (got := task.result()) is not None}
        state = {name: took[name] if name in found else "failed" if name in took else "late" for name in tasks}
        return found, state


async def _tried(work: Awaitable[T]) -> T | None:
    """What comes of it; None if that is not to be had."""
    try:
        return await work
    except UnavailableError:
        return None


async def _within(work: Coroutine[Any, Any, T | None], timeout_s: float) -> T | None:
    """What comes of it in time. What is late is told to stop, and not waited for: a driver may take its time."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=timeout_s)
    finally:
        if not task.done():
            _give_up(task)
    return task.result() if task.done() else None


def _outcome(task: asyncio.Task[T | None]) -> T | None:
    if task.done():
        return task.result()
    _give_up(task)
    return None


def _give_up(task: asyncio.Task[Any]) -> None:
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody waits for it any more
    task.cancel()


def _surroundings(request: LiveRequest, history: Sequence[Message], subjects: tuple[str, ...]) -> Surroundings:
    texts = tuple(message.text for message in history)
    return Surroundings(request.agents, texts, subjects, has_lore=bool(request.lore))


def _as_assembly(request: LiveRequest, live: LivePlan, history: Sequence[Message]) -> AssemblyRequest:
    """The request as the pipeline has it: the stream's, with everything that is asked of any source."""
    asked = [*(pick.query for pick in live.readers), live.episodes.query, live.lore.query]
    return replace(
        request.base,
        query="\n".join(text for text in asked if text),
        history=(*history, *_told(request.batch, request.base)),
        people={pick.space: pick.name for pick in live.readers},
        asked_outright=tuple(pick.space for pick in live.readers if pick.asks_outright),
    )


def _told(batch: Sequence[Heard], base: AssemblyRequest) -> tuple[Message, ...]:
    """What the batch itself says wins over an old memory; what it asks for does not hide what is remembered."""
    return tuple(
        Message(m.own_words, m.author.name or m.author.id, base.as_of, m.viewer or "")
        for m in batch
        if not only_calls(m.own_words) and not is_question(m.own_words)
    )


def _gathered(
    found: Mapping[str, Retrieved],
    reads: Sequence[_Read],
    sources: Mapping[str, float | str],
    degraded: tuple[str, ...],
) -> Retrieved:
    """All that was read as one. Of a stream only its episodes, of lore only its memories."""
    candidates: list[Candidate] = []
    for read in reads:
        got = found.get(read.name)
        if got is None:
            continue
        wanted = {Source.EPISODES: Tier.EPISODES, Source.LORE: Tier.MEMORIES}.get(read.source)
        asks = bool(read.plan.query)
        for candidate in got.candidates:
            if wanted is not None and candidate.tier is not wanted:
                continue
            if not asks and candidate.tier is not Tier.MEMORIES:
                continue  # a profile is made of what is known, not of what happened last
            candidates.append(candidate if asks else replace(candidate, is_standing=True))
    lost = [read.name for read in reads if isinstance(sources[read.name], str)]
    dense = any("dense" in got.degraded for got in found.values())
    return Retrieved(
        candidates=tuple(candidates),
        soul=next((got.soul for got in found.values() if got.soul), ()),
        records=tuple(record for got in found.values() for record in got.records),
        degraded=(*degraded, *(["dense"] if dense else []), *lost),
        below_floor=tuple(i for read in reads if read.name in found for i in found[read.name].below_floor),
        models={space: model for got in found.values() for space, model in got.models.items()},
        unread=frozenset(space.name for read in reads if read.name in lost for space in read.plan.spaces),
    )
