"""Jobs unlike those of `tracegen`: programs in stages of queues, jitter of each kernel, other layouts and backends.

They are for trying rules that were made with the others at hand. A job is its layout (sizes of the dimensions of a
device mesh, the first one innermost) and what is wrong with it:

    ranks = summaries(Other((("shard", 8), ("replicate", 2)), wrong=(Slower((3,), "gpu", 1.2, since=3),)))
"""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.events import model_of
from torch_tb_profiler.ranks.summary import RankSummary, summarize

EPOCH_NS = 1_790_000_000_000_000_000
#: α (ns) and β (bytes in ns) of links inside a node and between nodes
LINK = {True: (11_000, 180.0), False: (31_000, 22.0)}
MAIN, AUTOGRAD, POOL = 501, 502, 503
COMPUTE, COPIES = 0, 60


@dataclass(frozen=True)
class Slower:
    """Some ranks do something longer in the steps `since` to `until`, from 0.

    what    gpu: kernels take `factor` times as long; batch: they are given `factor` times as many samples; one: only
            attention takes longer; input, host, allocator, pause: `ns` more for data, in an operator, in calls that
            allocate, in none
    every   only each so many steps
    """

    ranks: tuple[int, ...]
    what: str
    factor: float = 1.0
    ns: int = 0
    since: int = 0
    until: int = 1 << 30
    every: int = 1

    def at(self, rank: int, step: int) -> bool:
        return rank in self.ranks and self.since <= step < self.until and (step - self.since) % self.every == 0


@dataclass(frozen=True)
class SlowWire:
    """What a group moves that has all these ranks takes `factor` times as long."""

    ranks: tuple[int, ...]
    factor: float


@dataclass(frozen=True)
class Left:
    """A rank's trace lacks the `nth` collective of a step."""

    rank: int
    step: int
    nth: int


Wrong = Slower | SlowWire | Left


@dataclass(frozen=True)
class Other:
    """mesh: sizes by dimension: tp, cp, shard (FSDP), replicate or dp, ep (experts), pp; the first is innermost.

    jitter      of each piece of the host, as a share of it (log-normal); kernels: of each kernel
    speeds      of devices, as a share
    unequal     of the samples that a rank is given in a step, as a share
    warm        so many of the first steps take half as long again
    wide        half of the time of kernels are many small ones
    gather_kv   context parallel: keys are gathered; otherwise they go round
    per_node    ranks of a node
    backend     nccl, rccl or gloo (no devices)
    """

    mesh: tuple[tuple[str, int], ...]
    steps: int = 6
    layers: int = 3
    micro: int = 1
    step_ms: float = 60.0
    jitter: float = 0.1
    kernels: float = 0.03
    speeds: float = 0.008
    unequal: float = 0.0
    warm: int = 0
    wide: bool = False
    gather_kv: bool = True
    per_node: int = 8
    backend: str = "nccl"
    numbers: bool = True
    seed: int = 0
    wrong: tuple[Wrong, ...] = ()

    @property
    def ranks(self) -> int:
        return math.prod(size for _, size in self.mesh)

    def size(self, use: str) -> int:
        return dict(self.mesh).get(use, 1)

    def groups(self, rank: int) -> dict[str, tuple[int, ...]]:
        found, stride = {"world": tuple(range(self.ranks))}, 1
        for use, size in self.mesh:
            first = rank - rank // stride % size * stride
            found[use] = tuple(range(first, first + size * stride, stride))
            stride *= size
        return {use: ranks for use, ranks in found.items() if len(ranks) > 1}


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


