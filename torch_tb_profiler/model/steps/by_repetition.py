"""Find steps without annotations: the model is called again, or a sequence of kernels repeats; else the whole trace."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.nesting import last_started, nearest, to_root
from torch_tb_profiler.arrays.sequences import RepeatedRun, repeats
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.steps.host import LEAST_COVERAGE, Host, outermost
from torch_tb_profiler.model.steps.types import HostSteps
from torch_tb_profiler.trace import Category

NN_MODULE = "nn.Module: "


def repeated_module(host: Host) -> HostSteps | None:
    """From one call of the outermost nn.Module to the next; of several that take turns, from the first to the first."""
    events = host.trace.events
    rows = outermost_modules(host)
    if len(rows) < 2:
        return None
    found = repeats(events.name[rows], events.duration[rows])
    if not found:
        return None
    first, _, period, _ = found[0]
    begins = rows[first : first + found[0].times * period : period]
    last = int(events.end[rows[first + found[0].times * period - 1]])
    label = host.trace.strings[int(events.name[begins[0]])].removeprefix(NN_MODULE)
    steps = host.from_starts(events.start[begins], last, int(events.track[begins[0]]), label)
    return steps if host.coverage(steps) >= LEAST_COVERAGE else None


def outermost_modules(host: Host) -> Int32:
    """Rows of the calls of nn.Module that are in no other, on the thread where they take most time; by start."""
    events, frames = host.trace.events, host.trace.python_frames
    names = events.name[frames.row]
    named = host.trace.strings.where(lambda text: text.startswith(NN_MODULE), names)
    rows = frames.row[(frames.module_id >= 0) | named[names]]
    if not len(rows):
        return rows
    threads = group([events.track[rows]])
    rows = rows[threads.inverse == int(np.argmax(threads.sum(events.duration[rows])))]
    rows = rows[np.lexsort((-events.end[rows], events.start[rows]))]
    found: Int32 = rows[outermost(events.start[rows], events.end[rows])]
    return found


#: fewer kernels are no iteration
LEAST_KERNELS = 2


def repeated_kernels(host: Host) -> HostSteps | None:
    """From the launch of the first kernel of a sequence to that of its next repetition, on the busiest stream.

    Layers of a model repeat, too. So a repetition must not begin inside an operator, a module call or a launch that the
    one before began in, and the sequence must go on to one end of the stream's work: before and after the layers of a
    model stand other kernels.
    """
    launched = _Launched.of(host)
    if launched is None:
        return None
    owner = _owner(host, launched)
    too_short: list[int] = []
    for longest in repeats(launched.key, launched.duration):
        if any(longest.period % period == 0 for period in too_short):
            continue  # the same repetition, two or more at a time
        if launched.kernels[longest.first : longest.first + longest.period].sum() < LEAST_KERNELS:
            too_short.append(longest.period)
            continue
        if longest.first > 0 and longest.after < len(launched.key):
            continue
        found = _turned(host, launched, longest)
        begins = found.first + found.period * np.arange(found.times)
        inside = owner[begins[1:]] >= 0
        if (inside & (owner[begins[1:]] == owner[begins[:-1]])).any():
            continue
        calls = host.trace.launches.row[launched.launch]
        events = host.trace.events
        last = int(events.end[calls[begins[-1] + found.period - 1]])
        track = int(events.track[calls[begins[0]]])
        steps = host.from_starts(launched.begin[begins], last, track, "kernel sequence")
        if host.coverage(steps) >= LEAST_COVERAGE:
            return steps
    return None


class _Launched(msgspec.Struct, frozen=True):
    """Launches that started kernels on the busiest stream, in the order in which these ran. All of shape (launches,).

    launch     index into Trace.launches
    key        equal for launches of the same kernels
    kernels    how many each started
    duration   ns, Σ of these
    operator   position in the call tree of the outermost operator around the launch, -1
    begin      ns: when that operator began, else the launch
    """

    launch: Int32
    key: Int64
    kernels: Int64
    duration: Int64
    operator: Int32
    begin: Int64

    @classmethod
    def of(cls, host: Host) -> _Launched | None:
        events, work, tree = host.trace.events, host.trace.device_work, host.tree
        chosen = np.flatnonzero((events.category[work.row] == Category.KERNEL) & (host.device.launch >= 0))
        if len(chosen) < 2 * LEAST_KERNELS:
            return None
        streams = group([work.device[chosen], work.stream[chosen]])
        ran = np.maximum(events.duration[work.row[chosen]], 0)
        on_it = streams.inverse == int(np.argmax(streams.sum(ran)))
        chosen = chosen[on_it]
        chosen = chosen[np.argsort(events.start[work.row[chosen]], kind="stable")]
        launch = host.device.launch[chosen]
        first = np.flatnonzero(begins_run(launch))
        ran = np.maximum(events.duration[work.row[chosen]], 0)
        launch = launch[first]
        operator = _outermost_operator(host, host.device.node[chosen[first]])
        called = events.start[host.trace.launches.row[launch]]
        began = np.append(tree.start, 0)[operator] if len(tree) else called
        return cls(
            launch=launch,
            key=_digests(events.name[work.row[chosen]], first),
            kernels=np.diff(np.append(first, len(chosen))),
            duration=np.add.reduceat(ran, first),
            operator=operator,
            begin=np.where(operator >= 0, np.minimum(began, called), called),
        )


def _digests(names: Int32, first: Int64) -> Int64:
    """Hash each interval of names that begins at `first`; different intervals hardly ever have the same number."""
    place = np.arange(len(names)) - np.repeat(first, np.diff(np.append(first, len(names))))
    with np.errstate(over="ignore"):
        mixed = (names.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= (place.astype(np.uint64) * np.uint64(2) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        sums = np.add.reduceat(mixed, first)
    return group([sums.view(np.int64)]).inverse


def _outermost_operator(host: Host, node: Int32) -> Int32:
    """Position in the call tree of the outermost operator around each node; -1 for none."""
    tree = host.tree
    if not len(tree):
        return node
    is_operator: Bool = tree.is_operator
    inner = nearest(tree.parent, is_operator, np.arange(len(tree)))
    above = np.where(tree.parent >= 0, inner[tree.parent], -1)
    root = np.append(to_root(np.where(above >= 0, above, np.arange(len(tree)))), -1)
    found: Int32 = root[np.append(inner, -1)[node]].astype(np.int32)
    return found


def _owner(host: Host, launched: _Launched) -> Int64:
    """Return a number of the call in whose middle a step must not begin, for each launch; -1 for none.

    The outermost module call around it, else the outermost operator.
    """
    events, modules = host.trace.events, outermost_modules(host)
    calls = host.trace.launches.row[launched.launch]
    lanes, starts = events.track[modules], events.start[modules]
    place = last_started(lanes, starts, events.track[calls], launched.begin)
    inside = (place >= 0) & (np.append(events.end[modules], 0)[place] > launched.begin)
    return np.where(inside, place + len(host.tree), launched.operator).astype(np.int64)


def _turned(host: Host, launched: _Launched, run: RepeatedRun) -> RepeatedRun:
    """Where the interval does not begin with the stream's work, begin where the host paused before launching most."""
    spare = (run.after - run.first) % run.period
    if run.first == 0 or not spare:
        return run
    calls = host.trace.launches.row[launched.launch]
    pause = host.trace.events.start[calls][1:] - host.trace.events.end[calls][:-1]
    offsets = np.arange(spare + 1)
    before = run.first - 1 + offsets[:, None] + run.period * np.arange(run.times)[None, :]
    best = int(np.argmax(pause[before].mean(axis=1)))
    return run._replace(first=run.first + best)


def whole_trace(host: Host) -> HostSteps | None:
    """Everything from the first to the last operator is one step."""
    extent = host.extent()
    if extent is None:
        return None
    return HostSteps(["0"], np.array(extent[:1]), np.array(extent[1:]), ["whole trace"])
