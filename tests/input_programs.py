"""Programs on the simulated machine that load batches, copy between host and device, and ask the driver for memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.events import model_of
from tests.replay_programs import COMPUTE, ENGINE, MAIN, US, WAKE_NS, Instruction, Machine
from torch_tb_profiler.insights import Finding
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis

MS = 1000 * US
SIDE = 30
#: bytes per ns
PAGEABLE_RATE, PINNED_RATE, DEVICE_RATE = 3, 12, 500
SINGLE, WORKERS = "_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"
RATES = {
    "HtoD (Pageable -> Device)": PAGEABLE_RATE,
    "HtoD (Pinned -> Device)": PINNED_RATE,
    "DtoH (Device -> Pageable)": PAGEABLE_RATE,
    "DtoH (Device -> Pinned)": PINNED_RATE,
    "DtoD (Device -> Device)": DEVICE_RATE,
    "HtoD (Host -> Device)": PINNED_RATE,
}
LAUNCH_NS = 5 * US


@dataclass
class InputMachine(Machine):
    """The machine with a loader, copies and an allocator. stacks: Python frames are recorded."""

    stacks: bool = True

    def _frame(self, name: str, begin: int, end: int, lane: int = MAIN) -> None:
        if self.stacks:
            self._event("python_function", name, lane, begin, end)

    def _do_fetch(self, lane: int, length: int, iterator: str = SINGLE) -> None:
        begin = self._now[lane]
        self._python(lane, length)
        self._event("user_annotation", f"enumerate(DataLoader)#{iterator}.__next__", lane, begin, self._now[lane])
        if iterator == SINGLE:
            self._frame("data.py(39): __getitem__", begin + 10, self._now[lane] - 10)

    def _do_fetch_on_device(self, lane: int, length: int) -> None:
        begin = self._now[lane]
        self._python(lane, length)
        self._do_launch(lane, 5 * US, 5 * US, COMPUTE)
        self._event("user_annotation", f"enumerate(DataLoader)#{SINGLE}.__next__", lane, begin, self._now[lane])

    def _do_iterator(self, lane: int, length: int) -> None:
        begin = self._now[lane]
        self._python(lane, length)
        self._frame("torch/utils/data/dataloader.py(493): _get_iterator", begin, self._now[lane])

    def _do_range(self, lane: int, name: str, length: int) -> None:
        begin = self._now[lane]
        self._python(lane, length)
        self._event("user_annotation", name, lane, begin, self._now[lane])

    def _do_copy(
        self, lane: int, kind: str, size: int, stream: int = COMPUTE, line: int = 12, around: str | None = None
    ) -> None:
        """One copy by `aten::copy_`; of pageable memory the call returns when it is done."""
        self._correlation += 1
        begin, correlation = self._now[lane], self._correlation
        self._python(lane, 2 * US)
        called = self._now[lane]
        waits = "Pageable" in kind
        released = called if waits else called + LAUNCH_NS
        end = self._item(stream, released, size / RATES[kind], f"Memcpy {kind}", "gpu_memcpy")
        self.events[-1]["args"]["bytes"] = size
        self._now[lane] = end + WAKE_NS if waits else released
        self._event("cuda_runtime", "cudaMemcpyAsync", lane, called, self._now[lane], correlation=correlation)
        self._event("cpu_op", "aten::copy_", lane, begin, self._now[lane])
        if lane == MAIN:
            self._frame(f"train.py({line}): step", begin, self._now[lane])
        if around is not None:
            self._event("user_annotation", around, lane, begin, self._now[lane])

    def _do_call(self, lane: int, name: str, length: int, operator: str | None = None) -> None:
        begin = self._now[lane]
        self._python(lane, 1 * US if operator else 0)
        self._correlation += 1
        called = self._now[lane]
        self._python(lane, length)
        if length:
            self._event("cuda_runtime", name, lane, called, self._now[lane], correlation=self._correlation)
        if operator is not None:
            self._event("cpu_op", operator, lane, begin, self._now[lane])

    def _do_bucket(self, lane: int, inner: list[Instruction]) -> None:
        """What the thread of the autograd engine does."""
        self._do_backward(lane, [("node", 1 * US), *inner])

    def _do_node(self, lane: int, length: int) -> None:
        begin = self._now[lane]
        self._python(lane, length)
        self._event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", ENGINE, begin, self._now[lane])


def work(count: int, host: int = 10 * US, kernel: int = 40 * US) -> list[Instruction]:
    """Operators that launch a kernel each."""
    return [("launch", host, kernel, COMPUTE)] * count


def run(program: list[list[Instruction]], **machine: Any) -> InputMachine:
    found = InputMachine(**machine)
    found.run(program)
    return found


def diagnosed(program: list[list[Instruction]], **machine: Any) -> Diagnosis:
    """What is found in the trace of a program."""
    return diagnosis(model_of(run(program, **machine).events))


def found_in(program: list[list[Instruction]], **machine: Any) -> dict[str, Finding]:
    """The findings by key."""
    return {each.key: each for each in diagnosed(program, **machine).findings}


def saved(faulty: list[list[Instruction]], healthy: list[list[Instruction]]) -> float:
    """How much shorter a step of the healthy program really is, ns."""
    return (run(faulty).total_ns - run(healthy).total_ns) / len(faulty)
