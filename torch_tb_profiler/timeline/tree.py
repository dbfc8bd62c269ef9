"""The tracks as the page draws them: processes, and in them threads and streams."""

from __future__ import annotations

from operator import itemgetter
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.lookup import bounds_of, find
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.call_tree import idle_threads
from torch_tb_profiler.timeline.lanes import LaneBand
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.store import Track
from torch_tb_profiler.trace.vocabulary import FLOW_PHASES

#: some events of the profiler have empty texts for process and thread
_NAMELESS = "(no name)"

#: categories that occur only on host threads
HOST_WORK = (Category.OPERATOR, Category.PYTHON_FUNCTION, Category.RUNTIME, Category.DRIVER)


#: the thread that runs the steps, other threads with calls, and threads with hardly any
ThreadRole = Literal["main", "active", "idle"]


class DrawnTrack(msgspec.Struct, frozen=True, kw_only=True):
    """A process, or a thread or stream of the one above it.

    id                its position in the list
    parent            id of its process, null for a process
    kind              process, thread, stream or other
    name              that a person reads
    role              of a thread of the host: main (it runs the steps), active, or idle (it hardly calls anything);
                      null of all others
    pid, tid          as in the file; tid is null for a process
    device            number of the GPU, null on the host
    slices            how many are on it
    instants          how many instant events are on it
    busy_ns           time in which at least one slice ran; of a process the sum of its parts
    begin_ns, end_ns  where its first slice begins, where its last one ends
    """

    id: Count = 0
    parent: int | None = None
    kind: str
    name: str
    role: ThreadRole | None = None
    pid: int | str | None
    tid: int | str | None = None
    device: int | None
    slices: Count = 0
    instants: Count = 0
    busy_ns: Ns = 0
    begin_ns: Ns = 0
    end_ns: Ns = 0


class LaneList(msgspec.Struct, frozen=True):
    """Parallel, by lane. node: index into the tree; slices: and instants; times in ns."""

    node: Int32
    slices: Int64
    busy: Int64
    begin: Int64
    end: Int64


class Tree(msgspec.Struct, frozen=True):
    """tracks: in the order in which they are drawn, a parent before its parts."""

    tracks: tuple[DrawnTrack, ...]
    lanes: LaneList


class EventAccount(msgspec.Struct, frozen=True):
    """How many events of the file are where; all but `total` add up to it.

    total     how many events the file has
    slices    how many slices are on lanes
    instants  how many events without a duration are on lanes
    flows     how many flow endpoints
    counters  how many counter events
    metadata  how many names of processes and threads
    too_deep  how many are below the last lane of a band
    other     how many others, e.g. a begin without its end
    """

    total: int
    slices: int
    instants: int
    flows: int
    counters: int
    metadata: int
    too_deep: int
    other: int


def account(timeline: Timeline) -> EventAccount:
    events = timeline.trace.events
    on_lane = timeline.placed.of_row >= 0
    counts = np.bincount(events.phase[~on_lane], minlength=len(EventPhase))
    too_deep = int(np.count_nonzero(~on_lane & (events.duration >= 0))) + int(counts[EventPhase.INSTANT])
    instants = int(np.count_nonzero(on_lane & (events.phase == EventPhase.INSTANT)))
    found = {
        "slices": int(np.count_nonzero(on_lane)) - instants,
        "instants": instants,
        "flows": int(counts[list(FLOW_PHASES)].sum()),
        "counters": int(counts[EventPhase.COUNTER]),
        "metadata": int(counts[EventPhase.METADATA]),
        "too_deep": too_deep,
    }
    return EventAccount(len(events), **found, other=len(events) - sum(found.values()))


