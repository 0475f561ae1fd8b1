"""The embedding models that serve a store: one normally, two while it changes from one to the other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import structlog
from numpy.typing import NDArray

from app.domain.errors import UnavailableError
from app.embedding.calibration import ModelCalibration
from app.embedding.factory import EmbedderSetupError, RunningEmbedder
from app.scoring.asked import Asked

POLL_SECONDS: Final = 2.0
"""How soon a process notices that the store has another model."""

_log = structlog.get_logger(__name__)


class StoredModel(Protocol):
    """What a store says of one of its models."""

    @property
    def id(self) -> int:
        """Stands with every vector."""
        ...

    @property
    def name(self) -> str:
        """Stable name of the model."""
        ...

    @property
    def kind(self) -> str | None:
        """What RICORDO_EMBEDDER calls it; None if no service with it has started."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """What else it takes to build it, without secrets."""
        ...


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that runs in this process."""

    id: int
    embedder: RunningEmbedder
    calibration: ModelCalibration


Build = Callable[[StoredModel], tuple[RunningEmbedder, ModelCalibration]]
"""Builds the embedder of a stored model, not started. Raises EmbedderSetupError or ValueError."""


class ServedModels:
    """Keeps the models of the store running in this process, for one event loop.

    The first is the one that the settings name. Others are loaded when the store lists them (`run` looks every few
    seconds) or when a space turns out to be served by them, and dropped when the store lists them no longer.
    """

    def __init__(self, own: ServedModel, listed: Callable[[], Awaitable[Sequence[StoredModel]]], build: Build) -> None:
        """Serves with a model that is started already."""
        self._served: Mapping[int, ServedModel] = {own.id: own}
        self._listed = listed
        self._build = build
        self._loading: dict[int, asyncio.Task[ServedModel]] = {}
        self._complained: dict[int, str] = {}
        self._missed = asyncio.Event()

    @property
    def served(self) -> Sequence[ServedModel]:
        """The models that run, that of the settings first."""
        return tuple(self._served.values())

    @property
    def only(self) -> int | None:
        """The one model of the store; None while there are several."""
        return next(iter(self._served)) if len(self._served) == 1 else None

    async def ask(self, text: str, timeout_s: float) -> tuple[Asked, ...]:
        """The question as each model hears it. An empty one, and a model that fails or is late, has no vector."""
        served = self.served
        if len(served) == 1:  # no task of its own: this is the path of every assembly
            return (await _ask(served[0], text, timeout_s),)
        return tuple(await asyncio.gather(*(_ask(model, text, timeout_s) for model in served)))

    def expect(self, model_ids: Iterable[int]) -> None:
        """Note which models serve what is read: one that is not here is fetched at once, off the path."""
        if not self._served.keys() >= set(model_ids):
            self._missed.set()

    async def embed_documents(self, model_id: int, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), in the order of the texts. A model that is not loaded is loaded first.

        Raises:
            UnavailableError: If the model fails, or cannot be had.
        """
        model = self._served.get(model_id)
        if model is None:
            stored = {row.id: row for row in await self._listed()}
            if model_id not in stored:
                raise UnavailableError(f"the store has no embedding model {model_id}")
            model = await self._load(stored[model_id])
        return await model.embedder.embed_documents(texts)

    async def refresh(self) -> None:
        """Load what the store lists and is not here, drop what it lists no longer.

        Raises:
            UnavailableError: If the store does not answer.
        """
        stored = await self._listed()
        known = {row.id for row in stored}
        self._complained = {i: reason for i, reason in self._complained.items() if i in known}
        for row in stored:
            if row.id not in self._served:
                await self._try_to_load(row)
        gone = [model for model in self.served if model.id not in known]
        if gone and len(gone) < len(self._served):
            self._served = {i: model for i, model in self._served.items() if i in known}
            for model in gone:
                await model.embedder.close()

    async def run(self) -> None:
        """Refresh every few seconds, and at once when a model was missed, until cancelled."""
        while True:
            with suppress(UnavailableError):  # asked again next time
                await self.refresh()
            self._missed.clear()
            try:
                await asyncio.wait_for(self._missed.wait(), POLL_SECONDS)
            except TimeoutError:
                continue
            await asyncio.sleep(
                POLL_SECONDS if self._complained else 0
            )  # one that cannot be had is not tried without end

    async def close(self) -> None:
        """Stop all embedders. Idempotent."""
        for task in self._loading.values():
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)
        for model in self.served:
            await model.embedder.close()

    async def _try_to_load(self, row: StoredModel) -> None:
        try:
            await self._load(row)
            self._complained.pop(row.id, None)
        except UnavailableError as error:
            if self._complained.get(row.id) != str(error):
                self._complained[row.id] = str(error)
                _log.warning("a model of the store cannot be loaded", model=row.name, reason=str(error))

    async def _load(self, row: StoredModel) -> ServedModel:
        """Raises UnavailableError if it cannot be had."""
        task = self._loading.get(row.id)
        if task is None:
            task = asyncio.create_task(self._start(row))
            self._loading[row.id] = task
            task.add_done_callback(lambda _: self._loading.pop(row.id, None))
        return await asyncio.shield(task)

    async def _start(self, row: StoredModel) -> ServedModel:
        try:
            embedder, calibration = self._build(row)
        except (EmbedderSetupError, ValueError) as error:
            raise UnavailableError(f"the embedding model {row.name} cannot be built: {error}") from error
        if embedder.name != row.name:  # a folder or a setting is another by now: its vectors would not match
            raise UnavailableError(f"the embedding model {row.name} cannot be built: it would be {embedder.name}")
        try:
            await embedder.start()
        except BaseException:
            await embedder.close()
            raise
        model = ServedModel(row.id, embedder, calibration)
        self._served = {**self._served, row.id: model}
        return model


async def _ask(model: ServedModel, text: str, timeout_s: float) -> Asked:
    vector = None
    if text:
        try:
            async with asyncio.timeout(timeout_s):
                vector = await model.embedder.embed_query(text)
        except (TimeoutError, UnavailableError):
            vector = None
    return Asked(model.id, vector, model.calibration.relevance)
