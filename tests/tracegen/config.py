"""The knobs of the generator."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Shape


@dataclass(frozen=True)
class Config:
    """What to generate. The same configuration gives the same bytes."""

    ranks: int = 1
    gpus: int = 0  # devices in each rank's header; 0: as many as ranks
    steps: int = 4
    first_step: int = 3
    layers: int = 4
    events: int = 0  # per rank, about; sets the number of steps
    device: str = "h100"  # or v100, mi300x
    seed: int = 0
    overlap: float = 1.0  # share of the gradient buckets reduced while the backward pass runs
    stream_overlap: bool = False  # kernels of one stream may start before their predecessor ends
    stacks: bool = True  # Python frames and modules
    memory: bool = True  # allocator events
    shapes: bool = True
    slow_rank: int = -1  # this rank's aten::nonzero takes slow_ns longer in every step
    slow_ns: int = 7_000_000
    slow_kernel: str = ""  # kernels whose name has this in it take slow_factor as long
    slow_factor: float = 1.0
    skew_ns: int = 0  # largest clock error of a rank, to either side
    legacy: bool = False  # the spelling of 2021: other categories, whole microseconds
    shape: Shape = field(default_factory=Shape)
