"""DistributedDataParallel that looks for unused parameters in every step."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule

_SEARCH = "torch.distributed.ddp.reducer::search_unused_parameters"


def _find(facts: Facts) -> Sequence[Found]:
    tree = facts.model.structure.tree
    code = facts.trace.strings.code(_SEARCH)
    if code < 0 or not len(tree):
        return ()
    rows = facts.in_steps(tree.row[tree.name == code])
    in_steps = len(distinct(facts.step_of(rows)))
    # a static graph is searched once
    if in_steps < 2 or 2 * in_steps < facts.steps:
        return ()
    spent = int(facts.duration(rows).sum())
    if facts.share(spent) < facts.limit("unused_parameters", "least_share"):
        return ()
    return (
        Found(
            title="DDP looks for unused parameters in every step",
            detail=(
                f"It walks the graph of gradients {len(rows)} times, {100 * facts.share(spent):.1f} % of the steps, "
                "because of `find_unused_parameters=True`."
            ),
            advice=(
                "If all parameters are used, use `DistributedDataParallel(model, find_unused_parameters=False)`; if "
                "the same ones are unused in all steps, `static_graph=True`."
            ),
            values={"calls": len(rows), "share": facts.share(spent)},
            rows=facts.longest_first(rows),
            changes=(free(rows=rows),),
            evidence=(Evidence("unused_search", "Search, average per step", spent / facts.steps, "ns", "operators"),),
            links=(
                Link(
                    "ddp_unused",
                    "find_unused_parameters and static_graph",
                    "https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design",
                ),
            ),
        ),
    )


RULE = Rule("unused_parameters", "R52", (STEPS, HOST), _find)
