"""Programs whose kernels have names, shapes and grids, on the machine of `replay_programs`: rules read these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from tests.replay_programs import COMPUTE, MAIN, US, Instruction, Machine
from torch_tb_profiler.insights import Finding
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

MULTIPROCESSOR = {
    "warpSize": 32,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerMultiprocessor": 65536,
    "totalGlobalMem": 2**36,
}
V100 = {
    "id": 0,
    "name": "Tesla V100-SXM2-32GB",
    "computeMajor": 7,
    "computeMinor": 0,
    "numSms": 80,
    "sharedMemPerMultiprocessor": 98304,
    **MULTIPROCESSOR,
}
A100 = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-40GB",
    "computeMajor": 8,
    "computeMinor": 0,
    "numSms": 108,
    "sharedMemPerMultiprocessor": 167936,
    **MULTIPROCESSOR,
}
RTX_3090 = {**A100, "name": "NVIDIA GeForce RTX 3090", "computeMinor": 6, "numSms": 82}
H100 = {**A100, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "numSms": 132, "sharedMemPerMultiprocessor": 233472}
UNKNOWN = {**A100, "name": "Some GPU"}

SGEMM = "ampere_sgemm_128x64_tn"
TF32 = "cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4"
BF16 = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
SCUDNN = "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"


@dataclass(frozen=True)
class Op:
    """An operator that launches kernels: (name, µs, arguments), and has arguments of its own; `host`: µs without them.

    `inside`: names of ranges around it, the outermost first.
    """

    name: str
    kernels: tuple[tuple[str, float, dict[str, Any]], ...]
    args: dict[str, Any] = field(default_factory=dict)
    host: float = 8
    inside: tuple[str, ...] = ()

    def lasting(self, us: float) -> Op:
        """The same with the time of its only kernel changed."""
        ((name, _, args),) = self.kernels
        return replace(self, kernels=((name, us, args),))


class KernelMachine(Machine):
    """The same machine, with operators of any name."""

    def _do_op(self, lane: int, op: Op) -> None:
        begin = self._now[lane]
        self._python(lane, op.host * US / 2)
        for name, length, args in op.kernels:
            self._launch(lane, COMPUTE, length * US, name)
            self.events[-1]["args"] |= args
        self._python(lane, op.host * US / 2)
        cat = "cpu_op"
        for depth, name in enumerate((*op.inside, op.name)):
            inner = len(op.inside) - depth
            args = op.args if not inner else {}
            self._event(cat, name, lane, begin - inner * 100, self._now[lane] + inner * 100, **args)
        self._python(lane, 1 * US)


def run(steps: Sequence[Sequence[Op]], training: bool = False) -> Machine:
    """A program of steps; of training when they end with a step of an optimizer."""
    machine = KernelMachine()
    program: list[list[Instruction]] = [[*(("op", each) for each in step), ("sync", 3 * US)] for step in steps]
    machine.run(program)
    if training:
        machine._event("user_annotation", "Optimizer.step#SGD.step", MAIN, 0, 10)
    return machine


def model_of(machine: Machine, *devices: dict[str, Any]) -> Model:
    text = json.dumps({"deviceProperties": list(devices), "traceEvents": machine.events})
    return Model(read_trace(BytesIO(text.encode())))


def diagnosed(machine: Machine, *devices: dict[str, Any]) -> Diagnosis:
    return diagnosis(model_of(machine, *devices))


def found(machine: Machine, *devices: dict[str, Any]) -> dict[str, Finding]:
    """By key."""
    return {each.key: each for each in diagnosed(machine, *devices).findings}


def saved(machine: Machine, better: Machine) -> float:
    """What the average step really gains, ns."""
    return (machine.total_ns - better.total_ns) / len(machine.step_ends)


def matrices(
    m: int, n: int, k: int, kernel: str, us: float, dtype: str = "float", strides: bool = True, **args: Any
) -> Op:
    """aten::mm of (m, k) by (k, n), as nn.Linear has it: weights lie with k behind each other."""
    dims = [[m, k], [k, n]]
    own: dict[str, Any] = {"Input Dims": dims, "Input type": [dtype, dtype]}
    if strides:
        own["Input Strides"] = [[k, 1], [1, k]]
    return Op("aten::mm", ((kernel, us, args),), own)


def shapeless(op: Op) -> Op:
    """The same recorded without shapes."""
    return replace(op, args={})


def add(us: float) -> Op:
    """Work that no rule on products is about."""
    return Op("aten::add", ((ADD, us, {}),))


def least_us(m: int, n: int, k: int, tflops: float) -> float:
    """How long a product takes at a rate."""
    return 2 * m * n * k / tflops / 1e6
