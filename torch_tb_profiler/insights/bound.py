"""What bounds a run: the resource whose relief shortens the steps most, by replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.explained import Explained, explained, unknown_time
from torch_tb_profiler.analysis.replay.changes import Change, kernels
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.recorded import recorded_path, recorded_quality
from torch_tb_profiler.analysis.replay.refusals import USELESS, Quality
from torch_tb_profiler.analysis.replay.resources import RESOURCES, Resource
from torch_tb_profiler.analysis.replay.scenario import changed, unchanged
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.bound_sentences import BUSY_FOR_FREE, CANNOT, BoundKind, HostPart, begin_of, sentence_of
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.shared import launch_bound
from torch_tb_profiler.insights.shared.launch_bound import most_idle, unknown_idle
from torch_tb_profiler.insights.shared.profiler_time import beside_profiler
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Value

#: a resource is relieved as far as a good remedy can: work that can go to another process, behind other work or into a
#: graph is gone; of the time of kernels half is left, as with a shorter type, and of what the host does two thirds
_LEFT: Mapping[BoundKind, float] = {"compute": 1 / 2, "host": 2 / 3}
#: of resources that would save the same the first is said
_ORDER: tuple[BoundKind, ...] = ("input", "sync", "communication", "memory", "host", "launch", "compute")


def _by_kind(resources: Sequence[Resource]) -> Mapping[BoundKind, Resource]:
    found: dict[BoundKind, Resource] = {"memory" if each.id == "copies" else each.id: each for each in resources}
    return {kind: found[kind] for kind in _ORDER if kind in found}


def _cpu_only() -> Mapping[BoundKind, Resource]:
    """The resources of a trace without a device: operators compute, and what else the host does is Python's."""
    of = {each.id: each for each in RESOURCES}
    python = replace(
        of["host"],
        parts=tuple(part for part in of["host"].parts if part != "operator"),
        labels=tuple(label for label in of["host"].labels if label != "operator"),
    )
    operators = Resource("compute", ("operator",), labels=("operator",))
    return _by_kind((of["input"], of["communication"], python, operators))


_WITH_DEVICE, _WITHOUT_DEVICE = _by_kind([each for each in RESOURCES if each.id != "unknown"]), _cpu_only()
#: parts of the path that are calls of a device's API, but launches and waits
_CALLS = ("allocator", "api")
#: parts of the path on devices: without waits and on a host without delays they stay
_ON_DEVICES = ("compute", "device_gap", "communication", "copy")
#: what lets the host go on earlier saves no more than the devices idle: their work stays, and does not overlap more
OF_IDLE_TIME: frozenset[BoundKind] = frozenset({"input", "host", "launch", "sync"})
#: a resource bounds a run when its relief saves this share of the steps at least
LEAST = 0.02
#: what comes next saves this share of what is left at least
LEAST_NEXT = 0.05
#: devices that idle for more of the steps than that may wait for a host that takes longer than they do
MOSTLY_IDLE = 0.5
#: a device that is busy for so much of the steps is what they wait for: without its kernels they would be shorter by
#: this share of their time at least
BUSY, LEAST_OF_KERNELS = 0.8, 0.25
#: of a saving in one step, from which on, and from how many steps on, that is said
ALMOST_ALL, FEWEST_STEPS = 0.8, 4


class Relief(msgspec.Struct, frozen=True):
    """What relieving one resource would save.

    kind       the resource
    share      of the steps, 0…1; null if the change is refused
    """

    kind: BoundKind
    share: Fraction | None


class Bound(msgspec.Struct, frozen=True):
    """What bounds the steps of a trace.

    kind          the resource; `unknown` where the trace does not say
    share         which part of the steps its relief would save, by replay, 0…1; null for `unknown`
    next          what bounds the steps after that; null if nothing clearly does
    explained     which part of the steps has a cause in the trace, both on the critical path and in the waterfall, 0…1;
                  null without steps
    confidence    `low` where more than 10 % is not explained
    sentence      the same in words
    reliefs       of all resources, the largest first
    values        what the sentence says beyond the kind, for saying it in another language
    """

    kind: BoundKind
    share: Fraction | None
    next: BoundKind | None
    explained: Fraction | None
    confidence: str
    sentence: str
    reliefs: tuple[Relief, ...]
    values: Mapping[str, Value] = msgspec.field(default_factory=dict)


