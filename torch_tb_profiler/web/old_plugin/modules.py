"""The old plugin's /module and /tree, in microseconds, as JSON already: trees may be deeper than a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.modules import ModuleTable, hook_calls, modules
from torch_tb_profiler.analysis.shared.operator_times import TimedProgram, lightning_program, module_sources, nn_program
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Int64, dumps
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import hook_name, module_name
from torch_tb_profiler.model.program_tree import NodeKind

#: integers below this are exact in floating point
EXACT_LIMIT = 2**53


def microseconds(ns: int) -> int | float:
    """Convert ns to µs: an int when it is a whole number, as in files that hold ints."""
    whole, rest = divmod(int(ns), 1000)
    return whole if rest == 0 else int(ns) / 1000


def many_microseconds(ns: Int64) -> list[int | float]:
    """Return `microseconds` of each value."""
    if len(ns) and max(int(ns.max()), -int(ns.min())) >= EXACT_LIMIT:
        return [microseconds(value) for value in ns.tolist()]
    found = (ns / 1000).astype(object)
    whole = ns // 1000
    is_whole = np.flatnonzero(whole * 1000 == ns)
    found[is_whole] = whole[is_whole]
    numbers: list[int | float] = found.tolist()
    return numbers


def rounded_microseconds(ns: float) -> int:
    """Round ns to whole µs."""
    return round(float(ns) / 1000)


def exact(ns: int) -> str:
    """Return µs as text, exact where a double could not hold them."""
    whole, rest = divmod(abs(ns), 1000)
    return f"{'-' if ns < 0 else ''}{whole}" + (f".{rest:03d}" if rest else "")


def laid_out(ns: Int64) -> npt.NDArray[np.uint8]:
    """Write many times as JSON numbers, exact to the nanosecond: a row of bytes for each, zero behind shorter ones."""
    if not len(ns):
        return np.empty((0, 0), np.uint8)
    whole = ns // 1000
    rest = ns - whole * 1000  # numpy divides by vector instructions, but takes remainders one by one
    digits = len(str(int(whole.max())))
    if int(whole.min()) < 10 ** (digits - 1):  # also what is negative
        return np.array([exact(value).encode() for value in ns.tolist()]).view(np.uint8).reshape(len(ns), -1)
    # all are of the same length: four digits at a time
    groups = -(-digits // 4)
    table = np.empty((len(ns), groups + 1), "<u4")
    for place in range(groups - 1, -1, -1):
        above = whole // 10_000
        table[:, place] = _FOUR_DIGITS[whole - above * 10_000]
        whole = above
    table[:, groups] = _FRACTIONS[rest]
    return table.view(np.uint8)[:, 4 * groups - digits :]


_FOUR_DIGITS = np.array([f"{value:04d}" for value in range(10_000)], dtype="S4").view("<u4")
_FRACTIONS = np.array(["", *(f".{rest:03d}" for rest in range(1, 1000))], dtype="S4").view("<u4")


def nested(nodes: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the elements of a JSON array from nodes in preorder: depth, and the object that gets `children`."""
    return b"".join(nested_pieces(nodes))


