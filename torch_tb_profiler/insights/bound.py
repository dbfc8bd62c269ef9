"""What bounds a run: the resource whose relief shortens the steps most, by replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.replay.changes import Change, collectives, copies, free, kernels, scale, without
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.refusals import Quality
from torch_tb_profiler.analysis.replay.scenario import changed, unchanged
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.wording import ms
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Value

BoundKind = Literal["input", "host", "launch", "sync", "communication", "memory", "compute", "unknown"]

#: a resource is relieved as far as a good remedy can: work that can go to another process, behind other work or into a
#: graph is gone; kernels take half of their time, as with a shorter type, and what the host does two thirds
HALF, TWO_THIRDS = 0.5, 2 / 3
_WITH_DEVICE: Mapping[BoundKind, tuple[Change, ...]] = {
    "input": (free("data"),),
    "sync": (without("sync"),),
    "communication": (collectives(0), free("collective")),
    "memory": (copies(0),),
    "host": tuple(scale(label, TWO_THIRDS) for label in ("python", "operator", "allocator", "api")),
    "launch": (free("launch"),),
    "compute": (kernels(HALF),),
}
_WITHOUT_DEVICE: Mapping[BoundKind, tuple[Change, ...]] = {
    "input": (free("data"),),
    "communication": (collectives(0), free("collective")),
    "host": (scale("python", TWO_THIRDS),),
    "compute": (scale("operator", HALF),),
}
#: the parts of the critical path that are of a resource
_ON_PATH: Mapping[BoundKind, tuple[str, ...]] = {
    "input": ("data",),
    "host": ("python", "operator", "allocator", "api"),
    "launch": ("launch", "launch_latency"),
    "sync": ("blocking", "wake_up"),
    "communication": ("communication", "collective"),
    "memory": ("copy",),
    "compute": ("compute", "device_gap"),
}
#: the same of a trace without a device
_ON_CPU_PATH: Mapping[BoundKind, tuple[str, ...]] = {
    "input": ("data",),
    "communication": ("communication", "collective"),
    "host": ("python",),
    "compute": ("operator",),
}
#: a resource bounds a run when its relief saves this share of the steps at least
LEAST = 0.02


@dataclass(frozen=True)
class Relief:
    """What relieving one resource would save.

    kind       the resource
    share      of the steps, 0…1; null where the change is refused
    """

    kind: BoundKind
    share: Fraction | None


@dataclass(frozen=True)
class Bound:
    """What bounds the steps of a trace.

    kind          the resource; `unknown` where the trace does not say
    share         which part of the steps its relief would save, by replay, 0…1; null for `unknown`
    next          what bounds the steps after that; null where nothing stands out
    explained     which part of the steps has a cause in the trace, 0…1; null without steps
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
    values: Mapping[str, Value] = field(default_factory=dict)


def resources_of(model: Model) -> Mapping[BoundKind, tuple[Change, ...]]:
    """The resources of a trace, and what relieves each."""
    return _WITH_DEVICE if model.has_device_work else _WITHOUT_DEVICE


