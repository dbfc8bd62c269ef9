"""Steps of recorded traces: their periods, and what is found without marks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorded import SHARED, as_parameters, model_of, sample_traces, shared_model_of, short, traces
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.model import Model

#: programs without marks: the rule, and how many iterations there were
WITHOUT_MARKS = {
    "program/accumulation_plain/worker0.pt.trace.json.gz": ("optimizer", 3),
    "program/compiled_autograd/worker0.pt.trace.json.gz": ("optimizer", 2),
    "param/resnet_rtx2080ti/worker0.pt.trace.json.gz": ("optimizer", 30),
    "program/hf_generate/worker0.pt.trace.json.gz": ("repeated_module", 8),
    "program/diffusers_sd/worker0.pt.trace.json.gz": ("repeated_module", 3),
    "torch213/no_steps/worker0.1795164695691970318.pt.trace.json": ("repeated_module", 3),
    "program/nested_ranges/worker0.pt.trace.json.gz": ("repeated_annotation", 4),
    "program/generate_loop/worker0.pt.trace.json.gz": ("repeated_annotation", 6),
    "program/compile_break/worker0.pt.trace.json.gz": ("repeated_annotation", 3),
}


def check(model: Model) -> None:
    steps = model.steps
    if not len(steps):
        return
    assert steps.start[1:].tolist() == steps.end[:-1].tolist()
    assert (steps.end >= np.maximum(steps.start, steps.host_end)).all()
    assert steps.host_start[0] <= steps.start[0]
    times = step_times(model)
    assert int(times.duration_ns.sum()) == int(steps.end[-1] - steps.start[0])
    assert sum(times.category_ns.values()).tolist() == times.duration_ns.tolist()
    assert model.in_steps.steps.names == steps.names
    assert not model.in_steps.launched_before.any()


@pytest.mark.parametrize("path", as_parameters([*traces(SHARED), *sample_traces()]), ids=short)
def test_periods_follow_each_other(path: Path) -> None:
    check(shared_model_of(path))


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"recorded traces are not here: {SHARED} does not exist")
@pytest.mark.parametrize("name", WITHOUT_MARKS)
def test_iterations_without_marks(name: str) -> None:
    steps = model_of(SHARED / name).steps
    assert (steps.rule, len(steps)) == WITHOUT_MARKS[name]