class Reservations(msgspec.Struct, frozen=True):
    """What of one rank has to be known to say what bounds a run of several.

    ceilings          by resource, which part of the steps its relief saves at most, whatever the graph lacks
    explained         which part of the steps has a cause in the trace
    is_idle_unknown   the trace does not show why the devices idle
    is_busy_for_free  a device computes nearly all the time, and yet its kernels hardly matter in the replay
    is_launch_bound   the device idles between short kernels
    by                what the time of the host goes to
    idle              which part of the steps the device that idles most does for a known reason, 0…1
    spare             the same with communication that nothing hides: it ends earlier where other ranks come earlier
    """

    ceilings: Mapping[BoundKind, float]
    explained: Explained
    is_idle_unknown: bool
    is_busy_for_free: bool
    is_launch_bound: bool
    by: HostPart | None
    idle: float
    spare: float


def reservations_of(facts: Facts) -> Reservations:
    """Of all steps of a trace."""
    path, on_device = recorded_path(facts.model), facts.model.has_device_work
    on_path, step_ns = _parts_of(facts.model), path.step_ns

    def saved(changes: Sequence[Change]) -> float:
        total = int(step_ns.sum())
        return 1 - int(changed(facts.trace, facts.graph, changes).step_ns.sum()) / total if total else 0.0

    idle = most_idle(facts) if on_device else 1.0
    exposed = max((each.exposed_communication or 0.0 for each in device_use(facts.model)), default=0.0)
    return Reservations(
        ceilings={kind: _ceiling(kind, path, on_path) for kind in resources_of(facts.model)},
        explained=explained(recorded_quality(facts.model), unknown_time(facts.model)),
        is_idle_unknown=on_device and unknown_idle(facts) > USELESS,
        is_busy_for_free=_is_busy_for_free(facts, saved),
        is_launch_bound=launch_bound.is_launch_bound(facts),
        by=_host_part(facts.model, path),
        idle=idle,
        spare=min(idle + exposed, 1.0),
    )


def _host_part(model: Model, path: CriticalPath) -> HostPart | None:
    """What the time of the host on a path goes to, where that is not Python and operators."""
    if 2 * (path.share(*_CALLS) or 0.0) > (path.share(*_parts_of(model)["host"]) or 0.0):
        return "calls"
    tree = model.structure.tree
    return None if tree.is_operator.any() or len(model.structure.frames) else "unrecorded"


def _is_busy_for_free(facts: Facts, saved: Callable[[Sequence[Change]], float]) -> bool:
    """Whether steps in which a device hardly idles would hardly be shorter without its kernels: the graph lacks what
    waits for them. Kernels do not count while communication runs beside them: the steps may wait for that.
    """
    busy = [each for each in device_use(facts.model) if (each.busy or 0.0) >= BUSY]
    hidden = [(each.communicating or 0.0) - (each.exposed_communication or 0.0) for each in busy]
    alone = max(((each.computing or 0.0) - beside for each, beside in zip(busy, hidden, strict=True)), default=0.0)
    return alone > 0 and saved([kernels(0)]) < LEAST_OF_KERNELS * alone


def _resources(model: Model) -> Mapping[BoundKind, Resource]:
    return _WITH_DEVICE if model.has_device_work else _WITHOUT_DEVICE


def resources_of(model: Model) -> Mapping[BoundKind, tuple[Change, ...]]:
    """The resources of a trace, and what relieves each."""
    return {kind: each.at(_LEFT.get(kind, 0.0)) for kind, each in _resources(model).items()}


