"""Steps that a person marked: an annotation that repeats."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.nesting import to_root
from torch_tb_profiler.model.steps.host import LEAST_COVERAGE, Host
from torch_tb_profiler.model.steps.types import HostSteps
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.vocabulary import is_annotation_name

#: names whose coverage is looked at, those with most time
_MOST_NAMES = 8


def repeated_annotation(host: Host) -> HostSteps | None:
    """The annotation that repeats at the top of a thread and covers most of the trace, at least half.

    It covers its own time and that of the device work that was launched in it.
    """
    found = [steps for text in _candidates(host) if (steps := host.steps(host.annotations(text.__eq__)))]
    covered = [host.coverage(steps) for steps in found]
    best = int(np.argmax(covered)) if covered else -1
    return found[best] if best >= 0 and covered[best] >= LEAST_COVERAGE else None


def _candidates(host: Host) -> list[str]:
    """Names of annotations at the top of a thread that are there more than once, those with most time first."""
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
    total = np.where(names.count() > 1, names.sum(time[nodes]), 0)
    order = np.argsort(-total, kind="stable")[:_MOST_NAMES]
    return trace.strings.texts(tree.name[nodes[names.first[order[total[order] > 0]]]])
