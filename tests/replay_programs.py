"""Programs on a simulated machine with one device: their trace, and how long their steps really take after a change.

The machine obeys the rules of CUDA: streams in order, events between them, a launch queue of 1,021 places, calls that
wait, and a thread of the autograd engine that the main thread waits for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.events import Event

US = 1000
QUEUE = 1021
#: bytes per ns
PAGEABLE_RATE, PINNED_RATE = 6, 24
MAIN, ENGINE = 1, 2
COMPUTE, COMMUNICATION = 7, 20
LAUNCH_NS, GAP_NS, WAKE_NS = 4_000, 1_200, 4_000

Instruction = tuple[Any, ...]


@dataclass(frozen=True)
class World:
    """Factors of the truth: 1 is as it was recorded; jitter: coefficient of variation of delays, drawn from `seed`."""

    kernels: float = 1
    launch: float = 1
    data: float = 1
    host: float = 1
    collectives: float = 1
    syncs: bool = True
    no_syncs_in: frozenset[int] = frozenset()  # steps
    pinned: bool = False
    graphed: bool = False
    jitter: float = 0
    seed: int = 0


def random_program(seed: int, steps: int = 4) -> list[list[Instruction]]:
    """Training steps: data, forward, backward on the engine's thread with collectives, optimizer, sometimes a wait."""
    rng = np.random.default_rng(seed)
    kernel = float(rng.choice([8, 40, 120])) * US
    host = float(rng.choice([6, 25, 60])) * US
    data = int(rng.choice([0, 300, 4000])) * US
    size = int(rng.integers(20, 50))
    every = int(rng.integers(5, 15))
    collective = float(rng.choice([100, 600])) * US
    waiting = str(rng.choice(["sync", "copy_back", "none"]))

    def work() -> Instruction:
        return ("launch", int(host * rng.uniform(0.4, 1.6)), int(kernel * rng.uniform(0.2, 1.8)), COMPUTE)

    program = []
    for _ in range(steps):
        step: list[Instruction] = [("data", data)] if data else []
        step += [work() for _ in range(size)]
        if waiting != "none":
            step.append((waiting, 3 * US))
        inner: list[Instruction] = []
        for i in range(size):
            inner.append(work())
            if i % every == every - 1:
                inner += [("wait", COMMUNICATION, COMPUTE), ("collective", int(collective * rng.uniform(0.5, 1.5)))]
        step += [("backward", inner), ("wait", COMPUTE, COMMUNICATION)]
        step += [work() for _ in range(size // 3)]
        program.append(step)
    return program


@dataclass
class Machine:
    """Runs a program; `events` is its trace, `step_ends` the ends of the steps, ns."""

    world: World = World()
    events: list[Event] = field(default_factory=list)
    step_ends: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.world.seed)
        self._now = {MAIN: 0, ENGINE: 0}
        self._free: dict[int, int] = {}
        self._waits: dict[int, int] = {}
        self._starts: dict[int, list[int]] = {}
        self._correlation = 0

    def run(self, program: list[list[Instruction]]) -> Machine:
        end = 0
        for number, step in enumerate(program):
            begin, self._step, self._is_first = self._now[MAIN], number, True
            self._python(MAIN, 20 * US)
            self._device_end = 0
            for instruction in step:
                self._execute(MAIN, instruction)
            self._python(MAIN, 10 * US)
            self._event("user_annotation", f"ProfilerStep#{number}", MAIN, begin, self._now[MAIN])
            end = max(end, self._now[MAIN], self._device_end)
            self.step_ends.append(end)
        return self

    @property
    def total_ns(self) -> int:
        return self.step_ends[-1]

    def _drawn(self, length: float, share: float = 1.0) -> int:
        spread = self.world.jitter * share
        return max(round(length * (1 + spread * float(np.clip(self._rng.normal(), -2, 2)))), 0)

    def _event(self, cat: str, name: str, tid: int, start: int, end: int, **args: Any) -> None:
        pid = 1 if tid in (MAIN, ENGINE) else 0
        found = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start / US}
        self.events.append({**found, "dur": (end - start) / US, "args": args})

    def _python(self, lane: int, length: float) -> None:
        self._now[lane] += 0 if self.world.graphed else round(length * self.world.host)

    def _call(self, lane: int, length: float) -> tuple[int, int]:
        begin = self._now[lane]
        self._python(lane, length)
        return begin, self._now[lane]

    def _execute(self, lane: int, instruction: Instruction) -> None:
        kind, *rest = instruction
        getattr(self, f"_do_{kind}")(lane, *rest)

    def _do_data(self, lane: int, length: int) -> None:
        begin = self._now[lane]
        self._now[lane] += round(length * self.world.data * self.world.host)
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        self._event("user_annotation", name, lane, begin, self._now[lane])

    def _do_launch(self, lane: int, host: int, kernel: int, stream: int) -> None:
        begin = self._now[lane]
        self._python(lane, host)
        self._launch(lane, stream, kernel * self.world.kernels, "gemm")
        self._python(lane, host / 4)
        self._event("cpu_op", "aten::mm" if lane == MAIN else "autograd::engine::mm", lane, begin, self._now[lane])
        self._python(lane, 1 * US)

    def _do_collective(self, lane: int, length: int) -> None:
        begin = self._now[lane]
        self._launch(lane, COMMUNICATION, length * self.world.collectives, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
        self._event("cpu_op", "c10d::allreduce_", lane, begin, self._now[lane])

    def _launch(self, lane: int, stream: int, length: float, name: str) -> None:
        self._correlation += 1
        begin = self._now[lane]
        call = round(self._drawn(5 * US, 0.6) * self.world.launch * self.world.host)
        self._now[lane] += call if self._is_first or not self.world.graphed else 0
        starts = self._starts.setdefault(stream, [])
        if len(starts) >= QUEUE:
            self._now[lane] = max(self._now[lane], starts[-QUEUE] + self._drawn(WAKE_NS))
        self._event("cuda_runtime", "cudaLaunchKernel", lane, begin, self._now[lane], correlation=self._correlation)
        self._item(stream, self._now[lane], length, name, "kernel")

    def _item(self, stream: int, released: int, length: float, name: str, cat: str, **args: Any) -> int:
        gap = 1 * US if self.world.graphed and not self._is_first else GAP_NS
        start = released + (self._drawn(LAUNCH_NS) if self._is_first or not self.world.graphed else 0)
        if cat == "kernel":
            self._is_first = False
        if stream in self._free:
            start = max(start, self._free[stream] + self._drawn(gap))
        if stream in self._waits:
            start = max(start, self._waits.pop(stream) + self._drawn(gap))
        end = start + round(length)
        self._free[stream] = end
        self._starts.setdefault(stream, []).append(start)
        self._device_end = max(self._device_end, end)
        self._event(cat, name, stream, start, end, correlation=self._correlation, device=0, stream=stream, **args)
        return end

    def _do_wait(self, lane: int, stream: int, on: int) -> None:
        for name in ("cudaEventRecord", "cudaStreamWaitEvent"):
            self._correlation += 1
            begin, end = self._call(lane, 1 * US)
            self._event("cuda_runtime", name, lane, begin, end, correlation=self._correlation)
        if on in self._free:
            self._waits[stream] = max(self._waits.get(stream, 0), self._free[on])

    def _do_sync(self, lane: int, length: int, name: str = "cudaDeviceSynchronize", stream: int | None = None) -> None:
        if not self.world.syncs or self._step in self.world.no_syncs_in:
            return
        self._correlation += 1
        begin = self._now[lane]
        done = max(self._free.values(), default=0) if stream is None else self._free.get(stream, 0)
        free = begin + round(length * self.world.host)
        self._now[lane] = max(free, done + self._drawn(WAKE_NS)) if done > begin else free
        self._event("cuda_runtime", name, lane, begin, self._now[lane], correlation=self._correlation)

    def _do_copy_back(self, lane: int, length: int) -> None:
        self._correlation += 1
        begin, correlation = self._now[lane], self._correlation
        end = self._item(COMPUTE, begin, length, "Memcpy DtoH (Device -> Pageable)", "gpu_memcpy")
        if self.world.syncs:
            self._now[lane] = end + self._drawn(WAKE_NS)
        self._event("cuda_runtime", "cudaMemcpyAsync", lane, begin, self._now[lane], correlation=correlation)

    def _do_python(self, lane: int, length: float) -> None:
        self._python(lane, length)

    def _do_copy_in(self, lane: int, size: int, pageable: bool) -> None:
        """To the device: from pageable memory the call returns when it is done, and a synchronisation follows."""
        self._correlation += 1
        begin, correlation = self._now[lane], self._correlation
        if pageable and not self.world.pinned:
            name = "Memcpy HtoD (Pageable -> Device)"
            end = self._item(COMPUTE, begin, size / PAGEABLE_RATE, name, "gpu_memcpy", bytes=size)
            self._now[lane] = end + self._drawn(WAKE_NS)
        else:
            self._now[lane] += round(LAUNCH_NS * self.world.host)
            name = "Memcpy HtoD (Pinned -> Device)"
            self._item(COMPUTE, self._now[lane], size / PINNED_RATE, name, "gpu_memcpy", bytes=size)
        self._event("cuda_runtime", "cudaMemcpyAsync", lane, begin, self._now[lane], correlation=correlation)
        if pageable and not self.world.pinned:
            self._do_sync(lane, 2 * US, "cudaStreamSynchronize", stream=COMPUTE)
        self._event("cpu_op", "aten::copy_", lane, begin, self._now[lane])

    def _do_backward(self, lane: int, inner: list[Instruction]) -> None:
        self._now[ENGINE] = self._now[lane] + (0 if self.world.graphed else self._drawn(40 * US, 0.3))
        for instruction in inner:
            self._execute(ENGINE, instruction)
        self._now[lane] = self._now[ENGINE] + (0 if self.world.graphed else self._drawn(30 * US, 0.3))
        self._event("cpu_op", "aten::zeros", lane, self._now[lane], self._now[lane] + 2 * US)
        self._python(lane, 2 * US)


def copying_program(steps: int = 3) -> list[list[Instruction]]:
    """Steps that copy their batch in parts from pageable memory while the device works, and one part from pinned."""
    step: list[Instruction] = []
    for size in (600_000, 1_200_000, 240_000):
        step += [("launch", 6 * US, 150 * US, COMPUTE)] * 5 + [("copy_in", size, True)]
    step += [("copy_in", 480_000, False)] * 2 + [("launch", 25 * US, 30 * US, COMPUTE)] * 30
    return [step] * steps


def short_kernels(fused_ns: int | None, steps: int = 3) -> list[list[Instruction]]:
    """Steps with runs of four short kernels between long ones; with a time, one kernel that takes it for each run."""
    short: Instruction = ("launch", 50 * US, 7 * US, COMPUTE)
    # what is left of three launches is the Python code between them
    one: list[Instruction] = [("python", 1 * US)] * 3 + [("launch", 50 * US, fused_ns, COMPUTE)]
    run = [short] * 4 if fused_ns is None else one
    return [([("launch", 12 * US, 60 * US, COMPUTE)] * 3 + run) * 12 + [("sync", 3 * US)]] * steps


def queue_program() -> list[list[Instruction]]:
    """Two steps that launch far more than the queue holds."""
    return [[("launch", 2 * US, 60 * US, COMPUTE)] * 1600 for _ in range(2)]


def recorded(program: list[list[Instruction]], jitter: float = 0) -> Machine:
    return Machine(World(jitter=jitter, seed=1)).run(program)


def truth(program: list[list[Instruction]], jitter: float = 0, **change: Any) -> int:
    """How long all steps take after a change, ns; delays are drawn anew."""
    return Machine(replace(World(jitter=jitter, seed=2), **change)).run(program).total_ns
