"""The composition root: builds the pool, the adapters and the services from the settings."""

import asyncio
import random
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from uuid import UUID

import httpx
import psycopg
import uuid_utils
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import SecretStr
from redis.asyncio import Redis

from app.assembly.pack import TokenCounter
from app.assembly.recorder import AssemblyLog, Recorder
from app.assembly.records import AssemblyRules, BudgetTokens, Format, Section
from app.assembly.records import Message as Said
from app.assembly.render import MARKUP, render_block, render_section
from app.assembly.service import AssemblyService
from app.consolidation.service import ConsolidationService
from app.contradictions.caches import counted, forget_texts
from app.contradictions.claims import derive_claim
from app.contradictions.detect import SimilarityBand
from app.corrections.conversation import ConversationWishes
from app.corrections.service import CorrectionService
from app.corrections.view import ViewStore
from app.domain.callers import NewKey, Role
from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.domain.spaces import SpaceKey
from app.embedding.calibration import CosineMap, ModelCalibration, calibrated
from app.embedding.centre import measure_centre
from app.embedding.counting import CountsBatches
from app.embedding.factory import (
    DeclaredEmbedder,
    EmbedderKind,
    EmbedderOptions,
    EmbedderSetupError,
    RunningEmbedder,
    calibration_of,
    create_embedder,
)
from app.embedding.local import Prefixes
from app.embedding.served import ServedModel, ServedModels
from app.entries.search import SearchService
from app.entries.service import EntryService
from app.extraction.budgeted import BudgetedCompleter
from app.extraction.ports import Completer
from app.extraction.service import ExtractionService
from app.forgetting.service import ForgettingService
from app.live.service import LiveService
from app.live.signals import meant
from app.llm.client import ChatCompleter, completions_url
from app.llm.summaries import LlmSummariser
from app.llm.upstream import Upstream, open_upstream_client
from app.maintenance.service import MaintenanceService
from app.metrics import Metrics, Reading
from app.profile.service import ProfileService
from app.proxy.afterwards import Afterwards
from app.records.service import RecordService
from app.scoring.asked import Asked
from app.scoring.relevance import MIN_RELEVANCE
from app.settings import MeasuredModel, Settings
from app.soul.ports import SoulMeasure
from app.soul.service import SoulService
from app.store import embedded
from app.store.archive import FolderArchive
from app.store.archives import PostgresArchives
from app.store.arrivals import PostgresArrivals
from app.store.assembly_log import PostgresAssemblyLog
from app.store.consolidation import PostgresConsolidation
from app.store.corrections import PostgresCorrections
from app.store.entries import Pool, PostgresEntries
from app.store.forgetting import PostgresForgetting, Reached
from app.store.keys import KEY_CHARS_MIN, PostgresKeys, ensure_key, ensure_tenant, find_tenant
from app.store.llm_budget import PostgresTokenBudget
from app.store.lore import PostgresLoreSubjects
from app.store.maintenance import PostgresHousekeeping
from app.store.migrate import migrate
from app.store.models import ModelCentre, ModelRow, ModelSpec, adopt_model, list_models
from app.store.pool import create_pool, ping
from app.store.profile import PostgresProfile
from app.store.queue import NO_QUEUE, Queue, QueueState, queue_state
from app.store.records import PostgresRecords
from app.store.resident.spaces import ResidentSpaces
from app.store.retriever import PostgresRetriever
from app.store.search import PostgresSearch
from app.store.soul import PostgresSoul
from app.store.spaces import PostgresSpaces
from app.store.transfer import PostgresTransfer
from app.store.turns import PostgresTurns
from app.store.working import PostgresWorkingMemory, RedisWorkingMemory, connect_redis, ping_redis
from app.text.terms import query_terms
from app.text.tokens import RememberingCounter, token_counter
from app.traces import Traces, open_traces
from app.turns.documents import heard, own_space
from app.turns.ports import WorkingMemory
from app.turns.records import CONVERSATION_GAP, Message, Speaker
from app.turns.retention import HistoryService
from app.turns.service import JobService, TurnService
from app.turns.tasks import TurnTasks

