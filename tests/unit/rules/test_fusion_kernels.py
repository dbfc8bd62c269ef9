"""Kernels that one kernel could do: what is found, where, and what it would save; the truth is a program without."""

from __future__ import annotations

import pytest

from tests.events import Event, annotation
from tests.events import op as cpu_op
from tests.named_programs import (
    ELEMENTWISE,
    GEMM,
    REDUCE,
    SOFTMAX,
    Program,
    backward,
    diagnosed,
    elementwise,
    evaluate,
    found,
    inside,
    op,
    run,
    saved,
)
from tests.replay_programs import Instruction
from torch_tb_profiler.insights.shared.patterns import LEFT

DIMS = [[64, 1024], [64, 1024]]
PRODUCT = op("mm", (GEMM, 200), dims=[[64, 1024], [1024, 1024]])


def chain(*names: str, length: float = 40, dims: list[list[int]] = DIMS) -> list[Instruction]:
    return [elementwise(name, length, dims) for name in names]


def one(name: str, lengths: list[float], dims: list[list[int]] = DIMS) -> Instruction:
    """What does the work of several kernels."""
    return elementwise(name, max(lengths) + LEFT * (sum(lengths) - max(lengths)), dims)


def test_a_chain_of_elementwise_kernels() -> None:
    program = run([PRODUCT, *chain("mul", "add", "tanh", "mul"), PRODUCT])
    (finding,) = found(program, "pointwise_chain")
    fused = run([PRODUCT, one("mul", [40] * 4), PRODUCT])
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.03)
    assert finding.count == 4
    assert finding.where is not None
    assert finding.where.operator in {"aten::mul", "aten::add", "aten::tanh"}
    assert finding.values["per_chain"] == 4


def test_a_chain_of_a_program_that_the_host_bounds_saves_the_time_of_its_operators() -> None:
    step = [op("mm", (GEMM, 3)), *chain("mul", "add", "tanh", "mul", length=2)] * 6
    program, fused = run(step), run([op("mm", (GEMM, 3)), one("mul", [2] * 4)] * 6)
    (finding,) = found(program, "pointwise_chain")
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.1)


@pytest.mark.parametrize(
    "step",
    [
        [PRODUCT, *chain("mul", "add"), PRODUCT],  # too short
        [PRODUCT, *chain("mul", "mul", "mul", "mul"), PRODUCT],  # of one operator: over parameters
        [PRODUCT, *chain("mul_", "add_", "mul_", "add_"), PRODUCT],  # in place: over parameters
        [PRODUCT, *chain("mul"), *chain("add", dims=[[8]]), *chain("tanh"), PRODUCT],  # of other sizes
        [inside("user_annotation", "Optimizer.step#Adam.step", *chain("mul", "add", "sqrt"))],
        [inside("cpu_op", "Torch-Compiled Region: 0/0", *chain("mul", "add", "sqrt"))],
    ],
)
def test_what_is_no_chain(step: list[Instruction]) -> None:
    program = run(step)
    assert found(program, "pointwise_chain") == []
    assert "pointwise_chain" in diagnosed(program).checked


def test_without_shapes_kernels_of_one_grid_make_a_chain() -> None:
    step = [op(name, (ELEMENTWISE.format(name), 40)) for name in ("mul", "add", "tanh")]
    program = run([PRODUCT, *step])
    assert found(program, "pointwise_chain") == []
    for event in program.events:
        if event["cat"] == "kernel":
            event["args"] |= {"grid": [64, 1, 1], "block": [128, 1, 1]}
    assert len(found(program, "pointwise_chain")) == 1


def test_rules_of_kernels_need_a_device() -> None:
    program = run([op("mul"), op("add")])
    missing = {each.id: each.needs for each in diagnosed(program).not_evaluated}
    rules = ("pointwise_chain", "attention_math", "conv_bias", "unfused_optimizer")
    assert {missing[rule] for rule in rules} == {"device"}


