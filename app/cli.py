"""The `ricordo` command."""

import os

# Before anything imports numpy: threads that fight over the cores make an assembly's cosines 16 ms instead of 0.3.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson
import psycopg
import pydantic
import typer
from pydantic_settings import SettingsError
from uvicorn.loops.auto import auto_loop_factory

from app import changing, consolidating
from app.api.openapi import VERSION
from app.changing import Meter
from app.consolidation.service import Progress, Report
from app.doctor import examine
from app.domain.callers import ROLES, Caller, NewKey, Role
from app.domain.errors import UnavailableError
from app.domain.spaces import SpaceKey, check_space
from app.embedding.measure import measure
from app.embedding.pairs import built_in_pairs, read_pairs
from app.embedding.report import report
from app.importing.formats import Format, format_of, opened_items
from app.importing.items import Bad, BrokenFileError, Choices, Item
from app.importing.service import Import, Outcome
from app.logs import configure_logging
from app.reembed.service import ModelStatus
from app.runtime import (
    DEFAULT_TENANT,
    ConfigurationError,
    kept_key,
    open_database,
    open_embedder,
    open_keys,
    open_runtime,
)
from app.sample import SampleError, show_sample
from app.serving import serve as serve_until_stopped
from app.serving import work as work_until_stopped
from app.settings import MeasuredModel, Settings
from app.store.bringing import Brought
from app.store.embedded import EmbeddedPostgresError
from app.store.exported import TransferError, lines_of, space_of, survey
from app.store.keys import KeyDescription
from app.store.migrate import UnknownSchemaError
from app.store.models import ModelRow, WrongModelError
from app.store.transfer import PostgresTransfer

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
keys = typer.Typer(no_args_is_help=True, help="API keys: create, list and revoke them. The service may be running.")
app.add_typer(keys, name="keys")

Tenant = Annotated[str, typer.Option(help="Whose keys: the name of the tenant.")]


def main() -> None:
    """Run the command; what an operator can mend is one line, not a traceback."""
    configure_logging()
    app()


@app.command()
def serve(
    sample: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Fill an empty store from this folder, and show a prompt."),
    ] = None,
) -> None:
    """Start the service. RICORDO_* variables configure it (docs/settings.md)."""

    async def work(settings: Settings) -> None:
        shown = None
        if sample is not None:
            shown = partial(show_sample, settings=settings, folder=sample, now=datetime.now(UTC))
        await serve_until_stopped(settings, shown)

    _run(work)


@app.command()
def worker() -> None:
    """Work on what was said, without serving (services set RICORDO_WORKER=none). SIGINT or SIGTERM stops it."""
    _run(work_until_stopped)


@app.command("mcp")
def serve_model(
    url: Annotated[
        str | None, typer.Option(help="The running service. None: the one of RICORDO_HOST and PORT.")
    ] = None,
    space: Annotated[str | None, typer.Option(help="Whose memory it is when a tool names no space.")] = None,
) -> None:
    """Give a model its memory over stdio (Model Context Protocol), from a running service.

    The key is RICORDO_API_KEY, which may be a token of one space, or the one in RICORDO_DATA_DIR.
    """
    named = None if space is None else _space(space)

    async def work(settings: Settings) -> None:
        given = settings.api_key
        key = kept_key(settings.data_dir) if given is None else given.get_secret_value()
        from app.mcp_server.server import serve_stdio  # noqa: PLC0415 - the SDK takes 0.6 s to load

        await serve_stdio(url or f"http://{settings.host}:{settings.port}", key, named, VERSION)

    _run(work)


