"""The ranks of a job on simulated clocks: every rank's host, device and streams, which meet in collectives.

A collective begins on a rank when the rank gets there and ends everywhere when the last one is there and
α + V ÷ β have passed (V: bytes over the bus by the factors of nccl-tests). Chance is drawn in the same order with and
without faults, so that the same job without its faults says what they cost.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Generator
from dataclasses import dataclass, field

from .job import Group, Job, Late, MoreTokens, SlowGpu, SlowInput, SlowLink

#: of links inside a node and between nodes: α in ns, β in bytes per ns
LINKS = {True: (8_000.0, 300.0), False: (25_000.0, 40.0)}
HOST_NS, LAUNCH_NS, INPUT_NS = 12_000, 5_000, 400_000
#: elements of BFloat16 of an activation and of the parameters of a layer
ACTIVATION, PARAMETERS, NORMS = 8_388_608, 25_165_824, 16_384
#: parts of a layer's gradients that are reduced together: one over these
BUCKETS = (2, 4, 8, 64)
TOKEN = 4096
TOKENS = ACTIVATION // TOKEN
COMPUTE, NET, OUT, BACK = 7, 20, 24, 28


@dataclass
class Meeting:
    """An operation of several ranks: when each of them begins, and when it ends for all."""

    group: Group
    number: int
    kind: str
    transfer_ns: int
    size: int
    start: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    waiting: list[Rank] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return len(self.start) == self.size


@dataclass
class Record:
    """One thing in a rank's trace, in true time; `call` for what is launched (its host start and end)."""

    kind: str  # step, annotation, op, kernel, collective, sync
    name: str
    start: int
    end: int
    step: int
    call: tuple[int, int] = (0, 0)
    stream: int = COMPUTE
    meeting: Meeting | None = None
    peer: int = -1
    elements: tuple[int, int] = (0, 0)
    splits: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    number: int = 0
    blocks: int = 0


Running = Generator["Meeting", None, None]


