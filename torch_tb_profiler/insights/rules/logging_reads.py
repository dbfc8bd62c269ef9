"""Values that are read from the device in each step to be printed or logged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import without
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, FRAMES, STEPS
from torch_tb_profiler.insights.rule import Found, Link, Rule
from torch_tb_profiler.insights.shared.logging_frames import logging_frame
from torch_tb_profiler.insights.shared.waits import WaitedFor, recurring_waits, wait_evidence, waits
from torch_tb_profiler.insights.shared.wording import how_often, ms


def _find(facts: Facts) -> Sequence[Found]:
    model, trace = facts.model, facts.trace
    found = waits(model)
    frame = logging_frame(model, found.row)
    asked = np.isin(found.asked, (WaitedFor.VALUE, WaitedFor.CONDITION, WaitedFor.COPY_BACK))
    group = recurring_waits(facts, found.take((frame >= 0) & asked))
    share = facts.share(int(group.waited_ns.sum()))
    if not len(group) or share < facts.limit("logging_reads", "least_share"):
        return ()
    group = group.take(np.argsort(-group.waited_ns, kind="stable"))
    first = logging_frame(model, group.row[:1])[0]
    logs = str(trace.strings[int(model.structure.frames.name[first])]).rpartition(": ")[2]
    waited_ns = int(group.waited_ns.sum()) / facts.steps
    return (
        Found(
            title="Logging waits for the device in each step",
            detail=(
                f"`{logs}` reads values of the device {how_often(group.times, facts.steps)}; the host waits "
                f"{ms(waited_ns)} for them, {100 * share:.1f} % of the average step."
            ),
            advice=(
                "Log every few steps, `if step % 50 == 0: print(loss.item())`, and add up on the device in between: "
                "`total += loss.detach()`."
            ),
            values={"logger": logs, "times": group.times, "steps": facts.steps, "waited_ns": waited_ns, "share": share},
            rows=group.longest,
            changes=(without("sync", rows=group.row),),
            evidence=wait_evidence(facts, group, str(trace.strings[int(trace.events.name[group.row[0]])])),
            links=(
                Link(
                    "avoid_synchronization",
                    "Avoid unnecessary synchronization of CPU and GPU",
                    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
                    "#avoid-unnecessary-cpu-gpu-synchronization",
                ),
            ),
        ),
    )


RULE = Rule("logging_reads", "R10", (STEPS, DEVICE, CALLS, FRAMES), _find, replay=True)
