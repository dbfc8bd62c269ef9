"""Worker processes of a DataLoader do not keep up with the steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Rule
from torch_tb_profiler.insights.shared.loading import (
    DATA_LOADING,
    FEWEST,
    Fetches,
    beyond,
    fetches_of,
    loader_evidence,
)
from torch_tb_profiler.insights.shared.wording import ms


def _find(facts: Facts) -> Sequence[Found]:
    found = fetches_of(facts)
    late = _after_start(facts, found.take(~found.synchronous))
    rows = facts.longest_first(late.row)
    waiting = int(facts.duration(rows).sum())
    share = facts.share(waiting)
    if not len(rows) or share <= facts.limit("dataloader", "least_share"):
        return ()
    by_workers = bool(late.workers.any())
    p95 = percentile(facts.duration(rows), 95)
    return (
        Found(
            title="Steps wait for input data",
            detail=(
                f"{100 * share:.1f} % of the average step goes into waiting for the next batch"
                f"{' of the worker processes of the DataLoader' if by_workers else ''}; one batch in twenty takes "
                f"{ms(p95)} or more."
            ),
            advice=(
                "The workers do not keep up: raise `num_workers` up to the number of processor cores, with "
                "`persistent_workers=True`, and `prefetch_factor` where single batches are slow. Do less for each "
                "sample, or do it once and store the result."
                if by_workers
                else "Read the pipe through `DataLoader(…, num_workers=4, persistent_workers=True)`, so that batches "
                "are made beside the steps. Do less for each sample, or do it once and store the result."
            ),
            values={"share": share, "p95_ns": p95, "workers": by_workers},
            rows=rows,
            changes=(beyond(facts, rows, facts.limit("synchronous_dataloader", "hand_over_ns")),),
            evidence=loader_evidence(facts, rows),
            links=(DATA_LOADING,),
            confidence="high" if by_workers and facts.model.has_device_work else "medium",
        ),
    )


def _after_start(facts: Facts, found: Fetches) -> Fetches:
    """Without the batch for which workers were started, where that is what takes long: it is waited for once."""
    if len(found) <= FEWEST:
        return found
    took = facts.duration(found.row)
    first = (found.iterator >= 0) | (np.arange(len(found)) == int(np.argmin(facts.trace.events.start[found.row])))
    usual = median(took[~first]) if (~first).any() else 0.0
    return found.take(~(first & (took > facts.limit("dataloader_restart", "times_median") * usual)))


RULE = Rule("dataloader", "R1", (STEPS, HOST), _find)
