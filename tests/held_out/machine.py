"""A machine that writes traces as torch 2 does: nested operators, stacks, modules, streams, two threads, one GPU.

A program is Python code that calls the machine, so that it reads as the program that it stands for. It is run twice,
with its fault and without it: how much longer its steps are with it is the truth that findings are compared with.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.events import Event

PID, MAIN, ENGINE, OTHER = 4100, 4100, 4188, 4201
START_US = 5_000_000_000.0
COMPUTE, COMM = 7, 20
#: bytes/µs of copies by the memory on the host
RATE = {"Pinned": 24_000, "Pageable": 5_000, "Device": 900_000, "Host": 20_000}
QUEUE = 1000


@dataclass(frozen=True)
class Gpu:
    """The device: name, header, and what it multiplies and moves, FLOP/µs and bytes/µs."""

    name: str
    major: int
    minor: int
    multiprocessors: int
    flops: dict[str, float]
    bandwidth: float
    memory: int = 80 * 2**30
    vendor: str = "cuda"

    @property
    def header(self) -> dict[str, Any]:
        return {
            "id": 0,
            "name": self.name,
            "totalGlobalMem": self.memory,
            "computeMajor": self.major,
            "computeMinor": self.minor,
            "numSms": self.multiprocessors,
            "warpSize": 64 if self.vendor == "hip" else 32,
            "maxThreadsPerMultiprocessor": 2048,
            "maxThreadsPerBlock": 1024,
            "regsPerMultiprocessor": 65536,
            "sharedMemPerMultiprocessor": 167936,
        }


A100 = Gpu("NVIDIA A100-SXM4-80GB", 8, 0, 108, {"bf16": 200e6, "tf32": 90e6, "fp32": 16e6}, 1.5e6)
H100 = Gpu("NVIDIA H100 80GB HBM3", 9, 0, 132, {"bf16": 550e6, "tf32": 270e6, "fp32": 50e6}, 2.6e6)
V100 = Gpu("Tesla V100-SXM2-32GB", 7, 0, 80, {"bf16": 80e6, "tf32": 12e6, "fp32": 12e6}, 0.75e6, 32 * 2**30)
MI300X = Gpu("AMD Instinct MI300X", 9, 4, 304, {"bf16": 600e6, "tf32": 110e6, "fp32": 100e6}, 3.6e6, 192 * 2**30, "hip")


@dataclass
class Machine:
    """Runs a program; `events` is its trace, `ends` the ends of its steps, µs.

    faulty   whether the program has its fault
    stacks   whether Python frames and modules are recorded
    shapes   whether shapes and types of inputs are recorded
    marks    whether the steps of the profiler are marked
    steps    how many are recorded, at most
    cut      the part of the events, at the beginning and at the end, that was not recorded: steps begin before it
    host_factor  what the host takes, × that of a quick processor
    """

    gpu: Gpu = A100
    faulty: bool = True
    stacks: bool = True
    shapes: bool = True
    marks: bool = True
    steps: int = 6
    cut: float = 0.0
    host_factor: float = 1.0
    seed: int = 0
    events: list[Event] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self.now = {MAIN: START_US, ENGINE: START_US, OTHER: START_US}
        self.lane = MAIN
        self.free: dict[int, float] = {}
        self._after: dict[int, float] = {}
        self._starts: list[float] = []
        self.correlation, self._external, self.sequence, self._modules = 1000, 0, 0, 0
        self._pending = 0
        self.tape: list[Callable[[], None]] = []
        self.after_node: Callable[[], None] | None = None
        self._graph: list[tuple[str, float, dict[str, Any]]] | None = None

    # the host

    def host(self, us: float) -> None:
        """Time of the thread without a record of its own."""
        self.now[self.lane] += us * self.host_factor * self._random.uniform(0.9, 1.1)

    def idle(self, us: float) -> None:
        """Time that no processor makes shorter."""
        self.now[self.lane] += us * self._random.uniform(0.98, 1.02)

    @contextmanager
    def _range(self, cat: str, name: str, **args: Any) -> Iterator[None]:
        begin, lane = self.now[self.lane], self.lane
        self._external += 1
        args = {"External id": self._external, **args}
        at = len(self.events)
        yield
        end = self.now[lane]
        self.events.insert(at, self._x(cat, name, PID, lane, begin, end - begin, args))

    def frame(self, name: str) -> Any:
        return self._range("python_function", name, **{"Python id": len(self.events)}) if self.stacks else _nothing()

    def annotate(self, name: str) -> Any:
        return self._range("user_annotation", name)

    def op(self, name: str, dims: list[Any] | None = None, kind: str = "float", cost: float = 2, **args: Any) -> Any:
        if self.shapes and dims is not None:
            args["Input Dims"] = dims
            args["Input type"] = [kind if each else "Scalar" for each in dims]
        return self._op(name, cost, args)

    @contextmanager
    def _op(self, name: str, cost: float, args: dict[str, Any]) -> Iterator[None]:
        self.host(1)
        with self._range("cpu_op", name, **args):
            if self._pending:
                self.arrow("s", self._pending)
                self._pending = 0
            self.host(cost)
            yield

    def next_node(self) -> int:
        """The number of the next node of autograd; the operator that is called next is its forward."""
        self.sequence += 1
        self._pending = self.sequence
        return self.sequence

    def arrow(self, phase: str, number: int) -> None:
        """An end of the arrow from an operator to its backward."""
        flow = {"ph": phase, "id": number, "pid": PID, "tid": self.lane, "ts": self.now[self.lane]}
        self.events.append({**flow, "cat": "fwdbwd", "name": "fwdbwd", **({"bp": "e"} if phase == "f" else {})})

    @contextmanager
    def module(self, kind: str, line: str) -> Iterator[None]:
        self.host(3)
        called = "torch/nn/modules/module.py(1751): _wrapped_call_impl"
        with self.frame(f"nn.Module: {kind}_{self._modules % 8}"), self.frame(called), self.frame(line):
            self.host(2)
            yield
            self._modules += 1

    def call(self, name: str, us: float, correlation: int | None = None) -> tuple[float, float]:
        """One call of the device's API; its begin and end."""
        begin = self.now[self.lane]
        self.now[self.lane] += us * self._random.uniform(0.9, 1.1)
        self._api(name, begin, self.now[self.lane], correlation)
        return begin, self.now[self.lane]

    def _api(self, name: str, begin: float, end: float, correlation: int | None) -> None:
        if correlation is None:
            self.correlation += 1
            correlation = self.correlation
        name = name.replace("cuda", "hip") if self.gpu.vendor == "hip" else name
        args = {"External id": self._external, "cbid": 211, "correlation": correlation}
        self.events.append(self._x("cuda_runtime", name, PID, self.lane, begin, end - begin, args))

    # the device

    def kernel(self, name: str, us: float, stream: int = COMPUTE, blocks: int = 432, **args: Any) -> None:
        """A launch and its kernel; while a graph is captured only the kernel, for later."""
        args = {"grid": [blocks, 1, 1], "block": [256, 1, 1], "registers per thread": 64, "shared memory": 0, **args}
        if self._graph is not None:
            self._graph.append((name, us, args))
            return
        self.correlation += 1
        begin = self.now[self.lane]
        self.now[self.lane] += 4.5 * self._random.uniform(0.9, 1.2)
        recent = self._starts[-QUEUE - 200 :]
        # mostly nothing is outstanding, which the latest start tells sooner than all of them
        if len(recent) >= QUEUE and max(recent) > self.now[self.lane]:
            outstanding = [each for each in recent if each > self.now[self.lane]]
            if len(outstanding) >= QUEUE:
                self.now[self.lane] = sorted(outstanding)[-QUEUE] + 3
        correlation = self.correlation
        self._api("cudaLaunchKernel", begin, self.now[self.lane], correlation)
        self.item("kernel", name, self.now[self.lane], us, stream, correlation, **args)

    def item(
        self, cat: str, name: str, released: float, us: float, stream: int, correlation: int, **args: Any
    ) -> float:
        start = max(released + 1.6, self.free.get(stream, 0) + 1.2, self._after.pop(stream, 0) + 1.5)
        us *= self._random.uniform(0.98, 1.02)
        self.free[stream] = start + us
        self._starts.append(start)
        args = {
            "External id": self._external,
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": correlation,
            **args,
        }
        self.events.append(self._x(cat, name, 0, stream, start, us, args))
        for phase, pid, tid, ts in (("s", PID, self.lane, released - 2), ("f", 0, stream, start)):
            flow = {"ph": phase, "id": correlation, "pid": pid, "tid": tid, "ts": ts, "cat": "ac2g", "name": "ac2g"}
            self.events.append({**flow, "bp": "e"} if phase == "f" else flow)
        return start + us

    def copy(self, source: str, target: str, size: int, stream: int = COMPUTE, waits: bool = False) -> None:
        """A copy; pageable memory makes the call wait for it, and so does `waits`."""
        self.correlation += 1
        correlation = self.correlation
        way = f"{'D' if source == 'Device' else 'H'}to{'D' if target == 'Device' else 'H'}"
        host = target if source == "Device" else source
        if self.gpu.vendor == "hip" and way != "DtoD":
            source, target = (each if each == "Device" else "Host" for each in (source, target))
        begin = self.now[self.lane]
        pageable = host == "Pageable"
        released = begin + (2 if pageable else 5)
        name = f"Memcpy {way} ({source} -> {target})"
        rate = size / RATE[host]
        end = self.item("gpu_memcpy", name, released, 1.5 + rate, stream, correlation, bytes=size)
        self.now[self.lane] = end + 5 if pageable else released
        self._api("cudaMemcpyAsync", begin, self.now[self.lane], correlation)
        if waits:
            self.synchronize("cudaStreamSynchronize", stream)

    def synchronize(self, name: str = "cudaDeviceSynchronize", stream: int | None = None) -> None:
        begin = self.now[self.lane]
        until = max(self.free.values(), default=0) if stream is None else self.free.get(stream, 0)
        self.now[self.lane] = max(begin + 2, until + 4)
        self._api(name, begin, self.now[self.lane], None)

    def wait_for(self, stream: int, other: int) -> None:
        """Work launched later on a stream waits for what was launched on another."""
        self.call("cudaEventRecord", 1.5)
        self.call("cudaStreamWaitEvent", 1.5)
        self._after[stream] = max(self._after.get(stream, 0), self.free.get(other, 0))

    @contextmanager
    def graph(self) -> Iterator[None]:
        """What is inside runs as one graph: of its host time a launch is left."""
        at, now, count = len(self.events), self.now[self.lane], self._external
        self._graph = []
        yield
        kernels, self._graph = self._graph, None
        del self.events[at:]
        self.now[self.lane], self._external = now, count
        self.correlation += 1
        correlation = self.correlation
        _, end = self.call("cudaGraphLaunch", 20 + len(kernels) / 20, correlation)
        for name, us, args in kernels:
            self.item("kernel", name, end, us, COMPUTE, correlation, **{"graph id": 3, **args})

    # steps

    @contextmanager
    def backward(self) -> Iterator[None]:
        """The thread of the autograd engine goes on; the main thread waits for it."""
        with (
            self.frame("torch/_tensor.py(647): backward"),
            self.frame("torch/autograd/graph.py(829): _engine_run_backward"),
        ):
            self.host(15)
            self.now[ENGINE] = self.now[MAIN] + 20
            self.lane = ENGINE
            yield
            self.lane = MAIN
            self.now[MAIN] = self.now[ENGINE] + 15
            self.host(5)

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        begin = self.now[MAIN]
        with self.annotate(f"ProfilerStep#{number}") if self.marks else _nothing():
            self.host(10)
            yield
            self.host(10)
        last = self.ends[-1] if self.ends else begin
        self.ends.append(max(self.now[MAIN], *self.free.values(), last))
        if len(self.ends) == 1:
            self._begin = begin

    @property
    def steps_us(self) -> list[float]:
        """How long each step takes."""
        begins = [self._begin, *self.ends[:-1]]
        return [end - begin for begin, end in zip(begins, self.ends, strict=True)]

    def document(self) -> dict[str, Any]:
        """The trace file."""
        names = [
            {"ph": "M", "name": "process_name", "pid": PID, "tid": 0, "ts": START_US, "args": {"name": "python3"}},
            {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": START_US, "args": {"name": "python3"}},
            {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": START_US, "args": {"labels": "GPU 0"}},
        ]
        has_gpu = any(each.get("cat") == "kernel" for each in self.events)
        header = {"schemaVersion": 1, "deviceProperties": [self.gpu.header] if has_gpu else []}
        begin, end = (
            START_US + self.cut * (self.ends[-1] - START_US),
            self.ends[-1] - self.cut * (self.ends[-1] - START_US),
        )
        kept = [each for each in self.events if begin <= each["ts"] and each["ts"] + each.get("dur", 0) <= end + 1]
        return {
            **header,
            "record_shapes": int(self.shapes),
            "with_stack": int(self.stacks),
            "traceEvents": names + kept,
        }

    @staticmethod
    def _x(cat: str, name: str, pid: int, tid: int, ts: float, dur: float, args: dict[str, Any]) -> Event:
        return {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": pid,
            "tid": tid,
            "ts": round(ts, 3),
            "dur": round(dur, 3),
            "args": args,
        }


@contextmanager
def _nothing() -> Iterator[None]:
    yield
