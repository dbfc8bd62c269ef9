"""The passes of a step: each backward pass with what comes before it, and the optimizers that follow."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.kinds import CODE, ProgramPhase
from torch_tb_profiler.analysis.program.phases import device_phase, phases
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.recording import still_open

_FORWARD = (CODE[ProgramPhase.FORWARD], CODE[ProgramPhase.LOSS])
_BACKWARD = (CODE[ProgramPhase.BACKWARD], CODE[ProgramPhase.RECOMPUTE])
#: what runs when the gradients of ranks are joined
_SYNCHRONISES = lazy_pattern(
    r"torch\.distributed\.ddp\.reducer::|torch::distributed::reducer::copy|(?:nccl|gloo|mpi|ucc|xccl|hccl):\w*reduce"
    r"|FSDP::post_backward_reduce|c10d::(?:allreduce|reduce_scatter|_reduce_scatter)"
)
_STEP = lazy_pattern(r"Optimizer\.step#(?P<kind>\w+)\.step$")


class MicroBatches(Result, group="micro_batches"):
    """One row per backward pass of the steps that are chosen, in the order of time."""

    step: Int64 = column("Step", "Index into the steps.", unit=None)
    number: Int64 = column("Pass", "Which backward pass of its step, from 0.", unit=None)
    start_ns: Int64 = column("Backward begins", "When its first autograd node began.")
    data_ns: Int64 = column("Data", "Time of the main thread in data since the previous pass.")
    forward_ns: Int64 = column("Forward", "Time of the main thread in forward and loss since then.")
    backward_ns: Int64 = column("Backward", "Time of the main thread in backward, with recomputation.")
    forward_device_ns: Int64 = column(
        "Forward on devices", "Σ durations of device work that forward and loss launched."
    )
    backward_device_ns: Int64 = column("Backward on devices", "Σ durations of device work that backward launched.")
    synchronises: Bool = column("Joins gradients", "Whether gradients are joined over ranks in this pass.")


class Optimizers(Result, group="optimizers"):
    """One row per optimizer, by its class and its turn in the step. Times in ns."""

    name: tuple[str, ...] = column("Optimizer", "Class, with a number if a class has several optimizers in a step.")
    calls: Int64 = column("Calls", "Calls of step() in the steps.")
    host_ns: Int64 = column("Host", "Σ durations of the calls.")
    device_ns: Int64 = column("Device", "Σ durations of device work launched in them.")


@cached
def micro_batches(model: Model) -> MicroBatches:
    """Return the backward passes that begin in the steps, on the host."""
    found, steps = phases(model), model.steps
    runs = found.runs
    step = np.searchsorted(steps.host_start, runs.start, side="right") - 1
    inside = np.flatnonzero((step >= 0) & (runs.start < np.append(steps.host_end, 0)[step]))
    step = step[inside]
    first = np.concatenate(([True], step[1:] != step[:-1])) if len(step) else np.zeros(0, np.bool_)
    after = np.append(runs.start[1:], np.iinfo(np.int64).max)[inside]
    # the pass ends where the main thread is done with it: behind its last node there may be a wait for gradients
    backward = _spans(model, _BACKWARD)
    at = np.searchsorted(backward.start, runs.end[inside] - 1, side="right") - 1
    held = take_known(backward.end, at, missing=0)
    end = np.minimum(np.maximum(held, runs.end[inside]), np.minimum(after, np.append(steps.host_end, 0)[step]))
    start = np.where(first, steps.host_start[step], np.concatenate(([0], end[:-1]))[: len(end)])

    def on_host(codes: tuple[int, ...]) -> Int64:
        return Coverage(_spans(model, codes)).between(start, end)

    phase, time, duration = _launched(model)
    place = np.searchsorted(start, time, side="right") - 1
    there = (place >= 0) & (time < np.append(end, 0)[place])

    def on_devices(codes: tuple[int, ...]) -> Int64:
        chosen = there & one_of(phase, codes)
        return sums_at(place[chosen], duration[chosen], len(start))

    number = (
        np.arange(len(step)) - np.maximum.accumulate(np.where(first, np.arange(len(step)), 0)) if len(step) else step
    )
    return MicroBatches(
        step=step,
        number=number,
        start_ns=runs.start[inside],
        data_ns=on_host((CODE[ProgramPhase.DATA],)),
        forward_ns=on_host(_FORWARD),
        backward_ns=on_host(_BACKWARD),
        forward_device_ns=on_devices(_FORWARD),
        backward_device_ns=on_devices(_BACKWARD),
        synchronises=_synchronises(model, runs.start[inside], end),
    )


class _Steps(msgspec.Struct, frozen=True):
    """Calls of optimizers in the steps that are chosen, by start; parallel but for `kinds`.

    node    position in the call tree of `Model.in_steps`
    end     as recorded: the call tree cuts it where a mark of a step that it crosses ends
    place   in `kinds`
    """

    node: Int64
    end: Int64
    place: Int64
    kinds: tuple[str, ...]


@cached
def _steps_of_optimizers(model: Model) -> _Steps:
    """Return optimizer steps by the ranges that torch writes around them."""
    tree, strings = model.in_steps.tree, model.trace.strings
    names = strings.where(_STEP.match, tree.name)[tree.name] if len(tree) else np.zeros(0, np.bool_)
    calls = np.flatnonzero(names)
    calls = calls[np.argsort(tree.start[calls], kind="stable")]
    step = np.searchsorted(model.steps.host_start, tree.start[calls], side="right")
    turns: dict[tuple[int, str], int] = {}
    kinds: dict[str, int] = {}
    place = []
    for each, name in zip(step.tolist(), strings.texts(tree.name[calls]), strict=True):
        found = _STEP.match(name)
        kind = found["kind"] if found else name
        turn = turns[each, kind] = turns.get((each, kind), 0) + 1
        place.append(kinds.setdefault(kind if turn == 1 else f"{kind} {turn}", len(kinds)))
    row = tree.row[calls]
    recorded = np.where(still_open(model.trace)[row], tree.end[calls], model.trace.events.end[row])
    return _Steps(calls, np.maximum(tree.end[calls], recorded), np.array(place, np.int64), tuple(kinds))


@cached
def optimizers(model: Model) -> Optimizers:
    """Return the outermost calls of optimizers; an optimizer called by another one is in its time."""
    inside, steps = model.in_steps, _steps_of_optimizers(model)
    tree, calls = inside.tree, steps.node
    work = np.flatnonzero(inside.is_work & (inside.device_links.launch >= 0))
    nesting = nest(tree.track[calls], tree.start[calls], steps.end, np.zeros(len(calls), np.int32))
    launched = inside.launches.row[inside.device_links.launch[work]]
    events = model.trace.events
    around = nesting.innermost(events.track[launched], events.start[launched])
    duration = np.maximum(events.duration[inside.device_work.row[work]], 0)
    own = sums_at(around[around >= 0], duration[around >= 0], len(calls))
    count = len(steps.kinds)
    return Optimizers(
        name=steps.kinds,
        calls=np.bincount(steps.place, minlength=count).astype(np.int64),
        host_ns=sums_at(steps.place, steps.end - tree.start[calls], count),
        device_ns=sums_at(steps.place[nesting.order], Forest(nesting.parent).below(own), count),
    )


class Updates(msgspec.Struct, frozen=True):
    """Gradients that an optimizer takes, by time; those of passes behind the last one are of none. Parallel.

    optimizer   place in the table of `optimizers`: the first that steps behind the passes, or in the last of them
    passes      how many backward passes they are of
    step        index into the steps: where the last of the passes begins
    """

    optimizer: Int64
    passes: Int64
    step: Int64


def updates(model: Model) -> Updates:
    """Assign each pass to the optimizer that steps next, so that several optimizers in a step are no accumulation."""
    passes, found = micro_batches(model), _steps_of_optimizers(model)
    order = np.argsort(found.end, kind="stable")
    following = np.searchsorted(found.end[order], passes.start_ns, side="left")
    known = np.flatnonzero(following < len(order))
    update, first, count = np.unique(following[known], return_index=True, return_counts=True)
    return Updates(
        optimizer=found.place[order[update]],
        passes=count.astype(np.int64),
        step=passes.step[known[first + count - 1]],
    )


def _spans(model: Model, codes: tuple[int, ...]) -> intervals.Spans:
    segments = phases(model).segments
    mine = one_of(segments.phase, codes)
    return intervals.union(segments.start[mine], segments.end[mine])


def _launched(model: Model) -> tuple[Int64, Int64, Int64]:
    """Return phase, time of the launch and duration of all device work that has a launch."""
    whole = model.whole
    work = np.flatnonzero(whole.is_work & (whole.device_links.launch >= 0))
    events = model.trace.events
    time = events.start[whole.launches.row[whole.device_links.launch[work]]]
    duration = np.maximum(events.duration[whole.device_work.row[work]], 0)
    return device_phase(whole, phases(model))[work].astype(np.int64), time, duration


def _synchronises(model: Model, start: Int64, end: Int64) -> Bool:
    """Return whether a range that joins gradients begins between."""
    tree = model.structure.tree
    if not len(tree):
        return np.zeros(len(start), np.bool_)
    chosen = model.trace.strings.where(_SYNCHRONISES.match, tree.name)[tree.name]
    times = np.sort(tree.start[chosen])
    found: Bool = np.searchsorted(times, end, side="left") > np.searchsorted(times, start, side="left")
    return found
