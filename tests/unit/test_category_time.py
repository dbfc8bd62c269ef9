"""What a category of the steps is made of: the parts add up to what the overview says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.events import (
    LOADER,
    annotation,
    frame,
    model_of,
    op,
    partly_hidden_all_reduce,
    step_of_every_category,
)
from tests.recorded import model_of as model_of_file
from tests.recorded import sample_traces, short
from torch_tb_profiler.analysis.category_time import category_time
from torch_tb_profiler.analysis.overview import CATEGORIES, step_times
from torch_tb_profiler.model import Model


def parts(model: Model, category: str) -> dict[str | None, int]:
    """µs by name of the event."""
    found = category_time(model, category)
    sums: dict[str | None, int] = {}
    for row, ns in zip(found.row.tolist(), (found.end_ns - found.start_ns).tolist(), strict=True):
        name = model.trace.strings[int(model.trace.events.name[row])] if row >= 0 else None
        sums[name] = sums.get(name, 0) + ns // 1000
    return sums


def assert_adds_up(model: Model) -> None:
    times = step_times(model)
    for category in CATEGORIES:
        found = category_time(model, category)
        length = found.end_ns - found.start_ns
        assert (length > 0).all()
        assert (found.start_ns[1:] >= found.end_ns[:-1]).all(), "pieces are disjoint"
        of_steps = np.bincount(found.step, weights=length, minlength=len(times)).astype(np.int64)
        if category in times.category_ns:
            assert of_steps.tolist() == times.category_ns[category].tolist(), category


def test_the_innermost_operator_has_the_time() -> None:
    model = model_of([annotation("ProfilerStep#1", 0, 100), op("outer", 10, 60), op("inner", 20, 30), op("b", 80, 5)])
    assert parts(model, "cpu_exec") == {"outer": 30, "inner": 30, "b": 5}
    assert_adds_up(model)


def test_of_two_threads_the_first_to_begin_has_the_time() -> None:
    model = model_of([annotation("ProfilerStep#1", 0, 100), op("a", 10, 40), op("b", 30, 40, tid=2)])
    assert parts(model, "cpu_exec") == {"a": 40, "b": 20}


def test_what_an_earlier_category_has_is_not_told_twice() -> None:
    model = model_of(step_of_every_category())
    assert parts(model, "cpu_exec") == {"aten::nll_loss_backward": 35}
    assert parts(model, "dataloader") == {LOADER: 180}
    assert sum(parts(model, "kernel").values()) == 15
    assert_adds_up(model)


def test_communication_is_that_of_its_kernels() -> None:
    model = model_of(partly_hidden_all_reduce())
    assert sum(parts(model, "communication").values()) == 65
    assert None not in parts(model, "communication")
    assert_adds_up(model)


def test_a_library_without_kernels_has_its_calls() -> None:
    model = model_of([annotation("ProfilerStep#1", 0, 100), op("a", 0, 50), annotation("gloo:all_reduce", 40, 30, 2)])
    assert parts(model, "communication") == {"gloo:all_reduce": 30}
    assert_adds_up(model)


def test_other_time_has_the_python_frame_that_ran() -> None:
    events = [annotation("ProfilerStep#1", 0, 100), op("a", 0, 40), frame("train.py(3): loop", 0, 100)]
    model = model_of(events)
    assert parts(model, "other") == {"train.py(3): loop": 60}
    without = model_of(events[:2])
    assert parts(without, "other") == {None: 60}


@pytest.mark.parametrize("path", sample_traces(), ids=short)
def test_the_parts_of_samples_add_up(path: Path) -> None:
    assert_adds_up(model_of_file(path))
