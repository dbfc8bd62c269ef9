"""How much of each step computes, communicates, or does both at once."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.device_roles import rank_spans
from torch_tb_profiler.analysis.shared.quantities import COMMUNICATING, COMPUTING_ALONE, EXPOSED_COMMUNICATION
from torch_tb_profiler.arrays.distinct import among
from torch_tb_profiler.arrays.lookup import window_of
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model


class StepOverlap(Result, group="overlap"):
    """A row per step, in ns; the four columns add up to `duration_ns` exactly."""

    names: tuple[str, ...] = fact("of the steps")
    duration_ns: Int64 = fact("of each step, its length")
    computation_ns: Int64 = column(
        "Computation",
        "Time of the step in which a compute kernel ran on a device and no communication. In a trace without compute "
        "kernels: an operator computed on the host; calls of communication and hooks of autograd do not.",
    )
    overlap_ns: Int64 = column(
        "Overlapping", "Time of the step in which computation and communication ran at the same time."
    )
    communication_only_ns: Int64 = column(
        "Communication",
        "Time of the step in which communication ran and no computation, on any device of the rank. Communication "
        "is its kernels, or, for libraries without kernels (gloo, MPI), the calls on the host.",
    )
    other_ns: Int64 = column(
        "Other",
        "Time of the step with neither of them. Computation + Overlapping + Communication + Other = step time, "
        "exactly.",
    )


@cached
def step_overlap(model: Model) -> StepOverlap:
    """Computation is kernels other than communication's; without any, what computes on the host (`host_computing`)."""
    return _between(model)


def overview_overlap(model: Model) -> StepOverlap:
    """The same with the steps of the old plugin's /distributed/overlap; for that alone."""
    return _between(model.of_overview())


def _between(model: Model) -> StepOverlap:
    start, end = model.steps.start, model.steps.end
    spans = rank_spans(model)
    alone, communication, exposed = (
        quantity.between(spans, start, end) for quantity in (COMPUTING_ALONE, COMMUNICATING, EXPOSED_COMMUNICATION)
    )
    length = end - start
    return StepOverlap(
        names=model.steps.names,
        duration_ns=length,
        computation_ns=alone,
        overlap_ns=communication - exposed,
        communication_only_ns=exposed,
        other_ns=length - alone - communication,
    )


def step_of_operations(model: Model) -> Int32:
    """The step of each operation of `model.communications`: the one in which the host called it; -1 for none.

    An operation without a call in the trace belongs to the step in which its first kernel began, unless it was launched
    before the recording.
    """
    steps, found = model.steps, model.communications
    called = found.operations.host_start >= 0
    start = found.start
    on_host = window_of(steps.host_start, steps.host_end, start)
    structure, trace = model.structure, model.trace
    earlier = structure.launched_before & structure.device_links.is_communication
    before = among(start, trace.events.start[trace.device_work.row[earlier]])
    on_device = np.where(before, -1, window_of(steps.start, steps.end, start))
    return np.where(called, on_host, on_device).astype(np.int32)