class Program(Process):
    """What every rank does in a step."""

    def run(self) -> Todo:
        job = self.job
        self.share = job.step_ms * 1e6 / (job.layers * job.micro * 3)
        self.stage = self.rank // (job.ranks // job.size("pp"))
        for self.step in range(job.steps):
            start, self.thread = self.now, MAIN
            chance = random.Random(f"{job.seed}/{self.rank // job.size('tp')}/{self.step}")
            self.samples = max(0.4, 1 + chance.gauss(0, job.unequal)) * math.prod(e.factor for e in self.wrong("batch"))
            if self.stage == 0:
                more = sum(each.ns for each in self.wrong("input"))
                self.host(
                    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 700_000, "user_annotation", more
                )
            self.now += sum(each.ns for each in self.wrong("pause"))
            if each := list(self.wrong("allocator")):
                self.host("cudaMalloc", 20_000, "cuda_runtime", sum(e.ns for e in each))
            for _ in range(job.micro):
                yield from self.forward()
            self.thread = AUTOGRAD
            for at in range(job.micro):
                yield from self.backward(at + 1 == job.micro)
            self.thread = MAIN
            for use in ("shard", "dp", "replicate"):
                yield from self.wait(self.lane(use))
            if job.size("pp") == 1:
                yield from self.meet("world", "allreduce", (1, 1), self.lane("world"))
            self.work("Optimizer.step#Adam.step", "adam_multi_tensor_kernel", 0.06 * job.step_ms * 1e6)
            self.synchronize()
            self.event("user_annotation", f"ProfilerStep#{self.step}", start, self.now, MAIN)
            self.now += self.vary(20_000)

    def lane(self, use: str) -> int:
        return 70 + ["world", "tp", "cp", "shard", "replicate", "dp", "ep", "pp"].index(use)

    def pieces(self, way: float) -> Iterable[tuple[str, str, float]]:
        """Operator, kernel and time of the parts of a layer apart from attention and the rest."""
        if self.job.wide:
            for at in range(10):
                yield f"aten::mul_{at % 3}", f"elementwise_kernel_{at % 3}", way * 0.03 * self.share
        yield "aten::layer_norm", "layer_norm_kernel", way * 0.05 * self.share
        yield "aten::mm", "ampere_bf16_s16816gemm_128x128", way * (0.15 if self.job.wide else 0.4) * self.share

    def forward(self) -> Todo:
        if self.stage > 0:
            yield from self.hand(-1, "recv")
        for layer in range(self.job.layers):
            yield from self.unshard(layer)
            for piece in self.pieces(1):
                self.work(*piece)
            yield from self.attend(1)
            if layer == 1 or self.job.layers == 1:
                self.look()
            yield from self.rest(1)
        if self.stage + 1 < self.job.size("pp"):
            yield from self.hand(1, "send")

    def backward(self, last: bool) -> Todo:
        if self.stage + 1 < self.job.size("pp"):
            yield from self.hand(1, "recv")
        for layer in range(self.job.layers):
            yield from self.unshard(layer)
            yield from self.rest(2)
            yield from self.attend(2)
            for piece in self.pieces(2):
                self.work(*piece)
            yield from self.gradients(last)
        if self.stage > 0:
            yield from self.hand(-1, "send")

    def look(self) -> None:
        """The host needs a value."""
        self.synchronize()
        self.host("aten::item", 40_000, exact=sum(each.ns for each in self.wrong("host")))

    def hand(self, to: int, kind: str) -> Todo:
        peer = self.rank + to * (self.job.ranks // self.job.size("pp"))
        yield from self.meet(
            "pp", kind, (6_000_000, 6_000_000), 80 + (to > 0) * 2 + (kind == "send"), kind == "recv", peer
        )

    def unshard(self, layer: int) -> Todo:
        if "shard" in self.groups:
            n, stream = self.job.size("shard"), self.lane("shard")
            if layer == 0:
                yield from self.meet("shard", "_allgather_base", (20_000_000 // n, 20_000_000), stream)
            else:
                yield from self.wait(stream)
            if layer + 1 < self.job.layers:
                yield from self.meet("shard", "_allgather_base", (20_000_000 // n, 20_000_000), stream, after=False)

    def attend(self, way: float) -> Todo:
        n = self.job.size("cp")
        if n > 1 and self.job.gather_kv:
            yield from self.meet("cp", "_allgather_base", (4_000_000 // n, 4_000_000), self.lane("cp"))
        elif n > 1:
            # heads for tokens and back
            size = (4_000_000, 4_000_000)
            yield from self.meet("cp", "all_to_allv", size, self.lane("cp"), splits=([size[0] // n] * n,) * 2)
        self.work("flash_attn::_fwd", "attn_fwd_kernel" if way == 1 else "attn_bwd_kernel", way * 0.25 * self.share)

    def rest(self, way: float) -> Todo:
        if "tp" in self.groups:
            n = self.job.size("tp")
            yield from self.meet("tp", "_allgather_base", (8_000_000 // n, 8_000_000), self.lane("tp"))
        if "ep" in self.groups:
            n = self.job.size("ep")
            self.counts["routed"] += 1
            chance = random.Random(f"{self.job.seed}/{self.groups['ep']}/{self.counts['routed']}")
            loads = [math.exp(chance.gauss(0, 0.15)) for _ in range(n)]
            mine = loads[self.groups["ep"].index(self.rank)] / (sum(loads) / n)
            split = [int(1000 * load) for load in loads]
            size = (6_000_000, int(6_000_000 * mine))
            yield from self.meet("ep", "all_to_allv", size, self.lane("ep"), splits=(split, [split[0]] * n))
            self.work("aten::_grouped_mm", "grouped_gemm", way * 0.3 * self.share, mine)
            yield from self.meet("ep", "all_to_allv", size[::-1], self.lane("ep"), splits=([split[0]] * n, split))
        else:
            self.work("aten::addmm", "ampere_bf16_s16816gemm_256x64", way * 0.3 * self.share)
        if "tp" in self.groups:
            n = self.job.size("tp")
            yield from self.meet("tp", "_reduce_scatter_base", (8_000_000, 8_000_000 // n), self.lane("tp"))

    def gradients(self, last: bool) -> Todo:
        if "shard" in self.groups:
            n, size = self.job.size("shard"), 20_000_000
            yield from self.meet("shard", "_reduce_scatter_base", (size, size // n), self.lane("replicate") + 20, False)
        for use in ("replicate", "dp"):
            if use in self.groups and last:
                size = 2_500_000 if "shard" in self.groups else 12_000_000
                yield from self.meet(use, "allreduce", (size, size), self.lane(use), after=False)


def traces(job: Other) -> list[dict[str, Any]]:
    meets: dict[object, Meet] = {}
    ranks = [Program(job, rank, meets) for rank in range(job.ranks)]
    running = deque((rank, rank.run()) for rank in ranks)
    idle = 0
    stopped: dict[int, Meet] = {}
    while running:
        rank, todo = running.popleft()
        on = stopped.get(rank.rank)
        if on is not None and not on.done:
            running.append((rank, todo))
            idle += 1
            if idle > len(running):
                raise AssertionError("ranks wait for each other")
            continue
        idle = 0
        if (waits := next(todo, None)) is not None:
            stopped[rank.rank] = waits
            running.append((rank, todo))
    return [rank.finish() for rank in ranks]


def summaries(job: Other) -> list[RankSummary]:
    found = []
    for rank, trace in enumerate(traces(job)):
        events = trace.pop("traceEvents")
        found.append(summarize(model_of(events, **trace), f"rank{rank:04d}"))
    return found
