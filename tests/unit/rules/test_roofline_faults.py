"""Rules R21 to R28 and R36 on programs drawn by chance: each fault is named with what it costs, and silent without it.

Kernels take as long as devices need: a part of the peak or of the bandwidth, drawn for each program, give or take 3 %.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.kernel_programs import A100, ADD, BF16, H100, SGEMM, TF32, V100, Op, found, run, saved

HALF = "c10::BFloat16"
GEMV = "gemv2T_kernel_val<int, int, __nv_bfloat16>"
ODD = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_tn_align{}>(Params)"
OWN = "my_scan_kernel(float const*, float*, int)"
RULES = frozenset(
    {
        *("tf32", "tensor_cores", "misaligned_products", "slow_products", "skinny_products", "few_blocks"),
        *("low_occupancy", "pointwise_chain", "slow_compiled"),
    }
)


@dataclass(frozen=True)
class Device:
    """properties; TFLOP/s of plain cores, TF32 and 16 bits; GB/s."""

    properties: dict[str, Any]
    fp32: float
    tf32: float
    half: float
    memory: float


DEVICES = (Device(A100, 19.5, 156, 312, 1555), Device(H100, 66.9, 494.7, 989.4, 3350))
VOLTA = Device(V100, 15.7, 15.7, 125, 900)


class Lab:
    """Draws programs. `good`: the part of the peak that its products of 16 bits reach."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.device = self.dice.choice(DEVICES)
        self.good = self.dice.uniform(0.5, 0.8)
        self.width = self.dice.choice([1024, 1536, 2048, 4096])
        self.tokens = self.dice.choice([2048, 4096, 8192])

    def noise(self) -> float:
        return self.dice.uniform(0.97, 1.03)

    def product(
        self, m: int, n: int, k: int, *, part: float | None = None, kernel: str = BF16, peak: float = 0, size: int = 2
    ) -> Op:
        """Rows of m, weights of (n, k), at a part of the peak or of the bandwidth, whichever is slower."""
        computing = 2 * m * n * k / (peak or self.device.half) / 1e6 / (part or self.good)
        moving = size * (m * k + n * k + m * n) / self.device.memory / 1e3 / 0.85
        args = {
            "Input Dims": [[m, k], [k, n]],
            "Input type": [{2: HALF, 4: "float"}[size]] * 2,
            "Input Strides": [[k, 1], [1, k]],
        }
        return Op("aten::mm", ((kernel, max(computing, moving) * self.noise(), {}),), args)

    def layers(self) -> list[Op]:
        """Products of 16 bits as they should be, with one elementwise kernel between."""
        width, tokens = self.width, self.tokens
        sizes = [(3 * width, width), (width, width), (4 * width, width), (width, 4 * width)]
        found: list[Op] = []
        for n, k in sizes:
            found += [self.product(tokens, n, k), self.move("aten::add", tokens, n)]
        return found

    def move(self, name: str, rows: int, columns: int, part: float = 0.85, kernel: str = ADD, inputs: int = 2) -> Op:
        us = 4 * (inputs + 1) * rows * columns / self.device.memory / 1e3 / part * self.noise()
        # a compiled kernel has its result among its arguments
        given = inputs + (kernel != ADD)
        args = {
            "Input Dims": [[rows, columns]] * given,
            "Input Strides": [[columns, 1]] * given,
            "Input type": ["float"] * given,
        }
        return Op(name, ((kernel, us, {}),), args)


#: operators with the fault, and what they would be without
Fault = Callable[[Lab], tuple[list[Op], list[Op]]]


def _tf32(lab: Lab) -> tuple[list[Op], list[Op]]:
    sizes = [(lab.tokens, 4 * lab.width, lab.width)] * 3
    slow = [lab.product(*each, kernel=SGEMM, peak=lab.device.fp32, part=0.9, size=4) for each in sizes]
    better = [
        lab.product(*each, kernel=TF32, peak=lab.device.tf32, part=lab.dice.uniform(0.5, 0.7), size=4) for each in sizes
    ]
    return slow, better


def _half(lab: Lab) -> tuple[list[Op], list[Op]]:
    """As TF32 they are on tensor cores already: 16 bits are up to twice as fast."""
    part, sizes = lab.dice.uniform(0.5, 0.7), [(lab.tokens, 4 * lab.width, lab.width)] * 12
    slow = [lab.product(*each, kernel=TF32, peak=lab.device.tf32, part=part, size=4) for each in sizes]
    return slow, [lab.product(*each, part=part) for each in sizes]


def _odd(lab: Lab) -> tuple[list[Op], list[Op]]:
    words = 8 * lab.dice.randint(3000, 5000)
    off = lab.dice.choice([2, 4, 6])
    kernel = ODD.format(4 if off == 4 else 2)
    slow = lab.product(lab.tokens, words + off, lab.width, part=lab.good / lab.dice.uniform(1.6, 2.6), kernel=kernel)
    return [slow], [lab.product(lab.tokens, words + 8, lab.width)]


def _slow(lab: Lab) -> tuple[list[Op], list[Op]]:
    size = (lab.tokens, 4 * lab.width, lab.width)
    part = lab.dice.uniform(0.4, 0.55) * min(lab.good, 0.7)
    return [lab.product(*size, part=part)] * 2, [lab.product(*size)] * 2


