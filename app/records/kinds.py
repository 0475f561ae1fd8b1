"""Kinds of records: each has a JSON schema for its payload, and a sentence for the prompt. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import jsonschema_rs

from app.domain.errors import FieldProblem, InvalidInputError

PAYLOAD_BYTES: Final = 8_192


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record. `text` is a format string over the payload's fields."""

    name: str
    text: str
    validator: jsonschema_rs.Validator

    def sentence(self, payload: Mapping[str, Any]) -> str:
        """What a prompt says of a valid payload."""
        return self.text.format_map(payload)


@cache
def kinds() -> Mapping[str, Kind]:
    """All kinds, by name."""
    raw = json.loads(files("app.records").joinpath("data", "kinds.json").read_text(encoding="utf-8"))
    return {name: Kind(name, one["text"], jsonschema_rs.validator_for(one["schema"])) for name, one in raw.items()}


def check_payload(kind: str, payload: Mapping[str, Any]) -> str:
    """What a prompt says of a payload.

    Raises:
        InvalidInputError: If there is no such kind, or the payload is none of that kind; names the field.
    """
    known = kinds().get(kind)
    if known is None:
        raise InvalidInputError(FieldProblem("kind", f"must be one of {', '.join(kinds())}"))
    try:
        size_bytes = len(json.dumps(payload, ensure_ascii=False).encode())
    except UnicodeEncodeError as error:
        raise InvalidInputError(FieldProblem("payload", "must hold valid Unicode")) from error
    if size_bytes > PAYLOAD_BYTES:
        raise InvalidInputError(FieldProblem("payload", f"must have at most {PAYLOAD_BYTES} bytes, has {size_bytes}"))
    if "\x00" in "".join(_strings(payload)):
        raise InvalidInputError(FieldProblem("payload", "must not contain NUL characters"))
    problems = [
        FieldProblem(".".join(["payload", *map(str, error.instance_path)]), error.message)
        for error in known.validator.iter_errors(payload)
    ]
    if problems:
        raise InvalidInputError(*problems)
    return known.sentence(payload)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in (key, *_strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []
