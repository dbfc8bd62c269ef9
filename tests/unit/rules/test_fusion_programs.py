"""Optimizers, compiled code, recomputation, graphs for gradients and experts: what is found, and what it would save."""

from __future__ import annotations

import pytest

from tests.events import Event, annotation, frame
from tests.events import op as operator
from tests.named_programs import (
    ELEMENTWISE,
    GEMM,
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
from tests.replay_programs import US, Instruction

PRODUCT = op("mm", (GEMM, 200))
PARAMETERS = 80


def optimizer(*inner: Instruction, name: str = "Adam") -> Instruction:
    return inside("user_annotation", f"Optimizer.step#{name}.step", *inner)


def one_by_one(length: float) -> list[Instruction]:
    return [op(name, (ELEMENTWISE.format(name), length)) for name in ("mul_", "addcmul_", "addcdiv_")] * PARAMETERS


@pytest.mark.parametrize("length", [2, 40])
def test_an_optimizer_that_updates_parameters_one_by_one(length: float) -> None:
    program = run([PRODUCT, optimizer(*one_by_one(length))], steps=3)
    (finding,) = found(program, "unfused_optimizer")
    one = op("_fused_adam_", ("void at::native::multi_tensor_apply_kernel<Adam>()", 0.5 * 3 * PARAMETERS * length))
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, run([PRODUCT, optimizer(one)], steps=3)), rel=0.05)
    assert finding.values["optimizer"] == "Adam"
    assert finding.where is not None
    assert finding.where.annotation == "Optimizer.step#Adam.step"
    assert "torch.optim.Adam(…, fused=True)" in finding.advice
    (other,) = found(run([PRODUCT, optimizer(*one_by_one(length), name="Lion")]), "unfused_optimizer")
    assert "fused=True" not in other.advice  # torch has none
    # that it takes most of the step says the same less precisely
    assert found(program, "optimizer_share") == []


def test_one_pass_over_large_parameters_stays_as_long() -> None:
    """Plain SGD reads and writes each parameter once: a fused kernel has as much to do."""
    adds = [op("add_", (ELEMENTWISE.format("Add"), 40), host=4)] * 240
    accumulated = [op("torch::autograd::AccumulateGrad", host=1)] * 240
    step = [PRODUCT, backward(*[evaluate("torch::autograd::AccumulateGrad", each) for each in accumulated])]
    program = run([*step, optimizer(*adds, name="SGD")], steps=2)
    less = run([*step, optimizer(op("_fused_sgd_", (GEMM, 40 * 240)), name="SGD")], steps=2)
    (finding,) = found(program, "unfused_optimizer")
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, less), abs=0.01 * program.total_ns / 2)


def test_operators_on_many_tensors_are_as_they_should_be() -> None:
    many = [op("_foreach_mul_", (ELEMENTWISE.format("Mul"), 3))] * 300
    assert found(run([PRODUCT, optimizer(*many)]), "unfused_optimizer") == []
    assert found(run([PRODUCT, *one_by_one(3)]), "unfused_optimizer") == []
    products = [op("mm", (GEMM, 3))] * 300  # as Muon makes them
    assert found(run([PRODUCT, optimizer(*products, name="Muon")]), "unfused_optimizer") == []


def test_an_optimizer_that_takes_a_third_of_the_step() -> None:
    fused = op("_fused_adamw_", ("void at::native::multi_tensor_apply_kernel<Adam>()", 1500))
    products = [op("mm", (GEMM, 1000))] * 3
    program = run([*products, optimizer(fused)])
    (finding,) = found(program, "optimizer_share")
    half = op("_fused_adamw_", ("void at::native::multi_tensor_apply_kernel<Adam>()", 750), host=4)
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, run([*products, optimizer(half)])), rel=0.05)
    assert "fused=True" not in finding.advice  # it is
    assert found(run([*products, *products, *products, optimizer(fused)]), "optimizer_share") == []


def test_an_optimizer_that_is_given_the_step_as_a_function_takes_no_part_of_it() -> None:
    whole = optimizer(PRODUCT, backward(evaluate("MmBackward0", PRODUCT)), op("_fused_adamw_", (GEMM, 5)))
    assert found(run([whole]), "optimizer_share") == []


def compilation(milliseconds: float) -> Instruction:
    inner = inside("cpu_op", "_compile.compile_inner (dynamo_timed)", ("python", round(milliseconds * 1000 * US)))
    return inside("cpu_op", "dynamo", inner)


def region(number: str, *inner: Instruction) -> Instruction:
    return inside("cpu_op", f"Torch-Compiled Region: {number}", *inner)


BODY = inside("user_annotation", "## Call CompiledFxGraph f00 ##", op("addmm", (GEMM, 5)))