DEFAULT_TENANT = "default"
CONNECT_SECONDS = 10
_READING_SECONDS = 2.0
_KEY_FILE = "api_key"
_STORED_OPTIONS = ("model", "url", "batch_texts", "timeout_ms", "query_prefix", "document_prefix")

BuildStored = Callable[["Settings", str, Mapping[str, Any]], tuple[RunningEmbedder, ModelCalibration]]
"""Builds the embedder that a store describes, by its kind and options."""


@dataclass(frozen=True, slots=True)
class Health:
    """What works: of each part why it does not, None where it does."""

    database: str | None
    embedder: str | None
    working_memory: str | None
    queue: QueueState | None

    @property
    def status(self) -> str:
        """In one word: without the embedder prompts get worse, without the database there are none."""
        if self.database is not None:
            return "unavailable"
        return "degraded" if self.why else "ok"

    @property
    def why(self) -> list[str]:
        """What is not well, part by part, in words that hold no text, key or address."""
        parts = {"database": self.database, "embedder": self.embedder, "working_memory": self.working_memory}
        told = [f"{name}: {reason}" for name, reason in parts.items() if reason is not None]
        queue = "does not answer" if self.queue is None else self.queue.why
        return told if queue is None else [*told, f"queue: {queue}"]

    @property
    def queue_json(self) -> Mapping[str, Any]:
        """The queue, as health tells it."""
        return NO_QUEUE if self.queue is None else self.queue.as_json()


