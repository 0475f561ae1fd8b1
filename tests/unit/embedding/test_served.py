"""The models that a process keeps running."""

import asyncio
from dataclasses import dataclass, field

import numpy as np
import pytest

from app.domain.errors import UnavailableError
from app.embedding.factory import EmbedderSetupError
from app.embedding.served import ServedModel, ServedModels
from tests.fakes.changing import CALIBRATION
from tests.fakes.embedder import HashedEmbedder


@dataclass(frozen=True)
class Row:
    id: int
    name: str
    kind: str | None = "fake"
    options: dict = field(default_factory=dict)


class Watched(HashedEmbedder):
    """Counts its lives; may be slow or down."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.started = self.closed = 0
        self.is_down = False

    async def start(self) -> None:
        self.started += 1
        await asyncio.sleep(0)

    async def embed_query(self, text):
        if self.is_down:
            raise UnavailableError("down")
        return await super().embed_query(text)

    async def close(self) -> None:
        self.closed += 1


@dataclass
class World:
    """What the store lists, and what can be built."""

    rows: list[Row] = field(default_factory=lambda: [Row(1, "hashed/8")])
    made: dict[str, Watched] = field(default_factory=lambda: {f"hashed/{d}": Watched(d) for d in (8, 16)})

    async def listed(self):
        return tuple(self.rows)

    def build(self, row):
        if row.kind != "fake":
            raise EmbedderSetupError("not on this machine")
        return self.made[row.name], CALIBRATION


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def models(world) -> ServedModels:
    return ServedModels(ServedModel(1, world.made["hashed/8"], CALIBRATION), world.listed, world.build)


async def test_one_model_hears_a_question_and_a_second_one_once_the_store_lists_it(models, world):
    assert (models.only, [a.model_id for a in await models.ask("bees", 1)]) == (1, [1])
    world.rows.append(Row(2, "hashed/16"))
    await models.refresh()
    asked = await models.ask("bees", 1)
    assert (models.only, [(a.model_id, a.vector.shape) for a in asked]) == (None, [(1, (8,)), (2, (16,))])


async def test_a_model_that_fails_has_no_vector_and_the_other_one_has(models, world):
    world.rows.append(Row(2, "hashed/16"))
    await models.refresh()
    world.made["hashed/8"].is_down = True
    assert [a.vector is None for a in await models.ask("bees", 1)] == [True, False]


async def test_an_empty_question_has_no_vector(models):
    assert [a.vector for a in await models.ask("", 1)] == [None]


async def test_ten_writes_that_need_a_model_load_it_once(models, world):
    world.rows.append(Row(2, "hashed/16"))
    vectors = await asyncio.gather(*(models.embed_documents(2, ["bees"]) for _ in range(10)))
    assert {v.shape for v in vectors} == {(1, 16)}
    assert world.made["hashed/16"].started == 1


async def test_a_model_that_the_store_lists_no_longer_is_stopped_even_the_settings_own(models, world):
    world.rows.append(Row(2, "hashed/16"))
    await models.refresh()
    del world.rows[0]
    await models.refresh()
    assert (models.only, world.made["hashed/8"].closed) == (2, 1)


async def test_the_last_model_is_never_stopped(models, world):
    world.rows.clear()
    await models.refresh()
    assert models.only == 1


@pytest.mark.parametrize("row", [Row(2, "hashed/16", kind="other"), Row(2, "hashed/16", kind=None)])
async def test_a_model_that_cannot_be_built_leaves_the_others_alone(models, world, row):
    world.rows.append(row)
    await models.refresh()
    assert models.only == 1
    with pytest.raises(UnavailableError, match="not on this machine"):
        await models.embed_documents(2, ["bees"])


async def test_a_model_that_would_have_another_name_is_not_used(models, world):
    world.rows.append(Row(2, "hashed/99"))
    world.made["hashed/99"] = Watched(16)
    with pytest.raises(UnavailableError, match="it would be hashed/16"):
        await models.embed_documents(2, ["bees"])


async def test_a_model_that_no_store_knows_is_refused(models):
    with pytest.raises(UnavailableError, match="no embedding model 7"):
        await models.embed_documents(7, ["bees"])


async def test_a_missed_model_is_fetched_at_once(models, world):
    polling = asyncio.create_task(models.run())
    await asyncio.sleep(0)
    world.rows.append(Row(2, "hashed/16"))
    models.expect([1])
    models.expect([2])
    async with asyncio.timeout(1):
        while models.only:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    polling.cancel()
    await models.close()
    assert [m.closed for m in world.made.values()] == [1, 1]
    assert np.allclose((await models.ask("bees", 1))[0].vector, await world.made["hashed/8"].embed_query("bees"))
