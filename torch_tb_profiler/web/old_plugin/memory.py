"""/memory, /memory_curve and /memory_events in the old plugin's shapes: units to choose, rounded for display."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.json_schema import Json
from torch_tb_profiler.analysis.memory.blocks import MemoryBlocks, blocks_within
from torch_tb_profiler.analysis.memory.operators import MemoryOperators, memory_operators
from torch_tb_profiler.analysis.memory.records import MemoryCurve, memory_curves, memory_records, operator_codes
from torch_tb_profiler.arrays.distinct import distinct, distinct_first, distinct_places
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.old_plugin.modules import microseconds

#: as written in a request → as written in the answer
SIZES = {"": "B", "B": "B", "K": "KB", "KB": "KB", "M": "MB", "MB": "MB", "G": "GB", "GB": "GB"}
TIMES = {
    **dict.fromkeys(("micro", "microsecond", "us"), "us"),
    **dict.fromkeys(("milli", "millisecond", "ms"), "ms"),
    **dict.fromkeys(("", "second", "s"), "s"),
}

_SIZE_FACTORS = {"B": 1.0, "KB": 1 / 1024, "MB": 1 / 1024**2, "GB": 1 / 1024**3}
_TIME_FACTORS = {"us": 1.0, "ms": 1e-3, "s": 1e-6}  # from µs

#: the most points of a curve, as in the old plugin
MOST_POINTS = 10240

_UNKNOWN = "<unknown>"
_ROOT = "CallTreeRoot"


#: definitions of the columns of both tables, by key
_HELP = {**MemoryOperators.columns, **MemoryCurve.columns}


def memory(model: Model, start_ns: int | None, end_ns: int | None, size_unit: str) -> Json:
    """Answer /memory: what operators allocated. Times are relative to the trace."""
    factor = _SIZE_FACTORS[size_unit]
    rows: dict[str, list[list[Any]]] = {}
    for table in memory_operators(model, start_ns, end_ns):
        if not len(table):
            continue
        cells = zip(
            table.name,
            table.calls.tolist(),
            _rounded(table.size_increase, factor).tolist(),
            _rounded(table.self_size_increase, factor).tolist(),
            table.allocation_count.tolist(),
            table.self_allocation_count.tolist(),
            _rounded(table.allocation_size, factor).tolist(),
            _rounded(table.self_allocation_size, factor).tolist(),
            strict=True,
        )
        rows[table.device.name] = sorted((list(row) for row in cells), key=lambda row: str(row[0]))
    return {
        "metadata": {
            "title": "Memory View",
            "default_device": _default_device(rows),
            "search": "Operator Name",
            "sort": f"Self Size Increase ({size_unit})",
        },
        "columns": [
            {"name": "Operator Name", "type": "string"},
            _column("Calls", "calls"),
            _column(f"Size Increase ({size_unit})", "size_increase"),
            _column(f"Self Size Increase ({size_unit})", "self_size_increase"),
            _column("Allocation Count", "allocation_count"),
            _column("Self Allocation Count", "self_allocation_count"),
            _column(f"Allocation Size ({size_unit})", "allocation_size"),
            _column(f"Self Allocation Size ({size_unit})", "self_allocation_size"),
        ],
        "rows": rows,
    }


def memory_curve(model: Model, time_unit: str, size_unit: str) -> Json:
    """Answer /memory_curve: corners of the step functions, at most `MOST_POINTS` of them."""
    time_factor, size_factor = _TIME_FACTORS[time_unit], _SIZE_FACTORS[size_unit]
    curves = {curve.device.name: curve for curve in memory_curves(model).curves}
    rows = {}
    for name, curve in curves.items():
        time, allocated, reserved = corners(curve)
        columns = (time / 1000 * time_factor, allocated * size_factor, reserved * size_factor)
        rows[name] = np.column_stack(columns).tolist()
    peaks = {name: curve.peak.allocated * size_factor for name, curve in curves.items()}
    return {
        "metadata": {
            "default_device": _default_device(rows),
            "devices": sorted(rows),
            "peaks": {name: f"Peak Memory Usage: {peak:.1f}{size_unit}" for name, peak in peaks.items()},
            "totals": {},
            "first_ts": microseconds(file_origin_ns(model)),
            "time_metric": time_unit,
            "memory_metric": size_unit,
            "time_factor": time_factor,
            "memory_factor": size_factor,
        },
        "columns": [
            _column(f"Time ({time_unit})", "time_ns"),
            _column(f"Allocated ({size_unit})", "allocated"),
            _column(f"Reserved ({size_unit})", "reserved"),
        ],
        "rows": rows,
    }


def memory_events(model: Model, start_ns: int | None, end_ns: int | None, time_unit: str, size_unit: str) -> Json:
    """Answer /memory_events: allocations with their releases; an end outside the time range is null."""
    records = memory_records(model)
    window = records.within(start_ns, end_ns)
    blocks = _in_old_order(blocks_within(model, start_ns, end_ns), window)
    names = _event_names(model, blocks)
    factor = _TIME_FACTORS[time_unit] / 1000
    began = (blocks.allocation >= window.start) & (blocks.allocation < window.stop)
    ended = (blocks.release >= window.start) & (blocks.release < window.stop)
    begin, end = records.time[np.maximum(blocks.allocation, 0)], records.time[np.maximum(blocks.release, 0)]
    columns = zip(
        names,
        _rounded(blocks.bytes, _SIZE_FACTORS[size_unit]).tolist(),
        _rounded_where(began, begin, factor),
        _rounded_where(ended, end, factor),
        _rounded_where(began & ended, end - begin, factor),
        strict=True,
    )
    cells = list(map(list, columns))
    del names, columns  # this is where a worker needs most memory
    rows: dict[str, list[Any]] = {}
    _, first = distinct_first(blocks.device)
    for place in blocks.device[np.sort(first)].tolist():
        of_device = np.flatnonzero(blocks.device == place).tolist()
        rows[records.devices[place].name] = list(map(cells.__getitem__, of_device))
    labels = [f"Size ({size_unit})", *(f"{name} ({time_unit})" for name in _EVENT_TIMES)]
    return {
        "metadata": {"title": "Memory Events", "default_device": _default_device(rows)},
        "columns": [
            {"name": "Operator", "type": "string", "tooltip": ""},
            *({"name": label, "type": "number", "tooltip": ""} for label in labels),
        ],
        "rows": rows,
    }


_EVENT_TIMES = ("Allocation Time", "Release Time", "Duration")


def file_origin_ns(model: Model) -> int:
    """Return the start of the trace as the file counts time: `baseTimeNanoseconds` is not part of it."""
    return model.trace.origin_ns - (model.trace.header.base_time_ns or 0)


def corners(curve: MemoryCurve) -> tuple[Int64, Int64, Int64]:
    """Return time, allocated and reserved of every point at which a line along the step function turns.

    When these are too many, intervals with equally many of them are drawn by their highest, lowest and last ones.
    """
    records = len(curve)
    point = np.repeat(np.arange(records), 2)[1:]  # time of
    held = np.repeat(np.arange(records), 2)[:-1]  # value of
    if len(point) > MOST_POINTS:
        chosen = _telling(curve.allocated[held], curve.reserved[held], MOST_POINTS)
        point, held = point[chosen], held[chosen]
    return curve.time_ns[point], curve.allocated[held], curve.reserved[held]


def _telling(allocated: Int64, reserved: Int64, most: int) -> Int64:
    """Return positions of the first and last point, and of the highest, lowest and last ones of intervals between."""
    points = len(allocated)
    bounds = np.linspace(1, points - 1, (most - 2) // 4 + 1).astype(np.int64)
    starts, ends = bounds[:-1], bounds[1:]
    stretch = np.repeat(np.arange(len(starts)), ends - starts)

    def first_of(values: Int64, wanted: Int64) -> Int64:
        """Return the first point of each interval that has the wanted value."""
        place = np.flatnonzero(values[1 : points - 1] == wanted[stretch])
        return 1 + place[np.diff(stretch[place], prepend=-1) > 0]

    return distinct(
        np.concatenate(
            (
                [0, points - 1],
                ends - 1,
                first_of(allocated, np.maximum.reduceat(allocated[: points - 1], starts)),
                first_of(allocated, np.minimum.reduceat(allocated[: points - 1], starts)),
                first_of(reserved, np.maximum.reduceat(reserved[: points - 1], starts)),
            )
        )
    )


def display(value: float) -> float:
    """Round to two digits after the point, a smaller number to its first digit that is not zero."""
    if value == 0 or abs(value) >= 0.01:
        return round(value, 2)
    return round(value, -math.floor(math.log10(abs(value))))


def _rounded(values: Int64, factor: float) -> Float64:
    """Return `display` of each value × factor."""
    scaled = values * factor
    hundredths = scaled * 100
    rounded: Float64 = np.rint(hundredths) / 100
    # `round` decides between two neighbours by the exact value, which a product does not have any more
    near_half = np.abs(np.abs(hundredths - np.trunc(hundredths)) - 0.5) < 1e-6
    by_hand = near_half | ((np.abs(scaled) < 0.01) & (values != 0)) | (np.abs(hundredths) >= 2**52)
    place = np.flatnonzero(by_hand)
    different, of = distinct_places(values[place])
    rounded[place] = np.array([display(value * factor) for value in different.tolist()])[of] if len(place) else 0.0
    return rounded


def _rounded_where(known: Bool, values: Int64, factor: float) -> list[float | None]:
    cells = np.full(len(values), None, object)
    cells[known] = _rounded(values[known], factor)
    found: list[float | None] = cells.tolist()
    return found


def _event_names(model: Model, blocks: MemoryBlocks) -> list[str]:
    """Return the operators that allocated; one that only makes empty tensors together with what called it."""
    records, strings = memory_records(model), model.trace.strings
    node = np.where(blocks.allocation >= 0, records.node[blocks.allocation], -1)
    operator, parent = operator_codes(model, node)
    pairs, of = distinct_places(operator * np.int64(len(strings)) + parent)
    names = [_event_name(*(strings[code] for code in divmod(pair, len(strings)))) for pair in pairs.tolist()]
    return list(map(names.__getitem__, of.tolist()))


def _event_name(operator: str, parent: str) -> str:
    empty = operator.startswith("aten::empty")
    return f"{parent or _ROOT} ({operator})" if empty else operator or _UNKNOWN


def _in_old_order(blocks: MemoryBlocks, window: slice) -> MemoryBlocks:
    """Sort pairs by release, then what was not released in the time range, then what was not allocated in it."""
    began = (blocks.allocation >= window.start) & (blocks.allocation < window.stop)
    ended = (blocks.release >= window.start) & (blocks.release < window.stop)
    part = np.where(began & ended, 0, np.where(began, 1, 2))
    return blocks.take(np.lexsort((np.where(ended, blocks.release, blocks.allocation), part)))


def _default_device(rows: Json) -> str:
    return min((name for name in rows if name.startswith("GPU")), default="CPU")


def _column(name: str, key: str) -> Json:
    return {"name": name, "type": "number", "tooltip": _HELP[key].help}
