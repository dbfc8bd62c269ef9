"""Checkpoints are written while the steps wait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free, targets, without
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import FRAMES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.saving_frames import copies_within, saving_frames
from torch_tb_profiler.insights.shared.wording import how_often, ms

_ID = "checkpoint_saves"


def _find(facts: Facts) -> Sequence[Found]:
    rows = facts.longest_first(facts.in_steps(saving_frames(facts.model)))
    took = int(facts.duration(rows).sum())
    if not len(rows) or facts.share(took) < facts.limit(_ID, "least_share"):
        return ()
    copied = copies_within(facts.model, rows).tolist()
    in_steps = len(distinct(facts.step_of(rows)))
    longest = float(np.max(facts.duration(rows)))
    return (
        Found(
            title="Steps wait while a checkpoint is written",
            detail=(
                f"The model is saved {how_often(len(rows), facts.steps)}, for up to {ms(longest)}: "
                f"{100 * facts.share(took):.1f} % of the time of the steps."
            ),
            advice=(
                "Save less often, or while the steps go on: `torch.distributed.checkpoint.async_save(state_dict, "
                "checkpoint_id=path)` copies the state to the host, and writes it in the background."
            ),
            values={
                "times": len(rows),
                "steps": facts.steps,
                "longest_ns": longest,
                "share": facts.share(took),
            },
            rows=rows,
            changes=(
                free(rows=rows),
                without("sync", rows=rows),
                *([targets(copied, [0] * len(copied))] if len(copied) else []),
            ),
            evidence=(
                Evidence("saving_per_step", "Saving, average per step", took / facts.steps, "ns", "trace"),
                Evidence("saving_steps", "Steps in which it is saved", in_steps, "count", "trace"),
            ),
            links=(
                Link(
                    "async_save",
                    "Asynchronous saving",
                    "https://docs.pytorch.org/tutorials/recipes/distributed_async_checkpoint_recipe.html",
                ),
            ),
        ),
    )


RULE = Rule(_ID, "R70", (STEPS, FRAMES), _find)
