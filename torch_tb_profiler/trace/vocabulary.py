"""The one vocabulary for all spellings of phases, categories and names, also those of torch's exporter in Python.

torch has a second exporter: `torch.profiler._cupti_monitor_trace` in 2.13, `torch.profiler._cupti` in 2.14, later
`_cuspy`. It calls every copy `Memcpy` and every fill `Memset` and puts their kinds into arguments, and it may draw what
graphs replay on lanes of its own. Analyses know names as Kineto writes them, so they are written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.column_buffers import getter
from torch_tb_profiler.trace.events import NO_ARGS, Event, RawEvents, TrackArgs, attribute
from torch_tb_profiler.trace.schema import TRACE_TABLES, Category, EventPhase

PHASES = {
    "X": EventPhase.COMPLETE,
    "i": EventPhase.INSTANT,
    "I": EventPhase.INSTANT,
    "n": EventPhase.INSTANT,
    "R": EventPhase.INSTANT,
    "s": EventPhase.FLOW_START,
    "t": EventPhase.FLOW_STEP,
    "f": EventPhase.FLOW_END,
    "M": EventPhase.METADATA,
    "C": EventPhase.COUNTER,
    "B": EventPhase.BEGIN,
    "E": EventPhase.END,
    "b": EventPhase.ASYNC,
    "e": EventPhase.ASYNC,
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

FLOW_PHASES = (EventPhase.FLOW_START, EventPhase.FLOW_STEP, EventPhase.FLOW_END)

#: instants by their names, whatever their `cat`
INSTANTS = {"[memory]": Category.MEMORY, "[OutOfMemory]": Category.OUT_OF_MEMORY}

# MTIA writes them among its kernels; they wait, like the events of category synchronization of other devices.
WAITS = frozenset({"event_wait", "event_record"})

# Before torch 1.12 record_function ranges were written with the category of operators.
ANNOTATION_NAME = lazy_pattern(
    r"ProfilerStep#|enumerate\(Data(?:Loader|Pipe)\)#|Optimizer\.(?:step|zero_grad)#"
    r"|(?:Distributed|FullySharded)?DataParallel\.forward$|FSDP::|(?:nccl|gloo|mpi|ucc|xccl|hccl):|\[pl\]"
)


def phase_of(ph: str) -> EventPhase:
    return PHASES.get(ph, EventPhase.OTHER)


def category_of(phase: EventPhase, cat: str) -> Category:
    """Return the category of an event from its phase and its `cat`, of any version of the profiler."""
    if phase is EventPhase.METADATA:
        return Category.METADATA
    if phase is EventPhase.COUNTER:
        return Category.COUNTER
    cat = cat.lower()
    if phase in FLOW_PHASES:
        return FLOW_CATEGORIES.get(cat, Category.OTHER)
    if phase not in (EventPhase.COMPLETE, EventPhase.BEGIN):
        return Category.OTHER
    if cat in CATEGORIES:
        return CATEGORIES[cat]
    if cat.endswith("_runtime"):
        return Category.RUNTIME
    if cat.endswith("_driver"):
        return Category.DRIVER
    return Category.OTHER


def is_annotation_name(name: str) -> bool:
    """Return whether a range written as an operator is a record_function annotation."""
    return ANNOTATION_NAME.match(name) is not None


COPY_KIND, SOURCE_KIND, TARGET_KIND, FILL_KIND = ARGUMENTS_OF_COPIES = (
    "copy kind",
    "src kind",
    "dst kind",
    "memory kind",
)
#: the stream of work that is drawn on another lane
ORIGINAL_STREAM = "original_stream"

#: names without the kind of copy or fill, by the category of the event
BARE_NAMES = {Category.MEMCPY: "Memcpy", Category.MEMSET: "Memset"}
_BARE = frozenset(BARE_NAMES.values())

# CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, by number; the exporter writes the number where it has no word
_COPIES = ("", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP")
_MEMORIES = ("Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static")
#: kinds of memory, by the words of the exporter
MEMORY_WORDS = {name.lower().replace(" ", "_"): name for name in _MEMORIES}

#: keys of the arguments of device work that profilers write; texts under other keys are an annotation
_NO_ANNOTATION = frozenset(
    {key for table in TRACE_TABLES for column in table.schema() for key in column.source}
    | {*ARGUMENTS_OF_COPIES, ORIGINAL_STREAM, "annotated_stream", "kind", "In split size", "Out split size"}
    | {"context", "priority", "queued", "channel", "channel_type", "warps per SM", "flags", "value"}
) - {"annotation"}

_NODE, _STREAM, _ANNOTATION = map(attribute, ("graph node id", "stream", "annotation"))
_nodes = getter(_NODE)
_NO_NODE = getattr(NO_ARGS, _NODE)


def kineto_name(name: str, args: Mapping[str, Any]) -> str:
    """Return the name of a copy or fill as Kineto writes it, made from the arguments.

    A fill without a kind of memory is one of device memory, as `cudaMemset` fills it.
    """
    if name == BARE_NAMES[Category.MEMCPY] and COPY_KIND in args:
        source, target = (_memory(args.get(key)) for key in (SOURCE_KIND, TARGET_KIND))
        return f"{name} {_copy(args[COPY_KIND])} ({source} -> {target})"
    if name == BARE_NAMES[Category.MEMSET]:
        return f"{name} ({_memory(args.get(FILL_KIND, 'device'))})"
    return name


def _copy(kind: object) -> str:
    if isinstance(kind, str):
        return kind
    return _COPIES[kind] if isinstance(kind, int) and 0 < kind < len(_COPIES) else "<unknown>"


def _memory(kind: object) -> str:
    if isinstance(kind, str):
        return MEMORY_WORDS.get(kind, kind)
    return _MEMORIES[kind] if isinstance(kind, int) and 0 <= kind < len(_MEMORIES) else "Unrecognized"


def named(events: Sequence[Event], raws: RawEvents) -> list[Event]:
    """Return the events of a chunk; copies and fills get the names that Kineto writes."""
    return [
        replace(event, name=kineto_name(event.name or "", raws.args(place))) if _is_bare(event) else event
        for place, event in enumerate(events)
    ]


def _is_bare(event: Event) -> bool:
    return event.name in _BARE and BARE_NAMES.get(category_of(phase_of(event.ph), event.cat or "")) == event.name


def replays_graphs(args: Sequence[TrackArgs]) -> bool:
    """Return whether any of this device work is a node of a graph."""
    # a missing value is always the same object, so `count` compares identities
    return _nodes(args).count(_NO_NODE) != len(args)


def graph_nodes(args: Sequence[TrackArgs], places: Iterable[int], raws: RawEvents) -> list[TrackArgs]:
    """Return the arguments of device work; graph nodes get the stream that they ran on, and their annotation.

    places: the positions of the events in their chunk

    An annotation is an object of all texts that the program wrote under keys other than those of the profiler. The
    stream of a node that is drawn on another lane is its `original_stream`.
    """
    return [_node(of, raws.args(place)) if _is_node(of) else of for of, place in zip(args, places, strict=True)]


def _is_node(args: TrackArgs) -> bool:
    node: float | None = getattr(args, _NODE)
    return node is not None and node >= 0


def _node(args: TrackArgs, raw: Mapping[str, Any]) -> TrackArgs:
    changed: dict[str, Any] = {}
    original = raw.get(ORIGINAL_STREAM)
    if isinstance(original, int) and not isinstance(original, bool):
        changed[_STREAM] = float(original)
    others = raw.keys() - _NO_ANNOTATION
    if others:
        texts = {key: text for key, text in raw.items() if key in others and isinstance(text, str)}
        changed[_ANNOTATION] = msgspec.Raw(msgspec.json.encode(texts) if texts else b"")
    return replace(args, **changed) if changed else args
