"""The ground truth of a generated trace, kept by the simulation while it makes the events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

Interval = tuple[int, int]


@dataclass
class OpTruth:
    """Sums over the calls of one operator name. All times in ns."""

    calls: int = 0
    host_ns: int = 0
    host_self_ns: int = 0  # without the operators directly inside
    call_ns: int = 0  # part of host_self_ns spent in runtime and driver calls
    device_ns: int = 0  # kernels, copies and memsets launched in it or below it on its thread
    device_self_ns: int = 0  # launched in it and in no operator below it


class Launch(NamedTuple):
    """One kernel, copy or memset. ``op`` and ``op_id`` are None if no operator launched it."""

    category: str
    name: str
    start: int
    duration: int
    stream: int
    op: str | None
    op_id: int | None  # its "External id"
    launched: bool  # whether the launch call is in the trace


class Collective(NamedTuple):
    """One all-reduce as this rank saw it, in true time (without the rank's clock skew)."""

    sequence: int
    elements: int
    start: int
    end: int
    last_rank: int  # the rank that arrived last


@dataclass
class Expected:
    """What analyses of one rank's trace must find. All times in ns, instants in true time.

    ``launches``, ``collectives`` and the interval answers made from them exist only for
    ``generate``; a written run of any size keeps just the sums.
    """

    rank: int
    skew_ns: int
    categories: Counter[str] = field(default_factory=Counter)  # events by "cat", else by "ph"
    steps: dict[str, int] = field(default_factory=dict)  # host duration of each complete step
    ops: dict[str, OpTruth] = field(default_factory=lambda: defaultdict(OpTruth))
    annotations: dict[str, Interval] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))  # calls, ns
    kernels: dict[str, Interval] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))  # calls, ns
    device_ns: Counter[str] = field(default_factory=Counter)  # by kernel, gpu_memcpy, gpu_memset
    unattributed_ns: int = 0  # device time no operator launched
    peak_allocated: int = 0
    last_allocated: int = 0
    launches: dict[int, Launch] = field(default_factory=dict)  # by correlation id
    collectives: list[Collective] = field(default_factory=list)

    @property
    def events(self) -> int:
        return self.categories.total()

    @property
    def total_device_ns(self) -> int:
        return self.device_ns.total()

    @property
    def busy_ns(self) -> int:
        """Time with at least one kernel, copy or memset running."""
        return length(union((e.start, e.start + e.duration) for e in self.launches.values()))

    @property
    def exposed_communication_ns(self) -> int:
        """Time with a collective and nothing else running."""
        others = union((e.start, e.start + e.duration) for e in self.launches.values() if "nccl" not in e.name)
        return self.busy_ns - length(others)


def union(intervals: Iterable[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def length(intervals: Iterable[Interval]) -> int:
    return sum(end - start for start, end in intervals)
