"""Simulates a job of many ranks, and says what analyses of it must find.

run = simulate_job(Job(tp=2, dp=8, pp=4, ep=4, micro=4, faults=(SlowGpu(37),)))
run.truth.named, run.truth.offset_ns, run.truth.collectives
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from .cluster import Meeting, Rank, Record
from .job import FewerSteps, Job, Late, Missing, MoreTokens, SlowGpu, SlowInput, SlowLink


@dataclass(frozen=True)
class Collective:
    """An operation in true time (ns): its group, its number in the group and kind, and (start, end) by rank."""

    group: str
    number: int
    kind: str
    spans: dict[int, tuple[int, int]]


@dataclass(frozen=True)
class Named:
    """Who has to be named: the ranks, why (late, compute, tokens, input, network) and the operator if it is one."""

    ranks: tuple[int, ...]
    cause: str
    operator: str = ""


@dataclass
class Truth:
    """What analyses must find.

    named         nobody in a healthy job; what is only missing from a trace names nobody
    offset_ns     of each rank's clock at the start of the job, to true time; `drift` is its rate − 1
    step_ns       of each recorded step from the first begin to the last end over the ranks
    collectives   every one of the job, also those that a trace lacks
    """

    named: list[Named] = field(default_factory=list)
    offset_ns: list[int] = field(default_factory=list)
    drift: list[float] = field(default_factory=list)
    step_ns: list[int] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)


@dataclass
class JobRun:
    """What the ranks did, in true time, and the truth of it."""

    job: Job
    records: list[list[Record]]
    truth: Truth


def simulate_job(job: Job) -> JobRun:
    meetings: dict[object, Meeting] = {}
    ready: deque[Rank] = deque()
    ranks = [Rank(job, number, meetings, ready) for number in range(job.ranks)]
    running = {rank.number: rank.run() for rank in ranks}
    ready.extend(ranks)
    while ready:
        rank = ready.popleft()
        for meeting in running[rank.number]:
            if not meeting.is_done:
                meeting.waiting.append(rank)
                break
        else:
            del running[rank.number]
    if running:
        raise AssertionError(f"ranks {sorted(running)} wait for each other")
    for rank in ranks:
        for record in rank.records:
            if record.meeting:
                record.end = record.meeting.end[rank.number]
    return JobRun(job, [_recorded(job, rank) for rank in ranks], _truth(job, ranks, meetings))


def _recorded(job: Job, rank: Rank) -> list[Record]:
    """What the rank's trace has."""
    later = sum(f.steps for f in job.faults if isinstance(f, FewerSteps) and f.rank == rank.number)
    kept = [record for record in rank.records if record.step >= job.first_step + later]
    for fault in job.faults:
        if isinstance(fault, Missing) and fault.rank == rank.number:
            calls = [at for at, each in enumerate(kept) if each.meeting and each.step == fault.step]
            at = calls[fault.nth]
            # the kernel, and the operator that called it, which follows
            kept = kept[:at] + kept[at + 2 :]
    return kept


def _truth(job: Job, ranks: list[Rank], meetings: dict[object, Meeting]) -> Truth:
    truth = Truth()
    clocks = {}
    for node in range(job.node(job.ranks - 1) + 1):
        chance = random.Random(f"{job.seed}/clock/{node}")
        clocks[node] = round(chance.uniform(-1, 1) * job.offset_s * 1e9), chance.uniform(-1, 1) * job.drift_ppm * 1e-6
    for rank in ranks:
        offset, drift = clocks[job.node(rank.number)]
        truth.offset_ns.append(offset)
        truth.drift.append(drift)
    for step in range(job.first_step, job.first_step + job.steps):
        spans = [each for rank in ranks for each in rank.records if each.kind == "step" and each.step == step]
        truth.step_ns.append(max(each.end for each in spans) - min(each.start for each in spans))
    truth.collectives = [
        Collective(each.group.name, each.number, each.kind, {r: (s, each.end[r]) for r, s in each.start.items()})
        for each in meetings.values()
    ]
    for fault in job.faults:
        if isinstance(fault, Late):
            truth.named.append(Named((fault.rank,), "late", fault.operator))
        elif isinstance(fault, SlowGpu):
            truth.named.append(Named((fault.rank,), "compute"))
        elif isinstance(fault, SlowLink):
            truth.named.append(Named(fault.ranks, "network"))
        elif isinstance(fault, MoreTokens):
            truth.named.append(Named((fault.rank,), "tokens", "aten::_grouped_mm"))
        elif isinstance(fault, SlowInput):
            slow = (r.number for r in ranks if r.stage == 0 and job.node(r.number) == fault.node)
            truth.named.append(Named(tuple(slow), "input"))
    return truth
