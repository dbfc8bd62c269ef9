"""When host threads show nothing for so long that the trace does not say what they did."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.host_time import HostTime
from torch_tb_profiler.analysis.replay.inputs import Calls, calls_of
from torch_tb_profiler.analysis.replay.lags import LONGEST_LATENCY_NS
from torch_tb_profiler.analysis.replay.stretches import Stretches, less, merged
from torch_tb_profiler.analysis.replay.thread_edges import helpers
from torch_tb_profiler.analysis.shared.main_lane import main_lane
from torch_tb_profiler.arrays.distinct import among, distinct
from torch_tb_profiler.arrays.intervals import Spans, subtraction
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import ROUNDING_NS, CallTree
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.trace import Category, Trace

#: ns: a thread that shows nothing for longer is not between two operators
SILENT_NS = 1_000_000


class Shown(msgspec.Struct, frozen=True):
    """When each host thread shows something: operators, annotations but for marks of steps, calls, Python frames.

    spans     with the breaks of up to `SILENT_NS` between them
    unknown   breaks that are too long after a wait, where of the host only calls were recorded
    marks     shape (nodes of the call tree,): marks of steps, of which only the ends are signs of life
    main      the main thread, -1 without one
    helpers   threads that launch, or that the autograd engine uses
    """

    spans: Stretches
    unknown: Stretches
    marks: Bool
    main: int
    helpers: list[int]

    def instead(self, lane: int) -> list[int]:
        """Whom a thread waits for when it shows nothing: others the main thread, that one the autograd engine."""
        if lane != self.main:
            return [self.main] if self.main >= 0 else []
        return [each for each in self.helpers if each != lane]

    def on(self, lane: int) -> Spans:
        """When a thread, or one that it waits for, shows something."""
        at = np.flatnonzero(among(self.spans.lane, [lane, *self.instead(lane)]))
        alive = _with_breaks(np.zeros(len(at), np.int64), self.spans.start[at], self.spans.end[at])
        mine = self.unknown.lane == lane
        return subtraction(Spans(alive.start, alive.end), Spans(self.unknown.start[mine], self.unknown.end[mine]))


@cached
def shown(model: Model) -> Shown:
    """Of all threads, in the whole trace."""
    tree, frames, calls, main = model.structure.tree, model.structure.frames, calls_of(model), main_lane(model)
    is_mark = around_a_step(model.steps, tree)
    marks, roots = np.flatnonzero(is_mark), np.flatnonzero(frames.parent < 0)
    outermost = np.flatnonzero(~is_mark & ((tree.parent < 0) | np.append(is_mark, False)[tree.parent]))
    moments = np.concatenate((tree.start[marks], tree.end[marks]))
    lanes = (tree.track[outermost], frames.track[roots], calls.lane, tree.track[marks], tree.track[marks])
    spans = _with_breaks(
        np.concatenate(lanes).astype(np.int64),
        np.concatenate((tree.start[outermost], frames.start[roots], calls.start, moments)),
        np.concatenate((tree.end[outermost], frames.end[roots], calls.end, moments)),
    )
    is_recorded = len(outermost) > 0 or len(roots) > 0
    unknown = merged(*(np.empty((3, 0), np.int64) if is_recorded else _after_waits(model.trace, calls)))
    return Shown(spans, unknown, is_mark, main, helpers(model, calls))


def _after_waits(trace: Trace, calls: Calls) -> tuple[Int64, Int64, Int64]:
    """Lane, start and end of what lies between a call that waits and the next call, where no latency is so long."""
    order = np.lexsort((calls.start, calls.lane))
    lane, start, end = calls.lane[order], calls.start[order], calls.end[order]
    waits = trace.strings.where(SYNCHRONIZE.search, calls.name)[calls.name][order]
    at = np.flatnonzero(waits[:-1] & (lane[1:] == lane[:-1]) & (start[1:] - end[:-1] > LONGEST_LATENCY_NS))
    return lane[at], end[at], start[at + 1]


def silences(model: Model, host: HostTime) -> Stretches:
    """When threads show nothing for longer than `SILENT_NS` between two of their events, nor those they wait for."""
    signs = shown(model)
    in_mark = among(np.append(host.row, -1)[host.node], model.structure.tree.row[signs.marks])
    least = LONGEST_LATENCY_NS if len(signs.unknown) else SILENT_NS
    at = np.flatnonzero((host.length > least) & ((host.node < 0) | in_mark))
    lane, start, end = host.lane[at].astype(np.int64), host.start[at], host.start[at] + host.length[at]
    there = [(on, signs.on(on)) for on in distinct(lane).tolist()]
    return less(
        merged(lane, start, end),
        Stretches(
            np.repeat([on for on, _ in there], [spans.size for _, spans in there]).astype(np.int64),
            *(np.concatenate([spans[side] for _, spans in there] or [lane]) for side in (0, 1)),
        ),
    )


def around_a_step(steps: Steps, tree: CallTree) -> Bool:
    """Annotations that hold a whole step: they mark it, or say no more than that the program runs."""
    place = np.searchsorted(steps.host_start, tree.start, side="left")
    end = np.append(steps.host_end, np.iinfo(np.int64).max)[place]
    is_mark: Bool = (tree.category == Category.USER_ANNOTATION) & (tree.end >= end - ROUNDING_NS)
    return is_mark


def _with_breaks(lane: Int64, start: Int64, end: Int64) -> Stretches:
    """The union of stretches and moments, and what lies between those of a lane that are at most `SILENT_NS` apart."""
    found = merged(lane, start, end + SILENT_NS)
    return Stretches(found.lane, found.start, found.end - SILENT_NS)
