"""The one vocabulary for old and new spellings of phases, categories and names."""

from __future__ import annotations

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.schema import Category, Phase

PHASES = {
    "X": Phase.COMPLETE,
    "i": Phase.INSTANT,
    "I": Phase.INSTANT,
    "n": Phase.INSTANT,
    "R": Phase.INSTANT,
    "s": Phase.FLOW_START,
    "t": Phase.FLOW_STEP,
    "f": Phase.FLOW_END,
    "M": Phase.METADATA,
    "C": Phase.COUNTER,
    "B": Phase.BEGIN,
    "E": Phase.END,
    "b": Phase.ASYNC,
    "e": Phase.ASYNC,
}

# Lower-case `cat` of events with a duration. 2021 files write Operator, Kernel, Memcpy, Memset, Runtime.
CATEGORIES = {
    "cpu_op": Category.OPERATOR,
    "operator": Category.OPERATOR,
    "user_annotation": Category.USER_ANNOTATION,
    "python_function": Category.PYTHON_FUNCTION,
    "runtime": Category.RUNTIME,
    "kernel": Category.KERNEL,
    "memcpy": Category.MEMCPY,
    "gpu_memcpy": Category.MEMCPY,
    "memset": Category.MEMSET,
    "gpu_memset": Category.MEMSET,
    "mtia_ccp_events": Category.KERNEL,
    "hpu_op": Category.KERNEL,
    "gpu_user_annotation": Category.GPU_USER_ANNOTATION,
    "cuda_sync": Category.SYNC,
    "xpu_sync": Category.SYNC,
    "overhead": Category.OVERHEAD,
    "trace": Category.SPAN,
}

FLOW_CATEGORIES = {
    "ac2g": Category.FLOW_LAUNCH,
    "async": Category.FLOW_LAUNCH,
    "async_gpu": Category.FLOW_LAUNCH,
    "async_cpu_to_gpu": Category.FLOW_LAUNCH,
    "fwdbwd": Category.FLOW_FORWARD_BACKWARD,
    "forward_backward": Category.FLOW_FORWARD_BACKWARD,
}

# How most files spell `cat`. The decoder starts with these; other spellings are decoded as well.
USUAL_SPELLINGS = frozenset(
    (*CATEGORIES, *FLOW_CATEGORIES, "cuda_runtime", "cuda_driver", "cpu_instant_event", "Trace")
)

FLOW_PHASES = (Phase.FLOW_START, Phase.FLOW_STEP, Phase.FLOW_END)

#: instants by their names, whatever their `cat`
INSTANTS = {"[memory]": Category.MEMORY, "[OutOfMemory]": Category.OUT_OF_MEMORY}

# MTIA writes them among its kernels; they wait, as what others write with the category of synchronization does.
WAITS = frozenset({"event_wait", "event_record"})

# Before torch 1.12 record_function ranges were written with the category of operators.
ANNOTATION_NAME = lazy_pattern(
    r"ProfilerStep#|enumerate\(Data(?:Loader|Pipe)\)#|Optimizer\.(?:step|zero_grad)#"
    r"|(?:Distributed|FullySharded)?DataParallel\.forward$|FSDP::|(?:nccl|gloo|mpi|ucc|xccl|hccl):|\[pl\]"
)


def phase_of(ph: str) -> Phase:
    return PHASES.get(ph, Phase.OTHER)


def category_of(phase: Phase, cat: str) -> Category:
    """The category of an event from its phase and its `cat`, of any version of the profiler."""
    if phase is Phase.METADATA:
        return Category.METADATA
    if phase is Phase.COUNTER:
        return Category.COUNTER
    cat = cat.lower()
    if phase in FLOW_PHASES:
        return FLOW_CATEGORIES.get(cat, Category.OTHER)
    if phase not in (Phase.COMPLETE, Phase.BEGIN):
        return Category.OTHER
    if cat in CATEGORIES:
        return CATEGORIES[cat]
    if cat.endswith("_runtime"):
        return Category.RUNTIME
    if cat.endswith("_driver"):
        return Category.DRIVER
    return Category.OTHER


def is_annotation_name(name: str) -> bool:
    """Whether a range written as an operator is a record_function annotation."""
    return ANNOTATION_NAME.match(name) is not None
