"""Structured logs: one JSON object a line, never a stored text, never local variables."""

import asyncio
import sys
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Literal

import structlog


def configure_logging(level: Literal["info", "warning"] = "info") -> None:
    """Write events of a level and above to standard error."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,  # the ids of the request and of its assembly
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            where_it_failed,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )


def log_failures_of(loop: asyncio.AbstractEventLoop) -> None:
    """Log what fails in tasks that nobody waits for. asyncio itself would print the message of the exception."""

    def note(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        structlog.get_logger().error("something failed beside", exc_info=context.get("exception"))

    loop.set_exception_handler(note)


def where_it_failed(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Says of an exception its type, its code if it has one, and the places it came through.

    Not its message: a database's names the row that it refuses, a parser's the text that it cannot read.
    """
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    if isinstance(error, BaseException):
        event["exception"] = list(_causes(error))
    return event


def _causes(error: BaseException) -> Iterator[dict[str, Any]]:
    """The error, what it came of, and so on."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        code = getattr(following, "sqlstate", None)
        frames = traceback.extract_tb(following.__traceback__)
        yield {
            "type": type(following).__qualname__,
            **({} if code is None else {"code": code}),
            "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        }
        following = following.__cause__ or following.__context__
