"""From the query of a request to the parameters of a question, and what the OpenAPI document says of them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import cache
from math import isfinite
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import NODEFAULT, inspect

from torch_tb_profiler.codec import convert
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.web.http import HttpError, Parameters

P = TypeVar("P", bound=msgspec.Struct)

_DIGITS = lazy_pattern("-?[0-9]{1,100}", re.ASCII)
#: whole numbers without bounds of their own
_LEAST, _MOST = -(2**62), 2**62
#: of units that are a thousand of what is kept in 64 bits
_MOST_THOUSANDS = Decimal(2**63) / 1000


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    found = inspect.type_info(kind)
    assert isinstance(found, inspect.StructType)
    return found.fields


def read_parameters(kind: type[P], parameters: Parameters) -> P:
    """The parameters of a question. Raises HttpError: one is missing, or has a value that it cannot have."""
    asked = {name: text for name in kind.__struct_encode_fields__ if (text := parameters.get(name)) is not None}
    try:
        own = convert(asked, kind)
    except msgspec.ValidationError:
        pass  # numbers, and what is wrong: by the types of the fields, which are slow to look up
    else:
        if not any(isinstance(getattr(own, name), Decimal) for name in kind.__struct_fields__):
            return own
    found: dict[str, Any] = {}
    for field in _fields(kind):
        if field.required:
            parameters.need(field.encode_name)
        text = parameters.get(field.encode_name)
        if text is not None:
            found[field.name] = _value(kind, field, text)
    return kind(**found)


def _value(kind: type[msgspec.Struct], field: inspect.Field, text: str) -> Any:
    name, of = field.encode_name, _bare(field.type)
    if isinstance(of, inspect.LiteralType):
        if text in of.values:
            return text
        raise HttpError(400, f"{name} must be one of {', '.join(filter(None, _choices(kind, field.name)))}")
    if isinstance(of, inspect.IntType):
        if _is_bounded_later(field.type) and _DIGITS.fullmatch(text):
            return min(max(int(text), _LEAST), _MOST)
        return Parameters({name: text}).whole_number(
            name, None, _LEAST if of.ge is None else of.ge, _MOST if of.le is None else of.le
        )
    if isinstance(of, inspect.FloatType):
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if isfinite(number) and (of.ge is None or number >= of.ge) and (of.le is None or number <= of.le):
            return number
        bounds = f" from {of.ge} to {of.le}" if of.ge is not None and of.le is not None else ""
        raise HttpError(400, f"{name} must be a number{bounds}")
    if isinstance(of, inspect.DecimalType):
        return _decimal(name, text, field.type)
    assert isinstance(of, inspect.StrType), f"{kind.__name__}.{name}: queries hold texts, numbers and choices"
    least, most = of.min_length or 0, of.max_length
    if len(text) < least or (most is not None and len(text) > most):
        raise HttpError(400, f"{name} must have {least} to {most} characters")
    return text


def _is_bounded_later(kind: inspect.Type) -> bool:
    """Whether the question itself refuses numbers out of bounds, which it alone knows: `Meta(extra={"bounded": …})`."""
    return isinstance(kind, inspect.Metadata) and "bounded" in (kind.extra or {})


def _decimal(name: str, text: str, kind: inspect.Type) -> Decimal:
    """An exact number of what `Meta(extra={"unit": …})` says, not larger than nanoseconds in 64 bits can be."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and -_MOST_THOUSANDS < number < _MOST_THOUSANDS:  # abs() rounds, and may overflow
        return number
    unit = (kind.extra or {}).get("unit") if isinstance(kind, inspect.Metadata) else None
    raise HttpError(400, f"{name} must be a number{f' of {unit}' if unit else ''}")


def _bare(kind: inspect.Type) -> inspect.Type:
    """Without its description, and without None."""
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        (kind,) = (_bare(each) for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind


def _choices(kind: type[msgspec.Struct], name: str) -> tuple[str, ...]:
    """The values of a parameter, in the order of its declaration, which `inspect` does not keep."""
    hint: Any = get_type_hints(kind)[name]
    while not all(isinstance(value, str) for value in get_args(hint)):
        hint = next(each for each in get_args(hint) if each is not NoneType and not isinstance(each, msgspec.Meta))
    return get_args(hint)


def query_parameters(kind: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """The parameters as OpenAPI has them: name, description, schema with bounds, choices and default."""
    _, components = msgspec.json.schema_components([kind])
    properties = components[kind.__name__]["properties"]
    return [_parameter(kind, field, dict(properties[field.encode_name])) for field in _fields(kind)]


def _parameter(kind: type[msgspec.Struct], field: inspect.Field, schema: dict[str, Any]) -> dict[str, Any]:
    description = schema.pop("description", "")
    if "anyOf" in schema:
        schema = {**next(each for each in schema["anyOf"] if each != {"type": "null"})}
        description = schema.pop("description", description)
    if isinstance(_bare(field.type), inspect.LiteralType):
        schema = {**schema, "type": "string", "enum": list(_choices(kind, field.name))}
    default = field.default
    if default is not NODEFAULT and default is not None and default != "":
        schema["default"] = default
    else:
        schema.pop("default", None)
    found = {"name": field.encode_name, "in": "query", "description": description, "schema": schema}
    return {**found, "required": True} if field.required else found
