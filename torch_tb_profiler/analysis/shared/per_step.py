"""Assigns events of `Model.in_steps` to steps, for sums per step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model


def step_of_times(model: Model, time: Int64) -> Int64:
    """The step of moments on the host, of what `model.in_steps` selects: what follows a mark belongs to it."""
    return _clipped(model, np.searchsorted(model.steps.host_start, time, side="right"))


def steps_of_work(model: Model) -> tuple[Int64, Int64]:
    """Kernels, copies and fills of the steps: positions in `model.in_steps.device_work`, and the step of each.

    A piece belongs to the step in which it was launched, one without a launch in the trace to that in which it begins.
    """
    inside, events = model.in_steps, model.trace.events
    work = np.flatnonzero(inside.is_work)
    launch = inside.device_links.launch_row[work]
    called = events.start[launch]
    begins = np.searchsorted(model.steps.start, events.start[inside.device_work.row[work]], side="right")
    return work, np.where(launch >= 0, step_of_times(model, called), _clipped(model, begins))


def _clipped(model: Model, after: Int64) -> Int64:
    return np.clip(after - 1, 0, max(len(model.steps) - 1, 0)).astype(np.int64)
