"""Python's garbage collection within the steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.analysis.waterfall.host_lanes import GARBAGE
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import FRAMES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import ms

#: what the profiler writes around a collection that Python began by itself
AUTOMATIC = "Python GC"


def _find(facts: Facts) -> Sequence[Found]:
    rows = _collections(facts)
    spent = int(facts.duration(rows).sum())
    if not len(rows) or facts.share(spent) < facts.limit("garbage_collection", "least_share"):
        return ()
    called = not bool((facts.trace.events.name[rows] == facts.trace.strings.code(AUTOMATIC)).any())
    longest = int(facts.duration(rows).max())
    share, spent_ns, longest_ns = facts.share(spent), spent / facts.steps, longest
    return (
        Found(
            title="Garbage collection holds up the steps",
            detail=(
                f"Python collects garbage {len(rows)} times in {facts.steps} steps, for up to {ms(longest_ns)}: "
                f"{ms(spent_ns)}, {100 * share:.1f} % of the average step."
            ),
            advice=(
                "Take `gc.collect()` out of the loop; it is not needed to free tensors, which are freed with their "
                "last reference."
                if called
                else "After the first steps call `gc.collect()` and `gc.freeze()`, so that long-lived objects are not "
                "examined again; or `gc.disable()`, and `gc.collect()` every few hundred steps."
            ),
            values={
                "times": len(rows),
                "steps": facts.steps,
                "longest_ns": longest_ns,
                "spent_ns": spent_ns,
                "share": share,
                "how": "called" if called else "automatic",
            },
            rows=facts.longest_first(rows),
            changes=(free(rows=rows),),
            least_share=facts.limit("garbage_collection", "least_share"),
            evidence=(
                Evidence("gc_per_step", "Garbage collection, average per step", spent / facts.steps, "ns", "trace"),
                Evidence("longest_gc", "The longest collection", longest, "ns", "trace"),
                Evidence("gc_runs", "Collections", len(rows), "count", "trace"),
            ),
            links=(Link("python_gc", "gc: garbage collector", "https://docs.python.org/3/library/gc.html#gc.freeze"),),
        ),
    )


def _collections(facts: Facts) -> Int32:
    """Collections in the steps that are in no other one."""
    frames, strings = facts.model.structure.frames, facts.trace.strings
    is_gc = strings.where(GARBAGE.search, frames.name)[frames.name]
    outer = np.append(is_gc, False)[frames.parent]
    return facts.in_steps(frames.row[is_gc & ~outer])


RULE = Rule("garbage_collection", "R15", (STEPS, FRAMES), _find)
