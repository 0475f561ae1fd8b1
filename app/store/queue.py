"""The queue: procrastinate over a small pool of its own, so that work never takes a connection from a request.

A job's arguments are ids alone. `app/store/sql/jobs.sql` keeps what its tenant sees of it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import procrastinate
import psycopg
import structlog
from procrastinate import exceptions, jobs
from procrastinate.types import JSONDict
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, dict_row
from psycopg_pool import AsyncConnectionPool

from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId
from app.store.pool import SERVING_SETTINGS, connected, find_queue, tenant_pipeline
from app.store.queries import load
from app.turns.ports import Handler, JobOptions
from app.turns.records import SUBJECT_KIND, JobState, NewJob, Task
from app.turns.tasks import OvertakenError

_SQL = load("jobs")
_log: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)

HEARTBEAT_SECONDS: Final = 1.0
STALLED_SECONDS: Final = 5.0
"""A worker without a sign of life for so long is dead; its jobs are given to another."""

ATTEMPTS: Final = 12
"""After so many a job has failed: with the delays below, half an hour after its first attempt."""

DEATHS: Final = 5
"""A job whose worker dies at this attempt or a later one is taken to be at fault itself."""

SLOW_SECONDS: Final = 30.0
"""A job that has been due for so long makes the queue slow; without a worker, stuck."""

_FIRST_DELAY_S: Final = 1.0
_LONGEST_DELAY_S: Final = 300.0
_POLL_SECONDS: Final = 1.0
_RESTART_SECONDS: Final = (0.2, 0.5, 1.0, 2.0)
GRACE_SECONDS: Final = 10.0
"""What is under way may still take this long once the worker is asked to stop."""

OVERTAKEN: Final = "overtaken: what it works on keeps changing, or waits for earlier turns"
UNAVAILABLE: Final = "unavailable: something that it needs does not answer"
WORKER_DIED: Final = "worker-died: its workers died while they had it in hand"
INTERNAL: Final = "internal: it failed inside; the log says where, under the id of this job"
"""What a job's tenant is told of a failure: a code, and what it means (docs/api.md)."""

_TRANSIENT = (UnavailableError, psycopg.OperationalError, TimeoutError, ConnectionError)


@dataclass(frozen=True, slots=True)
class QueueState:
    """How the whole queue stands.

    Attributes:
        waiting: Jobs that are due.
        oldest_s: How long the first of them has been waiting.
        failed: Jobs that failed for good.
        stalled: Jobs whose worker is dead.
        workers: Workers that live.
    """

    waiting: int
    oldest_s: float
    failed: int
    stalled: int
    workers: int

    @property
    def name(self) -> str:
        """In one word."""
        if self.stalled or (self.oldest_s >= SLOW_SECONDS and not self.workers):
            return "stuck"
        if self.failed:
            return "poisoned"
        return "slow" if self.oldest_s >= SLOW_SECONDS else "ok"

    @property
    def why(self) -> str | None:
        """Why it is not well; None if it is."""
        reasons = {
            "stuck": f"{self.stalled} jobs of dead workers, {self.workers} workers, and {self.waiting} jobs due",
            "poisoned": f"{self.failed} jobs failed for good",
            "slow": f"something has been due for {self.oldest_s:.0f} s",
        }
        return reasons.get(self.name)

    def as_json(self) -> dict[str, Any]:
        """As health tells it."""
        oldest = round(self.oldest_s, 3)
        return {
            "state": self.name,
            "waiting": self.waiting,
            "oldest_seconds": oldest,
            "failed": self.failed,
            "workers": self.workers,
        }


def delay_s(attempts: int, chance: float) -> float:
    """Seconds until a job is tried again: doubled with every attempt, five minutes at most, half of it by chance.

    Args:
        attempts: How often it was tried before the attempt that failed.
        chance: In [0, 1).
    """
    longest: float = min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2.0 ** min(attempts, 20))
    return longest / 2 + chance * longest / 2


