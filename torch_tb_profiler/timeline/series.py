"""What is kept of the counters of a trace."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import msgspec

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
    "recorded",
]

CounterUnit = Literal["fraction", "bytes", "count", "bytes/s", "number"]

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
    "recorded": ("Counter of the file", "number"),
}


class Counter(msgspec.Struct, frozen=True):
    """One counter.

    device  whose it is; of a counter of the file its place as text
    place   the number of a GPU, of memory the index into the list of its devices, of a counter of the file its place
            among these
    """

    kind: CounterKind
    device: str
    place: int

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.device}"


class Counters(msgspec.Struct, frozen=True, dict=True):
    """All counters of a trace.

    bins    of all of `listed`, one after the other, each over the whole trace
    level   of which these bins are
    memory  exact
    """

    listed: tuple[Counter, ...] = ()
    level: int = 1
    bins: CounterBins = msgspec.field(default_factory=CounterBins.empty)
    memory: MemoryPoints = msgspec.field(default_factory=MemoryPoints.empty)

    @cached_property
    def places(self) -> dict[Counter, int]:
        """Index into `listed`."""
        return {counter: place for place, counter in enumerate(self.listed)}
