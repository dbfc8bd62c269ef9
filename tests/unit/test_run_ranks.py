"""All ranks of a run reduced: waits, clocks, who is slow and why. Runs are simulated as summaries or as traces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO

import msgspec
import numpy as np
import pytest

from tests.rank_sims import Fault, Sim, of_job, simulated
from tests.tracegen import (
    FewerSteps,
    Job,
    Late,
    Missing,
    MoreTokens,
    SlowGpu,
    SlowInput,
    SlowLink,
    simulate_job,
    trace_of,
)
from tests.tracegen.cluster_run import JobRun
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.reduction import RunResult, reduce_run
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run_questions import heat_map
from torch_tb_profiler.ranks.summary import RankSummary, decode_summary, encode_summary, summarize
from torch_tb_profiler.trace import read_trace

pytestmark = pytest.mark.slow


def named(result: RunResult) -> dict[int | None, tuple[str, str | None]]:
    return {each.rank: (each.cause, each.operator) for each in result.overview.stragglers if each.named}


@pytest.fixture(scope="module")
def healthy() -> tuple[JobRun, list[RankSummary]]:
    run = simulate_job(Job(tp=2, dp=4, pp=2, layers=2, micro=2))
    return run, of_job(run)


# the simulation at the level of summaries ---------------------------------------------------------------------


@pytest.mark.parametrize(("tp", "dp", "seeds"), [(1, 8, 20), (8, 8, 20), (8, 32, 2), (8, 128, 1)])
def test_nobody_is_named_in_a_healthy_run(tp: int, dp: int, seeds: int) -> None:
    for seed in range(seeds):
        found = reduce_run(simulated(Sim(tp, dp, seed=seed))).overview
        assert [each for each in found.stragglers if each.named] == []
        assert list(found.slow_links) == []
        assert found.tiles.lost_ns == 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault((5,), late=7_000_000), ("late_launches", "aten::nonzero")),
        (Fault((5,), late=1_000_000), ("late_launches", "aten::nonzero")),
        (Fault((5,), slow=1.07), ("slow_compute", None)),
        (Fault((5,), tokens=2.0), ("more_work", "expert_kernel")),
        (Fault(tuple(range(8)), input=20_000_000), ("input", None)),
    ],
)
def test_who_is_slow_is_named_with_the_cause_and_nobody_else(
    fault: Fault, why: tuple[str, str | None], seed: int
) -> None:
    assert named(reduce_run(simulated(Sim(4, 8, seed=seed, fault=fault)))) == dict.fromkeys(fault.ranks, why)


def test_a_slow_link_is_the_group_s_and_no_rank_s() -> None:
    found = reduce_run(simulated(Sim(8, 8, fault=Fault((5,), link=3.0)))).overview
    assert [(each.ranks, each.kind) for each in found.slow_links] == [(list(range(8)), "all_reduce")]
    assert found.slow_links[0].ratio == pytest.approx(3, rel=0.1)
    assert named(reduce_run(simulated(Sim(8, 8, fault=Fault((5,), link=3.0))))) == {}


def test_what_a_late_rank_costs_is_the_difference_to_the_run_without_it() -> None:
    late = reduce_run(simulated(Sim(4, 8, fault=Fault((5,), late=7_000_000)))).overview
    without = reduce_run(simulated(Sim(4, 8))).overview
    assert late.tiles.step_ns
    assert without.tiles.step_ns
    saved = late.tiles.step_ns - without.tiles.step_ns
    assert late.tiles.lost_ns == pytest.approx(saved, rel=0.05)
    assert late.stragglers[0].saving_ns == late.tiles.lost_ns


@pytest.mark.parametrize("steps", [1, 2])
def test_with_few_steps_a_late_rank_is_listed_and_not_named(steps: int) -> None:
    found = reduce_run(simulated(Sim(1, 8, steps=steps, fault=Fault((5,), late=7_000_000)))).overview
    assert [(each.rank, each.named, each.doubt) for each in found.stragglers] == [(5, False, "few_steps")]
    assert found.tiles.slowest_worker is None
    assert found.confidence == "low"


@pytest.mark.parametrize("kept", [range(1), range(2), range(3, 30, 4), [5]])
def test_any_part_of_the_ranks_has_an_answer(kept: Sequence[int]) -> None:
    ranks = simulated(Sim(4, 8, fault=Fault((5,), late=7_000_000)))
    found = reduce_run([ranks[rank] for rank in kept]).overview
    assert (found.tiles.present, found.tiles.expected) == (len(kept), 32)
    assert "absent_ranks" in {note.kind for note in found.notes}
    assert set(named(reduce_run([ranks[rank] for rank in kept]))) <= {5}
    if len(kept) == 1:
        assert found.tiles.exposed_wait_ns is None
        assert found.ranks.late_ns == [None], "there is nobody that it could be late against"
        assert found.matched.matched == 0


def test_nobody_is_named_while_ranks_are_read() -> None:
    found = reduce_run(simulated(Sim(1, 8, fault=Fault((5,), late=7_000_000))), loading=["rank9.json"]).overview
    assert [(each.rank, each.doubt) for each in found.stragglers] == [(5, "loading")]
    assert (found.tiles.loading, found.tiles.lost_ns) == (1, None)


@pytest.mark.parametrize("kept", [range(0, 32, 5), range(3, 32, 4), [0, 1, 2, 9, 10, 24]])
def test_no_link_is_slow_because_ranks_are_missing(kept: Sequence[int]) -> None:
    """The shortest duration of some ranks of a group holds waiting for those that are not here."""
    ranks = simulated(Sim(4, 8, fault=Fault((5,), late=7_000_000)))
    assert list(reduce_run([ranks[rank] for rank in kept]).overview.slow_links) == []


def test_the_order_in_which_ranks_come_does_not_count() -> None:
    ranks = simulated(Sim(2, 8, fault=Fault((5,), slow=1.07)))
    one, other = reduce_run(ranks), reduce_run([ranks[at] for at in np.random.default_rng(1).permutation(16)])
    assert msgspec.json.encode(one.overview) == msgspec.json.encode(other.overview)
    assert one.collectives == other.collectives


def test_a_rank_twice_and_a_rank_of_another_job_are_left_out() -> None:
    ranks = simulated(Sim(1, 8))
    twice = msgspec.structs.replace(ranks[3].head, worker="zz")
    foreign = msgspec.structs.replace(ranks[4].head, worker="other", world=64, rank=40)
    more = [RankSummary(twice, ranks[3].tables), RankSummary(foreign, ranks[4].tables)]
    found = reduce_run([*ranks, *more]).overview
    assert list(found.ranks.worker) == [each.head.worker for each in ranks]
    notes = {note.kind: note.values for note in found.notes}
    assert notes["duplicate_ranks"]["names"] == "zz"
    assert notes["foreign_ranks"]["names"] == "other"


def test_ranks_with_another_torch_are_told() -> None:
    ranks = simulated(Sim(1, 8))
    other = msgspec.structs.replace(ranks[3].head, versions={"nccl_version": "2.19"})
    ranks[3] = RankSummary(other, ranks[3].tables)
    (note,) = (note for note in reduce_run(ranks).overview.notes if note.kind == "versions_differ")
    assert note.text == "nccl_version is not the same on all ranks: 2.27 (7), 2.19 (1)."


@pytest.mark.parametrize("sequence", [True, False])
def test_waits_and_transfers_are_those_of_brute_force(sequence: bool) -> None:
    ranks = simulated(Sim(4, 4, seed=3, sequence=sequence))
    if not sequence:  # and one rank has a window of its own
        ranks = ranks[:]
    run = RunData.read(ranks)
    by_key: dict[tuple[object, ...], list[int]] = {}
    for each in ranks:
        nth: dict[str, int] = {}
        for group, duration in zip(each.calls.group.tolist(), each.calls.duration.tolist(), strict=True):
            name = each.head.groups[group].name
            nth[name] = nth.get(name, -1) + 1
            by_key.setdefault((name, nth[name]), []).append(duration)
    shared = [durations for durations in by_key.values() if len(durations) > 1]
    state = run.state
    assert np.count_nonzero(run.is_shared) == len(shared)
    assert sorted(state.shortest[run.is_shared].tolist()) == sorted(map(min, shared))
    assert int(state.total[run.is_shared].sum()) == sum(map(sum, shared))
    overview = reduce_run(ranks).overview
    waits = sum(sum(of) - len(of) * min(of) for of in shared)
    assert sum(group.wait_ns for group in overview.groups) == waits


def test_a_rank_with_more_tokens_by_chance_is_not_named() -> None:
    found = reduce_run(of_job(simulate_job(Job(dp=8, ep=8, layers=2, seed=3)))).overview
    assert [each.rank for each in found.stragglers if each.named] == []


# generated jobs -----------------------------------------------------------------------------------------------

CAUSES = {"late": "late_launches", "compute": "slow_compute", "tokens": "more_work", "input": "input"}


@pytest.mark.parametrize(
    "job",
    [
        Job(tp=2, dp=8, layers=2, faults=(Late(5),)),
        Job(tp=2, dp=8, layers=2, faults=(SlowGpu(5),)),
        Job(tp=2, dp=8, ep=4, layers=2, faults=(MoreTokens(5),)),
        Job(tp=2, dp=16, layers=2, faults=(SlowInput(1),)),
        Job(tp=2, dp=4, pp=2, micro=4, layers=1, faults=(Late(3),)),
        # all ranks of the first stage wait for data
        Job(tp=2, dp=4, pp=2, micro=4, layers=1, faults=(SlowInput(0, 5_000_000),)),
        # half of the ranks are late together
        Job(tp=2, dp=8, layers=2, faults=(SlowInput(0),)),
        # collectives queue on one stream beside the kernels, and one position has most of the step
        Job(dp=16, layers=2, steps=6, seed=3, faults=(SlowGpu(14, 1.2),)),
        Job(dp=8, layers=4, fsdp=True, faults=(SlowGpu(3, 1.1),)),
        # experts have unequal work
        Job(tp=2, dp=8, ep=4, layers=2, seed=2, faults=(SlowGpu(3, 1.1),)),
        Job(dp=8, ep=8, layers=2, seed=3, faults=(Late(7, 4_000_000),)),
        # what experts compute for unequal tokens says less of a GPU than what is the same on all
        Job(tp=2, dp=8, ep=4, layers=2, seed=44, faults=(SlowGpu(3),)),
        Job(dp=8, ep=8, layers=2, seed=43, faults=(SlowGpu(3),)),
    ],
    ids=lambda job: f"{type(job.faults[0]).__name__}-{job.ranks}-{job.pp}-{job.ep}-{job.fsdp}",
)
def test_planted_faults_of_generated_jobs_are_named(job: Job) -> None:
    run = simulate_job(job)
    (truth,) = run.truth.named
    found = named(reduce_run(of_job(run)))
    assert set(found) == set(truth.ranks)
    assert {cause for cause, _ in found.values()} == {CAUSES[truth.cause]}
    if truth.operator:
        assert {operator for _, operator in found.values()} == {truth.operator}


@pytest.mark.parametrize(
    "job",
    [
        Job(tp=2, dp=8, ep=4, layers=2, seed=41, faults=(SlowGpu(3, 1.1), Late(6, 4_000_000))),
        # the late rank has more tokens than most, by chance
        Job(dp=8, ep=8, layers=2, seed=44, faults=(MoreTokens(5), Late(2, 4_000_000))),
    ],
)
def test_two_faults_at_once_are_two_ranks_with_two_causes(job: Job) -> None:
    run = simulate_job(job)
    truth = {rank: CAUSES[each.cause] for each in run.truth.named for rank in each.ranks}
    assert len(truth) == 2
    assert {rank: cause for rank, (cause, _) in named(reduce_run(of_job(run))).items()} == truth


def test_a_stage_that_waits_for_data_costs_what_it_waits() -> None:
    job = Job(tp=2, dp=2, pp=2, micro=4, layers=1)
    slow, good = (simulate_job(replace(job, per_node=4, faults=faults)) for faults in ((SlowInput(0, 8_000_000),), ()))
    found = reduce_run(of_job(slow)).overview
    saved = sum(slow.truth.step_ns[1:]) - sum(good.truth.step_ns[1:])
    assert found.tiles.lost_ns == pytest.approx(saved / (job.steps - 1), rel=0.15)
    assert {each.peers for each in found.stragglers} == {4}


def test_what_a_rank_costs_is_not_known_without_those_that_wait_for_it() -> None:
    ranks = of_job(simulate_job(Job(tp=2, dp=8, layers=2, faults=(Late(3),))))
    few, most = ([*kept] for kept in ((0, 3, 9), (0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15)))
    (alone,) = reduce_run([ranks[rank] for rank in few]).overview.stragglers
    assert (alone.rank, alone.cause, alone.named, alone.saving_ns) == (3, "late_launches", True, None)
    (known,) = reduce_run([ranks[rank] for rank in most]).overview.stragglers
    assert known.saving_ns is not None
    assert known.saving_ns > 5_000_000


def test_two_faults_of_one_job_are_both_named() -> None:
    job = Job(tp=2, dp=8, pp=2, ep=4, micro=4, layers=1, steps=5, faults=(Late(10, 5_000_000), SlowGpu(5, 1.1)))
    found = reduce_run(of_job(simulate_job(job)))
    assert named(found) == {10: ("late_launches", "aten::nonzero"), 5: ("slow_compute", None)}


def test_one_slow_kernel_is_no_slow_gpu() -> None:
    run = simulate_job(Job(tp=2, dp=8, layers=2))
    for at, each in enumerate(run.records[5]):
        if each.kind == "kernel" and "flash_bwd" in each.name:
            run.records[5][at] = replace(each, end=each.end + (each.end - each.start) // 2)
    assert named(reduce_run(of_job(run))) == {5: ("slow_operator", "aten::_flash_attention_backward")}


def test_nobody_is_named_in_a_generated_job(healthy: tuple[JobRun, list[RankSummary]]) -> None:
    found = reduce_run(healthy[1]).overview
    assert [each for each in found.stragglers if each.named] == []
    assert found.confidence == "high"
    layout = {each.role: (each.size, each.groups, each.stride) for each in found.layout.dimensions}
    assert layout == {"tp": (2, 8, 1), "dp": (4, 4, 2), "pp": (2, 8, 8)}
    assert (found.layout.world, found.layout.nodes, found.layout.confidence) == (16, 2, "high")
    assert found.pipeline is not None
    assert [(stage.stage, stage.ranks) for stage in found.pipeline.stages] == [(0, 8), (1, 8)]
    assert all(0 < stage.bubble < 1 and stage.spans for stage in found.pipeline.stages)
    for stage in found.pipeline.stages:
        events = trace_of(healthy[0], int(stage.worker[4:]))["traceEvents"]
        leads = {events[span.row]["args"].get("Collective name") for span in stage.spans if span.row is not None}
        assert "recv" in leads <= {"send", "recv", "allreduce"}
        waits = sum(span.end_ns - span.start_ns for span in stage.spans if span.kind == "wait")
        assert waits == pytest.approx(stage.bubble_ns, rel=0.2)
        # the last work of a step leads nowhere
        assert [span.kind for span in stage.spans if span.row is None] in ([], ["work"])


def test_every_collective_of_a_generated_job_is_matched(healthy: tuple[JobRun, list[RankSummary]]) -> None:
    run, ranks = healthy
    recorded = [each for each in run.truth.collectives if len(each.spans) > 1]
    found = reduce_run(ranks).overview
    assert found.matched.matched == len(recorded)
    assert found.matched.unmatched == 0


def test_a_slow_link_of_a_generated_job() -> None:
    run = simulate_job(Job(tp=2, dp=8, layers=2, faults=(SlowLink((2, 3)),)))
    found = reduce_run(of_job(run)).overview
    assert [each.pair for each in found.slow_links] == [(2, 3)]
    assert [(each.rank, each.cause, each.operator) for each in found.stragglers if each.named] == [
        (2, "network", "all_reduce"),
        (3, "network", "all_reduce"),
    ]


@pytest.mark.parametrize("micro", [1, 4])
def test_bubbles_of_a_pipeline_are_those_of_its_schedule(micro: int) -> None:
    """Without other faults each of p stages is idle for p − 1 of the m + p − 1 times that m micro batches take."""
    found = reduce_run(of_job(simulate_job(Job(dp=2, pp=4, micro=micro, layers=1, steps=3)))).overview.pipeline
    assert found is not None
    assert [stage.bubble for stage in found.stages] == pytest.approx([3 / (micro + 3)] * 4, abs=0.03)


def test_a_missing_collective_is_told_with_its_rank_group_and_number() -> None:
    ranks = of_job(simulate_job(Job(tp=2, dp=4, layers=2, faults=(Missing(2, 11),))))
    (found,) = reduce_run(ranks).overview.missing
    assert (found.step, list(found.ranks), found.having, found.exact, found.stops) == ("11", [2], 1, True, False)
    assert found.sequence is not None


def test_a_missing_collective_without_numbers_is_one_of_several() -> None:
    ranks = of_job(simulate_job(Job(tp=2, dp=4, layers=2, numbers="", faults=(Missing(2, 11),))))
    found = reduce_run(ranks).overview
    assert {(each.step, tuple(each.ranks), each.exact) for each in found.missing} == {("11", (2,), False)}
    assert "matched_by_order" in {note.kind for note in found.notes}


def test_a_rank_with_fewer_steps_is_compared_in_those_it_has() -> None:
    ranks = of_job(simulate_job(Job(tp=2, dp=4, layers=2, faults=(FewerSteps(1, 2),))))
    found = reduce_run(ranks).overview
    assert found.tiles.steps == 2
    assert list(found.missing) == []
    assert [each for each in found.stragglers if each.named] == []
    assert "unequal_steps" in {note.kind for note in found.notes}
    heat = heat_map(reduce_run(ranks), "step_ns")
    assert (heat.ranks, heat.steps) == (8, 4)
    assert heat.values[4:6] == [None, None]


def test_experts_and_shards_have_tables_of_their_own() -> None:
    run = simulate_job(Job(dp=8, ep=4, layers=2, faults=(MoreTokens(5),)))
    moe = reduce_run(of_job(run)).overview.moe
    (most,) = (each for each in moe if each.rank == 5 and each.worst > 1.3)
    assert most.worker == "rank5"
    assert trace_of(run, 5)["traceEvents"][most.row]["args"]["Collective name"].startswith("all_to_all")
    ahead, late = (
        reduce_run(of_job(simulate_job(Job(dp=8, layers=4, fsdp=True, prefetch=prefetch)))).overview.fsdp[0]
        for prefetch in (True, False)
    )
    assert (ahead.gathers, ahead.scatters, ahead.reshards) == (8, 4, True)
    assert late.gathers == ahead.gathers
    assert late.worker.startswith("rank")
    assert late.row is not None


# what is kept -------------------------------------------------------------------------------------------------


def test_a_summary_is_the_same_after_it_was_kept(healthy: tuple[JobRun, list[RankSummary]]) -> None:
    for each in healthy[1][:3]:
        again = decode_summary(encode_summary(each))
        assert again.head == each.head
        for kind, table in each.tables.items():
            for name, values in table.columns().items():
                assert np.array_equal(getattr(again.tables[kind], name), values), name
    kept = [decode_summary(encode_summary(each)) for each in healthy[1]]
    assert msgspec.json.encode(reduce_run(kept).overview) == msgspec.json.encode(reduce_run(healthy[1]).overview)


def test_summaries_that_are_not_kept_in_memory_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = simulated(Sim(2, 8, fault=Fault((5,), late=7_000_000)))
    before = reduce_run(ranks)
    monkeypatch.setattr("torch_tb_profiler.ranks.run.data.KEPT_ROWS", 0)
    assert msgspec.json.encode(reduce_run(ranks).overview) == msgspec.json.encode(before.overview)


def test_many_ranks_without_numbers_are_compared_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    run = simulate_job(Job(tp=2, dp=4, layers=2, numbers="", faults=(Missing(2, 11),)))
    ranks = of_job(run)
    together = reduce_run(ranks).overview
    monkeypatch.setattr("torch_tb_profiler.ranks.run.data.MOST_COMPARED_AT_ONCE", 0)
    found = reduce_run(ranks).overview
    assert {tuple(each.ranks) for each in found.missing} == {(2,)}
    assert found.matched.matched >= together.matched.matched


def test_what_reading_lost_is_kept_with_the_rank() -> None:
    trace = trace_of(simulate_job(Job(dp=2, layers=1, steps=2)), 0)
    text = json.dumps(trace).encode()
    whole, cut = (
        summarize(Model(read_trace(BytesIO(of))), "rank0").head.damage for of in (text, text[: len(text) // 2])
    )
    assert (whole, cut) == ((), ("truncated",))
