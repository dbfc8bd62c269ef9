"""FLOP and bytes of operators by their arguments, worked out by hand; and arguments that say nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from torch_tb_profiler.analysis.flops.attention import kept
from torch_tb_profiler.analysis.flops.operators import work_of
from torch_tb_profiler.analysis.flops.work import Sure, Unknown, Work

BF16, FP8, LONG, INT = "c10::BFloat16", "c10::Float8_e4m3fn", "long int", "int"


def of(
    operator: str, dims: Any, types: Any = "float", concrete: Any = None, strides: Any = None, kernel: str = ""
) -> Work:
    kinds = [types] * len(dims) if isinstance(types, str) else types
    texts = [json.dumps(each) if each else "" for each in (dims, kinds, concrete, strides)]
    return work_of(operator, *texts, kernel)


@pytest.mark.parametrize(
    ("operator", "dims", "types", "concrete", "flops", "size"),
    [
        ("aten::addbmm", [[4, 6], [3, 4, 5], [3, 5, 6]], "float", None, 2 * 3 * 4 * 5 * 6, 4 * (60 + 90 + 2 * 24)),
        ("aten::dot", [[8], [8]], "float", None, 16, 4 * 17),
        ("aten::_scaled_mm", [[8, 16], [16, 32]], FP8, None, 2 * 8 * 16 * 32, 128 + 512 + 2 * 256),
        ("aten::_scaled_mm", [[8, 16], [16, 32]], FP8, [""] * 6 + ["6"], 2 * 8 * 16 * 32, 128 + 512 + 4 * 256),
        # two numbers in each byte
        ("aten::_scaled_mm", [[8, 16], [16, 32]], "c10::Float4_e2m1fn_x2", None, 4 * 8 * 16 * 32, 128 + 512 + 512),
        (
            "aten::_grouped_mm",
            [[10, 16], [3, 16, 8], [3]],
            [BF16, BF16, INT],
            None,
            2 * 10 * 16 * 8,
            2 * (160 + 384 + 80),
        ),
        ("aten::_weight_int4pack_mm", [[4, 16], [8, 8]], [BF16, "unsigned char"], None, 2 * 4 * 16 * 8, 128 + 64 + 64),
        ("aten::_cslt_sparse_mm", [[8, 8], [16, 4]], BF16, None, 2 * 8 * 16 * 4, 144 + 128 + 64),
        ("vllm::cutlass_scaled_mm", [[8, 4], [8, 16], [16, 4]], ["", FP8, FP8], None, 2 * 8 * 16 * 4, 128 + 64 + 64),
        (
            "vllm::outplace_fused_experts",
            [[4, 8], [6, 20, 8], [6, 8, 10], [4, 2], [4, 2]],
            [BF16, BF16, BF16, "float", INT],
            None,
            2 * 4 * 2 * 8 * 30,
            2 * 64 + 2 * (960 + 480),
        ),
        ("triton_tem_fused_mm_0", [[8, 16], [16, 4], [8, 4]], BF16, None, 2 * 8 * 16 * 4, 2 * (128 + 64 + 32)),
        ("triton_poi_fused_add_0", [[8, 16], [8, 16], []], [BF16, "float", "Scalar"], None, 0, 256 + 512),
        ("aten::clamp_min", [[16], [], [16]], ["float", "Int", "float"], None, 0, 128),
        ("aten::mul", [[16, 1], [1, 8]], [BF16, BF16], None, 0, 2 * (16 + 8 + 128)),
        ("aten::mul", [[16], []], [BF16, "double"], None, 0, 2 * 16 + 8 + 2 * 16),
        ("aten::mul_", [[16], [16]], ["float", BF16], None, 0, 64 + 32 + 64),
        ("aten::eq", [[16], [16]], "float", None, 0, 128 + 16),
        ("aten::div", [[16], [16]], INT, None, 0, 192),
        ("aten::where", [[16], [16], [1]], ["bool", BF16, BF16], None, 0, 16 + 32 + 2 + 32),
        ("aten::fill_", [[16], []], ["float", "Scalar"], None, 0, 64),
        ("aten::copy_", [[16], [16]], ["float", BF16], None, 0, 64 + 32),
        ("aten::native_dropout", [[16]], "float", None, 0, 64 + 64 + 16),
        ("aten::embedding", [[100, 8], [4]], ["float", LONG], None, 0, 2 * 4 * 32 + 32),
        ("aten::index_select", [[100, 8], [], [4]], ["float", "Scalar", LONG], ["", "0", ""], 0, 2 * 4 * 32 + 32),
        ("aten::gather", [[100], [], [4]], ["float", "Scalar", LONG], None, 0, 16 + 16 + 32),
        ("aten::sum", [[8, 4]], "float", None, 0, 128),
        ("aten::_softmax", [[8, 4], [], []], [BF16, "Scalar", "Scalar"], ["", "-1", "True"], 0, 64 + 128),
        ("aten::native_layer_norm", [[8, 4], [], [4], [4]], ["float", "ScalarList", "float", "float"], None, 0, 288),
        ("aten::view", [[8, 4]], "float", None, 0, 0),
        (
            "aten::max_pool2d_with_indices",
            [[1, 2, 8, 8], [], [], [], [], []],
            ["float"] + ["ScalarList"] * 5,
            ["", "[2, 2]", "[2, 2]", "[0, 0]", "[1, 1]", "False"],
            0,
            4 * 128 + 32 * 12,
        ),
        ("aten::upsample_nearest2d", [[1, 2, 4, 4], []], ["float", ""], ["", "[8, 8]"], 0, 4 * (32 + 128)),
        ("aten::_foreach_add_", [[[4], [6]], [[4], [6]]], ["TensorList"] * 2, None, 0, 4 * 30),
        ("aten::_fused_adamw_", [[[4], [6]]] * 4, ["TensorList"] * 4, None, 0, 28 * 10),
        ("aten::_fused_sgd_", [[[4], [6]]] * 2, ["TensorList"] * 2, None, 0, 12 * 10),
        ("aten::cat", [[[4], [6]], []], ["TensorList", "Scalar"], None, 0, 80),
    ],
)
def test_by_hand(operator: str, dims: Any, types: Any, concrete: Any, flops: int, size: int) -> None:
    work = of(operator, dims, types, concrete)
    assert (work.flops, work.bytes, work.why) == (flops, size, None)


def test_types_of_lists_are_those_of_the_kernel() -> None:
    parts = [[[4], [6]], []], ["TensorList", "Scalar"]
    assert of("aten::cat", *parts, kernel="CatArrayBatchedCopy<OpaqueType<2u>, int>").bytes == 40
    assert of("aten::cat", *parts, kernel="CatArrayBatchedCopy<bool, unsigned int, 3>").bytes == 20
    assert of("aten::cat", *parts).sure == Sure.ESTIMATE


def test_what_is_expanded_is_read_once() -> None:
    assert of("aten::add", [[64, 32], [64, 32]], strides=[[32, 1], [0, 1]]).bytes == 4 * (2 * 2048 + 32)
    assert of("aten::copy_", [[64, 32], [64, 32]], strides=[[32, 1], [0, 0]]).bytes == 4 * (2048 + 1)


@pytest.mark.parametrize("corner", ["upper_left", "lower_right"])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 5), (4, 7), (7, 4), (1, 9), (9, 1)])
def test_causal_masks_by_counting(queries: int, keys: int, corner: Any) -> None:
    shift = 0 if corner == "upper_left" else keys - queries
    left = sum(key <= query + shift for query in range(queries) for key in range(keys))
    assert kept(queries, keys, corner) * queries * keys == left


def attention(operator: str, *, backward: bool = False, last: bool = False, causal: str = "False", **more: Any) -> Work:
    """Of 2 sequences, 8 heads over 4 of k and v, 16 × 32 scores, heads of 64."""
    q, k = ([2, 16, 8, 64], [2, 32, 4, 64]) if last else ([2, 8, 16, 64], [2, 4, 32, 64])
    dims = [*([q] if backward else []), q, k, k]
    return of(operator, dims, BF16, [*[""] * len(dims), "0.0", causal, "False"], **more)


def test_attention() -> None:
    scores = 2 * 8 * 16 * 32
    flash = attention("aten::_scaled_dot_product_flash_attention")
    assert (flash.flops, flash.sure) == (2 * scores * 128, Sure.EXACT)
    assert flash.bytes == 2 * (2 * 2 * 8 * 16 * 64 + 2 * 2 * 4 * 32 * 64) + 4 * 2 * 8 * 16
    causal = attention("aten::_scaled_dot_product_flash_attention", causal="True")
    assert causal.dense_flops == flash.flops
    assert causal.flops == 2 * scores * 128 * (16 * 17 // 2) // (16 * 32)
    # lower right corner
    lower = attention("aten::_flash_attention_forward", last=True, causal="True")
    assert lower.flops == 2 * scores * 128 * (16 * 32 - 16 * 15 // 2) // (16 * 32)
    backward = attention("aten::_scaled_dot_product_flash_attention_backward", backward=True)
    assert (backward.flops, backward.model_flops) == (2 * scores * 5 * 64, 2 * scores * 4 * 64)
    # without the values it may be causal
    unsaid = of("aten::_scaled_dot_product_flash_attention", [[2, 8, 16, 64]] * 3, BF16)
    assert unsaid.sure == Sure.BOUND


@pytest.mark.parametrize(
    ("mode", "gates", "flags", "directions"),
    [
        ("2", 4, ["False", "True", "False"], 1),
        ("3", 3, ["False", "True", "True"], 2),
        ("0", 1, ["True", "True", "False"], 1),
    ],
)
def test_recurrent_layers(mode: str, gates: int, flags: list[str], directions: int) -> None:
    first, train, both = flags
    concrete = [*[""] * 6, mode, "20", "0", "2", first, "0.0", train, both]
    work = of("aten::_cudnn_rnn", [[5, 3, 10], *[[]] * 13], ["float", *["Scalar"] * 13], concrete)
    sizes = (10, 20 * directions)
    assert work.flops == sum(directions * 2 * 15 * gates * 20 * (size + 20) for size in sizes)


@pytest.mark.parametrize(
    ("operator", "dims", "types", "why"),
    [
        ("aten::mm", None, None, Unknown.SHAPES_OFF),
        ("aten::mm", [[4, 5], [4, 5]], "float", Unknown.NO_MODEL),
        ("aten::index", [[4, 5], []], ["float", ""], Unknown.CONTENTS),
        ("aten::_foreach_add_", [[], []], ["TensorList", "TensorList"], Unknown.LONG_LIST),
        ("aten::_flash_attention_forward", [[64, 8, 64]] * 3 + [[3], [3]], [BF16] * 3 + [INT] * 2, Unknown.CONTENTS),
        ("vllm::moe_forward", [[4, 8]], BF16, Unknown.WEIGHTS),
        ("triton_tem_fused_flex_attention_0", [[4, 8, 4, 4]] * 3, BF16, Unknown.GENERATED),
        ("fbgemm::split_embedding", [[4]], "float", Unknown.CONTENTS),
        ("my::operator", [[4]], "float", Unknown.NO_MODEL),
    ],
)
def test_why_it_is_not_known(operator: str, dims: Any, types: Any, why: Unknown) -> None:
    work = of(operator, dims or [], types or [])
    assert work.why == why
    assert work.bytes is None


HOSTILE = (
    [[4, -5], [-5, 6], [4]],
    [[4, 2**63], [2**63, 6], [4]],
    [["4", "5"], ["5", "6"], ["4"]],
    [[[[]]], {"a": 1}, None],
    [[4.5, 5], [5, float("nan")], [1]],
    [[True, 5], [5, 6], [7]],
    [],
)


@pytest.mark.parametrize("dims", HOSTILE, ids=str)
@pytest.mark.parametrize(
    "concrete", [None, ["__import__('os').system('true')"] * 14, ["[" * 5000] * 14], ids=["", "call", "deep"]
)
def test_hostile_arguments_say_nothing(dims: Any, concrete: Any) -> None:
    for operator in (
        *("aten::mm", "aten::cudnn_convolution", "aten::convolution_backward", "aten::_cudnn_rnn", "aten::add"),
        *("aten::_flash_attention_forward", "aten::_grouped_mm", "aten::cat", "aten::max_pool2d_with_indices"),
        *("triton_poi_fused_add_0", "aten::embedding", "aten::_foreach_add_", "aten::upsample_nearest2d"),
    ):
        work = of(operator, dims, "float", concrete)
        assert work.flops in (None, 0) or (operator, dims) == ("aten::mm", HOSTILE[5])


def test_numbers_beyond_64_bits() -> None:
    assert of("aten::mm", [[2**40, 2**40], [2**40, 2**40]]).flops == 2**121