def nested_pieces(nodes: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """Yield the same in pieces, one for each node and one for the end."""
    open_ = 0
    for depth, item in nodes:
        closing = b"]}" * (open_ - depth) + b"," if depth < open_ else b""
        yield b"".join((closing, item[:-1], b',"children":['))
        open_ = depth + 1
    yield b"]}" * open_


#: nodes in an answer of /tree; of a larger tree the deepest levels are left out
MOST_NODES = 500_000
_NODES_OF_A_PIECE = 2_000

_COLUMNS = (
    ("Module Name", "string", "name"),
    ("Occurences", "number", "occurences"),
    ("Operators", "number", "operators"),
    ("Host Total Time", "number", "host_duration"),
    ("Host Self Time", "number", "self_host_duration"),
    ("Device Total Time", "number", "device_duration"),
    ("Device Self Time", "number", "self_device_duration"),
)

_TYPES = {
    NodeKind.STEP: "ProfilerStep",
    NodeKind.MODULE: "Module",
    NodeKind.OPERATOR: "Operator",
    NodeKind.BACKWARD: "backward",
}
_ANNOTATION = "user_annotation"

#: name and type of a node
_Label = tuple[str, str]


def module(model: Model) -> Iterator[bytes] | None:
    """Answer /module; None without modules. Lightning's modules are preferred."""
    sources = module_sources(model)
    table = modules(model, sources[0]) if sources else None
    if table is None or not len(table):
        return None
    columns = dumps([{"name": name, "type": kind, "key": key} for name, kind, key in _COLUMNS])
    return iter([b'{"columns":' + columns + b',"data":[' + nested(_modules(table)) + b"]}"])


def _modules(table: ModuleTable) -> Iterator[tuple[int, bytes]]:
    """Yield modules, by name at the top, below in the order of first calls."""
    tops = [*np.flatnonzero(table.parent < 0).tolist(), len(table)]
    depth = np.zeros(len(table) + 1, np.int64)
    depth[-1] = -1
    for first, after in sorted(pairwise(tops), key=lambda top: table.name[top[0]]):
        for i in range(first, after):
            depth[i] = depth[table.parent[i]] + 1
            yield int(depth[i]), dumps(_module(table, i))


def _module(table: ModuleTable, i: int) -> dict[str, Any]:
    calls, host, device = int(table.calls[i]), int(table.host_total_ns[i]), int(table.device_total_ns[i])
    return {
        "name": table.name[i],
        "id": int(table.module_id[i]) if table.module_id[i] >= 0 else None,
        "occurences": calls,
        "operators": int(table.operators[i]),
        "host_duration": microseconds(host),
        "self_host_duration": microseconds(int(table.host_self_ns[i])),
        "device_duration": microseconds(device),
        "self_device_duration": microseconds(int(table.device_self_ns[i])),
        "avg_duration": (device or host) / calls / 1000,
    }


def tree(model: Model) -> Iterator[bytes] | None:
    """Answer /tree, in pieces: the main thread, or with Lightning its hooks; None if there is nothing."""
    hooked = hook_calls(model)
    if len(hooked.row):
        busiest = int(np.argmax(np.bincount(hooked.track)))
        chosen = np.flatnonzero(hooked.track == busiest)
        return _tree(
            model,
            _Calls(
                hooked.depth[chosen],
                hooked.start[chosen],
                hooked.end[chosen],
                hooked.track[chosen],
                hooked.name[chosen],
                lambda i: [
                    (hook_name(name), "pl_profile") for name in model.trace.strings.texts(hooked.name[chosen[i]])
                ],
            ),
        )
    with_lightning = "lightning" in module_sources(model)
    timed = lightning_program(model) if with_lightning else nn_program(model)
    nodes = timed.tree
    chosen = np.flatnonzero(nodes.lane == timed.main)
    if not len(chosen):
        return None
    return _tree(
        model,
        _Calls(
            nodes.depth[chosen],
            nodes.start[chosen],
            nodes.end[chosen],
            nodes.track[chosen],
            nodes.name[chosen].astype(np.int64) * len(NodeKind) + nodes.kind[chosen],
            lambda i: _labels(timed, chosen[i], with_lightning),
        ),
    )


def _labels(timed: TimedProgram, nodes: Int64, with_lightning: bool) -> list[_Label]:
    named = zip(timed.names(nodes), timed.tree.kind[nodes].tolist(), strict=True)
    return [
        (module_name(name), "pl_module")
        if with_lightning and kind == NodeKind.MODULE
        else (name, _TYPES.get(kind, _ANNOTATION))
        for name, kind in named
    ]


class _Calls(NamedTuple):
    """Calls in preorder; start and end are ns. `key` is equal for calls with the label that `labels` gives."""

    depth: Any
    start: Any
    end: Any
    track: Any
    key: Any
    labels: Callable[[Int64], list[_Label]]


def _tree(model: Model, calls: _Calls) -> Iterator[bytes]:
    """Yield the JSON of a tree of calls."""
    depth, start, end, track, key, labels = calls
    origin = model.trace.origin_ns - (model.trace.header.base_time_ns or 0)
    tops = np.flatnonzero(depth == 0)
    root = _node("CallTreeRoot", "Python", _tid(model, int(track[tops[0]])))
    whole = microseconds(origin + int(start[tops[0]])), microseconds(origin + int(end[tops[-1]]))
    kept = np.flatnonzero(depth <= _deepest_that_fits(depth))
    # millions of nodes are of hundreds of kinds: each is written once, with places for the times
    grouped = group([key[kept], track[kept]])
    tids = {thread: _tid(model, thread) for thread in distinct(track).tolist()}
    of_kinds = kept[grouped.first]
    kinds = [
        _node(*label, tids[thread]) for label, thread in zip(labels(of_kinds), track[of_kinds].tolist(), strict=True)
    ]
    # a node directly inside the one before it opens; any other first closes what lies between, and is one more
    level = depth[kept]
    closing = np.concatenate(([0], level[:-1] - level[1:] + 1))
    forms = group([closing, grouped.inverse])
    opening = np.empty(len(forms), object)
    opening[:] = [
        _OPEN + b"]}" * closes + (b"," if closes else b"") + kinds[of]
        for closes, of in zip(closing[forms.first].tolist(), grouped.inverse[forms.first].tolist(), strict=True)
    ]
    yield b"".join([root, str(whole[0]).encode(), _END, str(whole[1]).encode()])
    for first_node in range(0, len(kept), _NODES_OF_A_PIECE):
        piece = slice(first_node, first_node + _NODES_OF_A_PIECE)
        yield _nodes(opening[forms.inverse[piece]], start[kept[piece]] + origin, end[kept[piece]] + origin)
    yield _OPEN + b"]}" * (int(level[-1]) + 1) + b"]}"


def _nodes(opening: Any, start: Any, end: Any) -> bytes:
    """Return the text of some nodes: what comes before their two times, and these. What follows comes with the next."""
    nodes = len(opening)
    between = np.broadcast_to(np.frombuffer(_END, np.uint8), (nodes, len(_END)))
    times = np.ascontiguousarray(np.concatenate([laid_out(start), between, laid_out(end)], axis=1))
    pieces = [b""] * (2 * nodes)
    pieces[0::2] = opening.tolist()
    pieces[1::2] = times.view(f"S{times.shape[1]}").ravel().tolist()
    # JSON has no zero bytes of its own
    return b"".join(pieces).replace(b"\0", b"")


def _node(name: str, kind: str, tid: bytes) -> bytes:
    """Return the text of a node before the first of its two times."""
    return b'{"name":' + dumps(name) + b',"type":' + dumps(kind) + b',"tid":' + tid + b',"start_time":'


def _tid(model: Model, thread: int) -> bytes:
    return dumps(_number(model.trace.tracks[thread].tid))


_END = b',"end_time":'
_OPEN = b',"children":['


def _deepest_that_fits(depth: Any) -> int:
    per_level = np.cumsum(np.bincount(depth))
    return max(int(np.searchsorted(per_level, MOST_NODES, side="right")) - 1, 0)


def _number(thread: int | str) -> int | str:
    """Return a thread id as a number where it is one, as the old plugin did."""
    try:
        return int(thread)
    except ValueError:
        return thread
