"""Puts together calls of collectives on the host and their kernels: the operations of communication of a trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.communication import (
    HOST_RANGE,
    KINDS,
    NOT_COLLECTIVES,
    PARAMETERS_OPERATOR,
    RECOGNISED,
    Communications,
    Operations,
    ProcessGroup,
    Ranges,
    element_bytes,
    groups_of_header,
    input_bytes,
    is_host_communication,
    kind_of,
    library_of_kernel,
    positive_number,
    ranks_of,
    where_named,
)
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import DeviceWork, Events, Launches

#: JSON of a `Comms Id` that says nothing
_NO_IDENTITY = ("", "null", '""', "0", "-1")
#: columns of the arguments that say which group it is, and the others that are looked at
_OF_GROUP = ("group", "group_description", "group_ranks", "group_size")
_ARGUMENTS = (
    *_OF_GROUP,
    "name",
    "dtype",
    "in_elements",
    "out_elements",
    "source_rank",
    "target_rank",
    "sequence",
    "comms_id",
)


class CollectiveKernels(msgspec.Struct, frozen=True):
    """The kernels of collectives that `communications` reads: parallel columns.

    row: the event; node: innermost host range around the launch, -1; launch_start, launch_end: ns, -1
    """

    row: Int32
    node: Int32
    launch_start: Int64
    launch_end: Int64
    external_id: Int64


def kernels_of_collectives(
    events: Events, work: DeviceWork, launches: Launches, links: DeviceLinks
) -> CollectiveKernels:
    """Select them from some device work; `links` is parallel to `work`, and names rows of `launches`."""
    chosen = np.flatnonzero(links.is_communication)
    launch = links.launch[chosen]
    known = launch >= 0

    def of_launch(values: Int64) -> Int64:
        found = np.full(len(launch), -1, dtype=np.int64)
        found[known] = values[launches.row[launch[known]]]
        return found

    return CollectiveKernels(
        row=work.row[chosen],
        node=links.node[chosen],
        launch_start=of_launch(events.start),
        launch_end=of_launch(events.end),
        external_id=work.external_id[chosen],
    )


def communications(trace: Trace, tree: CallTree, kernels: CollectiveKernels) -> Communications:
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
        self.is_range = where_named(trace, HOST_RANGE.match, tree.name)
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
        """Return the operation that each node belongs to; -1 for none."""
        anchor = nearest(self._tree.parent, self._is_anchor, node)
        return np.where(anchor >= 0, self._operation[anchor], -1).astype(np.int32) if len(self._tree) else anchor

    def around(self, node: Int32) -> Int32:
        """Return the nearest anchor outside of each node; -1 for none."""
        return nearest(self._tree.parent, self._is_anchor, self._tree.parent[node])

    def by_external_id(self, trace: Trace, kernels: CollectiveKernels, chosen: Int64) -> Int32:
        """For kernels whose launch was not recorded: the range of the same id and kind that began before.

        In files of 2022-23 the ids repeat the correlation; the kind keeps most of those apart.
        """
        owners = np.full(len(chosen), -1, dtype=np.int32)
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
                owners[i] = node
        return owners


class _Builder:
    """Collects the columns of `Operations`, one operation at a time: there are thousands at most, not millions."""

    def __init__(
        self, trace: Trace, tree: CallTree, anchors: _Anchors, kernels: CollectiveKernels, node: Int32
    ) -> None:
        self._trace, self._tree, self._anchors, self._kernels = trace, tree, anchors, kernels
        # one number of an array takes as long as ten of a list
        self._of = {name: getattr(trace.collectives, name).tolist() for name in _ARGUMENTS}
        self._arguments = {row: i for i, row in enumerate(trace.collectives.row.tolist())}
        self._group_of: dict[tuple[int, ...], ProcessGroup] = {}
        self._names: dict[str, int] = {}
        self._dtypes: dict[str, int] = {"": 0}
        self._identities: dict[str, int] = {"": 0}
        self._groups: dict[ProcessGroup, int] = {}
        self._known_groups = groups_of_header(trace)
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
        collective = texts[self._of["name"][arguments]] if arguments >= 0 else ""
        if collective in NOT_COLLECTIVES and not kernels:
            return
        kind = next(
            (
                k
                for text in (collective, host and host["collective"], kernel_name, self._operator_around(kernels))
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
                "sequence": self._of["sequence"][arguments] if arguments >= 0 else -1,
                "peer": self._peer(kind, arguments),
                "identity": _code(self._identities, self._identity(arguments)),
                "host_start": call[0],
                "host_end": call[1],
                "on_device": bool(kernels),
                "recognised": RECOGNISED.index(recognised),
                "library": library,
            }
        )
        self._spans.append([self._spans_of_kernels[kernel] for kernel in kernels])

    def _operator_around(self, kernels: list[int]) -> str:
        """Name the innermost operator around the launch of the first kernel that names a collective; empty without one.

        All kernels of RCCL have one name (`ncclDevKernel_Generic`), and older torch writes no arguments of collectives.
        """
        node = int(self._kernels.node[kernels[0]]) if kernels else -1
        while node >= 0:
            name: str = self._trace.strings[self._tree.name[node]]
            if is_host_communication(name) and kind_of(name) != KINDS[-1]:
                return name
            node = int(self._tree.parent[node])
        return ""

    def _time_calls(self) -> None:
        """Where a library has no kernels in the trace, its calls are all there is to measure.

        A call without a kernel, of a library that has some, only starts something: its kernel was not recorded.
        """
        on_device = {row["library"] for row in self._rows if row["on_device"]}
        for row, spans in zip(self._rows, self._spans, strict=True):
            if not spans and row["library"] not in on_device:
                spans.append((row["host_start"], row["host_end"]))

    def _sorted(self) -> Communications:
        columns = {name: np.array([row[name] for row in self._rows]) for name in Operations.column_names()}
        first = [min((s for s, _ in spans), default=-1) for spans in self._spans]
        start = np.where(columns["host_start"] >= 0, columns["host_start"], first)
        order = np.lexsort((-columns["host_end"], start))
        ranges = [(place, *span) for place, of in enumerate(order.tolist()) for span in sorted(self._spans[of])]
        flat = np.array(ranges, dtype=np.int64).reshape(-1, 3)
        return Communications(
            names=tuple(self._names),
            groups=tuple(self._groups),
            dtypes=tuple(self._dtypes),
            identities=tuple(self._identities),
            operations=Operations.from_columns({name: values[order] for name, values in columns.items()}),
            ranges=Ranges.from_columns({"operation": flat[:, 0], "start": flat[:, 1], "end": flat[:, 2]}),
        )

    def _arguments_at(self, rows: Iterable[int]) -> int:
        """Find the first of these events that has the arguments of a collective, as a row of `trace.collectives`."""
        return next((self._arguments[row] for row in rows if row in self._arguments), -1)

    def _sizes(self, node: int, parameters: int, arguments: int) -> tuple[str, int, int]:
        """Element type, bytes in, bytes out."""
        texts = self._trace.strings
        if arguments >= 0:
            dtype = texts[self._of["dtype"][arguments]]
            size = element_bytes(dtype)
            counts = self._of["in_elements"][arguments], self._of["out_elements"][arguments]
            if size is None:
                return dtype, -1, -1
            in_bytes, out_bytes = (count * size if count >= 0 else -1 for count in counts)
            return dtype, in_bytes, out_bytes
        for at in (node, parameters):
            if at >= 0:
                operator = self._tree.operator[at]
                operators = self._trace.operators
                dtype, total = input_bytes(texts[operators.input_dims[operator]], texts[operators.input_type[operator]])
                if total >= 0:
                    return dtype, total, -1
        return "", -1, -1

    def _identity(self, arguments: int) -> str:
        text = self._trace.strings[self._of["comms_id"][arguments]] if arguments >= 0 else ""
        return "" if text in _NO_IDENTITY else text

    def _peer(self, kind: str, arguments: int) -> int:
        """Whom a send goes to, or whom a receive comes from; -1 where the trace does not say."""
        if arguments < 0 or kind not in ("send", "recv"):
            return -1
        found: int = self._of["target_rank" if kind == "send" else "source_rank"][arguments]
        return found

    def _group(self, arguments: int) -> ProcessGroup:
        told = tuple(self._of[name][arguments] for name in _OF_GROUP) if arguments >= 0 else ()
        found = self._group_of.get(told)
        if found is None:
            found = self._group_of[told] = self._group_told(*told)
        return found

    def _group_told(self, *told: int) -> ProcessGroup:
        """Return the group that the arguments (`_OF_GROUP`) name, if there are any."""
        if told:
            texts = self._trace.strings
            group, description, listed, size = told
            name, ranks = texts[group], ranks_of(texts[listed])
            known = self._known_groups.get(name)
            if name or ranks:
                return ProcessGroup(
                    name,
                    texts[description] or (known.description if known else ""),
                    ranks or (known.ranks if known else ()),
                    size if size > 0 else len(ranks) or (known.size if known else 0),
                )
            if size > 0 and len(self._known_groups) != 1:
                return ProcessGroup(size=size)
        if len(self._known_groups) == 1:
            return next(iter(self._known_groups.values()))
        world = positive_number(self._trace.header.distributed.get("world_size"))
        return ProcessGroup(size=world if all(known.size == world for known in self._known_groups.values()) else 0)

    def _backend(self) -> str:
        backend = self._trace.header.distributed.get("backend")
        return backend if isinstance(backend, str) and backend else "device"


def _code(codes: dict[Any, int], value: Any) -> int:
    return codes.setdefault(value, len(codes))
