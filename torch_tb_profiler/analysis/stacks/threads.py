"""The threads whose stacks were recorded."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.stacks.recorded import contexts, tracks_of
from torch_tb_profiler.arrays.types import Bool, Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import idle_threads


class StackThreads(msgspec.Struct, frozen=True):
    """Threads with stacks, by their place in `Trace.tracks`. All of shape (threads,), times in ns.

    host_ns    in which any frame, operator or annotation ran
    device_ns  of the device work that was launched there
    idle       operators, annotations and calls took hardly any time, beside those of the busiest thread
    """

    track: Int64
    host_ns: Int64
    device_ns: Int64
    idle: Bool


@cached
def stack_threads(model: Model) -> StackThreads:
    found, size = contexts(model), len(model.trace.tracks)
    track, events = tracks_of(model), model.trace.events
    host = _sums(track[found.innermost], found.self_ns, size)
    launch = model.device_links.launch[model.is_work]
    duration = np.maximum(events.duration[model.device_work.row[model.is_work]], 0)
    launched = launch >= 0
    device = _sums(events.track[model.launches.row[launch[launched]]], duration[launched], size)
    tree = model.tree
    outermost = tree.parent < 0
    called = _sums(tree.track[outermost], (tree.end - tree.start)[outermost], size)
    loose = model.launch_links.node < 0
    rows = model.launches.row[loose]
    called += _sums(events.track[rows], np.maximum(events.duration[rows], 0), size)
    there = np.flatnonzero(host + device)
    idle = idle_threads(called, int(np.argmax(called))) if called.any() else np.zeros(size, np.bool_)
    return StackThreads(there, host[there], device[there], idle[there])


def _sums(track: Ints, values: Int64, size: int) -> Int64:
    return np.bincount(track, values, size).astype(np.int64)
