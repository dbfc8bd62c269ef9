"""Communication: operations with their groups, sizes and times, recognized by name; the factors of nccl-tests.

A kernel is communication by the arguments of its collective, else when torch launched it directly in
`record_param_comms`, else by the family of its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.kernel_names.plain import MOST
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import TraceTable, column

#: record_function ranges around a collective, written by torch.distributed as `library:collective`
HOST_RANGE = lazy_pattern(r"(?P<library>nccl|gloo|mpi|ucc|xccl|hccl):(?P<collective>.*)")

#: the operator in which torch.distributed records the arguments of a collective
PARAMETERS_OPERATOR = "record_param_comms"


#: prefixes of the operators of torch.distributed around the ranges above
_OPERATORS = ("c10d::", "_c10d_functional::", "c10d_functional::")


def is_host_communication(name: str) -> bool:
    """Whether an operator or annotation, by its name, is a call of torch.distributed."""
    return name == PARAMETERS_OPERATOR or name.startswith(_OPERATORS) or HOST_RANGE.match(name) is not None


#: libraries of communication in the table of families → their names in operations, such as `nccl:all_reduce`
LIBRARIES = {
    "NCCL": "nccl",
    "RCCL": "rccl",
    "DeepEP": "deep_ep",
    "mori": "mori",
    "pplx": "pplx",
    "TensorRT-LLM MoE": "trt_llm",
    "MSCCL++": "mscclpp",
    "NVSHMEM": "nvshmem",
    "rocSHMEM": "rocshmem",
    "iSHMEM": "ishmem",
    "oneCCL": "oneccl",
    "HCCL": "hccl",
    "Transformer Engine userbuffers": "userbuffers",
}
#: all-reduces that an inference engine brings along, alone or with what follows them
CUSTOM = "custom"

UNKNOWN_KIND = "other"

#: kind of a collective, by what its name without signs contains; the first that matches counts
_KINDS = (
    ("reduce_scatter", r"reducescatter|userbuffers.*rs(?:oop|$)"),
    ("all_reduce", r"allreduce|crossdevicereduce|lamport|localdeviceloadrmsnorm|userbuffers.*sum(?!.*ag$)"),
    ("all_gather", r"allgather|userbuffers.*ag$"),
    ("all_to_all", r"alltoall|(?:deepep|pplx).*(?:dispatch|combine)|^ep(?:dispatch|combine)|moecomm|moeaa"),
    ("send_recv", r"sendrecv|pointtopoint"),
    ("broadcast", r"broadcast"),
    ("barrier", r"barrier"),
    ("gather", r"gather"),
    ("scatter", r"scatter"),
    ("send", r"send"),
    ("recv", r"recv"),
    ("reduce", r"reduce"),
)
_KIND_PATTERNS = tuple((kind, lazy_pattern(pattern)) for kind, pattern in _KINDS)

KINDS = (*(kind for kind, _ in _KINDS), UNKNOWN_KIND)

#: between two ranks: the operation of one rank is not that of another
POINT_TO_POINT = frozenset({"send_recv", "send", "recv"})

#: names that torch records with a collective's arguments and that move nothing
NOT_COLLECTIVES = frozenset({"wait", "init", "end"})

#: bytes of an element, by the names of torch (`BFloat16`) and of C++ (`c10::BFloat16`, `long int`) in lower case
ELEMENT_BYTES = {
    "double": 8,
    "float": 4,
    "half": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
    "complexhalf": 4,
    "complexfloat": 8,
    "complexdouble": 16,
    "complex<half>": 4,
    "complex<float>": 8,
    "complex<double>": 16,
    "bool": 1,
    "byte": 1,
    "char": 1,
    "unsigned char": 1,
    "signed char": 1,
    "short": 2,
    "short int": 2,
    "int": 4,
    "long": 8,
    "long int": 8,
    "long long": 8,
    "long long int": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "unsigned short": 2,
    "short unsigned int": 2,
    "unsigned int": 4,
    "unsigned long": 8,
    "long unsigned int": 8,
    "qint8": 1,
    "quint8": 1,
    "qint32": 4,
    "quint4x2": 1,
    "quint2x4": 1,
    "bits1x8": 1,
    "bits2x4": 1,
    "bits4x2": 1,
    "bits8": 1,
    "bits16": 2,
}


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """Classify a collective by what torch calls it, by its host range or by its kernel."""
    letters = re.sub(r"[^a-z]", "", name[:MOST].lower())
    return next((kind for kind, pattern in _KIND_PATTERNS if pattern.search(letters)), UNKNOWN_KIND)


def library_of_kernel(name: str) -> str | None:
    """Return the library of communication that a kernel belongs to; None if it belongs to none, or is unknown."""
    family = family_of(name)
    if family is None or family.kind is not KernelKind.COMMUNICATION:
        return None
    return LIBRARIES.get(family.library, CUSTOM)


def element_bytes(dtype: str) -> int | None:
    return ELEMENT_BYTES.get(dtype.strip().lower().replace("c10::", ""))


#: kind → factor of the bus bandwidth
_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "broadcast": lambda _: 1.0,
    "reduce": lambda _: 1.0,
    "send": lambda _: 1.0,
    "recv": lambda _: 1.0,
    "send_recv": lambda _: 1.0,
}

_OF_ALL_RANKS = ("all_gather", "reduce_scatter", "gather", "scatter")


def bus_factor(kind: str, ranks: int, algorithm: str = "") -> float | None:
    """Return the factor of the bus bandwidth; None for a barrier, an unknown kind, an unknown number of ranks.

    algorithm   with "nvls" the switch adds up, so that each link moves (n−1)/(n+1) of an all-reduce
    """
    if kind == "all_reduce" and algorithm == "nvls" and ranks > 0:
        return (ranks - 1) / (ranks + 1)
    factor = _FACTORS.get(kind)
    return factor(ranks) if factor and ranks > 0 else None


def nccl_tests_bytes(kind: str, in_bytes: int, out_bytes: int, ranks: int) -> int | None:
    """S in bytes: of all ranks together where each has a part, else what one rank puts in; None if unknown.

    in_bytes, out_bytes: of one rank; negative when unknown
    """
    if kind not in _FACTORS:
        return None
    if kind in _OF_ALL_RANKS:
        part, whole = (in_bytes, out_bytes) if kind in ("all_gather", "gather") else (out_bytes, in_bytes)
        if kind in ("all_gather", "reduce_scatter") and whole >= 0:
            return whole
        return part * ranks if part >= 0 and ranks > 0 else None
    known = in_bytes if in_bytes >= 0 else out_bytes
    return known if known >= 0 else None


@lru_cache(maxsize=1024)
def input_bytes(dims: str, types: str) -> tuple[str, int]:
    """Return the type of the first input that has one, and the bytes of all; -1 when a tensor's type is unknown."""
    try:
        shapes, names = json.loads(dims or "[]"), json.loads(types or "[]")
    except ValueError:
        return "", -1
    if not isinstance(shapes, list) or not isinstance(names, list):
        return "", -1
    first, total = "", -1
    for shape, name in zip(shapes, names, strict=False):
        size = element_bytes(name) if isinstance(name, str) else None
        if size is None:
            if shape and name not in ("", "Scalar"):
                return "", -1
            continue
        first = first or name
        total = max(total, 0) + size * _elements(shape)
    return first, total


