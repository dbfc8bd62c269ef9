"""What a step would save without a slow rank, against the same job without the fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.events import model_of
from tests.tracegen import Job, Late, SlowGpu, simulate_job, trace_of
from tests.tracegen.job import Fault
from torch_tb_profiler.ranks.reduction import reduce_run
from torch_tb_profiler.ranks.summary import RankSummary, summarize

pytestmark = pytest.mark.slow


def saved_ns(job: Job) -> tuple[int, float]:
    """What the replay says a step loses, and what it does."""
    run, healthy = simulate_job(job), simulate_job(replace(job, faults=()))
    lost = (sum(run.truth.step_ns) - sum(healthy.truth.step_ns)) / job.steps
    found = reduce_run([summary_of(trace_of(run, rank), f"rank{rank}") for rank in range(job.ranks)])
    assert found.overview.tiles.lost_ns is not None
    return found.overview.tiles.lost_ns, lost


def summary_of(trace: dict[str, object], worker: str) -> RankSummary:
    events = trace.pop("traceEvents")
    assert isinstance(events, list)
    return summarize(model_of(events, **trace), worker)


@pytest.mark.parametrize("fault", [Late(2), SlowGpu(6, 1.15)], ids=lambda fault: type(fault).__name__)
def test_stages_whose_sends_do_not_block(fault: Fault) -> None:
    """Their orders contradict each other: the sender goes on, and no wait is taken for a gain."""
    found, lost = saved_ns(Job(dp=4, pp=4, micro=8, layers=1, faults=(fault,)))
    assert 0.6 * lost < found < 1.1 * lost


def test_one_group() -> None:
    found, lost = saved_ns(Job(tp=2, layers=2, faults=(Late(3),)))
    assert found == pytest.approx(lost, rel=0.1)


def listed(*faults: Fault) -> list[tuple[str, str, bool]]:
    run = simulate_job(Job(dp=2, layers=2, faults=faults))
    found = reduce_run([summary_of(trace_of(run, rank), f"rank{rank}") for rank in range(2)])
    return [(each.worker, each.doubt, each.named) for each in found.overview.stragglers]


def test_of_two_ranks_the_slower_is_listed_and_not_named() -> None:
    assert listed(Late(1)) == [("rank1", "few_peers", False)]
    assert listed() == []
