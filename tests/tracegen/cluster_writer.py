"""Turns a simulated job into trace files as torch writes them, one per rank, small."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cluster import COMPUTE, Record
from .cluster_run import JobRun, simulate_job
from .devices import DEVICES
from .job import Group, Job
from .machine import BASE_NS, START_NS

#: torch writes at most this many ranks of a group into an event
LONGEST = 30
KERNELS = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
}
SEND_RECEIVE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


def write_job(job: Job, folder: Path) -> JobRun:
    """Write `rank<N>.<time>.pt.trace.json.gz` of every rank; the same job gives the same bytes."""
    run = simulate_job(job)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(job.ranks):
        text = json.dumps(trace_of(run, rank), separators=(",", ":"))
        path = folder / f"rank{rank}.{BASE_NS + START_NS + rank * 1_234_567}.pt.trace.json.gz"
        with path.open("wb") as binary, gzip.GzipFile("", "wb", 9, binary, mtime=0) as packed:
            packed.write(text.encode())
    return run


def trace_of(run: JobRun, rank: int) -> dict[str, Any]:
    """The trace of one rank as a dictionary."""
    return header(run.job, rank) | {"traceEvents": list(events_of(run, rank))}


def header(job: Job, rank: int) -> dict[str, Any]:
    groups = [
        {
            "pg_name": group.name,
            "pg_desc": group.description,
            "backend_config": "cuda:nccl",
            "pg_size": len(group.ranks),
            "ranks": list(group.ranks),
        }
        for group in job.groups_of(rank).values()
    ]
    distributed = {
        "backend": "nccl", "rank": rank, "world_size": job.ranks,
        "pg_count": len(groups), "pg_config": groups, "nccl_version": "2.27.5",
    }  # fmt: skip
    return {
        "schemaVersion": 1,
        "deviceProperties": [DEVICES["h100"].properties(rank % job.per_node)],
        "distributedInfo": distributed,
        "cuda_runtime_version": 13000,
        "host_name": f"node{job.node(rank)}",
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_NS,
    }


def events_of(run: JobRun, rank: int) -> Iterator[dict[str, Any]]:
    job, pid = run.job, 4200 + rank
    offset, rate = START_NS + run.truth.offset_ns[rank], 1 + run.truth.drift[rank]

    def clock(at: int) -> int:
        return offset + round(at * rate)

    def event(cat: str, name: str, start: int, end: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
        start, end = clock(start), clock(end)
        where = rank % job.per_node if cat == "kernel" else pid
        item = {"ph": "X", "cat": cat, "name": name, "pid": where, "tid": tid, "ts": start / 1000}
        return item | {"dur": (end - start) / 1000, "args": args}

    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": clock(0) / 1000, "args": {"name": "python"}}
    for number, each in enumerate(run.records[rank], 1):
        if each.kind in ("step", "annotation"):
            yield event("user_annotation", each.name, each.start, each.end, pid, {})
        elif each.kind == "op":
            yield event("cpu_op", each.name, each.start, each.end, pid, {})
        elif each.kind == "sync":
            yield event("cuda_runtime", each.name, each.start, each.end, pid, {"cbid": 131, "correlation": number})
        else:
            yield event("cuda_runtime", "cudaLaunchKernelExC", *each.call, pid, {"cbid": 430, "correlation": number})
            device = {"device": rank % job.per_node, "context": 1, "stream": each.stream, "correlation": number}
            if each.meeting is None:
                shape = {"grid": [each.blocks, 1, 1], "block": [256, 1, 1]}
                yield event("kernel", each.name, each.start, each.end, COMPUTE, device | shape)
                continue
            said = arguments(job, each)
            before, after = each.call[0] - 1_000, each.call[1] + 1_000
            yield event("cpu_op", "record_param_comms", before, after, pid, said)
            name = KERNELS.get(each.name, SEND_RECEIVE)
            yield event("kernel", name, each.start, each.end, each.stream, device | said)


def arguments(job: Job, each: Record) -> dict[str, Any]:
    """What torch writes of a collective."""
    assert each.meeting is not None
    group = each.meeting.group
    sent, received = each.splits
    said: dict[str, Any] = {
        "Collective name": each.name,
        "dtype": "BFloat16",
        "In msg nelems": each.elements[0],
        "Out msg nelems": each.elements[1],
        "Group size": len(group.ranks),
        "In split size": json.dumps(list(sent)),
        "Out split size": json.dumps(list(received)),
        "Global rank start": group.ranks[0],
        "Global rank stride": group.ranks[1] - group.ranks[0],
        "Process Group Name": group.name,
        "Process Group Description": group.description,
        "Process Group Ranks": _listed(group),
    }
    if each.peer >= 0:
        said["Dst Rank" if each.name == "send" else "Src Rank"] = each.peer
    if job.numbers:
        said["Seq"] = each.number
    if job.numbers == "ids":
        text = f"{group.name}/{each.number}/{each.peer >= 0}"
        said["Comms Id"] = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    return said


def _listed(group: Group) -> str:
    if len(group.ranks) <= LONGEST:
        return str(list(group.ranks))
    first = ", ".join(map(str, group.ranks[: LONGEST - 1]))
    return f"[{first}, ..., {group.ranks[-1]}]"