def _elements(shape: npt.ArrayLike | Sequence[Any]) -> int:
    """Count the elements of a shape, or of a list of shapes."""
    if not isinstance(shape, list):
        return 0
    if any(isinstance(part, list) for part in shape):
        return sum(_elements(part) for part in shape)
    product = 1
    for part in shape:
        product *= part if isinstance(part, int) else 0
    return product


def collective_calls(trace: Trace, rows: Int32) -> Int32:
    """Select rows that are named like the call of a collective, such as `nccl:all_reduce`."""
    return rows[where_named(trace, HOST_RANGE.match, trace.events.name[rows])]


def is_communication_work(trace: Trace, launched_in: Int32) -> Bool:
    """Shape (device work,): kernels of a collective.

    launched_in: the name (string code) of the innermost operator around the launch, 0 for none
    """
    events, work = trace.events, trace.device_work
    has_arguments = np.zeros(len(events), dtype=np.bool_)
    has_arguments[trace.collectives.row] = True
    in_parameters = launched_in == trace.strings.code(PARAMETERS_OPERATOR)
    by_name = where_named(trace, library_of_kernel, events.name[work.row])
    found: Bool = (events.category[work.row] == Category.KERNEL) & (has_arguments[work.row] | in_parameters | by_name)
    return found


def where_named(trace: Trace, wanted: Callable[[str], object], codes: Int32) -> Bool:
    """Mark the names of a column for which `wanted(name)` is true."""
    return trace.strings.where(wanted, codes)[codes]


