"""Summaries of many ranks without traces: the simulation of docs/ranks.md, "Who is slow".

A rank runs compute kernels, then a collective of its tensor-parallel group, again and again; now and then one of its
data-parallel group, and one of all ranks at the end of a step. GPUs, kernels and the load of experts vary; clocks are
apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.events import model_of
from tests.tracegen import trace_of
from tests.tracegen.cluster_run import JobRun
from torch_tb_profiler.model.communication import KINDS, ProcessGroup
from torch_tb_profiler.ranks.summary import RankHead, RankRanges, RankSummary, summarize, summary_of_tables

Ints = npt.NDArray[np.int64]
REDUCE = KINDS.index("all_reduce")
WORK = ("", "attention_kernel", "gemm_kernel", "expert_kernel", "norm_kernel", "aten::nonzero", "aten::linear")
BYTES = 16 << 20


@dataclass(frozen=True)
class Fault:
    """late: ns before the middle of each step; slow: factor of all kernels; tokens: of the expert kernel; input: ns at
    the start of each step; link: factor of the transfers of the rank's tensor-parallel group."""

    ranks: tuple[int, ...] = ()
    late: int = 0
    slow: float = 1.0
    tokens: float = 1.0
    input: int = 0
    link: float = 1.0


@dataclass(frozen=True)
class Sim:
    """tp × dp ranks, `steps` steps of `positions` collectives."""

    tp: int
    dp: int
    steps: int = 4
    positions: int = 40
    step_ms: float = 45.0
    seed: int = 0
    fault: Fault = Fault()
    sequence: bool = True


