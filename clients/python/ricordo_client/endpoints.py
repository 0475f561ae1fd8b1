"""A call as a method of both clients: it answers at once on the blocking one, and is awaited on the other.

The signature is that of the function in `calls`, for people and type checkers alike.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from pydantic import BaseModel
from typing_extensions import ParamSpec

from ricordo_client.exchange import Call
from ricordo_client.models import Page

P = ParamSpec("P")
ModelT = TypeVar("ModelT", bound=BaseModel)
ItemT = TypeVar("ItemT")


class Blocking(Protocol):
    """A client whose calls return when they are answered."""

    def _run(self, call: Call[ModelT], /) -> ModelT: ...

    def _walk(self, call: Call[Page[ItemT]], /) -> Iterator[ItemT]: ...


class Awaiting(Protocol):
    """A client whose calls are awaited."""

    def _arun(self, call: Call[ModelT], /) -> Awaitable[ModelT]: ...

    def _awalk(self, call: Call[Page[ItemT]], /) -> AsyncIterator[ItemT]: ...


class Endpoint(Generic[P, ModelT]):
    """A call that is answered by one record."""

    def __init__(self, build: Callable[P, Call[ModelT]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: Any = None) -> Self: ...

    @overload
    def __get__(self, client: Blocking, owner: Any = None) -> Callable[P, ModelT]: ...

    @overload
    def __get__(self, client: Awaiting, owner: Any = None) -> Callable[P, Awaitable[ModelT]]: ...

    def __get__(self, client: Any, owner: Any = None) -> Any:
        if client is None:
            return self
        build, run = self._build, client._arun if hasattr(client, "_arun") else client._run

        @wraps(build)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return run(build(*args, **kwargs))

        return method


class Pages(Generic[P, ItemT]):
    """A call that is answered by a list; further pages are asked for while it is walked through."""

    def __init__(self, build: Callable[P, Call[Page[ItemT]]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: Any = None) -> Self: ...

    @overload
    def __get__(self, client: Blocking, owner: Any = None) -> Callable[P, Iterator[ItemT]]: ...

    @overload
    def __get__(self, client: Awaiting, owner: Any = None) -> Callable[P, AsyncIterator[ItemT]]: ...

    def __get__(self, client: Any, owner: Any = None) -> Any:
        if client is None:
            return self
        build, walk = self._build, client._awalk if hasattr(client, "_awalk") else client._walk

        @wraps(build)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return walk(build(*args, **kwargs))

        return method
