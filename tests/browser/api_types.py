"""TypeScript types of the API page's schemas: a script that reads a field that the API does not have is refused."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def declarations(document: Mapping[str, Any]) -> str:
    """The schemas of an OpenAPI document as the ambient namespace `Api`, in the order of their names."""
    schemas = document["components"]["schemas"]
    lines = [line for name in sorted(schemas) for line in _declaration(name, schemas[name])]
    return (
        "// Made from the API page by tests/api/test_inspector.py --update-golden.\ndeclare namespace Api {\n"
        + "".join(f"  {line}\n" for line in lines)
        + "}\n"
    )


def _declaration(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    if "properties" not in schema:
        yield f"type {_identifier(name)} = {_type(schema)};"
        return
    yield f"interface {_identifier(name)} {{"
    required = set(schema.get("required", ()))
    for field, inner in schema["properties"].items():
        yield f"  {field}{'' if field in required else '?'}: {_type(inner)};"
    yield "}"


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _identifier(schema["$ref"].rpartition("/")[2])
    if several := schema.get("anyOf", schema.get("oneOf")):
        return " | ".join(dict.fromkeys(_type(inner) for inner in several))
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"Array<{_type(schema.get('items', {}))}>"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties", True)
        return f"Record<string, {_type(values) if isinstance(values, Mapping) else 'any'}>"
    return _SIMPLE.get(schema.get("type", ""), "any")


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
