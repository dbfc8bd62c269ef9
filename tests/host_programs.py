"""Programs with one fault on the host, and the same without it: what rules about waits and the host see.

The machine of `replay_programs`, with more that a thread can do. On a machine that is not `faulty` an instruction that
is a fault is left out, or holds nothing up: how much less time that takes is the truth of what its removal saves.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.events import model_of
from tests.replay_programs import COMPUTE, US, Instruction, Machine
from torch_tb_profiler.insights import Diagnosis, Finding, diagnosis
from torch_tb_profiler.model import Model

LINE = "train.py(12): main"


@dataclass
class HostMachine(Machine):
    """faulty: whether instructions that are a fault do harm."""

    faulty: bool = True

    def _do_frame(self, lane: int, name: str, inner: list[Instruction]) -> None:
        begin = self._now[lane]
        self._python(lane, US)
        for each in inner:
            self._execute(lane, each)
        self._python(lane, US)
        self._event("python_function", name, lane, begin, self._now[lane])

    def _do_range(self, lane: int, name: str, inner: list[Instruction]) -> None:
        """An annotation."""
        begin = self._now[lane]
        self._python(lane, US)
        for each in inner:
            self._execute(lane, each)
        self._event("user_annotation", name, lane, begin, self._now[lane])

    def _do_python(self, lane: int, length: int) -> None:
        self._python(lane, length)

    def _do_kernel(self, lane: int, host: int, kernel: int, name: str = "mm", load: int = 0) -> None:
        """An operator with one kernel; load: what its launch takes longer."""
        begin = self._now[lane]
        self._python(lane, host)
        launch = self._now[lane]
        self._correlation += 1
        self._now[lane] += 5 * US + (load if self.faulty else 0)
        self._event("cuda_runtime", "cudaLaunchKernel", lane, launch, self._now[lane], correlation=self._correlation)
        self._item(COMPUTE, self._now[lane], kernel, f"{name}_kernel", "kernel")
        self._event("cpu_op", f"aten::{name}", lane, begin, self._now[lane])

    def _do_blocking(self, lane: int, host: int, kernel: int) -> None:
        """The same with CUDA_LAUNCH_BLOCKING: the launch returns when its kernel is done."""
        begin = self._now[lane]
        self._python(lane, host)
        launch = self._now[lane]
        self._correlation += 1
        end = self._item(COMPUTE, launch + 5 * US, kernel, "mm_kernel", "kernel")
        self._now[lane] = end + 3 * US if self.faulty else launch + 5 * US
        self._event("cuda_runtime", "cudaLaunchKernel", lane, launch, self._now[lane], correlation=self._correlation)
        self._event("cpu_op", "aten::mm", lane, begin, self._now[lane])

    def _do_read(self, lane: int, names: tuple[str, ...], size: int = 4) -> None:
        """Operators inside of each other, the innermost of which copies to the host and waits."""
        begins = []
        for _ in names:
            begins.append(self._now[lane])
            self._python(lane, US)
        self._correlation += 1
        start, correlation = self._now[lane], self._correlation
        name = "Memcpy DtoH (Device -> Pageable)"
        end = self._item(COMPUTE, start, 2 * US, name, "gpu_memcpy")
        self.events[-1]["args"]["bytes"] = size
        self._now[lane] = end + 4 * US if self.faulty else start + 5 * US
        self._event("cuda_runtime", "cudaMemcpyAsync", lane, start, self._now[lane], correlation=correlation)
        self._correlation += 1
        sync = self._now[lane]
        self._now[lane] += 2 * US if self.faulty else 0
        self._event("cuda_runtime", "cudaStreamSynchronize", lane, sync, self._now[lane], correlation=self._correlation)
        for name in reversed(names):
            self._event("cpu_op", name, lane, begins.pop(), self._now[lane])

    def _do_host(self, lane: int, category: str, name: str, length: int) -> None:
        """A fault that only takes time on the host."""
        if not self.faulty:
            return
        begin = self._now[lane]
        self._now[lane] += length
        args = {}
        if category == "cuda_runtime":
            self._correlation += 1
            args = {"correlation": self._correlation}
        self._event(category, name, lane, begin, self._now[lane], **args)

    def _do_fault(self, lane: int, inner: list[Instruction]) -> None:
        """What a healthy program does not do at all."""
        if self.faulty:
            for each in inner:
                self._execute(lane, each)

    def _do_rounds(self, lane: int, times: int, inner: list[Instruction]) -> None:
        """A loop, which a healthy program goes through once."""
        for _ in range(times if self.faulty else 1):
            for each in inner:
                self._execute(lane, each)

    def _do_node(self, lane: int, name: str, inner: list[Instruction]) -> None:
        """A node of the autograd graph."""
        begin = self._now[lane]
        self._python(lane, US)
        for each in inner:
            self._execute(lane, each)
        self._event("cpu_op", name, lane, begin, self._now[lane])

    def _do_operator(self, lane: int, name: str, length: int) -> None:
        begin = self._now[lane]
        self._python(lane, length)
        self._event("cpu_op", name, lane, begin, self._now[lane])


def kernels(count: int, host: int = 10, kernel: int = 30) -> list[Instruction]:
    """Operators that follow one another; microseconds."""
    return [("kernel", host * US, kernel * US)] * count


@dataclass(frozen=True)
class Planted:
    """A program with a fault.

    model       its trace
    found       what the rules find in it
    truth_ns    what the average step is shorter without the fault
    """

    model: Model
    found: Diagnosis
    truth_ns: float

    def only(self, rule: str) -> Finding:
        """The one finding of a rule."""
        (finding,) = (each for each in self.found.findings if each.id == rule)
        return finding

    @property
    def ids(self) -> set[str]:
        """The rules that found something."""
        return {each.id for each in self.found.findings}


def planted(step: list[Instruction], steps: int = 4) -> Planted:
    """Run the same steps with the fault and without it."""
    program = [step] * steps
    faulty, healthy = HostMachine().run(program), HostMachine(faulty=False).run(program)
    model = model_of(faulty.events)
    return Planted(model, diagnosis(model), (faulty.total_ns - healthy.total_ns) / steps)


def healthy(step: list[Instruction], steps: int = 4) -> Planted:
    """The same program without the fault: what the rules find in it."""
    model = model_of(HostMachine(faulty=False).run([step] * steps).events)
    return Planted(model, diagnosis(model), 0)


def check_saving(planted_: Planted, rule: str, within: float = 0.03) -> Finding:
    """The saving of a finding is the truth, or for a bound not less; within this share of it."""
    finding = planted_.only(rule)
    assert finding.saving is not None
    assert finding.saving.alone_ns is not None
    assert finding.saving.refused is None
    truth = planted_.truth_ns
    assert truth > 0
    assert abs(finding.saving.alone_ns - truth) <= within * truth, (finding.saving.alone_ns, truth)
    return finding
