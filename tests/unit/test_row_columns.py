"""Columns of lists whose rows are structs."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.row_columns import ROWS, Labelled, row_columns


class Lap(msgspec.Struct, frozen=True):
    """A lap.

    duration_ns  from line to line,
                 without stops
    row          not shown
    is_last      whether another follows
    """

    duration_ns: Annotated[Ns | None, Labelled("Duration")]
    row: int
    is_last: Annotated[bool, Labelled("Last", hidden=True)]


def test_a_labelled_field_is_a_column_with_the_text_of_the_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROWS, "lap", Lap)
    assert row_columns("lap") == (
        Definition("duration_ns", "Duration", "number", "ns", "From line to line, without stops.", "lap.duration_ns"),
        Definition("is_last", "Last", "bool", None, "Whether another follows.", "lap.is_last", True),
    )
