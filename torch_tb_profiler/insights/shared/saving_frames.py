"""Python frames that write a checkpoint."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: `file(line): function` of torch, of libraries, and as people call it
SAVES = lazy_pattern(
    r"(?:^|/)torch/serialization\.py\(\d+\): save$|(?:^|/)safetensors/\w+\.py\(\d+\): save_(?:file|model)$|"
    r"(?:^|/)torch/distributed/checkpoint/\w+\.py\(\d+\): (?:save|async_save)\w*$|"
    r"\(\d+\): (?:_?save_(?:checkpoint|pretrained|model|state|snapshot|weights)\w*|checkpoint_save)$"
)


def copies_within(model: Model, rows: Int32) -> Int32:
    """The copies that were launched inside some outermost ranges of the host."""
    events, work = model.trace.events, np.flatnonzero(model.device_category == Category.MEMCPY)
    launch = model.device_links.launch[work]
    work, launch = work[launch >= 0], launch[launch >= 0]
    call = model.launches.row[launch]
    order = np.argsort(events.start[rows], kind="stable")
    at = np.searchsorted(events.start[rows][order], events.start[call], side="right") - 1
    around = rows[order][np.maximum(at, 0)] if len(rows) else call
    inside = (at >= 0) & (events.start[call] < events.end[around]) & (events.track[call] == events.track[around])
    found: Int32 = model.device_work.row[work[inside]]
    return found


@cached
def saving_frames(model: Model) -> Int32:
    """Events of the outermost of them, by thread and start."""
    frames = model.structure.frames
    if not len(frames):
        return np.empty(0, np.int32)
    saves = model.trace.strings.where(SAVES.search, frames.name)[frames.name]
    found: Int32 = frames.row[saves & (nearest(frames.parent, saves, frames.parent) < 0)]
    return found
