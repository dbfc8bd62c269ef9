"""Answers: the types that JSON, OpenAPI and the types of the UI are made of, and the definitions of their columns.

An answer is a `msgspec.Struct`. Its fields have a unit at the end of their names (`_ns`, `_bytes`) or as their type,
and are described in the docstring of the class, a line each (`name  what it is`).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace import Note

ColumnType = Literal["string", "number", "bool"]
Unit = Literal["ns", "bytes", "bytes_per_second", "flop", "flop_per_second", "percent", "fraction", "count"]


class Definition(msgspec.Struct, frozen=True):
    """One reported quantity: the key of the HTTP interface, how to show it, and what it is.

    key     its name in answers, with the unit at its end
    label   what a page calls it
    type    of its values
    unit    of its values, null if they have none
    help    definition and formula
    id      of label and help, for translating them: `operators.calls`; put together of a word and of
            texts that exist: `baseline operators.calls`; empty if they exist only in English
    hidden  tables of people and agents leave it out until it is asked for
    """

    key: str
    label: str
    type: ColumnType
    unit: Unit | None
    help: str
    id: str = ""
    hidden: bool | UnsetType = UNSET


def by_key(group: str, *definitions: Definition) -> dict[str, Definition]:
    """Index definitions by their keys; those that have no id yet get one of the group."""
    return {d.key: d if d.id else replace(d, id=f"{group}.{d.key}") for d in definitions}


#: a line of a docstring that says what a field is: `name, other  text`
_FIELD_LINE = lazy_pattern(r"^ *([a-z_]\w*(?:, [a-z_]\w*)*) {2,}(\S.*)$")


def fields_of(docstring: str) -> dict[str, str]:
    """Parse what a docstring says of each field; a text goes on in the lines below that begin under it."""
    texts: dict[str, str] = {}
    names: list[str] = []
    column = 0
    for line in docstring.splitlines():
        match = _FIELD_LINE.match(line)
        if match:
            names, column = match[1].split(", "), match.start(2)
            texts |= dict.fromkeys(names, match[2].strip())
        elif names and line.strip() and len(line) - len(line.lstrip()) == column:
            texts |= {name: f"{texts[name]} {line.strip()}" for name in names}
        else:
            names = []
    return texts


def field_texts(of: type) -> dict[str, str]:
    """Collect what the docstrings of a type and of its bases say of their fields."""
    found: dict[str, str] = {}
    for each in reversed(of.__mro__):
        found |= fields_of(inspect.cleandoc(own_docstring(each)))
    return found


def own_docstring(of: type) -> str:
    """Return the docstring of the type itself; empty if there is none."""
    text = of.__dict__.get("__doc__") or ""
    # dataclasses without a docstring are given their signature
    return "" if text.startswith(f"{of.__name__}(") else text


#: nanoseconds; of points in time since the start of the trace
Ns = Annotated[int, Meta(description="nanoseconds")]

MeanNs = Annotated[float, Meta(description="nanoseconds, a mean")]
#: nanoseconds of a mean or a share
NsMean = Annotated[float, Meta(description="nanoseconds")]
#: milliseconds in four significant digits, for agents
Ms = Annotated[float, Meta(description="milliseconds")]
NS_IN_MS = 1e6
Bytes = Annotated[int, Meta(description="bytes")]
#: bytes of a mean
BytesMean = Annotated[float, Meta(description="bytes")]
#: number of a record of a memory snapshot, -1 before the first
Record = Annotated[int, Meta(ge=-1, description="number of a record; -1 before the first")]
Count = Annotated[int, Meta(ge=0)]
#: 0…1
Fraction = Annotated[float, Meta(description="0…1")]
FractionChange = Annotated[float, Meta(description="the difference of two numbers 0…1")]
#: number of an event in its file
Row = Annotated[int, Meta(ge=0, description="number of an event in its file")]

#: by column key: a list each, all of the same length
Rows = dict[str, list[Any]]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a question is answered with."""


class TraceMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Which trace an answer is about.

    run          name of the run, as in `/api/status`
    worker       name of the process that was recorded
    span         which recording of the worker it is
    device_type  GPU when a device or a call of its API was recorded
    notes        what a person should know about this answer
    """

    run: str
    worker: str
    span: str
    device_type: Literal["GPU", "CPU"]
    notes: Sequence[Note]


class InlineTable(msgspec.Struct, frozen=True, kw_only=True):
    """Rows as parallel lists.

    columns  what the columns are, in order
    rows     by column key: a list each, all of the same length
    """

    columns: Sequence[Definition]
    rows: Rows


def digits(value: float | None) -> float | None:
    """Return a number with four significant digits; None if it is not a number.

    >>> digits(12345.6), digits(float("nan"))
    (12350.0, None)
    """
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")


def plain(values: Any) -> list[Any]:
    """Return a column as Python values."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