class ProcessGroup(msgspec.Struct, frozen=True):
    """Ranks that communicate with each other.

    name, description: empty if the trace does not contain it; `ranks` is then empty, too
    ranks: numbers in the whole job
    size: 0 when unknown
    """

    name: str = ""
    description: str = ""
    ranks: tuple[int, ...] = ()
    size: int = 0

    @property
    def label(self) -> str:
        """Name for tables, description first; empty if unknown."""
        if self.description and self.description != "undefined":
            return f"{self.description} ({self.name})" if self.name else self.description
        return self.name


def groups_of_header(trace: Trace) -> dict[str, ProcessGroup]:
    """`distributedInfo.pg_config`, by name."""
    found: dict[str, ProcessGroup] = {}
    listed = trace.header.distributed.get("pg_config")
    for group in listed if isinstance(listed, list) else []:
        if isinstance(group, dict) and group.get("pg_name") is not None:
            ranks = ranks_of(json.dumps(group.get("ranks")))
            name = str(group["pg_name"])
            size = positive_number(group.get("pg_size")) or len(ranks)
            found[name] = ProcessGroup(name, str(group.get("pg_desc") or ""), ranks, size)
    return found


def positive_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


@lru_cache(maxsize=256)
def ranks_of(text: str) -> tuple[int, ...]:
    """Parse ranks, `[0, 1]` or its string; empty for long lists, which torch shortens with dots."""
    try:
        ranks = json.loads(text)
    except ValueError:
        return ()
    if isinstance(ranks, str):
        return ranks_of(ranks)
    if isinstance(ranks, list) and all(isinstance(rank, int) for rank in ranks):
        return tuple(ranks)
    return ()


#: how an operation was recognised
RECOGNISED = ("kernel_arguments", "host_arguments", "host_range", "kernel_name")


class Operations(TraceTable):
    """One row per operation of this rank, in the order in which the host called them."""

    table_name: ClassVar[str] = "operations"
    name: Int32 = column("index into Communications.names", "the host range, else `library:kind`")
    kind: Int8 = column("index into KINDS", "collective name, host range, kernel name")
    group: Int32 = column("index into Communications.groups", "arguments, else distributedInfo")
    dtype: Int32 = column("index into Communications.dtypes; 0 is unknown", "arguments, else Input type")
    in_bytes: Int64 = column("bytes, -1", "In msg nelems × size of dtype, else Input Dims and Input type")
    out_bytes: Int64 = column("bytes, -1", "Out msg nelems × size of dtype")
    sequence: Int64 = column("number within the group, -1", "Seq")
    peer: Int32 = column("number of the other rank of a send or a receive, -1", "Dst Rank, Src Rank")
    identity: Int32 = column("index into Communications.identities; 0 is unknown", "Comms Id")
    host_start: Int64 = column("ns, -1", "the call on the host")
    host_end: Int64 = column("ns, -1", "the call on the host")
    on_device: Bool = column("", "its ranges are kernels, not the call")
    recognised: Int8 = column("index into RECOGNISED")


class Ranges(TraceTable):
    """When the operations ran, by operation and start: kernels, or the call on the host where there can be none."""

    table_name: ClassVar[str] = "ranges"
    operation: Int32 = column("row of Operations")
    start: Int64 = column("ns")
    end: Int64 = column("ns")


class Communications(msgspec.Struct, frozen=True):
    """All communication of one trace."""

    names: tuple[str, ...]
    groups: tuple[ProcessGroup, ...]
    dtypes: tuple[str, ...]
    #: what all ranks call the same operation, as it stands in the file
    identities: tuple[str, ...]
    operations: Operations
    ranges: Ranges

    def __len__(self) -> int:
        return len(self.operations)

    @property
    def start(self) -> Int64:
        """Start of each operation, ns: of its call on the host, else of its first range."""
        first = least_at(self.ranges.operation, self.ranges.start, len(self))
        return np.where(self.operations.host_start >= 0, self.operations.host_start, first)

    @property
    def end(self) -> Int64:
        """End of the last range of each operation, ns; -1 if only the call was recorded."""
        return np.maximum(greatest_at(self.ranges.operation, self.ranges.end, len(self)), -1)

    @property
    def duration(self) -> Int64:
        """Σ of the ranges of each operation, ns; -1 if only the call was recorded."""
        total = np.full(len(self), -1, np.int64)
        total[self.ranges.operation] = 0
        np.add.at(total, self.ranges.operation, self.ranges.end - self.ranges.start)
        return total
