"""Timelines of recorded traces: nothing lost, nothing overlapping, at any zoom."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded import traces
from tests.timelines import check_all
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.timeline.tree import account
from torch_tb_profiler.trace import TraceError, read_trace


@pytest.mark.parametrize("folder", ["saf", "param", "kineto", "TraceLens", "torch213", "HTA", "program"])
def test_recorded_traces(shared_traces: Path, folder: str) -> None:
    files = traces(shared_traces / folder)
    assert files
    read = 0
    for path in files:
        try:
            with path.open("rb") as stream:
                timeline = build(Model(read_trace(stream)))
        except TraceError:
            continue  # says so itself; tests/real/test_reading.py has the list
        read += 1
        check_all(timeline, most_tiles=16)
        found = account(timeline)
        assert (
            found.total == found.slices + found.instants + found.flows + found.counters + found.metadata + found.other
        )
    assert read
