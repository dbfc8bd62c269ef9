"""Call stacks: at every moment the Python frames, operators and annotations that are running on a thread.

Frames and ranges cross (see `call_tree`), so no tree holds both. But at each moment they are ordered: the earlier one
is outside. A *context* is such a stack, identified by its innermost frame or range, and by the context around it.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.model import Model
from torch_tb_profiler.spill import spilled, spilled_property
from torch_tb_profiler.trace import Category

Tree = CallTree | FrameTree


class StackContexts(msgspec.Struct, frozen=True):
    """Every stack that ever ran: one per node of the call tree, then one per frame, then those of crossings.

    parent      shape (contexts,): the context without its innermost range, -1; in any order, without circles
    innermost   shape (contexts,): a position in the call tree, or len(call tree) + a position in the frame tree
    self_ns     shape (contexts,): time on the host in which exactly this was running
    of_launch   shape (launches,): the context that made each API call, -1 outside of all ranges
    ranges      how many of the contexts stand for a range itself: each of its calls is counted there, once
    """

    parent: Int64
    innermost: Int64
    self_ns: Int64
    of_launch: Int64
    ranges: int


def stack_contexts(model: Model) -> StackContexts:
    """Find the stack at every moment, of frames, operators and annotations.

    An annotation is left out while the Python call that begins or ends it runs (record_function's __enter__ and
    __exit__): it encloses only the time between these calls.
    """
    numbering = _Numbering(model)
    calls, frames = numbering.calls, numbering.frames
    own = np.concatenate(
        [
            numbering.number(numbering.frame_of_call, calls.parent.astype(np.int64)),
            numbering.number(frames.parent.astype(np.int64), numbering.call_of_frame),
        ]
    )
    own = spilled(own)
    self_of, self_ns = spilled(numbering.moments())
    launched = model.launches.row
    events = model.trace.events
    frame = model.innermost_frame(events.track[launched], events.start[launched]).astype(np.int64)
    of_launch = numbering.number(frame, model.launch_links.node.astype(np.int64))
    parent, innermost = numbering.with_crossings(own)
    sums = np.bincount(self_of, self_ns, len(parent)).astype(np.int64)
    return StackContexts(parent, innermost, sums, of_launch, len(own))


class _Numbering:
    """Numbers for pairs (innermost frame, innermost node of the call tree), each -1 for none."""

    def __init__(self, model: Model) -> None:
        self.calls, self.frames = model.tree, model.frames
        self._is_annotation = self.calls.category == Category.USER_ANNOTATION
        self._crossings: list[Int64] = []
        self._known = np.empty(0, np.int64)
        self._known_number = np.empty(0, np.int64)
        self._model = model

    @spilled_property
    def frame_of_call(self) -> Int64:
        """Innermost frame outside of each call, shape (calls,)."""
        calls, frames = self.calls, self.frames
        outer = calls.frame.astype(np.int64)
        waiting = np.flatnonzero(outer >= 0)
        while len(waiting):
            frame = outer[waiting]
            outlived = frames.end[frame] < calls.end[waiting]
            inside = outlived & (self._is_annotation[waiting] | (frames.start[frame] == calls.start[waiting]))
            waiting = waiting[inside]
            outer[waiting] = frames.parent[outer[waiting]]
            waiting = waiting[outer[waiting] >= 0]
        return outer

    @spilled_property
    def call_of_frame(self) -> Int64:
        """Innermost node of the call tree outside of each frame, shape (frames,)."""
        calls, frames = self.calls, self.frames
        outer = self._model.innermost_node(frames.track, frames.start).astype(np.int64)
        waiting = np.flatnonzero(outer >= 0)
        while len(waiting):
            call = outer[waiting]
            same_start = calls.start[call] == frames.start[waiting]
            outlived = calls.end[call] < frames.end[waiting]
            inside = np.where(same_start, calls.end[call] <= frames.end[waiting], outlived & self._is_annotation[call])
            waiting = waiting[inside]
            outer[waiting] = calls.parent[outer[waiting]]
            waiting = waiting[outer[waiting] >= 0]
        return outer

    def number(self, frame: Int64, call: Int64) -> Int64:
        """Return the context of each pair, -1 where there is neither."""
        calls, frames = self.calls, self.frames
        if not len(frames):
            return call
        if not len(calls):
            return frame
        call = self._without_crossing_annotations(frame, call)
        call_is_inner = self._call_is_inner(frame, call)
        usual = np.where(call_is_inner, self.frame_of_call[call] == frame, self.call_of_frame[frame] == call)
        found = np.where(call_is_inner, call, len(calls) + frame)
        found[(frame < 0) & (call < 0)] = -1
        unusual = np.flatnonzero(~usual & (found >= 0))
        if len(unusual):
            found[unusual] = self._crossing((frame[unusual] + 1) * (len(calls) + 1) + call[unusual] + 1)
        return found

    def _call_is_inner(self, frame: Int64, call: Int64) -> Bool:
        calls, frames = self.calls, self.frames
        inner = frame < 0
        both = np.flatnonzero(~inner & (call >= 0))
        f, c = frame[both], call[both]
        frame_start, call_start = frames.start[f], calls.start[c]
        inner[both] = (frame_start < call_start) | ((frame_start == call_start) & (frames.end[f] >= calls.end[c]))
        return inner

    def _without_crossing_annotations(self, frame: Int64, call: Int64) -> Int64:
        calls, frames = self.calls, self.frames
        call = call.copy()
        waiting = np.flatnonzero((call >= 0) & (frame >= 0))
        waiting = waiting[self._is_annotation[call[waiting]]]
        while len(waiting):
            f, c = frame[waiting], call[waiting]
            begins_inside = (frames.start[f] < calls.start[c]) & (frames.end[f] < calls.end[c])
            ends_inside = (calls.start[c] < frames.start[f]) & (calls.end[c] < frames.end[f])
            waiting = waiting[begins_inside | ends_inside]
            call[waiting] = calls.parent[call[waiting]]
            waiting = waiting[(call[waiting] >= 0) & self._is_annotation[call[waiting]]]
        return call

    def _crossing(self, keys: Int64) -> Int64:
        """Return the context numbers of crossing pairs: neither range was around the other when that one began."""
        new = distinct(keys)
        new = new[~isin(new, self._known)]
        if len(new):
            first = len(self.calls) + len(self.frames) + sum(map(len, self._crossings))
            self._crossings.append(new)
            known = np.concatenate([self._known, new])
            numbers = np.concatenate([self._known_number, first + np.arange(len(new))])
            order = np.argsort(known)
            self._known, self._known_number = known[order], numbers[order]
        return self._known_number[np.searchsorted(self._known, keys)]

    def with_crossings(self, parent: Int64) -> tuple[Int64, Int64]:
        """Return parents and innermost ranges of all contexts; a crossing's parent may be a new crossing."""
        calls, frames = self.calls, self.frames
        parents, innermost = [parent], [np.arange(len(parent))]
        done = 0
        while done < len(self._crossings):
            frame, call = np.divmod(self._crossings[done], len(calls) + 1)
            frame, call = frame - 1, call - 1
            done += 1
            inner_call = self._call_is_inner(frame, call)
            parents.append(
                self.number(
                    np.where(inner_call, frame, frames.parent[frame]), np.where(inner_call, calls.parent[call], call)
                )
            )
            innermost.append(np.where(inner_call, call, len(calls) + frame))
        return np.concatenate(parents), np.concatenate(innermost)

    def moments(self) -> tuple[Int64, Int64]:
        """Return the context and the duration, ns, of each interval in which nothing begins or ends."""
        frame, call, length = spilled(self._intervals())
        longer = np.flatnonzero(length > 0)
        longer = longer[(frame[longer] >= 0) | (call[longer] >= 0)]
        frame, call, length = spilled((frame[longer], call[longer], length[longer]))
        del longer
        return self.number(frame, call), length

    def _intervals(self) -> tuple[Int64, Int64, Int64]:
        """Return innermost frame, innermost call and duration from one begin or end to the next; 0 between lanes."""
        tours = [spilled(_tour(tree)) for tree in (self.frames, self.calls) if len(tree)]
        if not tours:
            return (np.empty(0, np.int64),) * 3
        lane, time, place = (
            spilled(np.concatenate(each))
            for each in zip(*((tour.lane, tour.time, tour.running) for tour in tours), strict=True)
        )
        of_frames, both = len(tours[0].time), len(tours) == 2
        del tours  # a tour is as large as the columns made from it
        if both:
            order = _merged(lane, time)
            from_frames = order < of_frames
            lane, time, place = spilled((lane[order], time[order], place[order]))
            del order
            frame, call = spilled((_last(place, from_frames), _last(place, ~from_frames)))
        else:
            none = np.full(len(place), -1, np.int64)
            frame, call = (place, none) if len(self.frames) else (none, place)
        return frame[:-1], call[:-1], np.where(lane[1:] == lane[:-1], np.diff(time), 0)


