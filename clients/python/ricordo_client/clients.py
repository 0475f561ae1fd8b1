"""The two clients: the calls, and what carries them over the network."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import UTC, datetime
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel

from ricordo_client import calls
from ricordo_client.endpoints import Endpoint, Pages
from ricordo_client.errors import DeadlineError, RicordoError
from ricordo_client.exchange import Call, Lost, Outcome, Pause, Policy, Reply, Send, Step, exchange
from ricordo_client.models import Page

TIMEOUT_S = 10.0
RETRIES = 2
ANSWER_BYTES = 1 << 26
"""No answer of a service is so long."""

_TOO_LONG = Lost(f"the answer has more than {ANSWER_BYTES:,} bytes: another server answers at this URL")

ModelT = TypeVar("ModelT", bound=BaseModel)
ItemT = TypeVar("ItemT")

_log = logging.getLogger("ricordo_client")


class _Calls:
    """Every call of the API."""

    assemble = Endpoint(calls.assemble)
    assemble_live = Endpoint(calls.assemble_live)
    plan_live = Endpoint(calls.plan_live)
    search = Endpoint(calls.search)
    post_turn = Endpoint(calls.post_turn)
    turn = Endpoint(calls.turn)
    remember = Endpoint(calls.remember)
    add_episode = Endpoint(calls.add_episode)
    add_procedure = Endpoint(calls.add_procedure)
    add_all = Endpoint(calls.add_all)
    report_outcome = Endpoint(calls.report_outcome)
    entry = Endpoint(calls.entry)
    edit_entry = Endpoint(calls.edit_entry)
    undo_entry = Endpoint(calls.undo_entry)
    restore_entry = Endpoint(calls.restore_entry)
    erase_entry = Endpoint(calls.erase_entry)
    entries = Pages(calls.entries)
    entry_versions = Pages(calls.entry_versions)
    entry_sources = Endpoint(calls.entry_sources)
    correct = Endpoint(calls.correct)
    clarify = Endpoint(calls.clarify)
    correction = Endpoint(calls.correction)
    corrections = Pages(calls.corrections)
    forget = Endpoint(calls.forget)
    erase_space = Endpoint(calls.erase_space)
    receipt = Endpoint(calls.receipt)
    verify_receipt = Endpoint(calls.verify_receipt)
    create_record = Endpoint(calls.create_record)
    records = Pages(calls.records)
    record = Endpoint(calls.record)
    change_record = Endpoint(calls.change_record)
    erase_record = Endpoint(calls.erase_record)
    record_versions = Pages(calls.record_versions)
    messages = Pages(calls.messages)
    message = Endpoint(calls.message)
    edit_message = Endpoint(calls.edit_message)
    delete_message = Endpoint(calls.delete_message)
    sessions = Pages(calls.sessions)
    session = Endpoint(calls.session)
    recent = Endpoint(calls.recent)
    end_session = Endpoint(calls.end_session)
    delete_session = Endpoint(calls.delete_session)
    soul = Pages(calls.soul)
    add_soul_block = Endpoint(calls.add_soul_block)
    soul_block = Endpoint(calls.soul_block)
    soul_block_versions = Pages(calls.soul_block_versions)
    order_soul = Endpoint(calls.order_soul)
    restore_soul_block = Endpoint(calls.restore_soul_block)
    edit_soul_block = Endpoint(calls.edit_soul_block)
    erase_soul_block = Endpoint(calls.erase_soul_block)
    spaces = Pages(calls.spaces)
    space = Endpoint(calls.space)
    profile = Endpoint(calls.profile)
    view = Pages(calls.view)
    consolidate = Endpoint(calls.consolidate)
    history_settings = Endpoint(calls.history_settings)
    set_history_days = Endpoint(calls.set_history_days)
    issue_token = Endpoint(calls.issue_token)
    current_key = Endpoint(calls.current_key)
    assemblies = Pages(calls.assemblies)
    assembly = Endpoint(calls.assembly)
    replay = Endpoint(calls.replay)
    job = Endpoint(calls.job)
    jobs = Pages(calls.jobs)
    retry_job = Endpoint(calls.retry_job)

    def __init__(self, *, timeout: float, retries: int) -> None:
        self._timeout_s = timeout
        self._retries = retries

    def _policy(self, call: Call[Any]) -> Policy:
        timeout_s = self._timeout_s if call.timeout_s is None else call.timeout_s
        return Policy(timeout_s, self._retries, time.monotonic, _utc_now, lambda: uuid.uuid4().hex)


class Ricordo(_Calls):
    """The blocking client. May be shared between threads.

    Args:
        url: Of the service, such as http://127.0.0.1:8080.
        key: An API key or a token.
        timeout: Seconds for a whole call, repetitions included.
        retries: How often a call is repeated that may be: reads, and writes by their idempotency key.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = TIMEOUT_S,
        retries: int = RETRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(timeout=timeout, retries=retries)
        self._http = httpx.Client(**_options(url, key), transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _run(self, call: Call[ModelT], /) -> ModelT:
        try:
            return self._steps(call) if call.timeout_s is None else self._within(call, call.timeout_s)
        except RicordoError as error:
            return _otherwise(call, error)

    def _within(self, call: Call[ModelT], timeout_s: float) -> ModelT:
        """Make a call in a thread that is left behind when time is up: httpx bounds each read, not their sum."""
        done: Future[ModelT] = Future()

        def work() -> None:
            try:
                done.set_result(self._steps(call))
            except BaseException as error:  # noqa: BLE001 - it is raised in the caller's thread
                done.set_exception(error)

        threading.Thread(target=work, name="ricordo-call", daemon=True).start()
        try:
            return done.result(timeout_s)
        except FutureTimeoutError:
            raise DeadlineError(f"no whole answer within {timeout_s:g} s") from None

    def _steps(self, call: Call[ModelT]) -> ModelT:
        steps = exchange(call, self._policy(call))
        outcome: Outcome = None
        try:
            step: Step = next(steps)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    outcome = None
                else:
                    outcome = self._send(step)
                step = steps.send(outcome)
        except StopIteration as stop:
            answer: ModelT = stop.value
            return answer

    def _send(self, step: Send) -> Outcome:
        ends = time.monotonic() + step.timeout_s
        try:
            with self._http.stream(**_request(step)) as response:
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if time.monotonic() > ends:
                        return _late(step)
                    if len(body) > ANSWER_BYTES:
                        return _TOO_LONG
                return _reply(response, bytes(body))
        except httpx.TimeoutException:
            return _late(step)
        except httpx.HTTPError as error:
            return _lost(error)

    def _walk(self, call: Call[Page[ItemT]], /) -> Iterator[ItemT]:
        page = self._run(call)
        yield from page.items
        while page.next_cursor is not None:
            page = self._run(call.at_cursor(page.next_cursor))
            yield from page.items


class AsyncRicordo(_Calls):
    """The client for asyncio; arguments are those of Ricordo."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = TIMEOUT_S,
        retries: int = RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(timeout=timeout, retries=retries)
        self._http = httpx.AsyncClient(**_options(url, key), transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def _arun(self, call: Call[ModelT], /) -> ModelT:
        try:
            return await self._steps(call)
        except RicordoError as error:
            return _otherwise(call, error)

    async def _steps(self, call: Call[ModelT]) -> ModelT:
        steps = exchange(call, self._policy(call))
        outcome: Outcome = None
        try:
            step: Step = next(steps)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    outcome = None
                else:
                    outcome = await self._send(step)
                step = steps.send(outcome)
        except StopIteration as stop:
            answer: ModelT = stop.value
            return answer

    async def _send(self, step: Send) -> Outcome:
        try:
            return await asyncio.wait_for(self._read(step), step.timeout_s)
        except (TimeoutError, httpx.TimeoutException):
            return _late(step)
        except httpx.HTTPError as error:
            return _lost(error)

    async def _read(self, step: Send) -> Outcome:
        async with self._http.stream(**_request(step)) as response:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > ANSWER_BYTES:
                    return _TOO_LONG
            return _reply(response, bytes(body))

    async def _awalk(self, call: Call[Page[ItemT]], /) -> AsyncIterator[ItemT]:
        page = await self._arun(call)
        for item in page.items:
            yield item
        while page.next_cursor is not None:
            page = await self._arun(call.at_cursor(page.next_cursor))
            for item in page.items:
                yield item


def _options(url: str, key: str) -> dict[str, Any]:
    return {
        "base_url": f"{url.rstrip('/')}/api/v1",
        "headers": {"Authorization": f"Bearer {key}", "Accept": "application/json"},
    }


def _request(step: Send) -> dict[str, Any]:
    return {
        "method": step.method,
        "url": step.path,
        "params": step.params,
        "content": step.content,
        "headers": step.headers,
        "timeout": step.timeout_s,
    }


def _reply(response: httpx.Response, body: bytes) -> Reply:
    return Reply(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)


def _late(step: Send) -> Lost:
    return Lost(f"{step.method} {step.path}: no whole answer within {step.timeout_s:.3g} s", late=True)


def _lost(error: httpx.HTTPError) -> Lost:
    return Lost(f"{type(error).__name__}: {error}")


def _otherwise(call: Call[ModelT], error: RicordoError) -> ModelT:
    """The answer without the service; without one the error is raised. The log says why, and quotes no text."""
    if call.otherwise is None:
        raise error
    _log.warning("answered without memory: %s", type(error).__name__)
    return call.otherwise(error)


def _utc_now() -> datetime:
    return datetime.now(UTC)