class _Retry(procrastinate.BaseRetryStrategy):
    """Tries again what may go better next time. Anything else has failed at once."""

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> procrastinate.RetryDecision | None:
        if not _may_pass(exception, job.attempts):
            return None
        return procrastinate.RetryDecision(retry_in={"milliseconds": int(delay_s(job.attempts, self._chance()) * 1000)})


def _reason(error: BaseException) -> str:
    """Why a job failed, for its tenant: the words of an exception can hold addresses, statements and texts."""
    if isinstance(error, OvertakenError):
        return OVERTAKEN
    return UNAVAILABLE if isinstance(error, _TRANSIENT) else INTERNAL


def _may_pass(error: BaseException, attempts: int) -> bool:
    if isinstance(error, asyncio.CancelledError):  # the worker was stopped in the middle of it
        return True
    return isinstance(error, _TRANSIENT) and attempts + 1 < ATTEMPTS


@dataclass(slots=True)
class Queue:
    """Takes jobs inside the transaction of whoever needs them done, and does them.

    Attributes:
        url: The database.
        chance: Draws from [0, 1).
        handlers: What each task does; all tasks are there before a worker runs.
    """

    url: str
    chance: Callable[[], float]
    concurrency: int = 4
    grace_s: float = GRACE_SECONDS
    handlers: dict[Task, Handler] = field(default_factory=dict)
    _app: procrastinate.App = field(init=False)

    def __post_init__(self) -> None:
        """Know every task; nothing is opened yet."""
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # it logs arguments; ours says what failed
        self._app = procrastinate.App(connector=procrastinate.PsycopgConnector())
        for task in Task:
            self._app.task(name=task.value, retry=_Retry(self.chance), pass_context=True)(self._doing(task))

    async def defer(self, connection: AsyncConnection[TupleRow], tenant_id: UUID, new: Sequence[NewJob]) -> None:
        """Queue jobs: they are there when the transaction commits, and never were if it does not."""
        if new:
            queued = [_queued(tenant_id, job) for job in new]
            await self._app.job_manager.batch_defer_jobs_async(queued, connection=connection)

    async def run(self) -> None:
        """Work until cancelled. What fails as a whole, such as a database that went away, is begun anew."""
        failures = 0
        while True:
            try:
                async with self._opened():
                    failures = 0
                    await self._work()
            except (psycopg.Error, exceptions.ProcrastinateException, OSError, UnavailableError) as error:
                _log.warning("the worker begins anew", exc_info=error)
            await asyncio.sleep(_RESTART_SECONDS[min(failures, len(_RESTART_SECONDS) - 1)])
            failures += 1

    async def drain(self) -> None:
        """Do all that is due, and no more."""
        async with self._opened():
            await self._app.run_worker_async(
                wait=False,
                concurrency=self.concurrency,
                install_signal_handlers=False,
                listen_notify=False,
                delete_jobs=jobs.DeleteJobCondition.SUCCESSFUL,
            )

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        pool: AsyncConnectionPool[AsyncConnection[TupleRow]] = AsyncConnectionPool(
            self.url,
            min_size=1,
            max_size=3,
            open=False,
            timeout=5.0,
            configure=_configure,
            # What is lost of the queue's own notes with a crash is work that is done once more, to no effect.
            kwargs={"options": f"{SERVING_SETTINGS} -c synchronous_commit=off", "prepare_threshold": 0},
        )
        connector = procrastinate.PsycopgConnector(configure=_configure)
        await pool.open(wait=True, timeout=5.0)
        try:
            await connector.open_async(pool)
            with self._app.replace_connector(connector):
                yield
        finally:
            await pool.close()

    async def _work(self) -> None:
        recovering = asyncio.create_task(self._recover())
        working = asyncio.create_task(
            self._app.run_worker_async(
                concurrency=self.concurrency,
                fetch_job_polling_interval=_POLL_SECONDS,
                shutdown_graceful_timeout=self.grace_s,
                install_signal_handlers=False,
                delete_jobs=jobs.DeleteJobCondition.SUCCESSFUL,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_SECONDS,
            )
        )
        tasks = {recovering, working}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _recover(self) -> None:
        """Give the jobs of dead workers to others, for ever."""
        while True:
            await self.recover_stalled()
            await asyncio.sleep(STALLED_SECONDS / 2)

    async def recover_stalled(self, stalled_s: float = STALLED_SECONDS) -> int:
        """Give the jobs of dead workers to others; those that killed too many of them have failed.

        Returns:
            How many were given to others.
        """
        manager = self._app.job_manager
        given = 0
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=stalled_s):
            if job.attempts + 1 < DEATHS:
                await manager.retry_job(job)
                given += 1
            else:
                _log.warning("a job kills its workers", task=job.task_name, job=str(_job_of(job.task_kwargs)))
                await self._note(job.task_kwargs, JobState.FAILED, WORKER_DIED)
                await manager.finish_job(job, jobs.Status.FAILED, delete_job=False)
        return given

    def _doing(self, task: Task) -> Callable[..., Awaitable[None]]:
        async def do(context: procrastinate.JobContext, **arguments: Any) -> None:
            tenant_id, space_id = UUID(arguments["tenant"]), UUID(arguments["space"])
            subject = PublicId(UUID(arguments["subject"]), space_id, SUBJECT_KIND[task])
            try:
                note = await self.handlers[task](tenant_id, subject, JobOptions(erase=arguments["erase"]))
            except Exception as error:
                passes = _may_pass(error, context.job.attempts)
                job = str(_job_of(arguments))
                _log.warning("a job failed", task=task.value, job=job, tried_again=passes, exc_info=error)
                await self._note(arguments, JobState.WAITING if passes else JobState.FAILED, _reason(error))
                raise
            await self._note(arguments, JobState.SUCCEEDED, None, note)

        return do

    async def _note(
        self, arguments: Mapping[str, Any], state: JobState, reason: str | None, note: str | None = None
    ) -> None:
        connector = self._app.connector
        assert isinstance(connector, procrastinate.PsycopgConnector)  # noqa: S101 - ours
        names = {"tenant_id": "tenant", "space_id": "space", "id": "job"}
        parameters = {column: arguments[name] for column, name in names.items()}
        tenant_id = UUID(arguments["tenant"])
        async with connected(connector.pool) as connection, tenant_pipeline(connection, tenant_id):
            await connection.execute(
                _SQL["note_attempt"], {**parameters, "state": state.value, "error": reason, "note": note}
            )


