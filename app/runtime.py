"""The composition root: builds the pool, the adapters and the services from the settings."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

import uuid_utils

from app.assembly.pack import TokenCounter
from app.assembly.ports import Embedder
from app.assembly.recorder import AssemblyLog, Recorder
from app.assembly.records import AssemblyRules, BudgetTokens, Format, Section
from app.assembly.render import MARKUP, render_block, render_section
from app.assembly.service import AssemblyService
from app.domain.callers import Role
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.embedding.bundled import BundledEmbedder
from app.embedding.calibration import CALIBRATIONS, ModelCalibration
from app.embedding.centre import measure_centre
from app.entries.service import EntryService
from app.maintenance.service import MaintenanceService
from app.scoring.relevance import MIN_RELEVANCE
from app.settings import Settings
from app.soul.ports import SoulMeasure
from app.soul.service import SoulService
from app.store import embedded
from app.store.assembly_log import PostgresAssemblyLog
from app.store.entries import Pool, PostgresEntries
from app.store.keys import KEY_CHARS_MIN, NewKey, PostgresKeys, ensure_key
from app.store.maintenance import PostgresHousekeeping
from app.store.migrate import migrate
from app.store.models import ModelCentre, ModelRow, adopt_model
from app.store.pool import create_pool
from app.store.retriever import PostgresRetriever
from app.store.soul import PostgresSoul
from app.store.spaces import PostgresSpaces
from app.text.tokens import token_counter

DEFAULT_TENANT = "default"
_KEY_FILE = "api_key"


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a running service is made of."""

    keys: PostgresKeys
    spaces: PostgresSpaces
    entries: EntryService
    soul: SoulService
    assembly: AssemblyService
    assembly_log: AssemblyLog
    recorder: Recorder
    maintenance: MaintenanceService
    count: TokenCounter


class RunningEmbedder(Embedder, Protocol):
    """An embedder with a life of its own."""

    async def start(self) -> None:
        """Load the model."""
        ...

    def close(self) -> None:
        """Stop. Idempotent."""
        ...


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
        url = settings.database_url.get_secret_value()
        await asyncio.to_thread(migrate, url)
        yield url
        return
    server = await asyncio.to_thread(embedded.start, settings.data_dir)
    try:
        await asyncio.to_thread(migrate, server.url)
        yield server.url
    finally:
        await asyncio.to_thread(server.stop)


@asynccontextmanager
async def open_runtime(settings: Settings) -> AsyncIterator[Runtime]:
    """Start everything that the service needs, and stop it at the end."""
    embedder = BundledEmbedder()
    async with open_runtime_with(settings, embedder, CALIBRATIONS[embedder.name]) as runtime:
        yield runtime


@asynccontextmanager
async def open_runtime_with(
    settings: Settings, embedder: RunningEmbedder, calibration: ModelCalibration
) -> AsyncIterator[Runtime]:
    """The same, with a given embedder; it is started here and closed at the end."""
    counting = asyncio.create_task(asyncio.to_thread(token_counter, settings.tokenizer))
    loading = asyncio.create_task(embedder.start())
    try:
        async with open_database(settings) as url:
            await loading
            model = await _adopt(url, embedder)
            await asyncio.to_thread(_ensure_first_key, settings, url)
            count = await counting
            async with create_pool(url, settings.database_connections) as pool:
                runtime = _build(settings, pool, model, embedder=embedder, calibration=calibration, count=count)
                async with _background(runtime.recorder.run(), runtime.maintenance.run(settings.consolidation_seconds)):
                    yield runtime
                    await runtime.recorder.settled()
    finally:
        embedder.close()


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
    """The key that is kept in the data folder with mode 0600; made if there is none."""
    path = data_dir / _KEY_FILE
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(new_secret() + "\n", encoding="ascii")
    return path.read_text(encoding="ascii").strip()
