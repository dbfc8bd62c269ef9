"""The text of a trace for the timeline: many slices, as short as kernels are; tests.wide says which."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.wide import FIRST_THREAD, HEADER, THREADS, Stretch, stretches


def write_wide(slices: int, directory: Path, seed: int = 1) -> Path:
    """One .json.gz of about `slices` slices."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "worker0.1.pt.trace.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(json.dumps(HEADER)[:-1].encode() + b', "traceEvents": [\n')
        for number, stretch in enumerate(stretches(slices, seed)):
            out.write(b",\n" if number else b"")
            out.write(_host(stretch) if stretch.lane < THREADS else _device(stretch))
        out.write(b"\n]}\n")
    return path


def _host(stretch: Stretch) -> bytes:
    """Operators, and in each a call that launches."""
    track = f'"pid":1,"tid":{FIRST_THREAD + stretch.lane}'
    operator = (
        f'{{"ph":"X","cat":"cpu_op","name":"aten::op%d",{track},"ts":%d.%03d,"dur":%d.%03d,'
        f'"args":{{"External id":%d}}}},\n'
        f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel",{track},"ts":%d.%03d,'
        '"dur":%d.%03d,"args":{"correlation":%d}}'
    )
    start, duration = stretch.start, stretch.duration
    inside, part = stretch.call
    columns = (
        *(stretch.name, start // 1000, start % 1000, duration // 1000, duration % 1000, stretch.correlation),
        *(inside // 1000, inside % 1000, part // 1000, part % 1000, stretch.correlation),
    )
    return ",\n".join([operator % row for row in zip(*(c.tolist() for c in columns), strict=True)]).encode()


def _device(stretch: Stretch) -> bytes:
    stream = stretch.lane - THREADS
    kernel = (
        f'{{"ph":"X","cat":"kernel","name":"kernel_%d","pid":0,"tid":{stream},"ts":%d.%03d,"dur":%d.%03d,'
        f'"args":{{"device":0,"stream":{stream},"correlation":%d,"blocks per SM":1.5}}}}'
    )
    start, duration = stretch.start, stretch.duration
    columns = (stretch.name, start // 1000, start % 1000, duration // 1000, duration % 1000, stretch.correlation)
    return ",\n".join([kernel % row for row in zip(*(c.tolist() for c in columns), strict=True)]).encode()