@dataclass(frozen=True, slots=True)
class Probes:
    """Signs of life; each raises UnavailableError when there is none, or is late."""

    database: Callable[[], Coroutine[Any, Any, None]]
    embedder: Callable[[], Coroutine[Any, Any, object]]
    working_memory: Callable[[], Coroutine[Any, Any, object]]
    queue: Callable[[], Coroutine[Any, Any, QueueState]]
    timeout_s: float = 2.0

    async def check(self) -> Health:
        """Ask all."""
        return Health(
            *await asyncio.gather(
                self._trouble(self.database()),
                self._trouble(self.embedder()),
                self._trouble(self.working_memory()),
                self._queue(),
            )
        )

    async def _trouble(self, probe: Coroutine[Any, Any, object]) -> str | None:
        try:
            await asyncio.wait_for(probe, self.timeout_s)
        except TimeoutError:
            return f"does not answer within {self.timeout_s:g} s"
        except UnavailableError:
            return "does not answer"
        return None

    async def _queue(self) -> QueueState | None:
        try:
            return await asyncio.wait_for(self.queue(), self.timeout_s)
        except (TimeoutError, UnavailableError):
            return None


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a running service is made of."""

    keys: PostgresKeys
    spaces: PostgresSpaces
    entries: EntryService
    corrections: CorrectionService
    views: ViewStore
    forgetting: ForgettingService
    transfer: PostgresTransfer
    arrivals: PostgresArrivals
    soul: SoulService
    records: RecordService
    search: SearchService
    assembly: AssemblyService
    live: LiveService
    assembly_log: AssemblyLog
    recorder: Recorder
    maintenance: MaintenanceService
    consolidation: ConsolidationService
    profile: ProfileService
    extraction: ExtractionService
    turns: TurnService
    jobs: JobService
    history: HistoryService
    queue: Queue
    count: TokenCounter
    probes: Probes
    afterwards: Afterwards
    upstream: Upstream | None
    metrics: Metrics
    traces: Traces
    read_metrics: Callable[[], Coroutine[Any, Any, Reading]]


class ConfigurationError(Exception):
    """A setting that the service cannot start with."""


def new_uuid() -> UUID:
    """A UUIDv7."""
    return UUID(bytes=uuid_utils.uuid7().bytes)


def new_id(kind: IdKind, space_id: UUID) -> PublicId:
    """An id for a new item of a space."""
    return PublicId(new_uuid(), space_id, kind)


def new_secret() -> str:
    """A fresh API key: 240 random bits."""
    return f"rk_{secrets.token_hex(30)}"


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[str]:
    """The database's URL: the one of the settings, or an embedded server that runs until the end.

    The schema is brought up to date either way.
    """
    if settings.database_url is not None:
        url = database_url_of(settings.database_url.get_secret_value())
        await asyncio.to_thread(migrate, url)
        yield url
        return
    starting = asyncio.create_task(asyncio.to_thread(embedded.start, settings.data_dir))
    try:
        server = await asyncio.shield(starting)
        await asyncio.to_thread(migrate, server.url)
        yield server.url
    finally:  # also of a server that was just starting when we were cancelled
        await asyncio.to_thread((await starting).stop)


def database_url_of(given: str) -> str:
    """The URL, with a bound on the time that connecting may take unless it names one.

    Raises:
        ConfigurationError: If it is none; without quoting it, because it may hold a password.
    """
    try:
        wanted = conninfo_to_dict(given)
    except psycopg.ProgrammingError as error:
        raise ConfigurationError("RICORDO_DATABASE_URL is no Postgres URL: postgresql://user@host/name") from error
    return make_conninfo(given, connect_timeout=wanted.get("connect_timeout", CONNECT_SECONDS))


@asynccontextmanager
async def open_keys(
    settings: Settings, tenant: str, *, create: bool = False
) -> AsyncIterator[tuple[UUID, PostgresKeys]]:
    """The id of a tenant, and all keys; other processes may serve from the same database meanwhile.

    Args:
        create: Whether to make the tenant if there is none of that name.

    Raises:
        ConfigurationError: If there is no such tenant.
    """
    async with open_database(settings) as url:
        tenant_id = await asyncio.to_thread(ensure_tenant if create else find_tenant, url, tenant)
        if tenant_id is None:
            raise ConfigurationError(f"there is no tenant {tenant}")
        async with create_pool(url, 1) as pool:
            yield tenant_id, PostgresKeys(pool, new_secret, new_uuid, time.monotonic)


@asynccontextmanager
async def open_runtime(settings: Settings) -> AsyncIterator[Runtime]:
    """Start everything that the service needs, and stop it at the end."""
    try:
        options = _embedder_options(settings)
        embedder = create_embedder(settings.embedder, options)
        calibration = calibration_of(embedder.model, options.measured)
    except (EmbedderSetupError, ValueError) as error:
        raise ConfigurationError(str(error)) from error
    async with open_runtime_with(settings, embedder, calibration) as runtime:
        yield runtime


def build_embedder(
    settings: Settings, kind: str, options: Mapping[str, Any]
) -> tuple[RunningEmbedder, ModelCalibration]:
    """The embedder of a stored model, not started, with its calibration.

    Raises:
        EmbedderSetupError: If this process cannot build it.
        ValueError: If what is stored makes no sense to this version.
    """
    known = _options_of(kind, options, settings)
    embedder = create_embedder(cast("EmbedderKind", kind), known)
    return embedder, calibration_of(embedder.model, known.measured)


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[DeclaredEmbedder]:
    """The embedder of the settings alone, started.

    Raises:
        ConfigurationError: If it cannot be built or does not start.
    """
    try:
        embedder = create_embedder(settings.embedder, _embedder_options(settings))
    except (EmbedderSetupError, ValueError) as error:
        raise ConfigurationError(str(error)) from error
    try:
        await embedder.start()
        yield embedder
    except UnavailableError as error:
        raise ConfigurationError(str(error)) from error
    finally:
        await embedder.close()


@asynccontextmanager
async def open_runtime_with(
    settings: Settings, embedder: RunningEmbedder, calibration: ModelCalibration, build: BuildStored = build_embedder
) -> AsyncIterator[Runtime]:
    """The same, with a given embedder; it is started here and closed at the end.

    Args:
        build: Builds the other model while the store changes from one to another.
    """
    counting = asyncio.create_task(asyncio.to_thread(token_counter, settings.tokenizer))
    loading = asyncio.create_task(embedder.start())
    warming = asyncio.create_task(asyncio.to_thread(_warm_up))
    try:
        async with open_database(settings) as url:
            model = await _started(url, settings, embedder, loading)
            await asyncio.to_thread(_ensure_first_key, settings, url)
            count = RememberingCounter(await counting)
            await warming
            async with create_pool(url, settings.database_connections) as pool:
                models = ServedModels(
                    ServedModel(model.id, embedder, calibration),
                    partial(list_models, pool),
                    lambda row: build(settings, row.kind or "", row.options),
                )
                resident = ResidentSpaces(pool, settings.resident_mb << 20, time.monotonic)
                async with _open_outside(settings, url) as outside:
                    runtime = _build(settings, pool, models, resident, embedder=embedder, count=count, outside=outside)
                    work = [
                        runtime.recorder.run(),
                        runtime.maintenance.run(settings.consolidation_seconds),
                        models.run(),
                        *([runtime.queue.run()] if settings.worker == "embedded" else []),
                    ]
                    async with _closing(models, resident), _background(*work):
                        yield runtime
                        await runtime.afterwards.close()
                        await runtime.recorder.settled()
    finally:
        await embedder.close()
        for task in (counting, loading, warming):
            task.cancel()
        await asyncio.gather(counting, loading, warming, return_exceptions=True)


@asynccontextmanager
async def open_completer(settings: Settings) -> AsyncIterator[Completer | None]:
    """The language model of the settings; None when there is none. It is not asked before it is needed.

    Raises:
        ConfigurationError: If its settings make no sense.
    """
    if settings.llm_url is None:
        yield None
        return
    if settings.llm_model is None:
        raise ConfigurationError("RICORDO_LLM_URL needs RICORDO_LLM_MODEL, the server's name of the model")
    try:
        url = completions_url(settings.llm_url)
    except ValueError as error:
        raise ConfigurationError(f"RICORDO_LLM_URL: {error}") from error
    key = settings.llm_api_key
    async with httpx.AsyncClient(timeout=None) as client:  # noqa: S113 - each attempt has a deadline of its own
        yield ChatCompleter(
            client,
            url,
            settings.llm_model,
            None if key is None else key.get_secret_value(),
            settings.llm_timeout_ms / 1000,
        )


@asynccontextmanager
async def open_upstream(settings: Settings) -> AsyncIterator[Upstream | None]:
    """The model server of the settings; None when there is none.

    Raises:
        ConfigurationError: If its URL makes no sense.
    """
    if settings.upstream_url is None:
        yield None
        return
    try:
        url = completions_url(settings.upstream_url)
    except ValueError as error:
        raise ConfigurationError(f"RICORDO_UPSTREAM_URL: {error}") from error
    async with open_upstream_client() as client:
        yield Upstream(client, url)


def _warm_up() -> None:
    """Read the word lists and the language model (0.5 s), for which the first request would wait otherwise."""
    query_terms("What do you remember of me?")
    derive_claim("I live in Turin.")


def _embedder_options(settings: Settings) -> EmbedderOptions:
    return _options(_stored_options(settings), settings.embedder_api_key)


def _options(stored: Mapping[str, Any], key: SecretStr | None) -> EmbedderOptions:
    given = stored.get("calibration")
    measured = None if given is None else MeasuredModel.model_validate(given)
    return EmbedderOptions(
        model=stored.get("model"),
        url=stored.get("url"),
        api_key=None if key is None else key.get_secret_value(),
        batch_texts=stored.get("batch_texts"),
        timeout_s=stored.get("timeout_ms", 10_000) / 1000,
        prefixes=Prefixes(stored.get("query_prefix", ""), stored.get("document_prefix", "")),
        dimensions=None if measured is None else measured.dimensions,
        measured=None if measured is None else calibrated(measured.band, CosineMap(measured.scale, measured.shift)),
    )


async def _started(url: str, settings: Settings, embedder: RunningEmbedder, loading: asyncio.Task[None]) -> ModelRow:
    """The store's row of the embedder's model, once the embedder runs.

    Raises:
        ConfigurationError: If the embedder does not start, or an empty store finds no embedder to measure.
    """
    try:
        await loading
        return await register(adopt_model, url, settings.embedder, _stored_options(settings), embedder)
    except UnavailableError as error:
        raise ConfigurationError(str(error)) from error


def _stored_options(settings: Settings) -> dict[str, Any]:
    """What another process needs in order to build the same embedder; no key."""
    stored = {name: getattr(settings, f"embedder_{name}") for name in _STORED_OPTIONS}
    measured = settings.embedder_calibration
    return {**stored, "calibration": None if measured is None else measured.model_dump(mode="json")}


def _options_of(kind: str, stored: Mapping[str, Any], settings: Settings) -> EmbedderOptions:
    """The options of a stored model. The settings' key goes to the settings' server alone."""
    own = (kind, stored.get("url")) == (settings.embedder, settings.embedder_url)
    return _options(stored, settings.embedder_api_key if own else settings.other_embedder_api_key)


@dataclass(frozen=True, slots=True)
class AssemblyModels:
    """The models that serve, as assemblies see them."""

    models: ServedModels

    @property
    def rules(self) -> AssemblyRules:
        """The rules of the settings' model, and those of the others."""
        own, *others = self.models.served
        return _rules(own, {model.id: _rules(model) for model in others})

    async def ask(self, text: str, timeout_s: float) -> tuple[Asked, ...]:
        """The question as each model hears it."""
        return await self.models.ask(text, timeout_s)

    def expect(self, model_ids: Iterable[int]) -> None:
        """Note which models serve what is read."""
        self.models.expect(model_ids)