class Rank:
    """One rank's program; it yields an operation whose end it needs to go on."""

    def __init__(self, job: Job, number: int, meetings: dict[object, Meeting], ready: deque[Rank]) -> None:
        self.job, self.number, self.meetings, self.ready = job, number, meetings, ready
        self.groups = job.groups_of(number)
        self.tp, self.dp, self.stage = job.place(number)
        self.chance = random.Random(f"{job.seed}/{number}")
        slow = next((fault.factor for fault in job.faults if isinstance(fault, SlowGpu) and fault.rank == number), 1.0)
        self.speed = (1 + self.chance.gauss(0, job.gpu_sigma)) * slow
        self.host = self.device = 0
        self.streams: dict[tuple[int, int], int] = defaultdict(int)
        self.last: dict[tuple[int, int], tuple[Meeting, Record]] = {}
        self.counts: dict[object, int] = defaultdict(int)
        self.records: list[Record] = []
        self.step = 0
        layers = 3 * job.layers * job.micro
        self.attention_ns, self.mlp_ns = 0.4e6 * job.step_ms / layers, 0.6e6 * job.step_ms / layers

    # --- pieces -------------------------------------------------------------------

    def add(self, kind: str, name: str, start: int, end: int, **more: object) -> Record:
        record = Record(kind, name, start, end, self.step, **more)  # type: ignore[arg-type]
        self.records.append(record)
        return record

    def kernel(self, operator: str, name: str, ns: float, blocks: int = 1024) -> None:
        lasts = ns * self.speed * (1 + self.chance.gauss(0, self.job.kernel_sigma))
        lasts += 1e6 * (self.chance.random() < self.job.hiccup)
        self.add("op", operator, self.host, self.host + HOST_NS)
        call = (self.host + 2_000, self.host + 2_000 + LAUNCH_NS)
        start = max(self.device, call[1] + 2_000)
        self.device = start + max(1_000, round(lasts))
        self.add("kernel", name, start, self.device, call=call, blocks=blocks)
        self.host += HOST_NS + 1_000

    def sync(self) -> None:
        """The host waits for the device."""
        end = max(self.device + 3_000, self.host + 2_000)
        self.add("sync", "cudaStreamSynchronize", self.host, end)
        self.host = end + 1_000

    def collective(
        self,
        use: str,
        kind: str,
        moved: float,
        elements: tuple[int, int],
        blocks: bool = True,
        peer: int = -1,
        splits: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
    ) -> Running:
        """Begin an operation; when it `blocks`, the device goes on at its end. `moved`: bytes over the bus."""
        group = self.groups[use]
        stream = NET + 1 if use == "dp" else NET
        if peer >= 0:
            stream = OUT if peer > self.number else BACK
        lane = (stream, kind == "send") if peer >= 0 else (stream, 0)
        before = self.last.get(lane)
        if before and not before[0].is_done:
            yield before[0]
        ends = before[0].end[self.number] if before else 0
        call = (self.host + 4_000, self.host + 4_000 + LAUNCH_NS)
        start = max(self.device, ends, call[1] + 2_000)
        # torch counts sends and receives of a group on each rank apart; the n-th of a pair is the n-th of both
        between: tuple[int, ...] = ()
        if peer >= 0:
            between = (self.number, peer) if kind == "send" else (peer, self.number)
        nth = self.counts[use, between] = self.counts[use, between] + 1
        number = self.counts[use, peer >= 0] = self.counts[use, peer >= 0] + 1
        key = (group.name, between, nth)
        meeting = self.meetings.get(key)
        if meeting is None:
            members = between or group.ranks
            ns = self.transfer_ns(members, moved, key)
            meeting = self.meetings[key] = Meeting(group, nth, kind, ns, len(members))
        host_end = self.host + HOST_NS + LAUNCH_NS
        record = self.add(
            "collective", kind, start, start, call=call, stream=stream, meeting=meeting,
            peer=peer, elements=elements, splits=splits, number=number,
        )  # fmt: skip
        self.add("op", f"c10d::{kind}_", self.host, host_end)
        self.last[lane] = (meeting, record)
        self.host = host_end + 1_000
        meeting.start[self.number] = start
        # the ranks do not leave at the very same time
        meeting.end[self.number] = round(self.chance.expovariate(1 / 700.0))
        if meeting.is_done:
            end = max(meeting.start.values()) + meeting.transfer_ns
            meeting.end = {rank: end + late for rank, late in meeting.end.items()}
            self.ready.extend(meeting.waiting)
        if blocks:
            yield from self.wait(lane)

    def wait(self, lane: tuple[int, int]) -> Running:
        """The device goes on when the last operation of the lane has ended."""
        if lane in self.last:
            meeting, _ = self.last[lane]
            if not meeting.is_done:
                yield meeting
            self.device = max(self.device, meeting.end[self.number])

    def transfer_ns(self, members: tuple[int, ...], moved: float, key: object) -> int:
        alpha, beta = LINKS[len({self.job.node(rank) for rank in members}) == 1]
        factor = 1 + random.Random(f"{self.job.seed}/{key}").gauss(0, 0.01)
        for fault in self.job.faults:
            if isinstance(fault, SlowLink) and set(fault.ranks) <= set(members):
                factor *= fault.factor
        return round((alpha + moved / beta) * factor)

    # --- the program --------------------------------------------------------------

    def run(self) -> Running:
        job = self.job
        loads = self.stage == 0
        for self.step in range(job.first_step, job.first_step + job.steps):
            start = self.host
            if loads:
                late = [f.ns for f in job.faults if isinstance(f, SlowInput) and f.node == job.node(self.number)]
                lasts = round(INPUT_NS * (1 + self.chance.gauss(0, 0.05))) + sum(late)
                name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
                self.add("annotation", name, self.host, self.host + lasts)
                self.host += lasts
            for at, (direction, _) in enumerate(job.order(self.stage)):
                last = direction == "backward" and at + 1 == 2 * job.micro
                yield from self.forward(at == 0) if direction == "forward" else self.backward(last)
            yield from self.wait((NET + 1, 0))
            if job.ranks > 1:
                yield from self.collective("world", "allreduce", 8.0, (1, 1))
            self.kernel("Optimizer.step#AdamW.step", "multi_tensor_apply_kernel<FusedAdam>", 0.02e6 * job.step_ms)
            self.sync()
            self.add("step", f"ProfilerStep#{self.step}", start, self.host)
            self.host += 5_000

    def forward(self, first: bool) -> Running:
        if self.stage > 0:
            yield from self.between("recv", -1)
        for layer in range(self.job.layers):
            yield from self.gather(layer)
            self.kernel("aten::_scaled_dot_product_flash_attention", "flash_fwd_kernel", self.attention_ns)
            yield from self.reduce_tensor()
            if first and layer == 0:
                self.look_at_values()
            yield from self.feed_forward(1.0)
        if self.stage + 1 < self.job.pp:
            yield from self.between("send", 1)

    def backward(self, last: bool) -> Running:
        if self.stage + 1 < self.job.pp:
            yield from self.between("recv", 1)
        for layer in range(self.job.layers):
            yield from self.gather(layer)
            yield from self.feed_forward(2.0)
            self.kernel("aten::_flash_attention_backward", "flash_bwd_kernel", 2 * self.attention_ns)
            yield from self.reduce_tensor()
            yield from self.reduce_gradients(last)
        if last and "tp" in self.groups:
            # gradients of what every rank of the group has: norms
            yield from self.reduce("tp", NORMS, blocks=True)
        if self.stage > 0:
            yield from self.between("send", -1)

    def reduce_gradients(self, last: bool) -> Running:
        n = self.job.dp
        if "dp" not in self.groups:
            return
        if self.job.fsdp:
            moved, sizes = 2.0 * PARAMETERS * (n - 1) / n, (PARAMETERS, PARAMETERS // n)
            yield from self.collective("dp", "_reduce_scatter_base", moved, sizes, blocks=False)
        elif last:
            for part in BUCKETS:
                yield from self.reduce("dp", PARAMETERS // part, blocks=False)

    def reduce(self, use: str, elements: int, blocks: bool) -> Running:
        n = len(self.groups[use].ranks)
        moved = 4.0 * elements * (n - 1) / n
        yield from self.collective(use, "allreduce", moved, (elements, elements), blocks=blocks)

    def gather(self, layer: int) -> Running:
        """FSDP: the parameters of this layer are there; those of the next one are on the way when prefetched."""
        if not self.job.fsdp or "dp" not in self.groups:
            return
        n = self.job.dp
        moved, sizes = 2.0 * PARAMETERS * (n - 1) / n, (PARAMETERS // n, PARAMETERS)
        if not self.job.prefetch or layer == 0:
            yield from self.collective("dp", "_allgather_base", moved, sizes)
        else:
            yield from self.wait((NET + 1, 0))
        if self.job.prefetch and layer + 1 < self.job.layers:
            yield from self.collective("dp", "_allgather_base", moved, sizes, blocks=False)

    def reduce_tensor(self) -> Running:
        if "tp" in self.groups:
            yield from self.reduce("tp", ACTIVATION, blocks=True)

    def look_at_values(self) -> None:
        """An operator whose result the host needs: the place where a rank can be late."""
        late = [fault for fault in self.job.faults if isinstance(fault, Late) and fault.rank == self.number]
        name = late[0].operator if late else "aten::nonzero"
        start = self.host
        self.sync()
        self.host += 30_000 + sum(fault.ns for fault in late)
        self.add("op", name, start, self.host)
        self.host += 1_000

    def feed_forward(self, factor: float) -> Running:
        if "ep" not in self.groups:
            self.kernel("aten::linear", "nvjet_tst_192x192_64x4_2x1_v_bz_TNN", factor * self.mlp_ns)
            yield from self.reduce_tensor()
            return
        nth = self.counts["experts"]
        self.counts["experts"] += 1
        sent, received = self.tokens(nth)
        yield from self.exchange(sent, received)
        lasts = factor * self.mlp_ns * sum(received) / TOKENS
        self.kernel("aten::_grouped_mm", "grouped_gemm_kernel", lasts, sum(received))
        yield from self.exchange(received, sent)
        yield from self.reduce_tensor()

    def tokens(self, nth: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How many tokens go to and come from each rank of the group of experts."""
        group = self.groups["ep"]
        chance = random.Random(f"{self.job.seed}/{group.name}/{nth}")
        loads = [max(0.2, 1 + chance.gauss(0, self.job.load_sigma)) for _ in group.ranks]
        for fault in self.job.faults:
            if isinstance(fault, MoreTokens) and fault.rank in group.ranks:
                loads[group.ranks.index(fault.rank)] *= fault.factor
        parts = tuple(round(TOKENS * load / len(loads)) for load in loads)
        mine = parts[group.ranks.index(self.number)]
        return parts, tuple(mine for _ in group.ranks)

    def exchange(self, sent: tuple[int, ...], received: tuple[int, ...]) -> Running:
        n = self.job.ep
        # the busiest link: nobody gets all tokens
        moved = 2.0 * TOKEN * TOKENS * (n - 1) / n
        size = (TOKEN * sum(sent), TOKEN * sum(received))
        splits = (tuple(TOKEN * each for each in sent), tuple(TOKEN * each for each in received))
        yield from self.collective("ep", "all_to_allv", moved, size, splits=splits)

    def between(self, kind: str, to: int) -> Running:
        peer = self.job.rank(self.tp, self.dp, self.stage + to)
        yield from self.collective(
            "pp", kind, 2.0 * ACTIVATION, (ACTIVATION, ACTIVATION), blocks=kind == "recv", peer=peer
        )
