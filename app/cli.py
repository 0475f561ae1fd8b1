"""The `ricordo` command."""

import asyncio
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import psycopg
import pydantic
import sqlalchemy
import typer
import uvicorn

from app.logs import configure_logging
from app.main import create_app
from app.runtime import ConfigurationError, open_database, open_runtime
from app.sample import show_sample
from app.settings import Settings
from app.store.embedded import EmbeddedPostgresError
from app.store.models import WrongModelError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command; what an operator can mend is one line, not a traceback."""
    configure_logging()
    app()


@app.command()
def serve(
    sample: Annotated[
        Path | None, typer.Option(help="Fill an empty store from this folder, and show a prompt.")
    ] = None,
) -> None:
    """Start the service. RICORDO_* variables configure it (docs/settings.md)."""
    _run(lambda settings: _serve(settings, sample))


@app.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""

    async def work(settings: Settings) -> None:
        async with open_database(settings):
            typer.echo("The database is up to date.")

    _run(work)


def _run(work: Callable[[Settings], Coroutine[Any, Any, None]]) -> None:
    try:
        asyncio.run(work(Settings()))
    except KeyboardInterrupt:
        sys.exit(130)
    except pydantic.ValidationError as error:
        for problem in error.errors():
            name = "_".join(str(step) for step in problem["loc"]).upper()
            typer.echo(f"ricordo: RICORDO_{name}: {problem['msg']}", err=True)
        sys.exit(2)
    except sqlalchemy.exc.DBAPIError as error:
        _fail(f"the database does not answer or refuses: {_first_line(error.orig or error)}")
    except psycopg.OperationalError as error:
        _fail(f"the database does not answer: {_first_line(error)}")
    except (EmbeddedPostgresError, WrongModelError, ConfigurationError) as error:
        _fail(_first_line(error))


def _fail(message: str) -> None:
    typer.echo(f"ricordo: {message}", err=True)
    sys.exit(1)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else starts.

    Raises:
        ConfigurationError: If it cannot be had.
    """
    try:
        return socket.create_server((settings.host, settings.port), backlog=2048)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror}); set RICORDO_PORT to another port"
        ) from error


async def _serve(settings: Settings, sample: Path | None) -> None:
    listener = _listen(settings)
    async with open_runtime(settings) as runtime:
        config = uvicorn.Config(create_app(runtime), log_level="warning", access_log=False, server_header=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event for this
            await asyncio.sleep(0.01)
        url = f"http://{settings.host}:{settings.port}"
        typer.echo(f"Ricordo listens on {url} (API page: {url}/docs). Ctrl-C stops it.")
        if sample is not None and not serving.done():
            await show_sample(url, settings, sample)
        await serving


if __name__ == "__main__":
    main()
