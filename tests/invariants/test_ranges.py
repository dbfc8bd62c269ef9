"""What ranges launched: those that tile the steps have all device work of the steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.invariants.every_trace import each_configuration, each_recorded, each_sample, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from torch_tb_profiler.analysis.program.phases import phase_times
from torch_tb_profiler.analysis.program.ranges import ranges
from torch_tb_profiler.analysis.shared.backward_links import autograd_nodes
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category

STEPS = "ProfilerStep#…"


def check_ranges(model: Model) -> bool:
    """Whether there was anything to check: marks of steps, on one thread, and device work."""
    tree, events = model.in_steps.tree, model.trace.events
    is_mark = (
        model.trace.strings.where(PROFILER_STEP.fullmatch, tree.name)[tree.name] if len(tree) else np.empty(0, bool)
    )
    marks = np.flatnonzero(is_mark & (tree.category == Category.USER_ANNOTATION))
    if not len(marks) or len(set(tree.track[marks].tolist())) > 1 or not model.has_device_work:
        return False
    inside = model.in_steps
    work = np.flatnonzero(inside.is_work & (inside.device_links.launch >= 0))
    call = inside.launches.row[inside.device_links.launch[work]]
    at = np.searchsorted(tree.start[marks], events.start[call], side="right") - 1
    marked = (at >= 0) & (events.start[call] < tree.end[marks[at]])
    # other threads than those of the engine work for nobody that is known
    engine = set(model.structure.tree.track[autograd_nodes(model)].tolist()) | {int(tree.track[marks[0]])}
    marked &= np.isin(events.track[call], sorted(engine))
    found = ranges(model)
    of_steps = [found.device_ns[i] for i, name in enumerate(found.name) if name == STEPS and found.parent[i] < 0]
    assert sum(of_steps) == np.maximum(events.duration[inside.device_work.row[work[marked]]], 0).sum()
    return True


@each_recorded
def test_recorded_traces(path: Path) -> None:
    check_ranges(shared_model_of(path))


@each_sample
def test_samples(path: Path) -> None:
    check_ranges(shared_model_of(path))


@each_configuration
def test_generated_traces(config: Config) -> None:
    model, _ = generated(config)
    assert check_ranges(model)
    found = ranges(model)
    assert int(found.device_ns[found.name.index(STEPS)]) == int(phase_times(model).device_ns.sum())