@app.command("doctor")
def see_doctor(*, as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """Look for what keeps the service from working well, and say what to do. Nothing is changed; 1 on a failure."""

    async def work(settings: Settings) -> None:
        found = await examine(settings)
        if as_json:
            typer.echo(orjson.dumps([asdict(one) for one in found], option=orjson.OPT_INDENT_2).decode())
        else:
            for one in found:
                typer.echo(one.line())
        if any(one.state == "fail" for one in found):
            sys.exit(1)

    _run(work)


@app.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""

    async def work(settings: Settings) -> None:
        async with open_database(settings):
            typer.echo("The database is up to date.")

    _run(work)


@keys.command("create")
def create_key(
    role: Annotated[Literal["reader", "writer", "editor", "administrator"], typer.Option(help="What it may do.")],
    name: Annotated[str, typer.Option(help="What it is for.")],
    space: Annotated[list[str] | None, typer.Option(help="Limit it to a space; repeatable.")] = None,
    tenant: Tenant = DEFAULT_TENANT,
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="After how many days it expires.")] = None,
) -> None:
    """Make a key, and the tenant if there is none of that name. The key is shown once."""
    spaces = tuple(_space(value) for value in space) if space else None
    wanted = NewKey(name, ROLES[role], spaces, None if days is None else days * 86_400.0)

    async def work(settings: Settings) -> None:
        async with open_keys(settings, tenant, create=True) as (tenant_id, store):
            issued = await store.issue(tenant_id, wanted)
        typer.echo(issued.key)

    _run(work)


@keys.command("list")
def list_keys(tenant: Tenant = DEFAULT_TENANT) -> None:
    """List the keys and tokens of a tenant, never the secrets: one a line, fields separated by tabs."""

    async def work(settings: Settings) -> None:
        async with open_keys(settings, tenant) as (tenant_id, store):
            for key in await store.listing(tenant_id):
                typer.echo(_key_line(key))

    _run(work)


