"""docs/settings.md lists every setting as app/settings.py has it."""

import re
from typing import Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from app.settings import PREFIX, Settings
from tests.docs.blocks import ROOT

PATH = ROOT / "docs" / "settings.md"
TABLE = re.compile(r"(<!-- settings: [^\n]* -->\n).*?(<!-- end of settings -->)", re.DOTALL)


def test_the_table_of_settings_is_that_of_the_code(request):
    document = PATH.read_text(encoding="utf-8")
    fresh = TABLE.sub(lambda found: f"{found[1]}\n{_table()}\n{found[2]}", document)
    if request.config.getoption("--update-golden"):
        PATH.write_text(fresh, encoding="utf-8")
        document = fresh
    assert document == fresh


def test_every_setting_says_what_it_is_for():
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def _table() -> str:
    rows = ["| variable | default | what it sets |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        description = " ".join((field.description or "").split()).replace("|", "\\|")
        rows.append(f"| `{PREFIX}{name.upper()}` | {_default(field)} | {_named(description)}{_values(field)} |")
    return "\n".join(rows) + "\n"


def _named(description: str) -> str:
    """Other settings by the names of their variables."""
    return re.sub(
        r"`(\w+)`", lambda m: f"`{PREFIX}{m[1].upper()}`" if m[1] in Settings.model_fields else m[0], description
    )


def _default(field: FieldInfo) -> str:
    return "none" if field.default in (None, "") else f"`{field.default}`"


def _values(field: FieldInfo) -> str:
    """What is allowed, where it is not said by the type alone."""
    kinds = [kind for kind in (field.annotation, *get_args(field.annotation)) if kind is not None]
    if get_origin(field.annotation) is Literal:
        return " One of " + ", ".join(f"`{value}`" for value in get_args(field.annotation)) + "."
    if any(isinstance(kind, type) and issubclass(kind, SecretStr | BaseModel) for kind in kinds):
        return ""
    bounds = {type(bound).__name__: bound for bound in field.metadata}
    low, high = (getattr(bounds.get(name), name.lower(), None) for name in ("Ge", "Le"))
    if low is None:
        return ""
    return f" {low:g} to {high:g}." if high is not None else f" At least {low:g}."
