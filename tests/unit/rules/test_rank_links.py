"""Rules about the links between ranks: programs with a slow link, the same without, and what is really saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.events import Event, annotation, event, kernel, launch, model_of
from torch_tb_profiler.insights.run.facts import RunFinding, RunRank, run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis

#: FP32 elements of 20 MB
LARGE = 5_000_000


@dataclass(frozen=True)
class Pairs:
    """Pairs of ranks of one host: a kernel of 1 ms, an all-reduce of the pair, then one of all ranks. Times are µs.

    pair      of each pair its transfer
    whole     the transfer of all ranks
    elements  that the pairs send
    hosts     ranks of each host
    """

    pair: tuple[float, ...]
    whole: float = 100.0
    elements: int = LARGE
    hosts: int = 64
    steps: int = 4


def events_of(program: Pairs) -> tuple[list[list[Event]], float]:
    """The events of each rank, and the mean of their steps, ns. One rank of each pair is 50 µs late."""
    size = 2 * len(program.pair)
    found: list[list[Event]] = [[] for _ in range(size)]
    now, number = 0.0, 0

    def reduce(at: float, end: float, correlation: int, ranks: list[int], elements: int) -> list[Event]:
        arguments: dict[str, Any] = {
            "Collective name": "allreduce",
            "dtype": "Float",
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": len(ranks),
            "Process Group Name": f"{ranks[0]} of {len(ranks)}",
            "Process Group Description": "",
            "Process Group Ranks": str(ranks),
        }
        return [kernel(at, end - at, correlation, "ncclDevKernel_AllReduce", **arguments)]

    for step in range(program.steps):
        ready, together = [], []
        for rank, events in enumerate(found):
            length = 1_000.0 + 50 * (rank % 2)
            events += [launch(now + 10 * n + 10, number + n) for n in (1, 2, 3)]
            events.append(kernel(now + 30, length, number + 1, "gemm"))
            ready.append(now + 31 + length)
        for rank, events in enumerate(found):
            mates = [rank - rank % 2, rank - rank % 2 + 1]
            end = max(ready[mate] for mate in mates) + program.pair[rank // 2]
            events.extend(reduce(ready[rank], end, number + 2, mates, program.elements))
            together.append(end + 1)
        end = max(together) + program.whole
        for events, at in zip(found, together, strict=True):
            events += [
                *reduce(at, end, number + 3, list(range(size)), 1_000),
                event("cuda_runtime", "cudaDeviceSynchronize", now + 60, end + 3 - now - 60, correlation=number + 4),
                annotation(f"ProfilerStep#{step + 1}", now, end + 8 - now),
            ]
        now, number = end + 8, number + 10
    return found, 1000 * now / program.steps


def ranks_of(program: Pairs) -> list[RunRank]:
    events, _ = events_of(program)
    header = {"backend": "nccl", "world_size": len(events)}
    return [
        run_rank(
            model_of(each, distributedInfo={**header, "rank": rank}, host_name=f"node{rank // program.hosts}"),
            f"rank{rank}",
        )
        for rank, each in enumerate(events)
    ]


def found_in(program: Pairs) -> dict[str, RunFinding]:
    return {each.id: each for each in run_diagnosis(ranks_of(program)).findings}


def saved(faulty: Pairs, healthy: Pairs) -> float:
    return events_of(faulty)[1] - events_of(healthy)[1]


def test_a_slow_link_between_two_ranks() -> None:
    faulty, healthy = Pairs((400, 400, 1_600, 410)), Pairs((400, 400, 400, 410))
    finding = found_in(faulty)["slow_link"]
    assert finding.workers == ("rank4", "rank5")
    assert finding.values["ranks"] == "4, 5"
    assert finding.values["mine_ns"] == pytest.approx(1_600_000)
    assert finding.values["middle_ns"] == pytest.approx(405_000)
    assert finding.count == 4
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert not finding.saving.bound
    assert {each.worker for each in finding.instances} <= {"rank4", "rank5"}
    assert "slow_link" not in found_in(healthy)


def test_a_link_is_slow_by_the_limits_of_the_page_of_the_ranks() -> None:
    """1.28 times as long and 3.8 deviations away: the page names no such link, and no more does the finding."""
    assert "slow_link" not in found_in(Pairs((400, 400, 512, 400)))
    assert "slow_link" in found_in(Pairs((400, 400, 600, 400)))


def test_what_is_small_few_or_between_hosts_tells_nothing_of_a_link() -> None:
    uneven = (400.0, 400.0, 1_600.0, 410.0)
    assert "slow_link" not in found_in(Pairs(uneven, elements=1_000)), "latency"
    assert "slow_link" not in found_in(Pairs(uneven, steps=2)), "two operations of each pair"
    assert "slow_link" not in found_in(Pairs((400, 1_600))), "either of two may be the usual one"
    # the last pair is on two hosts: its link is another one
    assert "slow_link" not in found_in(Pairs((400, 410, 1_600), hosts=5))


def test_transfers_that_no_link_of_a_host_needs() -> None:
    """20 MB in 20 ms: 1 GB/s; the slowest link takes 4 ms."""
    faulty, healthy = Pairs((20_000, 20_000)), Pairs((4_000, 4_000))
    found = found_in(faulty)
    finding = found["slow_transfers"]
    assert finding.values["gigabytes"] == pytest.approx(1.0)
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert "exposed_transfer" not in found, "to send less is no answer"
    assert "slow_transfers" not in found_in(Pairs((3_000, 3_000)))
    # between hosts networks are so slow
    assert "slow_transfers" not in found_in(Pairs((20_000, 20_000), hosts=1))
