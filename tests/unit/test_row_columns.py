"""Columns of lists whose rows are structs."""

from __future__ import annotations

from typing import Annotated

import msgspec

from torch_tb_profiler.analysis.answer import Definition, Ns
from torch_tb_profiler.analysis.result import column, definitions_of


class Lap(msgspec.Struct, frozen=True):
    """A lap.

    duration_ns  from line to line,
                 without stops
    row          not shown
    is_last      whether another follows
    """

    duration_ns: Annotated[Ns | None, column("Duration")]
    row: int
    is_last: Annotated[bool, column("Last", hidden=True)]


def test_a_labelled_field_is_a_column_with_the_text_of_the_docstring() -> None:
    assert tuple(definitions_of(Lap, "lap").values()) == (
        Definition("duration_ns", "Duration", "number", "ns", "From line to line, without stops.", "lap.duration_ns"),
        Definition("is_last", "Last", "bool", None, "Whether another follows.", "lap.is_last", True),
    )
