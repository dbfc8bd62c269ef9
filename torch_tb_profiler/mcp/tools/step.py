"""How one step differs from the median step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ms, Row
from torch_tb_profiler.analysis.tabular import Table
from torch_tb_profiler.analysis.waterfall.question import WaterfallAnswer
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import (
    InvalidRequest,
    Tool,
    ToolAnswer,
    ToolParams,
    TraceId,
    brief,
    milliseconds,
    name_of,
)
from torch_tb_profiler.mcp.tools.explain import longest_call

_NAMES = 5
#: a difference below this share of the step is not listed
_LEAST_SHARE = 0.005


class OneStep(ToolParams, frozen=True, kw_only=True):
    """Which step."""

    trace: TraceId
    step: Annotated[str, Meta(description="Name of a step, as the tools summary and table (steps) give it.")]
    limit: Annotated[int, Meta(description="Entries of each list.", ge=1, le=20)] = _NAMES


class StepDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Of one cause, operator or kernel, in the step and in the median step.

    name       of it
    here_ms    in the step: of an operator its own time on the host, of a kernel that on the device
    median_ms  in the median step
    """

    name: str
    here_ms: Ms | None
    median_ms: Ms | None


class OperatorDifference(StepDifference, frozen=True, kw_only=True):
    """The same, and where its longest call is.

    where  in the program; null if unknown
    row    number of the event of its longest call in the step; null if unknown
    """

    where: str | None
    row: Row | None


class StepGap(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of time of the step in which a device had nothing to do; without a device: in which nothing was computed.

    cause        why
    duration_ms  how long
    host         what ran on the host then
    frame        the innermost Python frame of the user's own code then
    row          number of the event that ran on the host
    """

    cause: str
    duration_ms: Ms | None
    host: str | None
    frame: str | None
    row: Row | None


class StepAnswer(ToolAnswer, frozen=True, kw_only=True):
    """A step beside the median step. Lists have what grew most first.

    step       its name
    ms         how long it takes
    median     name of the step of median length
    median_ms  how long that takes
    causes     parts of the step
    operators  by own time on the host
    kernels    by time on devices
    gaps       the longest gaps of the step
    """

    step: str
    ms: Ms | None
    median: str
    median_ms: Ms | None
    causes: Sequence[StepDifference]
    operators: Sequence[OperatorDifference]
    kernels: Sequence[StepDifference]
    gaps: Sequence[StepGap]


def _step(catalog: TraceCatalog, params: OneStep) -> StepAnswer:
    trace = catalog.trace(params.trace)
    whole: WaterfallAnswer = trace.answer("waterfall")
    place = _place(whole, params.step)
    middle = int(np.argsort(np.array(whole.step_ns), kind="stable")[(len(whole.step_ns) - 1) // 2])
    step, usual = whole.steps[place], whole.steps[middle]
    least = _LEAST_SHARE * whole.step_ns[place]
    causes = {cause: (ns[place], ns[middle]) for cause, ns in whole.step_parts.items()}
    operators = _both(trace, "operators", "host_self_ns", step, usual)
    kernels = _both(trace, "kernels", "total_ns", step, usual)
    notes = [] if place != middle else ["This is the median step itself: nothing differs."]
    return StepAnswer(
        step=name_of(step) or "",
        ms=milliseconds(whole.step_ns[place]),
        median=name_of(usual) or "",
        median_ms=milliseconds(whole.step_ns[middle]),
        causes=[_difference(*each) for each in _slower_than_median(causes, least)[: params.limit]],
        operators=[_operator(trace, step, *each) for each in _slower_than_median(operators, least)[: params.limit]],
        kernels=[_difference(*each) for each in _slower_than_median(kernels, least)[: params.limit]],
        gaps=_gaps(trace, step, params.limit),
        notes=notes,
    )


def _place(whole: WaterfallAnswer, wanted: str) -> int:
    shown = [name_of(name) for name in whole.steps]
    if wanted not in shown:
        raise InvalidRequest(f"there is no such step; there are {len(shown)}, which the tool table lists (what: steps)")
    return shown.index(wanted)


def _both(trace: TraceProfile, question: str, key: str, here: str, usual: str) -> dict[str, tuple[int, int]]:
    """Return sums by name in both steps."""
    sums = [_sums(trace.answer(question, from_step=step, to_step=step), key) for step in (here, usual)]
    return {name: (sums[0].get(name, 0), sums[1].get(name, 0)) for name in {**sums[0], **sums[1]}}


def _sums(table: Table[Any], key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, ns in zip(table.values["name"], table.values[key].tolist(), strict=True):
        found[name] = found.get(name, 0) + ns
    return found


def _slower_than_median(found: dict[str, tuple[int, int]], least: float) -> list[tuple[str, int, int]]:
    """Return the names that take longer than in the median step, with the difference."""
    grown = [(name, here, usual) for name, (here, usual) in found.items() if here - usual >= max(least, 1)]
    return sorted(grown, key=lambda each: (each[2] - each[1], each[0]))


def _difference(name: str, here: int, usual: int) -> StepDifference:
    return StepDifference(name=name_of(name) or "", here_ms=milliseconds(here), median_ms=milliseconds(usual))


def _operator(trace: TraceProfile, step: str, name: str, here: int, usual: int) -> OperatorDifference:
    longest = longest_call(trace, name, step)
    row, where = (longest.row, longest.where) if longest else (None, None)
    shown = name_of(name) or ""
    ms = milliseconds(here), milliseconds(usual)
    return OperatorDifference(name=shown, here_ms=ms[0], median_ms=ms[1], where=name_of(where), row=row)


def _gaps(trace: TraceProfile, step: str, limit: int) -> list[StepGap]:
    found: WaterfallAnswer = trace.answer("waterfall", from_step=step, to_step=step, cause="idle", limit=limit)
    return [brief(StepGap, piece, row=piece.host_row) for piece in (found.pieces.largest if found.pieces else ())]


STEP = Tool(
    name="step",
    title="One step",
    summary=(
        "Say what a step has more of than the median step: causes, operators with the line of code, kernels, and its "
        "longest gaps. Call it for a step that summary lists as slow."
    ),
    arguments=OneStep,
    answer=StepAnswer,
    compute=_step,
    budget=2_500,
    shrinks=("gaps", "kernels", "operators", "causes"),
    untrusted=("step", "median", "operators[]", "kernels[]", "gaps[].host", "gaps[].frame"),
)
