"""Brings a database to the schema of this version; several processes may try at once."""

from pathlib import Path

import psycopg

SCRIPTS = Path(__file__).resolve().parents[2] / "alembic"
_LOCK = 7_263_001_442
"""Key of the advisory lock that lets one process migrate while the others wait."""


class UnknownSchemaError(Exception):
    """The database was migrated by a version that this one does not know. The message is one line."""


def migrate(database_url: str) -> None:
    """Run the migrations that are missing.

    Args:
        database_url: A libpq connection string or URL whose user may create tables and roles.

    Raises:
        psycopg.Error: If the database does not answer, or refuses.
        UnknownSchemaError: If a later version of Ricordo migrated it.
    """
    if not _is_current(database_url):
        _upgrade(database_url)


def _is_current(database_url: str) -> bool:
    """Whether the newest migration has been run: looked up without Alembic, as it is at nearly every start."""
    newest = newest_version()
    with psycopg.connect(database_url) as connection:
        try:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        except psycopg.errors.UndefinedTable:
            return False
    return found == [(newest,)]


def newest_version() -> str:
    """The schema's version that this program works with."""
    return max(path.name.partition("_")[0] for path in (SCRIPTS / "versions").glob("[0-9]*.py"))


def _upgrade(database_url: str) -> None:
    # Imported where they are needed: they take a fifth of a second, a tenth of a start.
    import sqlalchemy  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    from alembic import command  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(database_url), poolclass=NullPool
    )
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_lock({_LOCK})")
            connection.commit()
            try:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                connection.commit()
            finally:
                connection.rollback()
                connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_LOCK})")
                connection.commit()
    except CommandError as error:
        raise UnknownSchemaError(f"the database has a schema that this version does not know: {error}") from error
    except sqlalchemy.exc.DBAPIError as error:
        raise error.orig or error from error
