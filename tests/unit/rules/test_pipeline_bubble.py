"""Pipelines: what filling and draining them costs, stages that are unlike, and what is really saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.events import Event, annotation, event, kernel, launch, model_of
from tests.tracegen import Job, SlowGpu, simulate_job, trace_of
from torch_tb_profiler.insights.run.facts import RunFinding, run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis


@dataclass(frozen=True)
class Pipeline:
    """All forward passes of the microbatches, then all backward passes, of twice the length (GPipe). Times are µs.

    forward       of a microbatch on each stage
    microbatches  in a step
    reduced       all ranks exchange something at the end of a step, and wait for one another
    named         the program names microbatches
    group         what the process group is for
    """

    forward: tuple[float, ...] = (400.0,) * 4
    microbatches: int = 4
    reduced: bool = False
    named: bool = True
    group: str = "default_pg"
    steps: int = 5


class Machine:
    """Stages with a stream each; the host is ahead of it. free, host: when each is done, µs."""

    def __init__(self, stages: int, group: str) -> None:
        self.group = group
        self.events: list[list[Event]] = [[] for _ in range(stages)]
        self.free = [0.0] * stages
        self.host = [0.0] * stages
        self.number = 0

    def run(self, stage: int, name: str, length: float, **args: Any) -> None:
        self.number += 1
        begin = self.begins(stage)
        self.events[stage] += [
            launch(self.host[stage], self.number, 2),
            kernel(begin, length, self.number, name, **args),
        ]
        self.free[stage], self.host[stage] = begin + length, self.host[stage] + 4

    def receive(self, stage: int, ready: float) -> None:
        wait = max(ready - self.begins(stage), 0) + 1
        self.run(stage, "ncclDevKernel_SendRecv", wait, **collective_of("recv", len(self.free), self.group))

    def begins(self, stage: int) -> float:
        return max(self.free[stage], self.host[stage] + 8)

    def synchronize(self, stage: int) -> float:
        self.number += 1
        at = self.host[stage] + 4
        end = self.free[stage] + 3
        self.events[stage].append(event("cuda_runtime", "cudaDeviceSynchronize", at, end - at, correlation=self.number))
        return end


def events_of(program: Pipeline) -> tuple[list[list[Event]], float]:
    """The events of each stage, and the mean of the steps, ns."""
    size, m = len(program.forward), program.microbatches
    machine = Machine(size, program.group)
    begin = [0.0] * size
    for step in range(program.steps):
        machine.host = [at + 5 for at in begin]
        done: dict[tuple[str, int, int], float] = {}
        for what, order in (("Forward", range(size)), ("Backward", range(size - 1, -1, -1))):
            for stage in order:
                before = stage - 1 if what == "Forward" else stage + 1
                for microbatch in range(m):
                    called = machine.host[stage]
                    if 0 <= before < size:
                        machine.receive(stage, done[what, before, microbatch])
                    machine.run(stage, "gemm", program.forward[stage] * (1 if what == "Forward" else 2))
                    done[what, stage, microbatch] = machine.free[stage]
                    if program.named:
                        length = machine.host[stage] - called
                        machine.events[stage].append(annotation(f"{what} {microbatch}", called - 1, length))
        if program.reduced:
            end = max(machine.free) + 20
            for stage in range(size):
                length = end - machine.begins(stage)
                machine.run(stage, "ncclDevKernel_AllReduce", length, **collective_of("allreduce", size))
        for stage in range(size):
            end = machine.synchronize(stage) + 5
            machine.events[stage].append(annotation(f"ProfilerStep#{step + 1}", begin[stage], end - begin[stage]))
            begin[stage] = end
    return machine.events, 1000 * max(begin) / program.steps


def collective_of(name: str, size: int, group: str = "default_pg") -> dict[str, Any]:
    return {
        "Collective name": name,
        "dtype": "Float",
        "In msg nelems": 1000,
        "Out msg nelems": 1000,
        "Group size": size,
        "Process Group Name": "0" if group == "default_pg" else "1",
        "Process Group Description": group,
        "Process Group Ranks": str(list(range(size))),
    }


def found_in(program: Pipeline) -> dict[str, RunFinding]:
    events, _ = events_of(program)
    ranks = [
        run_rank(
            model_of(each, distributedInfo={"backend": "nccl", "rank": rank, "world_size": len(events)}), f"rank{rank}"
        )
        for rank, each in enumerate(events)
    ]
    return {each.id: each for each in run_diagnosis(ranks).findings}


def saved(faulty: Pipeline, healthy: Pipeline) -> float:
    return events_of(faulty)[1] - events_of(healthy)[1]


@pytest.mark.parametrize("reduced", [False, True])
def test_few_microbatches(reduced: bool) -> None:
    """3 of 7 slots are empty; with twice as many microbatches of half the length 3 of 11 are."""
    few = Pipeline(reduced=reduced)
    found = found_in(few)
    finding = found["pipeline_bubble"]
    assert (finding.values["stages"], finding.values["microbatches"]) == (4, 4)
    assert finding.values["share"] == pytest.approx(3 / 7, abs=0.02)
    assert not finding.values["uneven"]
    assert "twice as many microbatches" in finding.advice
    assert finding.saving is not None
    more = Pipeline((200.0,) * 4, 8, reduced)
    assert finding.saving.alone_ns == pytest.approx(saved(few, more), rel=0.1)
    assert "exposed_transfer" not in found


def test_unlike_stages() -> None:
    """One stage takes three times as long as the others: with many microbatches it sets the pace."""
    uneven = Pipeline((100.0, 100.0, 300.0, 100.0), 24)
    finding = found_in(uneven)["pipeline_bubble"]
    assert finding.values["uneven"]
    assert "same work" in finding.advice
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(uneven, Pipeline((150.0,) * 4, 24)), rel=0.1)


def test_many_microbatches_or_names_that_are_missing() -> None:
    assert "pipeline_bubble" not in found_in(Pipeline((100.0,) * 4, 32))
    assert "pipeline_bubble" not in found_in(Pipeline(named=False))


@pytest.mark.parametrize("reduced", [False, True])
def test_a_group_that_is_called_pipeline(reduced: bool) -> None:
    """As of Megatron: how long stages wait is known, what filling and draining takes is not."""
    found = found_in(Pipeline(reduced=reduced, named=False, group="PIPELINE_MODEL_PARALLEL_GROUP"))
    finding = found["pipeline_bubble"]
    assert finding.values["stages"] == 4
    assert finding.values["share"] == pytest.approx(3 / 7, abs=0.02)
    assert finding.saving is not None
    assert (finding.saving.refused_id, finding.saving.alone_ns) == ("microbatches_unnamed", None)
    assert "more microbatches" in finding.advice
    assert len(finding.instances) >= 5
    assert "waiting" not in found
    assert "pipeline_bubble" not in found_in(Pipeline(named=False, group="CONTEXT_PARALLEL_GROUP"))


@pytest.mark.slow
def test_a_slow_rank_of_a_pipeline_is_named_by_its_own_time() -> None:
    """Stages wait for one another, whoever is slow: waiting alone names nobody."""
    run = simulate_job(Job(dp=4, pp=4, micro=8, layers=1, faults=(SlowGpu(5, 1.1),)))
    traces = [trace_of(run, rank) for rank in range(16)]
    ranks = [run_rank(model_of(each.pop("traceEvents"), **each), f"rank{at}") for at, each in enumerate(traces)]
    found = {each.id: each for each in run_diagnosis(ranks).findings}
    assert found["straggler"].workers == ("rank5",)
    assert found["straggler"].saving is not None
    assert (found["straggler"].saving.alone_ns or 0) > 1e6
