"""The composition root: builds the pool, the adapters and the services from the settings."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import uuid_utils
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.assembly.pack import TokenCounter
from app.assembly.recorder import AssemblyLog, Recorder
from app.assembly.records import AssemblyRules, BudgetTokens, Format, Section
from app.assembly.render import MARKUP, render_block, render_section
from app.assembly.service import AssemblyService
from app.contradictions.claims import derive_claim
from app.domain.callers import NewKey, Role
from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.embedding.calibration import CosineMap, ModelCalibration, calibrated
from app.embedding.centre import measure_centre
from app.embedding.factory import (
    DeclaredEmbedder,
    EmbedderOptions,
    EmbedderSetupError,
    RunningEmbedder,
    calibration_of,
    create_embedder,
)
from app.embedding.inprocess import Prefixes
from app.entries.search import SearchService
from app.entries.service import EntryService
from app.maintenance.service import MaintenanceService
from app.scoring.relevance import MIN_RELEVANCE
from app.settings import Settings
from app.soul.ports import SoulMeasure
from app.soul.service import SoulService
from app.store import embedded
from app.store.assembly_log import PostgresAssemblyLog
from app.store.entries import Pool, PostgresEntries
from app.store.keys import KEY_CHARS_MIN, PostgresKeys, ensure_key, ensure_tenant, find_tenant
from app.store.maintenance import PostgresHousekeeping
from app.store.migrate import migrate
from app.store.models import ModelCentre, ModelRow, adopt_model
from app.store.pool import create_pool, ping
from app.store.retriever import PostgresRetriever
from app.store.search import PostgresSearch
from app.store.soul import PostgresSoul
from app.store.spaces import PostgresSpaces
from app.text.terms import query_terms
from app.text.tokens import token_counter

DEFAULT_TENANT = "default"
CONNECT_SECONDS = 10
_KEY_FILE = "api_key"


@dataclass(frozen=True, slots=True)
class Health:
    """What works."""

    database: bool
    embedder: bool

    @property
    def status(self) -> str:
        """In one word: without the embedder prompts get worse, without the database there are none."""
        if not self.database:
            return "unavailable"
        return "ok" if self.embedder else "degraded"


@dataclass(frozen=True, slots=True)
class Probes:
    """Signs of life; each raises UnavailableError when there is none, or is late."""

    database: Callable[[], Coroutine[Any, Any, None]]
    embedder: Callable[[], Coroutine[Any, Any, object]]
    timeout_s: float = 2.0

    async def check(self) -> Health:
        """Ask both."""
        return Health(*await asyncio.gather(self._works(self.database()), self._works(self.embedder())))

    async def _works(self, probe: Coroutine[Any, Any, object]) -> bool:
        try:
            await asyncio.wait_for(probe, self.timeout_s)
        except (TimeoutError, UnavailableError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a running service is made of."""

    keys: PostgresKeys
    spaces: PostgresSpaces
    entries: EntryService
    soul: SoulService
    search: SearchService
    assembly: AssemblyService
    assembly_log: AssemblyLog
    recorder: Recorder
    maintenance: MaintenanceService
    count: TokenCounter
    probes: Probes


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
        url = _database_url(settings.database_url.get_secret_value())
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


def _database_url(given: str) -> str:
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
    settings: Settings, embedder: RunningEmbedder, calibration: ModelCalibration
) -> AsyncIterator[Runtime]:
    """The same, with a given embedder; it is started here and closed at the end."""
    counting = asyncio.create_task(asyncio.to_thread(token_counter, settings.tokenizer))
    loading = asyncio.create_task(embedder.start())
    warming = asyncio.create_task(asyncio.to_thread(_warm_up))
    try:
        async with open_database(settings) as url:
            model = await _started(url, embedder, loading)
            await asyncio.to_thread(_ensure_first_key, settings, url)
            count = await counting
            await warming
            async with create_pool(url, settings.database_connections) as pool:
                runtime = _build(settings, pool, model, embedder=embedder, calibration=calibration, count=count)
                async with _background(runtime.recorder.run(), runtime.maintenance.run(settings.consolidation_seconds)):
                    yield runtime
                    await runtime.recorder.settled()
    finally:
        await embedder.close()
        for task in (counting, loading, warming):
            task.cancel()
        await asyncio.gather(counting, loading, warming, return_exceptions=True)


def _warm_up() -> None:
    """Read the word lists and the language model (0.5 s), for which the first request would wait otherwise."""
    query_terms("What do you remember of me?")
    derive_claim("I live in Turin.")


def _embedder_options(settings: Settings) -> EmbedderOptions:
    key, measured = settings.embedder_api_key, settings.embedder_calibration
    return EmbedderOptions(
        model=settings.embedder_model,
        url=settings.embedder_url,
        api_key=None if key is None else key.get_secret_value(),
        batch_texts=settings.embedder_batch_texts,
        timeout_s=settings.embedder_timeout_ms / 1000,
        prefixes=Prefixes(settings.embedder_query_prefix, settings.embedder_document_prefix),
        dimensions=None if measured is None else measured.dimensions,
        measured=None if measured is None else calibrated(measured.band, CosineMap(measured.scale, measured.shift)),
    )


async def _started(url: str, embedder: RunningEmbedder, loading: asyncio.Task[None]) -> ModelRow:
    """The store's row of the embedder's model, once the embedder runs.

    Raises:
        ConfigurationError: If the embedder does not start, or an empty store finds no embedder to measure.
    """
    try:
        await loading
        return await _adopt(url, embedder)
    except UnavailableError as error:
        raise ConfigurationError(str(error)) from error


def soul_measure(count: TokenCounter) -> SoulMeasure:
    """Counts what blocks take in the identity section, tags included."""
    markup = MARKUP[Format.XML]

    def measure(blocks: Sequence[SoulBlock]) -> int:
        return count(render_section(Section.IDENTITY, [render_block(block, markup) for block in blocks], markup))

    return measure


def _build(
    settings: Settings,
    pool: Pool,
    model: ModelRow,
    *,
    embedder: RunningEmbedder,
    calibration: ModelCalibration,
    count: TokenCounter,
) -> Runtime:
    entries = EntryService(PostgresEntries(pool, model), embedder, new_id)
    assembly_log = PostgresAssemblyLog(pool)
    return Runtime(
        keys=PostgresKeys(pool, new_secret, new_uuid, time.monotonic),
        spaces=PostgresSpaces(pool),
        entries=entries,
        search=SearchService(
            PostgresSearch(pool, model, calibration.relevance), embedder, calibration.relevance, MIN_RELEVANCE
        ),
        soul=SoulService(PostgresSoul(pool), new_id, soul_measure(count), BudgetTokens().soul),
        assembly=AssemblyService(
            embedder=embedder,
            retriever=PostgresRetriever(pool, model, calibration.relevance),
            rules=AssemblyRules(calibration.relevance, calibration.band, MIN_RELEVANCE),
            count=count,
            seconds=time.perf_counter,
        ),
        assembly_log=assembly_log,
        recorder=Recorder(assembly_log),
        maintenance=MaintenanceService(PostgresHousekeeping(pool), entries.apply_proposals, settings.assembly_log_days),
        count=count,
        probes=Probes(lambda: ping(pool), lambda: embedder.embed_documents(["ready?"])),
    )


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


async def _adopt(url: str, embedder: RunningEmbedder) -> ModelRow:
    loop = asyncio.get_running_loop()

    def centre() -> ModelCentre:
        return asyncio.run_coroutine_threadsafe(measure_centre(embedder), loop).result()

    return await asyncio.to_thread(adopt_model, url, embedder.name, centre, embedder.dimensions)


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
