"""Make the columns of a rank's summary from its trace, own time among them.

Own time is what a rank does between its collectives. No waiting is in it, and no clock of another rank:

    own(collective) = its start − start of the one before − exposed communication between these

Exposed communication is that while no compute kernel runs: it holds all waiting that stopped the rank, also in
operations that run beside computing. The first one of a trace has the time since the start of its step. Where nothing
was computed on a device (gloo), operators on the host compute (`analysis.shared.host_computing`).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.device_time import step_of_operations, step_overlap
from torch_tb_profiler.analysis.program.ranges import ranges_by_step
from torch_tb_profiler.analysis.replay.host_time import ALLOCATOR
from torch_tb_profiler.analysis.shared.device_roles import communication_spans, computing_spans
from torch_tb_profiler.analysis.shared.operator_times import operator_times
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import greatest_at, group, sums_at
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.lookup import window_of
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import Communications, ProcessGroup, groups_of_header
from torch_tb_profiler.ranks.matching.operations import CalledOperations, TimedOperations, timed_operations
from torch_tb_profiler.ranks.rank import identity_of
from torch_tb_profiler.trace import Category

_PRIME = np.uint64(0x9E3779B97F4A7C15)


def own_times(model: Model, calls: TimedOperations) -> Int64:
    """Shape (rows,), ns; -1 for those without a start, and for a first one outside of all steps."""
    timed = np.flatnonzero(calls.duration >= 0)
    own = np.full(len(calls), -1, np.int64)
    if not len(timed):
        return own
    timed = timed[np.argsort(calls.start[timed], kind="stable")]
    start = calls.start[timed]
    exposed = Coverage(intervals.subtraction(communication_spans(model), computing_spans(model)))
    stopped = exposed.between(start[:-1], start[1:])
    own[timed[1:]] = start[1:] - start[:-1] - stopped
    step = int(calls.step[timed[0]])
    if step >= 0:
        own[timed[0]] = max(int(start[0]) - int(model.steps.start[step]), 0)
    return own


def step_programs(calls: CalledOperations, steps: int) -> Int64:
    """Hash the sequence of collectives of each step: name, element type, size of the group. 0 without any.

    Ranks whose steps have the same number do the same at the same position of the step.
    """
    programs = np.zeros(steps, np.uint64)
    rows = np.flatnonzero(calls.step >= 0)
    if not len(rows):
        return programs.view(np.int64)
    sizes = np.array([group.size for group in calls.groups], np.uint64)
    with np.errstate(over="ignore"):
        look = _hashes(calls.names)[calls.name[rows]] * _PRIME ^ _hashes(calls.dtypes)[calls.dtype[rows]]
        look = (look + sizes[calls.group[rows]]) * _PRIME
        at = calls.step[rows]
        if (np.diff(at) < 0).any():
            order = np.argsort(at, kind="stable")
            look, at = look[order], at[order]
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        nth = (np.arange(len(at)) - np.repeat(starts, np.diff(np.append(starts, len(at))))).astype(np.uint64)
        mixed = (look ^ (look >> np.uint64(31))) * (nth * np.uint64(2) + np.uint64(1)) * _PRIME
        programs[at[starts]] = np.add.reduceat(mixed ^ (mixed >> np.uint64(29)), starts)
    return programs.view(np.int64)


def _hashes(texts: Sequence[str]) -> np.typing.NDArray[np.uint64]:
    """Hash each text to a number that is the same in every process."""
    return np.array([zlib.crc32(text.encode()) for text in texts], np.uint64)


Columns = dict[str, Any]
#: what the names of NCCL's kernels say of the algorithm; the first is for none
ALGORITHMS = ("", "ring", "tree", "nvls", "collnet")
#: parts of work below this of a mean step are put together
LEAST_WORK = 0.001
#: of so many names the times of ranges are kept
MOST_RANGES = 64
#: keys of the header that tell versions
#: more than any device takes; what is beyond is no grid
_MOST_BLOCKS = 2**62
_VERSIONS = ("pytorch_version", "torch_version", "cuda_runtime_version", "cuda_driver_version", "nccl_version")
#: host operators whose own time is waiting for other ranks
_OF_COLLECTIVES = ("c10d::", "record_param_comms", "gloo:", "nccl:", "mpi:", "ucc:")


def collect_columns(model: Model, worker: str) -> tuple[Columns, dict[str, Columns]]:
    """Collect the head, and the columns of each table of `summary.TABLES`."""
    work, work_names = _work(model)
    ranges = ranges_by_step(model, MOST_RANGES)
    found = model.communications
    groups = list(found.groups)
    mine, known = identity_of(model.trace.header).rank, {of.name for of in groups}
    listed = groups_of_header(model.trace).values()
    groups += [of for of in listed if of.name not in known and (not of.ranks or mine is None or mine in of.ranks)]
    calls, places = _calls(model)
    of_ranges = {"range_names": ranges.names, "ranges_left": ranges.left}
    return _head(model, worker, groups, work_names) | of_ranges, {
        "steps": _steps(model),
        "calls": calls,
        "places": places,
        "work": work,
        "ranges": {name: getattr(ranges, name) for name in ("name", "step", "calls", "host", "device", "exposed")},
    }


def _head(model: Model, worker: str, groups: list[ProcessGroup], work_names: list[str]) -> Columns:
    trace, header = model.trace, model.trace.header
    identity = identity_of(header)
    backend, events = header.distributed.get("backend"), trace.events
    timed = events.duration >= 0
    known = header.raw | header.distributed
    return {
        "worker": worker,
        "rank": identity.rank,
        "world": identity.world_size,
        "host": identity.host_name,
        "backend": backend if isinstance(backend, str) else "",
        "device": next((DeviceProperties.of(header, number).name for number in model.used_devices), None),
        "device_ids": tuple(model.used_devices),
        "versions": {key: str(known[key]) for key in _VERSIONS if isinstance(known.get(key), str | int)},
        "origin_ns": trace.origin_ns,
        "first_ns": int(events.start[timed].min(initial=np.iinfo(np.int64).max)) if timed.any() else 0,
        "last_ns": int(events.end[timed].max(initial=0)),
        "events": len(events),
        "steps": model.steps.names,
        "groups": tuple(groups),
        "names": model.communications.names,
        "dtypes": model.communications.dtypes,
        "work_names": tuple(work_names),
        "damage": tuple(sorted({note.kind for note in trace.notes if note.severity == "error"})),
    }


def _steps(model: Model) -> Columns:
    steps, overlap, events = model.steps, step_overlap(model), model.trace.events
    top = model.rows_of(Category.OPERATOR)
    launches = model.launches.row
    names = events.name[launches]
    calls = launches[model.trace.strings.where(ALLOCATOR.search, names)[names]]
    kernels = model.device_work.row[_is_compute(model)]

    def on_host(rows: Int32) -> Int64:
        covered = Coverage(intervals.union(events.start[rows], events.end[rows]))
        return covered.between(steps.host_since, steps.host_end)

    return {
        "start": steps.start,
        "end": steps.end,
        "compute": overlap.computation_ns,
        "hidden": overlap.overlap_ns,
        "exposed": overlap.communication_only_ns,
        "input": on_host(model.dataloader_rows),
        "host": on_host(top),
        "allocator": on_host(calls),
        "memory": _memory(model),
        "program": step_programs(_called(model), len(steps)),
        "kernels": _counts(window_of(steps.start, steps.end, events.start[kernels]), len(steps)),
    }


def _memory(model: Model) -> Int64:
    """Return the most bytes in use on a device, else on the host, in each step; -1 where not recorded."""
    memory, steps = model.memory, model.steps
    on_device = memory.device_type > 0
    chosen = np.flatnonzero((on_device if on_device.any() else ~on_device) & (memory.total_allocated >= 0))
    step = steps.on_host(model.trace.events.start[memory.row[chosen]])
    inside = step >= 0
    most = greatest_at(step[inside], memory.total_allocated[chosen[inside]], len(steps))
    return np.maximum(most, -1)


def _counts(place: Int64, size: int) -> Int64:
    return np.bincount(place[place >= 0], minlength=size).astype(np.int64)


def _is_compute(model: Model) -> Any:
    return (model.device_category == Category.KERNEL) & ~model.device_links.is_communication


def _called(model: Model) -> TimedOperations:
    number = identity_of(model.trace.header).rank
    return timed_operations(model.communications, number, model.steps.names, step_of_operations(model).astype(np.int64))


def _calls(model: Model) -> tuple[Columns, Columns]:
    communications, timed = model.communications, _called(model)
    names = ("group", "name", "kind", "dtype", "step", "sequence", "identity", "peer", "in_bytes", "out_bytes")
    row = _rows(model, communications, timed.start)
    calls = {name: getattr(timed, name) for name in (*names, "duration")} | {
        "own": own_times(model, timed),
        "algorithm": _algorithms(model, row),
    }
    return calls, {
        "row": row,
        "host_start": communications.operations.host_start,
        "start": timed.start,
        "gaps": np.where(timed.duration >= 0, timed.end - timed.start - timed.duration, 0),
    }


def _rows(model: Model, communications: Communications, start: Int64) -> Int64:
    """Return the first kernel of each operation, else the range or operator of its call; -1 for none."""
    events = model.trace.events
    chosen = np.flatnonzero(model.device_links.is_communication)
    kernels = model.device_work.row[chosen]
    on_device = communications.operations.on_device
    rows = np.full(len(communications), -1, np.int64)
    places = _place_at(events.start[kernels], start)
    rows[on_device] = np.where(places >= 0, kernels[places], -1)[on_device] if len(kernels) else -1
    calls = model.rows_of(Category.USER_ANNOTATION, Category.OPERATOR)
    places = _place_at(events.start[calls], communications.operations.host_start)
    alone = ~on_device & (places >= 0)
    rows[alone] = calls[places[alone]]
    return rows


def _place_at(starts: Int64, wanted: Int64) -> Int64:
    """Find a position of each wanted start, -1 for none."""
    order = np.argsort(starts, kind="stable")
    at = np.searchsorted(starts[order], wanted)
    inside = np.minimum(at, max(len(starts) - 1, 0))
    if not len(starts):
        return np.full(len(wanted), -1, np.int64)
    return np.where(starts[order[inside]] == wanted, order[inside], -1)


def _algorithms(model: Model, row: Int64) -> Int64:
    """Return an index into ALGORITHMS for each operation."""
    names = np.where(row >= 0, model.trace.events.name[row], 0)
    codes, of = np.unique(names, return_inverse=True)
    told = []
    for code in codes.tolist():
        name = model.trace.strings[code].lower()
        told.append(next((at for at, word in enumerate(ALGORITHMS) if word and f"_{word}" in name), 0))
    return np.array(told, np.int64)[of.reshape(-1)] if len(row) else np.empty(0, np.int64)


def _work(model: Model) -> tuple[Columns, list[str]]:
    """Sum kernels and operators on the host by name and step."""
    steps, events, strings = model.steps, model.trace.events, model.trace.strings
    chosen = np.flatnonzero(_is_compute(model))
    rows = model.device_work.row[chosen]
    blocks = _blocks(model)[model.device_work.grid[chosen]]
    step = window_of(steps.start, steps.end, events.start[rows])
    times = operator_times(model)
    operators = model.tree.row[times.node]
    names = events.name[operators]
    own = ~strings.where(lambda text: text.startswith(_OF_COLLECTIVES), names)[names]
    on_host = window_of(steps.host_start, steps.host_end, events.start[operators])
    owner = model.device_links.operator_node[chosen]
    launched_by = np.where(owner >= 0, np.append(events.name[model.tree.row], 0)[owner], 0)
    columns = [
        np.concatenate((np.ones(len(rows), np.int64), np.zeros(int(own.sum()), np.int64))),
        np.concatenate((events.name[rows], names[own])).astype(np.int64),
        np.concatenate((step, on_host[own])),
        np.concatenate((np.maximum(events.duration[rows], 0), np.maximum(times.host_self[own], 0))),
        np.concatenate((blocks, np.zeros(int(own.sum()), np.int64))),
        np.concatenate((launched_by, np.zeros(int(own.sum()), np.int64))).astype(np.int64),
    ]
    inside = columns[2] >= 0
    on_device, name, step, ns, size, operator = (values[inside] for values in columns)
    of = group([on_device, name, step])
    total = sums_at(of.inverse, ns, len(of))
    mean = float((steps.end - steps.start).mean()) if len(steps) else 0.0
    kept_names = np.where(total >= LEAST_WORK * mean, name[of.first], -1)[of.inverse]
    again = group([on_device, kept_names, step])
    first = again.first
    by = np.where((kept_names[first] >= 0) & (operator[first] > 0), operator[first], -1)
    codes, place = np.unique(np.concatenate(([-1], kept_names[first], by)), return_inverse=True)
    texts = ["", *(strings[int(code)] for code in codes[1:])]
    name_place, by_place = np.split(place.reshape(-1)[1:], 2)
    return {
        "on_device": on_device[first],
        "name": name_place,
        "step": step[first],
        "calls": again.count(),
        "ns": sums_at(again.inverse, ns, len(again)),
        "blocks": sums_at(again.inverse, size, len(again)),
        "operator": by_place,
    }, texts


def _blocks(model: Model) -> Int64:
    """Count the blocks of each grid, by the code of its text; 0 for what is no grid."""
    found = np.zeros(len(model.trace.strings), np.int64)
    for code in np.unique(model.device_work.grid).tolist():
        try:
            sizes = from_json(model.trace.strings[code] or "[]", list[int])
        except msgspec.DecodeError:
            sizes = []
        blocks = math.prod(sizes) if sizes else 0
        found[code] = blocks if 0 < blocks < _MOST_BLOCKS else 0
    return found
