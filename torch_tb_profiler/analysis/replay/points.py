"""The moments of host threads that edges of a graph begin or end at."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.facts import Facts
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.types import Int64


class Points:
    """The moments of host threads that edges begin or end at; one node for each moment."""

    def __init__(self, facts: Facts) -> None:
        calls, wakes, host = facts.calls, facts.wakes, facts.collectives
        self._lanes: list[Int64] = []
        self._times: list[Int64] = []
        self._size = 0
        releasing = np.flatnonzero(calls.release >= 0)
        release = self._add(calls.lane[releasing], calls.release[releasing])
        ends = [self._add(calls.lane[c], calls.end[c]) for c in (facts.syncs.call, facts.copies.call, facts.held.call)]
        wake_from = self._add(wakes.from_lane, wakes.from_time)
        wake_to = self._add(wakes.to_lane, wakes.to_time)
        called = self._add(host.called_lane, host.called_time)
        ended_from = self._add(host.ended_lane, host.ended_from)
        ended_to = self._add(host.ended_lane, host.ended_to)
        n = len(facts.steps) if facts.main >= 0 else 0
        mark_start = self._add(np.full(n, facts.main), facts.steps.host_start[:n])
        end_lane, end_time = _ends(facts, n)
        mark_end = self._add(end_lane, end_time)
        # what is known of a thread that ends a step begins with its first event
        self._add(end_lane, facts.host.start[facts.host.first[end_lane]])
        silent_end = self._add(facts.silent_waits.lane, facts.silent_waits.end)
        idle = wakes.wait_from >= 0
        self._add(wakes.to_lane[idle], wakes.wait_from[idle])
        lane, time = np.concatenate(self._lanes), np.concatenate(self._times)
        times, rank = distinct_places(time)
        # lane and time in one number
        keys, number = distinct_places(lane * max(len(times), 1) + rank)
        self.lane, self.time = keys // max(len(times), 1), times[keys % max(len(times), 1)]
        #: numbers of points by call, -1 for calls that started nothing
        self.release = np.full(len(calls), -1, np.int64)
        self.release[releasing] = number[release]
        self.sync_end, self.copy_end, self.held_end = (number[place] for place in ends)
        self.wake_from, self.wake_to = number[wake_from], number[wake_to]
        self.called, self.ended_from, self.ended_to = number[called], number[ended_from], number[ended_to]
        self.silent_end = number[silent_end]
        self.mark_start, self.mark_end = number[mark_start], number[mark_end]

    def __len__(self) -> int:
        return len(self.lane)

    def _add(self, lane: Int64, time: Int64) -> slice:
        self._lanes.append(np.asarray(lane, np.int64))
        self._times.append(np.asarray(time, np.int64))
        self._size += len(lane)
        return slice(self._size - len(lane), self._size)


def _ends(facts: Facts, steps: int) -> tuple[Int64, Int64]:
    """Shape (steps,): the thread and the moment that end each step on the host.

    The main thread ends a step as long as it goes on afterwards. After its last event its silence has no length: the
    thread whose event is the last of the step ends it.
    """
    host, end = facts.host, facts.steps.host_end[:steps]
    lane, time = np.full(steps, facts.main), end.copy()
    if steps and len(host.start):
        late = np.flatnonzero(end > host.boundaries(facts.main).max(initial=-1))
        order = np.lexsort((host.lane == facts.main, host.start))
        place = np.searchsorted(host.start[order], end[late], side="right") - 1
        late, last = late[place >= 0], order[place[place >= 0]]
        lane[late], time[late] = host.lane[last], host.start[last]
    return lane, time
