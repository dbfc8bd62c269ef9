"""What is kept of the counters of a trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from torch_tb_profiler.timeline.schema import CounterBins, MemoryPoints

CounterKind = Literal[
    "busy",
    "computing",
    "sm_efficiency",
    "kernels_running",
    "queue_length",
    "memcpy_bandwidth",
    "exposed_communication",
    "memory_allocated",
    "memory_reserved",
]

CounterUnit = Literal["fraction", "bytes", "count", "bytes/s"]

#: name and unit
COUNTER_KINDS: dict[CounterKind, tuple[str, CounterUnit]] = {
    "busy": ("Device busy", "fraction"),
    "computing": ("Computing", "fraction"),
    "sm_efficiency": ("Est. SM efficiency", "fraction"),
    "kernels_running": ("Kernels running", "count"),
    "queue_length": ("Launched, not begun", "count"),
    "memcpy_bandwidth": ("Copy bandwidth", "bytes/s"),
    "exposed_communication": ("Exposed communication", "fraction"),
    "memory_allocated": ("Memory allocated", "bytes"),
    "memory_reserved": ("Memory reserved", "bytes"),
}


@dataclass(frozen=True)
class Counter:
    """One counter of one device. place: the number of a GPU, or of memory the index into the list of its devices."""

    kind: CounterKind
    device: str
    place: int

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.device}"


@dataclass(frozen=True)
class Counters:
    """All counters of a trace.

    bins    of all of `listed`, one after the other, each over the whole trace
    level   of which these bins are
    memory  exact
    """

    listed: tuple[Counter, ...] = ()
    level: int = 1
    bins: CounterBins = field(default_factory=CounterBins.empty)
    memory: MemoryPoints = field(default_factory=MemoryPoints.empty)

    @cached_property
    def places(self) -> dict[Counter, int]:
        """Index into `listed`."""
        return {counter: place for place, counter in enumerate(self.listed)}
