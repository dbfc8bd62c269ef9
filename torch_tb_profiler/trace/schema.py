"""Every table and column of a trace, with type, unit, source in the file and when it is missing.

A new field of trace files is declared here and nowhere else: its line in a table says how the file writes it. The
decoder's event types (`events`), the buffers of the column (`arguments`), the column file, details of a slice follow.

Conventions
    row         the number of an event in its file, from 0; it never changes, and every table points to events by it.
    time        integer nanoseconds, relative to `Trace.origin_ns`.
    string      an int32 code into `Trace.strings`; code 0 is the empty string and means "missing".
    missing     -1 in integer columns, NaN in float columns, unless the column says otherwise.
    order       columns of arguments stand in the order in which torch writes the arguments: decoding is then fastest.
"""

from __future__ import annotations

from enum import IntEnum
from inspect import get_annotations
from typing import Any, ClassVar, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import ELEMENTS, Float64, Int32, Int64, UInt8
from torch_tb_profiler.spill import spilled_property
from torch_tb_profiler.trace.lazy_columns import FieldDeclaration, LazyColumns, dataclass_transform


class EventPhase(IntEnum):
    """`ph` of a chrome trace event."""

    OTHER = 0
    COMPLETE = 1  # X: has a start and a duration
    INSTANT = 2  # i, I, n, R
    FLOW_START = 3  # s
    FLOW_STEP = 4  # t
    FLOW_END = 5  # f
    METADATA = 6  # M: names of processes and threads
    COUNTER = 7  # C
    BEGIN = 8  # B; complete in `Trace.events`
    END = 9  # E
    ASYNC = 10  # b, e: of no track, and paired by an id


class Category(IntEnum):
    """What an event is. One vocabulary for every spelling of `cat` from 2021 to today (see `vocabulary`)."""

    OTHER = 0
    OPERATOR = 1  # an ATen or custom operator, or an autograd node, on a host thread
    USER_ANNOTATION = 2  # record_function on a host thread: steps, DataLoader, Optimizer, nccl:*, the user's own
    PYTHON_FUNCTION = 3  # a Python frame, nn.Module calls among them
    RUNTIME = 4  # a call of the runtime API (cudaLaunchKernel, hipMemcpyAsync, …)
    DRIVER = 5  # a call of the driver API (cuLaunchKernelEx, …)
    KERNEL = 6
    MEMCPY = 7
    MEMSET = 8
    GPU_USER_ANNOTATION = 9  # the shadow of a user annotation on the device; a label, never work
    SYNC = 10  # cuda_sync, event_wait of MTIA: what a stream, event or the host waited for
    OVERHEAD = 11  # the profiler's own work
    MEMORY = 12  # `[memory]` instants: one allocation or release
    FLOW_LAUNCH = 13  # arrows from a launch to its device work
    FLOW_FORWARD_BACKWARD = 14  # arrows from a forward operator to its backward
    SPAN = 15  # `Trace`: the whole recording window
    METADATA = 16
    COUNTER = 17
    OUT_OF_MEMORY = 18  # `[OutOfMemory]` instants: one failed allocation
    FLOW_GRAPH = 19  # arrows between nodes of a graph


DEVICE_WORK = (Category.KERNEL, Category.MEMCPY, Category.MEMSET)


AnyTraceTable = TypeVar("AnyTraceTable", bound="TraceTable")

#: unit of a column of texts
STRING = "string"
#: unit of a column of texts that are JSON: in the file they are lists or objects
JSON_TEXT = "string, JSON text"


class TraceColumn(msgspec.Struct, frozen=True):
    """What is declared of one column; `column` says what each field means."""

    name: str
    dtype: np.dtype[Any]
    unit: str
    meaning: str
    source: tuple[str, ...]
    missing: int
    also_missing: int | None
    bounds: tuple[float, float] | None
    may_be_text: bool
    follows: bool

    @property
    def is_string(self) -> bool:
        return self.unit.startswith(STRING)

    @property
    def fill(self) -> float:
        """What stands in a row that has no value: NaN in float columns, 0 in strings."""
        return float("nan") if self.dtype.kind == "f" else 0 if self.is_string else self.missing


