"""The shape of a trace of very many slices: operators, the calls in them and kernels, evenly spread over 60 lanes.

tests.tracegen makes traces that mean something; this one is full at every zoom. Its text is written by
`benchmarks.wide`; `write_columns` makes the column file without gigabytes of text on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.trace import Category, column_file
from torch_tb_profiler.trace.schema import DeviceWork, EventPhase, Events, Launches, OperatorRanges, TraceTable
from torch_tb_profiler.trace.store import Header, TraceInfo, Track

#: each with operators and the calls in them: two lanes
THREADS = 20
STREAMS = 20
LANES = 2 * THREADS + STREAMS
FIRST_THREAD = 100
NAMES = 400
#: where kernels begin, behind the operators of the same number
DELAY = 20_000
HEADER: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "wide", "numSms": 108}]}

_PIECE = 50_000
#: ns; of kernels the median, and how far they spread
_MEDIAN, _SPREAD = 8000.0, 1.2


@dataclass(frozen=True)
class Stretch:
    """Parallel, in order of time. Of a thread (the first `THREADS` lanes) operators, of a stream kernels.

    start, duration   ns
    name              number of the name
    correlation       of kernels, and of the calls in operators
    """

    lane: int
    start: Int64
    duration: Int64
    name: Int64
    correlation: Int64

    @property
    def call(self) -> tuple[Int64, Int64]:
        """Start and duration of the call in each operator."""
        return self.start + self.duration // 4, self.duration // 2


def stretches(slices: int, seed: int = 1) -> Iterator[Stretch]:
    """About so many slices: of all lanes a stretch of time, then the next stretch."""
    of_lane, random = slices // LANES, np.random.default_rng(seed)
    number = np.arange(STREAMS, dtype=np.int64) * of_lane + 1
    clock = np.zeros(THREADS + STREAMS, np.int64)
    for first in range(0, of_lane, _PIECE):
        count = min(_PIECE, of_lane - first)
        for lane in range(THREADS + STREAMS):
            duration = np.maximum(np.exp(random.normal(np.log(_MEDIAN), _SPREAD, count)), 400).astype(np.int64)
            gap = (duration * random.random(count)).astype(np.int64) + 100
            start = clock[lane] + np.cumsum(gap + duration) - duration
            clock[lane] = start[-1] + duration[-1]
            name = random.integers(0, NAMES, count)
            delay = 0 if lane < THREADS else DELAY
            yield Stretch(lane, start + delay, duration, name, number[lane % STREAMS] + np.arange(count))
        number += count


def write_columns(slices: int, path: Path) -> list[Stretch]:
    """The column file of such a trace, and what is in it."""
    strings = ["", "cudaLaunchKernel", *(f"aten::op{i}" for i in range(NAMES)), *(f"kernel_{i}" for i in range(NAMES))]
    tracks = [Track(1, FIRST_THREAD + thread) for thread in range(THREADS)]
    tracks += [Track(0, stream) for stream in range(STREAMS)]
    made, rows = [], 0
    with column_file.Writer(path) as out:
        for stretch in stretches(slices):
            made.append(stretch)
            rows += _add_host(out, stretch, rows) if stretch.lane < THREADS else _add_device(out, stretch, rows)
        out.finish(TraceInfo(Header(HEADER), strings, tracks, 0, 0, (), 0))
    return made


def _add_host(out: column_file.Writer, stretch: Stretch, first: int) -> int:
    """Operators and their calls take turns."""
    count = len(stretch.start)
    call_start, call_duration = stretch.call
    columns = {
        "category": np.tile([Category.OPERATOR, Category.RUNTIME], count),
        "name": np.stack([stretch.name + 2, np.ones(count, np.int64)], axis=1).ravel(),
        "start": np.stack([stretch.start, call_start], axis=1).ravel(),
        "duration": np.stack([stretch.duration, call_duration], axis=1).ravel(),
    }
    _add_events(out, stretch.lane, columns)
    rows = first + 2 * np.arange(count)
    out.add(OperatorRanges, _filled(OperatorRanges, row=rows, external_id=stretch.correlation))
    out.add(Launches, _filled(Launches, row=rows + 1, correlation=stretch.correlation))
    return 2 * count


def _add_device(out: column_file.Writer, stretch: Stretch, first: int) -> int:
    count = len(stretch.start)
    columns = {
        "category": np.full(count, Category.KERNEL),
        "name": stretch.name + 2 + NAMES,
        "start": stretch.start,
        "duration": stretch.duration,
    }
    _add_events(out, stretch.lane, columns)
    known = {
        "row": first + np.arange(count),
        "correlation": stretch.correlation,
        "device": np.zeros(count),
        "stream": np.full(count, stretch.lane - THREADS),
        "blocks_per_sm": np.full(count, 1.5),
    }
    out.add(DeviceWork, _filled(DeviceWork, **known))
    return count


def _add_events(out: column_file.Writer, track: int, columns: dict[str, npt.NDArray[Any]]) -> None:
    count = len(columns["start"])
    out.add(Events, {"phase": np.full(count, EventPhase.COMPLETE), "track": np.full(count, track), **columns})


def _filled(kind: type[TraceTable], **known: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """The other columns are missing, as the schema says it."""
    count = len(known["row"])
    return {column.name: known.get(column.name, np.full(count, column.fill)) for column in kind.schema()}
