"""What a database says of itself to somebody who looks for what is wrong. Nothing is changed."""

import re
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row

from app.store.migrate import SCRIPTS, newest_version
from app.store.queries import load
from app.store.queue import STALLED_SECONDS, QueueState

_SQL = load("checkup")
_JOBS = load("jobs")

_MADE = re.compile(r"^\s*CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?(\w+)", re.MULTILINE)
_DROPPED = re.compile(r"DROP INDEX (?:IF EXISTS )?(?:\w+\.)?(\w+)")


@dataclass(frozen=True, slots=True)
class Checkup:
    """A connection of the schema's owner."""

    connection: psycopg.Connection[Any]

    def version(self) -> tuple[str, int, str]:
        """The server's version, for people and as a number, and the size of the database."""
        row = self._one("version")
        return row["version"], row["number"], row["size"]

    def extension(self) -> tuple[str | None, str | None]:
        """The version of pgvector that is installed, and the one that could be."""
        row = self._one("extension")
        return row["installed"], row["available"]

    def migration(self) -> tuple[str | None, str]:
        """The schema's version, and this program's; None for a database without a schema."""
        try:
            there = self._one("migration")["version"]
        except psycopg.errors.UndefinedTable:
            there = None
        return there, newest_version()

    def role(self) -> tuple[bool, bool] | None:
        """Whether the serving role is bound by no row-level security, and whether we can become it; None: no role."""
        rows = self._all("role")
        return (rows[0]["is_unbound"], rows[0]["is_ours"]) if rows else None

    def unprotected(self) -> list[str]:
        """Tables of people's data without row-level security."""
        return [row["name"] for row in self._all("unprotected")]

    def indexes(self) -> tuple[list[str], list[str]]:
        """The names of indexes that are missing, and of those that are not valid."""
        found = {row["name"]: row["is_valid"] for row in self._all("indexes")}
        return sorted(_expected() - found.keys()), [name for name, is_valid in found.items() if not is_valid]

    def statistics(self) -> list[str]:
        """Tables that should be analysed."""
        return [row["name"] for row in self._all("statistics")]

    def models(self) -> list[tuple[str, int, bool]]:
        """Name and dimensions of the store's models, the current one first."""
        return [(row["name"], row["dimensions"], row["is_current"]) for row in self._all("model")]

    def queue(self) -> QueueState:
        """How the queue stands."""
        cursor = self.connection.cursor(row_factory=dict_row)
        (row,) = cursor.execute(_JOBS["queue_state"], {"stalled_s": STALLED_SECONDS}).fetchall()
        return QueueState(**row)

    def _one(self, name: str) -> dict[str, Any]:
        return self._all(name)[0]

    def _all(self, name: str) -> list[dict[str, Any]]:
        return self.connection.cursor(row_factory=dict_row).execute(_SQL[name]).fetchall()


def _expected() -> set[str]:
    """The indexes that the migrations make and do not drop again."""
    made: set[str] = set()
    for path in sorted((SCRIPTS / "versions").glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        made |= set(_MADE.findall(text))
        made -= set(_DROPPED.findall(text))
    return made
