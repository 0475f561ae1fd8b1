"""A store without a service: a migrated database, a model that is quick, and spaces to write to and read from."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from psycopg.rows import dict_row

from app.assembly.plan import QueryPlan, plan
from app.assembly.ports import Ask
from app.assembly.records import AssemblyRequest, Candidate, Overrides
from app.contradictions.detect import SimilarityBand
from app.domain.callers import Caller, Role
from app.domain.entries import Author, Cardinality, Claim, Content, Entry, Tier
from app.domain.idempotency import IdempotencyKey
from app.domain.ids import PublicId
from app.domain.spaces import SpaceKey
from app.embedding.calibration import ModelCalibration
from app.embedding.factory import EmbedderSetupError
from app.embedding.served import ServedModel, ServedModels
from app.entries.service import Effect, EntryService
from app.runtime import new_id
from app.scoring.asked import Asked
from app.scoring.relevance import Calibration
from app.store.entries import Pool, PostgresEntries
from app.store.migrate import migrate
from app.store.models import ModelRow, ModelSpec, adopt_model, list_models
from app.store.pool import create_pool
from app.store.retriever import PostgresRetriever
from tests.fakes.embedder import HashedEmbedder

CALIBRATION = ModelCalibration(Calibration(), SimilarityBand(0.35, 0.92))

LATER = datetime(2090, 1, 1, tzinfo=UTC)
"""A moment to ask at, after everything that a test writes."""


def day(year: int, month: int = 1, day_: int = 1) -> datetime:
    return datetime(year, month, day_, tzinfo=UTC)


def claim(attribute: str, value: str, subject: str = "user", cardinality: Cardinality = Cardinality.ONE) -> Claim:
    return Claim(subject, attribute, value, cardinality)


def create_database(server_url: str, name: str) -> str:
    """Make a database on the server; its URL."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return psycopg.conninfo.make_conninfo(server_url, dbname=name)


def some_centre(dimensions: int):
    """A mean and a shift that are not zero, so that a forgotten one shows."""
    random = np.random.default_rng(7)
    mean, shift = random.standard_normal((2, dimensions)).astype(np.float32)
    return 0.3 * mean / np.linalg.norm(mean), 0.2 * shift / np.linalg.norm(shift)


def refuse(row):
    raise EmbedderSetupError(f"no test wants {row.name}")


@dataclass(frozen=True)
class Store:
    url: str
    pool: Pool
    model: ModelRow
    embedder: HashedEmbedder

    @property
    def models(self) -> ServedModels:
        return ServedModels(
            ServedModel(self.model.id, self.embedder, CALIBRATION), partial(list_models, self.pool), refuse
        )

    @property
    def entries(self) -> EntryService:
        return EntryService(PostgresEntries(self.pool), self.models, new_id)

    @property
    def retriever(self) -> PostgresRetriever:
        return PostgresRetriever(self.pool)

    async def ask(self, query: str) -> tuple[Asked, ...]:
        return await self.models.ask(query, 10)

    def tenant(self, role: Role = Role.ADMINISTRATOR) -> Caller:
        return Caller(uuid4(), role)

    def space(self, name: str = "user:ana", caller: Caller | None = None) -> "Space":
        return Space(self, caller or self.tenant(), name)

    async def sql(self, statement: str, *parameters: Any, **named: Any) -> list[dict[str, Any]]:
        """What the superuser sees, whom no policy binds."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(statement, named or parameters or None)
            return await cursor.fetchall() if cursor.description else []


@asynccontextmanager
async def open_store(url: str, dimensions: int = 64, connections: int = 8) -> AsyncIterator[Store]:
    migrate(url)
    embedder = HashedEmbedder(dimensions)
    model = adopt_model(url, ModelSpec(embedder.name, dimensions, "fake"), lambda: some_centre(dimensions))
    async with create_pool(url, connections) as pool:
        yield Store(url, pool, model, embedder)


def heard(asked: Sequence[Asked]) -> Ask:
    """What the models heard already, for a retriever that waits for it."""

    async def ask() -> Sequence[Asked]:
        return asked

    return ask


@dataclass(frozen=True)
class Space:
    """One space of one tenant."""

    store: Store
    caller: Caller
    name: str

    @property
    def key(self) -> SpaceKey:
        return SpaceKey(self.caller.tenant_id, self.name)

    @property
    def id(self) -> UUID:
        return self.key.space_id

    async def create(
        self, *contents: Content, tier: Tier = Tier.MEMORIES, idempotency: IdempotencyKey | None = None
    ) -> tuple[Effect, ...]:
        return await self.store.entries.create(self.caller, self.name, tier, contents, idempotency)

    async def write(self, text: str, tier: Tier = Tier.MEMORIES, **content: Any) -> Effect:
        (effect,) = await self.create(Content(text=text, **content), tier=tier)
        return effect

    async def fill(self, texts: Sequence[str], tier: Tier = Tier.MEMORIES, **content: Any) -> tuple[Effect, ...]:
        """One entry for each text: equal ones have authors of their own, for what one says again is one memory."""
        authors = [Author(f"voice {n}") if texts.count(text) > 1 else None for n, text in enumerate(texts)]
        said = zip(texts, authors, strict=True)
        return await self.create(*(Content(text=text, **{"author": by, **content}) for text, by in said), tier=tier)

    async def edit(self, entry: Entry, **changes: Any) -> Effect:
        return await self.store.entries.edit(self.caller, entry.id, lambda content: replace(content, **changes))

    async def undo(self, entry: Entry) -> Effect:
        return await self.store.entries.undo(self.caller, entry.id)

    async def delete(self, entry: Entry):
        return await self.store.entries.delete(self.caller, entry.id)

    async def get(self, entry_id: PublicId) -> Entry:
        return await self.store.entries.get(self.caller, entry_id)

    async def history(self, entry: Entry) -> tuple[Entry, ...]:
        return await self.store.entries.history(self.caller, entry.id)

    def plan(self, query: str, *, also: Sequence["Space"] = (), limit: int = 100, **request: Any) -> QueryPlan:
        looks_back = not request.keys().isdisjoint({"as_of", "known_at"})
        return plan(
            AssemblyRequest(
                space=self.key,
                persona=self.key,
                also_read=tuple(other.key for other in also),
                query=query,
                looks_back=looks_back,
                overrides=Overrides(candidate_limit=limit),
                **{"as_of": LATER, **request},
            )
        )

    async def search(self, query: str, *, arms: str = "both", **request: Any) -> tuple[Candidate, ...]:
        """The candidates; `arms` leaves one out: `dense` or `lexical`."""
        wanted = self.plan(query, **request)
        if arms == "dense":
            wanted = replace(wanted, terms=())
        asked = await self.store.ask("" if arms == "lexical" else query)
        return (await self.store.retriever.retrieve(wanted, heard(asked))).candidates

    async def texts(self, query: str, **request: Any) -> list[str]:
        return [candidate.text for candidate in await self.search(query, **request)]

    async def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Rows of this space, as the superuser sees them."""
        return await self.store.sql(statement, tenant=self.caller.tenant_id, space=self.id, **parameters)
