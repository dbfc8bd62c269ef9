"""On whose behalf threads of the autograd engine work: the thread that called backward, which waits meanwhile.

A backward pass of a device runs on a thread of the engine. Its nodes say on which thread their forward ran (their
number, or an arrow of the profiler), and a program calls backward where it ran forward. That thread must have a range
open then, and run no operator but nodes of its own. Where nodes do not say it, those before and after them do, else the
only thread that waits in a range. With several the caller is unknown.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.backward_links import autograd_nodes, backward_links
from torch_tb_profiler.analysis.shared.host_threads import innermost
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import Nesting, last_started, nearest, to_root
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.trace import Category, Trace

#: callers that are no track: the thread itself, and one of several
ITSELF, UNKNOWN = -1, -2

#: a call of backward from C++ or TorchScript
_CALL = "aten::_backward"


class Waiting(msgspec.Struct, frozen=True):
    """When threads were in a range and ran no operator but those of a backward pass.

    nesting   of the call tree
    is_call   shape (call tree,): autograd nodes (the caller runs those of the host) and calls of backward
    """

    tree: CallTree
    nesting: Nesting
    is_call: Bool

    def at(self, track: Int64, time: Int64) -> Bool:
        """Return whether each thread waits in a range at each time."""
        return self._is_free(self.nesting.innermost(track.astype(np.int32), time))

    def stretches(self) -> tuple[Int64, Int64, Int64]:
        """Return start and end in ns, and the innermost node then, a position in the call tree."""
        start, end, node = innermost(self.tree, np.ones(len(self.tree), np.bool_))
        free = self._is_free(node)
        return start[free], end[free], node[free]

    def _is_free(self, node: Int32 | Int64) -> Bool:
        parent, is_range = self.tree.parent, self.tree.category == Category.USER_ANNOTATION
        free: Bool = take_known(is_range, node, missing=0)
        busy = np.flatnonzero(~free & (node >= 0))
        calls = busy[nearest(parent, self.is_call, node[busy]) >= 0]
        free[calls[nearest(parent, is_range, node[calls]) >= 0]] = True
        return free


class BackwardCallers(msgspec.Struct, frozen=True):
    """The outermost autograd nodes of the whole trace, by track and start; parallel.

    track, start, end   of the node
    caller              track of the thread that called backward, ITSELF or UNKNOWN
    waiting             which threads waited meanwhile
    """

    track: Int32
    start: Int64
    end: Int64
    caller: Int64
    waiting: Waiting

    def at(self, track: Int32, time: Int64) -> Int64:
        """Return shape (n,): for whom each thread works at each time: a track, ITSELF or UNKNOWN."""
        callers = np.full(len(track), ITSELF, np.int64)
        if (self.caller == ITSELF).all():
            return callers
        last = last_started(self.track, self.start, track, time)
        known = np.flatnonzero(last >= 0)
        if not len(known):
            return callers
        place = last[known].astype(np.int64)
        caller = self.caller[place]
        self._keep_waiting(caller, time[known])
        # between nodes the engine works for whom it works before or after, whoever waits
        outside = np.flatnonzero(time[known] >= self.end[place])
        after = place[outside] + 1
        follows = np.append(self.track, -1)[after] == track[known[outside]]
        next_ = np.where(follows, np.append(self.caller, ITSELF)[after], ITSELF)
        self._keep_waiting(next_, time[known[outside]])
        before = caller[outside]
        both = np.where((next_ == ITSELF) | (next_ == before), before, UNKNOWN)
        caller[outside] = np.where(before == ITSELF, next_, both)
        callers[known] = caller
        return callers

    def _keep_waiting(self, caller: Int64, time: Int64) -> None:
        """Drop callers that do not wait at a time: they did not call backward."""
        at = np.flatnonzero(caller >= 0)
        caller[at[~self.waiting.at(caller[at], time[at])]] = ITSELF


@cached
def backward_callers(model: Model) -> BackwardCallers:
    """Find them for the whole trace."""
    whole, trace = model.whole, model.trace
    tree, links = whole.tree, backward_links(whole)
    is_node = autograd_nodes(whole)
    waiting = Waiting(tree, model.structure.nesting, is_node | (tree.name == trace.strings.code(_CALL)))
    root = np.flatnonzero(is_node)
    root = root[nearest(tree.parent, is_node, tree.parent[root]) < 0] if len(root) else root
    track, start = tree.track[root], tree.start[root]
    caller = np.full(len(root), ITSELF, np.int64)
    # nodes inside ranges, and on threads that run forward, are called by their own thread
    alone = nearest(tree.parent, tree.category == Category.USER_ANNOTATION, root) < 0
    alone &= ~isin(track, _forward_tracks(whole, is_node, distinct(track[alone])))
    engine = np.flatnonzero(alone)
    if len(engine):
        known = _by_forward(tree, root, links.node, links.forward)[engine]
        known = _from_neighbours(track[engine], known)
        known[(known >= 0) & ~waiting.at(known, start[engine])] = ITSELF
        left = known < 0
        known[left] = _only_waiting(trace, waiting, track[engine[left]], start[engine[left]])
        caller[engine] = known
    return BackwardCallers(track, start, tree.end[root], caller, waiting)


def _forward_tracks(model: Model, is_node: Bool, among_tracks: Int32) -> Int32:
    """Select the tracks whose operators have a number of the forward pass, outside of autograd nodes."""
    tree, operators = model.tree, model.trace.operators
    at = np.flatnonzero(tree.is_operator & isin(tree.track, among_tracks))
    at = at[take_known(operators.sequence, tree.operator[at]) >= 0]
    at = at[take_known(operators.forward_thread, tree.operator[at]) <= 0]
    return distinct(tree.track[at[nearest(tree.parent, is_node, at) < 0]])


def _by_forward(tree: CallTree, root: Int64, node: Int64, forward: Int64) -> Int64:
    """Return shape (roots,): the track on which the forward of each ran; -1 if unknown.

    A forward that ran in another node, as recomputation does, was called by whoever called that one.
    """
    place = np.full(len(tree) + 1, -1, np.int64)
    place[root] = np.arange(len(root))
    is_root = place[:-1] >= 0
    own = np.full(len(root), -1, np.int64)
    mine = place[node]
    own[mine[mine >= 0]] = forward[mine >= 0]
    inside = place[nearest(tree.parent, is_root, own)]
    earlier = (inside >= 0) & (tree.start[root[inside]] < tree.start[root])
    leads = to_root(np.where(earlier, inside, np.arange(len(root))))
    track = np.where((own >= 0) & (inside < 0), np.append(tree.track, np.int32(-1))[own], -1)
    return track[leads].astype(np.int64)


def _from_neighbours(track: Int32, caller: Int64) -> Int64:
    """Fill unknown callers with the known ones before and after them on their track, if these agree."""
    known = caller >= 0
    size, place = len(caller), np.arange(len(caller))
    before = np.maximum.accumulate(np.where(known, place, -1))
    after = np.minimum.accumulate(np.where(known, place, size)[::-1])[::-1]
    first, second = (
        np.where(np.append(track, -1)[side] == track, np.append(caller, -1)[side], -1) for side in (before, after)
    )
    agreed = np.where(first < 0, second, np.where((second < 0) | (second == first), first, -1))
    return np.where(known, caller, agreed)


def _only_waiting(trace: Trace, waiting: Waiting, track: Int32, time: Int64) -> Int64:
    """Return the thread of the same process that alone waits at each time; ITSELF where none does, else UNKNOWN."""
    caller = np.full(len(time), ITSELF, np.int64)
    if not len(time):
        return caller
    pid = [each.pid for each in trace.tracks]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(pid))}
    process = np.array([numbers[name] for name in pid], np.int64)
    start, end, node = waiting.stretches()
    lane = waiting.tree.track[node].astype(np.int64)
    for each, at in each_value(process[track]):
        mine = process[lane] == each
        many, tracks = np.zeros((2, len(at)), np.int64)
        for edges, sign in ((start[mine], 1), (end[mine], -1)):
            order = np.argsort(edges, kind="stable")
            passed = np.searchsorted(edges[order], time[at], side="right")
            many += sign * passed
            tracks += sign * np.append(0, np.cumsum(lane[mine][order]))[passed]
        caller[at] = np.where(many == 1, tracks, np.where(many > 1, UNKNOWN, ITSELF))
    return caller


def possible_callers(model: Model, time: Int64) -> tuple[Int32, Int64]:
    """List threads that wait in a range at one of some times, and when each began to."""
    waiting = backward_callers(model).waiting
    start, end, node = waiting.stretches()
    ordered = np.sort(time)
    holds = np.searchsorted(ordered, end) > np.searchsorted(ordered, start)
    return waiting.tree.track[node[holds]], start[holds]