def test_attention_and_norms_of_a_program_on_the_cpu() -> None:
    """Operators without kernels: what is between the products, and all but the longest of a norm, is nearly gone."""
    names = ["aten::mm", "aten::bmm", "aten::div", "aten::_softmax", "aten::dropout", "aten::bmm", "aten::mm"]
    names += [f"aten::{name}" for name in ("pow", "mean", "add", "rsqrt", "mul", "mul")]
    events: list[Event] = []
    for number in range(4):
        at = number * 2_000
        events.append(annotation(f"ProfilerStep#{number}", at, 1_999))
        events += [cpu_op(name, at + 10 + 100 * place, 90) for place, name in enumerate(names)]
    (attention,) = found(events, "unfused_attention", deviceProperties=[])
    (norm,) = found(events, "unfused_norm", deviceProperties=[])
    assert attention.saving is not None
    assert attention.saving.alone_ns == pytest.approx((1 - LEFT) * 180_000, rel=0.01)
    assert norm.saving is not None
    assert norm.saving.alone_ns == pytest.approx((1 - LEFT) * 5 * 90_000, rel=0.01)
    assert "many operators" in norm.title


def rms_norm() -> list[Instruction]:
    rows = [[64, 1]]
    return [
        elementwise("pow", 40, [[64, 1024], []]),
        op("mean", (REDUCE, 30), dims=[[64, 1024]]),
        elementwise("add", 2, rows),
        elementwise("rsqrt", 2, rows),
        elementwise("mul", 40, [[64, 1024], [64, 1]]),
        elementwise("mul", 40, [[64, 1024], [1024]]),
    ]


def test_a_norm_that_is_written_out() -> None:
    program = run([PRODUCT, *rms_norm(), PRODUCT])
    (finding,) = found(program, "unfused_norm")
    # read and written once, as by each of its elementwise kernels
    fused = run([PRODUCT, elementwise("rms_norm", 40, DIMS), PRODUCT])
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.03)
    assert finding.values["kind"] == "rms_norm"
    assert "rms_norm(x" in finding.advice
    # its kernels are no chain as well
    assert found(program, "pointwise_chain") == []


def of_norm(*steps: tuple[str, float]) -> list[Instruction]:
    """Operators of a norm by name and µs; short ones are on a number for each row."""
    return [
        op(name, (REDUCE, length), dims=[[64, 1024]])
        if name == "mean"
        else elementwise(name, length, [[64, 1024]] if length > 5 else [[64, 1]])
        for name, length in steps
    ]


@pytest.mark.parametrize(
    ("norm", "fused_us"),
    [
        # computed in float32, as by Llama, and as by Gemma, which adds 1 to its weight: the shortest kernel that goes
        # over all of the tensor reads and writes it once
        (
            of_norm(
                *[("_to_copy", 30), ("pow", 40), ("mean", 30), ("add", 2), ("rsqrt", 2), ("mul", 40)],
                *[("_to_copy", 30), ("mul", 20)],
            ),
            20,
        ),
        (
            of_norm(
                *[("_to_copy", 30), ("pow", 40), ("mean", 30), ("add", 2), ("rsqrt", 2), ("mul", 40)],
                *[("_to_copy", 2), ("add", 2), ("mul", 40), ("_to_copy", 30)],
            ),
            30,
        ),
        (of_norm(("mul", 40), ("mean", 30), ("add", 2), ("sqrt", 2), ("reciprocal", 2), ("mul", 40), ("mul", 40)), 40),
    ],
)
@pytest.mark.parametrize("product", [200, 2000])
def test_all_kernels_of_a_norm_count(norm: list[Instruction], fused_us: float, product: float) -> None:
    multiply = op("mm", (GEMM, product), dims=[[64, 1024], [1024, 1024]])
    program = run([multiply, *norm, multiply])
    (finding,) = found(program, "unfused_norm")
    assert finding.values["per_call"] == len(norm)
    assert finding.saving is not None
    fused = run([multiply, elementwise("rms_norm", fused_us, DIMS), multiply])
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.03)


