"""Input data: loaded while the steps wait, by worker processes that do not keep up, or that are started too often."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.arrays.lookup import LaneIndex
from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import FRAMES, HOST, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.loading import (
    FEWEST,
    LOADING,
    Fetches,
    batch_evidence,
    beyond,
    fetches_of,
    launch_inside,
    loader_evidence,
    outermost,
    own_code_within,
)
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.model import DATALOADER_NAME


@rule("R1", STEPS, HOST)
def dataloader(facts: Facts) -> Iterator[Found]:
    """Worker processes of a DataLoader do not keep up with the steps."""
    found = fetches_of(facts)
    late = _after_start(facts, found.take(~found.synchronous))
    rows = facts.longest_first(late.row)
    share = facts.share(int(facts.duration(rows).sum()))
    if not len(rows) or share <= facts.limit("dataloader", "least_share"):
        return
    by_workers = bool(late.workers.any())
    yield Found(
        values={"share": share, "p95_ns": percentile(facts.duration(rows), 95), "workers": by_workers},
        rows=rows,
        changes=(beyond(facts, rows, facts.limit("synchronous_dataloader", "hand_over_ns")),),
        evidence=loader_evidence(facts, rows),
        links=(link("data_loading"),),
        confidence="high" if by_workers and facts.model.has_device_work else "medium",
    )


def _after_start(facts: Facts, found: Fetches) -> Fetches:
    """Without the batch for which workers were started, where that is what takes long: it is waited for once."""
    if len(found) <= FEWEST:
        return found
    took = facts.duration(found.row)
    first = (found.iterator >= 0) | (np.arange(len(found)) == int(np.argmin(facts.trace.events.start[found.row])))
    usual = median(took[~first]) if (~first).any() else 0.0
    return found.take(~(first & (took > facts.limit("dataloader_restart", "times_median") * usual)))


@rule("R1", STEPS, HOST)
def input_annotation(facts: Facts) -> Iterator[Found]:
    """Find a range that the program calls the loading of its data, outside of a DataLoader, and that takes part of the
    steps.
    """
    model = facts.model
    rows = outermost(model, model.annotation_rows(LOADING.search))
    rows = rows[(facts.step_of(rows) >= 0) & (facts.trace.events.track[rows] == main_lane(model))]
    rows = facts.longest_first(rows[~_around_loader(model, rows)]) if len(rows) else rows
    took = facts.duration(rows)
    share = facts.share(float(took.sum()))
    hand_over = facts.limit("synchronous_dataloader", "hand_over_ns")
    if not len(rows) or share < facts.limit("input_annotation", "least_share"):
        return
    usual = median(took)
    if (
        usual < facts.limit("synchronous_dataloader", "least_times_hand_over") * hand_over
        or launch_inside(facts, rows).any()
    ):
        return
    own = own_code_within(facts, rows)
    yield Found(
        values={
            "share": share,
            "name": str(facts.trace.strings[facts.trace.events.name[rows[0]]]),
            "batch_ns": usual,
        },
        rows=rows,
        changes=(beyond(facts, rows, hand_over),),
        place_rows=own if len(own) else rows,
        evidence=(
            evidence("loading_per_step", float(took.sum()) / facts.steps, "ns", "overview"),
            *batch_evidence(facts, rows),
        ),
        links=(link("tuning_data_loading"),),
        confidence="medium",
    )


def _around_loader(model: Model, rows: Int32) -> Bool:
    """Mark ranges with a range of torch's own loader inside, which is more precise."""
    events = model.trace.events
    loader = model.annotation_rows(DATALOADER_NAME.search)
    begun = LaneIndex(events.track[loader], events.start[loader])
    found: Bool = begun.between(events.track[rows], events.start[rows], events.end[rows]) > 0
    return found


#: workers surely help if a batch takes this many times as long as its hand-over by a worker
_SURE = 4