def _rules(model: ServedModel, others: Mapping[int, AssemblyRules] = MappingProxyType({})) -> AssemblyRules:
    return AssemblyRules(model.calibration.relevance, model.calibration.band, MIN_RELEVANCE, others)


def soul_measure(count: TokenCounter) -> SoulMeasure:
    """Counts what blocks take in the identity section, tags included."""
    markup = MARKUP[Format.XML]

    def measure(blocks: Sequence[SoulBlock]) -> int:
        return count(render_section(Section.IDENTITY, [render_block(block, markup) for block in blocks], markup))

    return measure


def _build(
    settings: Settings,
    pool: Pool,
    models: ServedModels,
    resident: ResidentSpaces,
    *,
    embedder: RunningEmbedder,
    count: RememberingCounter,
    outside: "_Outside",
) -> Runtime:

    def drop(space: SpaceKey) -> None:
        resident.drop(space)
        forget_texts()
        meant.cache_clear()

    store = PostgresEntries(pool, drop)
    entries = EntryService(store, models, new_id)
    consolidation = ConsolidationService(
        PostgresConsolidation(store), partial(_band_of, models), settings.archive_below
    )
    assembly_log = PostgresAssemblyLog(pool, resident.count_uses)
    queue = Queue(outside.url, random.random, settings.worker_concurrency)
    turns = PostgresTurns(pool, queue, new_uuid)
    working = _working_memory(settings, turns, outside.redis)
    budget = PostgresTokenBudget(pool, settings.llm_tokens_per_day)
    model = None if outside.completer is None else BudgetedCompleter(outside.completer, budget, count)
    summariser = None if model is None else LlmSummariser(model)
    extraction = ExtractionService(model)
    archive_dir = settings.history_archive_dir
    archive = None if archive_dir is None else FolderArchive(archive_dir)
    archives = PostgresArchives(pool, archive)
    reached = Reached(turns, archives, models, drop)
    kept_corrections = PostgresCorrections(pool, reached)
    corrections = CorrectionService(kept_corrections, models, new_id)
    wishes = ConversationWishes(corrections)
    tasks = TurnTasks(turns, entries, working, entries, extraction, wishes, _now, summariser)
    queue.handlers.update(tasks.handlers)
    history = HistoryService(turns, working, archive, settings.history_days, _now)
    assembly = AssemblyService(
        models=AssemblyModels(models),
        retriever=PostgresRetriever(pool, resident),
        sessions=AssemblySessions(working),
        count=count,
        seconds=time.perf_counter,
    )
    return Runtime(
        keys=PostgresKeys(pool, new_secret, new_uuid, time.monotonic),
        spaces=PostgresSpaces(pool),
        entries=entries,
        corrections=corrections,
        views=kept_corrections,
        transfer=PostgresTransfer(pool),
        arrivals=PostgresArrivals(pool),
        forgetting=ForgettingService(PostgresForgetting(pool, reached), working, new_id),
        search=SearchService(PostgresSearch(pool), models, MIN_RELEVANCE),
        records=RecordService(PostgresRecords(pool, turns.enqueue), new_id),
        soul=SoulService(PostgresSoul(pool), new_id, soul_measure(count), BudgetTokens().soul),
        assembly=assembly,
        live=LiveService(
            models=assembly.models,
            retriever=assembly.retriever,
            sessions=assembly.sessions,
            lore=PostgresLoreSubjects(pool),
            count=count,
            seconds=time.perf_counter,
        ),
        assembly_log=assembly_log,
        recorder=Recorder(assembly_log),
        maintenance=MaintenanceService(
            PostgresHousekeeping(pool),
            entries.apply_proposals,
            settings.assembly_log_days,
            lambda tenant_id: turns.close_silent(tenant_id, CONVERSATION_GAP.total_seconds()),
            history.purge,
            lambda tenant_id: consolidation.run_due(tenant_id, settings.consolidation_hours, _now()),
            archives.try_to_finish,
        ),
        consolidation=consolidation,
        profile=ProfileService(PostgresProfile(pool)),
        turns=TurnService(turns, working, new_id),
        jobs=JobService(turns),
        history=history,
        queue=queue,
        extraction=extraction,
        count=count,
        probes=Probes(
            lambda: ping(pool),
            lambda: embedder.embed_documents(["ready?"]),
            lambda: _answers(outside.redis),
            lambda: queue_state(pool),
        ),
        afterwards=Afterwards(),
        upstream=outside.upstream,
        metrics=Metrics(),
        traces=outside.traces,
        read_metrics=partial(_reading, pool, resident, embedder, count),
    )


