"""The generator of jobs of many ranks: what it says of itself is true of what it writes."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.events import model_of
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
    write_job,
)
from tests.tracegen.cluster import Record
from tests.tracegen.cluster_run import JobRun
from tests.tracegen.job import Fault

MIXED = Job(tp=2, dp=4, pp=2, ep=2, micro=2, layers=1, steps=2)


def computing(run: JobRun, rank: int, name: str = "") -> int:
    return sum(each.end - each.start for each in run.records[rank] if each.kind == "kernel" and name in each.name)


def collectives(run: JobRun, rank: int) -> list[Record]:
    return [each for each in run.records[rank] if each.meeting]


def test_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    job = Job(tp=2, dp=2, steps=1, layers=1)
    for name in ("a", "b"):
        write_job(job, tmp_path / name)
    first, second = ([path.read_bytes() for path in sorted((tmp_path / name).iterdir())] for name in ("a", "b"))
    assert len(first) == 4
    assert first == second
    with gzip.open(next((tmp_path / "a").iterdir())) as file:
        assert json.load(file)["distributedInfo"]["world_size"] == 4


@pytest.mark.parametrize(
    "job", [Job(), MIXED, Job(fsdp=True), Job(fsdp=True, prefetch=False), Job(tp=2, dp=1, pp=4, micro=8, layers=2)]
)
def test_all_ranks_meet_and_operations_of_a_stream_follow_each_other(job: Job) -> None:
    run = simulate_job(replace(job, steps=2))
    for each in run.truth.collectives:
        starts, ends = zip(*each.spans.values(), strict=True)
        assert max(starts) < min(ends)
        # the ranks leave within microseconds of each other, whenever they came
        assert max(ends) - min(ends) < 20_000
    for rank in range(job.ranks):
        lanes: dict[tuple[int, bool], int] = {}
        for work in sorted((each for each in run.records[rank] if each.call[1]), key=lambda each: each.start):
            lane = (work.stream, work.name == "send")
            assert work.start >= lanes.get(lane, 0)
            assert work.start > work.call[0]
            lanes[lane] = work.end


def test_groups_are_numbered_once_and_share_the_ranks() -> None:
    job = Job(tp=2, dp=4, pp=2, ep=2)
    found: dict[str, set[tuple[int, ...]]] = {}
    for rank in range(job.ranks):
        for group in job.groups_of(rank).values():
            assert rank in group.ranks
            found.setdefault(group.name, set()).add(group.ranks)
    assert all(len(ranks) == 1 for ranks in found.values())
    assert len(found) == 1 + 8 + 4 + 8 + 8


def test_clocks_are_of_the_node_and_within_their_bounds() -> None:
    run = simulate_job(Job(dp=16, steps=1, layers=1))
    offsets, drifts = run.truth.offset_ns, run.truth.drift
    assert len(set(offsets[:8])) == len(set(offsets[8:])) == 1
    assert offsets[0] != offsets[8]
    assert all(abs(at) <= 3_000_000_000 for at in offsets)
    assert all(abs(at) <= 20e-6 for at in drifts)
    first, second = (min(e["ts"] for e in trace_of(run, rank)["traceEvents"]) for rank in (0, 8))
    assert round((first - second) * 1000) == pytest.approx(offsets[0] - offsets[8], abs=1000)


@pytest.mark.parametrize(
    "fault",
    [Late(3), SlowGpu(3), SlowLink((2, 3)), MoreTokens(3), SlowInput(0), Missing(3, 11), FewerSteps(3)],
    ids=lambda fault: type(fault).__name__,
)
def test_a_fault_does_what_it_says_and_nothing_else(fault: Fault) -> None:
    healthy, run = simulate_job(MIXED), simulate_job(replace(MIXED, faults=(fault,)))
    assert not healthy.truth.named
    slower = [b - a for a, b in zip(healthy.truth.step_ns, run.truth.step_ns, strict=True)]
    ratio = [computing(run, rank) / computing(healthy, rank) for rank in range(MIXED.ranks)]
    if isinstance(fault, Missing | FewerSteps):
        assert slower == [0, 0]
        assert not run.truth.named
        lost = len(collectives(healthy, 3)) - len(collectives(run, 3))
        assert lost == (1 if isinstance(fault, Missing) else len(collectives(healthy, 3)) // 2)
        return
    (named,) = run.truth.named
    assert min(slower) > 0
    if isinstance(fault, SlowGpu):
        assert ratio[3] == pytest.approx(1.07, abs=1e-3)
        ratio.pop(3)
    if isinstance(fault, MoreTokens):
        experts = [computing(run, rank, "gemm") / computing(healthy, rank, "gemm") for rank in range(MIXED.ranks)]
        assert experts[3] == pytest.approx(2, abs=0.01)
        ratio.pop(3)
    assert ratio == pytest.approx([1.0] * len(ratio), abs=1e-3)
    if isinstance(fault, SlowInput):
        assert named.ranks == tuple(range(8))


def test_the_package_reads_what_torch_would_have_written() -> None:
    run = simulate_job(replace(MIXED, numbers="ids"))
    model = model_of(trace_of(run, 9)["traceEvents"])
    assert list(model.steps.names) == ["10", "11"]
    found = model.communications
    mine = collectives(run, 9)
    assert len(found) == len(mine)
    durations = sorted(each.end - each.start for each in mine)
    assert sorted(found.duration.tolist()) == pytest.approx(durations, rel=20e-6, abs=5)
