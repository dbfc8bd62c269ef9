"""Rules R26, R27, R32, R34 and R36: how kernels fill the device, and what they move for nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.events import Event, annotation, model_of
from tests.events import op as on_host
from tests.kernel_programs import A100, BF16, UNKNOWN, V100, Op, add, diagnosed, found, matrices, run, saved
from torch_tb_profiler.insights import Finding, diagnosis

OWN = "my_histogram_kernel(long const*, int*, int)"


def three(*ops: Op) -> list[list[Op]]:
    return [list(ops) for _ in range(3)]


def grid(blocks_per_sm: float, threads: int = 256, registers: int = 32, shared: int = 0, occupancy: float = 90) -> Any:
    return {
        "blocks per SM": blocks_per_sm,
        "block": [threads, 1, 1],
        "registers per thread": registers,
        "shared memory": shared,
        "est. achieved occupancy %": occupancy,
    }


def one(name: str, us: float, **args: Any) -> Op:
    return Op("my::op", ((name, us, args),))


def test_kernels_with_few_blocks() -> None:
    few = one(OWN, 400, **grid(0.125))
    slow = run(three(add(400), few))
    finding = found(slow, A100)["few_blocks"]
    assert "my_histogram_kernel" in finding.detail
    assert "12 % of the multiprocessors" in finding.detail
    assert finding.confidence == "low"
    assert finding.count == 3
    assert finding.where is not None
    assert finding.where.operator == "my::op"
    assert finding.saving is not None
    # work for half of the device in place of an eighth
    truth = saved(slow, run(three(add(400), few.lasting(100))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.02)


def test_kernels_that_fill_the_device_or_do_not_mean_to() -> None:
    spin = "at::cuda::(anonymous namespace)::spin_kernel(long)"
    for op in (
        one(OWN, 400, **grid(0.9)),
        one(OWN, 400),  # ROCm does not say
        one(OWN, 10, **grid(0.1)),  # short
        one(spin, 400, **grid(0.01)),  # waits on purpose
    ):
        assert "few_blocks" not in found(run(three(add(400), op)), A100), op
    # beside others on another stream nothing is idle
    machine = run(three(add(400), one(OWN, 400, **grid(0.1))))
    beside = [each for each in machine.events if each["name"] == OWN]
    for each in beside:
        other = {**each, "name": "other", "tid": 99}
        machine.events.append({**other, "args": {**each["args"], "stream": 99, "correlation": 9000 + each["ts"]}})
    assert "few_blocks" not in found(machine, A100)


def test_a_last_round_that_is_nearly_empty() -> None:
    shape = (4096, 4096, 4096)
    one_block = grid(1.05, shared=100_000)
    slow = run(three(matrices(*shape, BF16, 900, "c10::BFloat16", **one_block), add(100)))
    finding = found(slow, A100)["few_blocks"]
    assert "48 % of their time" in finding.detail
    assert finding.saving is not None
    truth = saved(slow, run(three(matrices(*shape, BF16, 900 * 1.05 / 2, "c10::BFloat16"), add(100))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.02)
    for args, kernel in (
        (one_block, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_tn"),  # takes one tile after the other
        (grid(1.95, shared=100_000), BF16),
        (grid(5.05, shared=100_000), BF16),
        (grid(2.1, shared=50_000), BF16),  # several blocks at once: those that are left run faster
    ):
        steps = three(matrices(*shape, kernel, 900, "c10::BFloat16", **args), add(100))
        assert "few_blocks" not in found(run(steps), A100), (args, kernel)


@pytest.mark.parametrize(
    ("registers", "shared", "word", "blocks"), [(255, 0, "registers", 8), (32, 100_000, "shared memory", 8)]
)
def test_low_occupancy(registers: int, shared: int, word: str, blocks: int) -> None:
    low = one(OWN, 400, **grid(blocks, registers=registers, shared=shared, occupancy=12))
    finding = found(run(three(add(400), low)), A100)["low_occupancy"]
    assert finding.saving is None, "what it would save is not known"
    assert f"occupancy of 12 %, limited by {word}" in finding.detail


def test_occupancy_that_says_nothing() -> None:
    for op in (
        one(OWN, 400, **grid(8, registers=255, occupancy=40)),
        one(OWN, 400, **grid(0.6, registers=255, occupancy=12)),  # too few blocks is another matter
        one(OWN, 400, **grid(8, shared=100_000, occupancy=0)),  # the profiler could not compute it
        one("void at::native::vectorized_elementwise_kernel<4>(int)", 400, **grid(8, registers=255, occupancy=12)),
        one(OWN, 10, **grid(8, registers=255, occupancy=12)),
    ):
        assert "low_occupancy" not in found(run(three(add(400), op)), A100), op


TO_LAST = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(int)"
CONV = "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4"


def convolution(*kernels: tuple[str, float]) -> Op:
    return Op("aten::cudnn_convolution", tuple((name, us, {}) for name, us in kernels))


def test_layout_conversions() -> None:
    slow = run(three(convolution((TO_LAST, 60), (CONV, 300), (TO_LAST, 60))))
    finding = found(slow, A100)["layout"]
    assert "channels_last" in finding.advice
    assert finding.count == 6
    assert finding.saving is not None
    truth = saved(slow, run(three(convolution((CONV, 300)))))
    # less the launches, which stay, and a gap for each
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.07)
    assert "layout" not in found(run(three(convolution((TO_LAST, 5), (CONV, 300)))), A100)
    assert "layout" not in found(run(three(convolution((CONV, 300)))), A100)


COPY = "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)"


def test_copies_into_another_order() -> None:
    copy = Op("aten::copy_", ((COPY, 100, {}),), inside=("aten::contiguous", "aten::clone"))
    slow = run(three(copy, add(500)))
    finding = found(slow, A100)["layout"]
    assert finding.title == "Tensors are copied only to change their memory layout"
    assert finding.saving is not None
    bare = replace(copy, kernels=())
    assert finding.saving.alone_ns == pytest.approx(saved(slow, run(three(bare, add(500)))), rel=0.1)
    # of another type, or because the program wants a copy
    for ranges in (("aten::to", "aten::_to_copy"), ("aten::clone",)):
        assert "layout" not in found(run(three(replace(copy, inside=ranges), add(500))), A100), ranges


def test_copies_of_several_places_are_told_apart() -> None:
    def copy(owner: str, us: float) -> Op:
        return Op(owner, ((COPY, us, {}),), inside=("aten::contiguous",))

    steps = three(copy("a", 100), copy("b", 60), copy("c", 50), copy("d", 40), copy("e", 30), add(300))
    here = [each for each in found(run(steps), A100).values() if each.id == "layout"]
    counts = {each.where.operator if each.where else None: each.count for each in here}
    assert counts == {"a": 3, "b": 3, "c": 3, "d": 6}, "those of d and e together"


def tried(number: int) -> Op:
    """A convolution that tries algorithms, with waits of the host between them."""
    kernels = tuple((f"cudnn_algorithm_{number}_{i}_scudnn_128x64", 80.0) for i in range(14))
    return replace(convolution(*kernels, (CONV, 80)), host=900)


def test_convolutions_that_try_algorithms() -> None:
    usual = [convolution((CONV, 80))] * 6
    slow = run([[*usual], [*usual, tried(1)], [*usual, tried(2)], [*usual, tried(3)]])
    finding = found(slow, A100)["convolution_tuning"]
    assert "3 convolutions in 3 of 4 steps ran up to 15 kernels" in finding.detail
    assert "benchmark = False" in finding.advice
    assert finding.where is not None
    assert finding.where.operator == "aten::cudnn_convolution"
    assert finding.saving is not None
    more = [*usual, convolution((CONV, 80))]
    assert finding.saving.alone_ns == pytest.approx(saved(slow, run([usual, more, more, more])), rel=0.1)
    # to warm up in the first step is right
    assert "convolution_tuning" not in found(run([[*usual, tried(1)], usual, usual]), A100)
    # groups, one after the other, are of one kernel
    groups = convolution(*[(CONV, 20)] * 16)
    assert "convolution_tuning" not in found(run([[groups] * 3] * 3), A100)


def compiled(name: str, us: float) -> Op:
    """Reads 64 MB and writes as much."""
    args = {
        "Input Dims": [[4096, 4096], [4096, 4096], [4096, 4096], [], []],
        "Input Strides": [[4096, 1], [0, 1], [4096, 1], [], []],
        "Input type": ["float", "float", "float", "Scalar", "Scalar"],
    }
    return Op(name, ((name, us, {}),), args)


def test_slow_compiled_kernels() -> None:
    name = "triton_poi_fused_add_mul_3"
    least = (2 * 4096 * 4096 + 4096) * 4 / 1555e9 * 1e6
    slow = run(three(compiled(name, least / 0.25), add(100)))
    finding = found(slow, A100)["slow_compiled"]
    assert name in finding.detail
    assert "at 25 % of the bandwidth" in finding.detail
    assert finding.saving is not None
    truth = saved(slow, run(three(compiled(name, least / 0.8), add(100))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.02)
    for op, device in (
        (compiled(name, least / 0.5), A100),
        (compiled(name, least / 0.25), UNKNOWN),
        (compiled("triton_tem_fused_mm_3", least / 0.1), A100),  # a product
        (compiled("triton_poi_fused__unsafe_index_add_3", least / 0.1), A100),  # reads here and there
        (replace(compiled(name, least / 0.25), name="my::op"), A100),  # whose tensors are not known
    ):
        assert "slow_compiled" not in found(run(three(op, add(100))), device), op


def test_a_healthy_program_has_none_of_them() -> None:
    product = matrices(4096, 4096, 4096, BF16, 650, "c10::BFloat16", **grid(4, shared=90_000))
    here = diagnosed(run(three(product, add(50), one(OWN, 60, **grid(6)))), A100)
    rules = {"tf32", "tensor_cores", "misaligned_products", "slow_products", "skinny_products", "few_blocks"}
    rules |= {"low_occupancy", "layout", "convolution_tuning", "slow_compiled"}
    assert rules <= set(here.checked)


def test_few_blocks_on_an_older_device() -> None:
    assert "few_blocks" in found(run(three(add(100), one(OWN, 400, **grid(0.1)))), V100)


def test_the_same_kernels_that_get_slower_from_step_to_step() -> None:
    """Eight steps of the same products, whose clock goes down by 4 % from one to the next."""
    names = [f"volta_sgemm_{size}x64_nn" for size in (32, 64, 128)]

    def steps(*factors: float) -> list[list[Op]]:
        return [[one(name, 300 * factor, grid=[64, 1, 1]) for name in names] for factor in factors]

    slows = [1.0, *(1.04**step for step in range(8))]
    slow, steady = run(steps(*slows)), run(steps(*[1.0] * 9))
    finding = found(slow, V100)["clock_throttling"]
    assert finding.values["steps"] == 2
    assert finding.values["ratio"] == pytest.approx(1.04**6, rel=0.02)
    assert finding.values["share"] == 1
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(slow, steady), rel=0.15)
    # steady; one slow step; a product that grows alone; too few steps
    one_slow = [1.0] * 9
    one_slow[7] = 2.0
    alone = [[*each[:2], one(names[2], 300 * 1.2**at, grid=[64, 1, 1])] for at, each in enumerate(steps(*[1.0] * 9))]
    for program in (steady, run(steps(*one_slow)), run(alone), run(steps(*slows[:6]))):
        assert "clock_throttling" not in found(program, V100)


def test_copies_for_their_order_in_a_program_on_the_cpu() -> None:
    def step(at: float, copied: float) -> list[Event]:
        outer = on_host("aten::contiguous", at + 500, copied + 20)
        inner = [on_host("aten::clone", at + 505, copied + 10), on_host("aten::copy_", at + 510, copied)]
        return [annotation("ProfilerStep#1", at, 1000), on_host("aten::mm", at, 490), outer, *inner]

    def of(copied: float) -> dict[str, Finding]:
        events = [each for at in (0, 1000, 2000) for each in step(at, copied)]
        return {each.id: each for each in diagnosis(model_of(events)).findings}

    finding = of(300)["layout"]
    assert finding.values["what"] == "copies"
    assert finding.count == 3
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(300_000, rel=0.01)
    assert "layout" not in of(40)
