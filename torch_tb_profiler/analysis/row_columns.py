"""Columns of lists whose rows are structs: labels beside the fields, whose meaning the docstring says.

class Owner(msgspec.Struct):
    calls: Annotated[int, Labelled("Calls")]

class Owners(Answer):
    owners: Sequence[Owner]
    columns: Sequence[Definition] = columns_field("owner", Owner)

Annotation and name of a field say type and unit of its column, as in `result`; those without a label have none.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from torch_tb_profiler.analysis.definition import Definition, Unit
from torch_tb_profiler.analysis.field_texts import field_texts
from torch_tb_profiler.analysis.result import type_and_unit

#: rows that have columns, by what the ids of these begin with
ROWS: dict[str, type[msgspec.Struct]] = {}


class Labelled(msgspec.Struct, frozen=True):
    """What a page calls a field; unit and hidden: as of `result.column`."""

    text: str
    unit: Unit | UnsetType | None = UNSET
    hidden: bool = False


def columns_field(group: str, row: type[msgspec.Struct]) -> Any:
    """Declare the field of an answer that says what the columns of its rows are."""
    ROWS[group] = row
    return msgspec.field(default_factory=lambda: row_columns(group))


@cache
def row_columns(group: str) -> tuple[Definition, ...]:
    """Those of the fields that have a label, in the order of their declarations."""
    row, found = ROWS[group], []
    texts, plain, hints = field_texts(row), get_type_hints(row), get_type_hints(row, include_extras=True)
    for name in row.__struct_fields__:
        for label in getattr(hints[name], "__metadata__", ()):
            if isinstance(label, Labelled):
                kind, unit = type_and_unit(name, str(plain[name]), label.unit)
                text = f"{texts[name][0].upper()}{texts[name][1:]}."
                found.append(Definition(name, label.text, kind, unit, text, f"{group}.{name}", label.hidden or UNSET))
    return tuple(found)
