"""Steps that a person marked: an annotation that repeats."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.nesting import to_root
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.steps.host import LEAST_COVERAGE, Host
from torch_tb_profiler.model.steps.types import HostSteps, unnumbered
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.vocabulary import is_annotation_name

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
    """The annotation that repeats at the top of a thread and covers most of the trace, at least half.

    It covers its own time and that of the device work that was launched in it. `step 1`, `step 2`, … are the same
    annotation, as are `prefill` and `decode` of a loop.
    """
    found = [steps for key in _candidates(host) if (steps := host.steps(host.annotations(partial(_is, key))))]
    covered = [host.coverage(steps) for steps in found]
    best = int(np.argmax(covered)) if covered else -1
    return found[best] if best >= 0 and covered[best] >= LEAST_COVERAGE else None


def _key(text: str) -> str:
    """The name of an annotation, without its number when iterations are numbered; one name for passes of a loop."""
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
