"""Every table and column of a trace, with type, unit, origin and when it is missing.

This is the room everyone passes: a new fact from trace files enters here first.

Conventions
    row         the number of an event in its file, counted from 0; it never changes, and every table points
                to events by it.
    time        integer nanoseconds, relative to `Trace.origin_ns`.
    string      an int32 code into `Trace.strings`; code 0 is the empty string and means "missing".
    missing     -1 in integer columns, NaN in float columns, unless the column says otherwise.

Origins are written as they appear in the chrome trace event (`args.correlation` is `event["args"]["correlation"]`).
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from enum import IntEnum
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Float64, Int32, Int64, UInt8


class Phase(IntEnum):
    """`ph` of a chrome trace event."""

    OTHER = 0
    COMPLETE = 1  # X: has a start and a duration
    INSTANT = 2  # i, I, n, R
    FLOW_START = 3  # s
    FLOW_STEP = 4  # t
    FLOW_END = 5  # f
    METADATA = 6  # M: names of processes and threads
    COUNTER = 7  # C
    BEGIN = 8  # B, b
    END = 9  # E, e


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
    SYNC = 10  # cuda_sync: what a stream, event or the host waited for
    OVERHEAD = 11  # the profiler's own work
    MEMORY = 12  # `[memory]` instants: one allocation or release
    FLOW_LAUNCH = 13  # arrows from a launch to its device work
    FLOW_FORWARD_BACKWARD = 14  # arrows from a forward operator to its backward
    SPAN = 15  # `Trace`: the whole recording window
    METADATA = 16
    COUNTER = 17


DEVICE_WORK = (Category.KERNEL, Category.MEMCPY, Category.MEMSET)


AnyTable = TypeVar("AnyTable", bound="Table")


def column(dtype: str, unit: str, origin: str, *, follows: bool = False) -> Any:
    """Declare a column: its numpy type, its unit or meaning, and where it comes from.

    follows: integers that are mostly a little more than the one before, or equal to it. On disk they are differences.
    """
    return field(metadata={"dtype": dtype, "unit": unit, "origin": origin, "follows": follows})


def _cast(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """To a column's type; a number that does not fit is missing, never another number."""
    if values.dtype.kind == dtype.kind == "i" and dtype.itemsize < values.dtype.itemsize:
        limits = np.iinfo(dtype)
        values = np.where((values < limits.min) | (values > limits.max), -1, values)
    return values.astype(dtype, copy=False)


_FIELDS: dict[type[Table], tuple[Field[Any], ...]] = {}


@dataclass(frozen=True)
class Table:
    """Parallel columns of equal length."""

    table_name: ClassVar[str]

    def __len__(self) -> int:
        return len(getattr(self, self.column_fields()[0].name))

    @classmethod
    def column_fields(cls) -> tuple[Field[Any], ...]:
        # looked up thousands of times for each trace
        known = _FIELDS.get(cls)
        if known is None:
            known = _FIELDS[cls] = tuple(f for f in fields(cls) if "dtype" in f.metadata)
        return known

    @classmethod
    def column_names(cls) -> tuple[str, ...]:
        return tuple(f.name for f in cls.column_fields())

    @classmethod
    def from_columns(cls: type[AnyTable], columns: dict[str, npt.NDArray[Any]]) -> AnyTable:
        """Build a table, casting every column to its declared type."""
        return cls(**{f.name: _cast(columns[f.name], np.dtype(f.metadata["dtype"])) for f in cls.column_fields()})

    @classmethod
    def empty(cls: type[AnyTable]) -> AnyTable:
        return cls.from_columns({name: np.empty(0) for name in cls.column_names()})

    @classmethod
    def concatenate(cls: type[AnyTable], pieces: list[dict[str, npt.NDArray[Any]]]) -> AnyTable:
        """One table of all pieces, which are emptied: no column is held twice for longer than it is copied."""
        if not pieces:
            return cls.empty()
        return cls.from_columns({name: np.concatenate([p.pop(name) for p in pieces]) for name in cls.column_names()})

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        return {name: getattr(self, name) for name in self.column_names()}

    def take(self: AnyTable, index: npt.NDArray[Any]) -> AnyTable:
        """The rows that `index` (a mask or positions) selects."""
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)  # numpy looks through a mask for each column anew
        return type(self)(**{name: cast(npt.NDArray[Any], getattr(self, name))[index] for name in self.column_names()})


