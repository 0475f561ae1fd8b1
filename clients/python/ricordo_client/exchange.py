"""How one call is made, without any I/O: what to send, how long to wait, when to try again, what the answer means.

`exchange` is a generator. It yields what is to be done and is sent what came of it, so that a blocking and an
awaiting client share all decisions, and a test needs no network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from ricordo_client.errors import DeadlineError, RicordoError, UnreachableError, VersionError, problem_of

ModelT = TypeVar("ModelT", bound=BaseModel)

SERVICE_FROM = (0, 1)
"""The first version of the service that answers all calls of this client."""

SERVICE_BELOW = (2, 0)
"""The first version that may have left the API version 1 behind."""

FIRST_PAUSE_S = 0.1
_TRY_AGAIN = (429, 502, 503, 504)
_FALLBACK_MS = 60_000


@dataclass(frozen=True)
class Call(Generic[ModelT]):
    """A request of the API, and the record that answers it.

    Attributes:
        path: Below `/api/v1`.
        repeatable: Whether sending it twice does no more than sending it once.
        idempotent: A write that is repeatable by an `Idempotency-Key`, which is made for it if none is given.
        deadline_field: Whether the body tells the service how long it may take (`timeout_ms`).
        timeout_s: For this call instead of the client's; a bound that holds even if the answer only trickles in.
        otherwise: Gives the answer when the service does not; None: the error is raised.
        keep_nulls: Whether None in the body is sent: in an edit it clears a field.
    """

    model: type[ModelT]
    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = None
    repeatable: bool = False
    idempotent: bool = False
    deadline_field: bool = False
    timeout_s: float | None = None
    otherwise: Callable[[RicordoError], ModelT] | None = None
    keep_nulls: bool = False

    def at_cursor(self, cursor: str) -> Call[ModelT]:
        """The same list, continued."""
        return replace(self, params={**(self.params or {}), "cursor": cursor})


@dataclass(frozen=True)
class Send:
    """To be done: send this, and wait no longer than `timeout_s` for all of the answer."""

    method: str
    path: str
    params: Mapping[str, Any] | None
    content: bytes | None
    headers: Mapping[str, str]
    timeout_s: float


@dataclass(frozen=True)
class Pause:
    """To be done: wait."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """What came of it: an answer. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Lost:
    """What came of it: none."""

    reason: str
    late: bool = False


Step = Send | Pause
Outcome = Reply | Lost | None


@dataclass(frozen=True)
class Policy:
    """How patient a call is.

    Attributes:
        timeout_s: For the whole call, repetitions and pauses included.
        retries: How often a call that may be repeated is, at most.
        seconds: A clock that never goes back.
        now: The wall clock, in UTC, for dates in `Retry-After`.
        new_key: Makes an idempotency key.
    """

    timeout_s: float
    retries: int
    seconds: Callable[[], float]
    now: Callable[[], datetime]
    new_key: Callable[[], str]


def exchange(call: Call[ModelT], policy: Policy) -> Generator[Step, Outcome, ModelT]:
    """Make a call. Sent a Reply or a Lost for each Send, None for each Pause.

    Raises:
        RicordoError: If it cannot be answered.
    """
    ends = policy.seconds() + policy.timeout_s
    headers = dict(call.headers or {})
    if call.idempotent:
        headers.setdefault("Idempotency-Key", policy.new_key())
    attempt = 0
    while True:
        left = ends - policy.seconds()
        if left <= 0:
            raise DeadlineError(f"no answer within {policy.timeout_s:g} s")
        outcome = yield Send(call.method, call.path, _filled(call.params), _content(call, left, headers), headers, left)
        if isinstance(outcome, Reply) and outcome.status < 400:
            return _read(call, outcome)
        pause = _pause(outcome, attempt, policy)
        may_repeat = (call.repeatable or call.idempotent) and attempt < policy.retries
        if pause is None or not may_repeat or policy.seconds() + pause >= ends:
            raise _error(outcome)
        attempt += 1
        yield Pause(pause)


def _filled(params: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if params is None else {name: _plain(value) for name, value in params.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    return value


def _content(call: Call[Any], left_s: float, headers: dict[str, str]) -> bytes | None:
    """The body. Of the time that is left, a tenth is kept for the way."""
    if call.body is None:
        return None
    body = {name: _plain(value) for name, value in call.body.items() if value is not None or call.keep_nulls}
    if call.deadline_field and "timeout_ms" not in body:
        body["timeout_ms"] = max(1, min(int(left_s * 900), _FALLBACK_MS))
    headers["Content-Type"] = "application/json"
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _read(call: Call[ModelT], reply: Reply) -> ModelT:
    _check_version(reply.headers.get("ricordo-version"))
    try:
        return call.model.model_validate_json(reply.body)
    except ValidationError as error:
        raise UnreachableError(f"{call.method} {call.path}: the answer is none of Ricordo's") from error


def _check_version(version: str | None) -> None:
    if version is None:
        raise UnreachableError("the answer does not say Ricordo-Version: another server answers at this URL")
    try:
        major, minor = (int(part) for part in version.split(".")[:2])
    except ValueError:
        raise VersionError(f"the service says that its version is {version!r}") from None
    if not SERVICE_FROM <= (major, minor) < SERVICE_BELOW:
        known = " to below ".join(".".join(map(str, bound)) for bound in (SERVICE_FROM, SERVICE_BELOW))
        raise VersionError(f"this client speaks to services from {known}; this one is {version}")


def _pause(outcome: Outcome, attempt: int, policy: Policy) -> float | None:
    """How long to wait before a repetition; None if one cannot help."""
    grown = FIRST_PAUSE_S * 2.0**attempt
    if isinstance(outcome, Reply):
        if outcome.status not in _TRY_AGAIN:
            return None
        return max(grown, _asked_for(outcome.headers.get("retry-after"), policy.now()))
    return grown


def _asked_for(retry_after: str | None, now: datetime) -> float:
    """Seconds that `Retry-After` asks to wait; 0 without one that can be read."""
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, ((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds())


def _error(outcome: Outcome) -> RicordoError:
    if isinstance(outcome, Reply):
        return problem_of(outcome.status, outcome.body)
    if isinstance(outcome, Lost):
        return DeadlineError(outcome.reason) if outcome.late else UnreachableError(outcome.reason)
    raise TypeError("a Send is answered by a Reply or a Lost")
