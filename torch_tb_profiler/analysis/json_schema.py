"""Words for JSON Schema, as OpenAPI 3.1 has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

COMPONENT = "#/components/{kind}/{name}"

TEXT: Json = {"type": "string"}
TRUTH: Json = {"type": "boolean"}
WHOLE: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}
LANE: Json = {"type": "integer", "minimum": 0, "description": "number of a lane"}
COUNT: Json = {"type": "integer", "minimum": 0}
BYTES: Json = {"type": "integer", "description": "bytes"}
ANY_JSON: Json = {}


def ref(name: str, kind: str = "schemas") -> Json:
    return {"$ref": COMPONENT.format(kind=kind, name=name)}


def described(schema: Json, description: str) -> Json:
    """The same, with what it is."""
    return {**schema, "description": description}


def nullable(schema: Json) -> Json:
    """The same, or null."""
    kind = schema.get("type")
    if isinstance(kind, str) and "enum" not in schema:
        return {**schema, "type": [kind, "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(*values: str) -> Json:
    return {"type": "string", "enum": list(values)}


def list_of(items: Json, description: str | None = None) -> Json:
    found: Json = {"type": "array", "items": items}
    return found if description is None else described(found, description)


def map_of(values: Json, description: str | None = None) -> Json:
    """An object whose keys are data."""
    found: Json = {"type": "object", "additionalProperties": values}
    return found if description is None else described(found, description)


def closed(properties: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> Json:
    """An object with these properties and no others; all but `optional` are always there."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }
