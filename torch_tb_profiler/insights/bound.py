"""What bounds a run: the resource whose relief shortens the steps most, by replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.replay.changes import Change, kernels
from torch_tb_profiler.analysis.replay.on_path import recorded_path, recorded_quality
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.quality import USELESS, Quality, ReplayRefusal
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.waterfall.waterfall import ExplainedShare, explained, unknown_time
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.resources import (
    OF_IDLE_TIME,
    BoundKind,
    HostPart,
    ceiling,
    host_part,
    parts_of,
    resources_of,
)
from torch_tb_profiler.insights.shared import launch_bound
from torch_tb_profiler.insights.shared.launch_bound import most_idle, unknown_idle
from torch_tb_profiler.insights.shared.profiler_time import beside_profiler
from torch_tb_profiler.reason import Value
from torch_tb_profiler.words import section

#: a resource bounds a run when its relief saves this share of the steps at least
LEAST_SHARE = 0.02
#: the next resource is named when its relief saves this share of the remaining time at least
LEAST_NEXT = 0.05
#: devices that idle for more than this share of the steps may wait for a slower host
MOSTLY_IDLE = 0.5
#: steps wait for a device that is busy for the first share of them: without its kernels they would be shorter by the
#: second share at least
BUSY, LEAST_OF_KERNELS = 0.8, 0.25
#: share of a saving in one step from which that step is named, and the fewest steps for it
ALMOST_ALL, FEWEST_STEPS = 0.8, 4
#: share of the steps that is spent once, at the start of the program, from which it comes first in the sentence
MOSTLY_COLD = 0.5


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
    explained: ExplainedShare
    is_idle_unknown: bool
    is_busy_for_free: bool
    is_launch_bound: bool
    by: HostPart | None
    idle: float
    spare: float


def reservations_of(facts: Facts) -> Reservations:
    """Collect the reservations about all steps of a trace."""
    path, on_device = recorded_path(facts.model), facts.model.has_device_work

    def saved(changes: Sequence[Change]) -> float:
        total = int(path.step_ns.sum())
        return 1 - int(apply_changes(facts.trace, facts.graph, changes).settled_ns.sum()) / total if total else 0.0

    idle = most_idle(facts) if on_device else 1.0
    exposed = max((each.exposed_communication or 0.0 for each in device_use(facts.model)), default=0.0)
    return Reservations(
        ceilings={kind: ceiling(facts.model, kind, path) for kind in resources_of(facts.model)},
        explained=explained(recorded_quality(facts.model), unknown_time(facts.model)),
        is_idle_unknown=on_device and unknown_idle(facts) > USELESS,
        is_busy_for_free=_is_busy_for_free(facts, saved),
        is_launch_bound=launch_bound.is_launch_bound(facts),
        by=host_part(facts.model, path),
        idle=idle,
        spare=min(idle + exposed, 1.0),
    )


def _is_busy_for_free(facts: Facts, saved: Callable[[Sequence[Change]], float]) -> bool:
    """Tell whether steps with a busy device would hardly be shorter without its kernels.

    The graph then lacks the events that wait for the kernels. Kernels beside communication are not counted: the steps
    may wait for the communication.
    """
    busy = [each for each in device_use(facts.model) if (each.busy or 0.0) >= BUSY]
    hidden = [(each.communicating or 0.0) - (each.exposed_communication or 0.0) for each in busy]
    alone = max(((each.computing or 0.0) - beside for each, beside in zip(busy, hidden, strict=True)), default=0.0)
    return alone > 0 and saved([kernels(0)]) < LEAST_OF_KERNELS * alone


class _Steps(msgspec.Struct, frozen=True, dict=True):
    """Some steps of a trace, and what relieving its resources would save of them.

    steps     indices in the graph
    quality   of the graph
    loading   what removes the loading of input that only the program's own ranges tell of
    """

    facts: Facts
    steps: Int64
    quality: Quality
    loading: Sequence[Change]

    @cached_property
    def before_ns(self) -> int:
        """Time of the steps together, ns."""
        return int(unchanged(self.facts.graph).settled_ns[self.steps].sum())

    @cached_property
    def path(self) -> CriticalPath:
        """Critical path through the steps."""
        graph = self.facts.graph
        if len(self.steps) == len(graph.steps):
            return recorded_path(self.facts.model)
        return critical_path(unchanged(graph), self.steps.tolist())

    @cached_property
    def resources(self) -> Mapping[BoundKind, tuple[Change, ...]]:
        """Changes that relieve each resource."""
        return {
            kind: (*changes, *self.loading) if kind == "input" else beside_profiler(self.facts, changes)
            for kind, changes in resources_of(self.facts.model).items()
        }

    @cached_property
    def refused(self) -> Mapping[BoundKind, ReplayRefusal]:
        """Resources whose relief cannot be replayed, and why."""
        refusals = {
            kind: next((no for change in changes if (no := self.quality.of(change)) is not None), None)
            for kind, changes in self.resources.items()
        }
        return {kind: why for kind, why in refusals.items() if why is not None}

    @cached_property
    def allowed(self) -> Mapping[BoundKind, tuple[Change, ...]]:
        """Resources whose relief can be replayed, with its changes."""
        return {kind: changes for kind, changes in self.resources.items() if kind not in self.refused}

    @cached_property
    def idle(self) -> float:
        """Share of the steps in which the device that idles most does so for a known reason."""
        return most_idle(self.facts) if self.facts.model.has_device_work else 1.0

    @cached_property
    def reliefs(self) -> tuple[Relief, ...]:
        """Reliefs, the largest first and the refused ones last."""
        found = [
            Relief(kind, min(self.saved(changes), self.idle) if kind in OF_IDLE_TIME else self.saved(changes))
            for kind, changes in self.allowed.items()
        ]
        found.sort(key=lambda each: -(each.share or 0.0))
        return (*found, *(Relief(kind, None) for kind in self.refused))

    def saved(self, changes: Sequence[Change]) -> float:
        """Return the share of the steps that changes would save."""
        after = int(self._after(changes).sum())
        return (self.before_ns - after) / self.before_ns if self.before_ns else 0.0

    def only_in(self, changes: Sequence[Change]) -> str | None:
        """Return the name of the step that has nearly all of a saving; None if the saving is spread over steps."""
        saved_ns = unchanged(self.facts.graph).settled_ns[self.steps] - self._after(changes)
        least = ALMOST_ALL * int(np.maximum(saved_ns, 0).sum())
        largest = int(np.argmax(saved_ns))
        if len(saved_ns) < FEWEST_STEPS or int(saved_ns[largest]) < least:
            return None
        return self.facts.graph.steps.names[int(self.steps[largest])]

    def _after(self, changes: Sequence[Change]) -> Int64:
        return apply_changes(self.facts.trace, self.facts.graph, changes).settled_ns[self.steps]


def bound_of(
    facts: Facts,
    steps: Sequence[int],
    quality: Quality,
    is_launch_bound: bool,
    unknown_time: float = 0.0,
    compiling: Sequence[Change] = (),
    loading: Sequence[Change] = (),
    cold: Sequence[Change] = (),
) -> Bound:
    """Say what bounds some steps.

    steps             indices in the graph
    quality           of the graph
    is_launch_bound   the device idles between short kernels
    compiling         what removes compilation from the steps; empty if there is none
    loading           what removes the loading of input that only the program's own ranges show
    cold              what removes all time that is spent once, at the start of the program
    """
    known = explained(quality, unknown_time)
    chosen = _Steps(facts, np.array(steps, np.int64), quality, loading)
    return (
        _unknown_of_all(facts, quality, known)
        or _unknown(chosen, known)
        or _determined(chosen, known, is_launch_bound, compiling, cold)
    )


def _unknown_of_all(facts: Facts, quality: Quality, known: ExplainedShare) -> Bound | None:
    """Return an unknown bound where the trace is too poor for any answer, else None."""
    refusal = next((each for each in quality.refusals if each.scope in ("everything", "savings")), None)
    if refusal is not None and refusal.id == "unexplained" and unknown_idle(facts) > USELESS:
        return _bound_by_unexplained_idle(facts, known)
    if refusal is not None:
        return bound_in_words("unknown", {"why": refusal.id, **_of_rank(facts)}, known, refusal=refusal)
    return None if facts.steps else bound_in_words("unknown", {"why": "no_step", **_of_rank(facts)}, known)


def _bound_by_unexplained_idle(facts: Facts, known: ExplainedShare, reliefs: Sequence[Relief] = ()) -> Bound:
    return bound_in_words("unknown", {"why": "idle", "idle": unknown_idle(facts), **_of_rank(facts)}, known, reliefs)


def _of_rank(facts: Facts) -> dict[str, Value]:
    """Return the value that marks a sentence as about one rank of several; sentences about all ranks lack it."""
    size = max((group.size for group in facts.model.communications.groups), default=0)
    world = facts.trace.header.distributed.get("world_size")
    return {"one_of_several": True} if max(size, world if isinstance(world, int) else 0) > 1 else {}


def _unknown(chosen: _Steps, known: ExplainedShare) -> Bound | None:
    """Return an unknown bound where unrecorded work may bound the steps, or where nothing does; else None."""
    best, share, rank = chosen.reliefs[0].kind, chosen.reliefs[0].share or 0.0, _of_rank(chosen.facts)
    for kind, refusal in chosen.refused.items():
        if ceiling(chosen.facts.model, kind, chosen.path) >= max(share, LEAST_SHARE):
            return bound_in_words("unknown", {"why": refusal.id, **rank}, known, chosen.reliefs, refusal=refusal)
    # removing a good part of a little idle time does not contradict that the devices are busy
    is_of_idle = best in OF_IDLE_TIME and share >= max(LEAST_SHARE, chosen.idle / 4)
    if (
        best != "compute"
        and "compute" not in chosen.refused
        and not is_of_idle
        and _is_busy_for_free(chosen.facts, chosen.saved)
    ):
        return bound_in_words("unknown", {"why": "busy", **rank}, known, chosen.reliefs)
    if chosen.facts.model.has_device_work and unknown_idle(chosen.facts) > max(share, USELESS):
        return _bound_by_unexplained_idle(chosen.facts, known, chosen.reliefs)
    return bound_in_words("unknown", {"why": "nothing", **rank}, known, chosen.reliefs) if share < LEAST_SHARE else None


def _determined(
    chosen: _Steps, known: ExplainedShare, is_launch_bound: bool, compiling: Sequence[Change], cold: Sequence[Change]
) -> Bound:
    best, on_device = chosen.reliefs[0], chosen.facts.model.has_device_work
    if best.kind == "sync" and chosen.idle > MOSTLY_IDLE:
        best = slower_host(chosen.reliefs, _next("sync", chosen.allowed, chosen.saved, chosen.idle)) or best
    kind, share, relieved = best.kind, best.share or 0.0, chosen.resources[best.kind]
    by = host_part(chosen.facts.model, chosen.path) if kind == "host" else None
    if (
        compiling
        and kind == ("host" if on_device else "compute")
        and (of_compiling := chosen.saved(compiling)) >= share
    ):
        kind, share, relieved, by = "host", of_compiling, tuple(compiling), "compilation"
    by = None if by == "unrecorded" and is_launch_bound else by
    shown = "launch" if kind == "host" and by is None and is_launch_bound else kind
    gone: tuple[BoundKind, ...] = ("host", "launch") if shown == "launch" else (kind,)
    if host_part(chosen.facts.model, chosen.path) == "unrecorded":
        gone = (*gone, "host")  # the next resource has no name where no operator and no frame was recorded
    others = {each: changes for each, changes in chosen.allowed.items() if each not in gone}
    following = _next(kind, {**others, kind: relieved}, chosen.saved, chosen.idle)
    step_ns = chosen.before_ns / len(chosen.steps)
    about = {
        "share": share,
        "before_ns": step_ns,
        "after_ns": step_ns * (1 - share),
        "on_path": chosen.path.share(*parts_of(chosen.facts.model)[kind]) or 0.0,
        "device": on_device,
        "calls": kind == "launch",
        "by": by,
        "next": following,
        "only_in": chosen.only_in(relieved),
        "cold": once if (once := _once(chosen, cold)) >= MOSTLY_COLD else None,
    }
    values = {name: value for name, value in about.items() if value is not None} | _of_rank(chosen.facts)
    return bound_in_words(shown, values, known, chosen.reliefs, share, following)


def _once(chosen: _Steps, cold: Sequence[Change]) -> float:
    """Return the share of the steps that passes once, when a program starts: what `cold` saves, or capturing graphs."""
    return max(chosen.saved(cold) if cold else 0.0, launch_bound.captured(chosen.facts))


def bound_in_words(
    kind: BoundKind,
    values: Mapping[str, Value],
    known: ExplainedShare,
    reliefs: Sequence[Relief] = (),
    share: float | None = None,
    following: BoundKind | None = None,
    refusal: ReplayRefusal | None = None,
) -> Bound:
    """Put a bound into words. refusal: why it is unknown; the English sentence quotes its words."""
    words = values if refusal is None else {**values, "refusal": refusal.text}
    return Bound(
        kind=kind,
        share=share,
        next=following,
        explained=known.share,
        confidence=known.confidence,
        sentence=section("bounds", kind).say("sentence", words),
        reliefs=tuple(reliefs),
        values=values,
    )


def _next(
    best: BoundKind,
    resources: Mapping[BoundKind, Sequence[Change]],
    saved: Callable[[Sequence[Change]], float],
    idle: float,
) -> BoundKind | None:
    """Return the resource whose relief saves most after that of the best one, by replay.

    None if no relief saves much of the remaining time.

    idle   share of the steps in which devices idle
    """
    first = saved(resources[best])
    beyond: dict[BoundKind, float] = {}
    for kind, changes in resources.items():
        if kind != best:
            most = idle if {best, kind} <= OF_IDLE_TIME else 1.0
            beyond[kind] = min(saved([*resources[best], *changes]), most) - min(first, most)
    most_beyond = max(beyond, key=lambda each: beyond[each], default=None)
    return most_beyond if most_beyond is not None and beyond[most_beyond] >= LEAST_NEXT * (1 - first) else None


def slower_host(reliefs: Sequence[Relief], without_waits: BoundKind | None) -> Relief | None:
    """Return the host as the bound in place of its waits, if it also takes longest without them.

    Devices are then done before the host, and idle however early it resumes. None if devices take longer, or if a
    quicker host saves nothing. What the host waits for may be communication: where that saves more than a quicker host,
    it is named.

    without_waits   bound of the steps when the host waits for nothing
    """
    if without_waits not in ("host", "launch"):
        return None
    named = (without_waits, "communication")
    return next((each for each in reliefs if each.kind in named and (each.share or 0.0) >= LEAST_SHARE), None)
