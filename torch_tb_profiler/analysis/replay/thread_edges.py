"""How threads wake one another (autograd engine, collectives on the host), and when threads show nothing at all."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.host_time import HostTime, LaneSpans, lane_subtraction, lane_union
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls, WorkItems, WorkKind, runtime_calls
from torch_tb_profiler.analysis.replay.stream_edges import LONGEST_LATENCY_NS
from torch_tb_profiler.analysis.shared.host_threads import AUTOGRAD_PREFIX, main_lane
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.intervals import Spans, subtraction
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import ROUNDING_NS, CallTree
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.trace import Category, Trace

#: ns: a thread that shows no sign of life for so long is silent
IDLE_NS = 20_000
#: ns: who was woken so long after is not woken by that
LATEST_NS = 1_000_000
_BEFORE_ALL = -(2**62)


class HandOvers(msgspec.Struct, frozen=True):
    """One thread wakes another. Parallel, shape (hand-overs,); lanes are indexes into Trace.tracks, times ns.

    wait_from   since when the woken thread was idle, -1 if unknown: its time until `to_time` is a wait
    """

    from_lane: Int64
    from_time: Int64
    to_lane: Int64
    to_time: Int64
    wait_from: Int64


def hand_overs(model: Model, host: HostTime, calls: RuntimeCalls, main: int) -> HandOvers:
    """Find hand-overs from the main thread to those that launch or run a backward, and back to it."""
    rows: list[tuple[int, int, int, int, int]] = []
    if main >= 0:
        mine = host.boundaries(main)
        silence = np.flatnonzero(np.diff(mine) > IDLE_NS)
        back: dict[int, tuple[int, int]] = {}
        for lane in helper_lanes(model, calls):
            if lane != main:
                woken = _woken(host, mine, main, lane)
                rows += woken
                _answers(host, mine, silence, lane, woken, back)
        rows += [(lane, e, main, int(mine[s + 1]), int(mine[s])) for s, (e, lane) in sorted(back.items())]
    return HandOvers(*np.array(rows, np.int64).reshape(-1, 5).T)


def helper_lanes(model: Model, calls: RuntimeCalls) -> list[int]:
    """List threads that launch or have operators of the autograd engine."""
    tree = model.structure.tree
    engine = model.trace.strings.where(lambda name: name.startswith(AUTOGRAD_PREFIX), tree.name)[tree.name]
    lanes = np.concatenate((calls.lane[calls.release >= 0], tree.track[engine].astype(np.int64)))
    return [int(lane) for lane in distinct(lanes)]


def _woken(host: HostTime, mine: Int64, main: int, lane: int) -> list[tuple[int, int, int, int, int]]:
    """Find where a thread begins after being idle while the main thread had done something meanwhile."""
    first, after = int(host.first[lane]), int(host.first[lane + 1])
    if first == after:
        return []
    start, idle = host.start[first:after], host.node[first:after] < 0
    gaps = np.flatnonzero(idle[:-1] & (np.diff(start) > IDLE_NS))
    begins = np.concatenate(([start[0]], start[gaps + 1]))
    since = np.concatenate(([_BEFORE_ALL], start[gaps]))
    place = np.searchsorted(mine, begins, side="right") - 1
    found = []
    for i, (a, b, at) in enumerate(zip(since.tolist(), begins.tolist(), place.tolist(), strict=True)):
        if at < 0:
            continue
        x = int(mine[at])
        if x > a and (b - x <= LATEST_NS or i == 0):
            found.append((main, x, lane, b, a if i else -1))
    return found


def _answers(
    host: HostTime,
    mine: Int64,
    silence: Int64,
    lane: int,
    woken: list[tuple[int, int, int, int, int]],
    back: dict[int, tuple[int, int]],
) -> None:
    """Add, for each silence of the main thread in which this thread was woken, when this thread was done."""
    begins = np.sort(np.array([each[3] for each in woken], np.int64))
    theirs = host.boundaries(lane)
    x, y = mine[silence], mine[silence + 1]
    inside = np.searchsorted(begins, y, side="left") > np.searchsorted(begins, x, side="left")
    for at in np.flatnonzero(inside).tolist():
        place = int(np.searchsorted(theirs, y[at], side="right")) - 1
        e = int(theirs[place])
        late = int(y[at]) - e
        if e > x[at] and late <= max(LATEST_NS, (int(y[at]) - int(x[at])) // 2):
            before = back.get(int(silence[at]))
            if before is None or e > before[0]:
                back[int(silence[at])] = e, lane


class HostCollectives(msgspec.Struct, frozen=True):
    """Collectives on the host: who called them, and who waited for them. `…_item` are indexes into WorkItems, times ns.

    called_lane, called_time, called_item         the call that gave each to its thread had returned by then
    ended_item, ended_lane, ended_from, ended_to  the thread was silent between the two times, and went on with its end
    """

    called_lane: Int64
    called_time: Int64
    called_item: Int64
    ended_item: Int64
    ended_lane: Int64
    ended_from: Int64
    ended_to: Int64


def host_collectives(model: Model, host: HostTime, items: WorkItems, main: int) -> HostCollectives:
    """Find who called each collective on the host, and the silence of the main thread that waits for the last."""
    trace = model.trace
    ranges = np.flatnonzero(items.kind == WorkKind.HOST_COLLECTIVE)
    called: list[tuple[int, int, int]] = []
    ended: list[tuple[int, int, int, int]] = []
    if len(ranges):
        tree = model.structure.tree
        for node, item in _calls_of_ranges(model, items, ranges):
            if tree.end[node] <= items.start[item]:
                called.append((int(tree.track[node]), int(tree.end[node]), item))
            elif tree.start[node] <= items.start[item]:
                called.append((int(tree.track[node]), int(tree.start[node]), item))
        if main >= 0:
            mine = host.boundaries(main)
            elsewhere = ranges[trace.events.track[items.row[ranges]] != main]
            elsewhere = elsewhere[np.argsort(items.end[elsewhere], kind="stable")]
            ends = items.end[elsewhere]
            for at in np.flatnonzero(np.diff(mine) > IDLE_NS).tolist():
                x, y = int(mine[at]), int(mine[at + 1])
                last = int(np.searchsorted(ends, y, side="right")) - 1
                if last >= 0 and ends[last] > (x + y) // 2:
                    ended.append((int(elsewhere[last]), main, x, y))
    return HostCollectives(*np.array(called, np.int64).reshape(-1, 3).T, *np.array(ended, np.int64).reshape(-1, 4).T)


def _calls_of_ranges(model: Model, items: WorkItems, ranges: Int64) -> list[tuple[int, int]]:
    """Match each range (item) with its call of `c10d::…` (node of the tree).

    Threads take the calls of a process group one after the other, whatever their kinds: the n-th call has the n-th
    range. Where the trace has more of the ones than of the others, or a range would come before its call, the same
    holds for those of one kind only: `c10d::allreduce_` and `gloo:all_reduce`.
    """
    tree, trace = model.structure.tree, model.trace
    named = trace.strings.where(lambda name: name.startswith("c10d::"), tree.name)[tree.name]
    nodes = np.flatnonzero(named)[np.argsort(tree.start[named], kind="stable")]
    in_order = ranges[np.argsort(items.start[ranges], kind="stable")]
    if len(nodes) == len(in_order) and (tree.start[nodes] <= items.start[in_order]).all():
        return list(zip(nodes.tolist(), in_order.tolist(), strict=True))
    by_kind: dict[str, tuple[list[int], list[int]]] = {}
    for node in nodes.tolist():
        by_kind.setdefault(_kind(trace.strings[int(tree.name[node])]), ([], []))[0].append(node)
    for item in in_order.tolist():
        by_kind.setdefault(_kind(trace.strings[int(trace.events.name[items.row[item]])]), ([], []))[1].append(item)
    equal = (pair for pair in by_kind.values() if len(pair[0]) == len(pair[1]))
    return [pair for found in equal for pair in zip(*found, strict=True)]


def _kind(name: str) -> str:
    return name.rpartition(":")[2].strip("_").replace("_", "")


#: ns: a thread that shows nothing for longer is not between two operators
SILENT_NS = 1_000_000


class HostActivity(msgspec.Struct, frozen=True):
    """When each host thread shows something: operators, annotations but for marks of steps, calls, Python frames.

    spans     with the breaks of up to `SILENT_NS` between them
    unknown   breaks that are too long after a wait, where of the host only calls were recorded
    marks     shape (nodes of the call tree,): marks of steps, whose ends alone are signs of life
    main      the main thread, -1 without one
    helpers   threads that launch, or that the autograd engine uses
    """

    spans: LaneSpans
    unknown: LaneSpans
    marks: Bool
    main: int
    helpers: list[int]

    def instead(self, lane: int) -> list[int]:
        """List whom a thread waits for when it shows nothing: the main thread, and that one the autograd engine."""
        if lane != self.main:
            return [self.main] if self.main >= 0 else []
        return [each for each in self.helpers if each != lane]

    def on(self, lane: int) -> Spans:
        """Return when a thread, or one that it waits for, shows something."""
        at = np.flatnonzero(isin(self.spans.lane, [lane, *self.instead(lane)]))
        alive = _with_breaks(np.zeros(len(at), np.int64), self.spans.start[at], self.spans.end[at])
        mine = self.unknown.lane == lane
        return subtraction(Spans(alive.start, alive.end), Spans(self.unknown.start[mine], self.unknown.end[mine]))


@cached
def host_activity(model: Model) -> HostActivity:
    """Collect the activity of all threads in the whole trace."""
    tree, frames, calls, main = model.structure.tree, model.structure.frames, runtime_calls(model), main_lane(model)
    is_mark = are_step_marks(model.steps, tree)
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
    unknown = lane_union(*(np.empty((3, 0), np.int64) if is_recorded else _after_waits(model.trace, calls)))
    return HostActivity(spans, unknown, is_mark, main, helper_lanes(model, calls))


def _after_waits(trace: Trace, calls: RuntimeCalls) -> tuple[Int64, Int64, Int64]:
    """Return lane, start and end of gaps between a call that waits and the next call, where no latency is so long."""
    order = np.lexsort((calls.start, calls.lane))
    lane, start, end = calls.lane[order], calls.start[order], calls.end[order]
    waits = trace.strings.where(SYNCHRONIZE.search, calls.name)[calls.name][order]
    at = np.flatnonzero(waits[:-1] & (lane[1:] == lane[:-1]) & (start[1:] - end[:-1] > LONGEST_LATENCY_NS))
    return lane[at], end[at], start[at + 1]


def silent_spans(model: Model, host: HostTime) -> LaneSpans:
    """Find when threads, and those they wait for, show nothing for longer than `SILENT_NS` between two of their
    events.
    """
    signs = host_activity(model)
    in_mark = isin(np.append(host.row, -1)[host.node], model.structure.tree.row[signs.marks])
    least = LONGEST_LATENCY_NS if len(signs.unknown) else SILENT_NS
    at = np.flatnonzero((host.length > least) & ((host.node < 0) | in_mark))
    lane, start, end = host.lane[at].astype(np.int64), host.start[at], host.start[at] + host.length[at]
    there = [(on, signs.on(on)) for on in distinct(lane).tolist()]
    return lane_subtraction(
        lane_union(lane, start, end),
        LaneSpans(
            np.repeat([on for on, _ in there], [spans.size for _, spans in there]).astype(np.int64),
            *(np.concatenate([spans[side] for _, spans in there] or [lane]) for side in (0, 1)),
        ),
    )


def are_step_marks(steps: Steps, tree: CallTree) -> Bool:
    """Mark annotations that hold a whole step: they mark it, or say no more than that the program runs."""
    place = np.searchsorted(steps.host_start, tree.start, side="left")
    end = np.append(steps.host_end, np.iinfo(np.int64).max)[place]
    is_mark: Bool = (tree.category == Category.USER_ANNOTATION) & (tree.end >= end - ROUNDING_NS)
    return is_mark


def _with_breaks(lane: Int64, start: Int64, end: Int64) -> LaneSpans:
    """Return the union of spans and moments, with gaps of at most `SILENT_NS` filled."""
    found = lane_union(lane, start, end + SILENT_NS)
    return LaneSpans(found.lane, found.start, found.end - SILENT_NS)
