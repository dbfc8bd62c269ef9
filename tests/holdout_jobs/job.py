"""Jobs that are held out: their layout, and what is wrong with them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Slower:
    """Some ranks do something longer in the steps `since` to `until`, from 0.

    what    gpu: kernels take `factor` times as long; batch: they are given `factor` times as many samples; one: only
            attention takes longer; input, host, allocator, pause: `ns` more for data, in an operator, in calls that
            allocate, in none
    every   only each so many steps
    """

    ranks: tuple[int, ...]
    what: str
    factor: float = 1.0
    ns: int = 0
    since: int = 0
    until: int = 1 << 30
    every: int = 1

    def at(self, rank: int, step: int) -> bool:
        return rank in self.ranks and self.since <= step < self.until and (step - self.since) % self.every == 0


@dataclass(frozen=True)
class SlowWire:
    """What a group moves that has all these ranks takes `factor` times as long."""

    ranks: tuple[int, ...]
    factor: float


@dataclass(frozen=True)
class Left:
    """A rank's trace lacks the `nth` collective of a step."""

    rank: int
    step: int
    nth: int


Wrong = Slower | SlowWire | Left


@dataclass(frozen=True)
class Other:
    """mesh: sizes by dimension: tp, cp, shard (FSDP), replicate or dp, ep (experts), pp; the first is innermost.

    jitter      of each piece of the host, as a share of it (log-normal); kernels: of each kernel
    speeds      of devices, as a share
    unequal     of the samples that a rank is given in a step, as a share
    warm        so many of the first steps take half as long again
    wide        half of the time of kernels are many small ones
    gather_kv   context parallel: keys are gathered; otherwise they go round
    per_node    ranks of a node
    backend     nccl, rccl or gloo (no devices)
    """

    mesh: tuple[tuple[str, int], ...]
    steps: int = 6
    layers: int = 3
    micro: int = 1
    step_ms: float = 60.0
    jitter: float = 0.1
    kernels: float = 0.03
    speeds: float = 0.008
    unequal: float = 0.0
    warm: int = 0
    wide: bool = False
    gather_kv: bool = True
    per_node: int = 8
    backend: str = "nccl"
    numbers: bool = True
    seed: int = 0
    wrong: tuple[Wrong, ...] = ()

    @property
    def ranks(self) -> int:
        return math.prod(size for _, size in self.mesh)

    def size(self, use: str) -> int:
        return dict(self.mesh).get(use, 1)

    def groups(self, rank: int) -> dict[str, tuple[int, ...]]:
        found, stride = {"world": tuple(range(self.ranks))}, 1
        for use, size in self.mesh:
            first = rank - rank // stride % size * stride
            found[use] = tuple(range(first, first + size * stride, stride))
            stride *= size
        return {use: ranks for use, ranks in found.items() if len(ranks) > 1}