@pytest.mark.parametrize(
    ("before", "after"),
    [([("copy_", 30)], []), ([], [("_to_copy", 30)]), ([("clone", 30)], [("_to_copy", 30)]), ([], [("copy_", 30)])],
)
def test_copies_beside_a_norm_are_not_part_of_it(
    before: list[tuple[str, float]], after: list[tuple[str, float]]
) -> None:
    """A conversion behind a norm is not that of its result, if it does not begin with one."""
    program = run([PRODUCT, *of_norm(*before), *rms_norm(), *of_norm(*after), PRODUCT])
    (finding,) = found(program, "unfused_norm")
    assert finding.values["per_call"] == 6


def test_a_softmax_that_is_written_out() -> None:
    step = [
        op("amax", (REDUCE, 30)),
        elementwise("sub", 40, DIMS),
        elementwise("exp", 40, DIMS),
        op("sum", (REDUCE, 30)),
        elementwise("div", 40, DIMS),
    ]
    (finding,) = found(run([PRODUCT, *step, PRODUCT]), "unfused_norm")
    assert finding.values["kind"] == "softmax"


def test_norms_of_torch_are_no_norms_by_hand() -> None:
    step = [op("native_layer_norm", ("void at::native::vectorized_layer_norm_kernel<float>()", 40)), PRODUCT]
    assert found(run(step), "unfused_norm") == []


def weights(last: str = "bmm") -> list[Instruction]:
    dims = [[32, 512, 64], [32, 64, 512]]
    return [
        op("bmm", (GEMM, 60), dims=dims),
        elementwise("div", 30, [[32, 512, 512]]),
        elementwise("add", 30, [[32, 512, 512], [512, 512]]),
        op("_softmax", (SOFTMAX, 40)),
        op(last, (GEMM, 60), dims=dims),
    ]


def fused_attention() -> Instruction:
    """Without types its products are all that tells how long it multiplies."""
    return op("flash", ("flash_fwd_kernel", 120))


def test_attention_by_hand() -> None:
    program = run([PRODUCT, *weights(), PRODUCT])
    (finding,) = found(program, "unfused_attention")
    fused = run([PRODUCT, fused_attention(), PRODUCT])
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.03)
    assert (finding.values["calls"], finding.values["steps"]) == (4, 4)


def test_a_softmax_over_the_classes_is_no_attention() -> None:
    assert found(run([PRODUCT, *weights(last="mm"), PRODUCT]), "unfused_attention") == []


def test_attention_without_a_fused_kernel() -> None:
    math = inside(
        "cpu_op",
        "aten::_scaled_dot_product_attention_math",
        *weights(),
        **{"Input Dims": [[2, 16, 512, 64], [2, 16, 512, 64]], "Input type": ["float", "float"]},
    )
    program = run([PRODUCT, inside("cpu_op", "aten::scaled_dot_product_attention", math), PRODUCT])
    (finding,) = found(program, "attention_math")
    assert found(program, "unfused_attention") == []
    fused = run([PRODUCT, fused_attention(), PRODUCT])
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.03)
    assert finding.values["inputs"] == "2 × 16 × 512 × 64 float"
    assert finding.where is not None
    assert finding.where.operator == "aten::_scaled_dot_product_attention_math"


def test_a_fused_kernel_of_attention_is_well() -> None:
    step = [PRODUCT, inside("cpu_op", "aten::scaled_dot_product_attention", fused_attention()), PRODUCT]
    names = {each.id for each in diagnosed(run(step)).findings}
    assert names & {"attention_math", "unfused_attention"} == set()


def gradients() -> Instruction:
    """The backward of `weights`."""
    products = [op("bmm", (GEMM, 60))] * 2
    return backward(
        evaluate("BmmBackward0", *products),
        evaluate("SoftmaxBackward0", op("_softmax_backward_data", (SOFTMAX, 50))),
        evaluate("DivBackward0", elementwise("div", 30, [[32, 512, 512]])),
        evaluate("BmmBackward0", *products),
    )


def fused_gradients() -> Instruction:
    """Five products in place of four."""
    inner = op("flash", ("flash_bwd_kernel", 1.25 * 240))
    return backward(evaluate("FlashBackward0", inner))


