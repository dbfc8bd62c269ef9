"""/api/memory/…: the memory in use, what allocated it, and what was alive at a time (docs/api.md)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.memory.blocks import BlockTable, alive, memory_events
from torch_tb_profiler.analysis.memory.curve import MemoryAt, MemoryCurve, memory_bins, memory_curves
from torch_tb_profiler.analysis.memory.operators import memory_operators
from torch_tb_profiler.analysis.memory.records import NO_ADDRESSES, NO_TOTALS, NOT_RECORDED, memory_records
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.step_range import StepRange, positions
from torch_tb_profiler.trace import Note
from torch_tb_profiler.web.ask import Route, ask, step_range
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.table_query import TableAnswer, ask_table
from torch_tb_profiler.web.tables import Json, meta_of, note_of, plain, table_answer, table_of
from torch_tb_profiler.workspace import OpenTrace, Workspace

MOST_BINS = 2000
PAGE = 1000
LARGEST_PAGE = 10_000

_REMEDY = "profile(profile_memory=True)"
_NOTES = {
    NOT_RECORDED: Note("no_memory", "info", NOT_RECORDED, touches=("memory",), remedy=_REMEDY),
    NO_TOTALS: Note("no_memory_totals", "info", NO_TOTALS, touches=("memory",)),
    NO_ADDRESSES: Note("no_memory_addresses", "info", NO_ADDRESSES, touches=("memory",)),
}

_OPERATOR_KEYS = (
    "name",
    "calls",
    "size_increase",
    "self_size_increase",
    "allocation_count",
    "self_allocation_count",
    "allocation_size",
    "self_allocation_size",
)
_BLOCK_KEYS = ("device", "operator", "parent", "bytes", "alloc_ns", "release_ns", "duration_ns")


def curve_answer(model: Model, trace: OpenTrace, start_ns: int | None, end_ns: int | None, bins: int) -> Json:
    found = memory_curves(model)
    begins = [int(curve.time_ns[0]) for curve in found.curves]
    ends = [int(curve.time_ns[-1]) for curve in found.curves]
    start = min(begins, default=0) if start_ns is None else start_ns
    end = max(max(ends, default=0) if end_ns is None else end_ns, start)
    return {
        "meta": _meta(model, trace, found.reason),
        "start_ns": start,
        "end_ns": end,
        "devices": [_curve(curve, start, end, bins) for curve in found.curves],
    }


def events_answer(
    model: Model, trace: OpenTrace, device: str | None, start_ns: int | None, end_ns: int | None
) -> TableAnswer:
    if device is not None:
        _known(model, device)
    found = memory_events(model, start_ns, end_ns, device)
    meta = _meta(model, trace, found.reason) | {"group_by": None}
    # a row for each allocation, not for each of a few hundred names: hardly anybody goes through them all
    return table_answer(meta, found, _BLOCK_KEYS, definitions.MEMORY, whole=PAGE)


def operators_answer(
    model: Model, trace: OpenTrace, device: str | None, start_ns: int | None, end_ns: int | None
) -> TableAnswer:
    recorded = len(memory_records(model)) > 0
    meta = _meta(model, trace, None if recorded else NOT_RECORDED) | {"group_by": "name"}
    if not recorded:
        return table_answer(meta | {"device": None}, _NOTHING, _OPERATOR_KEYS, definitions.MEMORY)
    place = _known(model, device)
    found = memory_operators(model, start_ns, end_ns)[place]
    meta |= {
        "device": found.device.name,
        "unattributed": asdict(found.unattributed),
        "all": asdict(found.all),
    }
    totals = {"self_allocation_size": found.all.allocation_size, "self_allocation_count": found.all.allocation_count}
    return table_answer(meta, found, _OPERATOR_KEYS, definitions.MEMORY, totals, ("allocation_size",))


def alive_answer(model: Model, trace: OpenTrace, device: str | None, at_ns: int | None, limit: int) -> Json:
    records = memory_records(model)
    if not len(records):
        meta = _meta(model, trace, NOT_RECORDED) | {"device": None, "total": 0, "group_by": None}
        return table_of(meta, _NOTHING, _BLOCK_KEYS, definitions.MEMORY)
    name = records.devices[_known(model, device)].name
    found = alive(model, name, at_ns, limit)
    meta = _meta(model, trace, found.blocks.reason) | {
        "device": name,
        "total": found.blocks.total,
        "group_by": None,
        "at": _at(found.at),
        "known_bytes": found.known_bytes,
        "unknown_bytes": found.unknown_bytes,
    }
    return _blocks(meta, found.blocks)


class _Nothing:
    """A table without rows."""

    missing_below_zero = ()

    def __getattr__(self, _: str) -> tuple[()]:
        return ()


_NOTHING = _Nothing()


def _curve(curve: MemoryCurve, start: int, end: int, bins: int) -> Json:
    found = memory_bins(curve, start, end, bins)
    return {
        "device": curve.device.name,
        "records": len(curve),
        "peak": _at(curve.peak),
        "peak_in_range": _at(found.peak),
        "before": {"allocated": found.before.allocated, "reserved": found.before.reserved},
        "device_bytes": curve.device_bytes,
        "baseline": curve.baseline,
        "unrecorded": curve.unrecorded,
        "time_ns": plain(found.time_ns),
        "allocated_min": plain(found.allocated_min),
        "allocated_max": plain(found.allocated_max),
        "allocated": plain(found.allocated_last),
        "reserved_max": plain(found.reserved_max),
        "reserved": plain(found.reserved_last),
    }


def _blocks(meta: Json, found: BlockTable) -> Json:
    answer = table_of(meta, found, _BLOCK_KEYS, definitions.MEMORY)
    for key in ("alloc_ns", "release_ns", "duration_ns"):
        answer["rows"][key] = [None if value < 0 else value for value in answer["rows"][key]]
    return answer


def _meta(model: Model, trace: OpenTrace, reason: str | None) -> Json:
    meta = meta_of(model, trace, "memory") | {"devices": [device.name for device in memory_records(model).devices]}
    if reason is not None:
        meta["notes"].append(note_of(_NOTES[reason]))
    return meta


def _at(at: MemoryAt) -> Json:
    return {"time_ns": at.time_ns, "allocated": at.allocated, "reserved": at.reserved}


def _known(model: Model, device: str | None) -> int:
    """Which device is asked about; by default the first, an accelerator if there is one."""
    place = 0 if device is None else memory_records(model).device_index(device)
    if place is None:
        raise HttpError(404, f"no memory of {device!r} was recorded")
    return place


# requests ---------------------------------------------------------------------------------------------------


def _curve_route(workspace: Workspace, parameters: Parameters) -> Answer:
    window = _Window.of(parameters)
    bins = parameters.whole_number("bins", MOST_BINS, 1, MOST_BINS)

    def compute(model: Model, trace: OpenTrace) -> Json:
        return curve_answer(model, trace, *window.times(model), bins)

    return _ask(workspace, parameters, ("curve", window, bins), compute)


def _table_route(
    name: str, answer: Callable[[Model, OpenTrace, str | None, int | None, int | None], TableAnswer]
) -> Route:
    def route(workspace: Workspace, parameters: Parameters) -> Answer:
        window = _Window.of(parameters)
        device = parameters.get("device")

        def compute(model: Model, trace: OpenTrace) -> TableAnswer:
            return answer(model, trace, device, *window.times(model))

        return ask_table(workspace, parameters, ("memory", (name, device, window)), compute, of_steps=False)

    return route


def _alive_route(workspace: Workspace, parameters: Parameters) -> Answer:
    at = parameters.whole_number("at_ns", None)
    limit = parameters.whole_number("limit", PAGE, 1, LARGEST_PAGE)
    device = parameters.get("device")

    def compute(model: Model, trace: OpenTrace) -> Json:
        return alive_answer(model, trace, device, at, limit)

    return _ask(workspace, parameters, ("alive", device, at, limit), compute)


ROUTES: dict[str, Route] = {
    "/api/memory/curve": _curve_route,
    "/api/memory/events": _table_route("events", events_answer),
    "/api/memory/operators": _table_route("operators", operators_answer),
    "/api/memory/alive": _alive_route,
}


def _ask(
    workspace: Workspace, parameters: Parameters, question: Hashable, compute: Callable[[Model, OpenTrace], Json]
) -> Answer:
    # What is in use in a step was allocated before it, so steps are a time range here.
    return ask(workspace, parameters, ("memory", question), compute, of_steps=False)


@dataclass(frozen=True)
class _Window:
    """A range of time, in ns; without an end that of the steps that are asked for, without those of the trace."""

    start_ns: int | None
    end_ns: int | None
    steps: StepRange | None

    @classmethod
    def of(cls, parameters: Parameters) -> _Window:
        parameters.need_all("run", "worker")
        start, end = parameters.whole_number("start_ns", None), parameters.whole_number("end_ns", None)
        return cls(start, end, step_range(parameters))

    def times(self, model: Model) -> tuple[int | None, int | None]:
        if self.steps is None:
            return self.start_ns, self.end_ns
        chosen = positions(model.steps, self.steps)
        start, end = int(model.steps.start[chosen][0]), int(model.steps.end[chosen][-1])
        return start if self.start_ns is None else self.start_ns, end if self.end_ns is None else self.end_ns