@keys.command("revoke")
def revoke_key(
    prefix: Annotated[str, typer.Argument(help="The start of the key, as `keys list` shows it.")],
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Revoke a key or token: refused from now on, by running servers within seconds."""

    async def work(settings: Settings) -> None:
        async with open_keys(settings, tenant) as (tenant_id, store):
            if not await store.revoke(tenant_id, prefix):
                raise ConfigurationError(f"no valid key of the tenant {tenant} starts with {prefix}")
        typer.echo(f"Revoked {prefix}.")

    _run(work)


@app.command("export")
def export_space(
    space: Annotated[str, typer.Argument(help="The space, such as user:42.")],
    out: Annotated[Path, typer.Option(help="The file to write; it must not be there yet.")],
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Write a space to a file of JSON lines: every version and scope. The service may be running."""
    name = _space(space)

    async def work(settings: Settings) -> None:
        lines = 1
        async with open_keys(settings, tenant) as (tenant_id, store):
            exported = PostgresTransfer(store.pool).export(SpaceKey(tenant_id, name))
            header = await anext(exported)
            with out.open("xb") as file:
                file.write(header)
                async for line in exported:
                    file.write(line)
                    lines += 1
                    if lines % 1000 == 0:
                        typer.echo(f"{lines:,} lines", err=True)
        typer.echo(f"{lines:,} lines of {name} are in {out}.")

    _run(work)


@app.command("import")
def import_space(  # noqa: PLR0917 - typer calls it by name
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="An export, or - see docs/importing.md.")],
    space: Annotated[str | None, typer.Option(help="Into which space; where the file says by default.")] = None,
    tenant: Tenant = DEFAULT_TENANT,
    kind: Annotated[
        Format | None, typer.Option("--format", help="What the file is; by default what it looks like.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="For a chat log: the conversation's name.")] = None,
    agent: Annotated[str | None, typer.Option(help="For a chat log: who in it is the agent.")] = None,
    zone: Annotated[str, typer.Option(help="The time zone of times that name none, such as Europe/Rome.")] = "UTC",
    dates: Annotated[
        Literal["day-first", "month-first"] | None, typer.Option(help="For a chat log: how to read 3/4/2024.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of the file, if it is no Unicode.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only read the file, and say what is in it.")] = False,
) -> None:
    """Read what `ricordo export`, ChatGPT, mem0, SillyTavern or a chat program wrote.

    What was forgotten here stays away; what is here already stays as it is. It can be stopped and run again.
    """
    wanted = None if space is None else _space(space)
    try:
        found = kind or format_of(file, encoding)
        choices = Choices(
            name=file.stem,
            zone=ZoneInfo(zone),
            space=wanted,
            session=session,
            agent=agent,
            day_first=None if dates is None else dates == "day-first",
        )
    except (BrokenFileError, OSError) as error:
        _fail(f"{file}: {error}")
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise typer.BadParameter(f"--zone: {error}") from error
    if found is not Format.RICORDO:
        _import_foreign(file, found, choices, tenant, encoding, dry_run=dry_run)
        return
    _import_own(file, wanted, tenant, dry_run=dry_run)


def _import_own(file: Path, wanted: str | None, tenant: str, *, dry_run: bool) -> None:
    """Bring an exported space; without a store, only say what is in the file."""
    lines, shown = partial(lines_of, file), 0

    def report(number: int, why: str) -> None:
        _tell_bad(Bad(f"line {number}", why))

    def progress(done: Brought) -> None:
        nonlocal shown
        if done.read // 1_000 > shown:
            shown = done.read // 1_000
            typer.echo(f"{done.read:,} of {done.lines:,} lines", err=True)

    async def work(settings: Settings) -> None:
        space = wanted or space_of(lines)
        if dry_run:
            found = survey(lines, SpaceKey(UUID(int=0), space), report)
            done = Brought(found.lines, rows=dict(found.rows), bad=len(found.bad))
        else:
            async with open_keys(settings, tenant, create=True) as (tenant_id, _):
                target = SpaceKey(tenant_id, space)
            async with open_runtime(settings) as runtime:
                done = await runtime.transfer.bring(target, lines, runtime.entries.embedders, report, progress)
        for line in _brought_lines(space, done, dry_run=dry_run):
            typer.echo(line)
        if done.bad:
            sys.exit(1)

    _run(work)


def _brought_lines(space: str, done: Brought, *, dry_run: bool) -> Iterator[str]:
    named = {name.replace("_", " "): count for name, count in done.rows.items() if count}
    said = ", ".join(f"{count:,} {name}" for name, count in named.items()) or "nothing"
    yield f"{'Would bring' if dry_run else 'Brought'} into {space}: {said}."
    rest = {"here already": done.known, "forgotten here": done.forgotten, "bad": done.bad}
    if any(rest.values()):
        yield "Beside: " + ", ".join(f"{count:,} {what}" for what, count in rest.items() if count) + "."


def _tell_bad(bad: Bad) -> None:
    typer.echo(f"{bad.where}: {bad.why}".encode("ascii", "backslashreplace").decode(), err=True)


def _import_foreign(
    file: Path, kind: Format, choices: Choices, tenant: str, encoding: str | None, *, dry_run: bool
) -> None:
    if kind in {Format.CHATGPT, Format.CHAT} and choices.space is None:
        raise typer.BadParameter("--space: say whose chat it is, such as user:42 or stream:kitchen")

    async def work(settings: Settings) -> None:
        try:
            with opened_items(file, kind, choices, encoding) as (items, read):
                done = await _bring(settings, None if dry_run else tenant, items, read)
        except BrokenFileError as error:
            raise ConfigurationError(
                f"{file}: {error}. What came before is in; run it again once that is mended"
            ) from error
        for line in done.lines(dry_run=dry_run):
            typer.echo(line)
        if done.bad:
            sys.exit(1)

    _run(work)


async def _bring(settings: Settings, tenant: str | None, items: Iterator[Item], read: Callable[[], float]) -> Outcome:
    """Write items for a tenant; for none, only say what would be written."""

    def progress(done: Outcome) -> None:
        if done.read and done.read % 1_000 == 0:
            typer.echo(f"{done.read:,} items, {read():.0%} of the file", err=True)

    now = datetime.now(UTC)
    if tenant is None:
        return await Import(None, None, now, _tell_bad).bring(items, progress)
    async with open_keys(settings, tenant, create=True) as (tenant_id, _):
        caller = Caller(tenant_id, Role.ADMINISTRATOR)
    async with open_runtime(settings) as runtime:
        return await Import(caller, runtime, now, _tell_bad).bring(items, progress)


@app.command()
def calibrate(
    pairs: Annotated[
        Path | None, typer.Option(help="JSON lines of language, kind, a, b (docs/embedders.md). None: built-in ones.")
    ] = None,
) -> None:
    """Measure the embedder that RICORDO_EMBEDDER names, and print its calibration."""

    async def work(settings: Settings) -> None:
        try:
            known = built_in_pairs() if pairs is None else read_pairs(pairs.read_bytes())
            bundled = settings.model_copy(update={"embedder": "bundled"})
            async with open_embedder(settings) as embedder, open_embedder(bundled) as reference:
                typer.echo(report(embedder.model, await measure(embedder, reference, known)))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"cannot calibrate: {error}") from error

    _run(work)


