"""Find steps by annotations: those of torch, engines and frameworks, of optimizers, and those that a person repeats."""

from __future__ import annotations

import re
from functools import partial

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.nesting import to_root
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import ROUNDING_NS
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