def _band_of(models: ServedModels, model_id: int) -> SimilarityBand | None:
    """Where a model's contradictions lie; None for one that this process has not loaded."""
    return next((model.calibration.band for model in models.served if model.id == model_id), None)


async def _reading(
    pool: Pool, resident: ResidentSpaces, embedder: RunningEmbedder, count: RememberingCounter
) -> Reading:
    """What is read when somebody looks; without the database, what can be known without it."""
    spaces, size_bytes = resident.sizes
    gauges: dict[str, float] = {"resident_spaces": spaces, "resident_bytes": size_bytes}
    stats = pool.get_stats()
    gauges |= {"pool_connections": stats.get("pool_size", 0), "pool_waiting": stats.get("requests_waiting", 0)}
    counters: dict[str, float] = {"pool_timeouts": stats.get("requests_errors", 0)}
    caches = {
        "resident_space": (resident.hits, resident.misses),
        "token_count": (count.hits, count.misses),
        "text": counted(),
    }
    if isinstance(embedder, CountsBatches):
        done, asked = embedder.counts, embedder.asked
        caches["query_vector"] = (asked.hits, asked.misses)
        counters |= {"embedder_batches": done.batches, "embedder_texts": done.texts, "embedder_seconds": done.seconds}
    with suppress(UnavailableError, TimeoutError):
        state = await asyncio.wait_for(queue_state(pool), _READING_SECONDS)
        gauges |= {
            "queue_waiting": state.waiting,
            "queue_oldest_seconds": state.oldest_s,
            "queue_failed": state.failed,
            "queue_workers": state.workers,
        }
    return Reading(gauges, counters, caches)


