"""Compiled code that is left and entered again in the middle: graph breaks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import ScaleHost
from torch_tb_profiler.analysis.shared.compiled import BODY, compiled
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import how_often


def _find(facts: Facts) -> Sequence[Found]:
    tree, found = facts.model.tree, compiled(facts.model)
    nested = found.nested[facts.step_of(tree.row[found.nested]) >= 0]
    if not len(nested):
        return ()
    is_outer = np.zeros(len(tree), np.bool_)
    is_outer[found.regions] = True
    outer = distinct(nearest(tree.parent, is_outer, nested)).astype(np.int64)
    between = _outside_of_graphs(facts, outer[outer >= 0])
    spent = sum(end - start for _, start, end in between)
    share, per_step = facts.share(spent), len(nested) / facts.steps
    if share < facts.limit("graph_breaks", "least_share"):
        return ()
    lines = ", ".join(found.resumed[:3])
    return (
        Found(
            title="Compiled code is interrupted by graph breaks",
            detail=(
                f"Compiled code returns to Python and continues in another graph {how_often(len(nested), facts.steps)}"
                f"{f', after {lines}' if lines else ''}; {100 * share:.0f} % of the step is in compiled regions, but "
                "in none of their graphs."
            ),
            advice=(
                "`torch.compile(model, fullgraph=True)` fails at the first break and says why. Usual causes: `print`, "
                "`.item()` and `if` on the value of a tensor; use `torch.where` or `torch.cond`, and log outside."
            ),
            values={"breaks": len(nested), "steps": facts.steps, "share": share, "lines": lines},
            rows=facts.longest_first(tree.row[nested]),
            changes=(ScaleHost(0.0, intervals=tuple(between)),),
            evidence=(
                Evidence("graph_breaks", "Graph breaks, per step", per_step, "count", "trace"),
                Evidence(
                    "outside_graphs_ns", "In regions, outside graphs, per step", spent / facts.steps, "ns", "trace"
                ),
            ),
            confidence="medium",
            links=(
                Link(
                    "graph_breaks",
                    "Finding and removing graph breaks",
                    "https://docs.pytorch.org/docs/stable/compile/programming_model.fullgraph_true.html",
                ),
            ),
        ),
    )


def _outside_of_graphs(facts: Facts, regions: Int64) -> list[tuple[int, int, int]]:
    """(track, start, end) of what lies in some regions, and neither in a graph of them nor in a compilation."""
    tree = facts.model.tree
    body = facts.trace.strings.where(lambda name: name.startswith(BODY), tree.name)[tree.name]
    body[compiled(facts.model).compilations] = True
    is_region = np.zeros(len(tree), np.bool_)
    is_region[regions] = True
    inner = np.flatnonzero(body & (nearest(tree.parent, body, tree.parent) < 0))
    owner = nearest(tree.parent, is_region, inner).astype(np.int64)
    inner, owner = inner[owner >= 0], owner[owner >= 0]
    # what lies between begins with the region or with the end of a body, and ends with the next body or the region
    of = np.concatenate([regions, owner])
    begin = np.concatenate([tree.start[regions], tree.end[inner]])
    end = np.concatenate([tree.end[regions], tree.start[inner]])
    begin, end = begin[np.lexsort((begin, of))], end[np.lexsort((end, of))]
    track = tree.track[np.sort(of)]
    kept = end > begin
    return list(zip(track[kept].tolist(), begin[kept].tolist(), end[kept].tolist(), strict=True))


RULE = Rule("graph_breaks", "R35", (STEPS, HOST), _find)
