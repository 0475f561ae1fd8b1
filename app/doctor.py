"""What keeps a service from working well, part by part, and what to do about each. Nothing is changed."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import httpx
import psycopg

from app.domain.errors import UnavailableError
from app.runtime import ConfigurationError, database_url_of, key_path, open_embedder
from app.settings import Settings
from app.store import embedded
from app.store.checkup import Checkup
from app.store.embedded import EmbeddedPostgresError
from app.store.queue import SLOW_SECONDS
from app.store.working import connect_redis, ping_redis

State = Literal["ok", "warn", "fail"]

_OLDEST_POSTGRES: Final = 150_000
_TESTED_POSTGRES: Final = 180_000
_OLDEST_VECTOR: Final = (0, 7)
_FULL_BYTES: Final = 1 << 30
_NEARLY_FULL_BYTES: Final = 5 << 30
_TIMEOUT_S: Final = 5.0
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """How a part is. `todo` says what to do; empty where there is nothing to do."""

    part: str
    state: State
    said: str
    todo: str = ""

    def line(self) -> str:
        """For people."""
        advice = f" - {self.todo}" if self.todo else ""
        return f"{self.state:<5}{self.part:<12}{self.said}{advice}"


async def examine(settings: Settings) -> list[Finding]:
    """Look at every part, in the order in which they need one another."""
    found: list[Finding] = []
    models: list[tuple[str, int, bool]] = []
    with ExitStack() as stack:
        try:
            connection = await asyncio.to_thread(_connect, settings, stack)
        except _NoStore as error:
            found.append(Finding("database", "warn", str(error), "start the service once: `ricordo serve`"))
        except (psycopg.Error, ConfigurationError, EmbeddedPostgresError) as error:
            found.append(Finding("database", "fail", _first_line(error), _DATABASE_TODO[settings.database_url is None]))
        else:
            looked, models = await asyncio.to_thread(_store, Checkup(connection))
            found += looked
    found.append(await _embedder(settings, models))
    outside = [await look_outside(settings) for look_outside in (_redis, _llm, _upstream)]
    found += [looked for looked in outside if looked is not None]
    return [*found, _disk(settings), await _port(settings), *_key(settings)]


class _NoStore(Exception):  # noqa: N818 - no error: a beginning
    """Nothing was ever stored here."""


_DATABASE_TODO: Final = {
    True: "look at postgres/server.log in RICORDO_DATA_DIR",
    False: "see that RICORDO_DATABASE_URL names a server that runs, and a user who may connect",
}


def _connect(settings: Settings, stack: ExitStack) -> psycopg.Connection[Any]:
    if settings.database_url is not None:
        url = database_url_of(settings.database_url.get_secret_value())
    elif (settings.data_dir / "postgres" / "cluster").exists():
        url = stack.enter_context(embedded.start(settings.data_dir)).url
    else:
        raise _NoStore(f"there is no store in {settings.data_dir} yet")
    connection: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True)
    return stack.enter_context(connection)


def _store(checkup: Checkup) -> tuple[list[Finding], list[tuple[str, int, bool]]]:
    """The store's findings, and its models as far as they can be known."""
    found = [_looked(look, checkup) for look in _STORE]
    try:
        return found, checkup.models()
    except psycopg.Error:
        return found, []


Look = Callable[[Checkup], Finding]


def _looked(look: Look, checkup: Checkup) -> Finding:
    """What a look finds; one that the database refuses is a finding too."""
    try:
        return look(checkup)
    except psycopg.Error as error:
        part = look.__name__.removeprefix("_")
        return Finding(part, "fail", _first_line(error), "mend what stands above first")


def _database(checkup: Checkup) -> Finding:
    version, number, size = checkup.version()
    said = f"Postgres {version}, {size}"
    if number < _OLDEST_POSTGRES:
        return Finding("database", "fail", said, "move to Postgres 15 or later")
    if number < _TESTED_POSTGRES:
        return Finding("database", "warn", said, "Ricordo is tested on Postgres 18")
    return Finding("database", "ok", said)


def _extension(checkup: Checkup) -> Finding:
    installed, available = checkup.extension()
    if installed is None and available is None:
        return Finding("extension", "fail", "pgvector is not there", "install pgvector on the database's server")
    if installed is None:
        todo = "CREATE EXTENSION vector; or start the service as a user who may"
        return Finding("extension", "fail", f"pgvector {available} is not installed in this database", todo)
    if tuple(map(int, installed.split(".")[:2])) < _OLDEST_VECTOR:
        return Finding("extension", "fail", f"pgvector {installed}", "ALTER EXTENSION vector UPDATE; 0.7 is needed")
    return Finding("extension", "ok", f"pgvector {installed}")