def _parts_of(model: Model) -> Mapping[BoundKind, tuple[str, ...]]:
    """The parts of the critical path that are of each resource."""
    return {kind: each.parts for kind, each in _resources(model).items()}


def bound_of(
    facts: Facts,
    steps: Sequence[int],
    quality: Quality,
    is_launch_bound: bool,
    unknown_time: float = 0.0,
    compiling: Sequence[Change] = (),
    loading: Sequence[Change] = (),
) -> Bound:
    """What bounds some steps.

    steps             indices in the graph
    quality           of the graph
    is_launch_bound   the device idles between short kernels
    compiling         what removes compilation from the steps; empty if there is none
    loading           what removes the loading of input that only the program's own ranges tell of
    """
    graph, trace = facts.graph, facts.trace
    known = explained(quality, unknown_time)

    def unknown(why: str, sentence: str, reliefs: Sequence[Relief] = ()) -> Bound:
        return Bound("unknown", None, None, known.share, known.confidence, sentence, tuple(reliefs), {"why": why})

    def idles(reliefs: Sequence[Relief] = ()) -> Bound:
        text = f"the devices idle {100 * unknown_idle(facts):.0f} % of the time, and the trace does not show why."
        return unknown("idle", f"{CANNOT} {text}", reliefs)

    refusal = next((each for each in quality.refusals if each.scope in ("everything", "savings")), None)
    if refusal is not None and refusal.id == "unexplained" and unknown_idle(facts) > USELESS:
        return idles()
    if refusal is not None:
        return unknown(refusal.id, f"{CANNOT} {refusal.text}")
    if not facts.steps:
        return unknown("no_step", f"{CANNOT} no steps were found")
    chosen = np.array(steps, np.int64)
    before = int(unchanged(graph).step_ns[chosen].sum())
    path = recorded_path(facts.model) if len(steps) == len(graph.steps) else critical_path(unchanged(graph), steps)
    on_device = facts.model.has_device_work
    resources = {
        kind: (*changes, *loading) if kind == "input" else beside_profiler(facts, changes)
        for kind, changes in resources_of(facts.model).items()
    }
    on_path = _parts_of(facts.model)

    def saved(changes: Sequence[Change]) -> float:
        after = int(changed(trace, graph, changes).step_ns[chosen].sum())
        return (before - after) / before if before else 0.0

    refused = {
        kind: why
        for kind, changes in resources.items()
        if (why := next((no for change in changes if (no := quality.of(change)) is not None), None)) is not None
    }
    idle = most_idle(facts) if on_device else 1.0
    found = [
        Relief(kind, min(saved(changes), idle) if kind in OF_IDLE_TIME else saved(changes))
        for kind, changes in resources.items()
        if kind not in refused
    ]
    found.sort(key=lambda each: -(each.share or 0.0))
    found += [Relief(kind, None) for kind in refused]
    best, share = found[0].kind, found[0].share or 0.0
    allowed = {kind: changes for kind, changes in resources.items() if kind not in refused}
    ceilings = {kind: _ceiling(kind, path, on_path) for kind in refused}
    above = next((kind for kind in refused if ceilings[kind] >= max(share, LEAST)), None)
    if above is not None:
        return unknown(refused[above].id, f"{CANNOT} {refused[above].text}", found)
    # a relief that removes a good part of what little the devices idle does not contradict that they are busy
    is_of_idle = best in OF_IDLE_TIME and share >= max(LEAST, idle / 4)
    if best != "compute" and "compute" not in refused and not is_of_idle and _is_busy_for_free(facts, saved):
        return unknown("busy", f"{CANNOT} {BUSY_FOR_FREE}", found)
    if on_device and unknown_idle(facts) > max(share, USELESS):
        return idles(found)
    if share < LEAST:
        text = "No single resource bounds this run: relieving any one of them alone would save less than 2 %."
        return unknown("nothing", text, found)
    if best == "sync" and idle > MOSTLY_IDLE:
        slower = slower_host(found, _next("sync", allowed, saved, idle))
        best, share = (best, share) if slower is None else (slower.kind, slower.share or 0.0)
    relieved: Sequence[Change] = resources[best]
    by = _host_part(facts.model, path) if best == "host" else None
    if compiling and best == ("host" if on_device else "compute") and (of_compiling := saved(compiling)) >= share:
        best, share, relieved, by = "host", of_compiling, compiling, "compilation"
    by = None if by == "unrecorded" and is_launch_bound else by
    kind = "launch" if best == "host" and by is None and is_launch_bound else best
    gone: tuple[BoundKind, ...] = ("host", "launch") if kind == "launch" else (best,)
    others = {each: changes for each, changes in allowed.items() if each not in gone}
    following = _next(best, {**others, best: relieved}, saved, idle)
    after = changed(trace, graph, relieved)
    about: dict[str, Value] = {
        "share": share,
        "before_ns": before / len(chosen),
        "after_ns": before * (1 - share) / len(chosen),
        "on_path": path.share(*on_path[best]) or 0.0,
        "device": on_device,
        "calls": best == "launch",
    }
    if by is not None:
        about["by"] = by
    if following is not None:
        about["next"] = following
    only_in = _only_in(
        unchanged(graph).step_ns[chosen] - after.step_ns[chosen], [graph.steps.names[at] for at in steps]
    )
    if only_in is not None:
        about["only_in"] = only_in
    begin = begin_of(kind, on_device, best == "launch", by)
    return Bound(
        kind=kind,
        share=share,
        next=following,
        explained=known.share,
        confidence=known.confidence,
        sentence=sentence_of(begin, share, before / len(chosen), following, only_in),
        reliefs=tuple(found),
        values=about,
    )


