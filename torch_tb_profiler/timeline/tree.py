"""The tracks as people know them: processes, and in them threads and streams, in the order in which they are drawn."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.lookup import bounds_of, find
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.idle_threads import are_idle
from torch_tb_profiler.timeline.bands import Band
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category, Phase, Trace
from torch_tb_profiler.trace.store import Track
from torch_tb_profiler.trace.vocabulary import FLOW_PHASES

#: some events of the profiler have empty texts for process and thread
_NAMELESS = "(no name)"

#: what only a host thread does
HOST_WORK = (Category.OPERATOR, Category.PYTHON_FUNCTION, Category.RUNTIME, Category.DRIVER)


#: the thread that runs the steps, the others that call something, and those that hardly do
ThreadRole = Literal["main", "active", "idle"]


class Node(msgspec.Struct, frozen=True):
    """A process, or a thread or stream of the one above it.

    role         of a thread of the host: main, active or idle; None for all else
    tracks       indexes into Trace.tracks
    device       number of the device, None on the host
    busy         ns in which at least one slice ran; of a process the sum of its parts
    begin, end   ns
    """

    parent: int | None
    kind: str
    name: str
    pid: int | str
    tid: int | str | None
    device: int | None
    tracks: tuple[int, ...]
    role: ThreadRole | None = None
    slices: int = 0
    instants: int = 0
    busy: int = 0
    begin: int = 0
    end: int = 0


class LaneList(msgspec.Struct, frozen=True):
    """Parallel, by lane. node: index into the tree; slices: and instants; times in ns."""

    node: Int32
    slices: Int64
    busy: Int64
    begin: Int64
    end: Int64


class Tree(msgspec.Struct, frozen=True):
    """nodes: a parent before its parts; order: lanes as they are drawn."""

    nodes: tuple[Node, ...]
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
    counts = np.bincount(events.phase[~on_lane], minlength=len(Phase))
    too_deep = int(np.count_nonzero(~on_lane & (events.duration >= 0))) + int(counts[Phase.INSTANT])
    instants = int(np.count_nonzero(on_lane & (events.phase == Phase.INSTANT)))
    found = {
        "slices": int(np.count_nonzero(on_lane)) - instants,
        "instants": instants,
        "flows": int(counts[list(FLOW_PHASES)].sum()),
        "counters": int(counts[Phase.COUNTER]),
        "metadata": int(counts[Phase.METADATA]),
        "too_deep": too_deep,
    }
    return EventAccount(len(events), **found, other=len(events) - sum(found.values()))


def tree_of(timeline: Timeline) -> Tree:
    """The devices first, then processes with host threads, then what the profiler says of itself.

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
    instants = np.where(lanes.band == Band.INSTANT, count, 0)
    # lanes stand track by track
    first = np.searchsorted(lanes.track, np.arange(len(trace.tracks) + 1)).tolist()

    roles = _roles(timeline, busy)

    nodes: list[Node] = []
    node_of_track = np.full(len(trace.tracks), -1, np.int32)
    main = roles.index("main") if "main" in roles else -1
    for process in _processes(trace, distinct(lanes.track).tolist(), timeline.device_of_track, main):
        parent = len(nodes)
        nodes.append(process)
        threads = _threads(trace, process)
        if process.kind == "process" and process.device is None:
            threads = _by_role([replace(each, role=roles[each.tracks[0]]) for each in threads])
        for thread in threads:
            (track,) = thread.tracks
            chosen = slice(first[track], first[track + 1])
            node_of_track[track] = len(nodes)
            nodes.append(
                replace(
                    thread,
                    parent=parent,
                    slices=int(count[chosen].sum() - instants[chosen].sum()),
                    instants=int(instants[chosen].sum()),
                    busy=int(timeline.placed.busy.busy[track]),
                    begin=int(begin[chosen].min()),
                    end=int(end[chosen].max()),
                )
            )
        nodes[parent] = _sum(process, nodes[parent + 1 :])
    return Tree(tuple(nodes), LaneList(node_of_track[lanes.track], count, busy, begin, end))


def _roles(timeline: Timeline, busy_of_lane: Int64) -> list[ThreadRole]:
    """Of each of Trace.tracks, as if it were a thread of the host.

    The main thread is the one on which most steps begin, of equals the one that runs operators, annotations and calls
    for longest. A trace without any has no idle threads.
    """
    lanes, slices = timeline.placed.lanes, timeline.slices.items
    host = np.flatnonzero((lanes.band == Band.HOST) & (lanes.depth == 0) & (timeline.device_of_track[lanes.track] < 0))
    called = np.bincount(lanes.track[host], busy_of_lane[host], len(timeline.trace.tracks))
    # a step begins where its own mark does, or where that of the one before ends
    cuts = distinct(np.array(timeline.summary.step_ns, np.int64))
    # slices are in the order of their lanes
    of_lane = bounds_of(slices.lane, len(lanes))
    runs = np.flatnonzero(one_of(lanes.band, (Band.HOST, Band.PYTHON)))
    steps = np.zeros(len(timeline.trace.tracks), np.int64)
    for lane, first, last in zip(runs.tolist(), of_lane[runs].tolist(), of_lane[runs + 1].tolist(), strict=True):
        begins = (find(cuts, slices.start[first:last]) >= 0) | (find(cuts, slices.end[first:last]) >= 0)
        steps[lanes.track[lane]] += np.count_nonzero(begins)
    steps[called == 0] = 0
    if not called.any():
        return ["active"] * len(called)
    main = int(np.lexsort((-called, -steps))[0])
    roles: list[ThreadRole] = ["idle" if idle else "active" for idle in are_idle(called, main).tolist()]
    roles[main] = "main"
    return roles


