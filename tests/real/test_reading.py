"""Every event and every column of recorded traces equals what `json.loads` sees."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.recorded import LARGE, traces
from tests.unit.test_reader import check_arguments, check_events
from torch_tb_profiler.trace import read_trace


@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.long)])
def test_recorded_traces_are_read_exactly(shared_traces: Path, large: bool) -> None:
    paths = traces(shared_traces)
    assert len(paths) > 60
    for path in paths:
        if (path.stat().st_size > LARGE) != large:
            continue
        content = path.read_bytes()
        raw = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        with path.open("rb") as stream:
            trace = read_trace(stream)
        assert len(trace.events) == len(raw["traceEvents"]), path
        assert trace.notes == (), path
        if path.parent.name == "v100_absolute_ns_timestamps":
            continue  # json.loads cannot hold its times; test_reader has the exact case
        check_events(trace, raw["traceEvents"])
        check_arguments(trace, raw["traceEvents"])