def simulated(sim: Sim) -> list[RankSummary]:
    """In order of rank; `truth` of waits is in the durations: the last of a group has the transfer."""
    chance = np.random.default_rng(sim.seed)
    ranks, fault = sim.tp * sim.dp, sim.fault
    faulty = np.isin(np.arange(ranks), fault.ranks)
    speed = (1 + chance.normal(0, 0.006, ranks)) * np.where(faulty, fault.slow, 1)
    tp, dp = np.arange(ranks) // sim.tp, np.arange(ranks) % sim.tp
    offset = np.repeat(chance.uniform(-3e9, 3e9, -(-ranks // 8)), 8)[:ranks]
    drift = np.repeat(chance.uniform(-20e-6, 20e-6, -(-ranks // 8)), 8)[:ranks]
    kernel_ns = sim.step_ms * 1e6 / sim.positions
    part = np.array([0.3, 0.4, 0.2, 0.1])
    now = np.zeros(ranks)
    shape = (sim.steps, sim.positions, ranks)
    start, end, own = np.empty(shape), np.empty(shape), np.empty(shape)
    work = np.zeros((sim.steps, 4, ranks))
    begin, waited = np.empty((sim.steps, ranks)), np.zeros((sim.steps, ranks))
    slow_group = np.isin(tp, tp[list(fault.ranks)]) if fault.ranks else np.zeros(ranks, bool)
    for step in range(sim.steps):
        begin[step] = now
        loading = 1e6 * (1 + chance.normal(0, 0.05, ranks)) + fault.input * faulty
        waited[step] = loading
        for position in range(sim.positions):
            varied = kernel_ns * part[:, None] * speed * (1 + chance.normal(0, 0.02, (4, ranks)))
            varied[2] *= np.maximum(0.3, 1 + chance.normal(0, 0.15, ranks)) * np.where(faulty, fault.tokens, 1)
            varied[3] += 1e6 * (chance.random(ranks) < 0.001)
            work[step] += varied
            busy = varied.sum(axis=0) + (loading if position == 0 else 0)
            if position == sim.positions // 2:
                busy = busy + fault.late * faulty
            own[step, position] = busy
            start[step, position] = now + busy
            now = _met(start[step, position], _members(position, sim, tp, dp), position, sim, slow_group, chance)
            end[step, position] = now
    clock = 1 + drift
    return [
        _summary(sim, rank, [(values[..., rank] * clock[rank] + offset[rank]) for values in (start, end, begin)],
                 own[..., rank], work[..., rank], waited[:, rank])
        for rank in range(ranks)
    ]  # fmt: skip


def _use(position: int, sim: Sim) -> int:
    """0: tensor parallel, 1: data parallel, 2: all ranks."""
    if position == sim.positions - 1:
        return 2
    return 1 if sim.tp == 1 or (position % 8 == 7 and sim.dp > 1) else 0


def _members(position: int, sim: Sim, tp: Ints, dp: Ints) -> Ints:
    return (tp, dp, np.zeros_like(tp))[_use(position, sim)]


def _met(
    start: npt.NDArray[np.float64],
    group: Ints,
    position: int,
    sim: Sim,
    slow: npt.NDArray[np.bool_],
    chance: np.random.Generator,
) -> npt.NDArray[np.float64]:
    last = np.full(int(group.max()) + 1, -np.inf)
    np.maximum.at(last, group, start)
    transfer = 100_000.0 * (1 + chance.normal(0, 0.01, len(last)))
    if _use(position, sim) == 0 and sim.fault.link != 1.0:
        transfer[np.unique(group[slow])] *= sim.fault.link
    jitter = chance.exponential(700, len(start)) + (chance.random(len(start)) < 0.01) * chance.exponential(
        20_000, len(start)
    )
    found: npt.NDArray[np.float64] = (last + transfer)[group] + jitter
    return found


def _summary(
    sim: Sim,
    rank: int,
    times: list[npt.NDArray[np.float64]],
    own: npt.NDArray[np.float64],
    work: npt.NDArray[np.float64],
    waited: npt.NDArray[np.float64],
) -> RankSummary:
    ranks = sim.tp * sim.dp
    origin = 1_700_000_000_000_000_000 + int(times[2].min())
    start, end, begin = (np.rint(values).astype(np.int64) + 1_700_000_000_000_000_000 - origin for values in times)
    rows = sim.steps * sim.positions
    use = np.array([_use(position, sim) for position in range(sim.positions)] * sim.steps)
    tp, dp = rank // sim.tp, rank % sim.tp
    groups = (
        ProcessGroup(f"t{tp}", "TENSOR_MODEL_PARALLEL_GROUP", tuple(range(tp * sim.tp, (tp + 1) * sim.tp)), sim.tp),
        ProcessGroup(f"d{dp}", "DATA_PARALLEL_GROUP", tuple(range(dp, ranks, sim.tp)), sim.dp),
        ProcessGroup("0", "default_pg", tuple(range(ranks)) if ranks <= 64 else (), ranks),
    )
    sequence = np.empty(rows, np.int64)
    for each in range(3):
        sequence[use == each] = np.arange(np.count_nonzero(use == each))
    same = np.full(rows, BYTES, np.int64)
    none = np.full(rows, -1, np.int64)
    first = start.reshape(-1)
    calls = {
        "group": use, "name": np.zeros(rows), "kind": np.full(rows, REDUCE), "dtype": np.ones(rows),
        "step": np.repeat(np.arange(sim.steps), sim.positions), "sequence": sequence if sim.sequence else none,
        "identity": none, "peer": none, "in_bytes": same, "out_bytes": same,
        "duration": end.reshape(-1) - first, "own": np.rint(own).reshape(-1), "algorithm": np.ones(rows),
    }  # fmt: skip
    places = {"row": np.arange(rows) * 7, "host_start": first - 50_000, "start": first, "gaps": np.zeros(rows)}
    finish = end[:, -1]
    zero = np.zeros(sim.steps)
    compute = work.sum(axis=1)
    exposed = (end - start).sum(axis=1)
    steps = {
        "start": np.concatenate((begin[:1], finish[:-1])), "end": finish, "compute": compute, "hidden": zero,
        "exposed": exposed, "input": waited, "host": zero + 1e6, "allocator": zero, "memory": zero + (20 << 30),
        "kernels": zero + 4 * sim.positions, "program": zero + 17 + sim.positions,
    }  # fmt: skip
    late = sim.fault.late * (rank in sim.fault.ranks)
    names = np.tile(np.arange(1, 7), sim.steps)
    spent = np.concatenate((work, np.tile([[30_000.0 + late, 50_000.0]], (sim.steps, 1))), axis=1)
    more = sim.fault.tokens if rank in sim.fault.ranks else 1.0
    blocks = np.tile([132, 132, 132 * more, 132, 0, 0], sim.steps)
    of_work = {
        "on_device": np.tile([1, 1, 1, 1, 0, 0], sim.steps), "name": names, "ns": spent.reshape(-1),
        "step": np.repeat(np.arange(sim.steps), 6), "calls": np.full(len(names), sim.positions), "blocks": blocks,
        "operator": np.zeros(len(names)),
    }  # fmt: skip
    head = RankHead(
        worker=f"rank{rank}", rank=rank, world=ranks, host=f"node{rank // 8}", backend="nccl",
        device="NVIDIA H100 80GB HBM3", device_ids=(rank % 8,), versions={"nccl_version": "2.27"}, origin_ns=origin,
        first_ns=0, last_ns=int(finish[-1]), events=rows * 9, steps=tuple(map(str, range(10, 10 + sim.steps))),
        groups=groups, names=("nccl:all_reduce",), dtypes=("", "BFloat16"), work_names=WORK,
    )  # fmt: skip
    tables = {"steps": steps, "calls": calls, "places": places, "work": of_work, "ranges": RankRanges.empty().columns()}
    return summary_of_tables(
        head,
        {
            table: {name: np.asarray(of).astype(np.int64) for name, of in columns.items()}
            for table, columns in tables.items()
        },
    )


def of_job(run: JobRun) -> list[RankSummary]:
    """Summaries of the traces of a generated job."""
    found = []
    for rank in range(run.job.ranks):
        trace = trace_of(run, rank)
        header = {key: value for key, value in trace.items() if key != "traceEvents"}
        found.append(summarize(model_of(trace["traceEvents"], **header), f"rank{rank}"))
    return found
