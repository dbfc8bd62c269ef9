"""Rules R23, R24 and R25: products of 16 bits that are slower than they need be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.kernel_programs import (
    A100,
    BF16,
    H100,
    UNKNOWN,
    Op,
    add,
    diagnosed,
    found,
    least_us,
    matrices,
    run,
    saved,
    shapeless,
)

HALF = "c10::BFloat16"
ODD = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_tn_align2>(Params)"
SPLIT = "ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_tn"
#: a vocabulary of 30522 words, and the same made longer
WORDS, PADDED = (4096, 30522, 768), (4096, 30528, 768)
GOOD = 0.7


def half(m: int, n: int, k: int, part: float, kernel: str = BF16, tflops: float = 312, **args: Any) -> Op:
    """A product of 16 bits at a part of the peak."""
    return matrices(m, n, k, kernel, least_us(m, n, k, tflops * part), HALF, **args)


def three(*ops: Op) -> list[list[Op]]:
    return [list(ops) for _ in range(3)]


OTHERS = (half(4096, 3072, 768, GOOD), half(4096, 32768, 768, GOOD), add(300))


def test_products_of_odd_sizes() -> None:
    slow = run(three(*OTHERS, half(*WORDS, GOOD / 2, ODD)))
    finding = found(slow, A100)["misaligned_products"]
    assert "4096 × 30522 × 768" in finding.detail
    assert "multiples of 8" in finding.advice
    assert finding.confidence == "medium"
    assert finding.where is not None
    assert finding.where.operator == "aten::mm"
    assert finding.saving is not None
    truth = saved(slow, run(three(*OTHERS, half(*PADDED, GOOD))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.03)


def test_products_of_attention_have_no_advice_on_their_sizes() -> None:
    """One kernel takes the place of all of it, whatever its sizes."""
    dims = {"Input Dims": [[32, 1000, 65], [32, 65, 1000]], "Input type": [HALF, HALF]}
    product = Op("aten::bmm", ((ODD, 200, {}),), dims)
    softmax = Op("aten::_softmax", (("softmax_warp_forward", 300, {}),), {"Input Dims": [[32, 1000, 1000], [], []]})
    ids = {each.id for each in found(run(three(*OTHERS, product, softmax, product)), A100).values()}
    assert "unfused_attention" in ids
    assert "misaligned_products" not in ids
    alone = {each.id for each in found(run(three(*OTHERS, product, add(5), product)), A100).values()}
    assert "misaligned_products" in alone


def test_odd_sizes_are_known_by_the_kernel_alone() -> None:
    """Inside a graph no operator says what is multiplied."""
    slow = run(three(*OTHERS, shapeless(half(*WORDS, GOOD / 2, ODD))))
    finding = found(slow, A100)["misaligned_products"]
    assert finding.confidence == "low"
    assert "longest" not in finding.detail
    assert finding.saving is not None
    own = half(*WORDS, GOOD / 2, ODD)
    truth = saved(slow, run(three(*OTHERS, own.lasting(own.kernels[0][1] / 1.5))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.02)


def test_odd_sizes_are_known_by_their_shape_and_by_others() -> None:
    """Where the name does not say how much a kernel loads at once, others of like size are the measure."""
    odd = half(*WORDS, GOOD / 2, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_tn")
    slow = run(three(*OTHERS, odd))
    finding = found(slow, A100)["misaligned_products"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(slow, run(three(*OTHERS, half(*PADDED, GOOD)))), rel=0.03)
    # without any, and beside slow ones, nobody can tell
    assert "misaligned_products" not in found(run(three(odd, add(300))), A100)
    like = (half(4096, 3072, 768, GOOD / 2), half(4096, 32768, 768, GOOD / 2))
    assert "misaligned_products" not in found(run(three(*like, odd)), A100)


def test_sizes_that_do_no_harm() -> None:
    simt = matrices(*WORDS, "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)", 3000)
    tf32 = matrices(4096, 30524, 768, "cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4", 3000)
    skinny = half(8, 30522, 768, 0.01, ODD)
    # of the gradient of weights the odd number of rows is what is summed over
    summed = half(768, 3072, 4097, GOOD / 3)
    summed = replace(summed, args={**summed.args, "Input Strides": [[1, 768], [3072, 1]]})
    for op in (half(*PADDED, GOOD / 2), simt, tf32, skinny, summed):
        assert "misaligned_products" not in found(run(three(*OTHERS, op)), A100), op
    assert "misaligned_products" not in found(run(three(*OTHERS, half(*WORDS, GOOD / 2, ODD))), UNKNOWN)
    # too little of the time
    assert "misaligned_products" not in found(run(three(*OTHERS, half(*WORDS, GOOD, ODD), add(90_000))), A100)


#: large enough to be measured, smaller than others
SMALL = (4096, 4096, 1024)


def test_products_far_from_what_others_reach() -> None:
    measures = (half(4096, 3072, 1024, GOOD), half(2048, 4096, 1024, GOOD), add(100))
    slow = run(three(*measures, half(*SMALL, 0.25)))
    finding = found(slow, A100)["slow_products"]
    assert "at 25 % of the peak" in finding.detail
    assert "70 %" in finding.detail
    assert finding.confidence == "low"
    assert finding.saving is not None
    truth = saved(slow, run(three(*measures, half(*SMALL, GOOD))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.03)


def test_products_that_are_no_slower_than_others() -> None:
    measures = (half(4096, 3072, 1024, GOOD), half(2048, 4096, 1024, GOOD))
    large = half(8192, 8192, 8192, GOOD)
    for ops in (
        (*measures, half(*SMALL, 0.45)),  # well enough
        (half(4096, 3072, 1024, 0.3), half(2048, 4096, 1024, 0.3), half(*SMALL, 0.25)),  # as this device does it
        (half(*SMALL, 0.25), add(50)),  # no others
        (large, half(256, 256, 256, 0.05)),  # small: bound by their start
        (large, half(*SMALL, 0.25)),  # only larger ones are better
        (*measures, half(8, 4096, 1024, 0.001)),  # few rows
    ):
        assert "slow_products" not in found(run(three(*ops)), A100), ops


def decode(part: float, m: int = 4, training: bool = False) -> Any:
    """Tokens of a few requests through layers of 16 bits, at a part of the bandwidth."""
    n, k = 28672, 8192
    us = 2 * (n * k + m * k + m * n) / 3350e9 * 1e6 / part
    ops = [matrices(m, n, k, "gemv2T_kernel_val<int, int, __nv_bfloat16>", us, HALF)] * 4
    return run(three(*ops, add(50)), training)


def test_weights_that_are_read_for_a_few_rows() -> None:
    slow = decode(0.85)
    finding = found(slow, H100)["skinny_products"]
    assert "4 × 28672 × 8192" in finding.detail
    assert "at 85 % of the bandwidth" in finding.detail
    assert "Int8WeightOnlyConfig" in finding.advice
    assert finding.saving is not None
    truth = saved(slow, decode(0.85 * 2))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.03)


def test_weights_that_are_no_bound() -> None:
    for machine in (decode(0.85, training=True), decode(0.3), decode(0.85, m=64)):
        assert "skinny_products" not in found(machine, H100)
    # products of activations, as in attention, have no weights
    shape = {"Input Dims": [[64, 1, 8192], [64, 8192, 4096]], "Input type": [HALF, HALF]}
    us = 2 * 64 * 8192 * 4097 / 3350e9 * 1e6 / 0.85
    attention = Op("aten::bmm", (("gemv2T_kernel_val<int, int, __nv_bfloat16>", us, {}),), shape)
    assert "skinny_products" not in found(run(three(attention)), H100)


def test_without_shapes_nothing_is_said_of_efficiency() -> None:
    here = diagnosed(run(three(shapeless(half(*SMALL, 0.1)))), A100)
    missing = {each.id: each.text for each in here.not_evaluated}
    for rule in ("slow_products", "skinny_products", "slow_compiled"):
        assert missing[rule] == "needs record_shapes=True"
