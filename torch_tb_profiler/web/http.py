"""What routes take and give: parameters, answers, errors. Nothing of HTTP itself: worker processes use it, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from functools import cache
from math import isfinite
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import NODEFAULT, inspect
from msgspec.structs import replace

from torch_tb_profiler.codec import convert
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.workspace.cache.answer_store import Packed

JSON = "application/json"
NO_CACHE = "no-cache"
#: the error when the system starts no further thread
NO_THREAD = "the machine has no room for another thread; ask again later"

C = TypeVar("C", bound=str)
N = TypeVar("N", int, None)

#: the largest whole number of a parameter without a bound of its own
_MOST = 2**62
_WHOLE_NUMBER = lazy_pattern(r"-?[0-9]{1,19}")


class HttpError(Exception):
    """An answer other than 200; the message is for a person, `more` stands beside it in the JSON.

    passes: whether the same request may succeed later, so that this error is not kept
    """

    def __init__(self, status: int, message: str, more: dict[str, Any] | None = None, passes: bool = False) -> None:
        super().__init__(message)
        self.passes = passes
        self.status = status
        self.more = more or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error, for a process that answers for another one."""
        return type(self), (self.status, str(self), self.more, self.passes)


def why(reason: Reason) -> dict[str, Any]:
    """Return what lets the page say a message in another language; nothing for a message in English alone."""
    return {} if reason.kind == OTHER else {"why": {"kind": reason.kind, "values": dict(reason.values)}}


class Parameters(msgspec.Struct, frozen=True):
    """The query of a request; the first of equal names counts, an empty value is a value."""

    values: dict[str, str] = msgspec.field(default_factory=dict)

    def need(self, name: str) -> str:
        if name not in self.values:
            raise HttpError(400, f"Must specify {name} in request url")
        return self.values[name]

    def need_all(self, *names: str) -> tuple[str, ...]:
        """Return the values of all names; the error names the first that is missing."""
        return tuple(self.need(name) for name in names)

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def without(self, *names: str) -> Parameters:
        return replace(self, values={name: value for name, value in self.values.items() if name not in names})

    def choice(self, name: str, choices: tuple[C, ...]) -> C:
        """Return one of `choices`; the first when the request does not say."""
        value = self.values.get(name, choices[0])
        for choice in choices:
            if choice == value:
                return choice
        raise HttpError(400, f"{name} must be one of {', '.join(choices)}")

    def whole_number(self, name: str, default: N, least: int = -_MOST, most: int = _MOST) -> int | N:
        """Return a whole number within bounds; `default` when the request does not say."""
        text = self.values.get(name)
        if text is None:
            return default
        number = int(text) if _WHOLE_NUMBER.fullmatch(text) else None
        if number is None or not least <= number <= most:
            raise HttpError(400, f"{name} must be a whole number{_bounds(least, most)}")
        return number


def _bounds(least: int, most: int) -> str:
    """Describe the bounds that mean something: the largest number that is taken at all is of no use to people."""
    if most < _MOST:
        return f" from {least} to {most}"
    return f" of at least {least}" if least > -_MOST else ""


class HttpAnswer(msgspec.Struct, frozen=True):
    """A body and what describes it. One that is packed is sent as it is to clients that take gzip."""

    body: bytes | Packed
    content_type: str = JSON
    cache_control: str = NO_CACHE
    headers: tuple[tuple[str, str], ...] = ()


class Stream(msgspec.Struct, frozen=True):
    """A body that is made while it is sent, and what describes it.

    etag     changes with the content
    open     begins a body, as gzip if its argument is true
    packs    whether the body may be sent as gzip
    prepare  called once before the answer begins, unless the client has it already; raises HttpError and Unavailable
    """

    etag: str
    open: Callable[[bool], Iterable[bytes]]
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    packs: bool = True
    cache_control: str = NO_CACHE
    prepare: Callable[[], None] = lambda: None


P = TypeVar("P", bound=msgspec.Struct)

