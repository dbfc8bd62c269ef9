"""One process with a GPU on simulated clocks: host threads, device streams, allocator.

Two host threads (training and autograd) and two device streams (compute and collectives). A
launch call moves the host clock; the kernel starts when the launch has reached the device, its
stream is free and what it waits for is done. Every event is counted in the truth as it is made.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .config import Config
from .devices import DEVICES, Kernel
from .expected import Expected, Launch
from .model import Copy

MIB = 2**20
COMM_STREAM = 20
CALL_IDS = {  # "cbid" of CUPTI or "cid" of roctracer; launches not listed: 211
    "cuLaunchKernelEx": 652, "cudaLaunchKernelExC": 430, "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51,
    "cudaEventRecord": 135, "cudaStreamWaitEvent": 147, "hipExtModuleLaunchKernel": 81,
    "hipLaunchKernel": 107, "hipExtLaunchKernel": 80, "hipMemcpyWithStream": 153, "hipMemsetAsync": 162,
    "hipEventRecord": 76, "hipStreamWaitEvent": 224,
}  # fmt: skip
BASE_NS = 1_759_300_578_000_000_000  # epoch of "baseTimeNanoseconds"
START_NS = 2_345_678_901_234_000  # of the trace, after the base


class Event(NamedTuple):
    """One trace event with times in ns after the base."""

    ph: str
    cat: str
    name: str
    pid: int | str
    tid: int | str
    ts: int
    dur: int | None = None
    args: dict[str, Any] | None = None
    id: int | None = None


class Thread:
    def __init__(self, tid: int, now: int) -> None:
        self.tid = tid
        self.now = now
        self.ops: list[Span] = []
        self.annotations: list[Span] = []
        self.frames: list[tuple[int, str]] = []


@dataclass(slots=True)
class Span:
    """A range being open on a host thread."""

    name: str
    start: int
    external_id: int
    args: dict[str, Any]
    inner_ns: int = 0
    duration: int = 0  # known when it is closed
    device_ranges: dict[int, tuple[int, int]] = field(default_factory=dict)


class Machine:
    def __init__(self, config: Config, rank: int, keep: bool, resident: int) -> None:
        self.config = config
        self.device = DEVICES[config.device]
        self.rank = rank
        self.index = rank % (config.gpus or config.ranks)
        self.pid = 4200 + rank
        self.random = random.Random(f"{config.seed}/{rank}")
        self.quantum = 1000 if config.legacy else 1
        skew = self.random.randint(-config.skew_ns, config.skew_ns) // self.quantum * self.quantum
        self.offset = START_NS + skew
        self.expected = Expected(rank, skew)
        self.keep = keep
        self.events: list[Event | None] = []
        self.main = Thread(self.pid, 0)
        self.autograd = Thread(self.pid + 60, 0)
        self.free = {self.device.compute_stream: 0, COMM_STREAM: 0}
        self.counters = {
            "external": 0,
            "index": 0,
            "python": 0,
            "address": 0,
            "sequence": 0,
            "collective": 0,
            "correlation": 900,
        }
        self.live: dict[int, int] = {}
        self.allocated = resident
        self.reserved = -(-self.allocated // (2 * MIB)) * 2 * MIB

    # --- general pieces -------------------------------------------------------------------

    def next(self, counter: str) -> int:
        self.counters[counter] += 1
        return self.counters[counter]

    def jittered(self, nanoseconds: float) -> int:
        return max(1, round(nanoseconds * self.random.uniform(0.93, 1.07) / self.quantum)) * self.quantum

    def reserve(self) -> int:
        """A place in the output for an event that is complete only later: parents come first."""
        self.events.append(None)
        return len(self.events) - 1

    def emit(self, event: Event, slot: int | None = None) -> None:
        event = event._replace(ts=event.ts + self.offset)
        self.expected.categories[event.cat or event.ph] += 1
        if slot is None:
            self.events.append(event)
        else:
            self.events[slot] = event

    def take(self) -> list[Event]:
        """The finished events; nothing may be open."""
        taken = [event for event in self.events if event is not None]
        assert len(taken) == len(self.events)
        self.events = []
        return taken

    def host(
        self, thread: Thread, cat: str, name: str, start: int, args: dict[str, Any], slot: int | None = None
    ) -> None:
        self.emit(Event("X", cat, name, self.pid, thread.tid, start, thread.now - start, args), slot)

    def flow(self, ph: str, name: str, pid: int, tid: int, ts: int, identity: int) -> None:
        if name == "ac2g" or not self.config.legacy:
            self.emit(Event(ph, name, name, pid, tid, ts, id=identity))

    @contextmanager
    def frame(self, thread: Thread, name: str, module: int | None = None, late: bool = False) -> Iterator[None]:
        """A Python frame, or an nn.Module call if ``module`` numbers it among its class.

        A frame longer than a step must be ``late``: written when it ends.
        """
        if not self.config.stacks:
            yield
            return
        identity, start = self.next("python"), thread.now
        parent = thread.frames[-1][0] if thread.frames else None
        thread.frames.append((identity, name))
        slot = None if late or self.config.legacy else self.reserve()
        thread.now += self.jittered(600)
        yield
        thread.now += self.jittered(300)
        thread.frames.pop()
        if not self.config.legacy:
            args = {"Python parent id": parent, "Python id": identity}
            if module is not None:
                args["Python module id"] = module
            self.host(thread, "python_function", name, start, args | {"Ev Idx": self.next("index")}, slot)

    @contextmanager
    def span(self, thread: Thread, name: str, cat: str = "cpu_op", cost: float = 4000, **extra: Any) -> Iterator[Span]:
        """An operator or a user annotation; ``cost`` is its own host time."""
        args: dict[str, Any] = {"External id": self.next("external"), "Record function id": 0} | extra
        args["Ev Idx"] = self.next("index")
        if self.config.legacy and self.config.stacks:
            args["Call stack"] = ";".join(name for _, name in reversed(thread.frames))
        span = Span(name, thread.now, args["External id"], args)
        stack = thread.ops if cat == "cpu_op" else thread.annotations
        stack.append(span)
        slot = self.reserve()
        thread.now += self.jittered(cost * 0.7)
        yield span
        thread.now += self.jittered(cost * 0.3)
        stack.pop()
        self.host(thread, cat, name, span.start, args, slot)
        duration = span.duration = thread.now - span.start
        thread.now += self.jittered(300)
        if cat == "cpu_op":
            truth = self.expected.ops[name]
            truth.calls += 1
            truth.host_ns += duration
            truth.host_self_ns += duration - span.inner_ns
            if stack:
                stack[-1].inner_ns += duration
            return
        calls, total = self.expected.annotations[name]
        self.expected.annotations[name] = calls + 1, total + duration
        if not self.config.legacy:
            for stream, (start, end) in span.device_ranges.items():  # CUPTI's copies are 1 ns wider
                copy = Event("X", "gpu_user_annotation", name, self.index, stream, start - 1, end - start + 2)
                self.emit(copy._replace(args={"External id": span.external_id}))

    def launch_call(
        self, thread: Thread, name: str, cost: float, args: dict[str, Any] | None = None
    ) -> tuple[int, int]:
        """A runtime or driver call; returns its correlation id and start."""
        correlation, start = self.next("correlation"), thread.now
        thread.now += self.jittered(cost)
        head: dict[str, Any] = {"External id": thread.ops[-1].external_id} if thread.ops else {}
        head |= {
            "cid" if self.device.is_rocm else "cbid": CALL_IDS.get(name, 211),
            "correlation": correlation,
        }
        cat = "cuda_driver" if name.startswith("cu") and not name.startswith("cuda") else "cuda_runtime"
        self.count_call(thread, start)
        self.host(thread, cat, name, start, head | (args or {}))
        return correlation, start

    def count_call(self, thread: Thread, start: int) -> None:
        if thread.ops:
            self.expected.ops[thread.ops[-1].name].call_ns += thread.now - start

    def device_work(
        self,
        thread: Thread,
        cat: str,
        name: str,
        stream: int,
        call: tuple[int, int],
        start: int,
        end: int,
        args: dict[str, Any],
    ) -> None:
        """A kernel, copy or memset with its arrow from the launch, and its place in the truth."""
        correlation, called = call
        op = thread.ops[-1] if thread.ops else None
        head: dict[str, Any] = {"External id": op.external_id} if op else {}
        if cat == "kernel" and not self.device.is_rocm:
            head["queued"] = 0
        head["device"] = self.index
        if not self.device.is_rocm:
            head["context"] = 1
        args = head | {"stream": stream, "correlation": correlation} | args
        duration = end - start
        self.emit(Event("X", cat, name, self.index, stream, start, duration, args))
        if called >= 0:
            self.flow("s", "ac2g", self.pid, thread.tid, called, correlation)
            self.flow("f", "ac2g", self.index, stream, start, correlation)
        self.free[stream] = max(self.free[stream], end)
        for annotation in thread.annotations if called >= 0 else ():
            low, high = annotation.device_ranges.get(stream, (start, end))
            annotation.device_ranges[stream] = min(low, start), max(high, end)
        truth = self.expected
        truth.device_ns[cat] += duration
        if cat == "kernel":
            calls, total = truth.kernels[name]
            truth.kernels[name] = calls + 1, total + duration
        if op is None:
            truth.unattributed_ns += duration
        else:
            truth.ops[op.name].device_self_ns += duration
            for outer in thread.ops:
                truth.ops[outer.name].device_ns += duration
        if self.keep:
            op_name, op_id = (op.name, op.external_id) if op else (None, None)
            truth.launches[correlation] = Launch(cat, name, start, duration, stream, op_name, op_id, called >= 0)

    # --- device work ----------------------------------------------------------------------

    def start_on(self, stream: int, now: int) -> int:
        gap = self.jittered(800) * (-1 if self.config.stream_overlap else 1)
        return max(now + self.jittered(1800), self.free[stream] + gap)

    def run(self, thread: Thread, work: Kernel | Copy) -> None:
        if isinstance(work, Copy):
            self.run_copy(thread, work)
            return
        stream = self.device.compute_stream
        details: dict[str, Any] = {}
        if self.device.is_rocm:
            details = {
                "kernel": work.name,
                "grid": list(work.grid),
                "block": list(work.block),
                "shared memory": work.shared,
            }
            name = "hipExtModuleLaunchKernel" if work.name.startswith("Cijk") else "hipLaunchKernel"
        else:
            name = "cuLaunchKernelEx" if work.driver and not self.config.legacy else "cudaLaunchKernel"
        call = self.launch_call(thread, name, 4500, details)
        start = self.start_on(stream, thread.now)
        is_slow = bool(self.config.slow_kernel) and self.config.slow_kernel in work.name
        end = start + self.jittered(work.nanoseconds * (self.config.slow_factor if is_slow else 1.0))
        self.device_work(thread, "kernel", work.name, stream, call, start, end, self.kernel_args(work))

    def kernel_args(self, kernel: Kernel) -> dict[str, Any]:
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        shape = {"grid": list(kernel.grid), "block": list(kernel.block)}
        if self.device.is_rocm:
            return {"kind": "Dispatch Kernel"} | shape
        blocks = kernel.grid[0] * kernel.grid[1] * kernel.grid[2] / self.device.units
        warps = -(-threads // 32)
        resident = min(2048 // threads, 65536 // (kernel.registers * threads), 233472 // max(1, kernel.shared))
        return {
            "registers per thread": kernel.registers,
            "shared memory": kernel.shared,
            "blocks per SM": round(blocks, 6),
            "warps per SM": round(blocks * warps, 6),
            **shape,
            "est. achieved occupancy %": round(100 * min(resident, blocks) * warps / 64),
        }

    def run_copy(self, thread: Thread, copy: Copy) -> None:
        stream, rocm = self.device.compute_stream, self.device.is_rocm
        if copy.kind is None:
            cat, name, rate = "gpu_memset", "Memset (Device)", self.device.bandwidth
            call = self.launch_call(thread, "hipMemsetAsync" if rocm else "cudaMemsetAsync", 3500)
        else:
            host = "Pageable" if copy.pageable else "Pinned"
            ends = f"{host} -> Device" if copy.kind == "HtoD" else f"Device -> {host}"
            cat, name, rate = "gpu_memcpy", f"Memcpy {copy.kind} ({ends})", 12.0
            call = self.launch_call(thread, "hipMemcpyWithStream" if rocm else "cudaMemcpyAsync", 7000)
        start = self.start_on(stream, thread.now)
        end = start + self.jittered(copy.bytes / rate + 900)
        bandwidth = {"bytes": copy.bytes, "memory bandwidth (GB/s)": copy.bytes / (end - start)}
        self.device_work(
            thread, cat, name, stream, call, start, end, ({"kind": copy.kind} if rocm and copy.kind else {}) | bandwidth
        )

    def synchronize(self, thread: Thread, stream: int) -> None:
        """The host waits for a stream."""
        start = thread.now
        thread.now = max(thread.now + self.jittered(1500), self.free[stream] + self.jittered(1500))
        prefix = "hip" if self.device.is_rocm else "cuda"
        correlation = self.next("correlation")
        args = {
            "External id": thread.ops[-1].external_id,
            "cid" if prefix == "hip" else "cbid": 131,
            "correlation": correlation,
        }
        self.count_call(thread, start)
        self.host(thread, "cuda_runtime", f"{prefix}StreamSynchronize", start, args)
        if prefix == "cuda" and not self.config.legacy:
            wait = {
                "cuda_sync_kind": "Stream Sync",
                "stream": stream,
                "correlation": correlation,
                "device": self.index,
                "context": 1,
            }
            self.emit(
                Event(
                    "X",
                    "cuda_sync",
                    "Stream Sync",
                    self.index,
                    stream,
                    start + 400,
                    thread.now - start - 600,
                    wait,
                )
            )

    def wait_event(self, thread: Thread, waiting: int, awaited: int) -> None:
        """A stream waits for all work another stream has been given so far."""
        prefix = "hip" if self.device.is_rocm else "cuda"
        record, _ = self.launch_call(thread, f"{prefix}EventRecord", 900)
        correlation, _ = self.launch_call(thread, f"{prefix}StreamWaitEvent", 900)
        if prefix == "cuda" and not self.config.legacy:
            wait = {
                "cuda_sync_kind": "Stream Wait Event",
                "wait_on_stream": awaited,
                "wait_on_cuda_event_record_corr_id": record,
                "wait_on_cuda_event_id": record % 64,
                "stream": waiting,
                "correlation": correlation,
                "device": self.index,
                "context": 1,
            }
            self.emit(Event("X", "cuda_sync", "Stream Wait Event", self.index, waiting, thread.now, 500, wait))
        self.free[waiting] = max(self.free[waiting], self.free[awaited])

    def allocate(self, thread: Thread, size: int) -> int:
        address = 0x7F00_0000_0000 + self.next("address") * 2 * MIB
        self.live[address] = size
        self.change_memory(thread, address, size)
        return address

    def release(self, thread: Thread, address: int) -> None:
        self.change_memory(thread, address, -self.live.pop(address))

    def change_memory(self, thread: Thread, address: int, size: int) -> None:
        if not self.config.memory:
            return
        self.allocated += size
        self.reserved = max(self.reserved, -(-self.allocated // (2 * MIB)) * 2 * MIB)
        args = {
            "Total Reserved": self.reserved, "Total Allocated": self.allocated, "Bytes": size,
            "Device Id": self.index, "Device Type": 6 if self.device.is_rocm else 1, "Addr": address,
        }  # fmt: skip
        thread.now += self.jittered(250)
        self.emit(Event("i", "cpu_instant_event", "[memory]", self.pid, thread.tid, thread.now, None, args))
        thread.now += self.jittered(250)
        self.expected.peak_allocated = max(self.expected.peak_allocated, self.allocated)
        self.expected.last_allocated = self.allocated
