"""Rules about operators in 64 bits, and about programs on the CPU: code without operators, and where the time goes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, annotation, event, frame, kernel, launch, model_of, op
from torch_tb_profiler.insights import Finding
from torch_tb_profiler.insights.findings import diagnosis


def steps(*step: Event, length: float, n: int = 5) -> list[Event]:
    """The same events in each step, which takes so many µs."""
    found: list[Event] = []
    for number in range(n):
        at = number * length
        found.append(annotation(f"ProfilerStep#{number}", at, length - 1))
        found += [{**each, "ts": each["ts"] + at} for each in step]
    return found


def found_in(events: list[Event]) -> dict[str, Finding]:
    return {each.key: each for each in diagnosis(model_of(events)).findings}


def product(at: float, length: float, kind: str, **given: Any) -> Event:
    args = {"Input Dims": [[64, 64], [64, 64]], "Input type": [kind, kind], **given}
    return op("aten::mm", at, length, **args)


def test_operators_of_64_bits() -> None:
    finding = found_in(steps(product(10, 600, "double"), product(620, 300, "float"), length=1000))["double_precision"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(300_000, rel=0.01)
    assert finding.values["share"] == pytest.approx(0.6, abs=0.01)


def test_a_number_of_python_is_no_tensor_of_64_bits() -> None:
    scaled = product(10, 600, "float", **{"Input Dims": [[64, 64], []], "Input type": ["float", "double"]})
    assert "double_precision" not in found_in(steps(scaled, length=1000))


@pytest.mark.parametrize(
    ("name", "is_wide"),
    [
        ("ampere_dgemm_128x64_nn", True),
        ("void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>", True),
        ("Cijk_Ailk_Bljk_DB_MT64x64x8_SN", True),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8_SN", False),
        ("void gemv2T_kernel_val<int, int, double, double, double, double, 128, 16>(...)", True),
        (
            "void vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<double>, Array<char*, 3> >",
            True,
        ),
        ("void at::native::elementwise_kernel<128, 2, direct_copy_kernel_cuda()::{lambda(double)#1}>(int)", True),
        (
            "void multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>, float const*, double, double>",
            False,
        ),
        ("void vision::ops::nms_kernel_impl<float>(int, double, float const*, unsigned long long*)", False),
    ],
)
def test_kernels_of_64_bits_by_their_names(name: str, is_wide: bool) -> None:
    """Numbers among the parameters are no tensors."""
    work: list[Event] = []
    for number in range(5):
        at = 1000 * number
        wait = event("cuda_runtime", "cudaDeviceSynchronize", at + 20, 600, correlation=100 + number)
        work += [launch(at + 10, number + 1), kernel(at + 18, 600, number + 1, name), wait]
    found = found_in([*steps(length=1000), *work])
    assert ("double_precision" in found) == is_wide


def test_code_of_a_program_on_the_cpu_that_calls_no_operator() -> None:
    code = [frame("train.py(3): main", 1, 9_900), frame("text.py(31): tokenize", 10, 6_000)]
    events = steps(*code, product(6_100, 3_000, "float"), length=10_000)
    finding = found_in(events)["host_code"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(6_000_000, rel=0.01)
    assert finding.where is not None
    assert (finding.where.function, finding.where.line) == ("tokenize", 31)
    busy = steps(*code, product(100, 5_000, "float"), product(6_100, 3_000, "float"), length=10_000)
    assert "host_code" not in found_in(busy)


@pytest.mark.parametrize(
    "name", ["<built-in function sleep>", "json/__init__.py(183): dumps", "threading.py(1087): join"]
)
def test_what_a_function_that_calls_operators_calls_of_libraries(name: str) -> None:
    code = [frame("train.py(3): main", 1, 9_900), frame(name, 100, 4_000)]
    finding = found_in(steps(*code, product(4_100, 5_000, "float"), length=10_000))["host_code"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(4_000_000, rel=0.01)
    of_torch = [code[0], frame("torch/profiler/profiler.py(1227): step", 100, 4_000)]
    assert "host_code" not in found_in(steps(*of_torch, product(4_100, 5_000, "float"), length=10_000))


def test_where_the_time_of_the_cpu_goes() -> None:
    step = [frame("nn.Module: Linear_3", 5, 700), product(10, 600, "float"), op("aten::relu", 800, 100)]
    finding = found_in(steps(*step, length=1000))["top_operators"]
    assert finding.saving is None
    assert finding.values["operators"] == "`aten::mm` 60 %, `aten::relu` 10 %"
    assert finding.values["modules"] == "`Linear` 60 %"


def layers(n: int, length: float, **more: float) -> list[Event]:
    """Modules of one class, each with an operator on the CPU; `more`: µs of the operators of some by name."""
    found: list[Event] = []
    for at in range(n):
        start = at * 200
        found += [frame(f"nn.Module: Block_{at}", start, 190), frame("model.py(20): forward", start + 1, 180)]
        found.append(product(start + 5, more.get(f"Block_{at}", length), "double"))
    return found


def test_a_place_in_all_modules_of_a_class() -> None:
    where = found_in(steps(*layers(8, 150, Block_3=170), length=1700))["double_precision"].where
    assert where is not None
    assert where.text == "aten::mm at model.py:20 (forward) in all 8 modules of the class Block"
    assert (where.module, where.modules, where.modules_of_class) == ("Block", 8, 8)
    assert where.share == 1


def test_one_module_that_has_most() -> None:
    where = found_in(steps(*layers(8, 10, Block_3=170), length=1700))["double_precision"].where
    assert where is not None
    assert where.module == "Block_3"


def test_a_place_around_many_functions() -> None:
    """No function and no operator has half, what calls all of them does."""
    step = [frame("train.py(5): train_step", 1, 1600), frame("train.py(1): main", 0, 1650)]
    for at, name in enumerate("abcd"):
        step.append(frame(f"{name}.py(1): {name}", 10 + 400 * at, 390))
        step.append({**product(15 + 400 * at, 380, "double"), "name": f"aten::{name}"})
    where = found_in(steps(*step, length=1700))["double_precision"].where
    assert where is not None
    assert where.text == "train.py:5 (train_step)"


def test_loading_is_named_by_the_function_that_takes_it() -> None:
    names = ["torch/utils/data/dataloader.py(703): __next__", "pipelines/pt_utils.py(180): __next__"]
    names += ["processing.py(368): preprocess", "processing.py(301): resize"]
    step = [annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 5_000)]
    step += [frame(name, 10 + at, 4_900 - 60 * at) for at, name in enumerate(names)]
    finding = found_in(steps(*step, product(5_100, 3_000, "float"), length=9_000))["synchronous_dataloader"]
    assert finding.where is not None
    assert finding.where.text == "processing.py:301 (resize)"
