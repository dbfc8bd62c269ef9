"""Waits that CUPTI recorded have a table of their own, and the replay goes by them."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np

from tests.events import Event, annotation, event, kernel, launch, model_of
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Edge
from torch_tb_profiler.trace import read_to_file, read_trace


def sync(kind: str, start: float, correlation: int, stream: int, **args: int) -> Event:
    found = event("cuda_sync", kind, start, 1, 7, correlation=correlation, stream=stream, device=0)
    return {**found, "pid": 0, "args": {**found["args"], "cuda_sync_kind": kind, **args}}


def call(name: str, start: float, correlation: int, duration: float = 5) -> Event:
    return {**launch(start, correlation, duration), "name": name}


def two_streams(recorded: bool) -> list[Event]:
    """Stream 9 waits for the first kernel of stream 7, which ends at 70; the second is launched after the event."""
    events = [
        annotation("ProfilerStep#1", 0, 400),
        launch(10, 1),
        kernel(20, 50, 1),
        call("cudaEventRecord", 20, 2),
        launch(30, 3),
        kernel(71, 100, 3),
        call("cudaStreamWaitEvent", 40, 4),
        launch(50, 5),
        kernel(72, 60, 5, stream=9),
    ]
    wait = sync("Stream Wait Event", 45, 4, 9, wait_on_stream=7, wait_on_cuda_event_record_corr_id=2)
    return [*events, wait] if recorded else events


def test_the_table_has_what_was_recorded(tmp_path: Path) -> None:
    events = [
        *two_streams(recorded=True),
        sync("Stream Sync", 200, 8, 7),
        sync("Context Sync", 300, 9, 2**32 - 1, wait_on_stream=2**32 - 1),
    ]
    text = json.dumps({"traceEvents": events}).encode()
    for trace in (read_trace(BytesIO(text)), read_to_file(BytesIO(text), tmp_path / "a.columns")):
        found = trace.syncs
        assert trace.strings.texts(found.kind) == ["Stream Wait Event", "Stream Sync", "Context Sync"]
        assert found.row.tolist() == [9, 10, 11]
        assert found.wait_on_stream.tolist() == [7, -1, -1]
        assert found.record_correlation.tolist() == [2, -1, -1]


def test_a_trace_without_them_has_an_empty_table() -> None:
    assert len(model_of(two_streams(recorded=False)).trace.syncs) == 0


def test_a_recorded_event_names_the_kernel_that_a_stream_waits_for() -> None:
    graph = graph_of(model_of(two_streams(recorded=True)))
    (wait,) = np.flatnonzero(graph.edge == Edge.STREAM_WAIT)
    # 72 µs − 70 µs, the end of the first kernel
    assert (graph.items.start[graph.item[wait]], graph.lag[wait]) == (20_000, 2_000)


def test_without_a_record_a_source_that_ends_too_late_is_refused() -> None:
    """The last kernel launched on stream 7 ends at 171, after its would-be target began: the guess is wrong."""
    graph = graph_of(model_of(two_streams(recorded=False)))
    assert not (graph.edge == Edge.STREAM_WAIT).any()
