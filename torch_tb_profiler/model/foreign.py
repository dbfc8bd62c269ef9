"""Which program wrote a trace that torch.profiler did not write, and whose events mean nothing here."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.lazy_pattern import lazy_pattern
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
#: of a program that is not known
OTHER = ""


def is_of_ascend(trace: Trace) -> bool:
    """Whether torch_npu wrote it."""
    return any(ASCEND.match(track.process_name) for track in trace.tracks)


def foreign_program(trace: Trace) -> str | None:
    """The program, `OTHER` for one that is not known; None for a trace with anything of torch in it."""
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
