"""FLOP and bytes of products by their arguments, worked out by hand; and arguments that say nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from torch_tb_profiler.analysis.flops.generated import tensor_bytes
from torch_tb_profiler.analysis.flops.operators import work_of
from torch_tb_profiler.analysis.flops.work import Matmul
from torch_tb_profiler.analysis.roofline.roofs import minimal_ns
from torch_tb_profiler.analysis.shared.peaks import peaks_of


def of(
    operator: str, dims: Any, types: Any = "float", concrete: Any = (), strides: Any = (), tensors: int = 9
) -> Matmul | None:
    kinds = [types] * min(len(dims), tensors) if isinstance(types, str) else types
    texts = [json.dumps(list(each)) if len(each) else "" for each in (dims, kinds, concrete, strides)]
    return work_of(operator, *texts).product


@pytest.mark.parametrize(
    ("operator", "dims", "sizes", "elements"),
    [
        ("aten::mm", [[32, 64], [64, 16]], (1, 32, 16, 64), 32 * 64 + 64 * 16 + 32 * 16),
        ("aten::addmm", [[16], [32, 64], [64, 16]], (1, 32, 16, 64), 32 * 64 + 64 * 16 + 32 * 16),
        ("aten::bmm", [[5, 32, 64], [5, 64, 16]], (5, 32, 16, 64), 5 * (32 * 64 + 64 * 16 + 32 * 16)),
        ("aten::baddbmm", [[5, 32, 16], [5, 32, 64], [5, 64, 16]], (5, 32, 16, 64), 5 * (32 * 64 + 64 * 16 + 32 * 16)),
        ("aten::mv", [[32, 64], [64]], (1, 32, 1, 64), 32 * 64 + 64 + 32),
        ("aten::linear", [[4, 8, 64], [16, 64], [16]], (1, 32, 16, 64), 32 * 64 + 64 * 16 + 32 * 16),
    ],
)
def test_matrices(operator: str, dims: Any, sizes: tuple[int, ...], elements: int) -> None:
    found = of(operator, dims)
    assert found is not None
    assert (found.batch, found.m, found.n, found.k) == sizes
    batch, m, n, k = sizes
    assert found.flops == 2 * batch * m * n * k
    assert found.bytes == 4 * elements
    assert found.data == "fp32"
    assert found.constant == (operator not in ("aten::bmm", "aten::baddbmm"))


@pytest.mark.parametrize(
    ("m", "n", "k", "strides", "aligned"),
    [
        (64, 64, 64, [[64, 1], [64, 1]], 64),
        (4096, 30522, 768, [[768, 1], [1, 768]], 2),  # the output
        (4096, 768, 30522, [[30522, 1], [1, 30522]], 2),  # what is summed over lies one behind the other
        (768, 3072, 4097, [[1, 768], [3072, 1]], 64),  # here it does not
        (768, 3072, 4097, [], 64),
        (1, 48, 64, [[64, 1], [1, 64]], 16),
    ],
)
def test_alignment_of_rows(m: int, n: int, k: int, strides: Any, aligned: int) -> None:
    found = of("aten::mm", [[m, k], [k, n]], "c10::BFloat16", strides=strides)
    assert found is not None
    assert found.aligned == aligned


def test_results_of_another_type() -> None:
    found = of("aten::_scaled_mm", [[128, 256], [256, 64], [], []], ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn"])
    assert found is not None
    assert (found.data, found.size) == ("fp8", 1)
    assert found.bytes == 128 * 256 + 256 * 64 + 2 * 128 * 64


def convolution(operator: str, concrete: list[str]) -> Matmul | None:
    dims = [[32, 3, 224, 224], [64, 3, 7, 7], *[[]] * (len(concrete) - 2)]
    return of(operator, dims, ["float", "float", *["Scalar"] * (len(concrete) - 2)], concrete)


#: the first layer of ResNet-50: 118 million multiplications for each image
FIRST = 2 * 32 * 112 * 112 * 64 * 3 * 49


@pytest.mark.parametrize(
    ("operator", "concrete"),
    [
        ("aten::cudnn_convolution", ["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"]),
        ("aten::convolution", ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"]),
        ("aten::convolution", ["", "", "", "[2]", "[3]", "[1]", "False", "[0]", "1"]),
        ("aten::miopen_convolution", ["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False"]),
    ],
)
def test_forward_convolutions(operator: str, concrete: list[str]) -> None:
    found = convolution(operator, concrete)
    assert found is not None
    assert found.flops == FIRST
    assert found.bytes == 4 * (32 * 3 * 224 * 224 + 64 * 3 * 49 + 32 * 64 * 112 * 112)
    assert (found.m, found.batch) == (0, 0)


@pytest.mark.parametrize(
    ("mask", "times"), [("[True, True, False]", 2), ("[False, True, False]", 1), ("[True, False, True]", 1)]
)
def test_backward_convolutions(mask: str, times: int) -> None:
    dims = [[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], *[[]] * 8]
    concrete = ["", "", "", "[0]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", mask]
    found = of("aten::convolution_backward", dims, ["float"] * 3 + ["Scalar"] * 8, concrete)
    assert found is not None
    assert found.flops == times * FIRST
    # without a mask both are taken to be computed
    unknown = of("aten::convolution_backward", dims, ["float"] * 3 + ["Scalar"] * 8)
    assert unknown is not None
    assert unknown.flops == 2 * FIRST
    old = of("aten::cudnn_convolution_backward", [dims[1], dims[0], dims[2]])
    assert old is not None
    assert old.flops == 2 * FIRST


@pytest.mark.parametrize(
    ("operator", "dims", "types", "concrete"),
    [
        ("aten::add", [[4, 4], [4, 4]], "float", ()),
        ("aten::mm", [[4, 5], [4, 5]], "float", ()),
        ("aten::mm", [[4, 5], [5]], "float", ()),
        ("aten::mm", [[4, 5], [5, 6]], ["float", "double"], ()),
        ("aten::mm", [[4, 5], [5, 6]], (), ()),
        ("aten::mm", [[4, 5], [5, 6]], "some::Type", ()),
        ("aten::mm", [[4, -5], [-5, 6]], "float", ()),
        ("aten::mm", [[4, 2**63], [2**63, 6]], "float", ()),
        ("aten::mm", [["4", "5"], ["5", "6"]], "float", ()),
        ("aten::mm", [[0, 5], [5, 6]], "float", ()),
        ("aten::mm", [], "float", ()),
        ("aten::bmm", [[4, 5, 6], [3, 6, 7]], "float", ()),
        ("aten::cudnn_convolution", [[1, 3, 8, 8], [4, 3, 3, 3]], "float", ()),
        ("aten::cudnn_convolution", [[1, 3, 8, 8], [4, 3, 3, 3]], "float", ["", "", "__import__('os')", "[1]", "[1]"]),
        ("aten::cudnn_convolution", [[1, 3, 8, 8], [4, 3, 3, 3]], "float", ["", "", "[" * 10_000, "[1]", "[1]"]),
        ("aten::cudnn_convolution", [[1, 3, 8, 8], [4, 3, 3, 3]], "float", ["", "", "[0, 0]", "[0, 0]", "[1, 1]"]),
        ("aten::cudnn_convolution", [[1, 3, 8, 8], [4, 3, 30, 30]], "float", ["", "", "[0, 0]", "[1, 1]", "[1, 1]"]),
        ("aten::convolution_backward", [[1, 3, 8, 8], [1, 4, 8, 8], [3, 3, 3, 3]], "float", ()),
    ],
)
def test_what_says_nothing(operator: str, dims: Any, types: Any, concrete: Any) -> None:
    assert of(operator, dims, types, concrete) is None


@pytest.mark.parametrize("text", ["", "{}", "[", "3", "null", '"[]"', "[[[[]]]]"])
def test_arguments_that_are_no_lists(text: str) -> None:
    assert work_of("aten::mm", text, text, text, text).flops is None
    assert tensor_bytes(text, text, text) is None


def test_numbers_beyond_64_bits() -> None:
    found = of("aten::mm", [[2**40, 2**40], [2**40, 2**40]])
    assert found is not None
    assert found.flops == 2**121


def test_the_least_time_is_that_of_the_bound() -> None:
    a100 = peaks_of({"name": "NVIDIA A100-SXM4-40GB"})
    assert a100 is not None
    large, thin = of("aten::mm", [[4096, 4096]] * 2, "c10::Half"), of("aten::mm", [[4096, 4], [4, 4096]], "c10::Half")
    assert large is not None
    assert thin is not None
    assert minimal_ns(large, a100, "fp16") == pytest.approx(2 * 4096**3 / 312e3)
    assert minimal_ns(large, a100, "fp32") == pytest.approx(2 * 4096**3 / 19.5e3)
    assert minimal_ns(thin, a100, "fp16") == pytest.approx(2 * (2 * 4 * 4096 + 4096**2) / 1555)
    assert minimal_ns(thin, a100, "fp16", size=4) == pytest.approx(4 * (2 * 4 * 4096 + 4096**2) / 1555)
    assert minimal_ns(large, a100, "fp8") is None


def test_bytes_of_tensors() -> None:
    dims = "[[4, 8], [8], [], [4, 8], [2, 3]]"
    assert tensor_bytes(dims, '["float", "c10::Half", "Scalar", "bool", "long int"]', "") == 128 + 16 + 32 + 48
    # an expanded tensor has its elements once
    assert tensor_bytes("[[4, 8]]", '["float"]', "[[0, 1]]") == 32
    assert tensor_bytes("[[4, 8], [[2], [3]]]", '["float", "TensorList"]', "") == 128 + 20
    assert tensor_bytes("[[4, 8], []]", '["float", "TensorList"]', "") is None
    assert tensor_bytes("[[4, 8]]", '["some::Type"]', "") is None
    assert tensor_bytes("[[]]", '["Scalar"]', "") is None
