"""The resources that may bound a run, and what relieves each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.analysis.replay.path import CriticalPath
from torch_tb_profiler.analysis.replay.resources import RESOURCES, StepResource
from torch_tb_profiler.model import Model

BoundKind = Literal["input", "host", "launch", "sync", "communication", "memory", "compute", "unknown"]
#: what the time of the host goes to, where that is no Python and no operator
HostPart = Literal["calls", "compilation", "unrecorded", "between"]

#: a resource is relieved as far as a good remedy can: work that can go to another process, behind other work or into a
#: graph is gone; of the time of kernels half is left, as with a shorter type, and of what the host does two thirds
_LEFT: Mapping[BoundKind, float] = {"compute": 1 / 2, "host": 2 / 3}
#: among resources with equal savings the first is named
_ORDER: tuple[BoundKind, ...] = ("input", "sync", "communication", "memory", "host", "launch", "compute")


def _by_kind(resources: Sequence[StepResource]) -> Mapping[BoundKind, StepResource]:
    found: dict[BoundKind, StepResource] = {"memory" if each.id == "copies" else each.id: each for each in resources}
    return {kind: found[kind] for kind in _ORDER if kind in found}


def _cpu_only() -> Mapping[BoundKind, StepResource]:
    """Return the resources of a trace without a device: operators compute, and what else the host does is Python's."""
    of = {each.id: each for each in RESOURCES}
    python = replace(
        of["host"],
        parts=tuple(part for part in of["host"].parts if part != "operator"),
        labels=tuple(label for label in of["host"].labels if label != "operator"),
    )
    operators = StepResource("compute", ("operator",), labels=("operator",))
    return _by_kind((of["input"], of["communication"], python, operators))


_WITH_DEVICE, _WITHOUT_DEVICE = _by_kind([each for each in RESOURCES if each.id != "unknown"]), _cpu_only()
#: parts of the path that are calls of a device's API, but launches and waits
_CALLS = ("allocator", "api")
#: parts of the path on devices: without waits and on a host without delays they stay
_ON_DEVICES = ("compute", "device_gap", "communication", "copy")
#: what lets the host go on earlier saves no more than the devices idle: their work stays, and does not overlap more
OF_IDLE_TIME: frozenset[BoundKind] = frozenset({"input", "host", "launch", "sync"})


def _resources(model: Model) -> Mapping[BoundKind, StepResource]:
    return _WITH_DEVICE if model.has_device_work else _WITHOUT_DEVICE


def resources_of(model: Model) -> Mapping[BoundKind, tuple[Change, ...]]:
    """Return the resources of a trace, and what relieves each."""
    return {kind: each.at(_LEFT.get(kind, 0.0)) for kind, each in _resources(model).items()}


def parts_of(model: Model) -> Mapping[BoundKind, tuple[str, ...]]:
    """Return the parts of the critical path that are of each resource."""
    return {kind: each.parts for kind, each in _resources(model).items()}


def host_part(model: Model, path: CriticalPath) -> HostPart | None:
    """Say what the time of the host on a path goes to, where that is not Python and operators."""
    if 2 * (path.share(*_CALLS) or 0.0) > (path.share(*parts_of(model)["host"]) or 0.0):
        return "calls"
    tree = model.structure.tree
    if len(model.structure.frames):
        return None
    if not tree.is_operator.any():
        return "unrecorded"
    # without stacks nobody knows that it is Python
    return None if model.has_device_work else "between"


def ceiling(model: Model, kind: BoundKind, path: CriticalPath) -> float:
    """Return what the relief of a resource saves at most, whatever the graph lacks: its part of the path.

    Without waits the host may be done earlier by all that is not on devices.
    """
    if kind == "sync":
        return 1 - (path.share(*_ON_DEVICES) or 0.0)
    return (1 - _LEFT.get(kind, 0.0)) * (path.share(*parts_of(model)[kind]) or 0.0)
