"""Rules over several ranks: planted faults against the same program without them, and programs without a fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.events import model_of
from tests.rank_programs import Ranks, events_of, mean_step_ns, ranks_of
from torch_tb_profiler.insights import diagnosis as found_of
from torch_tb_profiler.insights.run.facts import RunFinding
from torch_tb_profiler.insights.run.findings import RunDiagnosis, run_diagnosis
from torch_tb_profiler.insights.run.rules import RUN_RULES

HEALTHY = Ranks()


def found(program: Ranks) -> tuple[RunDiagnosis, dict[str, RunFinding]]:
    diagnosis = run_diagnosis(ranks_of(program))
    return diagnosis, {each.id: each for each in diagnosis.findings}


def test_ranks_that_are_alike_have_no_findings() -> None:
    diagnosis, findings = found(HEALTHY)
    assert findings == {}
    assert diagnosis.checked == tuple(rule.id for rule in RUN_RULES)
    assert diagnosis.together_ns is None
    assert (diagnosis.loaded, diagnosis.world, diagnosis.collectives) == (4, 4, 6)
    assert diagnosis.step_ns == pytest.approx(mean_step_ns(HEALTHY))
    assert diagnosis.bound.kind == "compute"
    assert "ranks" not in diagnosis.bound.sentence


@pytest.mark.parametrize(
    ("fault", "place", "name"),
    [
        (replace(HEALTHY, host=lambda rank, step: 700.0 if rank == 2 else 200.0), "operator", "aten::prepare"),
        (replace(HEALTHY, compute=lambda rank, step: 1500.0 if rank == 2 else 1000.0), "kernels", "gemm"),
    ],
)
def test_a_straggler(fault: Ranks, place: str, name: str) -> None:
    diagnosis, findings = found(fault)
    assert set(findings) == {"straggler"}
    straggler = findings["straggler"]
    assert straggler.workers == ("rank2",)
    assert (straggler.values["place"], straggler.values["name"]) == (place, name)
    assert (straggler.values["steps"], straggler.values["of"]) == (6, 6)
    assert straggler.confidence == "high"
    assert straggler.severity == "high"
    assert straggler.saving is not None
    truth = mean_step_ns(fault) - mean_step_ns(HEALTHY)
    assert straggler.saving.alone_ns == pytest.approx(truth, rel=0.02)
    assert diagnosis.together_ns == pytest.approx(truth, rel=0.02)
    assert not straggler.saving.bound
    assert straggler.values["excess_ns"] == pytest.approx(500_000, rel=0.02)
    assert {(each.worker, each.name) for each in straggler.instances} == {("rank2", name)}
    assert len(straggler.instances) == 6
    assert [each.step for each in straggler.instances] == [str(n) for n in range(1, 7)]


def test_the_same_kernels_that_take_longer_are_no_more_work() -> None:
    _, findings = found(replace(HEALTHY, compute=lambda rank, step: 1500.0 if rank == 2 else 1000.0))
    assert findings["straggler"].values["advice"] == "slower"
    assert "nvidia-smi" in findings["straggler"].advice


def test_a_rank_of_which_nothing_was_recorded_while_it_was_late() -> None:
    program = replace(HEALTHY, host=lambda rank, step: 700.0 if rank == 2 else 200.0)
    traces = events_of(program)
    traces[2] = [each for each in traces[2] if each["name"] != "aten::prepare"]
    (straggler,) = run_diagnosis(ranks_of(program, traces)).findings
    assert (straggler.id, straggler.values["place"]) == ("straggler", "unexplained")
    assert "more on time in which nothing was recorded than the median rank" in straggler.detail


def test_lost_launches_do_not_hide_what_bounds_the_run() -> None:
    """What the host costs is refused then, and comes last: it is less than what kernels cost, whatever it is."""
    lost = {number + 2 for number in range(0, 600, 100)}
    traces = [
        [each for each in events if "Launch" not in each["name"] or each["args"]["correlation"] not in lost]
        for events in events_of(HEALTHY)
    ]
    bound = run_diagnosis(ranks_of(HEALTHY, traces)).bound
    assert bound.kind == "compute"
    assert [each.kind for each in bound.reliefs if each.share is not None] == ["compute", "memory"]
    assert bound.reliefs[0].kind == "compute"


def test_a_rank_that_is_late_in_few_steps_is_no_straggler() -> None:
    _, findings = found(replace(HEALTHY, host=lambda rank, step: 400.0 if (rank, step) == (2, 3) else 200.0))
    assert "straggler" not in findings


def test_two_ranks() -> None:
    """There is no deviation between two: a clear difference in nearly all steps, and less confidence."""
    fault = replace(HEALTHY, ranks=2, host=lambda rank, step: 700.0 if rank == 1 else 200.0)
    _, findings = found(fault)
    straggler = findings["straggler"]
    assert (straggler.workers, straggler.confidence) == (("rank1",), "medium")
    assert straggler.saving is not None
    truth = mean_step_ns(fault) - mean_step_ns(replace(HEALTHY, ranks=2))
    assert straggler.saving.alone_ns == pytest.approx(truth, rel=0.02)
    alternating = replace(HEALTHY, ranks=2, host=lambda rank, step: 700.0 if rank == step % 2 else 200.0)
    assert "straggler" not in found(alternating)[1]


def test_waiting_for_a_different_rank_in_each_step() -> None:
    """No rank is late in most steps: nothing is promised, and faster transfers are none of the remedies."""
    program = replace(HEALTHY, host=lambda rank, step: 900.0 if rank == step % 4 else 200.0)
    diagnosis, findings = found(program)
    assert set(findings) == {"waiting"}
    waiting = findings["waiting"]
    assert waiting.saving is not None
    assert waiting.saving.after_others_ns is None
    assert "No rank is late" in (waiting.saving.refused or "")
    # three of four ranks wait 700 µs in each step
    assert waiting.values["wait_ns"] == pytest.approx(525_000, rel=0.02)
    assert waiting.instances[0].duration_ns == pytest.approx(700_000, rel=0.02)
    assert diagnosis.together_ns is None


def test_transfers_that_nothing_hides() -> None:
    program = replace(HEALTHY, transfer=800.0)
    diagnosis, findings = found(program)
    assert set(findings) == {"exposed_transfer"}
    saving = findings["exposed_transfer"].saving
    assert saving is not None
    assert saving.bound
    truth = mean_step_ns(program) - mean_step_ns(replace(program, transfer=0.0))
    assert saving.alone_ns == pytest.approx(truth, rel=0.02)
    assert findings["exposed_transfer"].workers == ()
    assert findings["exposed_transfer"].values["transfer_ns"] == pytest.approx(800_000, rel=0.02)
    assert "Longest: `nccl:all_reduce`" in findings["exposed_transfer"].detail
    assert "communication" in {relief.kind for relief in diagnosis.bound.reliefs[:2]}


def test_ranks_that_are_not_loaded() -> None:
    """What looks like transfer may be waiting for them, and it is said."""
    diagnosis, findings = found(replace(HEALTHY, transfer=2500.0, header_ranks=8))
    assert (diagnosis.loaded, diagnosis.world) == (4, 8)
    assert diagnosis.bound.kind == "communication"
    assert "4 of 8" in diagnosis.bound.sentence
    assert "4 of 8" in findings["exposed_transfer"].detail
    assert findings["exposed_transfer"].confidence == "medium"


def test_a_host_that_goes_on_earlier_saves_no_more_than_devices_do_not_compute() -> None:
    """Nothing recorded orders the products of a step behind the collective of the one before. What bounds the run is
    what bounds each rank: their kernels do not overlap more than they did.
    """
    program = replace(
        HEALTHY,
        ranks=2,
        compute=lambda rank, step: 26_000.0 if rank == 1 else 20_000.0,
        transfer=4_000.0,
        silence=19_000.0,
        stream=20,
    )
    diagnosis, _ = found(program)
    reliefs = {each.kind: each.share or 0.0 for each in diagnosis.bound.reliefs}
    assert max(reliefs[kind] for kind in ("sync", "host", "launch")) <= (4_000 + 10_000) / 2 / 49_000 + 0.02
    ranks = [
        found_of(model_of(events, distributedInfo={"backend": "nccl", "rank": rank, "world_size": 2})).bound.kind
        for rank, events in enumerate(events_of(program))
    ]
    assert [diagnosis.bound.kind, *ranks] == ["compute"] * 3


def test_one_rank_alone_has_no_findings() -> None:
    diagnosis = run_diagnosis(ranks_of(replace(HEALTHY, transfer=2500.0))[:1])
    assert diagnosis.findings == ()
    assert diagnosis.checked == ()
    assert diagnosis.loaded == 1


def test_a_host_with_slow_launches() -> None:
    program = replace(HEALTHY, calls=20, compute=lambda rank, step: 10.0)
    slow = replace(program, call=lambda rank: 25.0 if rank == 1 else 5.0)
    _, findings = found(slow)
    assert findings["slow_host"].workers == ("rank1",)
    saving = findings["slow_host"].saving
    assert saving is not None
    truth = mean_step_ns(slow) - mean_step_ns(program)
    assert saving.alone_ns == pytest.approx(truth, rel=0.05)
    # the late rank is late because of that: it is said once
    assert "straggler" not in findings
    assert "slow_host" not in found(program)[1]


def test_exchanges_of_unequal_size() -> None:
    """One rank gets twice the mean: it is named, with what sharing equally saves at most."""
    even = replace(HEALTHY, collective="alltoallv", transfer=600.0)
    uneven = replace(even, elements=lambda rank, step: 4000 if rank == 3 else 1000)
    _, findings = found(uneven)
    exchanges = findings["uneven_all_to_all"]
    assert exchanges.values["worker"] == "rank3"
    assert exchanges.values["ratio"] == pytest.approx(4000 / 1750, abs=0.06)
    assert exchanges.saving is not None
    assert exchanges.saving.alone_ns == pytest.approx(600_000 * (1 - 1750 / 4000), rel=0.05)
    assert "uneven_all_to_all" not in found(even)[1]
    # an all-reduce of other sizes is another operation
    assert "uneven_all_to_all" not in found(replace(uneven, collective="allreduce"))[1]
