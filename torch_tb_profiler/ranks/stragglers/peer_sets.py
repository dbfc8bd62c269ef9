"""Peer sets: ranks that do the same in most of their steps, and are compared with each other."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.ranks.peers import StepGrid, is_like_most, peer_median, reached
from torch_tb_profiler.ranks.run.data import RunData

#: with fewer ranks of a kind, all ranks are compared
LEAST_PEERS = 3
#: share of the step from which on own time, or waiting for data, is clearly longer
OWN_SHARE = 0.03


class StepTimeGrid(msgspec.Struct, frozen=True):
    """Times of all ranks, shape (ranks, steps), ns; NaN where a rank lacks the step, or the time is unknown.

    step       length of the step
    own        own time between collectives
    input      waiting for data
    allocator  calls that allocate or free memory of the device
    idle       own time in which the device computes nothing, where it computes anything in the step. Kernels that take
               longer by chance are not in it, nor is waiting for other ranks
    """

    step: Float64
    own: Float64
    input: Float64
    allocator: Float64
    idle: Float64

    @classmethod
    def of(cls, run: RunData, grid: StepGrid) -> StepTimeGrid:
        computed = [steps.compute + steps.hidden for steps in run.steps]
        return cls(
            step=grid.real([steps.end - steps.start for steps in run.steps]),
            own=grid.real(run.own),
            input=grid.real([steps.input for steps in run.steps]),
            allocator=grid.real([steps.allocator for steps in run.steps]),
            idle=grid.real([np.where(ns > 0, own - ns, np.nan) for own, ns in zip(run.own, computed, strict=True)]),
        )


class PeerSet(msgspec.Struct, frozen=True):
    """Ranks that are compared.

    ranks        their places in the run
    by_position  whether they do the same collectives, so that positions in a step can be compared
    columns      those of the step grid that at least half of them have
    step_ns      median length of these steps; NaN without any
    usual        shape (ranks,): those that the others are compared with
    """

    ranks: Int64
    by_position: bool
    columns: Int64
    step_ns: float
    usual: Bool

    def of(self, values: Float64) -> Float64:
        """Shape (all ranks, all steps) → (ranks, columns)."""
        return values[np.ix_(self.ranks, self.columns)]

    def excess(self, values: Float64) -> Float64:
        """Shape (all ranks, all steps) → (ranks,): what is reached in most steps beyond the usual median."""
        chosen = self.of(values)
        return reached(chosen - peer_median(chosen[self.usual])).astype(np.float64)


def usual_program(run: RunData, rank: int) -> int:
    """Return the program of most steps of a rank; 0 without collectives."""
    values, counts = np.unique(run.programs[rank][run.programs[rank] != 0], return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else 0


def kinds_of(run: RunData) -> Int64:
    """Give each rank the number of its usual program, in order of first appearance."""
    codes: dict[int, int] = {}
    return np.array([codes.setdefault(usual_program(run, rank), len(codes)) for rank in range(len(run))], np.int64)


def peers_of(run: RunData, grid: StepGrid, times: StepTimeGrid, kind: Int64) -> PeerSet:
    """Choose whom the ranks of a kind (their places) are compared with: each other, or all where they are few."""
    alike = len(kind) >= LEAST_PEERS or len(kind) == len(run)
    ranks = kind if alike else np.arange(len(run))
    having = np.bincount(np.concatenate([grid.place[rank] for rank in ranks]), minlength=len(grid.names))
    columns = np.flatnonzero(having * 2 >= len(ranks))
    step_ns = float(np.nanmedian(times.step[np.ix_(ranks, columns)])) if len(columns) else float("nan")
    by_position = alike and bool(usual_program(run, int(ranks[0])))
    peers = PeerSet(ranks, by_position, columns, step_ns, np.ones(len(ranks), np.bool_))
    for values in (times.own, times.input, times.idle) if len(columns) else ():
        usual = is_like_most(peers.excess(values), OWN_SHARE * step_ns)
        if not usual.all():
            return msgspec.structs.replace(peers, usual=usual)
    return peers
