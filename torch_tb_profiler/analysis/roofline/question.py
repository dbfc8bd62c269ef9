"""Questions about FLOP, rooflines and lost time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import asdict, replace

from torch_tb_profiler.analysis.answer import Ns, NsMean, TraceMeta
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.analysis.roofline.activities import reached
from torch_tb_profiler.analysis.roofline.roofs import DeviceRoofs, roofs
from torch_tb_profiler.analysis.roofline.table import roofline
from torch_tb_profiler.analysis.roofline.utilization import StepFlops, step_flops
from torch_tb_profiler.analysis.tabular import Table, TableMeta
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import nn_modules

#: code that records what is unknown, by why
REMEDIES: Mapping[str, str] = {
    "shapes_off": "profile(record_shapes=True)",
    "before_recording": "schedule(wait=1, warmup=1, active=3, repeat=1)",
    "no_operator": "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
}


class FlopsAnswer(StepFlops, frozen=True, kw_only=True):
    """FLOP of the average step, and which part of the peak that is.

    meta      which trace
    time_ns   the mean of the step times, which utilizations refer to
    busy_ns   while a compute kernel ran, in an average step
    remedies  code that would record what is unknown, by reason
    devices   what they can do
    """

    meta: TraceMeta
    remedies: Mapping[str, str]
    devices: Sequence[DeviceRoofs]


class RooflineMeta(TableMeta, frozen=True, kw_only=True):
    """Beside a roofline.

    group_by  what makes a row
    total_ns  Σ of all kernels, copies and fills without communication; on the host of operators by themselves
    lost_ns   Σ of what is lost; null if the time at the roof is known for nothing
    devices   what they can do
    modules   whether the trace has modules to group by
    lines     whether it has Python frames to group by
    """

    group_by: str
    total_ns: Ns
    lost_ns: NsMean | None
    devices: Sequence[DeviceRoofs]
    modules: bool
    lines: bool


class RooflineGrouped(msgspec.Struct, frozen=True):
    """How a roofline is grouped."""

    group_by: Annotated[
        Literal["operator", "operator_shape", "kernel", "module", "line", "element", "phase"],
        Meta(description="What makes a row."),
    ] = "operator"


def device_roofs(model: Model) -> list[DeviceRoofs]:
    """Return the roofs of the devices that did some work, with what the trace itself reaches."""
    best = reached(model)
    return [
        replace(each, reached_flops=best[each.device].flops, reached_bandwidth=best[each.device].bandwidth)
        for each in roofs(model)
    ]


def _flops(subject: Subject, _: NoParameters) -> FlopsAnswer:
    model = subject.model
    found = step_flops(model)
    each = max(found.steps, 1)
    unknown = found.coverage.unknown if found.coverage is not None else {}
    means = {"time_ns": found.time_ns / each, "busy_ns": found.busy_ns / each}
    return FlopsAnswer(
        meta=TraceMeta(**subject.about("roofline")),
        **asdict(found) | means,
        remedies={why: REMEDIES[why] for why in unknown if why in REMEDIES},
        devices=device_roofs(model),
    )


def _roofline(subject: Subject, params: RooflineGrouped) -> Table[RooflineMeta]:
    model = subject.model
    table = roofline(model, params.group_by)
    lost = table.lost_ns[~np.isnan(table.lost_ns)]
    meta = RooflineMeta(
        **subject.about("roofline"),
        group_by=table.group_by,
        total_ns=table.total_ns,
        lost_ns=float(lost.sum()) if len(lost) else None,
        devices=device_roofs(model),
        modules=bool(len(nn_modules(model).row)),
        lines=bool(len(model.frames)),
    )
    return table.table(meta, totals={"time_ns": table.total_ns})


FLOPS = Question(
    name="flops",
    summary="FLOP of the average step, and which part of the peak that is",
    compute=_flops,
    precompute=(NoParameters(),),
    report=({},),
)
ROOFLINE = Question(
    name="roofline",
    summary="Time compared with the least time that devices need",
    compute=_roofline,
    precompute=(RooflineGrouped("operator_shape"),),
    report=({"group_by": "operator_shape"},),
)