_DIGITS = lazy_pattern("-?[0-9]{1,100}", re.ASCII)
#: the largest number of a unit of 1000 ns, which is kept as ns in 64 bits
_MOST_THOUSANDS = Decimal(2**63) / 1000


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    found = inspect.type_info(kind)
    assert isinstance(found, inspect.StructType)
    return found.fields


def read_parameters(kind: type[P], parameters: Parameters) -> P:
    """Return the parameters of a question. Raises HttpError: one is missing, or has a value that it cannot have."""
    texts = {name: text for name in kind.__struct_encode_fields__ if (text := parameters.get(name)) is not None}
    try:
        params = convert(texts, kind)
    except msgspec.ValidationError:
        pass  # numbers, and what is wrong: by the types of the fields, which are slow to look up
    else:
        if not any(isinstance(getattr(params, name), Decimal) for name in kind.__struct_fields__):
            return params
    values: dict[str, Any] = {}
    for field in _fields(kind):
        if field.required:
            parameters.need(field.encode_name)
        text = parameters.get(field.encode_name)
        if text is not None:
            values[field.name] = _value(kind, field, text)
    return kind(**values)


def _value(kind: type[msgspec.Struct], field: inspect.Field, text: str) -> Any:
    name, bare = field.encode_name, _bare(field.type)
    if isinstance(bare, inspect.LiteralType):
        if text in bare.values:
            return text
        raise HttpError(400, f"{name} must be one of {', '.join(filter(None, _choices(kind, field.name)))}")
    if isinstance(bare, inspect.IntType):
        if _is_bounded_later(field.type) and _DIGITS.fullmatch(text):
            return min(max(int(text), -_MOST), _MOST)
        return Parameters({name: text}).whole_number(
            name, None, -_MOST if bare.ge is None else bare.ge, _MOST if bare.le is None else bare.le
        )
    if isinstance(bare, inspect.FloatType):
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if isfinite(number) and (bare.ge is None or number >= bare.ge) and (bare.le is None or number <= bare.le):
            return number
        bounds = f" from {bare.ge} to {bare.le}" if bare.ge is not None and bare.le is not None else ""
        raise HttpError(400, f"{name} must be a number{bounds}")
    if isinstance(bare, inspect.DecimalType):
        return _decimal(name, text, field.type)
    assert isinstance(bare, inspect.StrType), f"{kind.__name__}.{name}: queries hold texts, numbers and choices"
    least, most = bare.min_length or 0, bare.max_length
    if len(text) < least or (most is not None and len(text) > most):
        raise HttpError(400, f"{name} must have {least} to {most} characters")
    return text


def _is_bounded_later(kind: inspect.Type) -> bool:
    """Return whether the question itself refuses numbers out of bounds: `Meta(extra={"bounded": …})`."""
    return isinstance(kind, inspect.Metadata) and "bounded" in (kind.extra or {})


def _decimal(name: str, text: str, kind: inspect.Type) -> Decimal:
    """Read an exact number of what `Meta(extra={"unit": …})` says, not larger than nanoseconds in 64 bits can be."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and -_MOST_THOUSANDS < number < _MOST_THOUSANDS:  # abs() rounds, and may overflow
        return number
    unit = (kind.extra or {}).get("unit") if isinstance(kind, inspect.Metadata) else None
    raise HttpError(400, f"{name} must be a number{f' of {unit}' if unit else ''}")


def _bare(kind: inspect.Type) -> inspect.Type:
    """Return a type without its description, and without None."""
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        (kind,) = (_bare(each) for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind


def _choices(kind: type[msgspec.Struct], name: str) -> tuple[str, ...]:
    """Return the values of a parameter, in the order of its declaration, which `inspect` does not keep."""
    hint: Any = get_type_hints(kind)[name]
    while not all(isinstance(value, str) for value in get_args(hint)):
        hint = next(each for each in get_args(hint) if each is not NoneType and not isinstance(each, msgspec.Meta))
    return get_args(hint)


def query_parameters(kind: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """Return the parameters as OpenAPI has them: name, description, schema with bounds, choices and default."""
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