@dataclass(frozen=True, slots=True)
class _Outside:
    """What the runtime talks to beside the database.

    Attributes:
        url: The database's, for the queue's own connections.
        redis: For working memory; None: Postgres holds it.
        completer: The language model; None when there is none.
        upstream: The model server behind the proxy; None when there is none.
        traces: To the collector, or to nobody.
    """

    url: str
    redis: Redis | None
    completer: Completer | None
    upstream: Upstream | None
    traces: Traces


@asynccontextmanager
async def _open_outside(settings: Settings, url: str) -> AsyncIterator[_Outside]:
    try:
        redis = None if settings.redis_url is None else connect_redis(settings.redis_url.get_secret_value())
    except ValueError as error:
        raise ConfigurationError("RICORDO_REDIS_URL is no Redis URL: redis://host/0") from error
    async with AsyncExitStack() as stack:
        completer = await stack.enter_async_context(open_completer(settings))
        upstream = await stack.enter_async_context(open_upstream(settings))
        try:
            traces = await stack.enter_async_context(open_traces(settings.otlp_url))
        except ImportError as error:
            raise ConfigurationError("RICORDO_OTLP_URL needs the extra otel: pip install 'ricordo[otel]'") from error
        try:
            yield _Outside(url, redis, completer, upstream, traces)
        finally:
            if redis is not None:
                await redis.aclose()