@rule("R2", STEPS, HOST)
def synchronous_dataloader(facts: Facts) -> Iterator[Found]:
    """Find a main process that makes its batches itself, while the steps wait."""
    found = fetches_of(facts)
    rows = facts.longest_first(found.take(found.synchronous).row)
    took = facts.duration(rows)
    hand_over = facts.limit("synchronous_dataloader", "hand_over_ns")
    share = facts.share(float(took.sum()))
    if not len(rows) or share < facts.limit("synchronous_dataloader", "least_share"):
        return
    usual = median(took)
    if usual < facts.limit("synchronous_dataloader", "least_times_hand_over") * hand_over:
        return
    if len(rows) < FEWEST and took.max() > facts.limit("synchronous_dataloader", "most_times_fastest") * took.min():
        return  # what is slow once, and seldom seen, is a beginning
    on_device = 2 * int(np.count_nonzero(launch_inside(facts, rows))) > len(rows)
    own = own_code_within(facts, rows)
    yield Found(
        values={
            "share": share,
            "batch_ns": usual,
            "device": facts.model.has_device_work,
            "training": facts.is_training,
            "on_device": on_device,
        },
        rows=rows,
        changes=(beyond(facts, rows, hand_over),),
        place_rows=own if len(own) else rows,
        evidence=loader_evidence(facts, rows),
        links=(link("data_loading"),),
        confidence="medium" if on_device or usual < _SURE * hand_over else "high",
    )


@rule("R3", STEPS, HOST, replaces=("dataloader",))
def worker_stalls(facts: Facts) -> Iterator[Found]:
    """Every k-th batch comes late: k worker processes finish together, and all begin again."""
    fetches = fetches_of(facts)
    fetches = fetches.take(fetches.workers)
    fetches = (
        fetches.take(facts.trace.events.track[fetches.row] == _main_track(facts, fetches)) if len(fetches) else fetches
    )
    if len(fetches) < facts.limit("worker_stalls", "fewest_batches"):
        return
    took = facts.duration(fetches.row)
    slow = _slow(facts, took)
    period = _period(facts, np.flatnonzero(slow))
    # the first batch of an iterator is another matter, and so is one of several that are fetched at once
    if period is None or bool((slow & ((fetches.iterator >= 0) | fetches.alone))[1:].any()):
        return
    usual, stall = median(took[~slow]), median(took[slow])
    excess = float((took[slow] - usual).sum())
    # else the others are late, too, only less so: the workers do not keep up, whatever the rhythm
    explained = excess >= facts.limit("worker_stalls", "least_explained") * float(took.sum())
    between = percentile(took[~slow], 90)
    if not explained or between * facts.limit("worker_stalls", "times_median") > stall:
        return
    if facts.share(excess) < facts.limit("worker_stalls", "least_share"):
        return
    rows = facts.longest_first(fetches.row[slow])
    yield Found(
        values={"period": period, "stall_ns": stall, "usual_ns": usual},
        rows=rows,
        changes=(beyond(facts, rows, usual),),
        evidence=(
            *loader_evidence(facts, facts.longest_first(fetches.row)),
            evidence("stall_period", float(period), "count", "trace"),
            evidence("stalls", float(len(rows)), "count", "trace"),
        ),
        links=(link("data_loading"),),
        confidence="medium",
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


@rule("R4", STEPS, HOST, FRAMES)
def dataloader_restart(facts: Facts) -> Iterator[Found]:
    """Worker processes are started again for every epoch."""
    fetches = fetches_of(facts)
    fetches = fetches.take(fetches.workers)
    took = facts.duration(fetches.row)
    first = fetches.iterator >= 0
    if not first.any() or np.count_nonzero(~first) < FEWEST:
        return
    usual = median(took[~first])
    slow = first & (took > facts.limit("dataloader_restart", "times_median") * usual)
    if not slow.any():
        return
    rows, frames = facts.longest_first(fetches.row[slow]), fetches.iterator[slow]
    cost = float(took[slow].sum() - usual * np.count_nonzero(slow) + facts.duration(frames).sum())
    cost_of_one = cost / len(rows)
    if facts.share(cost) < facts.limit("dataloader_restart", "least_share"):
        return
    yield Found(
        values={"each_ns": cost_of_one, "times": len(rows), "steps": facts.steps},
        rows=rows,
        changes=(beyond(facts, rows, usual), free(rows=frames)),
        place_rows=frames,
        evidence=(
            evidence("restart_cost", cost_of_one, "ns", "trace"),
            evidence("restarts", float(len(rows)), "count", "trace"),
            evidence("batch_p50", usual, "ns", "trace"),
        ),
        links=(link("dataloader_arguments"),),
        confidence="medium",
    )
