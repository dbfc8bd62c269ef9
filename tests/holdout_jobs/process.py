"""One rank of a job that is held out: threads, streams, collectives, and the events of its trace."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import Any

from tests.holdout_jobs.job import Left, Other, Slower, SlowWire

EPOCH_NS = 1_790_000_000_000_000_000
#: α (ns) and β (bytes in ns) of links inside a node and between nodes
LINK = {True: (11_000, 180.0), False: (31_000, 22.0)}
MAIN, AUTOGRAD, POOL = 501, 502, 503
COMPUTE, COPIES = 0, 60


class Meet:
    """Some ranks in one operation: when each is ready, and when all have left."""

    def __init__(self, size: int, lasts: int) -> None:
        self.size, self.lasts, self.ready, self.left = size, lasts, dict[int, int](), dict[int, int]()

    def join(self, rank: int, ready: int, late: int) -> None:
        self.ready[rank], self.left[rank] = ready, late
        if len(self.ready) == self.size:
            end = max(self.ready.values()) + self.lasts
            self.left = {at: end + after for at, after in self.left.items()}

    @property
    def done(self) -> bool:
        return len(self.ready) == self.size


Todo = Generator[Meet, None, None]


class Process:
    """One rank: two threads of the host, streams, and the events of its trace in its own time (ns)."""

    def __init__(self, job: Other, rank: int, meets: dict[object, Meet]) -> None:
        self.job, self.rank, self.meets = job, rank, meets
        self.chance = random.Random(f"{job.seed}:{rank}:{job.mesh}")
        self.groups = job.groups(rank)
        self.speed = math.exp(self.chance.gauss(0, job.speeds))
        self.now, self.thread, self.step = 0, MAIN, 0
        self.free: dict[int, int] = defaultdict(int)
        self.open: dict[int, Meet] = {}
        self.counts: dict[object, int] = defaultdict(int)
        self.found: list[dict[str, Any]] = []
        self.pending: list[tuple[dict[str, Any], Meet]] = []
        self.correlation = 100 * (rank + 1)
        self.samples = 1.0
        self.is_cpu = job.backend == "gloo"

    def wrong(self, what: str) -> Iterator[Slower]:
        for each in self.job.wrong:
            if isinstance(each, Slower) and each.what == what and each.at(self.rank, self.step):
                yield each

    def vary(self, ns: float, of: float | None = None) -> int:
        share = self.job.jitter if of is None else of
        return max(int(ns * math.exp(self.chance.gauss(0, share) - share**2 / 2)), 500)

    def event(self, cat: str, name: str, start: int, end: int, tid: int, pid: int = -1, **args: Any) -> dict[str, Any]:
        found = {"ph": "X", "cat": cat, "name": name, "pid": 9000 if pid < 0 else pid, "tid": tid}
        self.found.append(found | {"ts": start, "dur": end - start, "args": args})
        return self.found[-1]

    # --- what a program is made of --------------------------------------------------------------

    def host(self, name: str, ns: float, cat: str = "cpu_op", exact: int = 0) -> None:
        start = self.now
        self.now += self.vary(ns) + exact
        self.event(cat, name, start, self.now, self.thread)
        self.now += self.vary(900)

    def launch(self, name: str, ready: int, ns: int, stream: int, **args: Any) -> dict[str, Any]:
        """A kernel; it begins when it was launched, its stream is free and `ready` is over."""
        self.correlation += 1
        runtime = "hipLaunchKernel" if self.job.backend == "rccl" else "cudaLaunchKernel"
        called = self.now + self.vary(2_000)
        self.event("cuda_runtime", runtime, called, called + 3_500, self.thread, correlation=self.correlation)
        start = max(self.free[stream], ready, called + 5_000)
        self.free[stream] = start + ns
        device = self.rank % self.job.per_node
        about = {"device": device, "stream": stream, "correlation": self.correlation}
        return self.event("kernel", name, start, start + ns, stream, device, **about, **args)

    def work(self, operator: str, kernel: str, ns: float, share: float = 1.0) -> None:
        """share: of the samples, which the size of the kernel follows."""
        slow = math.prod(each.factor for each in self.wrong("gpu")) * self.speed
        if "attn" in kernel:
            slow *= math.prod(each.factor for each in self.wrong("one"))
        lasts = self.vary(ns * slow * share * self.samples, self.job.kernels)
        if self.step < self.job.warm:
            lasts = lasts * 3 // 2
        start = self.now
        if self.is_cpu:
            self.now += lasts
        else:
            grid = [max(round(640 * share * self.samples), 1), 1, 1]
            self.launch(kernel, self.open_end(COMPUTE), lasts, COMPUTE, grid=grid, block=[128, 1, 1])
            self.now += self.vary(9_000)
        self.event("cpu_op", operator, start, self.now, self.thread)
        self.now += self.vary(1_200)

    def open_end(self, stream: int) -> int:
        return self.free[stream]

    def meet(
        self, use: str, kind: str, elements: tuple[int, int], stream: int, after: bool = True, peer: int = -1,
        splits: tuple[list[int], list[int]] = ([], []),
    ) -> Todo:  # fmt: skip
        """One operation of a group; `after`: the compute stream waits for it."""
        group = self.groups[use]
        if stream in self.open and not self.open[stream].done:
            yield self.open[stream]
        self.settle(stream)
        between = (min(self.rank, peer), max(self.rank, peer), kind == ("send" if self.rank < peer else "recv"))
        who: object = between if peer >= 0 else (use, group)
        self.counts[who] += 1
        self.counts[use] += 1
        members = (self.rank, peer) if peer >= 0 else group
        meet = self.meets.get((who, self.counts[who]))
        if meet is None:
            lasts = self.lasts(members, kind, max(elements), peer >= 0, str((who, self.counts[who])))
            meet = self.meets[who, self.counts[who]] = Meet(len(members), lasts)
        said = self.said(use, kind, elements, peer, splits)
        start = self.now
        if self.is_cpu:
            self.event("cpu_op", "record_param_comms", start + 1_000, start + 9_000, MAIN, **said)
            record = self.event("user_annotation", f"gloo:{kind}", start + 20_000, start + 20_000, POOL)
            ready = start + 20_000
        else:
            name = "ncclDevKernel_Generic_1" if self.job.backend == "rccl" else KERNELS[kind]
            record = self.launch(name + "(ncclDevKernelArgsStorage<4096ul>)", self.free[COMPUTE], 0, stream, **said)
            ready = record["ts"]
            self.event("cpu_op", "record_param_comms", start + 500, self.now + 8_000, self.thread, **said)
        self.now += self.vary(14_000)
        self.event("cpu_op", f"c10d::{kind.strip('_')}_", start, self.now, self.thread)
        self.now += self.vary(1_000)
        self.pending.append((record, meet))
        self.open[stream] = meet
        meet.join(self.rank, ready, int(self.chance.expovariate(1 / 900)))
        if after:
            yield from self.wait(stream)

    def lasts(self, members: tuple[int, ...], kind: str, elements: int, pair: bool, key: str) -> int:
        n, inside = len(members), len({rank // self.job.per_node for rank in members}) == 1
        alpha, beta = LINK[inside]
        moved = 2 * elements * (1 if pair else (2 if kind == "allreduce" else 1) * (n - 1) / n)
        factor = math.exp(random.Random(f"{self.job.seed}{key}").gauss(0, 0.02))
        for each in self.job.wrong:
            if isinstance(each, SlowWire) and set(each.ranks) <= set(members):
                factor *= each.factor
        return int((alpha + moved / beta) * factor)

    def said(
        self, use: str, kind: str, elements: tuple[int, int], peer: int, splits: tuple[list[int], list[int]]
    ) -> dict[str, Any]:
        group = self.groups[use]
        name = "0" if use == "world" else f"{list(dict(self.job.mesh)).index(use) + 1}{group[0]:04d}"
        said: dict[str, Any] = {
            "Collective name": kind, "dtype": "BFloat16", "In msg nelems": elements[0], "Out msg nelems": elements[1],
            "Group size": len(group), "In split size": str(splits[0]), "Out split size": str(splits[1]),
            "Process Group Name": name, "Process Group Description": "default_pg" if use == "world" else f"mesh_{use}",
            "Process Group Ranks": str(list(group)),
        }  # fmt: skip
        if self.job.numbers:
            said["Seq"] = self.counts[use]
        if peer >= 0:
            said["Dst Rank" if kind == "send" else "Src Rank"] = peer
        return said

    def settle(self, stream: int) -> None:
        if stream in self.open:
            self.free[stream] = max(self.free[stream], self.open[stream].left[self.rank])
            if self.is_cpu:
                self.now = max(self.now, self.free[stream])

    def wait(self, stream: int) -> Todo:
        if stream in self.open:
            if not self.open[stream].done:
                yield self.open[stream]
            self.settle(stream)
            self.free[COMPUTE] = max(self.free[COMPUTE], self.free[stream])

    def synchronize(self) -> None:
        if not self.is_cpu:
            start, self.now = self.now, max(self.now, *self.free.values()) + self.vary(4_000)
            self.event("cuda_runtime", "cudaDeviceSynchronize", start, self.now, self.thread)

    def finish(self) -> dict[str, Any]:
        """The trace, on the clock of the node."""
        job = self.job
        for record, meet in self.pending:
            record["dur"] = max(meet.left[self.rank] - record["ts"], 1)
        lost = [each for each in job.wrong if isinstance(each, Left) and each.rank == self.rank]
        dropped: set[int] = set()
        for left in lost:
            begin = next(e for e in self.found if e["name"] == f"ProfilerStep#{left.step}")
            inside = [r for r, _ in self.pending if begin["ts"] <= r["ts"] < begin["ts"] + begin["dur"]]
            gone = inside[left.nth]
            dropped |= {id(gone)} | {
                id(e)
                for e in self.found
                if e["cat"] == "cuda_runtime" and e["args"].get("correlation") == gone["args"].get("correlation", -1)
            }
        node = self.rank // job.per_node
        chance = random.Random(f"{job.seed}/{node}/clock")
        offset, rate = 4_000_000_000 + chance.uniform(-3e9, 3e9), 1 + chance.uniform(-20e-6, 20e-6)
        events = []
        for each in self.found:
            if id(each) not in dropped:
                start, end = (round(offset + at * rate) for at in (each["ts"], each["ts"] + each["dur"]))
                events.append(each | {"ts": start / 1000, "dur": (end - start) / 1000})
        kinds = [
            {
                "id": self.rank % job.per_node,
                "name": "AMD Instinct MI300X" if job.backend == "rccl" else "NVIDIA A100-SXM4-80GB",
            }
        ]
        return {
            "schemaVersion": 1,
            "deviceProperties": [] if self.is_cpu else kinds,
            "distributedInfo": {
                "backend": "gloo" if self.is_cpu else "nccl",
                "rank": self.rank,
                "world_size": job.ranks,
            },
            "host_name": f"host-{node:02d}",
            "baseTimeNanoseconds": EPOCH_NS,
            "traceEvents": events,
        }


KERNELS = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL",
    "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
    "all_to_allv": "ncclDevKernel_SendRecv",
    "send": "ncclDevKernel_SendRecv",
    "recv": "ncclDevKernel_SendRecv",
}
