"""The timeline of this package in a fresh interpreter.

python timeline.py build FILE COLUMNS TIMELINE   read a trace as a worker process does, then build its timeline
python timeline.py serve COLUMNS TIMELINE        open both, and ask for tiles as a view of 1,600 px does
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from own import cpu, peak, resident, say

from torch_tb_profiler.timeline import timeline_file

VIEW_PIXELS = 1600
LANES = 60
VIEWS = 60


def build(file: str, columns: str, timeline: str) -> None:
    from torch_tb_profiler.analysis.memory.records import memory_curves
    from torch_tb_profiler.model import Model
    from torch_tb_profiler.timeline.timeline_file import build as build_timeline
    from torch_tb_profiler.trace import read_to_file

    began = cpu()
    with Path(file).open("rb") as stream:
        trace = read_to_file(stream, Path(columns))
    read = cpu() - began
    model = Model(trace)
    # what the first page needs is there when the timeline is built
    _ = model.steps, model.forward_backward, memory_curves(model)
    structure = cpu() - began - read
    began = cpu()
    timeline_file.write(build_timeline(model), Path(timeline))
    say(
        events=len(trace.events),
        read=read,
        structure=structure,
        build=cpu() - began,
        build_peak=peak(),
        columns=Path(columns).stat().st_size,
        timeline=Path(timeline).stat().st_size,
    )


def serve(columns: str, timeline: str) -> None:
    import gzip  # noqa: F401 - the answers are packed by isal; this is for its absence
    import random

    import numpy as np

    from torch_tb_profiler.timeline.pyramid import tile_length, width_of
    from torch_tb_profiler.timeline.tiles import TileAddress, tile_bytes
    from torch_tb_profiler.trace import column_file
    from torch_tb_profiler.workspace import compressed

    began = cpu()
    found = timeline_file.read(Path(timeline), column_file.open_trace(Path(columns)))
    lanes = np.argsort(-np.diff(found.slices.first), kind="stable")[:LANES]
    lanes.sort()
    tile_bytes(found, TileAddress(found.highest_level, 0, lanes))
    say(open=cpu() - began, opened=resident())

    pick = random.Random(1)
    tiles: list[float] = []
    views: list[tuple[int, float]] = []
    span = found.end - found.begin
    for number in range(VIEWS):
        # the whole trace first, then ever closer, at a place of chance
        length = max(int(span * 0.8**number), 100_000)
        start = found.begin + pick.randint(0, max(span - length, 0))
        level = max((k for k in range(found.highest_level + 1) if width_of(k) <= 3 * length / VIEW_PIXELS), default=0)
        size, before = 0, cpu()
        for tile in range(start // tile_length(level), (start + length) // tile_length(level) + 1):
            at = cpu()
            size += len(b"".join(compressed([tile_bytes(found, TileAddress(level, tile, lanes))])))
            tiles.append(cpu() - at)
        views.append((size, cpu() - before))
    say(
        slices=len(found.slices.items),
        lanes=len(lanes),
        tile_median=median(tiles),
        tile_most=max(tiles),
        view_median=median(seconds for _, seconds in views),
        view_most_bytes=max(size for size, _ in views),
        whole_view_bytes=views[0][0],
        resident=resident(),
        peak=peak(),
    )


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    {"build": build, "serve": serve}[mode](*rest)