@dataclass(frozen=True)
class Events(Table):
    """Every event of the file, in file order; the position is the row."""

    table_name: ClassVar[str] = "events"
    phase: UInt8 = column("u1", "Phase", "ph")
    category: UInt8 = column("u1", "Category", "cat, in one vocabulary; annotations written as operators are moved")
    name: Int32 = column("i4", "string", "name")
    track: Int32 = column("i4", "index into Trace.tracks", "pid, tid", follows=True)
    start: Int64 = column("i8", "ns from Trace.origin_ns", "ts; 0 for metadata and where it is missing", follows=True)
    duration: Int64 = column("i8", "ns", "dur; -1 when the event has none")

    @cached_property
    def end(self) -> Int64:
        """`start + duration`, in ns; the start itself for events without a duration."""
        return self.start + np.maximum(self.duration, 0)


@dataclass(frozen=True)
class Operators(Table):
    """Host ranges that torch records: operators and user annotations."""

    table_name: ClassVar[str] = "operators"
    row: Int32 = column("i4", "row", "events of category OPERATOR or USER_ANNOTATION", follows=True)
    external_id: Int64 = column("i8", "id", "args.External id, args.external id", follows=True)
    sequence: Int64 = column(
        "i8", "number", "args.Sequence number: joins forward and backward; autograd only", follows=True
    )
    forward_thread: Int64 = column("i8", "number", "args.Fwd thread id; autograd only", follows=True)
    input_dims: Int32 = column("i4", "string, JSON text", "args.Input Dims, args.Input dims; record_shapes only")
    input_type: Int32 = column("i4", "string, JSON text", "args.Input type; record_shapes only")
    input_strides: Int32 = column("i4", "string, JSON text", "args.Input Strides; record_shapes only, since 2024")
    concrete_inputs: Int32 = column("i4", "string, JSON text", "args.Concrete Inputs; record_shapes only, since 2023")
    call_stack: Int32 = column(
        "i4", "string, frames joined by ;", "args.Call stack; innermost first; with_stack, verbose"
    )


@dataclass(frozen=True)
class Launches(Table):
    """Host calls of a device API, runtime and driver."""

    table_name: ClassVar[str] = "launches"
    row: Int32 = column("i4", "row", "events of category RUNTIME or DRIVER", follows=True)
    correlation: Int64 = column(
        "i8", "id", "args.correlation: the device work it started carries the same", follows=True
    )
    external_id: Int64 = column(
        "i8", "id", "args.External id; equals the correlation in files of 2022-23", follows=True
    )


@dataclass(frozen=True)
class DeviceWork(Table):
    """What ran on a device: kernels, copies, sets, and the shadows of user annotations."""

    table_name: ClassVar[str] = "device_work"
    row: Int32 = column(
        "i4", "row", "events of category KERNEL, MEMCPY, MEMSET, GPU_USER_ANNOTATION, SYNC", follows=True
    )
    correlation: Int64 = column("i8", "id", "args.correlation", follows=True)
    external_id: Int64 = column("i8", "id", "args.External id", follows=True)
    device: Int32 = column("i4", "device number", "args.device; else pid when that is a small number")
    stream: Int64 = column("i8", "stream number", "args.stream; 0 is a real stream on ROCm; 2^32-1 is none")
    grid: Int32 = column("i4", "string, JSON text", "args.grid: [x, y, z] blocks; kernels only")
    block: Int32 = column("i4", "string, JSON text", "args.block: [x, y, z] threads; kernels only")
    registers: Int32 = column("i4", "registers per thread", "args.registers per thread; not on ROCm")
    shared_memory: Int64 = column("i8", "bytes per block", "args.shared memory; not on ROCm kernels")
    blocks_per_sm: Float64 = column("f8", "blocks", "args.blocks per SM; not on ROCm")
    occupancy: Float64 = column("f8", "percent", "args.est. achieved occupancy %; not on ROCm")
    bytes: Int64 = column("i8", "bytes", "args.bytes; copies and sets")
    bandwidth: Float64 = column("f8", "GB/s", "args.memory bandwidth (GB/s); copies and sets")
    graph_id: Int64 = column("i8", "id", "args.graph id; CUDA graphs, since 2026")
    graph_node_id: Int64 = column("i8", "id", "args.graph node id; CUDA graphs, since 2026")


