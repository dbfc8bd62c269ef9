"""Self and total times of operators: the old plugin's known answers, and what it got wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, Event, annotation, copy, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.operators.calls import operator_calls, unlinked_share
from torch_tb_profiler.analysis.operators.table import OperatorTable, operator_kernels, operator_stacks, operators
from torch_tb_profiler.analysis.shared.operator_times import operator_times

EVALUATE = "autograd::engine::evaluate_function: "


def times(table: OperatorTable) -> dict[str, tuple[float, ...]]:
    """name → calls, host self, host total, device self, device total; times in µs."""
    return {
        name: (
            int(table.calls[i]),
            *(
                int(column[i]) / US
                for column in (table.host_self_ns, table.host_total_ns, table.device_self_ns, table.device_total_ns)
            ),
        )
        for i, name in enumerate(table.name)
    }


def test_which_communicate() -> None:
    names = {
        **dict.fromkeys(["record_param_comms", "c10d::allreduce_", "c10d_functional::all_reduce"], True),
        **dict.fromkeys(["_c10d_functional::wait_tensor"], True),
        **dict.fromkeys(["aten::mm", "nccl", "my_c10d::op", "aten::all_gather"], False),
    }
    table = operators(model_of([op(name, 100 * at, 50) for at, name in enumerate(names)]))
    assert dict(zip(table.name, table.is_communication.tolist(), strict=True)) == names


def test_self_and_total() -> None:
    events = [
        op("aten::mat_mul", 100, 100),
        op("aten::mm", 120, 40),
        launch(130, 1, 10),
        launch(165, 2, 25),
        kernel(300, 20, 1),
        kernel(400, 16, 2),
    ]
    assert times(operators(model_of(events))) == {
        "aten::mm": (1, 30, 40, 20, 20),
        "aten::mat_mul": (1, 35, 100, 16, 36),
    }


def test_an_operator_that_begins_during_a_call_keeps_its_time() -> None:
    """Rounded times make a call last a little into the operator after it, or around it."""
    events = [
        op("aten::mat_mul", 100, 10),
        launch(101, 1, 5),
        op("aten::mm", 102, 7),
        op("aten::add", 200, 10),
        launch(201, 2, 8),
        annotation("mine", 202, 6),
        op("aten::mul", 203, 2),
        op("aten::mul", 206, 1),
    ]
    assert times(operators(model_of(events))) == {
        "aten::mat_mul": (1, 2, 10, 0, 0),
        "aten::mm": (1, 7, 7, 0, 0),
        "aten::add": (1, 2, 10, 0, 0),
        "aten::mul": (2, 3, 3, 0, 0),
    }


@pytest.mark.parametrize("start", [100, 130])
def test_ranges_that_begin_or_end_together(start: int) -> None:
    """Defect 5: with equal starts the old plugin mixed up parent and child."""
    found = times(operators(model_of([op("aten::mat_mul", 100, 100), op("aten::mm", start, 70)])))
    assert (found["aten::mat_mul"][1], found["aten::mm"][1]) == (30, 70)


def test_an_operator_whose_only_callee_has_the_same_name_is_one_call() -> None:
    """Defect 7: the old plugin lost what the outer one had launched."""
    events = [
        op("aten::mm", 0, 100),
        op("aten::mm", 10, 80),
        op("aten::mm", 20, 60),
        op("aten::empty", 30, 10),
        launch(5, 1),
        launch(12, 2),
        launch(50, 3),
        *(kernel(100 + 10 * i, 8, i) for i in (1, 2, 3)),
    ]
    model = model_of(events)
    assert times(operators(model)) == {"aten::mm": (1, 75, 100, 24, 24), "aten::empty": (1, 10, 10, 0, 0)}
    assert operators(model).kernels.tolist() == [3, 0]


def test_two_callees_are_not_collapsed() -> None:
    found = times(operators(model_of([op("a", 0, 100), op("a", 10, 20), op("a", 40, 20)])))
    assert found == {"a": (3, 100, 140, 0, 0)}


def test_a_callee_that_outlives_its_caller_is_cut_not_dropped() -> None:
    """Defect 6."""
    events = [op("a", 0, 100), op("b", 80, 50), launch(90, 1), kernel(200, 10, 1)]
    assert times(operators(model_of(events))) == {"b": (1, 45, 50, 10, 10), "a": (1, 80, 100, 0, 10)}


def test_backward_outside_modules_stays() -> None:
    """Defect 4."""
    events = [
        frame("nn.Module: Linear_0", 0, 50),
        op("aten::linear", 10, 30),
        op("autograd::engine::evaluate_function: NllLossBackward0", 100, 40, tid=2),
        op("NllLossBackward0", 110, 20, tid=2),
    ]
    assert set(operators(model_of(events)).name) == {
        "aten::linear",
        "autograd::engine::evaluate_function: NllLossBackward0",
        "NllLossBackward0",
    }


def test_backward_with_its_forward() -> None:
    """A node, what it calls and the gradient that is accumulated behind it are one row of its forward."""
    number = {"Sequence number": 3, "Fwd thread id": 0}
    node = {"Sequence number": 3, "Fwd thread id": 1}
    shapes = {"Input Dims": [[4, 4], [4, 4]]}
    events = [
        op("aten::linear", 0, 50, **number),
        op("aten::mm", 10, 30, **number, **shapes),
        op(f"{EVALUATE}MmBackward0", 100, 40, tid=2, **node),
        op("MmBackward0", 105, 30, tid=2, **node),
        op("aten::mm", 110, 20, tid=2, **{"Input Dims": [[8, 8], [8, 8]]}),
        launch(115, 1, tid=2),
        kernel(200, 10, 1),
        op(f"{EVALUATE}torch::autograd::AccumulateGrad", 150, 20, tid=2, **{"Fwd thread id": 1}),
        op(f"{EVALUATE}LostBackward0", 180, 10, tid=2, **{"Fwd thread id": 1}),
    ]
    model = model_of(events)
    found = operators(model, "name", with_forward=True)
    # calls, host self, host total, device self, device total
    assert times(found) == {
        "aten::mm (backward)": (1, 55, 60, 10, 10),
        "aten::mm": (1, 30, 30, 0, 0),
        "aten::linear": (1, 20, 50, 0, 0),
        f"{EVALUATE}LostBackward0": (1, 10, 10, 0, 0),
    }
    as_run = operators(model)
    for column in ("host_self_ns", "device_self_ns", "kernels"):
        assert getattr(found, column).sum() == getattr(as_run, column).sum()
    shaped = operators(model, "name_shape", with_forward=True)
    assert shaped.input_shape is not None
    assert dict(zip(shaped.name, shaped.input_shape, strict=True))["aten::mm (backward)"] == "[[4, 4], [4, 4]]"
    assert unlinked_share(model) == 0.0
    assert unlinked_share(model_of(events[:2])) is None


def test_annotations_are_labels_on_the_time_of_the_operator_around_them() -> None:
    events = [
        op("a", 0, 100),
        annotation("my part", 20, 50),
        op("b", 30, 10),
        launch(45, 1, 5),
        kernel(200, 10, 1),
        annotation("Optimizer.step#SGD.step", 200, 50),
        op("Optimizer.zero_grad#SGD.zero_grad", 300, 20),
        op("nccl:all_reduce", 400, 20),
    ]
    assert times(operators(model_of(events))) == {"a": (1, 85, 100, 10, 10), "b": (1, 10, 10, 0, 0)}


def test_external_ids_do_not_matter() -> None:
    """Defect 8: id 0, a missing id, and ids that repeat the correlation."""
    events = [op("a", 0, 50, **{"External id": 0}), op("b", 100, 50, **{"External id": 7})]
    events += [launch(10, 7), launch(110, 8), kernel(200, 5, 7), kernel(210, 6, 8)]
    events[2]["args"]["External id"] = 7
    events[4]["args"]["External id"] = 7
    assert {n: t[3] for n, t in times(operators(model_of(events))).items()} == {"a": 5, "b": 6}


def test_unattributed_work_is_said() -> None:
    events = [
        annotation("ProfilerStep#1", 0, 100),
        op("a", 10, 20),
        launch(12, 1),
        launch(50, 2, cat="cuda_driver"),
        kernel(200, 3, 1),
        kernel(210, 4, 2),
        kernel(220, 5, 99),
        copy(230, 6, 98),
        {**kernel(0, 500, 1, "ProfilerStep#1"), "cat": "gpu_user_annotation"},
    ]
    table = operators(model_of(events))
    assert (table.device_ns, table.unattributed_device_ns) == (18 * US, 15 * US)
    assert table.device_self_ns.tolist() == [3 * US]


def test_shapes_keep_groups_apart() -> None:
    shapes = [[[2, 2]], [[2, 2]], [[3]]]
    events = [op("a", 10 * i, 5, **{"Input Dims": shape}) for i, shape in enumerate(shapes)] + [op("a", 50, 1)]
    table = operators(model_of(events), "name_shape")
    assert sorted(zip(table.input_shape or (), table.calls.tolist(), strict=True)) == [
        ("", 1),
        ("[[2, 2]]", 2),
        ("[[3]]", 1),
    ]


def test_recorded_call_stacks() -> None:
    events = [
        op("a", 0, 5, **{"Call stack": "m.py(3): f;m.py(9): <module>"}),
        op("a", 10, 5, **{"Call stack": "m.py(4): g"}),
        op("a", 20, 5),
    ]
    model = model_of(events)
    assert set(operators(model, "name_stack").call_stack or ()) == {"m.py(3): f\nm.py(9): <module>", "m.py(4): g", ""}
    assert operator_stacks(model, "a").calls.tolist() == [1, 1]
    assert len(operator_stacks(model, "b")) == 0


def test_call_stacks_from_python_frames() -> None:
    events = [
        frame("m.py(9): <module>", 0, 100),
        frame("m.py(3): f", 5, 20),
        frame("nn.Module: Linear_0", 6, 15),
        frame("<built-in function linear>", 7, 10),
        op("a", 8, 5),
        frame("m.py(3): f", 40, 20),
        op("a", 42, 5),
        op("b", 70, 5),
        op("b", 200, 5),
    ]
    model = model_of(events)
    stacks = operators(model, "name_stack")
    assert sorted(zip(stacks.name, stacks.call_stack or (), stacks.calls.tolist(), strict=True)) == [
        ("a", "m.py(3): f\nm.py(9): <module>", 2),
        ("b", "", 1),
        ("b", "m.py(9): <module>", 1),
    ]
    assert operators(model).has_call_stack.all()
    assert operator_stacks(model, "b").call_stack == ("m.py(9): <module>",)


def test_tensor_cores() -> None:
    events = [
        op("aten::conv2d", 0, 100),
        op("aten::cudnn_convolution", 10, 50, **{"Input Dims": [[1]]}),
        launch(20, 1),
        launch(70, 2),
        op("mine", 200, 10),
        launch(205, 3),
        op("plain", 300, 10),
        op("composed", 320, 20),
        launch(325, 4),
        launch(330, 5),
        op("undecided", 350, 10),
        launch(355, 6),
        kernel(400, 15, 1, "volta_fp16_s884cudnn_fp16"),
        kernel(420, 10, 2, "triton_poi_fused_add_0"),
        kernel(440, 7, 3, "volta_h884gemm"),
        kernel(450, 6, 4, "mine_too"),
        kernel(460, 2, 5, "volta_h884gemm"),
        kernel(470, 5, 6, "mine_too"),
    ]
    model = model_of(events)
    table = operators(model)
    by_name = dict(zip(table.name, range(len(table)), strict=True))
    assert {n: bool(table.tensor_core_eligible[i]) for n, i in by_name.items()} == {
        "aten::conv2d": True,
        "aten::cudnn_convolution": True,
        "mine": True,
        "plain": False,
        "composed": True,
        "undecided": False,
    }
    assert table.tensor_core_self[by_name["composed"]] == pytest.approx(25)
    assert np.isnan(table.tensor_core_self[by_name["undecided"]])  # not known is not "no"
    assert np.isnan(table.tensor_core_total[by_name["undecided"]])
    assert table.tensor_core_self[by_name["aten::conv2d"]] == 0
    assert table.tensor_core_total[by_name["aten::conv2d"]] == pytest.approx(60)
    assert table.tensor_core_self[by_name["aten::cudnn_convolution"]] == 100
    assert np.isnan(table.tensor_core_self[by_name["plain"]])


def test_eligible_by_the_kind_of_its_kernels() -> None:
    """No operator of a compiled function is known to multiply matrices; its kernels are."""
    events = [op("CompiledFunctionBackward", 0, 100), launch(20, 1), kernel(400, 15, 1, "volta_sgemm_128x64_nn")]
    table = operators(model_of(events))
    assert table.name == ("CompiledFunctionBackward",)
    assert table.tensor_core_eligible.tolist() == [True]
    assert table.tensor_core_self.tolist() == [0]


def test_kernels_of_one_operator() -> None:
    events = [
        op("a", 0, 50, **{"Input Dims": [[1]]}),
        op("a", 100, 50, **{"Input Dims": [[2]]}),
        launch(10, 1),
        launch(20, 2),
        launch(110, 3),
        copy(200, 9, 3),
        kernel(210, 4, 1, "x"),
        kernel(220, 6, 2, "x"),
        kernel(230, 99, 77, "x"),
    ]
    model = model_of(events)
    found = operator_kernels(model, "a")
    assert (found.name, found.calls.tolist(), found.total_ns.tolist()) == (("x",), [2], [10 * US])
    assert (found.mean_ns.tolist(), found.max_ns.tolist(), found.min_ns.tolist()) == ([5 * US], [6 * US], [4 * US])
    assert operator_kernels(model, "a", "[[2]]").name == ()
    assert operator_kernels(model, "a", "[[1]]").name == ("x",)
    assert operator_kernels(model, "nobody").name == ()


def test_no_events() -> None:
    table = operators(model_of([]))
    assert len(table) == 0
    assert not table.has_device_work


ranges = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(0, 12), st.integers(1, 2)), max_size=12
)
starts = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 2), st.integers(1, 9)), max_size=8)


@given(ranges, starts)
def test_no_operator_takes_less_than_nothing(
    host: list[tuple[str, int, int, int]], calls: list[tuple[int, int, int]]
) -> None:
    events: list[Event] = [op(name, start, length, tid) for name, start, length, tid in host]
    events += [launch(start, i, length, tid) for i, (start, tid, length) in enumerate(calls, start=1)]
    model = model_of(events)
    found = operator_times(model)
    assert found.api_self.min(initial=0) >= 0
    assert found.host_self.min(initial=0) >= 0


@given(ranges, starts)
def test_device_time_adds_up_whatever_the_ranges(
    host: list[tuple[str, int, int, int]], work: list[tuple[int, int, int]]
) -> None:
    events: list[Event] = [op(name, start, length, tid) for name, start, length, tid in host]
    for i, (start, tid, length) in enumerate(work, start=1):
        events += [launch(start, i, 0, tid), kernel(100 + 10 * i, length, i)]
    model: Any = model_of(events)
    calls = operator_calls(model)
    assert int(calls.device_self.sum()) + calls.unattributed_device_ns == calls.device_ns
    assert sorted(calls.rank.tolist()) == sorted(set(calls.rank.tolist()))
    tree = model.tree
    below = {int(n): int(n) for n in range(len(tree))}
    totals = np.zeros(len(tree), np.int64)
    totals[calls.node] = calls.device_self
    for node in range(len(tree) - 1, -1, -1):
        if tree.parent[node] >= 0:
            totals[tree.parent[node]] += totals[below[node]]
    assert totals[calls.node].tolist() == calls.device_total.tolist()