class _Tour(msgspec.Struct, frozen=True):
    """Every begin and end of a forest in the order of time, lane by lane, and what is innermost from then on."""

    lane: Int32
    time: Int64
    running: Int64


def _tour(tree: Tree) -> _Tour:
    """List begins and ends in order: between the begins of two nodes, the first ends, then its parent, and so on."""
    nodes = len(tree)
    depth = tree.depth.astype(np.int64)
    following = np.append(depth[1:], 0)
    last_of_lane = np.append(tree.track[1:] != tree.track[:-1], True)
    ends = depth + 1 - np.where(last_of_lane, 0, following)
    begin = 2 * np.arange(nodes) - depth
    lane = np.empty(2 * nodes, np.int32)
    time = np.empty(2 * nodes, np.int64)
    running = np.empty(2 * nodes, np.int64)
    lane[begin], time[begin], running[begin] = tree.track, tree.start, np.arange(nodes)
    ending = np.flatnonzero(ends > 0)
    slot, node, left = begin[ending] + 1, ending, ends[ending]
    while len(node):
        above = tree.parent[node].astype(np.intp)
        lane[slot], time[slot], running[slot] = tree.track[node], tree.end[node], above
        more = np.flatnonzero(left > 1)
        slot, node, left = slot[more] + 1, above[more], left[more] - 1
    return _Tour(lane, time, running)


def _merged(lane: Int32, time: Int64) -> Int64:
    """Order by lane, then time; a stable sort, which is quick for two columns that are in order already."""
    low = int(time.min())
    span = int(time.max()) - low + 1
    if (int(lane.max()) + 1) * span < 2**62:
        return np.argsort(lane.astype(np.int64) * span + (time - low), kind="stable")
    return np.lexsort((time, lane))


def _last(values: Int64, where: Bool) -> Int64:
    """Forward-fill the values where `where` is true; -1 before the first of them."""
    place = np.flatnonzero(where)
    return np.repeat(np.append(-1, values[place]), np.diff(place, prepend=0, append=len(values)))
