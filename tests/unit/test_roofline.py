"""Whom FLOP belong to, time at the roof, lost time and utilizations, on traces made for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from tests.kernel_programs import A100, BF16, H100, UNKNOWN, Op, add, matrices, run, shapeless
from tests.kernel_programs import model_of as model_of_machine
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.roofline.advice import ADVICES, call_advice
from torch_tb_profiler.analysis.roofline.roofs import roofs
from torch_tb_profiler.analysis.roofline.table import RooflineGrouping, roofline
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.analysis.shared.peaks import VARIABLE, peaks_digest, peaks_of
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

MM = {"Input Dims": [[64, 128], [128, 32]], "Input type": ["float", "float"]}
MM_FLOPS = 2 * 64 * 128 * 32


@dataclass
class Host:
    """Nested operators on one thread; each leaf that has a kernel launches it."""

    events: list[dict[str, Any]] = field(default_factory=list)
    now: float = 0.0
    launched: int = 0

    def op(self, name: str, *inside: Any, args: Any = None, kernel: str | None = None, us: float = 10) -> None:
        begin = self.now
        self.now += 1
        for each in inside:
            each()
        if kernel is not None:
            self.launched += 1
            tied = {"correlation": self.launched}
            self._event("cuda_runtime", "cudaLaunchKernel", self.now, 1, args=tied)
            self._event("kernel", kernel, 1000 + 20 * self.launched, us, tid=7, args={**tied, "device": 0, "stream": 7})
            self.now += 2
        self.now += 1
        self._event("cpu_op", name, begin, self.now - begin, args=args or {})

    def _event(self, cat: str, name: str, ts: float, dur: float, tid: int = 1, args: Any = None) -> None:
        self.events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
        )

    @property
    def model(self) -> Model:
        text = json.dumps({"deviceProperties": [A100], "traceEvents": self.events})
        return Model(read_trace(BytesIO(text.encode())))


def test_what_is_nested_counts_once() -> None:
    host = Host()
    linear = {"Input Dims": [[64, 128], [32, 128]], "Input type": ["float", "float"]}

    def product() -> None:
        host.op("aten::mm", args=MM, kernel="ampere_sgemm_128x64_tn")

    host.op("aten::linear", product, args=linear, kernel="nchwToNhwcKernel")
    # recorded, but it launched nothing
    host.op("aten::mm", args=MM)
    # a call of a fused backend, whose kernels are its own
    host.op("aten::linear", args=linear, kernel="ampere_sgemm_128x64_tn")
    # an operator that nothing is known of, inside of one that is known
    host.op("aten::mm", lambda: host.op("my::gemm", kernel="my_gemm"), args=MM)
    assert work_counts(host.model).calls.total("flops") == 3 * MM_FLOPS


def test_convolutions_of_2021_have_the_size_of_their_backward() -> None:
    host = Host()
    x, w, y = [2, 8, 16, 16], [4, 8, 3, 3], [2, 4, 8, 8]
    host.op(
        "aten::cudnn_convolution",
        args={"Input Dims": [x, w], "Input type": ["float"] * 2, "Sequence number": 5},
        kernel="scudnn",
    )
    passed = {"Input Dims": [y], "Input type": ["float"], "Sequence number": 5}

    def gradient() -> None:
        args = {"Input Dims": [[], y, w], "Input type": ["GenericList", "float", "float"]}
        host.op("aten::cudnn_convolution_backward_input", args=args, kernel="dgrad2d_alg1_1<float>")

    def both() -> None:
        host.op(
            "aten::cudnn_convolution_backward", gradient, args={"Input Dims": [x, y, w], "Input type": ["float"] * 3}
        )

    host.op("CudnnConvolutionBackward", both, args=passed)
    one = 2 * 2 * 8 * 8 * 4 * 8 * 9
    found = work_counts(host.model).calls
    assert found.total("flops") == 2 * one
    assert found.total("bytes") == 2 * 4 * (2 * 8 * 256 + 4 * 8 * 9 + 2 * 4 * 64)


def least_us(flops: float, tflops: float) -> float:
    return flops / tflops / 1e6


def test_time_at_the_roof_and_what_is_lost() -> None:
    flops = 2 * 4096**3
    slow = matrices(4096, 4096, 4096, BF16, 4 * least_us(flops, 312), "c10::BFloat16")
    model = model_of_machine(run([[slow, add(1)], [slow, add(1)]]), A100)
    found = roofline(model, "operator")
    assert found.name[0] == "aten::mm"
    assert found.element[0] == "bf16"
    assert found.bound[0] == "compute"
    assert found.tensor_cores[0] == "used"
    assert found.flops[0] == 2 * flops
    assert found.roof_share[0] == pytest.approx(0.25, rel=1e-4)
    assert found.lost_ns[0] == pytest.approx(0.75 * found.time_ns[0], rel=1e-4)
    assert found.flop_rate[0] == pytest.approx(78e12, rel=1e-4)
    # additions without shapes: nothing is known of them but that they multiply nothing
    assert found.flops[1] == 0
    assert np.isnan(found.lost_ns[1])


def test_utilizations_and_coverage() -> None:
    flops = 2 * 4096**3
    product = matrices(4096, 4096, 4096, BF16, 2 * least_us(flops, 312), "c10::BFloat16")
    whole = step_flops(model_of_machine(run([[product]] * 3), A100))
    assert (whole.per_step, whole.executed) == (flops, flops)
    assert whole.busy_mfu.value == pytest.approx(0.5, rel=1e-3)
    assert whole.mfu.value is not None
    assert 0 < whole.mfu.value < 0.5
    assert whole.mfu.shown == "exact"
    # a fifth of the time of matmuls is unknown: at least; most of it: not shown
    part = step_flops(model_of_machine(run([[product, product, product, product, shapeless(product)]] * 3), A100))
    assert part.mfu.shown == "at_least"
    assert part.mfu.high is not None
    assert part.mfu.value is not None
    assert part.mfu.high > part.mfu.value
    little = model_of_machine(run([[product, *[shapeless(product)] * 4]] * 3), A100)
    hidden = step_flops(little)
    assert (hidden.mfu.value, hidden.mfu.why) == (None, "coverage")
    said = hidden.coverage
    assert said is not None
    assert said.matrix == pytest.approx(0.2, rel=1e-3)
    assert said.flops + sum(said.unknown.values()) == pytest.approx(1)
    assert step_flops(model_of_machine(run([[product]] * 3), {"id": 0, "name": "?"})).mfu.why == "no_peak"
    assert step_flops(model_of_machine(run([[add(10)]] * 3), A100)).mfu.why == "no_products"


def test_devices_that_are_not_listed_have_the_peaks_of_their_architecture() -> None:
    flops = 2 * 4096**3
    product = matrices(4096, 4096, 4096, BF16, 2 * least_us(flops, 312), "c10::BFloat16")
    model = model_of_machine(run([[product]] * 3), UNKNOWN)
    (device,) = roofs(model)
    assert (device.source, device.bandwidth) == ("architecture", None)
    assert device.flops["bf16"] == pytest.approx(312e12, rel=0.15)
    found = step_flops(model).mfu
    assert found.shown == "range"
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.high


def test_all_groupings_add_up_to_the_same() -> None:
    thin, thick = matrices(64, 4096, 512, BF16, 30, "c10::BFloat16"), matrices(512, 512, 512, BF16, 9, "c10::BFloat16")
    copies = Op(
        "aten::copy_", (("direct_copy_kernel", 40, {}),), {"Input Dims": [[2**20]] * 2, "Input type": ["float"] * 2}
    )
    model = model_of_machine(run([[thin, copies, thick, add(7)]] * 2), H100)
    sums = set()
    for group_by in get_args(RooflineGrouping):
        found = roofline(model, group_by)
        sums.add(
            (found.total_ns, int(found.time_ns.sum()), round(np.nansum(found.lost_ns)), round(np.nansum(found.flops)))
        )
    assert len(sums) == 1


def test_utilization_of_rows_is_of_all_their_time() -> None:
    half = matrices(4096, 4096, 4096, BF16, 2 * least_us(2 * 4096**3, 312), "c10::BFloat16")
    model = model_of_machine(run([[half, half, shapeless(half)]] * 2), A100)
    (row,) = roofline(model, "operator").mfu
    assert row == pytest.approx(2 / 3 / 2, rel=1e-3)
    # 60 % of the time must be known
    assert np.isnan(roofline(model_of_machine(run([[half, shapeless(half)]] * 2), A100), "operator").mfu[0])
    by_element = roofline(model, "element")
    assert set(by_element.name) == {"bf16", "(no products)"}
    assert by_element.mfu[by_element.name.index("bf16")] == pytest.approx(0.5, rel=1e-3)


def advice_of(*ops: Op) -> list[str | None]:
    """Of each kind of product, in the order of their first calls; the device is an A100, whose kernels are known."""
    model = model_of_machine(run([ops]), A100)
    codes, names = call_advice(model), work_counts(model).calls
    order = np.argsort(names.row)
    return [ADVICES[code] if code >= 0 else None for code in codes[order].tolist()]


HELD = {"grid": [1, 1, 1], "block": [256, 1, 1], "registers per thread": 200, "shared memory": 100_000}


@pytest.mark.parametrize(
    ("m", "n", "k", "advice"),
    [
        (4096, 4096, 4096, None),
        (4096, 4095, 4096, "alignment"),
        (8, 4096, 4096, "few_rows"),
        (256, 256, 8192, "split_k"),
        (1408, 1408, 1024, "last_wave"),  # 121 tiles, 108 multiprocessors
        (136, 27648, 512, "edges"),  # 8 of the second 128 rows
        (2048, 2048, 512, "last_wave"),  # 256 tiles
        (3456, 1024, 512, None),  # 216 tiles, all in two rounds
    ],
)
def test_sizes_of_products(m: int, n: int, k: int, advice: str | None) -> None:
    tiled = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
    slow = matrices(m, n, k, tiled, max(1000 * least_us(2 * m * n * k, 312e3), 50) * 3, "c10::BFloat16", **HELD)
    assert advice_of(slow) == [advice]
    # near the roof nothing is wrong
    least = max(least_us(2 * m * n * k, 312), 2 * (m * k + k * n + m * n) / 1555e3)
    if least > 5:
        assert advice_of(slow.lasting(1.1 * least)) == [None]


def test_products_in_a_row() -> None:
    one = matrices(512, 1024, 1024, BF16, 20, "c10::BFloat16")
    other = matrices(512, 256, 1024, BF16, 20, "c10::BFloat16")
    assert advice_of(one, other, other, add(5), one) == ["merge"] * 3 + [None] * 2
    small = matrices(64, 64, 64, BF16, 4, "c10::BFloat16")
    assert advice_of(*[small] * 8, add(5), *[small] * 3) == ["batch"] * 8 + [None] + ["merge"] * 3


FILE = """
[[device]]
match = "Some GPU|A100"
tflops = { bf16 = 1000, fp32 = 50 }
memory = 2000
"""


def test_a_file_of_the_user_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert peaks_digest() == ""
    path = tmp_path / "peaks.toml"
    path.write_text(FILE)
    monkeypatch.setenv(VARIABLE, str(path))
    assert peaks_digest()
    for name in ("Some GPU", "NVIDIA A100-SXM4-40GB"):
        found = peaks_of({"name": name})
        assert found is not None
        assert (found.flops["bf16"], found.bandwidth, found.source) == (1e15, 2e12, "user")
    assert peaks_of({"name": "Tesla T4"}) is not None


@pytest.mark.parametrize(
    "text",
    [
        "[[device",
        "device = 3",
        "[[device]]\nmatch = '('",
        FILE.replace("bf16", "bf99"),
        FILE.replace("2000", "-1"),
        None,
    ],
)
def test_a_file_that_is_wrong_is_left_out(text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "peaks.toml"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv(VARIABLE, str(path))
    found = peaks_of({"name": "NVIDIA A100-SXM4-40GB"})
    assert found is not None
    assert found.source == "data_sheet"
