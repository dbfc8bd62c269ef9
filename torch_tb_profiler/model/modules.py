"""Mark ranges that are calls of modules and hooks.

Calls of nn.Module are Python frames (`nn.Module: Linear_3`), recorded with with_stack or with_modules. Lightning marks
its modules and hooks with annotations: `[pl][module]torch.nn.modules.linear.Linear: encoder.0` and `[pl][profile]…`.
They had the category of operators until torch 1.12, which the reader has made good.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.event_names import NN_MODULE
from torch_tb_profiler.model.model import Model

LIGHTNING_MODULE = "[pl][module]"
LIGHTNING_HOOK = "[pl][profile]"


class ModuleFrames(msgspec.Struct, frozen=True):
    """Frames that are calls of nn.Module; parallel columns.

    module_id   which of the modules of that name, -1 when it was not recorded
    """

    row: Int32
    module_id: Int64


def nn_modules(model: Model) -> ModuleFrames:
    """Find calls of modules by their module id, or by the name where a reader of the trace lost it."""
    frames, strings = model.trace.python_frames, model.trace.strings
    names = model.trace.events.name[frames.row]
    named = strings.where(lambda text: text.startswith(NN_MODULE), names)
    is_module = (frames.module_id >= 0) | named[names]
    chosen = np.flatnonzero(is_module & model.are_selected(frames.row))
    return ModuleFrames(frames.row[chosen], frames.module_id[chosen])


def lightning_modules(model: Model) -> Int32:
    """Rows of Lightning's module calls."""
    return model.annotation_rows(lambda text: text.startswith(LIGHTNING_MODULE))


def lightning_hooks(model: Model) -> Int32:
    """Rows of Lightning's hooks."""
    return model.annotation_rows(lambda text: text.startswith(LIGHTNING_HOOK))


def module_name(text: str) -> str:
    """Return the name of a module event to show: `Linear_3`, or the path that Lightning gives."""
    if text.startswith(LIGHTNING_MODULE):
        kind, separator, path = text.removeprefix(LIGHTNING_MODULE).partition(": ")
        return path if separator else kind
    return text.removeprefix(NN_MODULE)


def hook_name(text: str) -> str:
    return text.removeprefix(LIGHTNING_HOOK)
