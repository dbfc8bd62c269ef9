"""Which phase each moment of each thread belongs to."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.backward_runs import Runs, backward_runs
from torch_tb_profiler.analysis.program.hulls import Hulls, hulls
from torch_tb_profiler.analysis.program.kinds import CODE, Evidence, Phase
from torch_tb_profiler.analysis.program.marks import Marks, marks
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int8, Int32, Int64
from torch_tb_profiler.model import Model

_OTHER, _NO_LAUNCH = CODE[Phase.OTHER], CODE[Phase.NO_LAUNCH]


class Segments(msgspec.Struct, frozen=True):
    """All time of the main thread, cut wherever its phase changes. Parallel; sorted, without gaps between them.

    start, end   ns
    phase        code of the phase
    evidence     Evidence
    """

    start: Int64
    end: Int64
    phase: Int8
    evidence: Int8


class Phases(msgspec.Struct, frozen=True):
    """What is known of the phases of a trace.

    main      index into Trace.tracks: the thread that runs the program; -1 without host events
    runs      the backward passes
    segments  of the main thread, from the first mark to the last
    """

    main: int
    marks: Marks
    hulls: Hulls
    runs: Runs
    segments: Segments

    def at(self, track: Int32, time: Int64) -> tuple[Int8, Int8]:
        """The phase of some threads at some times, and its Evidence. Arrays of one shape."""
        return _at(self.main, self.marks, self.hulls, track, time)


@cached(for_good=True)
def _phases(model: Model) -> Phases:
    main = main_lane(model)
    marked = marks(model)
    runs = backward_runs(model, marked, main)
    filled = hulls(model, marked, runs, main)
    return Phases(main, marked, filled, runs, _segments(main, marked, filled))


def phases(model: Model) -> Phases:
    """Of the whole trace: a choice of steps does not change what a moment is."""
    return _phases(model.whole)


def device_phase(model: Model, found: Phases) -> Int8:
    """Shape (device work,): the phase in which each piece of the selected work was launched."""
    launch = model.device_links.launch
    known = np.flatnonzero(launch >= 0)
    phase = np.full(len(launch), _NO_LAUNCH, np.int8)
    phase[known] = event_phase(model, found, take_known(model.launches.row, launch)[known])
    return phase


def event_phase(model: Model, found: Phases, row: Int32) -> Int8:
    """Shape (rows,): the phase in which each of some events of the host begins."""
    events = model.trace.events
    return found.at(events.track[row], events.start[row])[0]


def _at(main: int, marked: Marks, filled: Hulls, track: Int32, time: Int64) -> tuple[Int8, Int8]:
    track = track.astype(np.int32)
    mark = marked.nesting.innermost(track, time)
    phase = take_known(marked.phase, mark, _OTHER).astype(np.int8)
    evidence = take_known(marked.evidence, mark, Evidence.NONE).astype(np.int8)
    elsewhere = np.flatnonzero((mark < 0) & (track != main))
    if len(elsewhere):
        there = np.full(len(elsewhere), main, np.int32)
        phase[elsewhere], of_main = _at(main, marked, filled, there, time[elsewhere])
        evidence[elsewhere] = np.where(of_main == Evidence.NONE, Evidence.NONE, Evidence.OTHER_THREAD)
    open_ = np.flatnonzero((mark < 0) & (track == main))
    hull = filled.nesting.innermost(np.zeros(len(open_), np.int32), time[open_])
    phase[open_] = take_known(filled.phase, hull, _OTHER)
    evidence[open_] = take_known(filled.evidence, hull, Evidence.NONE)
    return phase, evidence


def _segments(main: int, marked: Marks, filled: Hulls) -> Segments:
    mine = marked.nesting.lane == main
    times = distinct(
        np.concatenate(
            [marked.nesting.start[mine], marked.nesting.end[mine], filled.nesting.start, filled.nesting.end]
        ).astype(np.int64)
    )
    if len(times) < 2:
        nothing, code = np.empty(0, np.int64), np.empty(0, np.int8)
        return Segments(nothing, nothing, code, code)
    start = times[:-1]
    phase, evidence = _at(main, marked, filled, np.full(len(start), main, np.int32), start)
    leads = np.flatnonzero(np.concatenate(([True], (phase[1:] != phase[:-1]) | (evidence[1:] != evidence[:-1]))))
    end = np.append(start[leads[1:]], times[-1])
    return Segments(start[leads], end, phase[leads], evidence[leads])
