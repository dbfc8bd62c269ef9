"""Code is compiled while steps run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.shared.count_text import by_count, counted
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import ms

_FIRST = (
    " The first compilation of each code is over when some steps ran before the recording: `schedule(warmup=3, …)`."
)


def _find(facts: Facts) -> Sequence[Found]:
    found = compiled(facts.model)
    all_rows = facts.model.tree.row[found.compilations]
    at = facts.step_of(all_rows)
    is_again = np.isin(all_rows, facts.model.tree.row[found.again])
    # what it is called for first: the others are compiled once in any program
    repeated, once = (facts.longest_first(all_rows[(at >= 0) & which]) for which in (is_again, ~is_again))
    rows = np.concatenate([repeated, once])
    spent = int(facts.duration(rows).sum())
    share = facts.share(spent)
    if not len(rows) or share < facts.limit("recompiles", "least_share"):
        return ()
    steps = len(distinct(at[at >= 0]))
    again, again_ns = len(repeated), int(facts.duration(repeated).sum()) / facts.steps
    before = f"{again} of them, {ms(again_ns)} a step, {by_count(again, 'is', 'are')}"
    return (
        Found(
            title="Code is compiled again" if again else "Code is compiled in the recorded steps",
            detail=(
                f"{counted(len(rows), 'compilation')} in {steps} of {facts.steps} steps "
                f"{by_count(len(rows), 'takes', 'take')} {100 * share:.0f} % of the time"
                f"{f'; {before} of code that was compiled before, for other inputs.' if again else '.'}"
            ),
            advice=(
                "`TORCH_LOGS=recompiles` says why. Where it is a size, say so: "
                "`torch._dynamo.mark_dynamic(x, 0)` or `torch.compile(model, dynamic=True)`, or pad "
                f"batches to one size.{_FIRST if len(once) else ''}"
                if again
                else "Run some steps before the recording: `schedule(wait=1, warmup=3, active=3)`. In production keep "
                "what was compiled: set `TORCHINDUCTOR_CACHE_DIR` to a folder that stays."
            ),
            values={"compilations": len(rows), "steps": steps, "of": facts.steps, "share": share, "again": again}
            | ({"again_ns": again_ns, "once": len(once)} if again else {}),
            rows=rows,
            place_rows=repeated if again else None,
            changes=(free(rows=rows.tolist()),),
            evidence=(
                Evidence("compilations", "Compilations in the steps", len(rows), "count", "trace"),
                Evidence("compile_ns", "Compiling, per step", spent / facts.steps, "ns", "trace"),
            ),
            links=(
                Link(
                    "recompilation",
                    "Recompilation",
                    "https://docs.pytorch.org/docs/stable/compile/programming_model.recompilation.html",
                ),
            ),
        ),
    )


RULE = Rule("recompiles", "R35", (STEPS, HOST), _find)