def _skinny(lab: Lab) -> tuple[list[Op], list[Op]]:
    rows, n, k = lab.dice.randint(1, 8), 28672, 8192
    slow = lab.product(rows, n, k, kernel=GEMV)
    ((_, us, args),) = slow.kernels
    moved = (2 * rows * (n + k) + n * k) / (2 * (rows * (n + k) + n * k))
    return [slow] * 8, [Op("my::linear_of_8_bits", (("my_int8_gemv", us * moved, args),))] * 8


def _few(lab: Lab) -> tuple[list[Op], list[Op]]:
    filled, us = lab.dice.uniform(0.05, 0.2), lab.dice.uniform(200, 600)
    slow = Op("my::scan", ((OWN, us, {"blocks per SM": filled, "block": [256, 1, 1]}),))
    better = Op("my::scan", ((OWN, us * filled / 0.5, {"blocks per SM": 0.5, "block": [256, 1, 1]}),))
    return [slow] * 3, [better] * 3


def _chain(lab: Lab) -> tuple[list[Op], list[Op]]:
    names = lab.dice.sample(["aten::mul", "aten::add", "aten::tanh", "aten::sigmoid", "aten::sub"], 4)
    ops = [lab.move(each, lab.tokens, 4 * lab.width) for each in names]
    # one kernel reads what the first reads, and two more inputs
    fused = lab.move(names[0], lab.tokens, 4 * lab.width, inputs=3)
    return ops, [fused]


def _compiled(lab: Lab) -> tuple[list[Op], list[Op]]:
    name = "triton_red_fused_add_native_layer_norm_mul_7"
    size = (lab.tokens, 4 * lab.width)
    slow = lab.move(name, *size, part=lab.dice.uniform(0.12, 0.35), kernel=name)
    return [slow], [lab.move(name, *size, part=lab.dice.uniform(0.74, 0.86), kernel=name)]


FAULTS: dict[str, Fault] = {
    "tf32": _tf32,
    "tensor_cores": _half,
    "misaligned_products": _odd,
    "slow_products": _slow,
    "skinny_products": _skinny,
    "few_blocks": _few,
    "pointwise_chain": _chain,
    "slow_compiled": _compiled,
}


# 3: products that reach 0.7 of the peak as TF32; 5: rows off 16 bytes without aligned products of like size
@pytest.mark.parametrize("seed", [0, 3, 5, 7])
@pytest.mark.parametrize("rule", FAULTS)
def test_a_fault_is_named_with_what_it_costs(rule: str, seed: int) -> None:
    lab = Lab(seed)
    slow, better = FAULTS[rule](lab)
    # products of 16 bits say that they are used; a program that waits for weights is none of many tokens
    layers = [] if rule in ("tensor_cores", "skinny_products") else lab.layers()
    machine, without = run([layers + slow] * 3), run([layers + better] * 3)
    here = found(machine, lab.device.properties)
    finding = here[rule]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(machine, without), rel=0.1)
    # products on plain cores are products of 32 bits, too
    also = {"tensor_cores"} if rule == "tf32" else set()
    assert RULES & here.keys() <= {rule} | also
    assert not RULES & found(without, lab.device.properties).keys()


@pytest.mark.parametrize("seed", range(3))
def test_plain_cores_of_volta(seed: int) -> None:
    """Without TF32; no more than four times as fast is promised, so what 16 bits save is at least that."""
    lab = Lab(seed)
    lab.device = VOLTA
    sizes = [(lab.tokens, 4 * lab.width, lab.width)] * 3
    slow = [lab.product(*each, kernel=SGEMM, peak=15.7, part=0.9, size=4) for each in sizes]
    kernel = "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn"
    better = [lab.product(*each, kernel=kernel, part=lab.dice.uniform(0.5, 0.65)) for each in sizes]
    machine, without = run([slow] * 3), run([better] * 3)
    here = found(machine, VOLTA.properties)
    assert RULES & here.keys() == {"tensor_cores"}
    saving = here["tensor_cores"].saving
    assert saving is not None
    assert saving.alone_ns == pytest.approx(saved(machine, without), rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_a_kernel_with_few_warps_is_named_without_a_promise(seed: int) -> None:
    lab = Lab(seed)
    grid = {
        "blocks per SM": lab.dice.uniform(20, 60),
        "block": [256, 1, 1],
        "registers per thread": 255,
        "shared memory": 0,
    }
    layers = lab.layers()
    us = 0.2 * sum(length for each in layers for _, length, _ in each.kernels)
    low = Op("my::scan", ((OWN, us, {**grid, "est. achieved occupancy %": lab.dice.randint(3, 24)}),))
    high = Op("my::scan", ((OWN, us, {**grid, "est. achieved occupancy %": lab.dice.randint(26, 90)}),))
    here = found(run([[*layers, low]] * 3), lab.device.properties)
    assert RULES & here.keys() == {"low_occupancy"}
    assert here["low_occupancy"].saving is None
    assert not RULES & found(run([[*layers, high]] * 3), lab.device.properties).keys()
