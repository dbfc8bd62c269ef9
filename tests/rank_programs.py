"""Simulated programs on several ranks: launches, a kernel and a collective in each step, then the host waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.events import Event, annotation, event, kernel, launch, model_of, op
from torch_tb_profiler.insights.run.facts import RunRank, run_rank

#: (rank, step) → µs
Time = Callable[[int, int], float]


@dataclass(frozen=True)
class Ranks:
    """What to simulate; times are µs.

    host         of an operator on the host before the launches
    compute      of the kernel
    transfer     of the collective once all ranks are there
    calls        launches of small kernels in each step, and how long each call takes on a rank
    elements     what a rank sends of a collective
    header_ranks how many ranks the group has; those beyond `ranks` are not recorded
    silence      for how long nothing is recorded of the host after it waited
    stream       of the collective
    """

    ranks: int = 4
    steps: int = 6
    host: Time = lambda rank, step: 200.0
    compute: Time = lambda rank, step: 1000.0
    transfer: float = 100.0
    calls: int = 0
    call: Callable[[int], float] = lambda rank: 5.0
    collective: str = "allreduce"
    elements: Callable[[int, int], int] = lambda rank, step: 1000
    header_ranks: int = 0
    silence: float = 0.0
    stream: int = 7
    marks: Sequence[str] = field(default_factory=tuple)


def events_of(program: Ranks) -> list[list[Event]]:
    """The events of each rank. All clocks are one, and all ranks begin a step at once."""
    found: list[list[Event]] = [[] for _ in range(program.ranks)]
    size = program.header_ranks or program.ranks
    now, number = 0.0, 0
    for step in range(program.steps):
        ready = []
        for rank, events in enumerate(found):
            host, at = program.host(rank, step), now + 10
            events.append(op("aten::prepare", at, host))
            at += host + 2
            device = at + 10
            for nth in range(program.calls):
                length = program.call(rank)
                correlation = 10_000 + number + nth
                events += [launch(at, correlation, length), kernel(max(device, at + length + 2), 1, correlation)]
                device = max(device, at + length + 2) + 2
                at += length + 1
            events += [
                launch(at, number + 1),
                kernel(max(at + 8, device), program.compute(rank, step), number + 1, "gemm"),
            ]
            device = max(at + 8, device) + program.compute(rank, step)
            ready.append((at, device + 1))
        end = max(device for _, device in ready) + program.transfer
        for rank, (events, (at, device)) in enumerate(zip(found, ready, strict=True)):
            arguments: dict[str, Any] = {
                "Collective name": program.collective,
                "dtype": "Float",
                "In msg nelems": program.elements(rank, step),
                "Out msg nelems": program.elements(rank, step),
                "Group size": size,
                "Process Group Name": "0",
                "Process Group Description": "default_pg",
                "Process Group Ranks": str(list(range(size))),
            }
            events += [
                launch(at + 8, number + 2),
                kernel(device, end - device, number + 2, "ncclDevKernel_Generic", **arguments, stream=program.stream),
                event("cuda_runtime", "cudaDeviceSynchronize", at + 15, end + 3 - at - 15, correlation=number + 3),
                annotation(f"ProfilerStep#{step + 1}", now, end + 8 + program.silence - now),
            ]
        now, number = end + 8 + program.silence, number + 100 + program.calls
    return found


def ranks_of(program: Ranks, traces: list[list[Event]] | None = None) -> list[RunRank]:
    """What is kept of each rank. traces: in place of those of the program."""
    size = program.header_ranks or program.ranks
    return [
        run_rank(
            model_of(events, distributedInfo={"backend": "nccl", "rank": rank, "world_size": size}, host_name="node"),
            f"rank{rank}",
        )
        for rank, events in enumerate(events_of(program) if traces is None else traces)
    ]


def mean_step_ns(program: Ranks) -> float:
    """How long a step of the program takes, on average."""
    ends = [each for each in events_of(program)[0] if each["name"].startswith("ProfilerStep")]
    return 1000.0 * sum(float(each["dur"]) for each in ends) / len(ends)
