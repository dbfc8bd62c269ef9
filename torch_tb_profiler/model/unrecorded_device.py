"""Whether a program used a device of whose work the file holds nothing."""

from __future__ import annotations

from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.api_call_names import STARTS, SYNCHRONIZE, WHOLE_DEVICE
from torch_tb_profiler.model.communication_events import named
from torch_tb_profiler.model.foreign import is_of_ascend
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: what shows that a program used a device; `properties`: the machine has one, and no call of its API was recorded;
#: `ascend`: its work is in the file, in words of torch_npu that are not read
DeviceEvidence = Literal["ascend", "launches", "waits", "communication", "allocations", "operators", "properties"]

#: ranges of collectives between devices
_BETWEEN_DEVICES = lazy_pattern(r"(?:nccl|rccl|xccl|hccl):")
#: operators that exist for one kind of device; cuDNN is asked on the CPU whether it could be used
_OF_A_DEVICE = lazy_pattern(r"(?!aten::cudnn_is_acceptable)(?:aten::_?(?:cudnn|miopen|mps)_|(?:torch_)?npu::|hpu::)")


def has_device_work(trace: Trace) -> bool:
    """Whether a kernel, copy or fill of any device was recorded."""
    return bool(one_of(trace.events.category[trace.device_work.row], DEVICE_WORK).any())


def evidence_of_device(trace: Trace, operator_node: Int32) -> DeviceEvidence | None:
    """The clearest sign that a program used a device, in a trace without device work; None without one.

    operator_node   shape (launches,): the innermost operator around each call of a device's API, -1 for none
    Calls that the profiler makes itself are no sign: it counts the devices, reads their properties, and waits for them
    when it stops.
    """
    events, launches = trace.events, trace.launches
    if is_of_ascend(trace):
        return "ascend"
    calls = events.name[launches.row]
    if named(trace, STARTS.search, calls).any():
        return "launches"
    if _program_waits(trace, operator_node):
        return "waits"
    ranges = events.name[one_of(events.category, (Category.USER_ANNOTATION, Category.OPERATOR))]
    if named(trace, _BETWEEN_DEVICES.match, ranges).any():
        return "communication"
    if (trace.memory.device_type > 0).any():
        return "allocations"
    if named(trace, _OF_A_DEVICE.match, ranges).any():
        return "operators"
    return "properties" if trace.header.devices and len(ranges) and not len(launches) else None


def _program_waits(trace: Trace, operator_node: Int32) -> bool:
    """Whether an operator waits for a device, or the program for a stream or an event before its last operator ends.

    A wait for the whole device outside of operators returns at once where nothing ran.
    """
    events, calls = trace.events, trace.launches.row
    is_wait = named(trace, SYNCHRONIZE.search, events.name[calls])
    operators = np.flatnonzero(events.category == Category.OPERATOR)
    if not is_wait.any() or not len(operators):
        return False
    last = int((events.start[operators] + events.duration[operators]).max())
    of_part = ~named(trace, WHOLE_DEVICE.search, events.name[calls]) & (events.start[calls] < last)
    return bool((is_wait & (of_part | (operator_node >= 0))).any())
