"""Programs whose operators and kernels have names, on the machine of `replay_programs`: for rules that read names."""

from __future__ import annotations

from typing import Any

from tests.events import Event, model_of
from tests.replay_programs import COMPUTE, US, Instruction, Machine
from torch_tb_profiler.insights import Finding
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}Functor<float>>(int)"
REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)"
GEMM = "ampere_sgemm_128x64_tn"
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(float*)"
DEVICE = {"id": 0, "name": "GPU", "computeMajor": 8, "computeMinor": 0, "totalGlobalMem": 16 * 2**30}


class Program(Machine):
    """The same machine with operators of any name, ranges around them, and kernels with arguments."""

    def _do_op(self, lane: int, name: str, host: int, *kernels: tuple[str, int], **args: Any) -> None:
        """An operator: half of its host time, launches, the other half."""
        begin = self._now[lane]
        self._python(lane, host / 2)
        for kernel, length in kernels:
            self._launch(lane, COMPUTE, length, kernel)
        self._python(lane, host / 2)
        self._event("cpu_op", name, lane, begin, self._now[lane], **args)

    def _do_in(self, lane: int, cat: str, name: str, inner: list[Instruction], args: dict[str, Any]) -> None:
        """A range around others."""
        begin = self._now[lane]
        self._python(lane, 1 * US)
        for instruction in inner:
            self._execute(lane, instruction)
        self._python(lane, 1 * US)
        self._event(cat, name, lane, begin, self._now[lane], **args)

    def _do_python(self, lane: int, length: int) -> None:
        self._python(lane, length)

    def _execute(self, lane: int, instruction: Instruction) -> None:
        kind, *rest = instruction
        if kind == "op":
            name, host, kernels, args = rest
            self._do_op(lane, name, host, *kernels, **args)
        else:
            super()._execute(lane, instruction)


def op(name: str, *kernels: tuple[str, float], host: float = 8, dims: list[list[int]] | None = None) -> Instruction:
    """aten::`name`; kernels: name and µs; host: µs without launches; dims: of the inputs."""
    args = {} if dims is None else {"Input Dims": dims}
    full = name if "::" in name else f"aten::{name}"
    return ("op", full, round(host * US), [(kernel, round(length * US)) for kernel, length in kernels], args)


def inside(cat: str, name: str, *inner: Instruction, **args: Any) -> Instruction:
    """A range around others."""
    return ("in", cat, name, list(inner), args)


def backward(*inner: Instruction) -> Instruction:
    """On the engine's thread, in autograd nodes."""
    return ("backward", list(inner))


def evaluate(name: str, *inner: Instruction) -> Instruction:
    """One autograd node."""
    return inside("cpu_op", f"autograd::engine::evaluate_function: {name}", *inner)


def elementwise(name: str, length: float, dims: list[list[int]], host: float = 8) -> Instruction:
    return op(name, (ELEMENTWISE.format(name.capitalize()), length), host=host, dims=dims)


def run(step: list[Instruction], steps: int = 4) -> Program:
    """The same step several times."""
    program = Program()
    program.run([step] * steps)
    return program


def diagnosed(program: Machine | list[Event], **header: Any) -> Diagnosis:
    events = program if isinstance(program, list) else program.events
    return diagnosis(model_of(events, **{"deviceProperties": [DEVICE], **header}))


def found(program: Machine | list[Event], rule: str, **header: Any) -> list[Finding]:
    """What one rule found."""
    return [each for each in diagnosed(program, **header).findings if each.id == rule]


def saved(with_fault: Machine, without: Machine) -> float:
    """What a step is really shorter by, ns."""
    return (with_fault.total_ns - without.total_ns) / len(with_fault.step_ends)
