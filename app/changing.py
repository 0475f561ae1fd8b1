"""A change of models as the operator sees it: move to a model, look how far it is, finish."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from app.embedding.factory import EmbedderSetupError, RunningEmbedder
from app.reembed.service import ModelStatus, Progress, ReembedService
from app.runtime import BuildStored, ConfigurationError, build_embedder, open_database, register
from app.settings import Settings
from app.store.models import ModelRow, add_model, list_models
from app.store.pool import create_pool
from app.store.reembed import PostgresChange, make_current, one_change, remove_model

SETTLE_SECONDS: Final = 6.0
"""Before the first space moves to a new model: services look for one every 2 s, and load it."""

_CONNECTIONS = 2


@dataclass(frozen=True, slots=True)
class Target:
    """The model to move to.

    Attributes:
        kind: As RICORDO_EMBEDDER takes it.
        options: As the store keeps them (ModelSpec).
    """

    kind: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Moved:
    """What a run did.

    Attributes:
        others: The models that serve no space any more, and keep their vectors until the end.
    """

    model: ModelRow
    others: tuple[ModelRow, ...]
    progress: Progress
    seconds: float


Report = Callable[[Progress, float], None]
"""Told of the progress, and of the seconds since the start."""


async def move(
    settings: Settings,
    target: Target | None,
    report: Report,
    *,
    build: BuildStored = build_embedder,
    settle_s: float = SETTLE_SECONDS,
) -> Moved:
    """Move every space to a model; to the store's current one without a target.

    Raises:
        ConfigurationError: If there is nothing to move, or the model cannot be had.
        WrongModelError: If the store is between two other models, or cannot hold the vectors of this one.
        UnavailableError: If the model or the database fails on the way. Run it again: it goes on where it stopped.
    """
    async with open_database(settings) as url, _alone(url), create_pool(url, _CONNECTIONS) as pool:
        known = await list_models(pool)
        current = _current(known)
        if current.kind is None:
            raise ConfigurationError(
                f"it is not known how {current} is built: start the service with it once, with this version"
            )
        wanted = target or Target(current.kind, current.options)
        async with _started(build, settings, wanted) as embedder:
            model = await register(add_model, url, wanted.kind, wanted.options, embedder)
            if model.id not in {row.id for row in known}:
                await asyncio.sleep(settle_s)
            started = time.monotonic()
            service = ReembedService(PostgresChange(pool), lambda p: report(p, time.monotonic() - started))
            progress = await service.move(model.id, embedder)
        others = tuple(row for row in await list_models(pool) if row.id != model.id)
        return Moved(model, others, progress, time.monotonic() - started)


async def status(settings: Settings) -> tuple[tuple[ModelRow, ModelStatus], ...]:
    """How each model of the store stands, the current one first.

    Raises:
        UnavailableError: If the database does not answer.
    """
    async with open_database(settings) as url, create_pool(url, _CONNECTIONS) as pool:
        models = await list_models(pool)
        found = await ReembedService(PostgresChange(pool)).status([model.id for model in models])
        return tuple((model, found[model.id]) for model in models)


async def finish(settings: Settings) -> tuple[ModelRow, ModelRow, int]:
    """Make the model that serves all spaces the current one, and remove the other with its vectors.

    Returns:
        The model that stays, the one that is gone, and how many vectors went with it.

    Raises:
        ConfigurationError: If there is one model only, or both serve spaces.
    """
    async with open_database(settings) as url, _alone(url), create_pool(url, _CONNECTIONS) as pool:
        models = await list_models(pool)
        if len(models) < 2:
            raise ConfigurationError("there is one model in the store: nothing to finish")
        service = ReembedService(PostgresChange(pool))
        kept, gone = _sides(models, await service.status([model.id for model in models]))
        await asyncio.to_thread(make_current, url, kept.id)
        late = (await service.status([gone.id]))[gone.id].spaces
        if late:
            again = _AGAIN.format(kept.kind)
            raise ConfigurationError(f"{late} new spaces were served by {gone.name} meanwhile: {again}")
        removed = await service.remove(gone.id)
        await asyncio.to_thread(remove_model, url, gone.id)
        return kept, gone, removed


_AGAIN: Final = "run `ricordo reembed --to {}` (with its options) again, then --finish"


def _sides(models: tuple[ModelRow, ...], found: Mapping[int, ModelStatus]) -> tuple[ModelRow, ModelRow]:
    """The model that stays and the one that goes: that which serves no space; in an empty store, the older."""
    idle = [model for model in models if found[model.id].spaces == 0]
    if not idle:
        serving = " and ".join(f"{model.name} serves {found[model.id].spaces} spaces" for model in models)
        raise ConfigurationError(f"the change is not complete: {serving}; {_AGAIN.format(models[-1].kind)}")
    gone = idle[0]
    (kept,) = (model for model in models if model is not gone)
    return kept, gone


def _current(models: tuple[ModelRow, ...]) -> ModelRow:
    for model in models:
        if model.is_current:
            return model
    raise ConfigurationError("the store is empty: nothing to move. Start the service with RICORDO_EMBEDDER set")


@asynccontextmanager
async def _alone(url: str) -> AsyncIterator[None]:
    async with one_change(url) as alone:
        if not alone:
            raise ConfigurationError("another `ricordo reembed` is changing this store: wait for it, or stop it")
        yield


@asynccontextmanager
async def _started(build: BuildStored, settings: Settings, target: Target) -> AsyncIterator[RunningEmbedder]:
    try:
        embedder, _ = build(settings, target.kind, target.options)
    except (EmbedderSetupError, ValueError) as error:
        raise ConfigurationError(str(error)) from error
    try:
        await embedder.start()
        yield embedder
    finally:
        await embedder.close()


class Meter:
    """Writes the progress as lines, not more often than every so many seconds."""

    def __init__(self, write: Callable[[str], None], every_s: float) -> None:
        """Writes nothing yet."""
        self._write = write
        self._every_s = every_s
        self._next_s = 0.0

    def __call__(self, progress: Progress, seconds: float) -> None:
        """Take note of the progress."""
        if seconds >= self._next_s:
            self._next_s = seconds + self._every_s
            self._write(progress.line(seconds))
