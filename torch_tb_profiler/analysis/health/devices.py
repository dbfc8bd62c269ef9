"""Kernels that are missing, and kernels that cannot be right."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.health.kernels import LAUNCH_NAME, TOUCHES
from torch_tb_profiler.analysis.program.capturing import capturing
from torch_tb_profiler.arrays.distinct import among
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Note
from torch_tb_profiler.words.numbers import counted, ms

_GRAPH_NAME = late_pattern(r"GraphLaunch")

#: CUDA 12.6 Update 2, whose number does not tell it from 12.6, up to the last before 13.1
_ZERO_TIMESTAMPS = range(12060, 13010)
_ZERO_TIMESTAMPS_TEXT = (
    "CUDA 12.6 Update 2 to 13.0 occasionally gives kernels a timestamp of zero, and the profiler drops them "
    "(pytorch#192021)."
)
_NEWER_CUDA = "CUDA 13.1 or newer"


def _lost_kernels(model: Model) -> Iterator[Note]:
    """Launches without a kernel: before the first one that has one, after the last, and between."""
    events, launches = model.trace.events, model.launches
    called = _named(model, LAUNCH_NAME) & (launches.correlation > 0)
    done = called & among(launches.correlation, model.device_work.correlation[model.is_work])
    launch = model.device_links.launch
    done |= called & (np.bincount(launch[launch >= 0], minlength=len(launches)) > 0)
    if not done.any():
        return
    start = events.start[launches.row]
    # a driver call inside a runtime call of another correlation is the same launch
    lost = called & ~done & ((model.launch_links.duration > 0) | (events.duration[launches.row] <= 0))
    # what is called in a capture becomes a part of a graph, and runs nothing
    lost[lost] = ~capturing(model).at(events.track[launches.row[lost]], start[lost])
    before = lost & (start < start[done].min())
    after = lost & (start > start[done].max())
    between = lost & ~before & ~after
    if before.any():
        known = _has_zero_timestamps(model)
        yield Note(
            "kernels_lost_at_start",
            "warning",
            "The first launches of the recording have no kernels: the profiler lost them, so device time is too short."
            + (f" {_ZERO_TIMESTAMPS_TEXT}" if known else ""),
            count=int(before.sum()),
            touches=TOUCHES,
            remedy=_NEWER_CUDA if known else "schedule(wait=1, warmup=1, active=3)",
            values={"zero_timestamps": known},
        )
    if between.any():
        graphs = bool(_named(model, _GRAPH_NAME).any())
        yield Note(
            "kernels_lost",
            "info" if graphs else "warning",
            "Launches whose kernels are not in the trace: "
            + (
                "they were captured into a graph, or the profiler lost them."
                if graphs
                else "the profiler lost them, so device time is too short."
            ),
            count=int(between.sum()),
            touches=TOUCHES,
            values={"graphs": graphs},
        )
    if after.any():
        yield Note(
            "kernels_after_end",
            "info",
            "The last launches have no kernels: recording ended before these had run.",
            count=int(after.sum()),
            touches=TOUCHES,
            remedy="torch.cuda.synchronize()  # before the profiler stops",
        )


def _unverifiable(model: Model) -> Iterator[Note]:
    """Without launches it is not known whether kernels are missing."""
    if model.has_kernels and not model.has_runtime and _has_zero_timestamps(model):
        yield Note(
            "kernels_may_be_lost",
            "info",
            f"{_ZERO_TIMESTAMPS_TEXT} Launches are not recorded, so it cannot be seen whether any are missing here.",
            touches=TOUCHES,
            remedy=_NEWER_CUDA,
        )


def _before_launch(model: Model) -> Iterator[Note]:
    events, links = model.trace.events, model.device_links
    known = links.launch >= 0
    work = model.device_work.row[known]
    early = events.start[work] < events.start[model.launches.row[links.launch[known]]]
    if early.any():
        yield Note(
            "before_launch",
            "warning",
            "Some kernels and copies begin before they were launched: the clocks of host and device do not agree, so "
            "delays and idle times are wrong.",
            count=int(early.sum()),
            touches=("overview", "kernels"),
        )


def _overruns(model: Model) -> Iterator[Note]:
    trace, found = model.trace, model.trace.overruns
    if not len(found):
        return
    at = int(found.recorded.argmax())
    row, recorded, cut, successors = (
        int(column[at]) for column in (found.row, found.recorded, found.duration, found.successors)
    )
    name, start, more = short_name(trace.strings[int(trace.events.name[row])]), int(trace.events.start[row]), len(found)
    text = (
        f"The file says that {name}, {start / 1e6:.3f} ms after the start of the trace, took {ms(recorded)}, while its "
        f"stream began {counted(successors, 'further kernel or copy', 'further kernels and copies')}: its duration is "
        f"cut to {ms(cut)}, where the next one begins."
    )
    yield Note(
        "impossible_durations",
        "error",
        text if more == 1 else f"{text} So are those of {more - 1} more.",
        count=more,
        touches=(*TOUCHES, "trace"),
        values={
            "name": name,
            "start_ns": start,
            "recorded_ns": recorded,
            "successors": successors,
            "cut_ns": cut,
            "more": more - 1,
        },
    )


def _named(model: Model, name: re.Pattern[str]) -> Bool:
    """Which launches have such a name."""
    codes = model.trace.events.name[model.launches.row]
    named: Bool = model.trace.strings.where(name.search, codes)[codes]
    return named


def _has_zero_timestamps(model: Model) -> bool:
    version = model.trace.header.raw.get("cuda_runtime_version")
    return isinstance(version, int) and version in _ZERO_TIMESTAMPS


RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (
    _lost_kernels,
    _unverifiable,
    _before_launch,
    _overruns,
)