def _by_role(threads: list[Node]) -> list[Node]:
    """The main thread first, those that are idle last."""
    return sorted(threads, key=lambda thread: (thread.role != "main", thread.role == "idle"))


def _sum(process: Node, threads: list[Node]) -> Node:
    return replace(
        process,
        slices=sum(thread.slices for thread in threads),
        instants=sum(thread.instants for thread in threads),
        busy=sum(thread.busy for thread in threads),
        begin=min(thread.begin for thread in threads),
        end=max(thread.end for thread in threads),
    )


def _processes(trace: Trace, tracks: list[int], devices: Int32, main: int) -> list[Node]:
    """main: the track of the main thread, -1 for none; its process stands before the others of the host."""
    by_pid: dict[int | str, list[int]] = {}
    for track in tracks:
        by_pid.setdefault(trace.tracks[track].pid, []).append(track)
    own, host, frames_only = _own_tracks(trace), _tracks_with(trace, HOST_WORK), _frames_only(trace)
    found = []
    aside = set()
    for pid, tracks_of_pid in by_pid.items():
        for members in _sides(tracks_of_pid, devices, host):
            of_device = {int(devices[track]) for track in members} - {-1}
            device = of_device.pop() if len(of_device) == 1 else None
            kind = "other" if set(members) <= own else "process"
            members.sort(key=lambda track: _thread_order(trace.tracks[track]))
            first = trace.tracks[members[0]]
            node = Node(None, kind, _process_name(first, device), pid, None, device, tuple(members))
            found.append(node)
            if device is None and _is_gpu_label(first) and set(members) <= frames_only:
                aside.add(node.tracks)
    return sorted(
        found,
        key=lambda node: (
            node.kind == "other",
            node.tracks in aside,
            node.device is None,
            main not in node.tracks,
            *_process_order(node),
        ),
    )


def _sides(tracks: list[int], devices: Int32, host: set[int]) -> list[list[int]]:
    """Processes of devices are numbered 0, 1, …: what a host process of the same number did is no part of them."""
    if all(devices[track] < 0 for track in tracks):
        return [tracks]
    calls = [track in host and devices[track] < 0 for track in tracks]
    sides = ([track for track, of_host in zip(tracks, calls, strict=True) if of_host == side] for side in (True, False))
    return [side for side in sides if side]


def _is_gpu_label(track: Track) -> bool:
    """A host process with the number of a device gets its label, too."""
    return track.process_labels.startswith("GPU ")


def _tracks_with(trace: Trace, categories: tuple[Category, ...]) -> set[int]:
    events = trace.events
    return set(distinct(events.track[one_of(events.category, categories)]).tolist())


def _frames_only(trace: Trace) -> set[int]:
    """Tracks with nothing but Python frames: those of a thread that the profiler does not know stand in process 0."""
    events = trace.events
    others = (events.duration >= 0) & (events.category != Category.PYTHON_FUNCTION)
    return set(range(len(trace.tracks))) - set(distinct(events.track[others]).tolist())


def _own_tracks(trace: Trace) -> set[int]:
    """Tracks on which nothing runs: the profiler tells of itself, or only marks moments."""
    events = trace.events
    runs = (events.duration >= 0) & ~one_of(events.category, (Category.SPAN, Category.OVERHEAD))
    return set(range(len(trace.tracks))) - set(distinct(events.track[runs]).tolist())


def _process_order(node: Node) -> tuple[int, bool, int, str]:
    number = node.pid if isinstance(node.pid, int) else 0
    return node.device or 0, isinstance(node.pid, str), number, str(node.pid)


def _thread_order(track: Track) -> tuple[int, bool, int, str]:
    return track.sort_index, isinstance(track.tid, str), track.tid if isinstance(track.tid, int) else 0, str(track.tid)


def _process_name(track: Track, device: int | None) -> str:
    """`CPU python 4200`, `GPU 0`: as much as the trace says."""
    if device is not None:
        return track.process_labels or f"GPU {device}"
    label = "" if _is_gpu_label(track) else track.process_labels
    name = " ".join(part for part in (label, track.process_name) if part)
    number = str(track.pid)
    if not name and isinstance(track.pid, int):
        return f"process {number}"
    return (name if number in name.split() else f"{name} {number}".strip()) or _NAMELESS


def _threads(trace: Trace, process: Node) -> list[Node]:
    found = []
    for number in process.tracks:
        track = trace.tracks[number]
        kind = "stream" if process.device is not None else "other" if process.kind == "other" else "thread"
        named = track.tid if isinstance(track.tid, str) else f"{kind if kind != 'other' else 'thread'} {track.tid}"
        name = track.thread_name.strip() or named or _NAMELESS
        found.append(Node(None, kind, name, track.pid, track.tid, process.device, (number,)))
    return found
