"""Where the time of a step goes: one category at each moment, by priority, adding up exactly; and by kind of step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Count, Ns, NsMean
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.device_use import DEVICE_SHARES, DeviceUse, device_use
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.device_roles import Role, all_device_spans, communication_spans, device_roles
from torch_tb_profiler.analysis.step_kinds import KindId, step_kinds
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.analysis.waterfall.waterfall import Part, average, waterfall
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: shown only for traces with device work or calls of a device's API
DEVICE_CATEGORIES = frozenset({"kernel", "memcpy", "memset", "runtime"})

TOP = 5


class StepTimes(Result, group="overview"):
    """A row per step: its time and how it is shared out. All times in ns; `start_ns` from the start of the trace.

    The categories, in order of priority, have the moments that no category before them has, and add up to `step`
    exactly; None where a trace does not have one. That of communication is `UNCOVERED_COMMUNICATION` where compute
    kernels were recorded. `kind` is None where all steps are of one.
    """

    rule: str = fact("by which the steps were found")
    names: tuple[str, ...] = fact("of the steps")
    labels: tuple[str, ...] = fact("the annotations that mark the steps")
    start_ns: Int64 = fact("of each step")
    kernel: Int64 | None = column(
        "Kernel",
        "Time in which at least one compute kernel ran on a device. Communication kernels count as Communication.",
        unit="ns",
    )
    memcpy: Int64 | None = column(
        "Memcpy",
        "Time in which a device copied memory (to, from or within a device) and no compute kernel ran.",
        unit="ns",
    )
    memset: Int64 | None = column(
        "Memset",
        "Time in which a device filled memory and neither a compute kernel nor a copy ran.",
        unit="ns",
    )
    communication: Int64 | None = column(
        "Communication",
        "Communication not hidden behind compute, copies or fills: the kernels of collectives. A library without "
        "kernels in the trace (gloo, MPI) communicates while its calls on the host last (gloo:…).",
        unit="ns",
    )
    runtime: Int64 | None = column(
        "Runtime",
        "Time in calls of the device's runtime or driver API (launches, waits) while none of the above ran.",
        unit="ns",
    )
    dataloader: Int64 | None = column(
        "DataLoader",
        "Time in which the training loop waited for the next batch of a DataLoader or DataPipe and none of the "
        "above ran.",
        unit="ns",
    )
    cpu_exec: Int64 | None = column(
        "CPU Exec",
        "Time in operators and optimizer steps on the host while none of the above ran.",
        unit="ns",
    )
    other: Int64 | None = column(
        "Other",
        "The rest of the step: Python between operators, and waiting for something the profiler does not record.",
        unit="ns",
    )
    step: Int64 = column(
        "Step time",
        "The period of a step: from the end of the previous step to its own end. A step ends when its mark on the "
        "host, the last device work launched in it, and the previous step have ended. The first begins with its "
        "mark, when the streams it uses have finished work launched before it, or, where it waited for work that is "
        "not recorded, as far behind its mark as the device is behind that of the second step. The categories of a "
        "step add up to its time exactly.",
        unit="ns",
    )
    kind: tuple[str, ...] | None = column(
        "Kind",
        "The kind of the step, where steps run unlike programs: training has a backward pass or an optimizer step; "
        "means over all steps are over several programs.",
    )

    def __len__(self) -> int:
        return len(self.names)

    @property
    def duration_ns(self) -> Int64:
        """Of each step."""
        return self.step

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories in the trace."""
        return tuple(self.category_ns)

    @property
    def category_ns(self) -> dict[str, Int64]:
        """Of each step by category."""
        return {name: ns for name in CATEGORIES if (ns := getattr(self, name)) is not None}

    def to_columns(self) -> dict[str, object]:
        kind = {} if self.kind is None else {"kind": self.kind}
        times = {"start_ns": self.start_ns, "duration_ns": self.duration_ns}
        return {"name": self.names, **kind, **times, **self.category_ns}


#: by priority: a moment belongs to the first category with something going on
CATEGORIES = tuple(name for name in StepTimes.columns if name not in ("step", "kind"))

