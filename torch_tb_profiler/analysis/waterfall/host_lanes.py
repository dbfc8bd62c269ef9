"""What each host thread was doing at each moment, as sets of moments by cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.host_time import ALLOCATOR, HOST_COLLECTIVE, LaneSpans, lane_union
from torch_tb_profiler.analysis.replay.host_waits import HostWait
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls
from torch_tb_profiler.analysis.replay.thread_edges import host_activity
from torch_tb_profiler.analysis.shared.host_threads import host_computing
from torch_tb_profiler.analysis.waterfall.causes import SLOW_LAUNCH_NS, IdleCause
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.intervals import EMPTY, Spans
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, Ints
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.trace import Category, Trace

#: ranges in which torch.compile, Inductor or Triton compile or tune; not those in which compiled code runs
COMPILE = lazy_pattern(
    r"\(dynamo_timed\)$|^(?:entire_frame_compile|backend_compile|inductor_compile|fx_codegen_and_compile|compile_file|"
    r"create_aot_dispatcher_function|async_compile\.wait|CachingAutotuner\.benchmark_all_configs)$"
)
COMPILE_FRAME = lazy_pattern(
    r"torch/_dynamo/convert_frame\.py\(\d+\): _compile(?:_inner)?$|torch/_inductor/compile_fx\.py\(\d+\): compile_fx|"
    r"torch/_inductor/runtime/triton_heuristics\.py\(\d+\): (?:benchmark_all_configs|autotune_to_one_config|precompile)"
    r"$|"
    r"triton/compiler/compiler\.py\(\d+\): compile$|triton/runtime/(?:jit\.py\(\d+\): _do_compile|"
    r"autotuner\.py\(\d+\): _bench)$|torch/utils/cpp_extension\.py\(\d+\): (?:load|load_inline|_jit_compile)$"
)
#: as the profiler names it (`record_python_gc_info`), and a call of gc.collect
GARBAGE = lazy_pattern(r"^Python GC$|^<built-in function collect>$")

#: up to so many threads are looked at as a whole
FEW_LANES = 64

#: from when to when, ns
Window = tuple[int, int]

#: what is looked at on a thread, by priority; Python comes after what other threads do meanwhile
ACTIVITIES = (
    IdleCause.SYNC,
    IdleCause.ALLOCATOR,
    IdleCause.INPUT,
    IdleCause.COMPILE,
    IdleCause.HOST_GC,
    IdleCause.SLOW_LAUNCH,
    IdleCause.HOST_LAUNCH,
    IdleCause.HOST_API,
    IdleCause.HOST_OPERATOR,
)


class _Ranges(msgspec.Struct, frozen=True, dict=True):
    """Ranges of host threads, by thread."""

    lane: Int64
    start: Int64
    end: Int64

    @classmethod
    def of(cls, lane: Ints, start: Int64, end: Int64) -> _Ranges:
        order = stable_order(lane)
        return cls(lane[order].astype(np.int64), start[order], end[order])

    @cached_property
    def _merged(self) -> LaneSpans:
        return lane_union(self.lane, self.start, self.end)

    def on(self, lane: int, window: Window | None = None) -> Spans:
        """Return when there was one on a thread; within a window, at least all that touches it."""
        if not len(self.lane):
            return EMPTY
        if window is None:
            low, high = np.searchsorted(self.lane, [lane, lane + 1])
            return intervals.union(self.start[low:high], self.end[low:high])
        low, high = np.searchsorted(self._merged.lane, [lane, lane + 1])
        return touching(Spans(self._merged.start[low:high], self._merged.end[low:high]), window)

    def on_any(self, lanes: list[int], window: Window | None = None) -> Spans:
        return intervals.union_of([self.on(lane, window) for lane in lanes]) if lanes else EMPTY


def touching(spans: Spans, window: Window) -> Spans:
    """Select the spans that touch a window."""
    low = int(np.searchsorted(spans.end, window[0], side="left"))
    high = int(np.searchsorted(spans.start, window[1], side="right"))
    return Spans(spans.start[low:high], spans.end[low:high])


class HostLanes:
    """The sets of every thread, made when first asked for."""

    def __init__(self, model: Model, calls: RuntimeCalls, copies: HostWait) -> None:
        trace, tree, frames = model.trace, model.structure.tree, model.structure.frames
        self._shown = host_activity(model)
        launches = calls.release >= 0
        slow = launches & (calls.release - calls.start > SLOW_LAUNCH_NS)
        sync = _where(trace, SYNCHRONIZE.search, calls.name) & ~launches
        allocator = _where(trace, ALLOCATOR.search, calls.name) & ~launches & ~sync
        self._activities = (
            _Ranges.of(
                np.concatenate((calls.lane[sync], calls.lane[copies.call])),
                np.concatenate((calls.start[sync], calls.release[copies.call])),
                np.concatenate((calls.end[sync], calls.end[copies.call])),
            ),
            _of_calls(calls, allocator),
            _of_tree(tree, _annotated(trace, tree, DATALOADER_NAME)),
            _joined(
                _of_tree(tree, _named(trace, tree, COMPILE)), _of_tree(frames, _named(trace, frames, COMPILE_FRAME))
            ),
            _joined(_of_tree(tree, _named(trace, tree, GARBAGE)), _of_tree(frames, _named(trace, frames, GARBAGE))),
            _Ranges.of(calls.lane[slow], calls.start[slow], calls.release[slow]),
            _of_calls(calls, launches),
            _of_calls(calls, ~launches),
            _of_tree(tree, _outermost_operators(tree)),
        )
        collective = np.flatnonzero(_named(trace, tree, HOST_COLLECTIVE, at_start=True))
        self.collectives = intervals.union(tree.start[collective], tree.end[collective])
        # an operator may be what waits for a collective: a blocking call, a hook of autograd
        self._awaited = (
            intervals.subtraction(self.collectives, host_computing(model)) if self.collectives.size else EMPTY
        )
        lanes: Int64 = np.concatenate((tree.track, calls.lane))
        self._profiler = _overhead(trace, lanes)
        self._many = len(distinct(lanes)) > FEW_LANES
        self._made: dict[int, tuple[tuple[Spans, ...], tuple[IdleCause, ...]]] = {}

    def waiting(self, lane: int, window: Window) -> Spans:
        """Return when the thread, or one that it waits for, was in a call that waits for a device; all that touches a
        window.

        As in `causes`, threads are looked at as a whole where there are few.
        """
        return self._activities[0].on_any([lane, *self._shown.instead(lane)], window if self._many else None)

    def causes(self, lane: int, window: Window) -> tuple[tuple[Spans, ...], tuple[IdleCause, ...]]:
        """Return sets of moments by priority, and the cause of each; what is in none is unknown.

        They hold for the moments of a window. Of few threads all moments are kept; of many each shows a little, while
        the one that it waits for shows much.
        """
        if self._many:
            return self._causes(lane, window)
        if lane not in self._made:
            self._made[lane] = self._causes(lane, None)
        return self._made[lane]

    def _causes(self, lane: int, window: Window | None) -> tuple[tuple[Spans, ...], tuple[IdleCause, ...]]:
        instead = self._shown.instead(lane)
        own = [ranges.on(lane, window) for ranges in self._activities]
        other = [ranges.on_any(instead, window) for ranges in self._activities]
        collectives, awaited, python = self.collectives, self._awaited, self._shown.on(lane)
        if window is not None:
            collectives, awaited, python = (touching(each, window) for each in (collectives, awaited, python))
        sets = (
            *(self._profiler(lane, window), *own[:-1], intervals.intersection(awaited, own[-1]), own[-1]),
            *(*other[:-1], awaited, other[-1], collectives, python),
        )
        in_operators = (*ACTIVITIES[:-1], IdleCause.HOST_COLLECTIVE, IdleCause.HOST_OPERATOR)
        causes = (IdleCause.PROFILER, *in_operators, *in_operators, IdleCause.HOST_COLLECTIVE, IdleCause.HOST_PYTHON)
        kept = [(each, cause) for each, cause in zip(sets, causes, strict=True) if each.size]
        return tuple(each for each, _ in kept), tuple(cause for _, cause in kept)


def _overhead(trace: Trace, host: Ints) -> Callable[[int, Window | None], Spans]:
    """Return when the profiler worked on a thread; where the trace does not tell the thread, on all of them."""
    row = np.flatnonzero(trace.events.category == Category.OVERHEAD)
    lane, start, end = trace.events.track[row], trace.events.start[row], trace.events.end[row]
    of_thread: Bool = isin(lane, distinct(host)) if len(row) else np.zeros(0, np.bool_)
    ranges = _Ranges.of(lane[of_thread], start[of_thread], end[of_thread])
    everywhere = intervals.union(start[~of_thread], end[~of_thread])
    return lambda lane, window: intervals.union_of(
        [ranges.on(lane, window), everywhere if window is None else touching(everywhere, window)]
    )


def _where(trace: Trace, wanted: Callable[[str], object], names: Int32) -> Bool:
    found: Bool = trace.strings.where(wanted, names)[names]
    return found


def _named(trace: Trace, tree: CallTree | FrameTree, pattern: re.Pattern[str], at_start: bool = False) -> Bool:
    return _where(trace, pattern.match if at_start else pattern.search, tree.name)


def _annotated(trace: Trace, tree: CallTree, pattern: re.Pattern[str]) -> Bool:
    found: Bool = (tree.category == Category.USER_ANNOTATION) & _named(trace, tree, pattern)
    return found


def _outermost_operators(tree: CallTree) -> Bool:
    """Mark operators that are not directly inside one."""
    inside = np.append(tree.is_operator, False)[tree.parent]
    found: Bool = tree.is_operator & ~inside
    return found


def _of_tree(tree: CallTree | FrameTree, chosen: Bool) -> _Ranges:
    at = np.flatnonzero(chosen)
    return _Ranges.of(tree.track[at], tree.start[at], tree.end[at])


def _of_calls(calls: RuntimeCalls, chosen: Bool) -> _Ranges:
    at = np.flatnonzero(chosen)
    return _Ranges.of(calls.lane[at], calls.start[at], calls.end[at])


def _joined(a: _Ranges, b: _Ranges) -> _Ranges:
    return _Ranges.of(*(np.concatenate(pair) for pair in ((a.lane, b.lane), (a.start, b.start), (a.end, b.end))))
