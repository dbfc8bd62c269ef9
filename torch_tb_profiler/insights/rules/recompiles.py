"""Code is compiled while steps run."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.shared.count_text import by_count, counted
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    found = compiled(facts.model)
    all_rows = facts.model.tree.row[found.compilations]
    at = facts.step_of(all_rows)
    rows = facts.longest_first(all_rows[at >= 0])
    spent = int(facts.duration(rows).sum())
    share = facts.share(spent)
    if not len(rows) or share < facts.limit("recompiles", "least_share"):
        return ()
    steps = len(distinct(at[at >= 0]))
    again = int((facts.step_of(facts.model.tree.row[found.again]) >= 0).sum())
    before = f"{again} of them {by_count(again, 'is', 'are')}"
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
                "batches to one size."
                if again
                else "Run some steps before the recording: `schedule(wait=1, warmup=3, active=3)`. In production keep "
                "what was compiled: set `TORCHINDUCTOR_CACHE_DIR` to a folder that stays."
            ),
            values={"compilations": len(rows), "steps": steps, "of": facts.steps, "share": share, "again": again},
            rows=rows,
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
