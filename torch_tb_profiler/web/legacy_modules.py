"""The old plugin's /module and /tree, in microseconds. The bytes are JSON, because trees may be deeper than a stack."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.modules import ModuleTable, hook_calls, module_sources, modules
from torch_tb_profiler.analysis.program import TimedProgram, lightning_program, nn_program
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import hook_name, module_name
from torch_tb_profiler.model.program import Kind
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.web.microseconds import microseconds
from torch_tb_profiler.web.tree_json import nested

#: nodes in an answer of /tree; of a larger tree the deepest levels are left out
MOST_NODES = 500_000

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
    Kind.STEP: "ProfilerStep",
    Kind.MODULE: "Module",
    Kind.OPERATOR: "Operator",
    Kind.BACKWARD: "backward",
}
_ANNOTATION = "user_annotation"


def module(model: Model) -> bytes | None:
    """/module; None without modules. Lightning's modules are preferred."""
    sources = module_sources(model)
    table = modules(model, sources[0]) if sources else None
    if table is None or not len(table):
        return None
    columns = dumps([{"name": name, "type": kind, "key": key} for name, kind, key in _COLUMNS])
    return b'{"columns":' + columns + b',"data":[' + nested(_modules(table)) + b"]}"


def _modules(table: ModuleTable) -> Iterator[tuple[int, bytes]]:
    """By name at the top, below in the order of first calls."""
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


def tree(model: Model) -> bytes | None:
    """/tree: the main thread, or with Lightning its hooks; None when there is nothing."""
    hooked = hook_calls(model)
    if len(hooked.row):
        names = model.trace.events.name[hooked.row]
        busiest = int(np.argmax(np.bincount(hooked.track)))
        chosen = np.flatnonzero(hooked.track == busiest)
        texts = {code: hook_name(model.trace.strings[code]) for code in np.unique(names).tolist()}
        return _tree(
            model,
            hooked.depth[chosen],
            hooked.start[chosen],
            hooked.end[chosen],
            hooked.track[chosen],
            [(texts[code], "pl_profile") for code in names[chosen].tolist()],
        )
    with_lightning = "lightning" in module_sources(model)
    timed = lightning_program(model) if with_lightning else nn_program(model)
    nodes = timed.tree
    chosen = np.flatnonzero(nodes.lane == timed.main)
    if not len(chosen):
        return None
    labels = [_label(timed, node, with_lightning) for node in chosen.tolist()]
    return _tree(model, nodes.depth[chosen], nodes.start[chosen], nodes.end[chosen], nodes.track[chosen], labels)


def _label(timed: TimedProgram, node: int, with_lightning: bool) -> tuple[str, str]:
    kind = Kind(int(timed.tree.kind[node]))
    name = timed.name(node)
    if with_lightning and kind == Kind.MODULE:
        return module_name(name), "pl_module"
    return name, _TYPES.get(kind, _ANNOTATION)


def _tree(model: Model, depth: Any, start: Any, end: Any, track: Any, labels: list[tuple[str, str]]) -> bytes:
    deepest = _deepest_that_fits(depth)
    origin = model.trace.origin_ns - (model.trace.header.base_time_ns or 0)
    tids = [dumps(_number(thread.tid)) for thread in model.trace.tracks]
    tops = np.flatnonzero(depth == 0)

    texts: dict[tuple[str, str], tuple[bytes, bytes]] = {}

    def node(label: tuple[str, str], begin: int, finish: int, thread: int) -> bytes:
        # millions of nodes have hundreds of names
        if label not in texts:
            texts[label] = dumps(label[0]), dumps(label[1])
        name, kind = texts[label]
        times = microseconds(origin + begin), microseconds(origin + finish)
        return b'{"name":%b,"start_time":%a,"end_time":%a,"type":%b,"tid":%b}' % (name, *times, kind, tids[thread])

    def nodes() -> Iterator[tuple[int, bytes]]:
        yield 0, node(("CallTreeRoot", "Python"), int(start[tops[0]]), int(end[tops[-1]]), int(track[tops[0]]))
        columns = zip(depth.tolist(), start.tolist(), end.tolist(), track.tolist(), labels, strict=True)
        for level, begin, finish, thread, label in columns:
            if level <= deepest:
                yield level + 1, node(label, begin, finish, thread)

    return nested(nodes())


def _deepest_that_fits(depth: Any) -> int:
    per_level = np.cumsum(np.bincount(depth))
    return max(int(np.searchsorted(per_level, MOST_NODES, side="right")) - 1, 0)


def _number(thread: int | str) -> int | str:
    """The old plugin made a number of every thread id."""
    try:
        return int(thread)
    except ValueError:
        return thread