async def _configure(connection: AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)  # procrastinate's connection for notifications takes it as no argument
    await find_queue(connection)


NO_QUEUE: Final[Mapping[str, Any]] = {
    "state": "unavailable",
    "waiting": 0,
    "oldest_seconds": 0.0,
    "failed": 0,
    "workers": 0,
}
"""What health tells of a queue that cannot be asked."""


async def queue_state(pool: AsyncConnectionPool[AsyncConnection[TupleRow]]) -> QueueState:
    """How the queue stands.

    Raises:
        UnavailableError: If the database does not answer.
    """
    async with connected(pool) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        await cursor.execute(_SQL["queue_state"], {"stalled_s": STALLED_SECONDS})
        row = await cursor.fetchone()
        assert row is not None  # noqa: S101 - one row, whatever is in the queue
        return QueueState(**row)


def _job_of(arguments: Mapping[str, Any]) -> PublicId:
    return PublicId(UUID(arguments["job"]), UUID(arguments["space"]), IdKind.JOB)


def _queued(tenant_id: UUID, job: NewJob) -> jobs.Job:
    arguments: JSONDict = {
        "tenant": str(tenant_id),
        "space": str(job.space_id),
        "job": str(job.id),
        "subject": str(job.subject),
        "erase": job.erase,
    }
    return jobs.Job(queue="default", lock=None, queueing_lock=None, task_name=job.task.value, task_kwargs=arguments)
