"""FLOP and bytes of operators by their arguments, worked out by hand; and arguments that say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import kernel, launch, model_of, op
from tests.flop_calls import BF16, FP8, INT, LONG, of
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.flops.elementwise import ELEMENTWISE
from torch_tb_profiler.analysis.flops.operators import READERS
from torch_tb_profiler.analysis.flops.work import Certainty, UnknownReason


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


WEIGHT, TOKENS = [4096, 4096], [8, 4096]


@pytest.mark.parametrize(
    ("operator", "dims", "types", "concrete", "flops", "size"),
    [
        # an empty batch is no work, not an unknown one
        ("aten::mm", [[0, 5], [5, 7]], "float", None, 0, 0),
        # results of another type
        ("aten::mm", [[4, 5], [5, 6], []], [BF16, BF16, "Scalar"], ["", "", "6"], 240, 2 * 50 + 4 * 24),
        (
            "aten::addmm",
            [[6], [4, 5], [5, 6], [], [], []],
            [BF16] * 3 + ["Scalar"] * 3,
            ["", "", "", "6", "1", "1"],
            240,
            2 * 56 + 4 * 24,
        ),
        (
            "aten::addmm",
            [[6], [4, 5], [5, 6], [], []],
            ["float"] * 3 + ["Scalar"] * 2,
            ["", "", "", "1", "1"],
            240,
            4 * 80,
        ),
        # what is multiplied by 0 is not read
        (
            "aten::baddbmm",
            [[2, 4, 6], [2, 4, 5], [2, 5, 6], [], []],
            ["float"] * 3 + ["Scalar"] * 2,
            ["", "", "", "0", "1"],
            480,
            4 * (40 + 60 + 48),
        ),
        ("aten::baddbmm", [[2, 4, 6], [2, 4, 5], [2, 5, 6]], "float", None, 480, 4 * (40 + 60 + 96)),
        # of 2023: bias and type stood before the scales
        (
            "aten::_scaled_mm",
            [[8, 16], [16, 32], [], [], [8, 1], [1, 32]],
            [FP8, FP8, "", "Scalar", "float", "float"],
            ["", "", "", "6", "", ""],
            2 * 8 * 16 * 32,
            128 + 512 + 4 * 256 + 4 * 40,
        ),
        # engines write their result first, or last, and it may look like an input
        ("_C::cutlass_scaled_mm", [TOKENS, TOKENS, WEIGHT], [BF16, FP8, FP8], None, 2 * 8 * 4096**2, None),
        ("aiter::gemm_a16w16", [TOKENS, TOKENS, WEIGHT], BF16, None, 2 * 8 * 4096**2, None),
        ("aiter::gemm_a16w16", [TOKENS, WEIGHT, TOKENS], BF16, None, 2 * 8 * 4096**2, None),
        # two numbers in a byte
        (
            "_C::cutlass_scaled_fp4_mm",
            [[8, 32], [8, 64], [32, 64]],
            [BF16, "unsigned char", "unsigned char"],
            None,
            2 * 8 * 32 * 128,
            None,
        ),
        ("aten::_sparse_semi_structured_linear", [[2, 8, 16], [32, 8], [32, 1]], BF16, None, 2 * 16 * 16 * 32, None),
        ("aten::glu", [[8, 16], []], ["float", "Scalar"], None, 0, 4 * (128 + 64)),
        (
            "aten::elu_backward",
            [[16], [], [], [], [], [16]],
            ["float"] + ["Scalar"] * 4 + ["float"],
            None,
            0,
            4 * 48,
        ),
        ("aten::mse_loss", [[16], [16], []], ["float", "float", "Scalar"], ["", "", "1"], 0, 4 * 32),
        ("aten::mse_loss", [[16], [16], []], ["float", "float", "Scalar"], ["", "", "0"], 0, 4 * 48),
        ("aten::equal", [[16], [16]], "float", None, 0, 4 * 32),
        ("aten::index_copy_", [[99], [], [4], [4]], ["float", "Scalar", LONG, "float"], None, 0, 32 + 2 * 16),
        ("aten::scatter_", [[99], [], [4], [4]], ["float", "Scalar", LONG, "float"], None, 0, 32 + 2 * 16),
        ("aten::_embedding_bag", [[100, 8], [12], [3]], ["float", LONG, LONG], None, 0, 12 * 32 + 3 * 32 + 8 * 15),
        (
            "aten::adaptive_max_pool2d",
            [[1, 2, 8, 8], []],
            ["float", "ScalarList"],
            ["", "[2, 2]"],
            0,
            4 * 128 + 8 * 12,
        ),
        # of three windows that begin every 2, the last would begin behind the input
        (
            "aten::avg_pool2d",
            [[1, 1, 4, 4], [], [], [], []],
            ["float"] + ["ScalarList"] * 3 + ["Scalar"],
            ["", "[1, 1]", "[3, 3]", "[0, 0]", "True"],
            0,
            4 * (16 + 4),
        ),
        ("aten::_foreach_zero_", [[[4], [6]]], ["TensorList"], None, 0, 4 * 10),
        (
            "fbgemm::split_embedding_codegen_lookup_adagrad_function",
            [[0], [9999], [0], [0], [3], [3], [4], [], [], [4], [], [40], [13]],
            ["float"] * 4 + [INT, LONG, INT, "Scalar", "Scalar", LONG, "Scalar", LONG, LONG],
            [*[""] * 7, "48", "32", *[""] * 4],
            0,
            40 * 16 * 4 + 8 * 53 + 4 * 48 * 4,
        ),
    ],
)
def test_other_forms(operator: str, dims: Any, types: Any, concrete: Any, flops: int, size: int | None) -> None:
    work = of(operator, dims, types, concrete)
    assert (work.flops, work.why) == (flops, None)
    assert size is None or work.bytes == size


@pytest.mark.parametrize(
    ("operator", "dims", "types"),
    [
        # packed weights: their width looks like a dimension of the tokens
        ("_C::marlin_gemm", [[8, 64], [4, 64]], [BF16, INT]),
        ("_C::gptq_marlin_gemm", [[8, 64], [8, 64], [4, 64]], [BF16, BF16, INT]),
        # groups
        ("deep_gemm::m_grouped_fp8_gemm", [[8, 64], [3, 64, 64], [8, 64]], [FP8, FP8, BF16]),
        ("aten::mm", [[4, 5], [5, 6]], ["c10::complex<float>"] * 2),
    ],
)
def test_what_could_be_read_in_two_ways_is_not_known(operator: str, dims: Any, types: Any) -> None:
    assert of(operator, dims, types).flops is None


def test_convolution_with_another_input() -> None:
    settings = ["[1, 1]", "[1, 1]", "[1, 1]", "1"]
    plain = [[2, 3, 8, 8], [4, 3, 3, 3], [4]]
    more = [plain[0], [2, 4, 8, 8], *plain[1:]]
    one = of("mkldnn::_convolution_pointwise", plain + [[]] * 4, concrete=[*[""] * 3, *settings])
    two = of("mkldnn::_convolution_pointwise", more + [[]] * 4, concrete=[*[""] * 4, *settings])
    assert one.flops == two.flops == 2 * 2 * 4 * 64 * 27
    assert two.bytes == (one.bytes or 0) + 4 * 2 * 4 * 64


def test_types_of_lists_are_those_of_the_kernel() -> None:
    parts = [[[4], [6]], []], ["TensorList", "Scalar"]
    assert of("aten::cat", *parts, kernel="CatArrayBatchedCopy<OpaqueType<2u>, int>").bytes == 40
    assert of("aten::cat", *parts, kernel="CatArrayBatchedCopy<bool, unsigned int, 3>").bytes == 20
    assert of("aten::cat", *parts).sure == Certainty.ESTIMATE


def test_what_is_expanded_is_read_once() -> None:
    assert of("aten::add", [[64, 32], [64, 32]], strides=[[32, 1], [0, 1]]).bytes == 4 * (2 * 2048 + 32)
    assert of("aten::copy_", [[64, 32], [64, 32]], strides=[[32, 1], [0, 0]]).bytes == 4 * (2048 + 1)


def test_a_loss_reads_what_the_targets_name() -> None:
    """All 50,257 classes would be some hundred times what the memory can deliver."""
    types = ["float", LONG, "", "Scalar", "Scalar"]
    work = of("aten::nll_loss_forward", [[8192, 50257], [8192], [], [], []], types)
    assert work.bytes == 8192 * (8 + 4)
    work = of("aten::nll_loss2d_forward", [[2, 21, 64, 64], [2, 64, 64], [], [], []], types)
    assert work.bytes == 2 * 64 * 64 * (8 + 4)


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
        ("aten::mm", None, None, UnknownReason.SHAPES_OFF),
        ("aten::mm", [[4, 5], [4, 5]], "float", UnknownReason.NO_MODEL),
        ("aten::index", [[4, 5], []], ["float", ""], UnknownReason.CONTENTS),
        ("aten::_foreach_add_", [[], []], ["TensorList", "TensorList"], UnknownReason.LONG_LIST),
        # pages of a cache
        (
            "flash_attn_3::fwd",
            [[4, 1, 8, 64], *[[9, 16, 8, 64]] * 2, [4, 3]],
            [BF16] * 3 + [INT],
            UnknownReason.CONTENTS,
        ),
        ("aiter::mha_fwd", [[4, 1, 8, 64], *[[9, 16, 8, 64]] * 2], BF16, UnknownReason.CONTENTS),
        ("vllm::moe_forward", [[4, 8]], BF16, UnknownReason.WEIGHTS),
        ("triton_tem_fused_flex_attention_0", [[4, 8, 4, 4]] * 3, BF16, UnknownReason.GENERATED),
        ("fbgemm::split_embedding", [[4]], "float", UnknownReason.CONTENTS),
        ("my::operator", [[4]], "float", UnknownReason.NO_MODEL),
    ],
)
def test_why_it_is_not_known(operator: str, dims: Any, types: Any, why: UnknownReason) -> None:
    work = of(operator, dims or [], types or [])
    assert work.why == why
    assert work.bytes is None


HOSTILE: tuple[Any, ...] = (
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


ODD: tuple[Any, ...] = (
    [],
    [[]] * 9,
    [[0, 5], [5, 0], [0]],
    [[3], [3], [3]],
    [[1, 1, 1, 1]] * 16,
    [[[4], [6]], [[4]], []],
    [[2**40] * 4] * 4,
    [[7, 3, 5, 2], [2, 9], [4, 4, 4]],
)


#: one operator of each reader
READ = sorted({read: name for name, read in sorted(READERS.items()) if name not in ELEMENTWISE}.values())


@pytest.mark.parametrize("operator", [*READ, "aten::add_", "aten::gt", "aten::where", "aten::glu", "aten::arange"])
def test_odd_arguments_give_an_amount_or_nothing(operator: str) -> None:
    for dims in (*ODD, *HOSTILE):
        for types in ("float", "TensorList", ""):
            for concrete in (None, ["-3"] * 16, ["[-9, 9]"] * 16, ["1e300"] * 16):
                work = of(operator, dims, types, concrete)
                assert all(each is None or (type(each) is int and each >= 0) for each in (work.flops, work.bytes))
                assert (work.flops is None or work.bytes is None) == (work.why is not None)


@pytest.mark.parametrize(
    ("operator", "flop", "gigabytes", "flops", "size"),
    [
        ("triton_poi_fused_add_0", 0, 0.5, 0, 500_000_000),
        ("triton_tem_fused_flex_attention_0", 123_456, 0.25, 123_456, 250_000_000),
        ("my_kernel", "123456", "0.25", 123_456, 250_000_000),
        ("my_kernel", None, 0.25, None, 250_000_000),
        ("my_kernel", -1, float("nan"), None, None),
        ("triton_poi_fused_add_0", "[]", None, 0, 4 * 3 * 512),
    ],
)
def test_what_inductor_counted(operator: str, flop: Any, gigabytes: Any, flops: Any, size: Any) -> None:
    said: Any = {"kernel_flop": flop, "kernel_num_gb": gigabytes, "Input type": ["float"] * 3}
    events = [op(operator, 10, 50, **said | {"Input Dims": [[4, 8, 4, 4]] * 3}), launch(20, 1)]
    (work, *_) = work_counts(model_of([*events, kernel(100, 50, 1, operator)])).calls.works
    assert (work.flops, work.bytes) == (flops, size)
    assert (work.why is None) == (flops is not None and size is not None)


def test_numbers_beyond_64_bits() -> None:
    assert of("aten::mm", [[2**40, 2**40], [2**40, 2**40]]).flops == 2**121
