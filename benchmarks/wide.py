"""A trace for the timeline: slices on host threads and streams, evenly spread over 60 lanes, as short as kernels are.

tests.tracegen makes traces that mean something; this one has only the shape: many lanes that are full at every zoom.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

#: each with operators and the calls in them: two lanes
THREADS = 20
STREAMS = 20
LANES = 2 * THREADS + STREAMS

_NAMES = 400
_PIECE = 50_000
#: ns; of kernels the median, and how far they spread
_MEDIAN, _SPREAD = 8000.0, 1.2


def write_wide(slices: int, directory: Path, seed: int = 1) -> Path:
    """One .json.gz of about `slices` slices."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "worker0.1.pt.trace.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "wide", "numSms": 108}]}
        out.write(json.dumps(head)[:-1].encode() + b', "traceEvents": [\n')
        pieces = _pieces(slices // LANES, np.random.default_rng(seed))
        out.write(next(pieces))
        for piece in pieces:
            out.write(b",\n" + piece)
        out.write(b"\n]}\n")
    return path


def _pieces(of_lane: int, random: np.random.Generator) -> Iterator[bytes]:
    """Text of events: of all lanes a stretch of time, then the next stretch."""
    correlation = np.arange(STREAMS, dtype=np.int64) * of_lane
    clock = np.zeros(THREADS + STREAMS, np.int64)
    for first in range(0, of_lane, _PIECE):
        count = min(_PIECE, of_lane - first)
        for lane in range(THREADS + STREAMS):
            duration = np.maximum(np.exp(random.normal(np.log(_MEDIAN), _SPREAD, count)), 400).astype(np.int64)
            gap = (duration * random.random(count)).astype(np.int64) + 100
            start = clock[lane] + np.cumsum(gap + duration) - duration
            clock[lane] = start[-1] + duration[-1]
            name = random.integers(0, _NAMES, count)
            if lane < THREADS:
                number = correlation[lane % STREAMS] + np.arange(count)
                yield _host(lane, start, duration, name, number)
            else:
                number = correlation[lane - THREADS] + np.arange(count)
                yield _device(lane - THREADS, start + 20_000, duration, name, number)
        correlation += count


def _host(
    thread: int,
    start: np.ndarray[tuple[int], np.dtype[np.int64]],
    duration: np.ndarray[tuple[int], np.dtype[np.int64]],
    name: np.ndarray[tuple[int], np.dtype[np.int64]],
    correlation: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> bytes:
    """Operators, and in each a call that launches."""
    operator = (
        f'{{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":{100 + thread},"ts":%d.%03d,"dur":%d.%03d,'
        f'"args":{{"External id":%d}}}},\n'
        f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":{100 + thread},"ts":%d.%03d,'
        '"dur":%d.%03d,"args":{"correlation":%d}}'
    )
    inside, part = start + duration // 4, duration // 2
    columns = (
        *(name, start // 1000, start % 1000, duration // 1000, duration % 1000, correlation),
        *(inside // 1000, inside % 1000, part // 1000, part % 1000, correlation + 1),
    )
    return ",\n".join([operator % row for row in zip(*(c.tolist() for c in columns), strict=True)]).encode()


def _device(
    stream: int,
    start: np.ndarray[tuple[int], np.dtype[np.int64]],
    duration: np.ndarray[tuple[int], np.dtype[np.int64]],
    name: np.ndarray[tuple[int], np.dtype[np.int64]],
    correlation: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> bytes:
    kernel = (
        f'{{"ph":"X","cat":"kernel","name":"kernel_%d","pid":0,"tid":{stream},"ts":%d.%03d,"dur":%d.%03d,'
        f'"args":{{"device":0,"stream":{stream},"correlation":%d,"blocks per SM":1.5}}}}'
    )
    columns = (name, start // 1000, start % 1000, duration // 1000, duration % 1000, correlation + 1)
    return ",\n".join([kernel % row for row in zip(*(c.tolist() for c in columns), strict=True)]).encode()
