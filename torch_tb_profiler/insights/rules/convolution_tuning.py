"""Convolutions that try all algorithms while steps run, because they have not seen their sizes before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.flops.products import product_kernels
from torch_tb_profiler.analysis.replay.changes import scale, targets
from torch_tb_profiler.analysis.shared.count_text import counted
from torch_tb_profiler.arrays.distinct import distinct, distinct_places, one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule

_ID = "convolution_tuning"
_CONVOLUTIONS = frozenset(
    {
        *("aten::" + name for name in "cudnn_convolution cudnn_convolution_transpose convolution_backward".split()),
        *("aten::" + name for name in "cudnn_convolution_relu cudnn_convolution_add_relu miopen_convolution".split()),
        *("aten::cudnn_convolution_backward_" + name for name in ("input", "weight")),
    }
)
#: what a call costs the host whose algorithm is known, where the trace has none such, ns
_USUAL_CALL_NS = 100_000


def _find(facts: Facts) -> Sequence[Found]:
    model, tree = facts.model, facts.model.tree
    if not len(tree):
        return ()
    kernels = product_kernels(model)
    convolves = facts.trace.strings.where(_CONVOLUTIONS.__contains__, tree.name)[tree.name]
    owner = nearest(tree.parent, convolves, model.device_links.operator_node[kernels.place])
    has = np.flatnonzero(owner >= 0)
    nodes, of = distinct_places(owner[has])
    names = facts.trace.events.name[kernels.row[has]]
    pairs = group([of.astype(np.int64), names])
    count = np.bincount(of, minlength=len(nodes))
    different = np.bincount(of[pairs.first], minlength=len(nodes))
    tunes = (count >= facts.limit(_ID, "least_kernels")) & (different >= facts.limit(_ID, "least_different"))
    step = facts.step_of(tree.row[nodes])
    # a first step is there to warm up
    tuned = np.flatnonzero(tunes & (step >= min(1, facts.steps - 1)))
    if not len(tuned) or facts.steps < 2:
        return ()
    rows = tree.row[nodes[tuned]]
    spent = int((tree.end - tree.start)[nodes[tuned]].sum())
    if facts.share(spent) < facts.limit(_ID, "least_share"):
        return ()
    extra = _all_but_the_last(kernels.row[has], of, tuned, facts)
    usual = _usual_ns(facts, nodes[(step >= 0) & ~tunes])
    length = spent / len(tuned)
    steps = len(distinct(step[tuned]))
    return (
        Found(
            title="Convolutions try their algorithms while steps run",
            detail=(
                f"{counted(len(tuned), 'convolution')} in {steps} of {facts.steps} steps ran up to "
                f"{int(count[tuned].max())} kernels each, to find the fastest for a size that they had not seen "
                f"before: {100 * facts.share(spent):.1f} % of the steps."
            ),
            advice=(
                "Give them inputs of one size, or of a few sizes: pad, crop, `DataLoader(…, drop_last=True)`. Where "
                "sizes must change, set `torch.backends.cudnn.benchmark = False`."
            ),
            values={
                "count": len(tuned),
                "steps": steps,
                "all_steps": facts.steps,
                "kernels": int(count[tuned].max()),
                "share": facts.share(spent),
            },
            rows=facts.longest_first(rows),
            changes=(
                scale(None, min(1.0, usual / length), rows=rows.tolist()),
                targets(extra.tolist(), [0] * len(extra)),
            ),
            confidence="medium",
            evidence=(
                Evidence("tuned_calls", "Convolutions that try algorithms", len(tuned), "count", "operators"),
                Evidence("tuned_time", "Their time on the host, per step", spent / facts.steps, "ns", "operators"),
            ),
            links=(
                Link(
                    "cudnn_benchmark",
                    "torch.backends.cudnn.benchmark",
                    "https://docs.pytorch.org/docs/stable/backends.html#torch.backends.cudnn.torch.backends.cudnn.benchmark",
                ),
            ),
        ),
    )


def _all_but_the_last(rows: Int32, of: Int64, tuned: Int64, facts: Facts) -> Int32:
    """The kernels that were tried: of each call all but the last, which is the one that was chosen."""
    here = np.flatnonzero(one_of(of, tuned.tolist()))
    order = here[np.lexsort((facts.trace.events.start[rows[here]], of[here]))]
    last = np.append(of[order][1:] != of[order][:-1], True)
    kept: Int32 = rows[order[~last]]
    return kept


def _usual_ns(facts: Facts, nodes: Int32) -> float:
    """How long a call takes that tries nothing, ns."""
    tree = facts.model.tree
    return median((tree.end - tree.start)[nodes]) if len(nodes) else _USUAL_CALL_NS


RULE = Rule(_ID, "R34", (STEPS, HOST, DEVICE), _find)