def column(
    unit: str,
    meaning: str = "",
    *,
    source: str | tuple[str, ...] = (),
    missing: int = -1,
    also_missing: int | None = None,
    bounds: tuple[float, float] | None = None,
    may_be_text: bool = False,
    follows: bool = False,
) -> Any:
    """Declare a column; its annotation is its type.

    unit          the unit of numbers; STRING, JSON_TEXT, or what an integer points to
    meaning       what the value is, where it comes from, and when it is missing
    source        the key in the event's `args`; of several spellings the first that an event has counts, and the first
                  of all is the name that people see
    missing       what stands for "no value" in an integer column
    also_missing  an integer in files that means "no value"
    bounds        the least and the most that any device can have; what lies beyond is damage, and missing
    may_be_text   files hold text in place of the number; text that is no number is missing
    follows       integers that are mostly equal to or a little larger than the one before; stored as differences
    """
    declared = {
        "unit": unit,
        "meaning": meaning,
        "source": (source,) if isinstance(source, str) else source,
        "missing": missing,
        "also_missing": also_missing,
        "bounds": bounds,
        "may_be_text": may_be_text,
        "follows": follows,
    }
    return FieldDeclaration(declared)


def _cast(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Cast to a column's type; a number that does not fit is missing, never another number."""
    if values.dtype.kind == dtype.kind == "i" and dtype.itemsize < values.dtype.itemsize:
        limits = np.iinfo(dtype)
        values = np.where((values < limits.min) | (values > limits.max), -1, values)
    return values.astype(dtype, copy=False)


_SCHEMAS: dict[type[TraceTable], tuple[TraceColumn, ...]] = {}


@dataclass_transform(frozen_default=True, field_specifiers=(column,))
class TraceTable(LazyColumns):
    """Parallel columns of equal length.

    categories: of the events that have a row in the table, if that is what decides it
    """

    table_name: ClassVar[str]
    categories: ClassVar[tuple[Category, ...]] = ()

    def __len__(self) -> int:
        return len(getattr(self, self.schema()[0].name))

    @classmethod
    def schema(cls) -> tuple[TraceColumn, ...]:
        """Return the columns, as they are declared."""
        # looked up thousands of times for each trace
        known = _SCHEMAS.get(cls)
        if known is None:
            known = _SCHEMAS[cls] = _declared(cls)
        return known

    @classmethod
    def column_names(cls) -> tuple[str, ...]:
        return tuple(cls.declared)

    @classmethod
    def from_columns(cls: type[AnyTraceTable], columns: dict[str, npt.NDArray[Any]]) -> AnyTraceTable:
        """Build a table, casting every column to its declared type."""
        return cls(**{c.name: _cast(columns[c.name], c.dtype) for c in cls.schema()})

    @classmethod
    def empty(cls: type[AnyTraceTable]) -> AnyTraceTable:
        return cls.from_columns({name: np.empty(0) for name in cls.column_names()})

    @classmethod
    def concatenate(cls: type[AnyTraceTable], pieces: list[dict[str, npt.NDArray[Any]]]) -> AnyTraceTable:
        """Join all pieces, which are emptied: no column is held twice for longer than it is copied."""
        if not pieces:
            return cls.empty()
        return cls.from_columns({name: np.concatenate([p.pop(name) for p in pieces]) for name in cls.column_names()})

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        return {name: getattr(self, name) for name in self.column_names()}

    def with_columns(self: AnyTraceTable, **columns: npt.NDArray[Any]) -> AnyTraceTable:
        """Return the same with other values in some columns."""
        return type(self)(**{**self.columns(), **columns})

    def take(self: AnyTraceTable, index: npt.NDArray[Any]) -> AnyTraceTable:
        """Return the rows that `index` selects, a column when it is used.

        index: a mask or positions; it does not change any more
        """
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)  # numpy looks through a mask for each column again

        def read(name: str) -> npt.NDArray[Any]:
            column: npt.NDArray[Any] = getattr(self, name)[index]
            return column

        return self.of_fields_read_by(frozenset(self.declared), read)


def _declared(table: type[TraceTable]) -> tuple[TraceColumn, ...]:
    # as they are written: `get_type_hints` evaluates each of hundreds
    written = {name: hint for kind in table.__mro__ for name, hint in get_annotations(kind).items()}
    return tuple(
        TraceColumn(name=name, dtype=np.dtype(ELEMENTS[written[name]]), **declared)
        for name, declared in table.declared.items()
    )


class Events(TraceTable):
    """Every event of the file, in file order; the position is the row."""

    table_name: ClassVar[str] = "events"
    phase: UInt8 = column("EventPhase", "ph")
    category: UInt8 = column("Category", "cat, in one vocabulary; annotations written as operators are moved")
    name: Int32 = column(STRING, "name")
    track: Int32 = column("index into Trace.tracks", "pid, tid", follows=True)
    start: Int64 = column("ns from Trace.origin_ns", "ts; 0 for metadata and where it is missing", follows=True)
    duration: Int64 = column("ns", "dur; -1 when the event has none")

    @spilled_property
    def end(self) -> Int64:
        """`start + duration`, in ns; the start itself for events without a duration."""
        return self.start + np.maximum(self.duration, 0)


