"""A Python loop over the elements of a tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import scale
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.places import groups_of_places
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.tensor_loops import Loops, tensor_loops
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.trace import Category

#: places in the code that are listed one by one
MOST = 3


def _find(facts: Facts) -> Sequence[Found]:
    tree = facts.model.structure.tree
    fewest, largest = (int(facts.limit("tensor_loop", name)) for name in ("fewest_rounds", "most_operators"))
    loops = tensor_loops(facts.model, fewest, largest)
    rows = tree.row[loops.first]
    # a batch is put together by another thread or process where that matters
    loading = nearest(tree.parent, _is_loading(facts), loops.first) >= 0
    inside = np.flatnonzero((facts.step_of(rows) >= 0) & ~loading)
    if not len(inside):
        return ()
    place = groups_of_places(facts.model, rows[inside])
    length = loops.end - loops.start
    total = {int(each): int(length[inside[place == each]].sum()) for each in distinct(place)}
    found = []
    for each in sorted(total, key=lambda number: -total[number])[:MOST]:
        if facts.share(total[each]) >= facts.limit("tensor_loop", "least_share"):
            mine = inside[place == each]
            found.append(_of_place(facts, loops, mine[np.argsort(-length[mine], kind="stable")], rows))
    return found


def _is_loading(facts: Facts) -> Bool:
    tree = facts.model.structure.tree
    named = facts.trace.strings.where(DATALOADER_NAME.search, tree.name)[tree.name]
    found: Bool = named & (tree.category == Category.USER_ANNOTATION)
    return found


def _of_place(facts: Facts, loops: Loops, mine: Int64, rows: Int32) -> Found:
    rounds, operators = int(loops.rounds[mine].max()), int(loops.operators[mine[0]])
    spent = int((loops.end[mine] - loops.start[mine]).sum())
    share, spent_ns = facts.share(spent), spent / facts.steps
    stretches = list(zip(loops.track[mine], loops.start[mine], loops.end[mine], strict=True))
    all_rounds = int(loops.rounds[mine].sum())
    return Found(
        title="A Python loop takes the elements of a tensor one by one",
        detail=(
            f"The same {operators} operators, `aten::select` first, run up to {rounds} times in a row: "
            f"{ms(spent_ns)}, {100 * share:.1f} % of the average step."
        ),
        advice=(
            "Write it for the whole tensor, `y = f(x)` in place of `for i in range(len(x)): y[i] = f(x[i])`, or let "
            "`torch.vmap(f)(x)` do so. Where each round needs the result of the one before, use a fused layer such as "
            "`torch.nn.LSTM`, or `torch.compile`."
        ),
        values={"operators": operators, "rounds": rounds, "spent_ns": spent_ns, "share": share},
        rows=rows[mine],
        # one round is left of each loop
        changes=(scale(None, len(mine) / all_rounds, intervals=stretches),),
        confidence="medium" if bool(loops.is_sure[mine].all()) else "low",
        evidence=(
            Evidence(
                "loop_per_step", "In these loops, average per step", spent / facts.steps, "ns", "trace", "aten::select"
            ),
            Evidence(
                "rounds_per_step", "Rounds per step", all_rounds / facts.steps, "count", "operators", "aten::select"
            ),
            Evidence("loops", "Loops in the steps", len(mine), "count", "trace", "aten::select"),
        ),
        links=(Link("vmap", "torch.vmap", "https://docs.pytorch.org/docs/stable/generated/torch.vmap.html"),),
    )


RULE = Rule("tensor_loop", "R16", (STEPS, HOST), _find)
