"""What changed between the recordings of two sides, and how certain that is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ms, TraceMeta, digits
from torch_tb_profiler.analysis.change.change import ChangedFigure, changed, recording
from torch_tb_profiler.analysis.change.name_lists import ChangedName
from torch_tb_profiler.analysis.change.question import ChangeAnswer, ChangedCause, ChangedWork, change_answer
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Tool, ToolAnswer, ToolParams, brief, milliseconds, name_of, sentence

_MOST_OF_A_SIDE = 8
_ROWS = 5
#: verdicts of names that changed
_CHANGED = ("slower", "faster", "new", "gone")

Recordings = Annotated[
    Sequence[str],
    Meta(description="Traces of this side; several recordings show more.", min_length=1, max_length=_MOST_OF_A_SIDE),
]
Percent = Annotated[float, Meta(description="percent")]


class TwoSides(ToolParams, frozen=True, kw_only=True):
    """Which recordings."""

    base: Recordings
    new: Recordings
    limit: Annotated[int, Meta(description="Entries of each list.", ge=1, le=20)] = _ROWS


class FigureBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the step on both sides.

    verdict       regressed, improved, unchanged, inconclusive, or unknown with too few steps
    base_ms       mean of the steps that count
    new_ms        the same of the new recordings
    percent       change of the typical step
    low_percent   lower bound of its 95 % interval
    high_percent  upper bound
    detectable_percent  the smallest change that such steps would show; below it nothing can be said
    """

    verdict: Literal["regressed", "improved", "unchanged", "inconclusive", "unknown"]
    base_ms: Ms | None
    new_ms: Ms | None
    percent: Percent | None
    low_percent: Percent | None
    high_percent: Percent | None
    detectable_percent: Percent | None


class CauseBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the step on both sides.

    cause     which one
    base_ms   of a mean step
    new_ms    of a mean step of the new recordings
    delta_ms  new − base; of all causes they add up to the change of the mean step
    """

    cause: str
    base_ms: Ms | None
    new_ms: Ms | None
    delta_ms: Ms | None


class WorkBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel, or host time of an operator, that takes another part of the step.

    kind      calls (more or fewer), speed, new, gone or replaced
    operator  what launches it
    base      what it is called in the baseline; null if there is none
    new       what it is called in the new recordings; null if there is none
    delta_ms  new − base, of a mean step
    """

    kind: str
    operator: str | None
    base: str | None
    new: str | None
    delta_ms: Ms | None


class NameBrief(msgspec.Struct, frozen=True, kw_only=True):
    """An operator or kernel that surely changed by more than 2 %.

    name         of it
    is_kernel    else an operator
    verdict      slower, faster, new or gone
    base_ms      of a mean step
    new_ms       of a mean step of the new recordings
    base_calls   in a mean step
    new_calls    in a mean step of the new recordings
    """

    name: str
    is_kernel: bool
    verdict: str
    base_ms: Ms | None
    new_ms: Ms | None
    base_calls: float | None
    new_calls: float | None


class ComparisonAnswer(ToolAnswer, frozen=True, kw_only=True):
    """What changed.

    step         the time of a step; null if a side has no steps
    device_busy  time in which any kernel, copy or fill ran: steadier than the step; null if a side has none
    base_steps   how many steps of the baseline count
    new_steps    how many of the new recordings
    delta_ms     change of the mean step
    causes       parts of the step, the largest change first
    work         what it is made of, the largest change first; left_out_ms more is in smaller ones
    left_out_ms  Σ of the changes that are not listed
    names        operators and kernels that surely changed, the largest change first
    unlike       what is not alike on both sides, and forbids or limits the comparison
    """

    step: FigureBrief | None
    device_busy: FigureBrief | None
    base_steps: Count
    new_steps: Count
    delta_ms: Ms | None
    causes: Sequence[CauseBrief]
    work: Sequence[WorkBrief]
    left_out_ms: Ms | None
    names: Sequence[NameBrief]
    unlike: Sequence[str]


def _compare(catalog: TraceCatalog, params: TwoSides) -> ComparisonAnswer:
    base, new = ([catalog.trace(item) for item in side] for side in (params.base, params.new))
    sides = [[trace.ask(partial(recording, run=trace.run)) for trace in side] for side in (base, new)]
    change = change_answer(changed(*sides), _about(base[0]), _about(new[0]), limit=params.limit)
    names = [
        *(_name(item, True) for item in change.kernels.names if item.verdict in _CHANGED),
        *(_name(item, False) for item in change.operators.names if item.verdict in _CHANGED),
    ]
    names.sort(key=lambda item: (-abs((item.new_ms or 0) - (item.base_ms or 0)), item.name))
    return ComparisonAnswer(
        step=_figure(change.step),
        device_busy=_figure(change.busy),
        base_steps=change.baseline.steps,
        new_steps=change.experiment.steps,
        delta_ms=milliseconds(change.delta_ns),
        causes=[brief(CauseBrief, item, **_both(item)) for item in change.causes[: params.limit] if item.delta_ns],
        work=[_work(item) for item in change.work],
        left_out_ms=milliseconds(change.left_out_ns),
        names=names[: params.limit],
        unlike=[sentence(item.text, {"base": item.base, "new": item.new}) for item in change.differences],
        notes=_notes(change),
        more={"names": left} if (left := len(names) - params.limit) > 0 else {},
    )


def _about(trace: TraceProfile) -> TraceMeta:
    return TraceMeta(run=trace.run, worker=trace.worker, span=trace.span, device_type="GPU", notes=())


def _figure(found: ChangedFigure | None) -> FigureBrief | None:
    if found is None:
        return None
    shift, low, high, detectable = (
        None if each is None else digits(each * 100) for each in (found.shift, found.low, found.high, found.detectable)
    )
    percents = {"percent": shift, "low_percent": low, "high_percent": high, "detectable_percent": detectable}
    return brief(FigureBrief, found, **_both(found), **percents)


def _both(found: ChangedFigure | ChangedCause | ChangedName) -> dict[str, float | None]:
    return {"base_ms": milliseconds(found.before_ns), "new_ms": milliseconds(found.exp_ns)}


def _work(each: ChangedWork) -> WorkBrief:
    operator = name_of(each.exp_operator or each.operator)
    return brief(WorkBrief, each, operator=operator, base=name_of(each.label), new=name_of(each.exp_label))


def _name(each: ChangedName, is_kernel: bool) -> NameBrief:
    calls = {"base_calls": digits(each.calls), "new_calls": digits(each.exp_calls)}
    return brief(NameBrief, each, is_kernel=is_kernel, **_both(each), **calls)


def _notes(found: ChangeAnswer) -> list[str]:
    notes = []
    if found.step is not None and found.step.verdict == "inconclusive":
        notes.append("Inconclusive with these steps: record ten steps, and three recordings on each side.")
    if found.step is None:
        notes.append("A side has no steps: nothing can be compared.")
    return notes


COMPARE = Tool(
    name="compare",
    title="Compare recordings",
    summary=(
        "Say what changed from one or more recordings to others: verdict on the step with its interval, where the "
        "change is, and which operators and kernels make it. Say that something changed only where a verdict does."
    ),
    arguments=TwoSides,
    answer=ComparisonAnswer,
    compute=_compare,
    budget=3_000,
    shrinks=("names", "work", "causes", "unlike"),
    untrusted=("work[]", "names[].name", "unlike"),
)