def _working_memory(settings: Settings, turns: PostgresTurns, redis: Redis | None) -> WorkingMemory:
    ttl_s = float(settings.working_memory_seconds)
    return PostgresWorkingMemory(turns, ttl_s) if redis is None else RedisWorkingMemory(redis, turns, ttl_s, _now)


async def _answers(redis: Redis | None) -> None:
    if redis is not None:
        await ping_redis(redis)


@dataclass(frozen=True, slots=True)
class AssemblySessions:
    """Working memory, as assemblies see it: what was said, by whom, and whose memories that can contradict."""

    working: WorkingMemory

    async def recent(self, tenant_id: UUID, session: PublicId) -> tuple[Said, ...]:
        """Oldest first; without prompts, the output of tools and quotations of our own prompts."""
        messages = await self.working.recent(tenant_id, session)
        return tuple(
            Said(text, _author(m), m.said_at, own_space(m), m.turn.uuid) for m in messages if (text := heard(m))
        )


def _author(message: Message) -> str:
    """As the pipeline tells people from agents: only what a user says can contradict."""
    return message.speaker if message.role is Speaker.USER and message.event is None else Speaker.ASSISTANT.value


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def _closing(*closable: ServedModels | ResidentSpaces) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for one in closable:
            await one.close()


@asynccontextmanager
async def _background(*work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Tasks that run until the end of the block."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


Register = Callable[[str, ModelSpec, Callable[[], ModelCentre]], ModelRow]
"""Puts a model on the store's list, or finds it there."""


async def register(
    into: Register, url: str, kind: str, options: Mapping[str, Any], embedder: RunningEmbedder
) -> ModelRow:
    """The store's row of a started embedder.

    Raises:
        WrongModelError: If the store cannot take it.
        UnavailableError: If it must be measured, and fails.
    """
    loop = asyncio.get_running_loop()

    def centre() -> ModelCentre:
        return asyncio.run_coroutine_threadsafe(measure_centre(embedder), loop).result()

    spec = ModelSpec(embedder.name, embedder.dimensions, kind, options)
    return await asyncio.to_thread(into, url, spec, centre)


def _ensure_first_key(settings: Settings, url: str) -> None:
    """Make the first administrator key usable: the given one, or one that is kept in the data folder."""
    wanted = NewKey("first administrator", Role.ADMINISTRATOR)
    if settings.api_key is not None:
        key = settings.api_key.get_secret_value()
        if len(key) < KEY_CHARS_MIN:
            raise ConfigurationError(f"RICORDO_API_KEY must have at least {KEY_CHARS_MIN} characters")
    else:
        key = first_key(settings.data_dir)
    ensure_key(url, DEFAULT_TENANT, key, new_uuid(), wanted)


def kept_key(data_dir: Path) -> str:
    """The key of the data folder of a service that has been started there.

    Raises:
        ConfigurationError: If there is none.
    """
    if not key_path(data_dir).exists():
        raise ConfigurationError(
            f"there is no key in {data_dir}: set RICORDO_API_KEY to one, or RICORDO_DATA_DIR to the service's folder"
        )
    return first_key(data_dir)


def first_key(data_dir: Path) -> str:
    """The key that is kept in the data folder with mode 0600; made if there is none.

    Raises:
        ConfigurationError: If it cannot be read or written.
    """
    path = key_path(data_dir)
    try:
        if not path.exists() or path.stat().st_size == 0:
            data_dir.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_text(new_secret() + "\n", encoding="ascii")
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise ConfigurationError(
            f"cannot keep the first key in {path}: {error.strerror}; "
            "set RICORDO_DATA_DIR to another folder, or RICORDO_API_KEY to a key"
        ) from error


def key_path(data_dir: Path) -> Path:
    """Where the first key is kept."""
    return data_dir / _KEY_FILE
