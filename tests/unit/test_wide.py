"""The column file of a wide trace holds what reading its text gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.wide import write_wide
from tests.wide import write_columns
from torch_tb_profiler.trace import Trace, column_file, read_trace
from torch_tb_profiler.trace.schema import DeviceWork, Events, Launches, OperatorRanges, TraceTable


def values(trace: Trace, kind: type[TraceTable], column: str) -> npt.NDArray[np.generic]:
    """As the file says them, not as one of its readers numbers them."""
    found = trace.table(kind).columns()[column]
    if column == "name":
        return np.array([trace.strings[code] for code in found.tolist()])
    if column == "track":
        return np.array([[trace.tracks[number].pid, trace.tracks[number].tid] for number in found.tolist()])
    return found + trace.origin_ns if column == "start" else found


@pytest.mark.parametrize("kind", [Events, OperatorRanges, Launches, DeviceWork])
def test_columns_are_those_of_the_text(tmp_path: Path, kind: type[TraceTable]) -> None:
    with write_wide(1200, tmp_path).open("rb") as text:
        read = read_trace(text)
    write_columns(1200, tmp_path / "columns")
    made = column_file.open_trace(tmp_path / "columns")
    assert len(made.events) == 1200
    for column in kind.column_names():
        np.testing.assert_array_equal(values(made, kind, column), values(read, kind, column), column)
