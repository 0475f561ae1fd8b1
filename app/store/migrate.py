"""Brings a database to the schema of this version; several processes may try at once."""

from pathlib import Path

import psycopg
import sqlalchemy
from alembic.config import Config
from sqlalchemy.pool import NullPool

from alembic import command

_ROOT = Path(__file__).resolve().parents[2]
_LOCK = 7_263_001_442
"""Key of the advisory lock that lets one process migrate while the others wait."""


def migrate(database_url: str) -> None:
    """Run the migrations that are missing.

    Args:
        database_url: A libpq connection string or URL whose user may create tables and roles.

    Raises:
        psycopg.OperationalError: If the database does not answer.
        sqlalchemy.exc.DBAPIError: If it refuses; `orig` is psycopg's error.
    """
    config = Config()
    config.set_main_option("script_location", str(_ROOT / "alembic"))
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(database_url), poolclass=NullPool
    )
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
