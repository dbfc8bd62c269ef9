"""Python frames that print, log or collect numbers, and those that write a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: `file(line): function` of what writes, shows or formats values; and of files whose purpose that is. Not mathematical
#: functions whose names begin alike: `log_softmax`, `logits`, `log_prob`
_FUNCTION = lazy_pattern(
    r"\(\d+\): (?:log|_log|log_(?:dict|metrics?|scalars?|stats?|loss(?:es)?|step|info|progress|training|eval)|"
    r"logging_\w+|_?maybe_log\w*|print|_?print_(?!options)\w+|add_scalars?|add_histogram|report|report_\w+|"
    r"write_(?:scalars?|summary|metrics?|log)|set_postfix\w*|track_metrics?|update_metrics?|__format__|__repr__)$"
)
_FILE = lazy_pattern(
    r"(?:^|/)(?:tensorboard|tensorboardX|wandb|tqdm|mlflow|logging|loggers?|torchmetrics|comet_ml|loguru)(?:/|\.py|_)"
    r"|(?:^|/)(?:metric_logger|meters?|average_meter|tensor_str|_tensor_str)\.py"
)
_BUILT_IN = lazy_pattern(r"^<built-in (?:function|method) (?:print|format|__format__)\b")


def _is_logging(name: str) -> bool:
    return (
        _FUNCTION.search(name) is not None
        or _BUILT_IN.search(name) is not None
        or (_FILE.search(name.partition("(")[0]) is not None)
    )


def logging_frame(model: Model, rows: Int32) -> Int32:
    """Shape (n,): the position in the frame tree of the innermost frame that logs, around host events; -1 for none."""
    return _innermost(model, rows, _is_logging)


def logging_rows(model: Model, rows: Int32) -> Int32:
    """Events of the outermost frames that log around some host events, and start no kernel: they do nothing else."""
    frames = model.structure.frames
    is_logging = model.trace.strings.where(_is_logging, frames.name)[frames.name]
    launch = model.device_links.launch
    kernels = model.launches.row[launch[(launch >= 0) & (model.device_category == Category.KERNEL)]]
    start = np.sort(model.trace.events.start[kernels])
    quiet = is_logging & (np.searchsorted(start, frames.start) == np.searchsorted(start, frames.end))
    outermost = quiet & (nearest(frames.parent, quiet, frames.parent) < 0)
    around = distinct(nearest(frames.parent, outermost, logging_frame(model, rows)))
    found: Int32 = frames.row[around[around >= 0]]
    return found


def in_frames(model: Model, rows: Int32, name: re.Pattern[str]) -> Bool:
    """Shape (n,): which host events are inside of frames in whose names a pattern is found."""
    found: Bool = _innermost(model, rows, name.search) >= 0
    return found


def _innermost(model: Model, rows: Int32, wanted: Callable[[str], object]) -> Int32:
    frames = model.structure.frames
    if not len(frames) or not len(rows):
        return np.full(len(rows), -1, np.int32)
    events = model.trace.events
    names = model.trace.strings.where(wanted, frames.name)
    place = model.structure.frame_nesting.innermost(events.track[rows], events.start[rows])
    found: Int32 = nearest(frames.parent, names[frames.name], place)
    return found


def in_logging(model: Model, rows: Int32) -> Bool:
    """Shape (n,): which host events are inside of frames that log."""
    found: Bool = logging_frame(model, rows) >= 0
    return found


#: `file(line): function` of torch, of libraries, and as people call it
SAVES = lazy_pattern(
    r"(?:^|/)torch/serialization\.py\(\d+\): save$|(?:^|/)safetensors/\w+\.py\(\d+\): save_(?:file|model)$|"
    r"(?:^|/)torch/distributed/checkpoint/\w+\.py\(\d+\): (?:save|async_save)\w*$|"
    r"\(\d+\): (?:_?save_(?:checkpoint|pretrained|model|state|snapshot|weights)\w*|checkpoint_save)$"
)


def copies_within(model: Model, rows: Int32) -> Int32:
    """Return the copies that were launched inside some outermost ranges of the host."""
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
