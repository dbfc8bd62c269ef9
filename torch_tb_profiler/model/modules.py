"""Which ranges are calls of modules and hooks.

Calls of nn.Module are Python frames (`nn.Module: Linear_3`), recorded with with_stack or with_modules. Lightning marks
its modules and hooks with annotations: `[pl][module]torch.nn.modules.linear.Linear: encoder.0` and `[pl][profile]…`.
They had the category of operators until torch 1.12, which the reader has made good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.trace import Category, Trace

NN_MODULE = "nn.Module: "
LIGHTNING_MODULE = "[pl][module]"
LIGHTNING_HOOK = "[pl][profile]"


@dataclass(frozen=True)
class ModuleFrames:
    """Frames that are calls of nn.Module; parallel columns.

    module_id   which of the modules of that name, -1 when it was not recorded
    """

    row: Int32
    module_id: Int64


def nn_modules(trace: Trace) -> ModuleFrames:
    """By their module id, or by the name where a reader of the trace lost it."""
    frames, names = trace.python_frames, trace.events.name
    of_frames = names[frames.row]
    named = trace.strings.where(lambda text: text.startswith(NN_MODULE), of_frames)
    chosen = np.flatnonzero((frames.module_id >= 0) | named[of_frames])
    return ModuleFrames(frames.row[chosen], frames.module_id[chosen])


def lightning_modules(trace: Trace) -> Int32:
    """Rows of Lightning's module calls."""
    return _annotations(trace, LIGHTNING_MODULE)


def lightning_hooks(trace: Trace) -> Int32:
    """Rows of Lightning's hooks."""
    return _annotations(trace, LIGHTNING_HOOK)


def module_name(text: str) -> str:
    """The name to show of a module event: `Linear_3`, or the path that Lightning gives."""
    if text.startswith(LIGHTNING_MODULE):
        kind, separator, path = text.removeprefix(LIGHTNING_MODULE).partition(": ")
        return path if separator else kind
    return text.removeprefix(NN_MODULE)


def hook_name(text: str) -> str:
    return text.removeprefix(LIGHTNING_HOOK)


def _annotations(trace: Trace, prefix: str) -> Int32:
    events = trace.events
    rows = np.flatnonzero(events.category == Category.USER_ANNOTATION)
    named = trace.strings.where(lambda text: text.startswith(prefix), events.name[rows])
    return rows[named[events.name[rows]]].astype(np.int32)
