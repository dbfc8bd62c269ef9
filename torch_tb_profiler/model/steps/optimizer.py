"""Steps of training without marks: an optimizer's step ends each."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.steps.host import LEAST_COVERAGE, Host, outermost
from torch_tb_profiler.model.steps.types import HostSteps
from torch_tb_profiler.trace import Category

OPTIMIZER_STEP = "Optimizer.step#"

#: iterations do about the same: numbers of operators differ by no more than this part
_ALIKE = 0.25

#: of the operators of a first iteration this share must be those of the second, in order
_SAME_OPERATORS = 0.8


def optimizer(host: Host) -> HostSteps | None:
    """From the end of one optimizer step to the end of the next; with gradient accumulation that is several batches.

    Several optimizers take turns (D, G, D, G): then a step is one turn of all of them. What follows the last optimizer
    step is in no step, nor is an iteration whose beginning was not recorded.
    """
    events = host.trace.events
    rows = host.annotations(lambda text: text.startswith(OPTIMIZER_STEP))
    if len(rows) < 2:
        return None
    rows = rows[outermost(events.start[rows], events.end[rows])]
    calls = _Calls.of(host, rows)
    turn = calls.turn()
    if len(rows) < 2 * turn:
        return None
    ends = calls.end[turn - 1 :: turn]
    begin = _beginning(host, rows[turn - 1 :: turn])
    starts = np.append(-1 if begin is None else begin, ends[:-1])
    if begin is None:
        starts, ends = starts[1:], ends[1:]
        if len(ends) < 2:
            return None
    label = host.trace.strings[int(events.name[rows[turn - 1]])]
    steps = HostSteps([str(i) for i in range(len(ends))], starts, ends, [label] * len(ends))
    return steps if host.coverage(steps) >= LEAST_COVERAGE else None


class _Calls(msgspec.Struct, frozen=True):
    """Calls of optimizers. All of shape (calls,).

    inside   operators that began in the call
    before   operators that began between the call before and this one, on any thread
    """

    name: Int32
    end: Int64
    inside: Int64
    before: Int64

    @classmethod
    def of(cls, host: Host, rows: Int32) -> _Calls:
        events = host.trace.events
        starts = np.sort(events.start[events.category == Category.OPERATOR])
        began, ended = (np.searchsorted(starts, times) for times in (events.start[rows], events.end[rows]))
        return cls(events.name[rows], events.end[rows], ended - began, np.diff(ended - (ended - began), prepend=0))

    def turn(self) -> int:
        """After how many calls the optimizers begin anew.

        Two optimizers of one class are told apart by how much they do, and what is done between them.
        """
        n = len(self.name)
        names = next(p for p in range(1, n + 1) if np.array_equal(self.name[p:], self.name[: n - p]))
        return next((p for p in range(names, n // 2 + 1, names) if self._alike(p)), names)

    def _alike(self, turn: int) -> bool:
        """Whether every call does what the one a turn before did. The first may prepare, and what it follows is cut."""
        inside, before = self.inside[turn:], self.before[1:]
        return np.array_equal(inside[turn:], inside[:-turn]) and _close(before[turn:], before[: len(before[turn:])])


def _close(a: Int64, b: Int64) -> bool:
    return bool((np.abs(a - b) <= _ALIKE * np.maximum(a, b)).all())


def _beginning(host: Host, last: Int32) -> int | None:
    """When the first iteration begins, given the last optimizer call of each; None if that was not recorded.

    It does about what the second does; what was before that (a model is made, data are loaded) is in no step.
    """
    events, tree = host.trace.events, host.tree
    nodes = np.flatnonzero(tree.is_operator & (tree.track == events.track[last[0]]))
    names, starts = tree.name[nodes], tree.start[nodes]
    ends = np.searchsorted(starts, events.start[last[:2]])
    after = int(np.searchsorted(starts, events.end[last[0]]))
    second = names[after : ends[1]]
    have, usual = int(ends[0]), len(second)
    extent = host.extent()
    if extent is None or not usual or have < (1 - _ALIKE) * usual:
        return None
    if have > usual:
        tail = names[have - usual : have]
        if have <= (1 + _ALIKE) * usual and np.mean(tail == second) < _SAME_OPERATORS:
            return extent[0]
        node = int(nodes[have - usual])
        # the call that it is a part of began the iteration
        while tree.parent[node] >= 0 and tree.end[tree.parent[node]] <= events.start[last[0]]:
            node = int(tree.parent[node])
        return int(tree.start[node])
    return extent[0]
