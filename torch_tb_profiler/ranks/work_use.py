"""What ranks do apart from collectives, each against its peers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Float32, Float64, Int32, Int64
from torch_tb_profiler.ranks.robust import deviations, middle, reached, weighted_median
from torch_tb_profiler.ranks.run_data import RunData
from torch_tb_profiler.ranks.step_grid import StepGrid

#: Σ device time of one kernel: floor of the deviation (share of the step), deviations, share of the step
KERNEL = (0.0005, 12.0, 0.01)
#: ratio of kernel times to those of peers: floor of the deviation, deviations, ratio
RATIO = (0.005, 6.0, 1.03)


@dataclass(frozen=True)
class WorkUse:
    """Of each peer, ns of a step beyond the middle peer.

    kernels, host      what the columns of what follows are of: the operator that launches a kernel, else its name
    kernel_ns          shape (peers, kernels), likewise `host_ns` (peers, operators on the host, their self time)
    more               shape (peers, kernels): how many times as often, or on how many times as many blocks; 1: as many
    is_more            shape (peers, kernels): clearly more time
    more_ns, more_z    Σ of what is clearly more, and its largest deviation
    is_slow, slow_ns, slow_z   all kernels are slower by about the same factor: what that costs
    input_ns, allocator_ns     excess of these
    exchanged          how many times as many bytes as the middle peer it sends or receives in all-to-alls
    """

    kernels: tuple[str, ...]
    host: tuple[str, ...]
    kernel_ns: Float32
    host_ns: Float32
    more: Float32
    is_more: Bool
    more_ns: Float64
    more_z: Float64
    is_slow: Bool
    slow_ns: Float64
    slow_z: Float64
    input_ns: Float64
    allocator_ns: Float64
    exchanged: Float64


def work_use(run: RunData, grid: StepGrid, ranks: Int64, columns: Int64, step_ns: float) -> WorkUse:
    """ranks: the peers; columns: of the grid that count; step_ns: length of a step."""
    kernels, ns, calls, blocks = _table(run, ranks, on_device=1)
    host, host_ns, _, _ = _table(run, ranks, on_device=0)
    usual = middle(ns) if len(kernels) else np.empty(0, np.float32)
    excess = ns - usual
    z = deviations(excess, KERNEL[0] * step_ns)
    is_more = (z > KERNEL[1]) & (excess >= KERNEL[2] * step_ns) if len(ranks) > 2 else np.zeros(excess.shape, np.bool_)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = ns / usual
        alike = (usual > 0) & (calls == middle(calls)) if len(kernels) else np.zeros(excess.shape, np.bool_)
        ratio = weighted_median(np.where(alike, times, 1.0).astype(np.float64), np.where(alike, usual, 0.0))
        more = np.maximum(_times(calls), _times(blocks))
        sent = np.array([run.work[rank].exchanged for rank in ranks.tolist()])
        exchanged = _times(sent)
    ratio = np.nan_to_num(ratio, nan=1.0)
    slow_z = deviations(ratio - middle(ratio), RATIO[0])
    is_slow = (slow_z > RATIO[1]) & (ratio > RATIO[2]) if len(ranks) > 2 else np.zeros(len(ranks), np.bool_)
    return WorkUse(
        kernels=kernels,
        host=host,
        kernel_ns=excess,
        host_ns=(host_ns - middle(host_ns)).astype(np.float32),
        more=more,
        is_more=is_more,
        more_ns=np.where(is_more, excess, 0).sum(axis=1, dtype=np.float64),
        more_z=np.where(is_more, z, 0).max(axis=1, initial=0).astype(np.float64),
        is_slow=is_slow,
        slow_ns=(1 - 1 / np.maximum(ratio, 1e-9)) * ns.sum(axis=1, dtype=np.float64),
        slow_z=slow_z,
        input_ns=_excess(run, grid, ranks, columns, "input"),
        allocator_ns=_excess(run, grid, ranks, columns, "allocator"),
        exchanged=exchanged,
    )


def _table(run: RunData, ranks: Int64, on_device: int) -> tuple[tuple[str, ...], Float32, Float32, Float32]:
    """Names, then shape (ranks, names): ns, calls and blocks of a step."""
    chosen = [(run.work[rank], run.work[rank].on_device == on_device) for rank in ranks.tolist()]
    codes: Int32 = np.unique(np.concatenate([of.code[mine] for of, mine in chosen] or [np.empty(0, np.int32)]))
    found = np.zeros((3, len(chosen), len(codes)), np.float32)
    for at, (of, mine) in enumerate(chosen):
        place = np.searchsorted(codes, of.code[mine])
        for number, values in enumerate((of.ns, of.calls, of.blocks)):
            found[number, at, place] = values[mine]
    names: list[Any] = list(run.work_names.of)
    told = tuple(run.operators.get(code) or str(names[code][0]) for code in codes.tolist())
    ns, calls, blocks = found
    return told, ns, calls, blocks


def _times(values: Any) -> Any:
    """How many times the middle peer's; 1 where that is not known."""
    return np.nan_to_num(values / middle(values), nan=1.0, posinf=1.0)


def _excess(run: RunData, grid: StepGrid, ranks: Int64, columns: Int64, name: str) -> Float64:
    """Of a column of the steps, as far as it is reached in most steps; 0 where unknown."""
    if not len(columns):
        return np.zeros(len(ranks))
    values = grid.real([getattr(of, name) for of in run.steps])[np.ix_(ranks, columns)]
    found: Float64 = np.nan_to_num(reached(values - middle(values)))
    return found
