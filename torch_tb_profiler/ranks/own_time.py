"""Own time: what a rank does between its collectives. No waiting is in it, and no clock of another rank.

    own(collective) = its start − start of the one before − exposed communication between these

Exposed communication is that while no compute kernel runs: it holds all waiting that stopped the rank, also in
operations that run beside computing. The first one of a trace has the time since the start of its step. Where nothing
was computed on a device (gloo), operators on the host compute (`analysis.shared.host_computing`).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.shared.device_roles import communication_spans, computing_spans
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.called import Called, Timed

_PRIME = np.uint64(0x9E3779B97F4A7C15)


def own_times(model: Model, of: Timed) -> Int64:
    """Shape (rows,), ns; -1 for those without a start, and for a first one outside of all steps."""
    timed = np.flatnonzero(of.duration >= 0)
    found = np.full(len(of), -1, np.int64)
    if not len(timed):
        return found
    timed = timed[np.argsort(of.start[timed], kind="stable")]
    start = of.start[timed]
    exposed = Coverage(intervals.subtraction(communication_spans(model), computing_spans(model)))
    stopped = exposed.between(start[:-1], start[1:])
    found[timed[1:]] = start[1:] - start[:-1] - stopped
    step = int(of.step[timed[0]])
    if step >= 0:
        found[timed[0]] = max(int(start[0]) - int(model.steps.start[step]), 0)
    return found


def step_programs(of: Called, steps: int) -> Int64:
    """Of each step a number of the sequence of its collectives: name, element type, size of the group. 0 without any.

    Ranks whose steps have the same number do the same at the same position of the step.
    """
    found = np.zeros(steps, np.uint64)
    rows = np.flatnonzero(of.step >= 0)
    if not len(rows):
        return found.view(np.int64)
    sizes = np.array([group.size for group in of.groups], np.uint64)
    with np.errstate(over="ignore"):
        look = _hashes(of.names)[of.name[rows]] * _PRIME ^ _hashes(of.dtypes)[of.dtype[rows]]
        look = (look + sizes[of.group[rows]]) * _PRIME
        at = of.step[rows]
        if (np.diff(at) < 0).any():
            order = np.argsort(at, kind="stable")
            look, at = look[order], at[order]
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        nth = (np.arange(len(at)) - np.repeat(starts, np.diff(np.append(starts, len(at))))).astype(np.uint64)
        mixed = (look ^ (look >> np.uint64(31))) * (nth * np.uint64(2) + np.uint64(1)) * _PRIME
        found[at[starts]] = np.add.reduceat(mixed ^ (mixed >> np.uint64(29)), starts)
    return found.view(np.int64)


def _hashes(texts: Sequence[str]) -> np.typing.NDArray[np.uint64]:
    """The same in every process."""
    return np.array([zlib.crc32(text.encode()) for text in texts], np.uint64)
