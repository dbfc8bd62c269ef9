"""Rules R21 and R22: products of 32 bits that tensor cores could do. Truth: the same program with faster kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.kernel_programs import (
    A100,
    BF16,
    RTX_3090,
    SCUDNN,
    SGEMM,
    TF32,
    UNKNOWN,
    V100,
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

SIZE = (4096, 4096, 1024)
#: as plain cores do it at 85 % of their peak, and tensor cores at 70 %
SLOW, AS_TF32 = least_us(*SIZE, 19.5 * 0.85), least_us(*SIZE, 156 * 0.7)
PRODUCT = matrices(*SIZE, SGEMM, SLOW)
WEIGHTS = [[256, 64, 3, 3], [32, 64, 56, 56]]


def steps_of(op: Op, n: int = 6, others: float = 50) -> list[list[Op]]:
    return [[op, add(others)] * n for _ in range(3)]


def convolution(kernel: str, us: float) -> Op:
    """A forward one of 32 images, 64 to 256 channels of 56 × 56: 29.6 GFLOP."""
    args: dict[str, Any] = {
        "Input Dims": [WEIGHTS[1], WEIGHTS[0], [], [], [], [], [], [], []],
        "Input type": ["float", "float", *["ScalarList"] * 3, *["Scalar"] * 4],
        "Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"],
    }
    return Op("aten::cudnn_convolution", ((kernel, us, {}),), args)


def test_tf32_is_off() -> None:
    slow = run(steps_of(PRODUCT))
    finding = found(slow, A100)["tf32"]
    assert finding.title == "TF32 is off for matmuls"
    assert "set_float32_matmul_precision" in finding.advice
    assert finding.confidence == "medium"
    assert finding.where is not None
    assert finding.where.operator == "aten::mm"
    assert finding.count == 18
    assert finding.saving is not None
    # no more than four times as fast is promised
    truth = saved(slow, run(steps_of(PRODUCT.lasting(max(AS_TF32, SLOW / 4)))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.02)
    assert truth <= saved(slow, run(steps_of(PRODUCT.lasting(AS_TF32))))
    assert {each.key: each.value for each in finding.evidence}["fp32_products"] == pytest.approx(6 * SLOW * 1000, 0.01)


@pytest.mark.parametrize("part", [0.5, 0.8])
def test_no_more_is_promised_than_the_roofline_allows(part: float) -> None:
    """A product that is bound by the memory gains nothing from tensor cores."""
    size = (131072, 64, 32)
    moved = 4 * (131072 * 32 + 64 * 32 + 131072 * 64) / 1555e9 * 1e6
    op = matrices(*size, SGEMM, moved / part)
    slow = run(steps_of(op, others=20))
    saving = found(slow, A100).get("tf32")
    least = saved(slow, run(steps_of(op.lasting(moved), others=20)))
    assert saving is None or (saving.saving is not None and (saving.saving.alone_ns or 0) <= least)


def test_tf32_without_shapes_is_an_estimate() -> None:
    """As in compiled functions and graphs, where no operator says what is multiplied."""
    slow = run(steps_of(shapeless(PRODUCT)))
    finding = found(slow, A100)["tf32"]
    assert finding.confidence == "low"
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(slow, run(steps_of(PRODUCT.lasting(SLOW / 2)))), rel=0.02)


def test_tf32_is_not_what_is_missing() -> None:
    for device, op in (
        (V100, PRODUCT),  # has none
        (RTX_3090, PRODUCT),  # multiplies as TF32 no faster
        (UNKNOWN, PRODUCT),
        (A100, matrices(*SIZE, TF32, AS_TF32)),  # is on
        (A100, matrices(*SIZE, BF16, SLOW, "c10::BFloat16")),
    ):
        assert not [key for key in found(run(steps_of(op)), device) if key.startswith("tf32")], (device, op)
    # on, and not chosen for some products
    mixed = [[*([matrices(*SIZE, TF32, AS_TF32)] * 3), *([PRODUCT] * 2)] for _ in range(3)]
    assert "tf32" not in found(run(mixed), A100)
    # too little of the time
    assert "tf32" not in found(run([[PRODUCT, add(40 * SLOW)] for _ in range(3)]), A100)


def test_tf32_is_off_for_convolutions() -> None:
    flops = 2 * 32 * 256 * 56 * 56 * 64 * 9
    us = flops / 19.5e6 / 0.85
    slow = run(steps_of(convolution(SCUDNN, us)))
    finding = found(slow, A100)["tf32"]
    assert finding.title == "TF32 is off for convolutions"
    assert "cudnn.allow_tf32" in finding.advice
    assert finding.saving is not None
    better = run(steps_of(convolution(SCUDNN, max(flops / 156e6 / 0.7, us / 4))))
    assert finding.saving.alone_ns == pytest.approx(saved(slow, better), rel=0.02)
    # products by a library of products inside of a convolution are part of it
    inside = replace(convolution(SCUDNN, us), kernels=((SGEMM, us, {}),))
    assert found(run(steps_of(inside)), A100)["tf32"].title == "TF32 is off for convolutions"


@pytest.mark.parametrize(
    ("device", "tflops", "training", "word"),
    [
        (V100, 125, True, "GradScaler"),
        (V100, 125, False, "model.to(torch.float16)"),
        (A100, 312, True, "dtype=torch.bfloat16"),
        (A100, 312, False, "model.to(torch.bfloat16)"),
    ],
)
def test_mixed_precision(device: dict[str, Any], tflops: float, training: bool, word: str) -> None:
    slow = run(steps_of(PRODUCT), training)
    finding = found(slow, device)["tensor_cores"]
    assert word in finding.advice
    assert ("GradScaler" in finding.advice) == (training and device is V100)
    assert "several times" in finding.detail
    assert finding.saving is not None
    half = max(least_us(*SIZE, tflops * 0.6), SLOW / 4)
    assert finding.saving.alone_ns == pytest.approx(saved(slow, run(steps_of(PRODUCT.lasting(half)))), rel=0.02)
    assert {e.key: e.value for e in finding.evidence}["share_of_products"] == 1


def test_products_in_tf32_gain_less() -> None:
    slow = run(steps_of(matrices(*SIZE, TF32, AS_TF32)))
    finding = found(slow, A100)["tensor_cores"]
    assert "up to twice" in finding.detail
    assert finding.saving is not None
    truth = saved(slow, run(steps_of(matrices(*SIZE, TF32, AS_TF32 / 2))))
    assert finding.saving.alone_ns == pytest.approx(truth, rel=0.03)


def test_mixed_precision_is_not_what_is_missing() -> None:
    half = matrices(*SIZE, BF16, SLOW / 6, "c10::BFloat16")
    unknown = replace(half, kernels=(("_attn_fwd", SLOW, {}),), args={})
    for steps in (
        steps_of(half),  # used
        [[*([half] * 6), PRODUCT] for _ in range(3)],  # used, and one product kept in 32 bits
        [[PRODUCT, unknown] for _ in range(3)],  # nobody knows
        steps_of(replace(PRODUCT, kernels=(("ampere_dgemm_128x64_tn", SLOW, {}),), args={})),  # 64 bits on purpose
        [[PRODUCT, add(40 * SLOW)] for _ in range(3)],  # too little
    ):
        assert "tensor_cores" not in found(run(steps), A100)
    for device in (UNKNOWN, {**V100, "name": "Tesla P100-SXM2-16GB", "computeMajor": 6}):
        assert "tensor_cores" not in found(run(steps_of(PRODUCT)), device)


def test_without_a_description_of_the_device_nothing_is_evaluated() -> None:
    here = diagnosed(run(steps_of(PRODUCT)))
    missing = {each.id: each.needs for each in here.not_evaluated}
    for rule in ("tf32", "tensor_cores", "misaligned_products", "few_blocks", "low_occupancy"):
        assert missing[rule] == "properties"