def compiling(compile_in: dict[int, tuple[Instruction, str]], steps: int = 5) -> list[list[Instruction]]:
    program = []
    for number in range(steps):
        again, code = compile_in.get(number, (None, "0/0"))
        program.append([*([again] if again else []), region(code, BODY)])
    return program


def test_code_that_is_compiled_again() -> None:
    program = Program()
    program.run(compiling({1: (compilation(5), "0/1"), 3: (compilation(8), "0/2")}))
    (finding,) = found(program, "recompiles")
    warm = Program()
    warm.run(compiling({}))
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, warm), rel=0.02)
    assert finding.title == "Code is compiled again"
    assert (finding.values["compilations"], finding.values["again"], finding.count) == (2, 2, 2)
    assert [each.step for each in finding.instances] == ["3", "1"]
    assert found(warm, "recompiles") == []


def test_the_first_compilation_is_not_called_one_of_the_same_code() -> None:
    program = Program()
    program.run(compiling({0: (compilation(90), "0/0"), 1: (compilation(5), "0/1"), 3: (compilation(8), "0/2")}))
    (finding,) = found(program, "recompiles")
    assert (finding.values["compilations"], finding.values["again"], finding.count) == (3, 2, 3)
    assert [each.step for each in finding.instances] == ["3", "1", "0"], "those that are compiled again come first"
    assert finding.values["again_ns"] == pytest.approx(13e6 / len(compiling({})), rel=0.02)
    assert "2 of them, " in finding.detail
    assert "warmup" in finding.advice


def test_what_is_compiled_once_was_not_warm() -> None:
    program = Program()
    program.run(compiling({0: (compilation(5), "0/0")}))
    (finding,) = found(program, "recompiles")
    assert finding.title == "Code is compiled in the recorded steps"
    assert "warmup" in finding.advice


def test_a_graph_break() -> None:
    lookup = op("TorchDynamo Cache Lookup", host=30)
    rest = region("1/0", ("python", 20 * US), BODY)
    program = run([region("0/0", ("python", 20 * US), BODY, ("python", 400 * US), lookup, rest)])
    (finding,) = found(program, "graph_breaks")
    whole = run([region("0/0", BODY, inside("cpu_op", "none", BODY))])
    assert finding.saving is not None
    assert finding.saving.bound
    assert finding.saving.alone_ns == pytest.approx(saved(program, whole), rel=0.03)
    assert (finding.values["breaks"], finding.values["steps"]) == (4, 4)
    assert found(run([region("0/0", BODY), region("1/0", BODY)]), "graph_breaks") == []


def test_the_line_behind_a_graph_break() -> None:
    events = [
        annotation("ProfilerStep#1", 0, 1000),
        operator("Torch-Compiled Region: 0/0", 10, 800),
        operator("Torch-Compiled Region: 1/0", 400, 300),
        frame("train.py(20): torch_dynamo_resume_in_forward_at_17", 390, 330),
    ]
    (finding,) = found(events, "graph_breaks")
    assert finding.values["lines"] == "forward:17"
    assert "after forward:17" in finding.detail


BLOCK = ("linear", "relu", "native_dropout", "linear", "add", "native_layer_norm")


def numbered(names: tuple[str, ...], length: float, first: int = 1) -> list[Instruction]:
    found = []
    for number, name in enumerate(names, first):
        kind, full, host, kernels, args = op(name, (GEMM, length))
        found.append((kind, full, host, kernels, {**args, "Sequence number": number}))
    return found


def memory_events(allocated: float, reserved: float) -> list[Event]:
    args = {"Device Type": 1, "Device Id": 0, "Bytes": 512, "Addr": 4096}
    totals = {"Total Allocated": round(allocated * 2**30), "Total Reserved": round(reserved * 2**30)}
    return [
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 15, "args": {**args, **totals}},
    ]


def checkpointed(again: bool, names: tuple[str, ...] = BLOCK) -> list[Instruction]:
    grads = [op("mm", (GEMM, 150))] * 6
    inner = [*numbered(names, 100, 101), *grads] if again else grads
    return [*numbered(BLOCK, 100), PRODUCT, backward(evaluate("AddmmBackward0", *inner))]


def test_recomputation_that_memory_does_not_ask_for() -> None:
    program = run(checkpointed(again=True))
    (finding,) = found([*program.events, *memory_events(4, 5)], "recompute")
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, run(checkpointed(again=False))), rel=0.05)
    assert finding.values["used"] == 5 / 16
    assert finding.count == 4 * len(BLOCK)
    assert found([*program.events, *memory_events(11, 12)], "recompute") == []
    missing = {each.id: each.needs for each in diagnosed(program).not_evaluated}
    assert missing["recompute"] == "memory"


