"""What each resource of a program has on the critical path, and what would be saved were it free, or faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, LabelName, ScaleWork, WorkName, is_bound, scale, without
from torch_tb_profiler.analysis.replay.path import PARTS, CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.recorded import recorded_path, recorded_quality
from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.analysis.replay.savings import interval, settled_steps
from torch_tb_profiler.analysis.replay.scenario import changed
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

ResourceId = Literal["input", "host", "launch", "sync", "communication", "copies", "compute", "unknown"]

#: what "20 % faster" multiplies durations with
FASTER = 0.8


class Resource(msgspec.Struct, frozen=True):
    """Something that can limit a step.

    parts    of the path that are its time; each part is of one resource
    labels   host time that it is
    work     work on devices that it is
    waits    it is the host's waiting for devices
    """

    id: ResourceId
    parts: tuple[str, ...]
    labels: tuple[LabelName, ...] = ()
    work: WorkName | None = None
    waits: bool = False

    def at(self, factor: float) -> tuple[Change, ...]:
        """The changes that make it take its time × factor; none where that means nothing: a wait ends with what it
        waits for, and can only go.
        """
        if self.waits:
            return (without("sync"),) if factor == 0 else ()
        work = () if self.work is None else (ScaleWork(factor, self.work),)
        return (*work, *(scale(label, factor) for label in self.labels))

    @property
    def free(self) -> tuple[Change, ...]:
        """The changes that make it take no time; none where it cannot be."""
        return self.at(0.0)

    @property
    def faster(self) -> tuple[Change, ...]:
        """The changes that make it 20 % faster; none where that means nothing."""
        return self.at(FASTER)


RESOURCES: tuple[Resource, ...] = (
    Resource("input", ("data",), labels=("data",)),
    Resource(
        "host",
        ("python", "operator", "allocator", "api", "hand_over"),
        labels=("python", "operator", "allocator", "api"),
    ),
    Resource("launch", ("launch", "launch_latency"), labels=("launch",)),
    Resource("sync", ("blocking", "wake_up"), waits=True),
    Resource("communication", ("communication", "collective"), labels=("collective",), work="collectives"),
    Resource("copies", ("copy",), work="copies"),
    Resource("compute", ("compute", "device_gap", "dependency"), work="kernels"),
    Resource("unknown", ("unexplained", "fixed")),
)
RESOURCE_OF: Mapping[str, ResourceId] = {part: each.id for each in RESOURCES for part in each.parts}


class Effect(msgspec.Struct, frozen=True):
    """What a change saves in some steps together, ns.

    saved, low, high   None if it is refused; low and high also where there are no two steps
    bound              the most that any remedy can save: something is made free
    refused            why there is no answer
    """

    saved: int | None
    low: int | None
    high: int | None
    bound: bool
    refused: Refusal | None


def on_path(path: CriticalPath, places: Sequence[int]) -> dict[str, int]:
    """Time of the path by part, ns, in PARTS order; only parts that have any. `places`: rows of the composition."""
    sums = path.composition[list(places)].sum(axis=0)
    return {part: ns for part, ns in zip(PARTS, sums.tolist(), strict=True) if ns}


def by_resource(parts: Mapping[str, int]) -> dict[ResourceId, int]:
    """The same by resource; every resource is there."""
    found: dict[ResourceId, int] = {each.id: 0 for each in RESOURCES}
    for part, ns in parts.items():
        found[RESOURCE_OF[part]] += ns
    return found


def largest(parts: Mapping[str, int]) -> tuple[ResourceId | None, float | None]:
    """The resource with most time of a path and its share; None for a path without time. Not "unknown", if possible."""
    total = sum(parts.values())
    if not total:
        return None, None
    sums = by_resource(parts)
    known = {name: ns for name, ns in sums.items() if name != "unknown" and ns}
    found = max(known or sums, key=lambda name: sums[name])
    return found, sums[found] / total


def effect(model: Model, changes: Sequence[Change], steps: Sequence[int]) -> Effect:
    """What some changes save together in some steps, by index, as the replay has it."""
    graph, quality = graph_of(model), recorded_quality(model)
    bound = any(map(is_bound, changes))
    refused = next((why for change in changes if (why := quality.of(change)) is not None), None)
    if refused is not None:
        return Effect(None, None, None, bound, refused)
    before = recorded_path(model).step_ns[list(steps)]
    saved: Int64 = before - changed(model.trace, graph, changes).settled_ns[list(steps)]
    low, high = interval(saved, int(before.sum()), bound, settled_steps(graph)[list(steps)])
    return Effect(int(saved.sum()), low, high, bound, None)


def limit_without(model: Model, resource: Resource, steps: Sequence[int]) -> tuple[ResourceId | None, float | None]:
    """What has most time on the path of some steps when a resource is free, and its share of that path."""
    graph = graph_of(model)
    path = critical_path(changed(model.trace, graph, resource.free), list(steps))
    return largest(on_path(path, list(range(len(steps)))))
