"""Loads the SQL files: named statements, one owner for each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, LiteralString, cast

_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A statement with placeholders $1, $2, ... and the names that they stand for, in their order.

    For a raw cursor, which sends it as it is: psycopg reads a statement of more than 4,096 characters anew
    at every call, and that takes longer than decoding a hundred rows.
    """

    text: LiteralString
    names: tuple[str, ...]

    def values(self, parameters: Mapping[str, Any]) -> list[Any]:
        """The parameters in the order of the placeholders."""
        return [parameters[name] for name in self.names]


def load(aggregate: str) -> Mapping[str, LiteralString]:
    """Read `sql/<aggregate>.sql`: statements by name, each introduced by a line `-- name --`.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a name stands twice.
    """
    text = files("app.store").joinpath("sql", f"{aggregate}.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    names, bodies = parts[::2], parts[1::2]
    if len(set(names)) != len(names):
        raise ValueError(f"a statement of {aggregate}.sql has two definitions")
    statements = {name: body.strip().rstrip(";") for name, body in zip(names, bodies, strict=True)}
    return MappingProxyType({name: cast("LiteralString", body) for name, body in statements.items()})


def numbered(statement: LiteralString) -> Numbered:
    """The statement for a raw cursor."""
    names = tuple(dict.fromkeys(_PLACEHOLDER.findall(statement)))
    text = _PLACEHOLDER.sub(lambda found: f"${names.index(found.group(1)) + 1}", statement).replace("%%", "%")
    return Numbered(text, names)
