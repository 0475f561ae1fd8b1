"""A circuit breaker: leaves a server alone that fails, and asks it again with one request at a time.

Our own thirty lines: what is kept on the registry decorates functions with a global state, or knows no
half-open state with a single probe.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class OpenError(Exception):
    """The server is left alone for now."""


class Breaker:
    """Counts failures in a row; open after some, half-open after a pause. For one event loop or thread."""

    def __init__(
        self,
        *,
        seconds: Callable[[], float],
        failures: int = 3,
        pause_s: float = 5.0,
        on_change: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Closed at first.

        Args:
            seconds: A clock, in seconds; never goes back.
            failures: In a row, that open it, >= 1. One lost packet opens nothing.
            pause_s: How long it stays open before one request may try, > 0.
            on_change: Called with whether it is open now, when that changed.
        """
        self._seconds = seconds
        self._failures = failures
        self._pause_s = pause_s
        self._on_change = on_change
        self._failed = 0
        self._closed_from: float | None = None
        self._is_probing = False

    @property
    def is_open(self) -> bool:
        """Whether requests are refused, but for the one that probes."""
        return self._closed_from is not None

    @contextmanager
    def attempt(self, failure: type[Exception], pause_s: Callable[[Exception], float | None]) -> Iterator[None]:
        """Around one request.

        Args:
            failure: What counts against the server. Any other exception shows that it answers.
            pause_s: How long the server asked to be left alone, if it did.

        Raises:
            OpenError: If the server is left alone; the request must not be made.
        """
        self._enter()
        try:
            yield
        except failure as error:
            self._record_failure(pause_s(error))
            raise
        except Exception:
            self._record_success()  # it answered, although not what was hoped for
            raise
        except BaseException:
            self._is_probing = False  # cancelled: the next one may try
            raise
        self._record_success()

    def _enter(self) -> None:
        if self._closed_from is None:
            return
        if self._is_probing or self._seconds() < self._closed_from:
            raise OpenError
        self._is_probing = True

    def _record_failure(self, asked_s: float | None) -> None:
        was_open = self.is_open
        self._failed += 1
        self._is_probing = False
        if was_open or self._failed >= self._failures:
            self._closed_from = self._seconds() + max(self._pause_s, asked_s or 0.0)
        if self.is_open and not was_open:
            self._on_change(True)

    def _record_success(self) -> None:
        was_open = self.is_open
        self._failed, self._closed_from, self._is_probing = 0, None, False
        if was_open:
            self._on_change(False)