def _schema(checkup: Checkup) -> Finding:
    there, wanted = checkup.migration()
    if there is None:
        return Finding("schema", "fail", "the database has no schema", "`ricordo migrate`, or start the service")
    if there < wanted:
        return Finding("schema", "fail", f"it is at {there}, this version needs {wanted}", "`ricordo migrate`")
    if there > wanted:
        return Finding("schema", "fail", f"it is at {there}, this version knows {wanted}", "install the newer Ricordo")
    return Finding("schema", "ok", f"at {there}")


def _role(checkup: Checkup) -> Finding:
    role, bare = checkup.role(), checkup.unprotected()
    if role is None:
        return Finding(
            "role", "fail", "there is no role ricordo_serving", "`ricordo migrate` as a user who may make it"
        )
    is_unbound, is_ours = role
    if is_unbound:
        todo = "ALTER ROLE ricordo_serving NOSUPERUSER NOBYPASSRLS"
        return Finding("role", "fail", "row-level security does not bind ricordo_serving", todo)
    if not is_ours:
        return Finding("role", "fail", "the user cannot become ricordo_serving", "GRANT ricordo_serving TO the user")
    if bare:
        todo = "ALTER TABLE … ENABLE ROW LEVEL SECURITY"
        return Finding("role", "fail", f"row-level security is off: {_names(bare)}", todo)
    return Finding("role", "ok", "ricordo_serving, bound by row-level security")


def _indexes(checkup: Checkup) -> Finding:
    missing, invalid = checkup.indexes()
    if missing:
        todo = "make them anew as alembic/versions has them, or restore a backup"
        return Finding("indexes", "fail", f"missing: {_names(missing)}", todo)
    if invalid:
        return Finding("indexes", "fail", f"not valid: {_names(invalid)}", f"REINDEX INDEX CONCURRENTLY {invalid[0]}")
    return Finding("indexes", "ok", "all there and valid")


def _statistics(checkup: Checkup) -> Finding:
    stale = checkup.statistics()
    if stale:
        return Finding("statistics", "warn", f"out of date: {_names(stale)}", "ANALYZE; and see that autovacuum runs")
    return Finding("statistics", "ok", "up to date")


def _queue(checkup: Checkup) -> Finding:
    state = checkup.queue()
    said = f"{state.waiting:,} jobs due, the oldest for {state.oldest_s:,.0f} s, {state.failed:,} failed"
    if not state.workers and state.waiting:
        return Finding(
            "queue", "fail", f"{said}; no worker lives", "run the service with a worker, or `ricordo worker`"
        )
    if state.failed:
        return Finding("queue", "warn", said, "GET /api/v1/jobs?state=failed says why; POST /jobs/{id}/retry")
    if state.stalled or state.oldest_s >= SLOW_SECONDS:
        return Finding("queue", "warn", said, "run another `ricordo worker`, or raise RICORDO_WORKER_CONCURRENCY")
    return Finding("queue", "ok", f"{said}; {state.workers} workers")


_STORE: Final = (_database, _extension, _schema, _role, _indexes, _statistics, _queue)


async def _embedder(settings: Settings, models: list[tuple[str, int, bool]]) -> Finding:
    """Whether the settings' embedder loads, answers, and is the store's."""
    try:
        async with open_embedder(settings) as embedder:
            vector = await asyncio.wait_for(embedder.embed_query("Does it work?"), settings.embedder_timeout_ms / 1000)
    except (ConfigurationError, UnavailableError, TimeoutError) as error:
        return Finding("embedder", "fail", _first_line(error) or "it does not answer", "see docs/embedders.md")
    said = f"{embedder.name}, {len(vector)} dimensions"
    current = next((name for name, _, is_current in models if is_current), None)
    if len(vector) != embedder.dimensions:
        return Finding("embedder", "fail", f"{said}, but {embedder.dimensions} were promised", "see docs/embedders.md")
    if current is not None and (embedder.name, len(vector)) not in {(name, length) for name, length, _ in models}:
        todo = "set RICORDO_EMBEDDER to the store's model, or move the store: `ricordo reembed --to …`"
        return Finding("embedder", "fail", f"{said}; the store was filled with {current}", todo)
    if len(models) > 1:
        todo = "`ricordo reembed --status`, then --finish"
        return Finding("embedder", "warn", f"{said}; the store changes from one model to another", todo)
    return Finding("embedder", "ok", said)


