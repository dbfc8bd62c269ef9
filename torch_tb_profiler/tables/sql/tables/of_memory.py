"""Blocks of memory."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.analysis.memory.blocks import BlockTable, memory_events
from torch_tb_profiler.model import Model
from torch_tb_profiler.tables.sql.columns import SqlColumn, Texts, Values, known, of_definition
from torch_tb_profiler.tables.sql.tables.shared import ROW
from torch_tb_profiler.tables.sql.tables.table import SqlTable

_TEXTS = ("device", "operator", "parent")
_NUMBERS = ("bytes", "alloc_ns", "release_ns", "duration_ns", "alloc_row", "release_row")
_MISSING = {
    "operator": "it was made outside operators, or before the recording",
    "parent": "nothing encloses that operator",
    "alloc_ns": "it was allocated before the recording",
    "release_ns": "its release was not recorded",
    "duration_ns": "one of its ends was not recorded",
}


def _fill(model: Model) -> Mapping[str, Values]:
    found = memory_events(model)
    numbers = {name: getattr(found, name) for name in _NUMBERS}
    return {
        **{name: Texts.of(getattr(found, name)) for name in _TEXTS},
        **{
            name: known(values) if name in BlockTable.missing_below_zero else values for name, values in numbers.items()
        },
    }


MEMORY = SqlTable(
    "memory",
    "a block of memory, with its allocation and its release; recorded with profile_memory",
    (
        *(of_definition(BlockTable.columns[name], _MISSING.get(name, "")) for name in (*_TEXTS, *_NUMBERS[:4])),
        *(
            SqlColumn(f"{end}_row", "number", "row", f"{ROW.meaning}: the {event}", ROW.origin, _MISSING[f"{end}_ns"])
            for end, event in (("alloc", "allocation"), ("release", "release"))
        ),
    ),
    _fill,
)
