"""Clocks of the ranks of a run, from collectives that end together."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests.rank_sims import Sim, of_job, simulated
from tests.tracegen import Job, simulate_job
from torch_tb_profiler.ranks.reduction import clock_of_run
from torch_tb_profiler.ranks.run.clocks import GroupEnds, RankEnds, fit_clock_lines
from torch_tb_profiler.ranks.summary import RankSummary


def test_clocks_are_found_within_microseconds() -> None:
    sim = Sim(4, 16, steps=10, seed=2)
    ranks = simulated(sim)
    found = clock_of_run(ranks)
    chance = np.random.default_rng(sim.seed)
    chance.normal(0, 0.006, 64)
    offset = np.repeat(chance.uniform(-3e9, 3e9, 8), 8)
    drift = np.repeat(chance.uniform(-20e-6, 20e-6, 8), 8)
    for rank, (mine, head) in enumerate(zip(found.offset_ns, [each.head for each in ranks], strict=True)):
        middle = head.origin_ns + head.last_ns // 2 - 1_700_000_000_000_000_000
        true = (middle - offset[rank]) / (1 + drift[rank]) * (1 + drift[0]) + offset[0]
        assert mine == pytest.approx(true - middle, abs=5_000)
    assert found.components == 1
    assert found.corrected
    alone = clock_of_run([each for each in ranks if each.head.rank not in range(0, 64, 4)][:1] + ranks[4:8])
    assert alone.components == 1


def test_clocks_are_chained_over_ranks_that_meet() -> None:
    """Rank 2 meets rank 1 alone, whose clock is 2 s late; rank 3 meets nobody."""
    late, number, at = [0, 2_000_000_000, 500_000_000], np.arange(9), 1_000_000 * np.arange(9)
    met = [[(0, number)], [(0, number), (1, number)], [(1, number)]]
    ranks = [
        RankEnds("", "", 0, 4_000_000, [GroupEnds(group, which, at + by) for group, which in groups])
        for by, groups in zip(late, met, strict=True)
    ]
    found = fit_clock_lines([*ranks, RankEnds("", "", 0, 0, ())])
    assert found.shift_ns == [0, -2_000_000_000, -500_000_000, None]
    assert (found.corrected, found.components) == (True, 2)
    # fewer than a line needs
    few = [
        msgspec.structs.replace(each, groups=[GroupEnds(of.group, of.number[:3], of.end[:3]) for of in each.groups])
        for each in ranks
    ]
    assert fit_clock_lines(few).shift_ns == [0, None, None]
    assert fit_clock_lines(few, least=1).shift_ns == found.shift_ns[:3]


def test_traces_stand_beside_each_other_by_what_they_ended_together() -> None:
    run = simulate_job(Job(tp=2, dp=8, layers=1, steps=3, drift_ppm=0.0))
    ranks = of_job(run)
    found = clock_of_run(ranks)
    for number, (shift, each) in enumerate(zip(found.shift_ns, ranks, strict=True)):
        apart = run.truth.offset_ns[number] - run.truth.offset_ns[0]
        assert shift == pytest.approx(each.head.origin_ns - ranks[0].head.origin_ns - apart, abs=5_000)
    assert found.corrected


def test_groups_without_a_common_rank_have_no_common_clock() -> None:
    ranks = simulated(Sim(4, 2))
    without = [
        RankSummary(each.head, {**each.tables, type(each.calls): each.calls.take(each.calls.group == 0),
                                type(each.places): each.places.take(each.calls.group == 0)})
        for each in (RankSummary(msgspec.structs.replace(r.head, host=""), r.tables) for r in ranks)
    ]  # fmt: skip
    found = clock_of_run(without)
    assert found.components == 2
    assert [each is None for each in found.offset_ns] == [False] * 4 + [True] * 4