async def _redis(settings: Settings) -> Finding | None:
    if settings.redis_url is None:
        return None
    try:
        client = connect_redis(settings.redis_url.get_secret_value())
    except ValueError:
        return Finding("redis", "fail", "RICORDO_REDIS_URL is no Redis URL", "redis://host/0")
    try:
        await asyncio.wait_for(ping_redis(client), _TIMEOUT_S)
    except (UnavailableError, TimeoutError):
        todo = "start Redis, or unset RICORDO_REDIS_URL: Postgres holds working memory then"
        return Finding("redis", "fail", "it does not answer", todo)
    finally:
        await client.aclose()
    return Finding("redis", "ok", "it answers")


async def _llm(settings: Settings) -> Finding | None:
    if settings.llm_url is None:
        return None
    if settings.llm_model is None:
        return Finding("llm", "fail", "it has no model", "set RICORDO_LLM_MODEL to the server's name of the model")
    key = settings.llm_api_key
    return await _server("llm", settings.llm_url, None if key is None else key.get_secret_value())


async def _upstream(settings: Settings) -> Finding | None:
    return None if settings.upstream_url is None else await _server("upstream", settings.upstream_url, None)


async def _server(part: str, url: str, key: str | None) -> Finding:
    """Whether a model server answers. One that asks for a key that is another's to give is there."""
    variable = f"RICORDO_{part.upper()}_URL"
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
            reply = await client.get(f"{url.rstrip('/').removesuffix('/chat/completions')}/models", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Finding(
            part, "fail", f"no answer ({type(error).__name__})", f"see that {variable} names a server that runs"
        )
    if reply.is_server_error:
        return Finding(part, "fail", f"it answers with {reply.status_code}", "look at the model server")
    if part == "llm" and reply.status_code in {401, 403}:
        return Finding(part, "fail", "it refuses the key", "set RICORDO_LLM_API_KEY to a valid one")
    return Finding(part, "ok", "it answers")


def _disk(settings: Settings) -> Finding:
    folder = next(path for path in (settings.data_dir.resolve(), *settings.data_dir.resolve().parents) if path.exists())
    free = shutil.disk_usage(folder).free
    said = f"{free / (1 << 30):,.1f} GiB free at {folder}"
    if free < _FULL_BYTES:
        return Finding("disk", "fail", said, "make room: a full disk stops the database")
    if free < _NEARLY_FULL_BYTES:
        return Finding("disk", "warn", said, "make room soon")
    return Finding("disk", "ok", said)


async def _port(settings: Settings) -> Finding:
    """Whether the port is free, or the service answers there."""
    place = f"{settings.host}:{settings.port}"
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)  # noqa: S104 - whom to ask
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
            reply = await client.get(f"http://{host}:{settings.port}/health/ready")
            version, ready = reply.headers.get("ricordo-version"), reply.json() if reply.content else {}
    except httpx.ConnectError:
        return Finding("port", "ok", f"{place} is free; the service does not run")
    except (httpx.HTTPError, ValueError):
        version, ready = None, {}
    if version is None:
        return Finding(
            "port", "fail", f"another program listens on {place}", "stop it, or set RICORDO_PORT to another port"
        )
    status = ready.get("status") if isinstance(ready, dict) else None
    said = f"version {version} serves on {place} and is {status}"
    if status == "ok":
        return Finding("port", "ok", said)
    why = ready.get("why") if isinstance(ready, dict) else None
    return Finding("port", "warn", said, "; ".join(why) if isinstance(why, list) and why else "see GET /health/ready")


def _key(settings: Settings) -> Iterator[Finding]:
    """Whether the first key is the owner's alone."""
    path: Path = key_path(settings.data_dir)
    if settings.api_key is None and path.exists():
        is_private = path.stat().st_mode & 0o077 == 0
        todo = "" if is_private else f"chmod 600 {path}, and revoke the key if somebody may have read it"
        yield Finding(
            "key", "ok" if is_private else "fail", f"{path} is {'private' if is_private else 'open to others'}", todo
        )


def _names(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
