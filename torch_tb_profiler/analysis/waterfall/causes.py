"""What the time of a step can be due to, and what each cause means."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from torch_tb_profiler.analysis.replay.stream_edges import LATENCY_FACTOR, LATENCY_NS, LONGEST_LATENCY_NS
from torch_tb_profiler.analysis.replay.thread_edges import SILENT_NS
from torch_tb_profiler.model.kernel_names.family import MATMULS, KernelKind
from torch_tb_profiler.words.files import by_end

#: a launch call that takes longer before its work may begin is slow
SLOW_LAUNCH_NS = 20_000
#: a shorter gap counts to the launch-bound score
SHORT_GAP_NS = 100_000


class IdleCause(IntEnum):
    """Why a device had nothing to do; of causes at one moment the first one counts."""

    PROFILER = 0
    DEPENDENCY = 1
    DEPENDENCY_COMMUNICATION = 2
    LAUNCH_LATENCY = 3
    LAUNCH_LATENCY_GRAPH = 4
    SYNC = 5
    SYNC_RELAUNCH = 6
    ALLOCATOR = 7
    INPUT = 8
    COMPILE = 9
    HOST_GC = 10
    SLOW_LAUNCH = 11
    HOST_LAUNCH = 12
    HOST_API = 13
    HOST_OPERATOR = 14
    HOST_COLLECTIVE = 15
    HOST_PYTHON = 16
    UNKNOWN = 17


class CauseDefinition(NamedTuple):
    """A cause: its id, and its definition."""

    cause: str
    help: str


_QUEUED = "The work that ends the gap had been launched and"
_HOST = "Nothing was queued, and the thread that launches next"

#: by `IdleCause`
IDLE = (
    CauseDefinition("idle.profiler", "The profiler did work of its own (an event of its category `overhead`)."),
    CauseDefinition("idle.dependency", f"{_QUEUED} waited for another stream."),
    CauseDefinition("idle.dependency.communication", f"{_QUEUED} waited for a collective on another stream."),
    CauseDefinition(
        "idle.launch_latency",
        f"{_QUEUED} began within {LATENCY_NS // 1000} µs or {LATENCY_FACTOR} × the usual delay of this trace: the time "
        "that a device takes to begin queued work.",
    ),
    CauseDefinition(
        "idle.launch_latency.graph",
        f"Between two pieces of work of one launch of a graph, up to {LONGEST_LATENCY_NS // 1000} µs.",
    ),
    CauseDefinition(
        "idle.sync", "The host was in a call that waits for the device, or for a copy to or from pageable memory."
    ),
    CauseDefinition(
        "idle.sync.relaunch",
        "The host had waited for the device when the gap began, and prepared the next launch: time that is hidden "
        "if the host runs ahead.",
    ),
    CauseDefinition("idle.allocator", f"{_HOST} allocated or freed memory by a call of the device's API."),
    CauseDefinition("idle.input", f"{_HOST} fetched the next batch (`enumerate(DataLoader)#…`)."),
    CauseDefinition("idle.compile", f"{_HOST} compiled or tuned kernels (torch.compile, Inductor, Triton)."),
    CauseDefinition("idle.host.gc", f"{_HOST} was in Python's garbage collection."),
    CauseDefinition(
        "idle.slow_launch",
        f"The launch call itself took more than {SLOW_LAUNCH_NS // 1000} µs until its work could begin: a lock of the "
        "driver, loading of a module, a large graph, pageable memory that is copied first.",
    ),
    CauseDefinition("idle.host.launch", f"{_HOST} was in a launch call of usual length."),
    CauseDefinition("idle.host.api", f"{_HOST} was in another call of the device's API."),
    CauseDefinition("idle.host.operator", f"{_HOST} was in an operator, outside calls of the device's API."),
    CauseDefinition("idle.host.collective", f"{_HOST} waited for a collective that runs on the host (gloo, MPI, UCC)."),
    CauseDefinition(
        "idle.host.python",
        f"{_HOST} was in Python: in a recorded frame or annotation (not that of a step), or at most "
        f"{SILENT_NS // 10**6} ms between two of its events.",
    ),
    CauseDefinition(
        "idle.unknown",
        "The trace shows no reason: no host activity was recorded, the launch is not in the trace, or work that "
        "had been launched, or follows other work of its graph, began late for no recorded reason.",
    ),
)

#: causes in which the launch of work takes the time: the score counts them where gaps are short
LAUNCH_BOUND = tuple(
    at
    for at, meaning in enumerate(IDLE)
    if meaning.cause.startswith(("idle.launch_latency", "idle.host.", "idle.slow_launch"))
)

#: of a kernel of no known family
UNKNOWN_KIND = "unknown"


def _kinds() -> tuple[str, ...]:
    """List the kinds of compute kernels by priority: matmuls first, waiting kernels last."""
    first = [kind for kind in KernelKind if kind in MATMULS]
    last = [KernelKind.SPIN, KernelKind.WAIT]
    rest = [kind for kind in KernelKind if kind not in (*first, *last)]
    return (*(kind.value for kind in (*first, *rest)), UNKNOWN_KIND, *(kind.value for kind in last))


KINDS = _kinds()

BUSY = (
    *(
        CauseDefinition(
            f"compute.{kind.replace(' ', '_')}",
            "A compute kernel of an unknown family ran, and none of a known one."
            if kind == UNKNOWN_KIND
            else f"A compute kernel of the kind {kind} ran, by the family of its name. If several kinds run at "
            "the same time, the first of this list counts.",
        )
        for kind in KINDS
    ),
    CauseDefinition("exposed_communication", "A kernel of a collective ran, and no compute kernel did."),
    CauseDefinition("exposed_copy", "A copy or fill ran, and no kernel did."),
)

#: what the main thread did, by `IdleCause`, in traces in which no device ran kernels; others cannot occur
HOST = tuple(
    CauseDefinition(cause, f"The main thread {text}")
    for cause, text in (
        ("host.profiler", "ran while the profiler did work of its own."),
        ("host.dependency", "waited for a device."),
        ("host.dependency.communication", "waited for a collective of a device."),
        ("host.launch_latency", "waited for work to begin."),
        ("host.launch_latency.graph", "waited for a graph."),
        ("host.sync", "was in a call that waits for a device."),
        ("host.sync.relaunch", "prepared work after it had waited for a device."),
        ("host.allocator", "allocated or freed memory by a call of a device's API."),
        ("host.data", "fetched the next batch (`enumerate(DataLoader)#…`)."),
        ("host.compile", "compiled or tuned kernels (torch.compile, Inductor, Triton)."),
        ("host.gc", "was in Python's garbage collection."),
        ("host.slow_launch", f"was in a launch call longer than {SLOW_LAUNCH_NS // 1000} µs."),
        ("host.launch", "was in a launch call."),
        ("host.api", "was in a call of a device's API."),
        ("host.operator", "was in an operator, or waited for the autograd engine that was in one."),
        ("host.collective", "waited for a collective that runs on the host (gloo, MPI, UCC)."),
        (
            "host.python",
            "was in Python: in a recorded frame or annotation (not that of a step), or at most "
            f"{SILENT_NS // 10**6} ms between two of its events.",
        ),
        ("host.unknown", "has no recorded events."),
    )
)

#: all causes in the order of an answer; `Waterfall.causes` has those that occur
ALL = (*BUSY, *IDLE, *HOST)
FIRST_IDLE, FIRST_HOST = len(BUSY), len(BUSY) + len(IDLE)


#: kinds of kernels by what they are drawn as, and the colours of the light page: fe/src/draw/parts.ts and parts.css
_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "#14417c": ("gemm", "gemm_helper", "gemv", "conv", "conv_helper", "linear_algebra"),
    "#8558c0": ("attention", "attention_helper", "linear_attention", "rotary", "kv_cache"),
    "#3ba598": ("norm", "softmax", "reduction", "loss", "pooling"),
    "#95b7ea": ("pointwise", "activation", "optimizer", "quantize", "random"),
    "#b9a06a": ("layout", "concatenate", "index", "embedding", "sort"),
    "#009eff": ("copy",),
    "#e5d211": ("fill",),
}
_OTHER_KERNELS: Final = "#6b7f95"
_COLORS: Final[Mapping[str, str]] = {
    "compute": "#0072b2",
    **{f"compute.{kind}": color for color, kinds in _FAMILIES.items() for kind in kinds},
    **dict.fromkeys(("exposed_communication", "compute.communication", "collective"), "#de83a0"),
    "exposed_copy": "#009eff",
    **dict.fromkeys(("operator", "host"), "#0a9d77"),
    **dict.fromkeys(("python", "gc"), "#8eba51"),
    **dict.fromkeys(("data", "input"), "#d55e00"),
    "launch": "#dc9917",
    "slow_launch": "#a96400",
    "api": "#f0c878",
    "launch_latency": "#d8c005",
    "sync": "#882255",
    "sync.relaunch": "#cf6576",
    "allocator": "#a65bd0",
    "compile": "#8c8b38",
    "dependency": "#4b3fa8",
    "dependency.communication": "#9a86d8",
    "profiler": "#a0684a",
    "unknown": "#a6a3b3",
}

#: of what has no colour of its own, and of all smaller parts together
REST_COLOR: Final = _COLORS["unknown"]


def part_color(cause: str) -> str:
    """Return the colour of a part, as the light page has it.

    >>> part_color("compute.conv") == part_color("compute.gemm"), part_color("host.gc")
    (True, '#8eba51')
    """
    if cause.startswith("compute."):
        return _COLORS.get(cause, _OTHER_KERNELS)
    return by_end(cause, _COLORS) or REST_COLOR
