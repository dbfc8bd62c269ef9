"""Find steps: by annotations (of torch, engines, frameworks, optimizers, people), else by what repeats.

Without annotations, the model is called again, or a sequence of kernels repeats; else the whole trace is one step.
"""

from __future__ import annotations

import re
from functools import partial

import msgspec
import numpy as np

from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.nesting import last_started, nearest, to_root
from torch_tb_profiler.arrays.sequences import RepeatedRun, repeats
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import ROUNDING_NS
from torch_tb_profiler.model.launches import is_work
from torch_tb_profiler.model.steps.host import LEAST_COVERAGE, Host, outermost
from torch_tb_profiler.model.steps.types import HostSteps, unnumbered
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.vocabulary import is_annotation_name

PROFILER_STEP = lazy_pattern(r"ProfilerStep#\d+")

#: vLLM `execute_context_1(888)_generation_0(0)`, SGLang `step[DECODE bs=32]`, xDiT `execute_diffusion_1_256x256`;
#: xDiT's other name, `model_inference`, is also that in PyTorch's recipe of the profiler, and so anybody's
ENGINE_STEP = lazy_pattern(r"execute_(?:\d|context|generation|diffusion|model|new)|step\[[A-Z][A-Z_0-9]*[ \]]")

#: Lightning `[pl][profile]run_training_batch`, Transformers and others `training_step`, MMEngine `train_iter`
FRAMEWORK_STEP = lazy_pattern(
    r"^(?:\[pl\]\[profile\])?(?:run_(?:training|evaluation|test|predict)_batch|train(?:ing)?_(?:step|batch|iter)"
    r"|(?:Trainer\.)?training_step|train_one_batch)$"
)


def profiler_step(host: Host) -> HostSteps | None:
    """`ProfilerStep#N` of torch.profiler's schedule; never the copies of it on the device.

    None, unless a person asks for them, where a framework marks its batches and some steps begin in one and end behind
    it: such a step is parts of two batches. Lightning does so, which steps the profiler in the middle of a batch.
    """
    rows = host.annotations(PROFILER_STEP.fullmatch)
    if not host.asked and _crosses(host, rows):
        return None
    texts = host.trace.strings.texts(host.trace.events.name[rows])
    return host.steps(rows, [text.removeprefix("ProfilerStep#") for text in texts])


def inference_engine(host: Host) -> HostSteps | None:
    """Find what vLLM, SGLang and xDiT write around one pass of the model."""
    return host.steps(host.annotations(ENGINE_STEP.match))


def training_framework(host: Host) -> HostSteps | None:
    """Find what Lightning, Transformers and MMEngine write around one batch."""
    return host.steps(host.annotations(FRAMEWORK_STEP.search))


def _crosses(host: Host, rows: Int32) -> bool:
    """Tell whether some annotations begin in a batch of a framework, on its thread, and end after it."""
    batches = host.annotations(FRAMEWORK_STEP.search)
    if not len(rows) or not len(batches):
        return False
    events = host.trace.events
    at = np.searchsorted(events.start[batches], events.start[rows], side="right") - 1
    around = batches[np.maximum(at, 0)]
    inside = (at >= 0) & (events.start[rows] > events.start[around]) & (events.start[rows] < events.end[around])
    over = inside & (events.end[rows] > events.end[around] + ROUNDING_NS) & (events.track[rows] == events.track[around])
    return bool(over.any())


#: names whose coverage is looked at, those with most time
_MOST_NAMES = 8


#: of annotations with a number, such as `iteration 3`: what is numbered is an iteration, and not a layer
_ITERATION = lazy_pattern(
    r"(?:^|[^a-z])(?:step|iter|iteration|batch|call|run|request|token|round|pass|replay|loop|epoch)s?[^a-z]*#",
    re.IGNORECASE,
)
#: passes of a loop that generates tokens: reading the prompt is a step, as is each token after it
_PASS = lazy_pattern(r"(?:## )?(?:prefill|decode)(?: ##)?", re.IGNORECASE)
_PASSES = "prefill, decode"


def repeated_annotation(host: Host) -> HostSteps | None:
    """Find the annotation that repeats at the top of a thread and covers most of the trace, at least half.

    It covers its own time and that of the device work that was launched in it. `step 1`, `step 2`, … are the same
    annotation, as are `prefill` and `decode` of a loop.
    """
    found = [steps for key in _candidates(host) if (steps := host.steps(host.annotations(partial(_is, key))))]
    covered = [host.coverage(steps) for steps in found]
    best = int(np.argmax(covered)) if covered else -1
    return found[best] if best >= 0 and covered[best] >= LEAST_COVERAGE else None


def _key(text: str) -> str:
    """Strip the number of an annotation of numbered iterations; give passes of a loop one name."""
    if _PASS.fullmatch(text):
        return _PASSES
    numbered = unnumbered(text)
    return numbered if _ITERATION.search(numbered) else text


def _is(key: str, text: str) -> bool:
    return _key(text) == key


def _candidates(host: Host) -> list[str]:
    """Keys of annotations at the top of a thread that are there more than once, those with most time first."""
    trace, tree, events = host.trace, host.tree, host.trace.events
    top = (tree.parent < 0) & (tree.category == Category.USER_ANNOTATION)
    by_torch = trace.strings.where(is_annotation_name, tree.name[top])
    nodes = np.flatnonzero(top & ~by_torch[tree.name])
    if not len(nodes):
        return []
    root = to_root(np.where(tree.parent >= 0, tree.parent, np.arange(len(tree))))
    launched = np.flatnonzero(host.device.node >= 0)
    ran = np.maximum(events.duration[trace.device_work.row[launched]], 0)
    time = events.duration[tree.row] + sums_at(root[host.device.node[launched]], ran, len(tree))
    names = group([tree.name[nodes]])
    totals: dict[str, list[int]] = {}
    for text, count, total in zip(
        trace.strings.texts(tree.name[nodes[names.first]]),
        names.count().tolist(),
        names.sum(time[nodes]).tolist(),
        strict=True,
    ):
        of = totals.setdefault(_key(text), [0, 0])
        of[0], of[1] = of[0] + count, of[1] + total
    often = [key for key, (count, total) in totals.items() if count > 1 and total > 0]
    return sorted(often, key=lambda key: -totals[key][1])[:_MOST_NAMES]


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
        """After how many calls the optimizers begin again.

        Two optimizers of one class are distinguished by the work they do, and by the work between them.
        """
        n = len(self.name)
        names = next(p for p in range(1, n + 1) if np.array_equal(self.name[p:], self.name[: n - p]))
        return next((p for p in range(names, n // 2 + 1, names) if self._alike(p)), names)

    def _alike(self, turn: int) -> bool:
        """Tell whether every call does the same as one turn before.

        The first turn may prepare, and the work before the first call is cut off.
        """
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
    """Everything from the first to the last operator is one step.

    Where what it launches does not run in the recording, and devices take longer for what was launched before, that
    work belongs to the step.
    """
    extent = host.extent()
    if extent is None:
        return None
    start, end = extent
    events, there = host.trace.events, is_work(host.trace)
    rows = host.trace.device_work.row[there]
    work = intervals.union(events.start[rows], events.end[rows])
    outside = intervals.total(work) - intervals.total(intervals.clip(work, start, end))
    ran = there & (host.device.launch >= 0)
    if outside > end - start and len(host.trace.launches) and not ran.any():
        start, end = min(start, int(work.start[0])), max(end, int(work.end[-1]))
    return HostSteps(["0"], np.array([start]), np.array([end]), ["whole trace"])