def bound_of(facts: Facts, steps: Sequence[int], quality: Quality, is_launch_bound: bool) -> Bound:
    """steps: indices in the graph; quality: of it; is_launch_bound: the device idles between short kernels."""
    graph, trace = facts.graph, facts.trace
    refusal = next((each for each in quality.refusals if each.scope in ("everything", "savings")), None)
    explained = None if quality.unexplained is None else 1 - quality.unexplained
    if refusal is not None or not facts.steps:
        text = "no steps were found" if refusal is None else refusal.text
        values: dict[str, Value] = {"why": "no_step" if refusal is None else refusal.id}
        sentence = f"What bounds this run cannot be told: {text}"
        return Bound("unknown", None, None, explained, quality.confidence, sentence, (), values)
    chosen = np.array(steps, np.int64)
    before = int(unchanged(graph).step_ns[chosen].sum())
    path = critical_path(unchanged(graph), steps)
    resources = resources_of(facts.model)
    found: list[Relief] = []
    for kind, changes in resources.items():
        if any(quality.of(change) is not None for change in changes):
            found.append(Relief(kind, None))
            continue
        after = int(changed(trace, graph, changes).step_ns[chosen].sum())
        found.append(Relief(kind, (before - after) / before if before else 0.0))
    found.sort(key=lambda each: -1.0 if each.share is None else -each.share)
    best = found[0]
    if best.share is None or best.share < LEAST:
        sentence = "No single resource bounds this run: relieving any one of them alone would save less than 2 %."
        return Bound("unknown", None, None, explained, quality.confidence, sentence, tuple(found), {"why": "nothing"})
    kind = "launch" if best.kind == "host" and is_launch_bound else best.kind
    relieved = resources[best.kind]
    on_path = _ON_PATH if facts.model.has_device_work else _ON_CPU_PATH
    gone: tuple[BoundKind, ...] = ("host", "launch") if kind == "launch" else (best.kind,)
    following = _next(critical_path(changed(trace, graph, relieved), steps), gone, on_path)
    about: dict[str, Value] = {
        "share": best.share,
        "before_ns": before / len(chosen),
        "after_ns": before * (1 - best.share) / len(chosen),
        "on_path": path.share(*on_path[best.kind]) or 0.0,
        "device": facts.model.has_device_work,
        "calls": best.kind == "launch",
    }
    if following is not None:
        about["next"] = following
    return Bound(
        kind=kind,
        share=best.share,
        next=following,
        explained=explained,
        confidence=quality.confidence,
        sentence=_sentence(
            best.kind == "launch",
            kind,
            best.share,
            before / len(chosen),
            facts.model.has_device_work,
            following,
        ),
        reliefs=tuple(found),
        values=about,
    )


def _next(
    path: CriticalPath, gone: tuple[BoundKind, ...], on_path: Mapping[BoundKind, tuple[str, ...]]
) -> BoundKind | None:
    """The resource with the largest part of the path, that is not the one that was relieved."""
    shares = {kind: path.share(*parts) or 0.0 for kind, parts in on_path.items() if kind not in gone}
    kind = max(shares, key=lambda each: shares[each])
    return kind if shares[kind] >= LEAST else None


_SENTENCES: Mapping[BoundKind, str] = {
    "input": "Input bounds this run: steps wait for data. Without that wait",
    "sync": "Synchronisation bounds this run: the host stops and waits for the device, which then waits for the host. "
    "Without those waits",
    "communication": "Communication bounds this run: nothing hides it. Without it, and without waiting for other ranks "
    "in it,",
    "memory": "Copies bound this run: kernels wait for them. Without them",
    "host": "The host bounds this run: the device waits for Python and operators on the CPU. With a third less "
    "of that time",
    "launch": "Launches bound this run: the device waits for the host to start its many short kernels. With a "
    "third less of the host's time",
    "compute": "Compute bounds this run: kernels are what the steps wait for. With kernels twice as fast",
}
_ON_THE_CPU: Mapping[BoundKind, str] = {
    "host": "Python bounds this run. With a third less of its time",
    "compute": "Compute bounds this run: operators on the CPU. With operators twice as fast",
}
#: in place of that of short kernels
_LAUNCH_CALLS = "Launch calls bound this run: the device waits while they take long. Without them"
NAMES: Mapping[BoundKind, str] = {
    "input": "input",
    "sync": "synchronisation",
    "communication": "communication",
    "memory": "copies",
    "host": "the host",
    "launch": "launches",
    "compute": "compute",
}


def begin_of(kind: BoundKind, on_device: bool, calls: bool) -> str:
    """How the sentence begins; `calls`: not short kernels but the calls that launch are what takes long."""
    return _LAUNCH_CALLS if calls else _SENTENCES[kind] if on_device else _ON_THE_CPU.get(kind, _SENTENCES[kind])


def _sentence(
    calls: bool, kind: BoundKind, share: float, step_ns: float, on_device: bool, following: BoundKind | None
) -> str:
    begin = begin_of(kind, on_device, calls)
    after = step_ns * (1 - share)
    text = f"{begin} a step would take {ms(after)} instead of {ms(step_ns)} ({100 * share:.0f} % less)."
    return text if following is None else f"{text} What comes next is {NAMES[following]}."
