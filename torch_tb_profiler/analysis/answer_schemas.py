"""Schemas of answers, from their types: every field always there unless it may be UNSET, described by the docstring."""

from __future__ import annotations

import inspect as python_inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, inspect

from torch_tb_profiler.analysis.field_texts import field_texts, own_docstring
from torch_tb_profiler.analysis.json_schema import ANY_JSON, COMPONENT, Json, closed, described, list_of, map_of, ref
from torch_tb_profiler.analysis.question import JsonShape, Question
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.analysis.table import Column

_TEMPLATE = COMPONENT.format(kind="schemas", name="{name}")

_CELL: Json = {"type": ["string", "number", "boolean", "null"]}
ROWS: Json = map_of(list_of(_CELL), "By column key: a list each, all of the same length.")


def types_of(questions: Iterable[Question]) -> list[Any]:
    """The types of all answers; of a table that of what stands beside it."""
    found = [question.answer for question in questions if _is_typed(question.answer)]
    return [Column, *dict.fromkeys(meta_of(each) or each for each in found)]


def _is_typed(answer: Any) -> bool:
    return answer is not bytes and not isinstance(answer, JsonShape)


def schema_of(answer: Any) -> Json:
    """The schema of an answer, which refers to its component."""
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


def components(types: Sequence[Any], template: str = _TEMPLATE) -> dict[str, Json]:
    """Of the types and of all that they hold, by name of the class. Raises ValueError: two classes have one name.

    template  of a reference to the component called `{name}`
    """
    _, found = msgspec.json.schema_components(types, ref_template=template, schema_hook=lambda _: ANY_JSON)
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
    """Fields that are left out when they are UNSET; `inspect` does not tell."""
    if not issubclass(of, msgspec.Struct):
        return set()
    return {field.encode_name for field in msgspec.structs.fields(of) if field.default is UNSET}


def _classes(found: Iterable[inspect.Type]) -> Iterator[type]:
    """All classes below some types, each once."""
    seen: set[type] = set()
    waiting = list(found)
    while waiting:
        each = waiting.pop()
        if isinstance(each, inspect.StructType | inspect.DataclassType):
            if each.cls in seen:
                continue
            seen.add(each.cls)
            yield each.cls
            waiting += [field.type for field in each.fields]
        elif isinstance(each, inspect.Metadata):
            waiting.append(each.type)
        elif isinstance(each, inspect.UnionType):
            waiting += each.types
        elif isinstance(each, inspect.TupleType):
            waiting += each.item_types
        elif isinstance(each, inspect.DictType):
            waiting.append(each.value_type)
        elif isinstance(each, inspect.CollectionType):
            waiting.append(each.item_type)
