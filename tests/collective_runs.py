"""Simulated programs on several ranks: random collectives with clocks of their own and losses, and which are the same.

All ranks of a group run the same operations in the same order. One begins when the rank gets there and ends everywhere
when the last rank has come and the data is sent. What a trace then lacks is chosen at random.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.events import Event, annotation, kernel, model_of
from torch_tb_profiler.ranks import Rank, rank_of

NS = 1e9


@dataclass(frozen=True)
class Program:
    """What to simulate; every chance comes from `seed`.

    kinds        how many operations that look different there are
    repeats      up to so many equal ones follow each other
    lost         part of the operations of each rank that its trace lacks
    late         steps that the traces of some ranks lack at the start
    added        operations that only the trace of the first rank of the group has
    threads      part of the neighbours that look different and that a rank begins in another order
    numbered     the traces have Seq
    """

    seed: int
    ranks: int = 4
    steps: int = 4
    calls: int = 12
    kinds: int = 4
    repeats: int = 4
    lost: float = 0.0
    late: int = 0
    added: int = 0
    threads: float = 0.0
    numbered: bool = False


@dataclass(frozen=True)
class Call:
    """An operation of the program."""

    number: int
    step: int
    group: tuple[int, ...]
    collective: str
    dtype: str
    elements: int
    uneven: bool
    sequence: int


@dataclass
class Run:
    """What the ranks recorded, and of each rank by the start of its operations (ns) which call of the program it is."""

    ranks: list[Rank] = field(default_factory=list)
    truth: list[dict[int, int]] = field(default_factory=list)

    def numbers(self) -> list[list[int]]:
        """Of each operation of each rank the call that it is."""
        return [
            [of[int(at)] for at in rank.communications.start] for rank, of in zip(self.ranks, self.truth, strict=True)
        ]


def simulate(program: Program) -> Run:
    chance = random.Random(program.seed)
    groups = [tuple(range(program.ranks)), (0, 1)]
    looks = [
        (
            chance.choice(groups),
            chance.choice(["allreduce", "allgather", "all_to_all", "reduce_scatter", "broadcast"]),
            chance.choice(["Float", "Long", "Byte"]),
            chance.choice([500, 1000, 4000, 1_000_000]),
        )
        for _ in range(program.kinds)
    ]
    calls = _calls(program, chance, looks)
    times = _times(program, chance, calls)
    return _record(program, chance, calls, times)


def _calls(program: Program, chance: random.Random, looks: list[tuple[Any, ...]]) -> list[Call]:
    calls: list[Call] = []
    counted: dict[tuple[int, ...], int] = {}
    one_step = [chance.choice(looks) for _ in range(program.calls)]
    one_step = [look for look in one_step for _ in range(chance.randint(1, program.repeats))]
    for step in range(program.steps):
        for group, collective, dtype, elements in one_step:
            counted[group] = counted.get(group, 0) + 1
            uneven = collective == "all_to_all" and elements == 1000
            calls.append(Call(len(calls), step, group, collective, dtype, elements, uneven, counted[group]))
    return calls


def _times(program: Program, chance: random.Random, calls: list[Call]) -> list[dict[int, tuple[float, float]]]:
    """Of each rank start and end of its calls, seconds of one clock."""
    now = [0.0] * program.ranks
    times: list[dict[int, tuple[float, float]]] = [{} for _ in now]
    order, before = list(calls), False
    for at in range(len(order) - 1):
        a, b = order[at], order[at + 1]
        different = (a.collective, a.dtype, a.elements) != (b.collective, b.dtype, b.elements)
        together = (
            chance.random() < program.threads and different and not before and a.step == b.step and a.group == b.group
        )
        for rank in a.group:
            if a.number not in times[rank]:
                now[rank] += chance.expovariate(1 / 100e-6)
                times[rank][a.number] = (now[rank], 0.0)
        if together:
            # both run at the same time, in two threads: which one begins first is chance
            for rank in b.group:
                first, second = times[rank][a.number][0], times[rank][a.number][0] + 5e-6
                if chance.random() < 0.5:
                    first, second = second, first
                times[rank][a.number], times[rank][b.number] = (first, 0.0), (second, 0.0)
        _finish(chance, a, now, times)
        before = together
    for rank in order[-1].group:
        times[rank].setdefault(order[-1].number, (now[rank] + 1e-6, 0.0))
    _finish(chance, order[-1], now, times)
    return times


def _finish(chance: random.Random, call: Call, now: list[float], times: list[dict[int, tuple[float, float]]]) -> None:
    end = max(times[rank][call.number][0] for rank in call.group) + 15e-6 + call.elements / 100e9
    for rank in call.group:
        late = end + chance.expovariate(1 / 1e-6)
        times[rank][call.number] = (times[rank][call.number][0], late)
        now[rank] = max(now[rank], late)


def _record(
    program: Program, chance: random.Random, calls: list[Call], times: list[dict[int, tuple[float, float]]]
) -> Run:
    run = Run()
    alone = set(chance.sample(range(len(calls)), min(program.added, len(calls))))
    for rank in range(program.ranks):
        offset, drift = chance.uniform(1, 4), 1 + chance.uniform(-20e-6, 20e-6)
        skipped = program.late * (rank % 2)
        events: list[Event] = []
        truth: dict[int, int] = {}

        def clock(at: float, offset: float = offset, drift: float = drift) -> int:
            return round((offset + at * drift) * NS)

        origin = clock(-1e-3)
        events.append(annotation("begin", 0, 1))
        bounds: dict[int, list[float]] = {}
        for call in calls:
            if rank not in call.group or call.step < skipped:
                continue
            start, end = times[rank][call.number]
            bounds.setdefault(call.step, []).extend((start, end))
            if chance.random() < program.lost or (call.number in alone and rank != call.group[0]):
                continue
            _add(events, truth, call, clock(start) - origin, clock(end) - origin, program, chance)
        for step, within in bounds.items():
            begin, end = clock(min(within)) - origin, clock(max(within)) - origin
            events.append(annotation(f"ProfilerStep#{step}", begin / 1000, (end - begin) / 1000))
        run.ranks.append(rank_of(model_of(events), f"rank{rank}"))
        run.truth.append(truth)
    return run


def _add(
    events: list[Event],
    truth: dict[int, int],
    call: Call,
    start: int,
    end: int,
    program: Program,
    chance: random.Random,
) -> None:
    sent = call.elements * len(call.group) if call.collective == "reduce_scatter" else call.elements
    received = call.elements * len(call.group) if call.collective == "allgather" else call.elements
    more: dict[str, Any] = {"Seq": call.sequence} if program.numbered else {}
    if call.uneven:
        sent = chance.randint(1, 2 * sent)
    events.append(
        kernel(
            start / 1000,
            (end - start) / 1000,
            0,
            "ncclDevKernel_Generic",
            **{
                "Collective name": call.collective,
                "dtype": call.dtype,
                "In msg nelems": sent,
                "Out msg nelems": received,
                "Group size": len(call.group),
                "Process Group Name": str(len(call.group)),
                "Process Group Description": "simulated",
                "Process Group Ranks": str(list(call.group)),
                **more,
            },
        )
    )
    truth[start] = call.number