def test_a_gradient_of_gradients_is_no_recomputation() -> None:
    program = run(checkpointed(again=True, names=("mm", "mul", "t", "mm", "sum", "mul")))
    assert found([*program.events, *memory_events(4, 5)], "recompute") == []


def inference(numbers: bool, steps: int = 3) -> list[Event]:
    events: list[Event] = []
    for step in range(steps):
        events.append(annotation(f"ProfilerStep#{step}", 1000 * step, 1000))
        for i in range(8):
            args = {"Sequence number": 8 * step + i} if numbers else {}
            events.append(operator("aten::addmm", 1000 * step + 100 * i + 10, 50, **args))
    return events


def test_inference_that_records_a_graph() -> None:
    (finding,) = found(inference(numbers=True), "grad_recorded")
    assert finding.saving is None  # it costs memory
    assert finding.values["nodes"] == 8
    assert found(inference(numbers=False), "grad_recorded") == []


def test_a_number_that_stands_still_is_no_graph() -> None:
    events = inference(numbers=True)
    for event in events:
        event["args"].pop("Sequence number", None)
        event["args"] |= {"Sequence number": 5} if event["cat"] == "cpu_op" else {}
    assert found(events, "grad_recorded") == []


@pytest.mark.parametrize(
    "more", [[annotation("Optimizer.step#SGD.step", 950, 20)], [operator("aten::nll_loss", 950, 9)]]
)
def test_a_program_that_trains_needs_its_graph(more: list[Event]) -> None:
    assert found([*inference(numbers=True), *more], "grad_recorded") == []


#: chooses the experts of each token
ROUTE = op("topk", ("void at::native::sbtopk::gatherTopK<float>()", 10))


def expert() -> list[Instruction]:
    return [
        op("index", ("void at::native::index_elementwise_kernel<128, 4>()", 3)),
        op("mm", (GEMM, 9)),
        elementwise("silu", 2, [[16, 64]]),
        op("mm", (GEMM, 9)),
        elementwise("mul", 2, [[16, 64]]),
        op("index_add_", ("void at::native::indexFuncLargeIndex<float>()", 3)),
    ]


def test_experts_in_a_loop() -> None:
    program = run([PRODUCT, ROUTE, *expert() * 10, PRODUCT])
    (finding,) = found(program, "expert_loop")
    left = 10 * (9 + 9) + 0.15 * 10 * (3 + 2 + 2 + 3)
    grouped = run([PRODUCT, ROUTE, op("_grouped_mm", (GEMM, left)), PRODUCT])
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, grouped), rel=0.05)
    assert [finding.values[name] for name in ("layers", "steps", "experts")] == [4, 4, 10]
    assert found(run([PRODUCT, ROUTE, *expert() * 3]), "expert_loop") == []
    # layers of a graph network take and add up the like, and nothing routes
    assert found(run([PRODUCT, *expert() * 10]), "expert_loop") == []


def test_weights_of_experts_that_are_copied() -> None:
    gather = op("index", ("void at::native::index_elementwise_kernel<128, 4>()", 90), dims=[[8, 512, 256], []])
    product = op("bmm", (GEMM, 120), dims=[[2, 1, 256], [2, 256, 512]])
    program = run([PRODUCT, ROUTE, gather, product])
    (finding,) = found(program, "gathered_experts")
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(program, run([PRODUCT, ROUTE, product])), rel=0.03)
    # of both layers of the experts, each before its product
    other = op("index", ("void at::native::index_elementwise_kernel<128, 4>()", 90), dims=[[8, 256, 512], []])
    back = op("bmm", (GEMM, 120), dims=[[2, 1, 512], [2, 512, 256]])
    both = run([PRODUCT, ROUTE, gather, other, product, back])
    (finding,) = found(both, "gathered_experts")
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(both, run([PRODUCT, ROUTE, product, back])), rel=0.03)
    # a cache that is put in another order
    assert found(run([PRODUCT, gather, product]), "gathered_experts") == []
    # rows of an embedding
    rows = op("index", ("void at::native::index_elementwise_kernel<128, 4>()", 90), dims=[[4096, 512], []])
    softmax = op("_softmax", (SOFTMAX, 5))
    assert found(run([PRODUCT, ROUTE, rows, product, softmax]), "gathered_experts") == []


def test_a_break_that_is_compiled_costs_what_it_does_without() -> None:
    """What the second region takes to compile is no cost of the break, but another finding."""
    step = [region("0/0", BODY, ("python", 400 * US), compilation(30), region("1/0", BODY))]
    program = run(step)
    (broken,) = found(program, "graph_breaks")
    assert broken.saving is not None
    assert broken.saving.alone_ns is not None
    assert broken.saving.alone_ns < 0.5e6
    (slow,) = found(program, "recompiles")
    assert slow.saving is not None
    assert slow.saving.alone_ns == pytest.approx(30e6, rel=0.01)
