"""Two traces beside their rooflines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernel_programs import A100, BF16, Op, add, least_us, matrices, model_of, run
from torch_tb_profiler.analysis.compare.roofline import compare_roofline
from torch_tb_profiler.model import Model

US = 4 * least_us(4096, 4096, 4096, 312)
PRODUCT = matrices(4096, 4096, 4096, BF16, US, "c10::BFloat16")
OTHER = matrices(2048, 4096, 4096, BF16, US, "c10::BFloat16")


def of(*steps: list[Op]) -> Model:
    return model_of(run(steps), A100)


def test_slower_kernels() -> None:
    found = compare_roofline(of(*[[PRODUCT]] * 3), of(*[[PRODUCT.lasting(2 * US)]] * 3))
    assert found.cause == ("kernels",)
    assert found.right["lost_ns"][0] - found.left["lost_ns"][0] == pytest.approx(3 * 1000 * US, rel=1e-3)
    change = found.change
    assert change is not None
    before, after = (flops.mfu.value for flops in found.flops)
    assert before is not None
    assert after is not None
    assert change.total == pytest.approx(after - before)
    assert change.idle + change.kernels == pytest.approx(change.total)
    assert change.kernels < 0
    assert abs(change.idle) < 0.2 * abs(change.kernels)


def test_idle_time_is_not_the_kernels() -> None:
    found = compare_roofline(of(*[[PRODUCT]] * 3), of(*[[PRODUCT, Op("aten::wait", (), host=10 * US)]] * 3))
    assert found.cause == ("same",)
    assert found.change is not None
    assert found.change.idle < 0
    assert abs(found.change.kernels) < 1e-3 * abs(found.change.idle)


def test_other_work() -> None:
    # as many steps, not as many calls of a step; another number of steps is none
    found = compare_roofline(of(*[[PRODUCT]] * 2), of(*[[PRODUCT, PRODUCT]] * 4))
    assert found.cause == ("work",)
    assert compare_roofline(of(*[[PRODUCT]] * 2), of(*[[PRODUCT]] * 4)).cause == ("same",)
    found = compare_roofline(of(*[[PRODUCT, add(5)]] * 2), of(*[[OTHER, add(5)]] * 2))
    assert sorted(found.cause) == ["only_baseline", "only_experiment", "same"]
    gone = found.cause.index("only_baseline")
    assert np.isnan(found.right["time_ns"][gone])


def test_without_a_peak_there_is_no_change() -> None:
    found = compare_roofline(model_of(run([[PRODUCT]] * 2), {"id": 0, "name": "?"}), of(*[[PRODUCT]] * 2))
    assert found.change is None
    assert np.isnan(found.left["lost_ns"]).all()
    assert set(found.to_columns()) >= {"name", "cause", "lost_ns_left", "lost_ns_right"}