@dataclass(frozen=True)
class PythonFrames(Table):
    """Python frames, recorded with with_stack or with_modules."""

    table_name: ClassVar[str] = "python_frames"
    row: Int32 = column("i4", "row", "events of category PYTHON_FUNCTION", follows=True)
    python_id: Int64 = column("i8", "id", "args.Python id", follows=True)
    parent_id: Int64 = column("i8", "id", "args.Python parent id; may be null", follows=True)
    module_id: Int64 = column("i8", "id", "args.Python module id; only nn.Module calls")


@dataclass(frozen=True)
class Memory(Table):
    """Allocations and releases, recorded with profile_memory."""

    table_name: ClassVar[str] = "memory"
    row: Int32 = column("i4", "row", "events named [memory]", follows=True)
    address: Int64 = column("i8", "address", "args.Addr; since 1.10; exact below 2^53")
    bytes: Int64 = column("i8", "bytes, negative for a release", "args.Bytes; 0 when missing")
    total_allocated: Int64 = column("i8", "bytes", "args.Total Allocated; since 1.10")
    total_reserved: Int64 = column("i8", "bytes", "args.Total Reserved; since 1.10")
    device_type: Int32 = column("i4", "c10::DeviceType: 0 CPU, 1 CUDA, …", "args.Device Type")
    device: Int32 = column("i4", "device number, -1 on CPU", "args.Device Id")


@dataclass(frozen=True)
class Flows(Table):
    """Ends of arrows."""

    table_name: ClassVar[str] = "flows"
    row: Int32 = column("i4", "row", "events of category FLOW_LAUNCH or FLOW_FORWARD_BACKWARD", follows=True)
    id: Int64 = column("i8", "id, unique only within a category", "id", follows=True)


@dataclass(frozen=True)
class Collectives(Table):
    """Events that carry the arguments of a collective: record_param_comms operators and communication kernels."""

    table_name: ClassVar[str] = "collectives"
    row: Int32 = column("i4", "row", "operators and device work with args.Collective name", follows=True)
    name: Int32 = column("i4", "string", "args.Collective name")
    dtype: Int32 = column("i4", "string", "args.dtype")
    group: Int32 = column("i4", "string", "args.Process Group Name")
    group_description: Int32 = column("i4", "string", "args.Process Group Description")
    group_ranks: Int32 = column("i4", "string, JSON text", "args.Process Group Ranks")
    group_size: Int32 = column("i4", "ranks", "args.Group size")
    in_elements: Int64 = column("i8", "elements", "args.In msg nelems")
    out_elements: Int64 = column("i8", "elements", "args.Out msg nelems")
    sequence: Int64 = column("i8", "number", "args.Seq; since 2026", follows=True)


@dataclass(frozen=True)
class Chunks(Table):
    """Where the text of each stretch of events stands in the (uncompressed) file."""

    table_name: ClassVar[str] = "chunks"
    offset: Int64 = column("i8", "bytes from the start of the text", "", follows=True)
    length: Int64 = column("i8", "bytes", "")
    first_row: Int32 = column("i4", "row", "the first event of the chunk", follows=True)


TRACE_TABLES: tuple[type[Table], ...] = (
    Events,
    Operators,
    Launches,
    DeviceWork,
    PythonFrames,
    Memory,
    Flows,
    Collectives,
    Chunks,
)
