"""Backward passes, and phases that nothing marks.

A backward pass is a run of autograd nodes with nothing of the program between them. Forward, loss and optimizer are
inferred from the operators before and behind it.
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.program.kinds import CODE, PhaseEvidence, ProgramPhase
from torch_tb_profiler.analysis.program.marks import Marks
from torch_tb_profiler.analysis.shared.backward_links import autograd_nodes
from torch_tb_profiler.analysis.shared.compiled import COMPILED_BACKWARD, compiled
from torch_tb_profiler.arrays.distinct import begins_run, one_of
from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import Nesting, nearest, nest
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

#: phases whose beginning on the main thread ends a backward pass
_ENDS = tuple(
    CODE[each]
    for each in (
        ProgramPhase.FORWARD,
        ProgramPhase.LOSS,
        ProgramPhase.DATA,
        ProgramPhase.OPTIMIZER,
        ProgramPhase.ZERO_GRAD,
    )
)


class BackwardPasses(msgspec.Struct, frozen=True):
    """Backward passes in the order of time; parallel. One follows another when the program did something between.

    start, end  ns: of the first node, and of the last to end
    nodes       how many autograd nodes, those inside others not counted
    """

    start: Int64
    end: Int64
    nodes: Int64

    def __len__(self) -> int:
        return len(self.start)


def backward_passes(model: Model, marked: Marks, main: int) -> BackwardPasses:
    """Return all of the trace. With Python frames each call of `backward` or `grad` is one.

    Compiled autograd runs one region for all nodes, which counts as one.
    """
    tree = model.structure.tree
    is_node = autograd_nodes(model) | _compiled_passes(model)
    outer = np.flatnonzero(is_node)
    outer = outer[nearest(tree.parent, is_node, tree.parent[outer]) < 0]
    nesting = marked.nesting
    backward = marked.phase == CODE[ProgramPhase.BACKWARD]
    within = nearest(nesting.parent, backward, nesting.parent) >= 0
    ends = (nesting.lane == main) & ~within & one_of(marked.phase, _ENDS)
    calls = (nesting.lane == main) & ~within & backward & (marked.evidence == PhaseEvidence.FRAME)
    nodes = tree.start[outer]
    between = np.concatenate([nesting.start[ends | calls], tree.start[forward_operators(model, marked, main)]])
    # of what begins at one time the program's own doing comes first
    order = np.lexsort(
        (
            np.concatenate([np.ones(len(nodes), np.int8), np.zeros(len(between), np.int8)]),
            np.concatenate([nodes, between]),
        )
    )
    passed = np.empty(len(order), np.int64)
    passed[order] = np.cumsum(order >= len(nodes))
    of_node = passed[: len(nodes)]
    run = np.unique(of_node, return_inverse=True)[1].astype(np.int64)
    count = int(run.max()) + 1 if len(run) else 0
    return BackwardPasses(
        start=least_at(run, nodes, count),
        end=greatest_at(run, tree.end[outer], count),
        nodes=np.bincount(run, minlength=count).astype(np.int64),
    )


def forward_operators(model: Model, marked: Marks, main: int) -> Int64:
    """Return the positions in the call tree of operators of the main thread that the backward pass may follow.

    They carry a sequence number and do not run inside an autograd node; nothing marks them as anything but forward.
    """
    tree, operators = model.structure.tree, model.trace.operators
    at = np.flatnonzero(tree.is_operator & (tree.track == main))
    at = at[take_known(operators.sequence, tree.operator[at]) >= 0]
    at = at[take_known(operators.forward_thread, tree.operator[at]) <= 0]
    at = at[nearest(tree.parent, autograd_nodes(model), at) < 0]
    mark = marked.nesting.innermost(tree.track[at], tree.start[at])
    free = (mark < 0) | one_of(take_known(marked.phase, mark), (CODE[ProgramPhase.FORWARD], CODE[ProgramPhase.LOSS]))
    return at[free]


def _compiled_passes(model: Model) -> Bool:
    """Return which calls are a compiled backward pass, shape (call tree,)."""
    tree = model.structure.tree
    if not len(tree):
        return np.zeros(0, np.bool_)
    found: Bool = model.trace.strings.where(lambda name: name.startswith(COMPILED_BACKWARD), tree.name)[tree.name]
    return found


_LOSS = lazy_pattern(r"aten::(?:(?:(?!loss)\w)*loss\w*|binary_cross_entropy\w*|kl_div|cross_entropy\w*)$")
#: what DDP runs when all gradients are there
_REDUCER = lazy_pattern(r"torch\.distributed\.ddp\.reducer::|torch::distributed::reducer::")
_OPTIMIZER = lazy_pattern(r"aten::(?:_foreach_\w+|_fused_\w+|addcdiv_|addcmul_|add_|mul_)$")
_ROOT_GRADIENT = "aten::ones_like"


class InferredPhases(msgspec.Struct, frozen=True):
    """Intervals of the main thread with an inferred phase; they count only where no mark does.

    nesting   the intervals, all in lane 0
    phase     shape (intervals,): code of the phase
    evidence  shape (intervals,): Evidence
    """

    nesting: Nesting
    phase: Int8
    evidence: Int8


def inferred_phases(model: Model, marked: Marks, runs: BackwardPasses, main: int) -> InferredPhases:
    """Infer the phases of the whole trace; without a backward pass only of compiled code."""
    intervals: list[tuple[int, int, ProgramPhase, PhaseEvidence]] = []
    if len(runs):
        outer = _Outer.of(model, marked, main)
        passes = _backward(model, outer, runs, marked.has_frames)
        intervals += [(start, end, ProgramPhase.BACKWARD, PhaseEvidence.BACKWARD_RUN) for start, end in passes]
        intervals += _forward(model, marked, outer, runs, passes)
        if not ((marked.phase == CODE[ProgramPhase.OPTIMIZER]).any()):
            intervals += _optimizer(outer, passes)
    else:
        intervals += _compiled(model, main)
    columns = list(zip(*intervals, strict=True)) or [(), (), (), ()]
    start, end = (np.array(each, np.int64) for each in columns[:2])
    nesting = nest(np.zeros(len(start), np.int32), start, end, np.zeros(len(start), np.int32))
    phase = np.array([CODE[ProgramPhase(each)] for each in columns[2]], np.int8)
    return InferredPhases(nesting, phase[nesting.order], np.array(columns[3], np.int8)[nesting.order])


class _Outer(msgspec.Struct, frozen=True):
    """Outermost operators of the main thread, by start. Parallel.

    main        index into Trace.tracks
    marked      whether a mark lies around the start
    is_loss, is_optimizer, is_reducer, is_root   by their names
    barriers    times at which a mark of the main thread begins, ascending
    """

    main: int
    node: Int64
    start: Int64
    end: Int64
    marked: Bool
    is_loss: Bool
    is_optimizer: Bool
    is_reducer: Bool
    is_root: Bool
    barriers: Int64

    @classmethod
    def of(cls, model: Model, marked: Marks, main: int) -> _Outer:
        tree, strings = model.structure.tree, model.trace.strings
        node = np.flatnonzero(tree.is_operator & (tree.track == main))
        node = node[nearest(tree.parent, tree.is_operator, tree.parent[node]) < 0]
        node = node[np.argsort(tree.start[node], kind="stable")]
        name = tree.name[node]
        mine = marked.nesting.lane == main

        def named(pattern: re.Pattern[str]) -> Bool:
            found: Bool = strings.where(pattern.match, name)[name]
            return found

        return cls(
            main=main,
            node=node,
            start=tree.start[node],
            end=tree.end[node],
            marked=marked.nesting.innermost(tree.track[node], tree.start[node]) >= 0,
            is_loss=named(_LOSS),
            is_optimizer=named(_OPTIMIZER),
            is_reducer=named(_REDUCER),
            is_root=name == strings.code(_ROOT_GRADIENT),
            barriers=np.sort(marked.nesting.start[mine]),
        )


def _backward(model: Model, outer: _Outer, runs: BackwardPasses, has_frames: bool) -> list[tuple[int, int]]:
    """Return when each run holds the main thread: with its root gradient, and what the reducer does behind it.

    Without Python frames also up to what the main thread shows next within the step: there it waits without an event.
    """
    events = model.trace.events
    shown = np.sort(
        np.concatenate(
            [
                model.structure.tree.start[(model.structure.tree.track == _track(model, outer))],
                events.start[model.trace.launches.row[events.track[model.trace.launches.row] == _track(model, outer)]],
            ]
        )
    )
    before = np.searchsorted(outer.end, runs.start, side="right") - 1
    begin = runs.start.copy()
    rooted = np.flatnonzero(np.append(outer.is_root & ~outer.marked, np.False_)[before])
    begin[rooted] = outer.start[before[rooted]]
    limit = np.minimum(_next(outer.barriers, runs.end), _next(runs.start, runs.end))
    reducers = np.flatnonzero(outer.is_reducer)
    behind, after = (np.searchsorted(outer.start[reducers], time, side="left") for time in (runs.end, limit))
    end = runs.end.copy()
    trailed = np.flatnonzero(after > behind)
    # outermost operators of a thread end in the order in which they start
    end[trailed] = np.maximum(end[trailed], outer.end[reducers[after[trailed] - 1]])
    if not has_frames:
        following = _next(shown, end)
        end = np.where(following <= _end_of_step(model, runs.start), following, end)
    return list(zip(begin.tolist(), end.tolist(), strict=True))


def _next(times: Int64, time: Int64) -> Int64:
    """Return the first of some ascending times that is not before each time; the largest integer if there is none."""
    return np.append(times, np.iinfo(np.int64).max)[np.searchsorted(times, time, side="left")]


def _track(model: Model, outer: _Outer) -> int:
    return int(model.structure.tree.track[outer.node[0]]) if len(outer.node) else -1


def _end_of_step(model: Model, time: Int64) -> Int64:
    """Return the end, on the host, of the step at each time; the time itself where there is none."""
    steps = model.steps
    at = np.searchsorted(steps.host_start, time, side="right") - 1
    return np.where(at >= 0, np.append(steps.host_end, 0)[at], time)


def _forward(
    model: Model, marked: Marks, outer: _Outer, runs: BackwardPasses, passes: list[tuple[int, int]]
) -> list[tuple[int, int, ProgramPhase, PhaseEvidence]]:
    """Infer forward passes: unmarked operators that a backward pass of their step follows, and gaps between them."""
    tree, steps, main = model.structure.tree, model.steps, outer.main
    numbers = bool((model.trace.operators.sequence[tree.operator[tree.is_operator]] >= 0).any())
    wanted = ~outer.marked
    if numbers:
        inner = forward_operators(model, marked, main)
        place = np.full(len(tree) + 1, -1, np.int64)
        place[outer.node] = np.arange(len(outer.node))
        is_outer = np.zeros(len(tree), np.bool_)
        is_outer[outer.node] = True
        holding = place[nearest(tree.parent, is_outer, inner)]
        numbered = np.zeros(len(outer.node), np.bool_)
        numbered[holding[holding >= 0]] = True
        wanted = wanted & numbered
    nesting = marked.nesting
    of_forward = one_of(marked.phase, (CODE[ProgramPhase.FORWARD], CODE[ProgramPhase.LOSS]))
    whole = np.flatnonzero((nesting.lane == main) & (nesting.parent < 0) & of_forward)
    start = np.concatenate([outer.start[wanted], nesting.start[whole]])
    end = np.concatenate([outer.end[wanted], nesting.end[whole]])
    loss = np.concatenate([outer.is_loss[wanted], marked.phase[whole] == CODE[ProgramPhase.LOSS]])
    order = np.argsort(start, kind="stable")
    start, end, loss = start[order], end[order], loss[order]

    begin, finish = (np.array(each, np.int64) for each in zip(*passes, strict=True))
    inside = np.searchsorted(begin, start, side="right") - 1
    kept = ~((inside >= 0) & (start < np.append(finish, 0)[inside]))
    following = np.searchsorted(runs.start, start, side="left")
    kept &= following < len(runs)
    if len(steps):
        step = np.searchsorted(steps.host_start, start, side="right")
        of_run = np.append(np.searchsorted(steps.host_start, runs.start, side="right"), -1)
        kept &= of_run[np.minimum(following, len(runs))] == step
    start, end, loss = start[kept], end[kept], loss[kept]
    if not len(start):
        return []
    others = nesting.start[(nesting.lane == main) & (nesting.parent < 0) & ~of_forward]
    piece = np.searchsorted(np.sort(np.concatenate([others, begin])), start, side="right")
    leads = np.flatnonzero(begins_run(piece))
    evidence = PhaseEvidence.OPERATORS if numbers else PhaseEvidence.NO_NUMBERS
    intervals: list[tuple[int, int, ProgramPhase, PhaseEvidence]] = []
    lasts = np.maximum.reduceat(end, leads)
    losses = np.append(np.flatnonzero(loss), len(start))
    loss_at = losses[np.searchsorted(losses, leads)]
    has_loss = loss_at < np.append(leads[1:], len(start))
    middles = np.where(has_loss, np.append(start, 0)[loss_at], lasts)
    for first, middle, last in zip(start[leads].tolist(), middles.tolist(), lasts.tolist(), strict=True):
        intervals += [(first, middle, ProgramPhase.FORWARD, evidence)] if middle > first else []
        intervals += [(middle, last, ProgramPhase.LOSS, evidence)] if last > middle else []
    return intervals


def _compiled(model: Model, main: int) -> list[tuple[int, int, ProgramPhase, PhaseEvidence]]:
    """Return the calls of compiled code in a program without a backward pass."""
    tree, whole = model.structure.tree, model.whole
    node = compiled(whole).regions
    node = node[tree.track[node] == main]
    return [
        (int(start), int(end), ProgramPhase.FORWARD, PhaseEvidence.OPERATORS)
        for start, end in zip(tree.start[node], tree.end[node], strict=True)
    ]


def _optimizer(outer: _Outer, passes: list[tuple[int, int]]) -> list[tuple[int, int, ProgramPhase, PhaseEvidence]]:
    """Return, behind each run up to the next mark or run, the first to the last operator that optimizers use."""
    chosen = np.flatnonzero(outer.is_optimizer & ~outer.marked)
    begins, ends = (np.array(each, np.int64) for each in zip(*passes, strict=True))
    limit = np.minimum(_next(outer.barriers, ends), np.append(begins[1:], np.iinfo(np.int64).max))
    behind, after = (np.searchsorted(outer.start[chosen], time, side="left") for time in (ends, limit))
    held = np.flatnonzero(after > behind)
    first, last = chosen[behind[held]], chosen[after[held] - 1]
    return [
        (start, end, ProgramPhase.OPTIMIZER, PhaseEvidence.OPTIMIZER_OPERATORS)
        for start, end in zip(outer.start[first].tolist(), outer.end[last].tolist(), strict=True)
    ]
