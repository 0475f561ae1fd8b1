"""A model behind a server: asked with a deadline, retried with jitter, left alone while it does not answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import httpx
import numpy as np
import structlog
from numpy.typing import NDArray
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    wait_random_exponential,
)

from app.domain.errors import UnavailableError
from app.embedding.breaker import Breaker, OpenError
from app.embedding.counting import Asked, BatchCounts
from app.embedding.local import Prefixes
from app.embedding.models import EmbeddingModel
from app.embedding.shared import SharedAnswers
from app.embedding.windows import pool, windows
from app.embedding.wire import BadReplyError, Endpoint, NoVectorError

_log = structlog.get_logger()

Vectors = NDArray[np.float32]

QUESTION_TIMEOUT_S: Final = 2.0
"""An assembly waits 0.6 s by default; an answer that comes later is kept for the next time."""

_EXCERPT_CHARS: Final = 200
_CACHED_QUERIES: Final = 4_096
_IMPORTS_AT_ONCE: Final = 4
"""Batches of documents under way at once: of 32 connections, the rest is for questions."""

_ABOUT_THE_TEXT: Final = frozenset({400, 413, 422})
"""Statuses by which a server refuses one request, and is well."""

_NO_VECTOR: Final = b"unsupported value: NaN"
"""In Ollama's answer with status 500 where its bge-m3 comes to NaN: always for the same texts (ollama issue 14657)."""

