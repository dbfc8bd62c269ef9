"""The operations of communication in a trace: what was sent in which group, and when it ran.

A kernel is communication by the arguments of its collective, else when torch launched it directly in
`record_param_comms`, else by the family of its name. The names are in `communication_names`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import least_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.communication_names import (
    HOST_RANGE,
    KINDS,
    NOT_COLLECTIVES,
    PARAMETERS_OPERATOR,
    element_bytes,
    kind_of,
    library_of_kernel,
)
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import Table, column

#: how an operation was recognised
RECOGNISED = ("kernel_arguments", "host_arguments", "host_range", "kernel_name")


@dataclass(frozen=True)
class ProcessGroup:
    """Ranks that communicate with each other.

    name, description: empty when the trace does not say; `ranks` is then empty, too
    ranks: numbers in the whole job
    size: 0 when it is not known
    """

    name: str = ""
    description: str = ""
    ranks: tuple[int, ...] = ()
    size: int = 0


@dataclass(frozen=True)
class Operations(Table):
    """One row per operation of this rank, in the order in which the host called them."""

    table_name: ClassVar[str] = "operations"
    name: Int32 = column("index into Communications.names", "the host range, else `library:kind`")
    kind: Int8 = column("index into KINDS", "collective name, host range, kernel name")
    group: Int32 = column("index into Communications.groups", "arguments, else distributedInfo")
    dtype: Int32 = column("index into Communications.dtypes; 0 is unknown", "arguments, else Input type")
    in_bytes: Int64 = column("bytes, -1", "In msg nelems × size of dtype, else Input Dims and Input type")
    out_bytes: Int64 = column("bytes, -1", "Out msg nelems × size of dtype")
    sequence: Int64 = column("number within the group, -1", "Seq")
    host_start: Int64 = column("ns, -1", "the call on the host")
    host_end: Int64 = column("ns, -1", "the call on the host")
    on_device: Bool = column("", "its ranges are kernels, not the call")
    recognised: Int8 = column("index into RECOGNISED")


@dataclass(frozen=True)
class Ranges(Table):
    """When the operations ran, by operation and start: kernels, or the call on the host where there can be none."""

    table_name: ClassVar[str] = "ranges"
    operation: Int32 = column("row of Operations")
    start: Int64 = column("ns")
    end: Int64 = column("ns")


@dataclass(frozen=True)
class Communications:
    """All communication of one trace."""

    names: tuple[str, ...]
    groups: tuple[ProcessGroup, ...]
    dtypes: tuple[str, ...]
    operations: Operations
    ranges: Ranges

    def __len__(self) -> int:
        return len(self.operations)

    @property
    def start(self) -> Int64:
        """When each operation began: the call on the host, else its first range."""
        first = least_at(self.ranges.operation, self.ranges.start, len(self))
        return np.where(self.operations.host_start >= 0, self.operations.host_start, first)

    @property
    def duration(self) -> Int64:
        """Σ of the ranges of each operation, ns; -1 for one of which only the call was recorded."""
        total = np.full(len(self), -1, np.int64)
        total[self.ranges.operation] = 0
        np.add.at(total, self.ranges.operation, self.ranges.end - self.ranges.start)
        return total


def communication_rows(trace: Trace) -> Int32:
    """Rows of host annotations and operators that are a collective call, in file order."""
    events = trace.events
    host = np.flatnonzero(one_of(events.category, (Category.USER_ANNOTATION, Category.OPERATOR)))
    return host[_named(trace, HOST_RANGE.match, events.name[host])].astype(np.int32)


def is_communication_work(trace: Trace, launched_in: Int32) -> Bool:
    """Shape (device work,): kernels of a collective.

    launched_in: the name (string code) of the innermost operator around the launch, 0 for none
    """
    events, work = trace.events, trace.device_work
    has_arguments = np.zeros(len(events), dtype=np.bool_)
    has_arguments[trace.collectives.row] = True
    in_parameters = launched_in == trace.strings.code(PARAMETERS_OPERATOR)
    named = _named(trace, library_of_kernel, events.name[work.row])
    found: Bool = (events.category[work.row] == Category.KERNEL) & (has_arguments[work.row] | in_parameters | named)
    return found


def _named(trace: Trace, wanted: Callable[[str], object], codes: Int32) -> Bool:
    return trace.strings.where(wanted, codes)[codes]


@dataclass(frozen=True)
class Links:
    """What `communications` needs to know of device work: parallel columns, one row per kernel of a collective.

    row: the event; node: innermost host range around the launch, -1; launch_start, launch_end: ns, -1
    """

    row: Int32
    node: Int32
    launch_start: Int64
    launch_end: Int64
    external_id: Int64


def communications(trace: Trace, tree: CallTree, kernels: Links) -> Communications:
    """Put together calls on the host and kernels."""
    anchors = _Anchors(trace, tree)
    node = anchors.of(kernels.node)
    lost = np.flatnonzero(node < 0)
    node[lost] = anchors.by_external_id(trace, kernels, lost)
    return _Builder(trace, tree, anchors, kernels, node).build()


class _Anchors:
    """Host ranges that are a call of a collective: `library:collective`, and `record_param_comms` around or alone."""

    def __init__(self, trace: Trace, tree: CallTree) -> None:
        self._tree = tree
        self.is_range = _named(trace, HOST_RANGE.match, tree.name)
        is_parameters = tree.name == trace.strings.code(PARAMETERS_OPERATOR)
        self._is_anchor = self.is_range | is_parameters
        nodes = np.arange(len(tree), dtype=np.int32)
        ranges = nodes[self.is_range]
        #: nearest node with the arguments, itself included
        self.parameters = nearest(tree.parent, is_parameters, nodes)
        around = self.parameters[ranges]
        inside = np.bincount(around[around >= 0], minlength=len(tree))
        # a call recorded as two ranges, one in the other, is one operation: the inner one
        self._operation = nodes.copy()
        only = (around >= 0) & (inside[around] == 1)
        self._operation[around[only]] = ranges[only]

    def of(self, node: Int32) -> Int32:
        """The operation that each node belongs to; -1 for none."""
        anchor = nearest(self._tree.parent, self._is_anchor, node)
        return np.where(anchor >= 0, self._operation[anchor], -1).astype(np.int32) if len(self._tree) else anchor

    def around(self, node: Int32) -> Int32:
        """The nearest anchor outside of each node; -1 for none."""
        return nearest(self._tree.parent, self._is_anchor, self._tree.parent[node])

    def by_external_id(self, trace: Trace, kernels: Links, chosen: Int64) -> Int32:
        """For kernels whose launch was not recorded: the range of the same id and kind that began before.

        In files of 2022-23 the ids repeat the correlation; the kind keeps most of those apart.
        """
        found = np.full(len(chosen), -1, dtype=np.int32)
        ranges = np.flatnonzero(self.is_range)
        ids = trace.operators.external_id[self._tree.operator[ranges]]
        known = ids > 0
        by_id = dict(zip(ids[known].tolist(), ranges[known].tolist(), strict=True))
        for i, kernel in enumerate(chosen.tolist()):
            node = by_id.get(int(kernels.external_id[kernel]), -1)
            row = int(kernels.row[kernel])
            if node < 0 or self._tree.start[node] > trace.events.start[row]:
                continue
            kinds = {kind_of(trace.strings[code]) for code in (trace.events.name[row], self._tree.name[node])}
            if len(kinds) == 1:
                found[i] = node
        return found


class _Builder:
    """Collects the columns of `Operations`, one operation at a time: there are thousands at most, not millions."""

    def __init__(self, trace: Trace, tree: CallTree, anchors: _Anchors, kernels: Links, node: Int32) -> None:
        self._trace, self._tree, self._anchors, self._kernels = trace, tree, anchors, kernels
        self._arguments = {row: i for i, row in enumerate(trace.collectives.row.tolist())}
        self._names: dict[str, int] = {}
        self._dtypes: dict[str, int] = {"": 0}
        self._groups: dict[ProcessGroup, int] = {}
        self._known_groups = _groups_of_header(trace)
        self._rows: list[dict[str, Any]] = []
        self._spans: list[list[tuple[int, int]]] = []
        starts = trace.events.start[kernels.row]
        ends = starts + np.maximum(trace.events.duration[kernels.row], 0)
        self._spans_of_kernels = list(zip(starts.tolist(), ends.tolist(), strict=True))
        self._kernels_of: dict[int, list[int]] = {}
        self._alone: list[int] = []
        for kernel, of in enumerate(node.tolist()):
            if of >= 0:
                self._kernels_of.setdefault(of, []).append(kernel)
            else:
                self._alone.append(kernel)

    def build(self) -> Communications:
        launching = np.fromiter(self._kernels_of, np.int64, len(self._kernels_of))
        calls = distinct(np.concatenate((np.flatnonzero(self._anchors.is_range), launching))).astype(np.int32)
        around = set(self._anchors.around(calls).tolist())
        for node in calls.tolist():
            kernels = self._kernels_of.get(node, [])
            # a range around others that launched nothing itself only groups them
            if kernels or node not in around:
                self._add(node, kernels)
        for kernel in self._alone:
            self._add(-1, [kernel])
        self._time_calls()
        return self._sorted()

    def _add(self, node: int, kernels: list[int]) -> None:
        trace, tree = self._trace, self._tree
        texts = trace.strings
        kernel_name = texts[trace.events.name[self._kernels.row[kernels[0]]]] if kernels else ""
        host = HOST_RANGE.match(texts[tree.name[node]]) if node >= 0 else None
        on_kernel = self._arguments_at(int(self._kernels.row[k]) for k in kernels)
        parameters = int(self._anchors.parameters[node]) if node >= 0 else -1
        on_host = self._arguments_at([int(tree.row[parameters])]) if parameters >= 0 else -1
        arguments = on_kernel if on_kernel >= 0 else on_host
        collective = texts[trace.collectives.name[arguments]] if arguments >= 0 else ""
        if collective in NOT_COLLECTIVES and not kernels:
            return
        kind = next(
            (
                k
                for text in (collective, host and host["collective"], kernel_name)
                if text and (k := kind_of(text)) != KINDS[-1]
            ),
            KINDS[-1],
        )
        library = host["library"] if host else library_of_kernel(kernel_name) or self._backend()
        dtype, in_bytes, out_bytes = self._sizes(node, parameters, arguments)
        if node >= 0:
            call = int(tree.start[node]), int(tree.end[node])
        else:
            call = int(self._kernels.launch_start[kernels[0]]), int(self._kernels.launch_end[kernels[0]])
        if on_kernel >= 0:
            recognised = "kernel_arguments"
        elif arguments >= 0 or (node >= 0 and not host):
            recognised = "host_arguments"
        else:
            recognised = "host_range" if host else "kernel_name"
        self._rows.append(
            {
                "name": _code(self._names, host.group() if host else f"{library}:{kind}"),
                "kind": KINDS.index(kind),
                "group": _code(self._groups, self._group(arguments)),
                "dtype": _code(self._dtypes, dtype),
                "in_bytes": in_bytes,
                "out_bytes": out_bytes,
                "sequence": int(trace.collectives.sequence[arguments]) if arguments >= 0 else -1,
                "host_start": call[0],
                "host_end": call[1],
                "on_device": bool(kernels),
                "recognised": RECOGNISED.index(recognised),
                "library": library,
            }
        )
        self._spans.append([self._spans_of_kernels[kernel] for kernel in kernels])

    def _time_calls(self) -> None:
        """Where a library has no kernels in the trace, its calls are all there is to measure.

        A call without a kernel, of a library that has some, only starts something: its kernel was not recorded.
        """
        on_device = {row["library"] for row in self._rows if row["on_device"]}
        for row, spans in zip(self._rows, self._spans, strict=True):
            if not spans and row["library"] not in on_device:
                spans.append((row["host_start"], row["host_end"]))

    def _sorted(self) -> Communications:
        columns = {f.name: np.array([row[f.name] for row in self._rows]) for f in fields(Operations)}
        first = [min((s for s, _ in spans), default=-1) for spans in self._spans]
        start = np.where(columns["host_start"] >= 0, columns["host_start"], first)
        order = np.lexsort((-columns["host_end"], start))
        ranges = [(place, *span) for place, of in enumerate(order.tolist()) for span in sorted(self._spans[of])]
        flat = np.array(ranges, dtype=np.int64).reshape(-1, 3)
        return Communications(
            names=tuple(self._names),
            groups=tuple(self._groups),
            dtypes=tuple(self._dtypes),
            operations=Operations.from_columns({name: values[order] for name, values in columns.items()}),
            ranges=Ranges.from_columns({"operation": flat[:, 0], "start": flat[:, 1], "end": flat[:, 2]}),
        )

    def _arguments_at(self, rows: Iterable[int]) -> int:
        """The first of these events that has the arguments of a collective, as a row of `trace.collectives`."""
        return next((self._arguments[row] for row in rows if row in self._arguments), -1)

    def _sizes(self, node: int, parameters: int, arguments: int) -> tuple[str, int, int]:
        """Element type, bytes in, bytes out."""
        collectives, texts = self._trace.collectives, self._trace.strings
        if arguments >= 0:
            dtype = texts[collectives.dtype[arguments]]
            size = element_bytes(dtype)
            counts = int(collectives.in_elements[arguments]), int(collectives.out_elements[arguments])
            if size is None:
                return dtype, -1, -1
            in_bytes, out_bytes = (count * size if count >= 0 else -1 for count in counts)
            return dtype, in_bytes, out_bytes
        for at in (node, parameters):
            if at >= 0:
                operator = self._tree.operator[at]
                operators = self._trace.operators
                dtype, total = _input_bytes(
                    texts[operators.input_dims[operator]], texts[operators.input_type[operator]]
                )
                if total >= 0:
                    return dtype, total, -1
        return "", -1, -1

    def _group(self, arguments: int) -> ProcessGroup:
        if arguments >= 0:
            collectives, texts = self._trace.collectives, self._trace.strings
            name = texts[collectives.group[arguments]]
            ranks = _ranks(texts[collectives.group_ranks[arguments]])
            size = int(collectives.group_size[arguments])
            known = self._known_groups.get(name)
            if name or ranks:
                return ProcessGroup(
                    name,
                    texts[collectives.group_description[arguments]] or (known.description if known else ""),
                    ranks or (known.ranks if known else ()),
                    size if size > 0 else len(ranks) or (known.size if known else 0),
                )
            if size > 0 and len(self._known_groups) != 1:
                return ProcessGroup(size=size)
        if len(self._known_groups) == 1:
            return next(iter(self._known_groups.values()))
        return ProcessGroup(size=0 if self._known_groups else _number(self._trace.header.distributed.get("world_size")))

    def _backend(self) -> str:
        backend = self._trace.header.distributed.get("backend")
        return backend if isinstance(backend, str) and backend else "device"


def _code(codes: dict[Any, int], value: Any) -> int:
    return codes.setdefault(value, len(codes))


def _groups_of_header(trace: Trace) -> dict[str, ProcessGroup]:
    """`distributedInfo.pg_config`, by name."""
    found: dict[str, ProcessGroup] = {}
    listed = trace.header.distributed.get("pg_config")
    for group in listed if isinstance(listed, list) else []:
        if isinstance(group, dict) and group.get("pg_name") is not None:
            ranks = _ranks(json.dumps(group.get("ranks")))
            name = str(group["pg_name"])
            size = _number(group.get("pg_size")) or len(ranks)
            found[name] = ProcessGroup(name, str(group.get("pg_desc") or ""), ranks, size)
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


@lru_cache(maxsize=256)
def _ranks(text: str) -> tuple[int, ...]:
    """`[0, 1]` or that as a string; long lists are shortened with dots by torch and then not known."""
    try:
        ranks = json.loads(text)
    except ValueError:
        return ()
    if isinstance(ranks, str):
        return _ranks(ranks)
    if isinstance(ranks, list) and all(isinstance(rank, int) for rank in ranks):
        return tuple(ranks)
    return ()


@lru_cache(maxsize=1024)
def _input_bytes(dims: str, types: str) -> tuple[str, int]:
    """The type of the first input that has one, and bytes of all of them; -1 when a tensor's type is not known."""
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
    """Number of elements of a shape, or of a list of shapes."""
    if not isinstance(shape, list):
        return 0
    if any(isinstance(part, list) for part in shape):
        return sum(_elements(part) for part in shape)
    product = 1
    for part in shape:
        product *= part if isinstance(part, int) else 0
    return product
