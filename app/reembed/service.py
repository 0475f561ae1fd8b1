"""The shell of a change of models: fills what is missing, then moves each space over."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.domain.entries import Indexed
from app.reembed.ports import ChangingStore, Embedder, HeldSpace, SpaceCount, SpaceId, TextKey
from app.scoring.context import mixed, to_embed
from app.text.terms import document_terms

BATCH_TEXTS: Final = 128
"""Texts that are embedded and committed together: what a kill loses."""

NORMS: Final = 500
"""Norms that are brought up to a centre in one transaction: it locks the space for some milliseconds."""

DROPPED: Final = 2_000
"""Vectors that are removed in one transaction, likewise."""

IN_LOCK: Final = 16
"""Texts that may be embedded while the space is locked; above that it is released once more."""

T = TypeVar("T")


@dataclass(slots=True)
class Progress:
    """How far a change is.

    Attributes:
        done: Texts that have the vector of the model, of `total`.
        embedded: Of them by this run.
        moved: Spaces moved by this run.
    """

    total: int = 0
    done: int = 0
    embedded: int = 0
    moved: int = 0

    def line(self, seconds: float) -> str:
        """In words, after so many seconds of this run."""
        rate = self.embedded / seconds if seconds > 0 else 0.0
        total = max(self.total, self.done)  # what is written meanwhile comes on top
        left = total - self.done
        estimate = f"{_duration(left / rate)} left" if rate > 0 else "estimating"
        return f"{self.done:,} of {total:,} texts, {rate:,.0f} a second, {estimate}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """How one model stands: the spaces that it serves, and the texts that lack its vector."""

    spaces: int
    lacking: int


@dataclass(frozen=True, slots=True)
class ReembedService:
    """Moves every space of a store to a model.

    Attributes:
        report: Called whenever the progress has changed.
    """

    store: ChangingStore
    report: Callable[[Progress], None] = field(default=lambda _: None)

    async def status(self, model_ids: Sequence[int]) -> dict[int, ModelStatus]:
        """How each model stands."""
        counts = await self._counts()
        return {
            model_id: ModelStatus(
                sum(count.model_id == model_id for count in counts), sum(count.lacks(model_id) for count in counts)
            )
            for model_id in model_ids
        }

    async def move(self, model_id: int, embedder: Embedder) -> Progress:
        """Move every space to the model, those too that are made meanwhile. It can be stopped and run again.

        Raises:
            UnavailableError: If the model fails, or the store does not answer.
        """
        progress = Progress()
        while waiting := [count for count in await self._counts() if count.model_id != model_id]:
            progress.total = progress.done + sum(count.texts for count in waiting)
            for count in waiting:
                progress.done += count.filled.get(model_id, 0)
            self.report(progress)
            for count in waiting:
                await self._move_space(count.space, model_id, embedder, progress)
        return progress

    async def remove(self, model_id: int) -> int:
        """Remove all vectors and centres of a model that serves no space; how many vectors."""
        removed = 0
        for count in await self._counts():
            full = True
            while full:
                async with self.store.held(count.space) as held:
                    gone = await held.drop(model_id, DROPPED)
                removed += gone
                full = gone == DROPPED
        return removed

    async def _counts(self) -> list[SpaceCount]:
        return [count for tenant_id in await self.store.tenants() for count in await self.store.counts(tenant_id)]

    async def _move_space(self, space: SpaceId, model_id: int, embedder: Embedder, progress: Progress) -> None:
        await self._fill(space, model_id, embedder, progress)
        for keys in batched(await self.store.find_centre(space, model_id), NORMS):
            async with self.store.held(space) as held:
                await held.rebase(model_id, keys)
        while not await self._moved(space, model_id, embedder, progress):
            await self._fill(space, model_id, embedder, progress)
        progress.moved += 1
        self.report(progress)

    async def _fill(self, space: SpaceId, model_id: int, embedder: Embedder, progress: Progress) -> None:
        async with self.store.held(space) as held:
            missing = await held.missing(model_id)
        for keys in batched(missing, BATCH_TEXTS):
            async with self.store.held(space) as held:
                texts = await held.texts(keys)
            vectors = await _embedded(embedder, texts)
            async with self.store.held(space) as held:
                await held.fill(model_id, list(texts), vectors)
            progress.done += len(keys)
            progress.embedded += len(keys)
            self.report(progress)
            await asyncio.sleep(0)

    async def _moved(self, space: SpaceId, model_id: int, embedder: Embedder, progress: Progress) -> bool:
        """Switch, unless writers have added much meanwhile. The last few texts are embedded under the lock."""
        async with self.store.held(space) as held:
            missing = await held.missing(model_id)
            if len(missing) > IN_LOCK:
                return False
            await _fill_held(held, missing, model_id, embedder)
            await held.serve_by(model_id)
        progress.done += len(missing)
        progress.embedded += len(missing)
        return True


async def _fill_held(held: HeldSpace, keys: Sequence[TextKey], model_id: int, embedder: Embedder) -> None:
    if keys:
        texts = await held.texts(keys)
        await held.fill(model_id, list(texts), await _embedded(embedder, texts))


async def _embedded(embedder: Embedder, texts: Mapping[TextKey, Indexed]) -> NDArray[np.float32]:
    indexed = list(texts.values())
    shares = [document_terms(text, context).context_share if context else 0.0 for text, context in indexed]
    return mixed(await embedder.embed_documents(to_embed(indexed, shares)), shares)


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in their order, so many at a time."""
    whole = tuple(items)
    for start in range(0, len(whole), size):
        yield whole[start : start + size]
