"""Worker processes are started again for every epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import FRAMES, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.loading import FEWEST, beyond, fetches_of
from torch_tb_profiler.insights.shared.wording import ms


def _find(facts: Facts) -> Sequence[Found]:
    found = fetches_of(facts)
    found = found.take(found.workers)
    took = facts.duration(found.row)
    first = found.iterator >= 0
    if not first.any() or np.count_nonzero(~first) < FEWEST:
        return ()
    usual = median(took[~first])
    slow = first & (took > facts.limit("dataloader_restart", "times_median") * usual)
    if not slow.any():
        return ()
    rows, frames = facts.longest_first(found.row[slow]), found.iterator[slow]
    cost = float(took[slow].sum() - usual * np.count_nonzero(slow) + facts.duration(frames).sum())
    each = cost / len(rows)
    if facts.share(cost) < facts.limit("dataloader_restart", "least_share"):
        return ()
    return (
        Found(
            title="Worker processes are started again for every epoch",
            detail=(
                f"A new iterator of the DataLoader costs {ms(each)}: its workers are started, and the first "
                f"batch is waited for. That happened {len(rows)} times in {facts.steps} steps."
            ),
            advice=(
                "Keep the workers from one epoch to the next: `DataLoader(…, persistent_workers=True)`. For short "
                "epochs let one iterator run over several of them."
            ),
            values={"each_ns": each, "times": len(rows), "steps": facts.steps},
            rows=rows,
            changes=(beyond(facts, rows, usual), free(rows=frames)),
            place_rows=frames,
            evidence=(
                Evidence("restart_cost", "A new iterator", each, "ns", "trace"),
                Evidence("restarts", "New iterators in the steps", float(len(rows)), "count", "trace"),
                Evidence("batch_p50", "A batch, median", usual, "ns", "trace"),
            ),
            links=(
                Link(
                    "dataloader_arguments",
                    "DataLoader: persistent_workers",
                    "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader",
                ),
            ),
            confidence="medium",
        ),
    )


RULE = Rule("dataloader_restart", "R4", (STEPS, HOST, FRAMES), _find)