@pytest.mark.parametrize("rule", ["unfused_attention", "attention_math"])
def test_the_backward_of_attention_is_fused_as_well(rule: str) -> None:
    forward = weights()
    if rule == "attention_math":
        forward = [inside("cpu_op", "aten::_scaled_dot_product_attention_math", *forward)]
    program = run([PRODUCT, *forward, PRODUCT, gradients()])
    (finding,) = found(program, rule)
    fused = run([PRODUCT, fused_attention(), PRODUCT, fused_gradients()])
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, fused), rel=0.1)
    assert finding.count == 8
    other = {"unfused_attention": "attention_math", "attention_math": "unfused_attention"}[rule]
    assert found(program, other) == []


def convolution(bias: bool) -> Instruction:
    inner = [op("cudnn_convolution", ("cudnn_implicit_gemm_convolve_sgemm", 100))]
    if bias:
        inner.append(elementwise("add_", 25, [[8, 64, 56, 56], [1, 64, 1, 1]]))
    return inside("cpu_op", "aten::_convolution", *inner)


NORM = op("cudnn_batch_norm", ("bn_fw_tr_1C11_singleread", 50))


def test_a_bias_before_a_batch_norm() -> None:
    counted = op("add_", (ELEMENTWISE.format("Add"), 2), dims=[[], []])
    program = run([convolution(bias=True), counted, NORM] * 4)
    (finding,) = found(program, "conv_bias")
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(
        saved(program, run([convolution(bias=False), counted, NORM] * 4)), rel=0.03
    )
    assert finding.values["convolutions"] == 4
    assert "fuse_conv_bn_eval" in finding.advice  # nothing trains here


@pytest.mark.parametrize("step", [[convolution(bias=False), NORM], [convolution(bias=True), PRODUCT]])
def test_a_bias_that_is_needed_and_none(step: list[Instruction]) -> None:
    assert found(run(step * 4), "conv_bias") == []


PATTERNS: dict[str, tuple[str, list[Instruction]]] = {
    "attention": ("unfused_attention", [PRODUCT, *weights(), PRODUCT]),
    "norm": ("unfused_norm", [PRODUCT, *rms_norm(), PRODUCT]),
    "chain": ("pointwise_chain", [PRODUCT, *chain("mul", "add", "tanh", "mul"), PRODUCT]),
    "bias": ("conv_bias", [convolution(bias=True), NORM]),
}


@pytest.mark.parametrize(
    "nothing",
    [
        "dropout",
        "my::identity",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("type_as", "contiguous", "mul")),
    ],
)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_operators_that_do_nothing_are_no_part_of_a_pattern(pattern: str, nothing: str) -> None:
    """Between any two operators, whatever their name: they start no work, and call nothing."""
    rule, step = PATTERNS[pattern]
    (finding,) = found(run(step), rule)
    for at in range(len(step) + 1):
        (with_it,) = found(run([*step[:at], op(nothing, host=0.1), *step[at:]]), rule)
        assert with_it.count == finding.count, at
        assert with_it.saving is not None
        assert with_it.saving.alone_ns == pytest.approx(finding.saving and finding.saving.alone_ns, rel=0.01), at


def test_a_fusion_does_not_save_a_first_launch_beside_it() -> None:
    """The convolution loads its library, which takes 100 ms, once."""
    cold = [
        inside(
            "cpu_op",
            "aten::_convolution",
            op("cudnn_convolution", ("cudnn_implicit_gemm_convolve_sgemm", 100), host=100_000),
            elementwise("add_", 25, [[8, 64, 56, 56], [1, 64, 1, 1]]),
        ),
        NORM,
    ]
    program = Program()
    program.run([[*cold, *[convolution(bias=True), NORM] * 7], *[[convolution(bias=True), NORM] * 8] * 3])
    (finding,) = found(program, "conv_bias")
    assert finding.saving is not None
    assert (finding.saving.alone_ns or 0) <= 8 * (25_000 + 30_000)