#: what each number of the overview means
OVERVIEW = {**StepTimes.columns, **DEVICE_SHARES}
StepTimes.defined = OVERVIEW


class AverageStep(msgspec.Struct, frozen=True):
    """Arithmetic means over the steps; 0 without steps.

    step_ns      length of a step
    category_ns  by category; they add up to step_ns
    """

    step_ns: float
    category_ns: dict[str, float]

    def share(self, category: str) -> float:
        """Return the share of the average step, 0…1; 0 for a category that the trace does not have."""
        return self.category_ns.get(category, 0.0) / self.step_ns if self.step_ns > 0 else 0.0


class TopOperator(msgspec.Struct, frozen=True):
    """An operator that took a lot of time.

    name            of the operator
    is_communication  whether it is a call of torch.distributed
    host_self_ns    time on the host less that of operators below it
    device_self_ns  time of device work that it launched itself, null if no device was recorded
    calls           how often it ran
    """

    name: str
    is_communication: bool
    host_self_ns: Ns
    device_self_ns: Ns | None
    calls: Count


class TopKernel(msgspec.Struct, frozen=True):
    """A kernel that took a lot of time.

    name        of the kernel
    short_name  the name that a page has room for
    kind        what it computes, as among kernels; null if the name is of no known family
    total_ns    Σ of its durations
    calls       how often it ran
    """

    name: str
    short_name: str
    kind: str | None
    total_ns: int
    calls: int


