"""Every k-th batch comes late: k worker processes finish together, and all begin anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.loading import DATA_LOADING, Fetches, beyond, fetches_of, loader_evidence
from torch_tb_profiler.insights.shared.wording import ms


def _find(facts: Facts) -> Sequence[Found]:
    found = fetches_of(facts)
    found = found.take(found.workers)
    found = found.take(facts.trace.events.track[found.row] == _main_track(facts, found)) if len(found) else found
    if len(found) < facts.limit("worker_stalls", "fewest_batches"):
        return ()
    took = facts.duration(found.row)
    slow = _slow(facts, took)
    period = _period(facts, np.flatnonzero(slow))
    # the first batch of an iterator is another matter, and so is one of several that are fetched at once
    if period is None or bool((slow & ((found.iterator >= 0) | found.alone))[1:].any()):
        return ()
    usual, stall = median(took[~slow]), median(took[slow])
    excess = float((took[slow] - usual).sum())
    # else the others are late, too, only less so: the workers do not keep up, whatever the rhythm
    explained = excess >= facts.limit("worker_stalls", "least_explained") * float(took.sum())
    between = percentile(took[~slow], 90)
    if not explained or between * facts.limit("worker_stalls", "times_median") > stall:
        return ()
    if facts.share(excess) < facts.limit("worker_stalls", "least_share"):
        return ()
    rows = facts.longest_first(found.row[slow])
    return (
        Found(
            title="Worker processes deliver batches in bursts",
            detail=(
                f"One batch in {period} takes {ms(stall)}, the others {ms(usual)}: {period} workers finish "
                "together, and the steps use up their batches before the next ones are ready."
            ),
            advice=(
                f"Raise `num_workers` above {period} where processor cores are free, or do less for each sample. A "
                "larger `prefetch_factor` alone does not make batches sooner."
            ),
            values={"period": period, "stall_ns": stall, "usual_ns": usual},
            rows=rows,
            changes=(beyond(facts, rows, usual),),
            evidence=(
                *loader_evidence(facts, facts.longest_first(found.row)),
                Evidence("stall_period", "Batches from one stall to the next", float(period), "count", "trace"),
                Evidence("stalls", "Stalls", float(len(rows)), "count", "trace"),
            ),
            links=(DATA_LOADING,),
            confidence="medium",
        ),
    )


def _main_track(facts: Facts, found: Fetches) -> int:
    return int(np.bincount(facts.trace.events.track[found.row]).argmax())


def _slow(facts: Facts, took: Int64) -> Bool:
    """Batches that take far longer than the others."""
    usual = median(took)
    times, least = facts.limit("worker_stalls", "times_median"), facts.limit("worker_stalls", "least_stall_ns")
    return took > max(times * usual, least)


def _period(facts: Facts, slow: Int64) -> int | None:
    """After how many batches the next slow one comes, where that is nearly always the same."""
    if len(slow) < facts.limit("worker_stalls", "fewest_stalls"):
        return None
    apart = np.diff(slow)
    period = int(np.bincount(apart).argmax())
    regular = int(np.count_nonzero(apart == period))
    if period < 2 or period > facts.limit("worker_stalls", "most_workers"):
        return None
    return period if regular >= facts.limit("worker_stalls", "least_regular") * len(apart) else None


RULE = Rule("worker_stalls", "R3", (STEPS, HOST), _find, replaces=("dataloader",))
