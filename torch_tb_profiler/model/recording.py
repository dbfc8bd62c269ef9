"""What a file was recorded with, and what it lacks: foreign programs, device work, the ends of ranges."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.communication import where_named
from torch_tb_profiler.model.event_names import STARTS_WORK, SYNCHRONIZE, WHOLE_DEVICE
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: where something is looked for: names of processes, names of events, keys before and after the events
_Where = Literal["process", "event", "key"]

#: what they are called, and one thing that they alone write
_PROGRAMS: tuple[tuple[str, _Where, re.Pattern[str]], ...] = (
    ("JAX or XLA", "process", lazy_pattern(r"^/(?:host|device):")),
    ("unitrace", "process", lazy_pattern(r"^(?:HOST|DEVICE|L0)\s*<")),
    ("rocprof", "process", lazy_pattern(r"^(?:CPU HIP API|CPU HSA API|Markers and Ranges|COPY|GPU\d+)$")),
    ("Triton's Proton", "process", lazy_pattern(r"\bCore\d+ CTA\d")),
    (
        "NCCL's profiler plugin",
        "event",
        lazy_pattern(r"^(?:KernelCh|ProxyOp|ProxyCtrl|NetIB|(?:Schedule|Progress)(?:Send|Recv))$"),
    ),
    ("Horovod", "event", lazy_pattern(r"^NEGOTIATE_")),
    ("ONNX Runtime", "event", lazy_pattern(r"^(?:model_loading_|session_initialization)|_kernel_time$")),
    ("Clang", "event", lazy_pattern(r"^(?:Total )?ExecuteCompiler$")),
    ("VizTracer", "key", lazy_pattern(r"^viztracer_metadata$")),
    ("TensorRT", "event", lazy_pattern(r"^(?:\[(?:Foreign|Fused)Node|Reformatting CopyNode)")),
)
#: keys that torch writes beside the events
_KEYS = frozenset(
    ("schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds", "trace_id", "traceName")
)
#: what other programs write nothing in
_OF_TORCH = (
    *(Category.OPERATOR, Category.USER_ANNOTATION, Category.PYTHON_FUNCTION, Category.RUNTIME, Category.DRIVER),
    *(Category.GPU_USER_ANNOTATION, Category.SYNC, Category.MEMORY, Category.OUT_OF_MEMORY, Category.SPAN),
)
#: PyTorch's profiler before Kineto, whose events have no category
_LEGACY_PROCESS, _LEGACY_EVENT = lazy_pattern(r"(?:CPU|CUDA) functions$"), lazy_pattern(r"aten::|ProfilerStep#|c10d::")
#: the device of torch_npu, whose operators of the host are written as torch writes them
ASCEND = lazy_pattern(r"Ascend Hardware")
#: of a program that is unknown
OTHER = ""


def is_of_ascend(trace: Trace) -> bool:
    """Tell whether torch_npu wrote the file."""
    return any(ASCEND.match(track.process_name) for track in trace.tracks)


def foreign_program(trace: Trace) -> str | None:
    """Name the program, `OTHER` for an unknown one; None for a trace with anything of torch in it."""
    events, strings = trace.events, trace.strings
    processes = {track.process_name for track in trace.tracks if track.process_name}
    if not (events.phase != EventPhase.METADATA).any() or _KEYS & trace.header.raw.keys() or is_of_ascend(trace):
        return None
    named = any(map(_LEGACY_PROCESS.match, (*processes, *(str(track.pid) for track in trace.tracks))))
    if named or strings.where(_LEGACY_EVENT.match, events.name).any():
        return None
    used = strings.where(lambda _: True, events.name)
    texts = {
        "process": processes,
        "event": [strings[code] for code in np.flatnonzero(used).tolist()],
        "key": list(trace.header.raw),
    }
    for program, where, pattern in _PROGRAMS:
        if any(map(pattern.search, texts[where])):
            return program
    of_torch = bool(one_of(events.category, _OF_TORCH).any()) or _is_placed(trace)
    return None if of_torch else OTHER


def _is_placed(trace: Trace) -> bool:
    """Whether any device work has the stream or the correlation that torch writes with it."""
    work = trace.device_work
    is_work = one_of(trace.events.category[work.row], DEVICE_WORK)
    return bool((is_work & ((work.stream >= 0) | (work.correlation >= 0))).any())


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
    """Return the clearest sign that a program used a device, in a trace without device work; None without one.

    operator_node   shape (launches,): the innermost operator around each call of a device's API, -1 for none
    Calls that the profiler makes itself are no sign: it counts the devices, reads their properties, and waits for them
    when it stops.
    """
    events, launches = trace.events, trace.launches
    if is_of_ascend(trace):
        return "ascend"
    calls = events.name[launches.row]
    if where_named(trace, STARTS_WORK.search, calls).any():
        return "launches"
    if _program_waits(trace, operator_node):
        return "waits"
    ranges = events.name[one_of(events.category, (Category.USER_ANNOTATION, Category.OPERATOR))]
    if where_named(trace, _BETWEEN_DEVICES.match, ranges).any():
        return "communication"
    if (trace.memory.device_type > 0).any():
        return "allocations"
    if where_named(trace, _OF_A_DEVICE.match, ranges).any():
        return "operators"
    return "properties" if trace.header.devices and len(ranges) and not len(launches) else None


def _program_waits(trace: Trace, operator_node: Int32) -> bool:
    """Whether an operator waits for a device, or the program for a stream or an event before its last operator ends.

    A wait for the whole device outside of operators returns at once where nothing ran.
    """
    events, calls = trace.events, trace.launches.row
    is_wait = where_named(trace, SYNCHRONIZE.search, events.name[calls])
    operators = np.flatnonzero(events.category == Category.OPERATOR)
    if not is_wait.any() or not len(operators):
        return False
    last = int((events.start[operators] + events.duration[operators]).max())
    of_part = ~where_named(trace, WHOLE_DEVICE.search, events.name[calls]) & (events.start[calls] < last)
    return bool((is_wait & (of_part | (operator_node >= 0))).any())


#: the instant that Kineto writes behind everything else
_END = "Record Window End"


def still_open(trace: Trace) -> Bool:
    """Shape (events,): annotations that end with the window of the recording, behind all that ends by itself."""
    events = trace.events
    code = trace.strings.code(_END)
    window = events.start[events.name == code] if code >= 0 else events.start[:0]
    if not len(window):
        return np.zeros(len(events), np.bool_)
    last = int(window.max())
    found = np.zeros(len(events), np.bool_)
    at = np.flatnonzero(events.end >= last)
    at = at[events.duration[at] >= 0]
    if last > 0 and len(at):
        is_annotation = events.category[at] == Category.USER_ANNOTATION
        found[at] = (is_annotation & (events.duration[at] > 0) & (events.end[at] == last)).all()
    return found
