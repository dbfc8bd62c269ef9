"""The collectives of all ranks in one table."""

from __future__ import annotations

from tests.events import model_of
from tests.tracegen import Job, simulate_job, trace_of
from torch_tb_profiler.ranks.reduction import reduce_run
from torch_tb_profiler.ranks.summary import summarize


def test_all_to_alls_of_unequal_parts_have_no_row_for_each_size() -> None:
    run = simulate_job(Job(dp=4, ep=4, layers=2, steps=2))
    found = reduce_run([summarize(model_of(trace_of(run, rank)["traceEvents"]), f"rank{rank}") for rank in range(4)])
    rows = [row for row in found.collectives if row.kind == "all_to_all"]
    assert {row.bytes for row in rows} == {None}
    assert sum(row.calls for row in rows) == 16
    assert found.overview.moe[0].calls == 16
    assert {fit.kind for fit in found.overview.fits} == {"all_reduce"}