def tree_of(timeline: Timeline) -> Tree:
    """Return the devices first, then processes with host threads, then the tracks of the profiler itself.

    In a process the main thread stands first, and threads that are idle last.
    """
    trace, lanes = timeline.trace, timeline.placed.lanes
    slices = timeline.slices
    count = np.diff(slices.first)
    used = np.flatnonzero(count)
    begin, end, busy = (np.zeros(len(count), np.int64) for _ in range(3))
    begin[used] = slices.items.start[slices.first[used]]
    end[used] = slices.items.end[slices.first[used + 1] - 1]
    if len(used):
        lengths = slices.items.end - slices.items.start
        busy[used] = np.add.reduceat(lengths, slices.first[used])
    instants = np.where(lanes.band == LaneBand.INSTANT, count, 0)
    # lanes stand track by track
    first = np.searchsorted(lanes.track, np.arange(len(trace.tracks) + 1)).tolist()

    roles = _roles(timeline, busy)

    drawn: list[DrawnTrack] = []
    node_of_track = np.full(len(trace.tracks), -1, np.int32)
    main = roles.index("main") if "main" in roles else -1
    for process, members in _processes(trace, distinct(lanes.track).tolist(), timeline.device_of_track, main):
        parent = len(drawn)
        drawn.append(process)
        threads = [(track, _thread(trace, process, track)) for track in members]
        if process.kind == "process" and process.device is None:
            threads = _by_role([(track, replace(each, role=roles[track])) for track, each in threads])
        for track, thread in threads:
            chosen = slice(first[track], first[track + 1])
            node_of_track[track] = len(drawn)
            drawn.append(
                replace(
                    thread,
                    id=len(drawn),
                    parent=parent,
                    slices=int(count[chosen].sum() - instants[chosen].sum()),
                    instants=int(instants[chosen].sum()),
                    busy_ns=int(timeline.placed.busy.busy[track]),
                    begin_ns=int(begin[chosen].min()),
                    end_ns=int(end[chosen].max()),
                )
            )
        drawn[parent] = _sum(replace(process, id=parent), drawn[parent + 1 :])
    return Tree(tuple(drawn), LaneList(node_of_track[lanes.track], count, busy, begin, end))


def _roles(timeline: Timeline, busy_of_lane: Int64) -> list[ThreadRole]:
    """Return the role of each of `Trace.tracks`, as if it were a host thread.

    The main thread is the one on which most steps begin; of several, the one with the longest time of operators,
    annotations and calls. A trace without any has no idle threads.
    """
    lanes, slices = timeline.placed.lanes, timeline.slices.items
    host = np.flatnonzero(
        (lanes.band == LaneBand.HOST) & (lanes.depth == 0) & (timeline.device_of_track[lanes.track] < 0)
    )
    called = np.bincount(lanes.track[host], busy_of_lane[host], len(timeline.trace.tracks))
    # a step begins at the start of its own mark, or at the end of the mark before
    cuts = distinct(np.array(timeline.summary.step_ns, np.int64))
    # slices are in the order of their lanes
    of_lane = bounds_of(slices.lane, len(lanes))
    runs = np.flatnonzero(one_of(lanes.band, (LaneBand.HOST, LaneBand.PYTHON)))
    steps = np.zeros(len(timeline.trace.tracks), np.int64)
    for lane, first, last in zip(runs.tolist(), of_lane[runs].tolist(), of_lane[runs + 1].tolist(), strict=True):
        begins = (find(cuts, slices.start[first:last]) >= 0) | (find(cuts, slices.end[first:last]) >= 0)
        steps[lanes.track[lane]] += np.count_nonzero(begins)
    steps[called == 0] = 0
    if not called.any():
        return ["active"] * len(called)
    main = int(np.lexsort((-called, -steps))[0])
    roles: list[ThreadRole] = ["idle" if idle else "active" for idle in idle_threads(called, main).tolist()]
    roles[main] = "main"
    return roles


def _by_role(threads: list[tuple[int, DrawnTrack]]) -> list[tuple[int, DrawnTrack]]:
    """Return the main thread first, idle threads last."""
    return sorted(threads, key=lambda thread: (thread[1].role != "main", thread[1].role == "idle"))


def _sum(process: DrawnTrack, threads: list[DrawnTrack]) -> DrawnTrack:
    return replace(
        process,
        slices=sum(thread.slices for thread in threads),
        instants=sum(thread.instants for thread in threads),
        busy_ns=sum(thread.busy_ns for thread in threads),
        begin_ns=min(thread.begin_ns for thread in threads),
        end_ns=max(thread.end_ns for thread in threads),
    )