class OperatorRanges(TraceTable):
    """Host ranges that torch records: operators and user annotations."""

    table_name: ClassVar[str] = "operators"
    categories = (Category.OPERATOR, Category.USER_ANNOTATION)
    row: Int32 = column("row", follows=True)
    external_id: Int64 = column("id", source=("External id", "external id"), follows=True)
    sequence: Int64 = column("number", "forward to backward; autograd", source="Sequence number", follows=True)
    forward_thread: Int64 = column("number", "autograd only", source="Fwd thread id", follows=True)
    concrete_inputs: Int32 = column(JSON_TEXT, "record_shapes only, since 2023", source="Concrete Inputs")
    input_type: Int32 = column(JSON_TEXT, "record_shapes only", source="Input type")
    input_strides: Int32 = column(JSON_TEXT, "record_shapes only, since 2024", source="Input Strides")
    input_dims: Int32 = column(JSON_TEXT, "record_shapes only", source=("Input Dims", "Input dims"))
    call_stack: Int32 = column(STRING, "frames joined by ;, innermost first; with_stack, verbose", source="Call stack")
    kernel_file: Int32 = column(STRING, "file of a Triton kernel of Inductor", source="kernel_file")
    kernel_kwargs: Int32 = column(STRING, "its blocks: XBLOCK=2,R0_BLOCK=2048", source="kernel_kwargs")
    num_warps: Int32 = column("warps", "Triton kernels", source="num_warps", bounds=(0, 1024))
    num_stages: Int32 = column("stages", "Triton kernels", source="num_stages", bounds=(0, 1024))
    kernel_flop: Int32 = column(JSON_TEXT, "of a kernel of Inductor; benchmark_kernel", source="kernel_flop")
    kernel_num_gb: Int32 = column(JSON_TEXT, "GB, as kernel_flop; also profile_bandwidth", source="kernel_num_gb")


class Launches(TraceTable):
    """Host calls of a device API, runtime and driver."""

    table_name: ClassVar[str] = "launches"
    categories = (Category.RUNTIME, Category.DRIVER)
    row: Int32 = column("row", follows=True)
    external_id: Int64 = column("id", "2022-23 correlation", source=("External id", "external id"), follows=True)
    kernel: Int32 = column(STRING, "name of the kernel that a call launches; ROCm only", source="kernel")
    correlation: Int64 = column("id", "the device work it started carries the same", source="correlation", follows=True)


class DeviceWork(TraceTable):
    """What ran on a device: kernels, copies, sets, and the shadows of user annotations."""

    table_name: ClassVar[str] = "device_work"
    categories = (*DEVICE_WORK, Category.GPU_USER_ANNOTATION, Category.SYNC)
    row: Int32 = column("row", follows=True)
    external_id: Int64 = column("id", source=("External id", "external id"), follows=True)
    device: Int32 = column("device number", "without the argument the pid, when it is small", source="device")
    stream: Int64 = column(
        "stream number",
        "0 is a real stream on ROCm; -1 is written unsigned; `original_stream` where `stream` is a lane of its own",
        source="stream",
        also_missing=2**32 - 1,
        may_be_text=True,
    )
    correlation: Int64 = column("id", source="correlation", follows=True)
    registers: Int32 = column("registers per thread", "not on ROCm", source="registers per thread", bounds=(0, 1024))
    shared_memory: Int64 = column("bytes per block", "not on ROCm kernels", source="shared memory", bounds=(0, 2**27))
    blocks_per_sm: Float64 = column("blocks", "not on ROCm", source="blocks per SM", bounds=(0, 2.0**63))
    grid: Int32 = column(JSON_TEXT, "[x, y, z] blocks; kernels only", source="grid")
    block: Int32 = column(JSON_TEXT, "[x, y, z] threads; kernels only", source="block")
    occupancy: Float64 = column("percent", "not on ROCm", source="est. achieved occupancy %", bounds=(0, 100))
    bytes: Int64 = column("bytes", "copies and sets", source="bytes", bounds=(0, 2**50))
    bandwidth: Float64 = column("GB/s", "copies and sets", source="memory bandwidth (GB/s)", bounds=(0, 1e6))
    graph_id: Int64 = column("id", "CUDA graphs, since 2026", source="graph id")
    graph_node_id: Int64 = column("id", "CUDA graphs, since 2026; without the graph's id", source="graph node id")
    annotation: Int32 = column(JSON_TEXT, "{key: text} that the program gave to a node of a graph", source="annotation")


