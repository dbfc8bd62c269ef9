"""What a rule needs of a trace, and which setting of the profiler gives it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


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
