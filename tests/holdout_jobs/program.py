"""What every rank of a job that is held out does in a step."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

from tests.holdout_jobs.process import AUTOGRAD, MAIN, Process, Todo


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