def _ceiling(kind: BoundKind, path: CriticalPath, on_path: Mapping[BoundKind, tuple[str, ...]]) -> float:
    """What the relief of a resource saves at most, whatever the graph lacks: its part of the path.

    Without waits the host may be done earlier by all that is not on devices.
    """
    if kind == "sync":
        return 1 - (path.share(*_ON_DEVICES) or 0.0)
    return (1 - _LEFT.get(kind, 0.0)) * (path.share(*on_path[kind]) or 0.0)


def _next(
    best: BoundKind,
    resources: Mapping[BoundKind, Sequence[Change]],
    saved: Callable[[Sequence[Change]], float],
    idle: float,
) -> BoundKind | None:
    """The resource whose relief saves most beyond that of the best, by replay; None if none saves much of the rest.

    idle   which part of the steps devices idle
    """
    first = saved(resources[best])
    beyond: dict[BoundKind, float] = {}
    for kind, changes in resources.items():
        if kind != best:
            most = idle if {best, kind} <= OF_IDLE_TIME else 1.0
            beyond[kind] = min(saved([*resources[best], *changes]), most) - min(first, most)
    most_beyond = max(beyond, key=lambda each: beyond[each], default=None)
    return most_beyond if most_beyond is not None and beyond[most_beyond] >= LEAST_NEXT * (1 - first) else None


def slower_host(found: Sequence[Relief], without_waits: BoundKind | None) -> Relief | None:
    """What bounds a run in place of its waits: the host, where it is what takes longest without them, too. Then devices
    are done before it, and idle however early it goes on. None if devices take longer, or where a quicker host
    saves nothing.

    without_waits   what bounds the steps when the host waits for nothing
    """
    if without_waits not in ("host", "launch"):
        return None
    return next((each for each in found if each.kind == without_waits and (each.share or 0.0) >= LEAST), None)


def _only_in(saved_ns: Int64, names: Sequence[str]) -> str | None:
    """The step that nearly all of a saving is in, so that it says nothing of the others; None if there is none."""
    least = ALMOST_ALL * int(np.maximum(saved_ns, 0).sum())
    largest = int(np.argmax(saved_ns))
    return names[largest] if len(saved_ns) >= FEWEST_STEPS and int(saved_ns[largest]) >= least else None
