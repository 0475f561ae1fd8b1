"""The shell of the assembly: waits for the embedder and the store, then calls the pure core once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.assembly.pack import TokenCounter
from app.assembly.pipeline import compose, select
from app.assembly.plan import QueryPlan, plan
from app.assembly.ports import Models, Retriever, Sessions
from app.assembly.records import Assembly, AssemblyRequest, Candidate, Message, Retrieved, Selection
from app.domain.errors import NotFoundError, UnavailableError
from app.domain.ids import PublicId
from app.scoring.asked import Asked

_EMBED_SHARE = 0.6
"""Of the time that a request has, the embedder may take this share; retrieval needs the rest."""


Amend = Callable[[Retrieved], Retrieved]


@dataclass(frozen=True, slots=True)
class Assembled:
    """A finished prompt, with how it came about.

    Attributes:
        versions: Of the candidates that supersessions name, as they were seen.
        timings_ms: The stages and their `total`.
        people: In a live chat: the spaces of those whose memory was read, in their order.
    """

    assembly: Assembly
    plan: QueryPlan
    degraded: tuple[str, ...]
    versions: Mapping[PublicId, int]
    timings_ms: Mapping[str, float]
    people: tuple[str, ...] = ()


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds per stage."""

    seconds: Callable[[], float]
    started: float
    last: float
    laps_ms: dict[str, float]

    def lap(self, stage: str) -> None:
        """Ends a stage."""
        now = self.seconds()
        self.laps_ms[stage] = round((now - self.last) * 1000, 3)
        self.last = now

    def total(self) -> dict[str, float]:
        """All stages, and the time since the start."""
        return {**self.laps_ms, "total": round((self.last - self.started) * 1000, 3)}


@dataclass(frozen=True, slots=True)
class AssemblyService:
    """Assembles prompts.

    Attributes:
        seconds: A clock for measuring, in seconds; never goes back.
    """

    models: Models
    retriever: Retriever
    sessions: Sessions
    count: TokenCounter
    seconds: Callable[[], float]

    async def assemble(self, request: AssemblyRequest, amend: Amend | None = None) -> Assembled:
        """Build a prompt. What fails or is late is left out and named in `degraded`.

        Args:
            amend: Changes what was retrieved: for a look at what a change of the store would do.

        Raises:
            NotFoundError: If a pinned entry is not in the spaces read, or not active.
        """
        started = self.seconds()
        watch = Stopwatch(self.seconds, started, started, {})
        timeout_s = request.timeout_ms / 1000
        asking = asyncio.create_task(self.models.ask(request.query.strip(), timeout_s * _EMBED_SHARE))
        listening = None if request.session is None else asyncio.create_task(self._said(request, request.session))
        try:
            await asyncio.sleep(0)  # the embedder begins, and the rest is planned meanwhile
            query_plan = plan(request, self.models.rules.min_relevance)
            watch.lap("plan")
            retrieved = await self._retrieve(query_plan, asking, timeout_s, watch)
            said = request.history if listening is None else await listening
        finally:
            asking.cancel()
            if listening is not None:
                listening.cancel()
        if said is not None:
            request = replace(request, history=said)
        self.models.expect(retrieved.models.values())
        if amend is not None:
            retrieved = amend(retrieved)
        watch.lap("retrieve")
        _check_pinned(request, retrieved)
        selection = select(request, query_plan, retrieved, self.models.rules, self.count)
        watch.lap("select")
        assembly = compose(selection, request)
        watch.lap("render")
        versions = versions_of(selection, retrieved.candidates)
        degraded = retrieved.degraded if said is not None else (*retrieved.degraded, "session")
        return Assembled(assembly, query_plan, degraded, versions, watch.total())

    async def _said(self, request: AssemblyRequest, session: PublicId) -> tuple[Message, ...] | None:
        """What was said in a session; None if that cannot be had in time."""
        share_s = max(request.timeout_ms / 1000 * _EMBED_SHARE, 0.001)
        try:
            said = await asyncio.wait_for(self.sessions.recent(request.space.tenant_id, session), share_s)
        except (TimeoutError, UnavailableError):
            return None
        return tuple(m for m in said if not request.looks_back or m.at is None or m.at <= request.as_of)

    async def _retrieve(
        self, query_plan: QueryPlan, asking: Awaitable[Sequence[Asked]], timeout_s: float, watch: Stopwatch
    ) -> Retrieved:
        async def ask() -> Sequence[Asked]:
            asked = await asking
            watch.lap("embed")
            return asked

        left_s = timeout_s - (watch.last - watch.started)
        try:
            async with asyncio.timeout(max(left_s, 0.001)):
                return await self.retriever.retrieve(query_plan, ask)
        except (TimeoutError, UnavailableError):
            return Retrieved(degraded=("store",))


def versions_of(selection: Selection, candidates: Sequence[Candidate]) -> Mapping[PublicId, int]:
    """The versions of the candidates that supersessions name."""
    named = {entry_id for s in selection.supersessions for entry_id in (s.kept, s.superseded)}
    return {c.id: c.version for c in candidates if c.id in named} if named else {}


def _check_pinned(request: AssemblyRequest, retrieved: Retrieved) -> None:
    if not request.overrides.must_include or "store" in retrieved.degraded:
        return
    missing = request.overrides.must_include - {c.id for c in retrieved.candidates}
    if missing:
        raise NotFoundError(f"must_include: no active entry {min(missing)} in the spaces read")
