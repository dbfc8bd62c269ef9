"""FLOP, utilizations and lost time of two traces: what of a change is idle time, slower kernels, or other work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any, Literal, get_args

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Count, FractionChange, InlineTable, NsMean, TraceMeta, plain
from torch_tb_profiler.analysis.compare.question import SIDES, BothSides, of_both
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.analysis.result import column, column_of
from torch_tb_profiler.analysis.roofline.table import RooflineTable, roofline
from torch_tb_profiler.analysis.roofline.utilization import Flop, StepFlops, Utilization, step_flops
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.model import Model

#: work: calls of a step, FLOP or bytes differ; kernels: the same work at another part of the roof
Cause = Literal["only_baseline", "only_experiment", "work", "kernels", "same"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
#: columns of both sides, sums over the trace
BOTH = ("calls", "time_ns", "flops", "roof_share", "lost_ns")
#: how far amounts of work, and parts of the roof, may be apart, relatively
_SAME_WORK, _SAME_SHARE = 0.01, 0.05


class UtilizationChange(msgspec.Struct, frozen=True):
    """What the difference of two MFU is made of; `idle` + `kernels` = `total`.

    total    MFU of the experiment − MFU of the baseline
    idle     because devices compute for another part of the time
    kernels  because kernels reach another part of the peak while they run
    """

    total: FractionChange
    idle: FractionChange
    kernels: FractionChange


class ComparedRoofline(
    BothSides,
    group="compare_roofline",
    both=BOTH,
    hidden=[
        *(side + name for side in SIDES for name in ("calls", "flops")),
        *("time_ns", "exp_time_ns", "delta_roof_share"),
    ],
):
    """The rows of a `RooflineDelta`; the change of lost time stands first."""

    name: tuple[str, ...] = column_of(RooflineTable, "name")
    input_shape: tuple[str, ...] = column_of(RooflineTable, "input_shape")
    delta_lost_ns: Float64 = column_of(RooflineTable, "lost_ns")
    cause: tuple[Cause, ...] = column(
        "What differs",
        "only_baseline, only_experiment: the other side does not have it; work: calls of a step, FLOP or bytes "
        "differ by more than 1 %; kernels: the same work at a part of the roof that differs by more than 5 %; "
        "same.",
    )
    calls: Float64 = column_of(RooflineTable, "calls")
    time_ns: Float64 = column_of(RooflineTable, "time_ns")
    flops: Float64 = column_of(RooflineTable, "flops")
    roof_share: Float64 = column_of(RooflineTable, "roof_share")
    lost_ns: Float64 = column_of(RooflineTable, "lost_ns")


class RooflineDelta(Tabular, msgspec.Struct, frozen=True):
    """Operators by their shapes on both sides, by the change of lost time per step, then of time, descending.

    left, right   the columns `BOTH`; NaN where a side does not have it, or does not know it
    cause         what differs
    steps         of both sides
    flops         of both sides
    change        of MFU; None if one side has none
    """

    name: tuple[str, ...]
    input_shape: tuple[str, ...]
    left: Mapping[str, Float64]
    right: Mapping[str, Float64]
    cause: tuple[Cause, ...]
    steps: tuple[int, int]
    flops: tuple[StepFlops, StepFlops]
    change: UtilizationChange | None

    def __len__(self) -> int:
        return len(self.name)

    def to_columns(self) -> dict[str, Any]:
        """Return the left and right values of each column side by side."""
        found: dict[str, Any] = {"name": self.name, "input_shape": self.input_shape, "cause": self.cause}
        for name in self.left:
            found[f"{name}_left"], found[f"{name}_right"] = self.left[name], self.right[name]
        return found


def compare_roofline(left: Model, right: Model) -> RooflineDelta:
    """Set the rooflines of two traces side by side."""
    tables = [roofline(model, "operator_shape") for model in (left, right)]
    flops = step_flops(left), step_flops(right)
    keys = [list(zip(table.name, table.input_shape or (), strict=True)) for table in tables]
    names = list(dict.fromkeys([*keys[0], *keys[1]]))
    place = {name: row for row, name in enumerate(names)}
    sides = [_spread(table, [place[key] for key in own], len(names)) for table, own in zip(tables, keys, strict=True)]
    steps = flops[0].steps, flops[1].steps
    each = [max(count, 1) for count in steps]
    a, b = ({key: side[key] / n for key in ("lost_ns", "time_ns")} for side, n in zip(sides, each, strict=True))
    changes = [np.abs(np.nan_to_num(b[key]) - np.nan_to_num(a[key])) for key in ("lost_ns", "time_ns")]
    order = np.lexsort((-changes[1], -changes[0]))
    causes = _causes(sides[0], sides[1], each)
    return RooflineDelta(
        name=tuple(names[row][0] for row in order.tolist()),
        input_shape=tuple(names[row][1] for row in order.tolist()),
        left={key: sides[0][key][order] for key in BOTH},
        right={key: sides[1][key][order] for key in BOTH},
        cause=tuple(causes[row] for row in order.tolist()),
        steps=steps,
        flops=flops,
        change=_change(*flops),
    )


def _spread(table: RooflineTable, place: Sequence[int], size: int) -> dict[str, Float64]:
    found = {}
    for key in (*BOTH, "bytes"):
        found[key] = np.full(size, np.nan)
        found[key][list(place)] = getattr(table, key)
    return found


def _causes(left: Mapping[str, Float64], right: Mapping[str, Float64], steps: Sequence[int]) -> list[Cause]:
    def apart(key: str, most: float, divide: Sequence[int] = (1, 1)) -> list[bool]:
        a, b = left[key] / divide[0], right[key] / divide[1]
        differs: list[bool] = (np.abs(b - a) > most * np.fmax(np.abs(a), np.abs(b))).tolist()
        return differs

    work = np.any([apart(key, _SAME_WORK, steps) for key in ("calls", "flops", "bytes")], axis=0).tolist()
    share = apart("roof_share", _SAME_SHARE)
    found: list[Cause] = []
    for at, (here, there) in enumerate(zip(np.isnan(left["calls"]), np.isnan(right["calls"]), strict=True)):
        if here or there:
            found.append("only_experiment" if here else "only_baseline")
        else:
            found.append("work" if work[at] else "kernels" if share[at] else "same")
    return found


def _change(left: StepFlops, right: StepFlops) -> UtilizationChange | None:
    """Split the change of MFU: it is (busy ÷ time) × (MFU while busy), and each factor has its part of the log
    ratio.
    """
    before, after = left.mfu.value, right.mfu.value
    busy_before, busy_after = left.busy_mfu.value, right.busy_mfu.value
    if not before or not after or not busy_before or not busy_after:
        return None
    ratio = log(after / before)
    # the logarithmic mean, for which the parts add up to the difference
    mean = (after - before) / ratio if ratio else before
    kernels = mean * log(busy_after / busy_before)
    return UtilizationChange(after - before, after - before - kernels, kernels)


class RooflineSide(Answer, frozen=True, kw_only=True):
    """One of two traces.

    steps     how many
    per_step  FLOP that the model needs in an average step
    mfu       model FLOP utilization
    hfu       hardware FLOP utilization
    busy_mfu  the same while a compute kernel ran
    total_ns  of an average step, all kernels, copies and fills without communication
    lost_ns   in an average step, lost below the roofline; null if no time at the roof is known
    """

    steps: Count
    per_step: Flop
    mfu: Utilization
    hfu: Utilization
    busy_mfu: Utilization
    total_ns: NsMean
    lost_ns: NsMean | None


class CompareRooflineMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside a comparison of rooflines; the fields of one trace are of the baseline.

    exp  the experiment
    """

    exp: TraceMeta