_OVERLOADED: Final = 429


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What the server takes.

    Attributes:
        batch_texts: Texts in one request, >= 1. TEI takes 32 unless told otherwise.
        timeout_s: For one request, > 0; retries begin within it only.
    """

    batch_texts: int = 32
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        if self.batch_texts < 1 or self.timeout_s <= 0:
            raise ValueError(f"limits of an embedding server out of range: {self}")


@dataclass(frozen=True, slots=True)
class World:
    """Time, passed in so that tests need not wait."""

    seconds: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class _FailedError(Exception):
    """The server is not well.

    Attributes:
        is_down: Nothing or an apology came: it may be well again later. Else what came was wrong.
        is_lasting: Asking again does not help.
        asked_s: How long it asked to be left alone.
    """

    def __init__(
        self, message: str, *, is_down: bool = False, is_lasting: bool = False, asked_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.is_down = is_down
        self.is_lasting = is_lasting
        self.asked_s = asked_s


class _RefusedError(Exception):
    """The server does not take this request."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """How one kind of request is made.

    Questions and documents have lanes of their own, so that an import that makes the server slow does not
    count against it for questions, nor the other way round.
    """

    attempts: int
    longest_wait_s: float
    timeout_s: float
    breaker: Breaker = field(repr=False)

    def wait_s(self, state: RetryCallState) -> float:
        """Jittered and growing; what the server asked for if that is longer."""
        error = state.outcome.exception() if state.outcome else None
        jittered: float = wait_random_exponential(self.longest_wait_s / 8, max=self.longest_wait_s)(state)
        asked_s = error.asked_s if isinstance(error, _FailedError) else None
        return max(jittered, asked_s or 0.0)

    def gives_up(self, state: RetryCallState) -> bool:
        """Whether the attempts or the time are used up, the coming wait included."""
        spent_s = (state.seconds_since_start or 0.0) + state.upcoming_sleep
        return state.attempt_number >= self.attempts or spent_s > self.timeout_s


class HttpEmbedder:
    """A model behind an embedding server. For one event loop.

    While the server fails, every call raises UnavailableError at once, so that assemblies go on with
    keywords; one request in five seconds looks whether it is back. Texts are cut into windows as declared
    in `models.py`, and longer texts have the normalised mean of their windows' vectors.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: EmbeddingModel,
        limits: ServerLimits,
        *,
        api_key: str | None = None,
        prefixes: Prefixes | None = None,
        world: World | None = None,
    ) -> None:
        """Nothing is sent before `start` or the first text."""
        self.model = model
        self.name = model.name
        self._dimensions = model.dimensions
        self._endpoint = endpoint
        self._limits = limits
        self._api_key = api_key
        self._prefixes = prefixes or Prefixes()
        self._world = world or World()
        self._questions = self._lane("questions", 2, 0.1, min(limits.timeout_s, QUESTION_TIMEOUT_S), failures=3)
        self._documents = self._lane("documents", 4, 2.0, limits.timeout_s, failures=8)
        self._answers: SharedAnswers[Vectors] = SharedAnswers(_CACHED_QUERIES)
        self._imports = asyncio.Semaphore(_IMPORTS_AT_ONCE)
        self._is_closed = False
        self.counts = BatchCounts()
        headers = {"Content-Type": "application/json"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx.AsyncClient(headers=headers, limits=httpx.Limits(max_connections=32), timeout=None)  # noqa: S113 - a deadline holds for the whole request, see _post

    @property
    def dimensions(self) -> int:
        """Length of a vector, declared or learnt at the start.

        Raises:
            UnavailableError: If it is neither.
        """
        if self._dimensions is None:
            raise UnavailableError(f"the embedder {self.name} has not been started")
        return self._dimensions

    async def start(self) -> None:
        """Ask for one vector: learns or checks the dimensions, and warms the server.

        A server that does not answer yet is no error if the dimensions are declared: assemblies go on
        with keywords until it does.

        Raises:
            UnavailableError: If it answers wrongly, or does not answer and the dimensions are unknown.
        """
        try:
            vectors = await self._attempts(["Where do I live?"], self._documents)
        except _FailedError as error:
            if error.is_down and self._dimensions is not None:
                _log.warning("the embedding server does not answer yet", model=self.name, reason=str(error))
                return
            raise UnavailableError(str(error)) from error
        except (_RefusedError, OpenError) as error:
            raise UnavailableError(str(error)) from error
        self._dimensions = vectors.shape[1]

    @property
    def asked(self) -> Asked:
        """Questions until now."""
        return self._answers.asked

    async def embed_query(self, text: str) -> Vectors:
        """The unit vector (d,) of a question, read-only; from the cache, or shared with an equal one in flight.

        Raises:
            UnavailableError: If the server does not answer as it should, at once while it is left alone.
        """
        prefix = self._prefixes.query
        cut = [prefix + window for window in windows(text, self.model.query_windows)]

        async def ask() -> Vectors:
            rows = await self._embed(cut, self._questions)
            vector: Vectors = pool(rows, [len(rows)])[0].copy()
            vector.setflags(write=False)
            return vector

        return await self._answers.get("\0".join(cut), ask)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors (n, d) of n >= 0 texts, in order.

        Raises:
            UnavailableError: If the server does not answer as it should; at once while it is left alone.
        """
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        counts: list[int] = []
        rows: list[Vectors] = []
        waiting = self._windows(texts, counts)
        while batch := list(islice(waiting, self._limits.batch_texts)):
            async with self._imports:
                rows.append(await self._embed(batch, self._documents))
        return pool(np.concatenate(rows), counts)

    async def close(self) -> None:
        """Close the connections; whoever still waits gets UnavailableError. Idempotent."""
        self._is_closed = True
        await self._answers.close()
        await self._client.aclose()

    def _windows(self, texts: Sequence[str], counts: list[int]) -> Iterator[str]:
        for text in texts:
            cut = windows(text, self.model.document_windows)
            counts.append(len(cut))
            yield from (self._prefixes.document + window for window in cut)

    async def _embed(self, texts: Sequence[str], lane: _Lane) -> Vectors:
        if self._is_closed:
            raise UnavailableError(f"the embedder {self.name} is closed")
        try:
            return await self._attempts(texts, lane)
        except OpenError:
            raise UnavailableError(f"the embedder {self.name} failed lately and is left alone for a while") from None
        except (_FailedError, _RefusedError) as error:
            raise UnavailableError(str(error)) from error

    async def _attempts(self, texts: Sequence[str], lane: _Lane) -> Vectors:
        async def once() -> Vectors:
            with lane.breaker.attempt(_FailedError, _asked_s):
                return await self._post(texts, lane.timeout_s)

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, _FailedError) and not error.is_lasting),
            stop=lane.gives_up,
            wait=lane.wait_s,
            sleep=self._world.sleep,
            reraise=True,
        )
        return await retrying(once)

    async def _post(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        started = self._world.seconds()
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._client.post(self._endpoint.url, content=self._endpoint.body(texts))
        except TimeoutError:
            raise _FailedError(self._says(f"no answer within {timeout_s:g} s"), is_down=True) from None
        except httpx.HTTPError as error:
            raise _FailedError(self._says(str(error) or type(error).__name__), is_down=True) from error
        self.counts = self.counts.plus(len(texts), self._world.seconds() - started)
        if reply.status_code != httpx.codes.OK:
            raise self._bad_status(reply)
        try:
            return self._endpoint.vectors(reply.content, len(texts), self._dimensions)
        except NoVectorError as error:
            raise _RefusedError(self._says(str(error))) from error
        except BadReplyError as error:
            raise _FailedError(self._says(f"{error}: {self._excerpt(reply)}")) from error

    def _bad_status(self, reply: httpx.Response) -> Exception:
        message = self._says(f"HTTP {reply.status_code}: {self._excerpt(reply)}")
        if reply.status_code in _ABOUT_THE_TEXT or _NO_VECTOR in reply.content:
            return _RefusedError(message)
        is_down = reply.is_server_error or reply.status_code == _OVERLOADED
        return _FailedError(message, is_down=is_down, is_lasting=not is_down, asked_s=_retry_after_s(reply))

    def _says(self, what: str) -> str:
        message = f"the embedding server for {self.name}: {what}"
        return message if self._api_key is None else message.replace(self._api_key, "***")

    def _excerpt(self, reply: httpx.Response) -> str:
        """The first characters of an answer, on one line, without the key, which some servers repeat."""
        text = reply.content[: 4 * _EXCERPT_CHARS + 512].decode("utf-8", "replace")
        if self._api_key is not None:
            text = text.replace(self._api_key, "***")
        return " ".join(text.split())[:_EXCERPT_CHARS] or "(empty)"

    def _lane(self, name: str, attempts: int, longest_wait_s: float, timeout_s: float, *, failures: int) -> _Lane:
        def tell(is_open: bool) -> None:  # noqa: FBT001 - a callback
            say = _log.warning if is_open else _log.info
            say("embedding server left alone" if is_open else "embedding server is back", model=self.name, kind=name)

        breaker = Breaker(seconds=self._world.seconds, failures=failures, on_change=tell)
        return _Lane(attempts, longest_wait_s, timeout_s, breaker)


def _asked_s(error: Exception) -> float | None:
    return error.asked_s if isinstance(error, _FailedError) else None


def _retry_after_s(reply: httpx.Response) -> float | None:
    """Retry-After in seconds; a date or nonsense counts as nothing."""
    value = reply.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None
