"""What each kernel cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.health.kernels import NO_KERNELS, no_kernels
from torch_tb_profiler.analysis.kernels.columns import KERNELS as COLUMNS
from torch_tb_profiler.analysis.kernels.table import KernelGrouping, Transfers, kernels
from torch_tb_profiler.analysis.question import Subject, TraceQuestion
from torch_tb_profiler.analysis.shared.kernel_use import Occupancy, TensorCores
from torch_tb_profiler.analysis.table import Table, TableMeta, table_of


class Grouped(msgspec.Struct, frozen=True):
    """How kernels are grouped."""

    group_by: Annotated[KernelGrouping, Meta(description="What makes a row.")] = "name"


class KernelsMeta(TableMeta, frozen=True, kw_only=True):
    """Beside a table of kernels.

    group_by        what makes a row: name or name_op_launch
    device_ns       Σ durations of kernels, copies and fills
    host_ns         always null: kernels have no time on the host
    kernel_ns       Σ durations of kernels
    compute_ns      Σ durations of kernels that are not communication's
    tensor_cores    parts of compute_ns
    occupancy       of compute kernels
    memcpy          copies by kind
    memset          fills by kind
    waits           of devices for each other, for events and for the host, by kind: no work
    """

    group_by: str
    device_ns: Ns
    host_ns: None = None
    kernel_ns: Ns
    compute_ns: Ns
    tensor_cores: TensorCores
    occupancy: Occupancy
    memcpy: Sequence[Transfers]
    memset: Sequence[Transfers]
    waits: Sequence[Transfers]


def _kernels(subject: Subject, asked: Grouped) -> Table[KernelsMeta]:
    found = kernels(subject.model, asked.group_by)
    # why the device was not recorded is among the notes of the trace
    notes = [NO_KERNELS] if not len(found) and no_kernels(subject.model) in (None, NO_KERNELS) else []
    meta = KernelsMeta(
        **subject.about("kernels", *notes),
        group_by=found.group_by,
        device_ns=found.totals.kernel_ns + sum(copy.total_ns for copy in (*found.memcpy, *found.memset)),
        kernel_ns=found.totals.kernel_ns,
        compute_ns=found.totals.compute_ns,
        tensor_cores=found.totals.tensor_cores,
        occupancy=found.totals.occupancy,
        memcpy=found.memcpy,
        memset=found.memset,
        waits=found.waits,
    )
    keys = [key for key in COLUMNS if getattr(found, key) is not None]
    return table_of(meta, found, keys, COLUMNS, {"total_ns": found.totals.kernel_ns})


KERNELS = TraceQuestion(
    name="kernels",
    summary="Kernels",
    answer=Table[KernelsMeta],
    parameters=Grouped,
    compute=_kernels,
    first=(Grouped("name"), Grouped("name_op_launch")),
    report=({"group_by": "name"}, {"group_by": "name_op_launch"}),
)