class CompareRooflineAnswer(Answer, frozen=True, kw_only=True):
    """FLOP, utilizations and lost time of two traces.

    meta      which traces
    baseline  one of them
    exp       the experiment
    change    what the difference of MFU is made of; null if one side has none
    calls     operators by their shapes, of both sides
    """

    meta: CompareRooflineMeta
    baseline: RooflineSide
    exp: RooflineSide
    change: UtilizationChange | None
    calls: InlineTable


def _answer(left: Subject, right: Subject, _: NoParameters) -> CompareRooflineAnswer:
    compared = compare_roofline(left.model, right.model)
    both = {name: plain(np.ma.masked_invalid(each)) for name, each in of_both(compared.left, compared.right).items()}
    names = {"name": list(compared.name), "input_shape": list(compared.input_shape)}
    return CompareRooflineAnswer(
        meta=CompareRooflineMeta(**left.about("compare"), exp=TraceMeta(**right.about("compare"))),
        baseline=_side(compared, 0),
        exp=_side(compared, 1),
        change=compared.change,
        calls=InlineTable(
            columns=list(ComparedRoofline.columns.values()), rows={**names, **both, "cause": list(compared.cause)}
        ),
    )


def _side(found: RooflineDelta, at: int) -> RooflineSide:
    flops, table = found.flops[at], (found.left, found.right)[at]
    steps = max(flops.steps, 1)
    known = table["lost_ns"][~np.isnan(table["lost_ns"])]
    return RooflineSide(
        steps=flops.steps,
        per_step=flops.per_step,
        mfu=flops.mfu,
        hfu=flops.hfu,
        busy_mfu=flops.busy_mfu,
        total_ns=float(np.nansum(table["time_ns"])) / steps,
        lost_ns=float(known.sum()) / steps if len(known) else None,
    )


COMPARE_ROOFLINES = Question(
    name="compare/roofline",
    summary="FLOP, utilizations and lost time of two traces",
    compute=_answer,
)
