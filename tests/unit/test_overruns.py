"""Durations that device work cannot have had are cut, in every answer, and a note tells of them."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from tests.events import US, Event, annotation, copy, kernel, launch, model_of, op
from torch_tb_profiler.analysis.device_use import device_summary
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note, read_to_file

STEPS, EACH, GAP, LENGTH = 3, 40, 50, 20


def serial_run() -> list[Event]:
    """Three steps of 2 ms: in each, forty operators launch a kernel of 20 µs every 50 µs."""
    events = [annotation(f"ProfilerStep#{step}", step * EACH * GAP, EACH * GAP) for step in range(STEPS)]
    for i in range(STEPS * EACH):
        events += [op("aten::add", i * GAP, 30), launch(i * GAP + 5, i + 1), kernel(i * GAP + 12, LENGTH, i + 1, "add")]
    return events


def with_duration(events: list[Event], number: int, duration: float) -> list[Event]:
    """number: of the kernel, from 0."""
    rows = [at for at, each in enumerate(events) if each["cat"] == "kernel"]
    return [{**each, "dur": duration} if at == rows[number] else each for at, each in enumerate(events)]


def note_of(model: Model) -> Note | None:
    return next((note for note in troubles(model) if note.kind == "impossible_durations"), None)


@pytest.mark.parametrize("number", [0, 50, 75, STEPS * EACH - 2])
def test_an_impossible_duration_is_cut_in_every_sum(number: int) -> None:
    good, bad = model_of(serial_run()), model_of(with_duration(serial_run(), number, 9_000_000))
    more = (GAP - LENGTH) * US  # until the next one begins
    assert int(kernels(bad).total_ns.sum()) == int(kernels(good).total_ns.sum()) + more
    assert int(operators(bad).device_total_ns.sum()) == int(operators(good).device_total_ns.sum()) + more
    assert (bad.steps.end - bad.steps.start).tolist() == (good.steps.end - good.steps.start).tolist()
    busy = [device_summary(each).busy for each in (good, bad)]
    assert busy[1] == pytest.approx((busy[0] or 0.0) + more / (STEPS * EACH * GAP * US))
    note = note_of(bad)
    assert note is not None
    assert (note.severity, note.count) == ("error", 1)
    assert note.values == {
        "name": "add",
        "start_ns": (number * GAP + 12) * US,
        "recorded_ns": 9_000_000 * US,
        "successors": STEPS * EACH - 1 - number,
        "cut_ns": GAP * US,
        "more": 0,
    }
    assert f"add, {(number * GAP + 12) / 1000:.3f} ms after the start of the trace, took 9 s" in note.text
    assert "cut to 50 µs" in note.text
    assert note_of(good) is None


def test_of_several_the_longest_is_named() -> None:
    model = model_of(with_duration(with_duration(serial_run(), 20, 40_000), 60, 90_000))
    note = note_of(model)
    assert note is not None
    assert (note.count, note.values["recorded_ns"], note.values["more"]) == (2, 90_000 * US, 1)
    assert "So are those of 1 more." in note.text


def test_the_columns_of_a_file_are_cut_alike(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": with_duration(serial_run(), 50, 9_000_000)}).encode()
    trace = read_to_file(BytesIO(text), tmp_path / "columns")
    row = int(trace.overruns.row[0])
    for _ in range(2):
        assert int(trace.events.duration[row]) == GAP * US
        assert int(trace.events.end[row] - trace.events.start[row]) == GAP * US
        trace.forget()


def test_rounding_is_no_overlap() -> None:
    """Files with whole microseconds: each kernel ends 1 µs after the next one began."""
    model = model_of(with_all(serial_run(), GAP + 1))
    assert note_of(model) is None
    assert int(kernels(model).total_ns.sum()) == STEPS * EACH * (GAP + 1) * US


def with_all(events: list[Event], duration: float) -> list[Event]:
    return [{**each, "dur": duration} if each["cat"] == "kernel" else each for each in events]


def test_kernels_of_a_graph_may_run_side_by_side() -> None:
    """One launch: a long kernel in one branch, short ones in another, on one stream."""
    events = [op("replay", 0, 20), launch(5, 1), kernel(20, 10_000, 1, "long")]
    assert note_of(model_of([*events, *(kernel(30 + 50 * i, 40, 1, "short") for i in range(100))])) is None


def test_streams_of_two_processes_under_one_number_are_left_alone() -> None:
    """Long kernels of one, each over many short ones of the other."""
    long = [kernel(600 * i, 590, 1000 + i, "long") for i in range(10)]
    short = [kernel(5 + 50 * i, 40, 1 + i, "short") for i in range(120)]
    assert note_of(model_of([op("a", 0, 10), *long, *short])) is None


def test_a_kernel_that_begins_before_the_one_before_it_is_done_is_left_alone() -> None:
    """Two kernels, the second launched to begin early; nothing else is in the trace."""
    model = model_of([op("a", 0, 10), kernel(12, 900_000, 1), kernel(900_002, 10, 2)])
    assert note_of(model) is None


def test_other_streams_and_unknown_ones_are_no_successors() -> None:
    for stream in (8, -1):
        long = copy(0, 1_000_000, 9999, stream=stream)
        assert note_of(model_of([*serial_run(), long])) is None
