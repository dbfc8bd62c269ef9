"""JSON Schemas, as OpenAPI 3.1 has them, made of the types of answers.

Every field is required unless it may be UNSET; its description is the line of the class's docstring.
"""

from __future__ import annotations

import inspect as python_inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, inspect

from torch_tb_profiler.analysis.answer import field_texts, own_docstring
from torch_tb_profiler.analysis.question import JsonShape, Question
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.analysis.tabular import Column

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
    """Add a description."""
    return {**schema, "description": description}


def nullable(schema: Json) -> Json:
    """Allow null as well."""
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
    """Return the schema of an object whose keys are data."""
    found: Json = {"type": "object", "additionalProperties": values}
    return found if description is None else described(found, description)


def closed(properties: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> Json:
    """Return the schema of an object with these properties and no others; all but `optional` are required."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


_TEMPLATE = COMPONENT.format(kind="schemas", name="{name}")

_CELL: Json = {"type": ["string", "number", "boolean", "null"]}
ROWS: Json = map_of(list_of(_CELL), "By column key: a list each, all of the same length.")


def types_of(questions: Iterable[Question]) -> list[Any]:
    """List the types of all answers; for a table, that of its metadata."""
    found = [question.answer for question in questions if _is_typed(question.answer)]
    return [Column, *dict.fromkeys(meta_of(each) or each for each in found)]


def _is_typed(answer: Any) -> bool:
    return answer is not bytes and not isinstance(answer, JsonShape)


def schema_of(answer: Any) -> Json:
    """Return the schema of an answer, which refers to its component."""
    if isinstance(answer, JsonShape):
        return dict(answer.schema)
    meta = meta_of(answer)
    if meta is None:
        return ref(answer.__name__)
    return closed(
        {
            "meta": described(ref(meta.__name__), "the metadata of the table"),
            "columns": list_of(ref(Column.__name__), "the columns, in order"),
            "rows": described(ref("Rows"), "the cells of the page, by column key"),
        }
    )


def components(types: Sequence[Any]) -> dict[str, Json]:
    """Return the schemas of types and of all that they hold, by class name. Raises ValueError: two classes have one
    name.
    """
    _, found = msgspec.json.schema_components(types, ref_template=_TEMPLATE, schema_hook=lambda _: ANY_JSON)
    classes: dict[str, type] = {}
    for each in _classes(inspect.multi_type_info(types)):
        if classes.setdefault(each.__name__, each) is not each:
            raise ValueError(f"{each.__module__} and {classes[each.__name__].__module__} both have a {each.__name__}")
    return {"Rows": ROWS, **{name: _described(schema, classes.get(name)) for name, schema in found.items()}}


def _described(schema: Json, of: type | None) -> Json:
    if "properties" not in schema or of is None:
        return schema
    docstring = python_inspect.cleandoc(own_docstring(of))
    texts = field_texts(of)
    optional = _unset_fields(of)
    properties = {name: _property(field, texts.get(name)) for name, field in schema["properties"].items()}
    found = closed(
        {name: field for name, field in properties.items() if name not in optional},
        {name: field for name, field in properties.items() if name in optional},
    )
    summary = " ".join(docstring.split("\n\n")[0].split())
    return {**found, "description": summary} if summary else found


def _property(schema: Json, text: str | None) -> Json:
    schema = {key: value for key, value in schema.items() if key != "default"}
    if text is None:
        return schema
    unit = schema.get("description")
    return {**schema, "description": f"{text} ({unit})" if unit and "$ref" not in schema else text}


def _unset_fields(of: type) -> set[str]:
    """List fields that are left out when they are UNSET, which `inspect` does not tell."""
    if not issubclass(of, msgspec.Struct):
        return set()
    return {field.encode_name for field in msgspec.structs.fields(of) if field.default is UNSET}


def _classes(found: Iterable[inspect.Type]) -> Iterator[type]:
    """Yield all classes below some types, each once."""
    seen: set[type] = set()
    waiting = list(found)
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect.StructType | inspect.DataclassType):
            if kind.cls in seen:
                continue
            seen.add(kind.cls)
            yield kind.cls
            waiting += [field.type for field in kind.fields]
        elif isinstance(kind, inspect.Metadata):
            waiting.append(kind.type)
        elif isinstance(kind, inspect.UnionType):
            waiting += kind.types
        elif isinstance(kind, inspect.TupleType):
            waiting += kind.item_types
        elif isinstance(kind, inspect.DictType):
            waiting.append(kind.value_type)
        elif isinstance(kind, inspect.CollectionType):
            waiting.append(kind.item_type)
