"""Answers that are kept, and computed once for all who ask at the same moment."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from app.domain.errors import UnavailableError
from app.embedding.counting import Asked

V = TypeVar("V")


def digest_of_text(*parts: str) -> bytes:
    """Stands for a text in a cache."""
    return blake2b("\x00".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class SharedAnswers(Generic[V]):
    """A cache with single flight, for one event loop. A caller that leaves takes the answer from nobody.

    It keeps digests, no texts: what was asked may have been forgotten since.
    """

    def __init__(self, kept: int) -> None:
        """Keeps that many answers, least recently used out first; failures never."""
        self._kept = kept
        self._known: OrderedDict[bytes, V] = OrderedDict()
        self._in_flight: dict[str, asyncio.Task[V]] = {}
        self.asked = Asked()

    async def get(self, key: str, compute: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """The answer for a key: known, on its way, or computed now. Raises what computing raises.

        Raises:
            UnavailableError: If it was closed meanwhile.
        """
        task = self._in_flight.get(key)
        digest = digest_of_text(key)
        if digest in self._known or task is not None:
            self.asked.hits += 1
        else:
            self.asked.misses += 1
        if digest in self._known:
            self._known.move_to_end(digest)
            return self._known[digest]
        if task is None:
            task = asyncio.create_task(compute())
            self._in_flight[key] = task
            task.add_done_callback(lambda done: self._settle(key, done))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise UnavailableError("closed before the answer came") from None
            raise

    async def close(self) -> None:
        """Give up what is on its way."""
        tasks = list(self._in_flight.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _settle(self, key: str, done: asyncio.Task[V]) -> None:
        del self._in_flight[key]
        if done.cancelled() or done.exception() is not None:  # asking for it marks it as seen
            return
        self._known[digest_of_text(key)] = done.result()
        while len(self._known) > self._kept:
            self._known.popitem(last=False)