class Overview(Tabular, msgspec.Struct, frozen=True):
    """The answer of the overview. Its data frame is the steps."""

    device_type: str
    steps: StepTimes
    average: AverageStep
    devices: tuple[DeviceUse, ...]
    top_operators: tuple[TopOperator, ...]
    top_kernels: tuple[TopKernel, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def to_columns(self) -> dict[str, object]:
        return self.steps.to_columns()


def overview(model: Model) -> Overview:
    """Summarise steps, averages, devices, and the five largest operators and kernels."""
    by_name, kernels_by_name = operators(model), kernels(model)
    has_device = model.has_device_work or model.has_runtime
    return Overview(
        device_type="GPU" if has_device else "CPU",
        steps=step_times(model),
        average=average_step(model),
        devices=device_use(model),
        top_operators=tuple(
            TopOperator(
                by_name.name[i],
                bool(by_name.is_communication[i]),
                int(by_name.host_self_ns[i]),
                int(by_name.device_self_ns[i]) if has_device else None,
                int(by_name.calls[i]),
            )
            for i in range(min(TOP, len(by_name)))
        ),
        top_kernels=tuple(
            TopKernel(
                kernels_by_name.name[i],
                kernels_by_name.short_name[i],
                kernels_by_name.kind[i],
                int(kernels_by_name.total_ns[i]),
                int(kernels_by_name.calls[i]),
            )
            for i in range(min(TOP, len(kernels_by_name)))
        ),
    )


@cached(for_good=True)
def step_times(model: Model) -> StepTimes:
    """Share out every step among the categories."""
    steps = model.steps
    spans = category_spans(model)
    painted = intervals.paint([spans[c] for c in CATEGORIES[:-1]], steps.start, steps.end)
    kinds = step_kinds(model)
    titles = [kind.title for kind in kinds.kinds]
    return StepTimes(
        rule=steps.rule,
        names=steps.names,
        labels=steps.labels,
        kind=tuple(titles[each] for each in kinds.of.tolist()) if kinds.are_several else None,
        start_ns=steps.start,
        step=steps.end - steps.start,
        **{c: ns if _is_shown(c, model, spans) else None for c, ns in zip(CATEGORIES, painted, strict=True)},
    )


@cached
def average_step(model: Model) -> AverageStep:
    """Average all steps."""
    times = step_times(model)
    if not times.names:
        return AverageStep(0.0, dict.fromkeys(times.categories, 0.0))
    return average_of(times, np.arange(len(times)))


def average_of(times: StepTimes, chosen: Int64) -> AverageStep:
    """Average some of the steps, at least one."""
    return AverageStep(
        float(times.duration_ns[chosen].mean()), {c: float(ns[chosen].mean()) for c, ns in times.category_ns.items()}
    )


def category_rows(model: Model) -> dict[str, Int32]:
    """Return the events whose time a category (except other) is; of communication its kernels, then its calls on the
    host.
    """
    work = model.device_work
    category = model.device_category
    communication = model.device_links.is_communication

    def device(chosen: Category) -> Int32:
        found: Int32 = work.row[(category == chosen) & ~communication]
        return found

    is_operator = np.zeros(len(model.trace.events), np.bool_)
    is_operator[model.rows_of(Category.OPERATOR)] = True
    is_operator[model.communication_rows] = False
    return {
        "kernel": work.row[device_roles(model) == Role.COMPUTE],
        "memcpy": device(Category.MEMCPY),
        "memset": device(Category.MEMSET),
        "communication": np.concatenate([work.row[communication], model.communication_rows]),
        "runtime": model.launches.row,
        "dataloader": model.dataloader_rows,
        "cpu_exec": np.concatenate([np.flatnonzero(is_operator).astype(np.int32), model.optimizer_rows]),
    }


@cached
def category_spans(model: Model) -> dict[str, Spans]:
    """Return when something of each category (except other) went on anywhere, including overlaps between categories."""
    events = model.trace.events
    spans = {
        category: intervals.union(events.start[rows], events.end[rows])
        for category, rows in category_rows(model).items()
        if category not in ("kernel", "communication")
    }
    return {"kernel": all_device_spans(model)[Role.COMPUTE], "communication": communication_spans(model), **spans}


def _is_shown(category: str, model: Model, spans: dict[str, Spans]) -> bool:
    if category in DEVICE_CATEGORIES:
        # how long a device worked that was used but not recorded is unknown
        is_known = category == "runtime" or model.unrecorded_device is None
        return model.has_device_work or (model.has_runtime and is_known)
    return category != "communication" or spans["communication"].size > 0


class KindFigures(Answer, frozen=True, kw_only=True):
    """What the steps of one kind take.

    id           what is known of their program: `training` has a backward pass or an optimizer step, `without_backward`
                 has none while other steps do, `other` is only known to be another program
    label        what marks the steps, without numbers, where marks tell kinds apart; else null
    number       from 1 among kinds that have the same id and label; null of the only one
    title        its name in English
    count        how many steps
    steps        their names
    from_step    the first of them, where they follow each other without others between; else null
    to_step      the last of them, likewise
    mean_ns      arithmetic mean of their periods
    median_ns    median of their periods
    category_ns  of the average step of the kind, by category; they add up to `mean_ns`
    waterfall    where the time of the average step of the kind went; the parts add up to `mean_ns` exactly
    """

    id: KindId
    label: str | None
    number: Count | None
    title: str
    count: Count
    steps: Sequence[str]
    from_step: str | None
    to_step: str | None
    mean_ns: NsMean
    median_ns: NsMean
    category_ns: Mapping[str, NsMean]
    waterfall: Sequence[Part]


def kind_figures(model: Model) -> list[KindFigures]:
    """Average the chosen steps by kind, in the order of their first steps; empty where all are of one kind."""
    kinds = step_kinds(model)
    if not kinds.are_several:
        return []
    times, parts = step_times(model), waterfall(model)
    figures = []
    for number, kind in enumerate(kinds.kinds):
        chosen = np.flatnonzero(kinds.of == number)
        names = [times.names[each] for each in chosen.tolist()]
        is_range = kinds.is_range(number)
        mine = average_of(times, chosen)
        figures.append(
            KindFigures(
                id=kind.id,
                label=kind.label,
                number=kind.number,
                title=kind.title,
                count=len(chosen),
                steps=names,
                from_step=names[0] if is_range else None,
                to_step=names[-1] if is_range else None,
                mean_ns=mine.step_ns,
                median_ns=median(times.duration_ns[chosen]),
                category_ns=mine.category_ns,
                waterfall=average(
                    msgspec.structs.replace(parts, step_ns=parts.step_ns[chosen], ns=parts.ns[:, chosen])
                ),
            )
        )
    return figures
