"""A thread that runs a model: batches of what waits, questions before documents.

Works for any function from texts to unit vectors; knows nothing of models.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from app.domain.errors import UnavailableError
from app.embedding.counting import Asked, BatchCounts
from app.embedding.shared import digest_of_text
from app.embedding.windows import pool

_T = TypeVar("_T")

Vectors = NDArray[np.float32]
Encode = Callable[[list[str]], Vectors]
"""Texts to (n, d) unit vectors, in order. Called from one thread only."""

Windowed = tuple[str, ...]
"""One text as its windows, at least one."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What the model is given in one call: a question that arrives waits for one such batch at most.

    Attributes:
        batch_texts: Windows in a batch, >= 1.
        batch_chars: Characters in a batch, >= 1. A single window above it is a batch of its own. The
            default takes the bundled model 30 ms of English, 90 ms of Chinese.
        cached_queries: Questions whose vectors are kept, least recently used out first, >= 0.
    """

    batch_texts: int = 32
    batch_chars: int = 2_048
    cached_queries: int = 4_096

    def __post_init__(self) -> None:
        if min(self.batch_texts, self.batch_chars) < 1 or self.cached_queries < 0:
            raise ValueError(f"batch limits out of range: {self}")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """Windows to encode, and where their vectors go, one row each."""

    windows: tuple[str, ...]
    vectors: "Future[Vectors]"


@runtime_checkable
class _Closing(Protocol):
    def close(self) -> None: ...


class EncodingThread:
    """Runs a model in one daemon thread. All methods may be called from any event loop.

    A model that fails or cannot be loaded reaches the callers as UnavailableError; the thread lives on.
    When a batch of several callers fails, each is tried alone, so that only the one at fault sees it.
    """

    def __init__(self, load: Callable[[], Encode], limits: BatchLimits, name: str) -> None:
        """Nothing is loaded before `start` or the first text.

        Args:
            load: Gives the model; called once, in the thread. If it has a method `close`, that is called at the end.
            limits: Sizes of batches and cache.
            name: Of the thread, and of the model in errors.
        """
        self._load = load
        self._limits = limits
        self._name = name
        self._wake = Condition()  # guards everything below
        self._queries: deque[_Job] = deque()
        self._documents: deque[_Job] = deque()
        self._known: OrderedDict[bytes, Vectors] = OrderedDict()  # by digest: what was asked may have been forgotten
        self._in_flight: dict[Windowed, Future[Vectors]] = {}
        self._loaded: Future[None] = _running_future()
        self._thread: Thread | None = None
        self._is_closed = False
        self.counts = BatchCounts()  # written by the thread alone
        self.asked = Asked()

    async def start(self) -> None:
        """Load the model, or wait until it is loaded.

        Raises:
            UnavailableError: If it cannot be loaded.
        """
        with self._wake:
            self._ensure_thread()
        await asyncio.wrap_future(self._loaded)

    async def query(self, text: Windowed) -> Vectors:
        """The unit vector (d,) of a question, read-only; from the cache, or shared with an equal one in flight."""
        digest = digest_of_text(*text)
        with self._wake:
            known = self._known.get(digest)
            if known is not None:
                self.asked.hits += 1
                self._known.move_to_end(digest)
                return known
            shared = self._in_flight.get(text)
            if shared is not None:
                self.asked.hits += 1
            else:
                self.asked.misses += 1
                shared = self._submit(self._queries, text)
                self._in_flight[text] = shared
        return _pooled_query(await asyncio.wrap_future(shared))

    async def documents(self, texts: Iterable[Windowed]) -> Vectors:
        """The unit vectors (n, d) of n >= 1 texts, in order.

        Taken from `texts` and submitted one batch after the other: a cancelled caller leaves at most
        one to be computed, and a question never waits for all windows of a long document.
        """
        counts: list[int] = []
        rows: list[Vectors] = []
        for batch in _slices(_flattened(texts, counts), self._limits):
            with self._wake:
                pending = self._submit(self._documents, batch)
            rows.append(await asyncio.wrap_future(pending))
        return pool(np.concatenate(rows), counts)

    def close(self) -> None:
        """Stop after the batch at hand; whoever still waits gets UnavailableError. Idempotent."""
        with self._wake:
            self._is_closed = True
            waiting = [*self._queries, *self._documents]
            self._queries.clear()
            self._documents.clear()
            self._in_flight.clear()
            self._wake.notify_all()
        for job in waiting:
            job.vectors.set_exception(self._closed())

    def _submit(self, queue: deque[_Job], windows: tuple[str, ...]) -> "Future[Vectors]":
        """Queue a job. The caller holds the lock."""
        self._ensure_thread()
        job = _Job(windows, _running_future())
        queue.append(job)
        self._wake.notify_all()
        return job.vectors

    def _ensure_thread(self) -> None:
        if self._is_closed:
            raise self._closed()
        if self._thread is None:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def _closed(self) -> UnavailableError:
        return UnavailableError(f"the embedder {self._name} is closed")

    # --- in the thread -----------------------------------------------------------------------

    def _run(self) -> None:
        encode = self._loaded_model()
        while jobs := self._next_batch():
            self._settle(encode, jobs)
            del jobs  # or the last texts would stay until others come
        if isinstance(encode, _Closing):
            encode.close()

    def _loaded_model(self) -> Encode:
        try:
            encode = self._load()
        except Exception as error:  # noqa: BLE001 (a boundary: whoever waits must hear of it)
            failure = UnavailableError(f"the embedder {self._name} cannot be loaded: {error}")
            failure.__cause__ = error
            self._loaded.set_exception(failure)
            return _always_failing(failure)
        self._loaded.set_result(None)
        return encode

    def _next_batch(self) -> list[_Job]:
        """Wait for jobs and take as many as fit in a batch, of one kind; none when closed."""
        with self._wake:
            self._wake.wait_for(lambda: self._queries or self._documents or self._is_closed)
            queue = self._queries or self._documents
            jobs: list[_Job] = []
            texts = chars = 0
            while queue:
                texts += len(queue[0].windows)
                chars += sum(map(len, queue[0].windows))
                if jobs and (texts > self._limits.batch_texts or chars > self._limits.batch_chars):
                    break
                jobs.append(queue.popleft())
            return jobs

    def _settle(self, encode: Encode, jobs: Sequence[_Job]) -> None:
        windows = [window for job in jobs for window in job.windows]
        started = time.perf_counter()
        try:
            vectors = encode(windows)
        except Exception as error:  # noqa: BLE001 (a boundary: the callers must hear of it)
            if len(jobs) > 1:
                for job in jobs:
                    self._settle(encode, (job,))
                return
            failure = error
            if not isinstance(error, UnavailableError):
                failure = UnavailableError(f"the embedder {self._name} failed: {error}")
                failure.__cause__ = error
            with self._wake:
                self._forget_in_flight(jobs[0])
            jobs[0].vectors.set_exception(failure)
            return
        self.counts = self.counts.plus(len(windows), time.perf_counter() - started)
        vectors.setflags(write=False)
        self._deliver(jobs, vectors)

    def _deliver(self, jobs: Sequence[_Job], vectors: Vectors) -> None:
        start = 0
        for job in jobs:
            rows = vectors[start : start + len(job.windows)]
            start += len(job.windows)
            with self._wake:
                if self._forget_in_flight(job):
                    self._remember(job.windows, _pooled_query(rows))
            job.vectors.set_result(rows)

    def _forget_in_flight(self, job: _Job) -> bool:
        """Whether the job was a question, whose future was shared until now."""
        is_query = self._in_flight.get(job.windows) is job.vectors
        if is_query:
            del self._in_flight[job.windows]
        return is_query

    def _remember(self, text: Windowed, vector: Vectors) -> None:
        self._known[digest_of_text(*text)] = vector
        while len(self._known) > self._limits.cached_queries:
            self._known.popitem(last=False)


def _running_future() -> "Future[_T]":
    """A future that no caller can cancel: a cancelled caller must not take it from the others."""
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()
    return future


def _always_failing(failure: UnavailableError) -> Encode:
    def encode(_: list[str]) -> Vectors:
        raise failure

    return encode


def _pooled_query(rows: Vectors) -> Vectors:
    """The vector (d,) of a question from those of its windows: a copy that keeps no batch alive, read-only."""
    vector: Vectors = pool(rows, [len(rows)])[0].copy()
    vector.setflags(write=False)
    return vector


def _flattened(texts: Iterable[Windowed], counts: list[int]) -> Iterator[str]:
    """The windows of all texts in order; appends to `counts` how many each text has."""
    for text in texts:
        counts.append(len(text))
        yield from text


def _slices(windows: Iterable[str], limits: BatchLimits) -> Iterator[tuple[str, ...]]:
    """The windows in order, in groups that fit in a batch each."""
    group: list[str] = []
    group_chars = 0
    for window in windows:
        is_full = len(group) == limits.batch_texts or group_chars + len(window) > limits.batch_chars
        if group and is_full:
            yield tuple(group)
            group, group_chars = [], 0
        group.append(window)
        group_chars += len(window)
    if group:
        yield tuple(group)
