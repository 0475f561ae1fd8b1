"""Loads the SQL files: named statements, one owner for each."""

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import LiteralString, cast

_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)


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