class PythonFrames(TraceTable):
    """Python frames, recorded with with_stack or with_modules."""

    table_name: ClassVar[str] = "python_frames"
    categories = (Category.PYTHON_FUNCTION,)
    row: Int32 = column("row", follows=True)
    parent_id: Int64 = column("id", "may be null", source="Python parent id", follows=True)
    python_id: Int64 = column("id", source="Python id", follows=True)
    module_id: Int64 = column("id", "only nn.Module calls", source="Python module id")


class MemoryEvents(TraceTable):
    """Allocations and releases, recorded with profile_memory."""

    table_name: ClassVar[str] = "memory"
    categories = (Category.MEMORY,)
    row: Int32 = column("row", follows=True)
    total_reserved: Int64 = column("bytes", "since 1.10", source="Total Reserved")
    total_allocated: Int64 = column("bytes", "since 1.10", source="Total Allocated")
    bytes: Int64 = column("bytes, negative for a release", source="Bytes", missing=0)
    device: Int32 = column("device number, -1 on CPU", source="Device Id")
    device_type: Int32 = column("c10::DeviceType: 0 CPU, 1 CUDA, …", source="Device Type")
    address: Int64 = column("address", "since 1.10; exact below 2^53", source="Addr")


class OutOfMemory(MemoryEvents):
    """Allocations that failed: bytes that were asked for, without an address."""

    table_name: ClassVar[str] = "out_of_memory"
    categories = (Category.OUT_OF_MEMORY,)


class Flows(TraceTable):
    """Ends of arrows."""

    table_name: ClassVar[str] = "flows"
    categories = (Category.FLOW_LAUNCH, Category.FLOW_FORWARD_BACKWARD, Category.FLOW_GRAPH)
    row: Int32 = column("row", follows=True)
    id: Int64 = column("id", "the event's id, unique only within a category", follows=True)


class Collectives(TraceTable):
    """Operators and device work that carry the arguments of a collective: `record_param_comms` and its kernels."""

    table_name: ClassVar[str] = "collectives"
    row: Int32 = column("row", "has a name of a collective", follows=True)
    name: Int32 = column(STRING, source="Collective name")
    dtype: Int32 = column(STRING, source="dtype")
    group: Int32 = column(STRING, source="Process Group Name")
    group_description: Int32 = column(STRING, source="Process Group Description")
    group_ranks: Int32 = column(JSON_TEXT, source="Process Group Ranks")
    group_size: Int32 = column("ranks", source="Group size")
    in_elements: Int64 = column("elements", source="In msg nelems")
    out_elements: Int64 = column("elements", source="Out msg nelems")
    source_rank: Int32 = column("rank", "who sends; point-to-point only", source="Src Rank")
    target_rank: Int32 = column("rank", "who receives; point-to-point only", source="Dst Rank")
    sequence: Int64 = column("number", "since 2026", source="Seq", follows=True)
    comms_id: Int32 = column(JSON_TEXT, "the same on all ranks; since 2026", source="Comms Id")


class Syncs(TraceTable):
    """Waits that CUPTI recorded: one row per event of the category SYNC that has a kind. Its stream is in `DeviceWork`.

    Only in files recorded with `enable_cuda_sync_events`.
    """

    table_name: ClassVar[str] = "syncs"
    row: Int32 = column("row", "an event of the category SYNC", follows=True)
    kind: Int32 = column(STRING, "Stream Sync, Event Sync, Context Sync, Stream Wait Event", source="cuda_sync_kind")
    wait_on_stream: Int64 = column("stream number", "of the event", source="wait_on_stream", also_missing=2**32 - 1)
    record_correlation: Int64 = column(
        "id", "of the call that recorded the event", source="wait_on_cuda_event_record_corr_id", also_missing=2**32 - 1
    )


class CounterValues(TraceTable):
    """Numbers of counter events, one row for each key of their arguments."""

    table_name: ClassVar[str] = "counter_values"
    row: Int32 = column("row", "an event of the category COUNTER", follows=True)
    series: Int32 = column(STRING, "the key in args")
    value: Float64 = column("as the program counts", "finite")


class Chunks(TraceTable):
    """Where the text of each chunk of events stands in the (uncompressed) file."""

    table_name: ClassVar[str] = "chunks"
    offset: Int64 = column("bytes from the start of the text", follows=True)
    length: Int64 = column("bytes")
    first_row: Int32 = column("row", "the first event of the chunk", follows=True)


TRACE_TABLES: tuple[type[TraceTable], ...] = (
    *(
        Events,
        OperatorRanges,
        Launches,
        DeviceWork,
        PythonFrames,
        MemoryEvents,
        OutOfMemory,
        Flows,
        Collectives,
        Syncs,
    ),
    *(CounterValues, Chunks),
)