@app.command()
def reembed(  # noqa: PLR0917 - typer calls it by name
    to: Annotated[
        Literal["bundled", "e5", "bge-m3", "http"] | None, typer.Option(help="Move every space to this model.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="With --to: as RICORDO_EMBEDDER_MODEL.")] = None,
    url: Annotated[str | None, typer.Option(help="With --to: as RICORDO_EMBEDDER_URL.")] = None,
    query_prefix: Annotated[str, typer.Option(help="With --to: as RICORDO_EMBEDDER_QUERY_PREFIX.")] = "",
    document_prefix: Annotated[str, typer.Option(help="With --to: as RICORDO_EMBEDDER_DOCUMENT_PREFIX.")] = "",
    calibration: Annotated[str | None, typer.Option(help="With --to: as RICORDO_EMBEDDER_CALIBRATION.")] = None,
    *,
    back: Annotated[bool, typer.Option("--back", help="Move every space back to the store's current model.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Remove the model that serves no space any more.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Show how each model stands.")] = False,
) -> None:
    """Change the embedding model of a live store, space by space, while services go on (docs/embedders.md)."""
    if [to is not None, back, finish, status].count(True) != 1:
        raise typer.BadParameter("give one of --to, --back, --finish and --status")
    options = _model_options(model, url, query_prefix, document_prefix, calibration)

    async def work(settings: Settings) -> None:
        if status:
            for row, stands in await changing.status(settings):
                typer.echo(_model_line(row, stands))
        elif finish:
            kept, gone, vectors = await changing.finish(settings)
            typer.echo(f"{kept} is the store's model. {gone} is gone, and {vectors:,} vectors with it.")
        else:
            target = None if to is None else changing.Target(to, options)
            moved = await changing.move(settings, target, Meter(partial(typer.echo, err=True), every_s=2.0))
            typer.echo(_moved_lines(moved))

    _run(work)


@app.command()
def consolidate(
    space: Annotated[str, typer.Argument(help="The space, such as user:42.")],
    tenant: Annotated[str, typer.Option(help="Whose space: the name of the tenant.")] = DEFAULT_TENANT,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change and why.")] = False,
) -> None:
    """Put a space in order now, while services go on: merge, supersede, archive. It can be stopped and run again."""
    name = _space(space)

    def show(progress: Progress) -> None:
        typer.echo(progress.line(), err=True)

    async def work(settings: Settings) -> None:
        report, seconds = await consolidating.consolidate(settings, tenant, name, show, dry_run=dry_run)
        if dry_run:
            for change in report.changes:
                typer.echo("\t".join((change.action, change.why, str(change.entry), str(change.kept or "-"))))
        typer.echo(_report_line(report, seconds, dry_run=dry_run))

    _run(work)


def _report_line(report: Report, seconds: float, *, dry_run: bool) -> str:
    figures = ", ".join(f"{count:,} {name}" for name, count in report.figures.items())
    return f"{'Would do' if dry_run else 'Done'} in {seconds:.0f} s: {figures}."


def _model_options(
    model: str | None, url: str | None, query_prefix: str, document_prefix: str, calibration: str | None
) -> dict[str, Any]:
    try:
        measured = calibration and MeasuredModel.model_validate_json(calibration).model_dump(mode="json")
    except pydantic.ValidationError as error:
        raise typer.BadParameter(f"--calibration: {error.errors()[0]['msg']}") from error
    prefixes = {"query_prefix": query_prefix, "document_prefix": document_prefix}
    return {"model": model, "url": url, **prefixes, "calibration": measured}


def _model_line(model: ModelRow, stands: ModelStatus) -> str:
    role = "current" if model.is_current else "other"
    return "\t".join(
        (
            model.name,
            f"{model.dimensions} dimensions",
            role,
            f"serves {stands.spaces:,} spaces",
            f"{stands.lacking:,} texts to go",
        )
    )


def _moved_lines(moved: changing.Moved) -> str:
    done = moved.progress
    said = (
        f"{moved.model} serves every space: {done.moved:,} moved, "
        f"{done.embedded:,} texts embedded in {moved.seconds:.0f} s."
    )
    for other in moved.others:
        said += (
            f"\nThe vectors of {other} are kept, for going back. To end the change, set RICORDO_EMBEDDER to the "
            f"model that serves, restart the services when it suits, and run `ricordo reembed --finish`."
        )
    return said


def _space(name: str) -> str:
    try:
        return check_space(name)
    except ValueError as error:
        raise typer.BadParameter(f"{name}: {error}") from error


def _key_line(key: KeyDescription) -> str:
    state = f"revoked {key.revoked_at:%F %T}" if key.revoked_at else "valid"
    expiry = f"expires {key.expires_at:%F %T}" if key.expires_at else "does not expire"
    spaces = "all spaces" if key.spaces is None else " ".join(key.spaces)
    return "\t".join((key.prefix, key.role, key.name, spaces, f"created {key.created_at:%F %T}", expiry, state))


def _run(work: Callable[[Settings], Coroutine[Any, Any, None]]) -> None:
    try:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(work(Settings()))
    except KeyboardInterrupt:
        sys.exit(130)
    except pydantic.ValidationError as error:
        for problem in error.errors():
            variable, *field = problem["loc"] or [""]
            name = ".".join([f"RICORDO_{variable}".upper(), *map(str, field)]) + ": " if variable else ""
            typer.echo(f"ricordo: {name}{problem['msg'].removeprefix('Value error, ')}", err=True)
        sys.exit(2)
    except SettingsError as error:
        typer.echo(f"ricordo: {_first_line(error)}", err=True)
        sys.exit(2)
    except psycopg.Error as error:
        _fail(_database_trouble(error))
    except _ONE_LINERS as error:
        _fail(_first_line(error))


_ONE_LINERS = (
    EmbeddedPostgresError,
    UnknownSchemaError,
    WrongModelError,
    ConfigurationError,
    SampleError,
    TransferError,
    FileExistsError,
    UnavailableError,
)
"""Errors that say in one line what an operator can mend."""

_HINTS = {
    "42501": "the user must own the database and be allowed to create roles, and the extension vector must be there",
    "0A000": "Ricordo needs the extension vector (pgvector 0.7 or later)",
    "58P01": "Ricordo needs the extension vector (pgvector 0.7 or later)",
    "42704": "Ricordo needs the extension vector (pgvector 0.7 or later)",
}
"""By SQLSTATE: what an operator can do about it."""


def _database_trouble(error: BaseException) -> str:
    """What the database said; an error without a code comes from connecting."""
    code = getattr(error, "sqlstate", None)
    trouble = "cannot connect to the database" if code is None else "the database refuses"
    hint = f" ({_HINTS[code]})" if code in _HINTS else ""
    return f"{trouble}: {_first_line(error)}{hint}"


def _fail(message: str) -> None:
    typer.echo(f"ricordo: {message}", err=True)
    sys.exit(1)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


if __name__ == "__main__":
    main()