def _processes(trace: Trace, tracks: list[int], devices: Int32, main: int) -> list[tuple[DrawnTrack, list[int]]]:
    """Return processes, each with its indexes into `Trace.tracks`.

    main: the track of the main thread, -1 for none; its process is the first of the host
    """
    by_pid: dict[int | str, list[int]] = {}
    for track in tracks:
        by_pid.setdefault(trace.tracks[track].pid, []).append(track)
    own, host, frames_only = _own_tracks(trace), _tracks_with(trace, HOST_WORK), _frames_only(trace)
    processes = []
    for pid, tracks_of_pid in by_pid.items():
        for members in _sides(tracks_of_pid, devices, host):
            of_device = {int(devices[track]) for track in members} - {-1}
            device = of_device.pop() if len(of_device) == 1 else None
            kind = "other" if set(members) <= own else "process"
            members.sort(key=lambda track: _thread_order(trace.tracks[track]))
            first = trace.tracks[members[0]]
            process = DrawnTrack(kind=kind, name=_process_name(first, device), pid=pid, device=device)
            is_aside = device is None and _is_gpu_label(first) and set(members) <= frames_only
            order = (kind == "other", is_aside, device is None, main not in members, *_process_order(process))
            processes.append((order, process, members))
    return [(process, members) for _, process, members in sorted(processes, key=itemgetter(0))]


def _sides(tracks: list[int], devices: Int32, host: set[int]) -> list[list[int]]:
    """Separate processes of devices, numbered 0, 1, …, from host processes of the same number."""
    if all(devices[track] < 0 for track in tracks):
        return [tracks]
    calls = [track in host and devices[track] < 0 for track in tracks]
    sides = ([track for track, of_host in zip(tracks, calls, strict=True) if of_host == side] for side in (True, False))
    return [side for side in sides if side]


def _is_gpu_label(track: Track) -> bool:
    """Return whether a label names a GPU: a host process with the number of a device gets its label, too."""
    return track.process_labels.startswith("GPU ")


def _tracks_with(trace: Trace, categories: tuple[Category, ...]) -> set[int]:
    events = trace.events
    return set(distinct(events.track[one_of(events.category, categories)]).tolist())


def _frames_only(trace: Trace) -> set[int]:
    """Return tracks with only Python frames: for a thread unknown to the profiler they are in process 0."""
    events = trace.events
    others = (events.duration >= 0) & (events.category != Category.PYTHON_FUNCTION)
    return set(range(len(trace.tracks))) - set(distinct(events.track[others]).tolist())


def _own_tracks(trace: Trace) -> set[int]:
    """Return tracks without work: they have only spans and overhead of the profiler, or instants."""
    events = trace.events
    runs = (events.duration >= 0) & ~one_of(events.category, (Category.SPAN, Category.OVERHEAD))
    return set(range(len(trace.tracks))) - set(distinct(events.track[runs]).tolist())


def _process_order(process: DrawnTrack) -> tuple[int, bool, int, str]:
    pid = process.pid
    return process.device or 0, isinstance(pid, str), pid if isinstance(pid, int) else 0, str(pid)


def _thread_order(track: Track) -> tuple[int, bool, int, str]:
    return track.sort_index, isinstance(track.tid, str), track.tid if isinstance(track.tid, int) else 0, str(track.tid)


def _process_name(track: Track, device: int | None) -> str:
    """Return a name such as `CPU python 4200` or `GPU 0`, from the labels in the trace."""
    if device is not None:
        return track.process_labels or f"GPU {device}"
    label = "" if _is_gpu_label(track) else track.process_labels
    name = " ".join(part for part in (label, track.process_name) if part)
    number = str(track.pid)
    if not name and isinstance(track.pid, int):
        return f"process {number}"
    return (name if number in name.split() else f"{name} {number}".strip()) or _NAMELESS


def _thread(trace: Trace, process: DrawnTrack, number: int) -> DrawnTrack:
    track = trace.tracks[number]
    kind = "stream" if process.device is not None else "other" if process.kind == "other" else "thread"
    named = track.tid if isinstance(track.tid, str) else f"{kind if kind != 'other' else 'thread'} {track.tid}"
    name = track.thread_name.strip() or named or _NAMELESS
    return DrawnTrack(kind=kind, name=name, pid=track.pid, tid=track.tid, device=process.device)
