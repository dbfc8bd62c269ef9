"""What rules look at, one trace with its steps, replay and limits; and what a rule needs the profiler to record."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.shared.thresholds import Thresholds
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import DeviceWork

#: names of ranges that only training has
TRAINING = ("autograd::engine::", "Optimizer.step#")


class Facts(msgspec.Struct, frozen=True, dict=True):
    """What rules look at. Rules compute nothing that `analysis` has; what several of them need is here, once.

    model        with the steps that were chosen
    thresholds   the limits
    """

    model: Model
    thresholds: Thresholds

    @property
    def trace(self) -> Trace:
        """The whole trace."""
        return self.model.trace

    def limit(self, rule: str, name: str) -> float:
        """One limit of a rule. Raises KeyError."""
        return self.thresholds.of(rule, name)

    @cached_property
    def graph(self) -> Graph:
        """Graph of the replay, for all steps of the trace."""
        return graph_of(self.model)

    @cached_property
    def period_ns(self) -> Int64:
        """Period of each step, shape (steps,), ns."""
        return self.model.steps.end - self.model.steps.start

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.model.steps)

    @property
    def total_ns(self) -> int:
        """All steps together, ns."""
        return int(self.period_ns.sum())

    @property
    def step_ns(self) -> float:
        """The mean of the steps, ns; 0 without steps."""
        return self.total_ns / self.steps if self.steps else 0.0

    def share(self, ns: float) -> float:
        """Return a time as a share of all steps together; 0 without steps."""
        return ns / self.total_ns if self.total_ns else 0.0

    def in_steps(self, rows: Int32) -> Int32:
        """Select the events that begin in a step."""
        at = self.step_of(rows)
        return rows[at >= 0]

    def step_of(self, rows: Int32) -> Int64:
        """Return the index of the step in which each event begins, shape (n,); -1 for none.

        Host events are placed by the marks of steps, device events by the periods.
        """
        steps, start = self.model.steps, self.trace.events.start[rows]
        return np.where(self.on_device(rows), steps.on_device(start), steps.on_host(start))

    def on_device(self, rows: Int32) -> Bool:
        """Mark events of devices, shape (n,)."""
        return one_of(self.trace.events.category[rows], DeviceWork.categories)

    def span(self, rows: Int32) -> Int64:
        """Return start and end of events, ns since the start of the trace, shape (n, 2)."""
        start = self.trace.events.start[rows]
        return np.stack([start, start + self.duration(rows)], axis=1)

    def step_with_most(self, spans: Int64, on_device: Bool) -> Int64:
        """Return the index of the step with most of each interval, shape (n,); the first of equal ones, -1 for none.

        A wait that begins at the end of a step makes the next step long.

        spans       shape (n, 2): start and end, ns
        on_device   shape (n,): true for intervals of a device, false for those of the host
        """
        steps = self.model.steps
        step = np.full(len(spans), -1, np.int64)
        for place, (start, end) in enumerate(spans.tolist()):
            since, until = (steps.start, steps.end) if on_device[place] else (steps.host_since, steps.host_end)
            first = max(int(np.searchsorted(since, start, side="right")) - 1, 0)
            last = max(int(np.searchsorted(since, end, side="right")), first + 1)
            begin = np.maximum(since[first:last], start)
            inside = np.minimum(until[first:last], end) - begin
            # an interval without a duration lies where it begins
            inside = np.where(begin < until[first:last], inside, -1)
            if len(inside) and int(inside.max()) >= (end > start):
                step[place] = first + int(np.argmax(inside))
        return step

    def longest_first(self, rows: Int32) -> Int32:
        """Sort events by duration, the longest first."""
        found: Int32 = rows[np.argsort(-self.trace.events.duration[rows], kind="stable")]
        return found

    def duration(self, rows: Int32) -> Int64:
        """Return the duration of events, shape (n,), ns; 0 where an event has none."""
        found: Int64 = np.maximum(self.trace.events.duration[rows], 0)
        return found

    @cached_property
    def communication_rows(self) -> Int32:
        """Events of the steps that are communication: kernels, or the calls on the host where there are none."""
        model = self.model
        kernels = model.device_work.row[model.device_links.is_communication]
        return self.in_steps(kernels if len(kernels) else model.communication_rows)

    @cached_property
    def is_training(self) -> bool:
        """Tell whether the trace has a backward pass or an optimizer step."""
        strings, tree = self.trace.strings, self.model.structure.tree
        named = strings.where(lambda name: name.startswith(TRAINING), tree.name)
        return bool(named[tree.name].any()) if len(tree) else False


class Need(msgspec.Struct, frozen=True):
    """One thing that must have been recorded.

    id    its name
    text  what a user sets to record it, ends the sentence "not evaluated: needs …"
    held  whether a trace has it
    """

    id: str
    text: str
    held: Callable[[Model], bool]


def _has_steps(model: Model) -> bool:
    return len(model.steps) > 0 and int(model.steps.end[-1]) > int(model.steps.start[0])


TORCH = Need("torch", "a trace of torch.profiler", lambda model: model.foreign_program is None)
STEPS = Need("steps", "steps: call profiler.step() after each", _has_steps)
HOST = Need("host", "ProfilerActivity.CPU", lambda model: len(model.structure.tree) > 0)
DEVICE = Need("device", "work on a device: ProfilerActivity.CUDA, or XPU", lambda model: model.has_device_work)
MACHINE = Need(
    "machine",
    "work of the device that the program used: ProfilerActivity.CUDA, or XPU",
    lambda model: model.unrecorded_device is None,
)
CALLS = Need("calls", "calls of the device's API: ProfilerActivity.CUDA, or XPU", lambda model: model.has_runtime)
FRAMES = Need("frames", "with_stack=True", lambda model: len(model.structure.frames) > 0)
SHAPES = Need("shapes", "record_shapes=True", lambda model: bool((model.trace.operators.input_dims > 0).any()))
MEMORY = Need("memory", "profile_memory=True", lambda model: len(model.trace.memory) > 0)
PROPERTIES = Need(
    "properties", "deviceProperties, which torch writes since 1.10", lambda model: bool(model.trace.header.devices)
)
COMMUNICATION = Need("communication", "collectives", lambda model: len(model.communications) > 0)
OVERHEAD = Need(
    "overhead",
    "events of the profiler's own cost, which CUPTI records",
    lambda model: bool((model.trace.events.category == Category.OVERHEAD).any()),
)
