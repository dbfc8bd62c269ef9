"""The program tree: its nodes, the backward of modules, the main thread."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

from tests.events import US, Event, annotation, event, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.shared.operator_times import TimedProgram, full_program, nn_program
from torch_tb_profiler.model import Model

EVALUATE = "autograd::engine::evaluate_function: "
_ids = count(1)


def module(name: str, start: float, duration: float, tid: int = 1, id_: int = 0) -> Event:
    return event("python_function", f"nn.Module: {name}", start, duration, tid, **{"Python module id": id_})


def arrow(forward: float, backward: float, tid: int = 1, backward_tid: int = 1) -> list[Event]:
    id_ = next(_ids)
    common = {"cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "id": id_}
    return [
        {**common, "ph": "s", "ts": forward, "tid": tid},
        {**common, "ph": "f", "ts": backward, "tid": backward_tid, "bp": "e"},
    ]


def outline(timed: TimedProgram, lane: int | None = None) -> list[str]:
    """Names, indented by depth, of one thread (the main one)."""
    tree = timed.tree
    wanted = tree.lane == (timed.main if lane is None else lane)
    return [" " * int(tree.depth[i]) + timed.name(int(i)).removeprefix("nn.Module: ") for i in np.flatnonzero(wanted)]


def training(backward_tid: int = 1) -> list[Event]:
    """A step: a net of two layers, its loss, and the backward of all three."""
    return [
        annotation("ProfilerStep#1", 0, 1000),
        frame("train.py(1): step", 5, 990),
        module("Net_0", 10, 200),
        module("Linear_0", 20, 80),
        op("aten::linear", 30, 60),
        op("aten::addmm", 40, 40),
        launch(50, 1),
        module("Linear_1", 110, 80, id_=1),
        op("aten::linear", 120, 60),
        launch(130, 2),
        op("aten::loss", 220, 20),
        op(EVALUATE + "LossBackward0", 300, 50, backward_tid),
        op(EVALUATE + "AddmmBackward1", 400, 90, backward_tid),
        op("AddmmBackward1", 405, 80, backward_tid),
        launch(410, 3, tid=backward_tid),
        op(EVALUATE + "torch::autograd::AccumulateGrad", 500, 10, backward_tid),
        op(EVALUATE + "AddmmBackward0", 600, 90, backward_tid),
        launch(610, 4, tid=backward_tid),
        *arrow(220, 300, backward_tid=backward_tid),
        *arrow(120, 405, backward_tid=backward_tid),
        *arrow(40, 600, backward_tid=backward_tid),
        *(kernel(2000 + 100 * i, 10 * i, i) for i in (1, 2, 3, 4)),
    ]


FORWARD = [
    "ProfilerStep#1",
    " Net_0",
    "  Linear_0",
    "   aten::linear",
    "    aten::addmm",
    "  Linear_1",
    "   aten::linear",
    " aten::loss",
]
BACKWARD = [
    " Net_0.backward",
    "  Linear_1.backward",
    f"   {EVALUATE}AddmmBackward1",
    "    AddmmBackward1",
    f"   {EVALUATE}torch::autograd::AccumulateGrad",
    "  Linear_0.backward",
    f"   {EVALUATE}AddmmBackward0",
]
LOSS = f" {EVALUATE}LossBackward0"


def test_backward_in_the_same_thread() -> None:
    """Defect 4: what belongs to no module stays where it ran."""
    assert outline(nn_program(model_of(training()))) == [*FORWARD, LOSS, *BACKWARD]


def test_backward_in_a_thread_of_its_own() -> None:
    model = model_of(training(backward_tid=2))
    assert outline(nn_program(model)) == [*FORWARD, *BACKWARD]
    assert outline(full_program(model)) == [*FORWARD, LOSS, *BACKWARD]


@pytest.mark.parametrize("tid", [1, 2])
def test_times(tid: int) -> None:
    timed = nn_program(model_of(training(tid)))
    by_name: dict[str, tuple[float, ...]] = {
        timed.name(i).removeprefix("nn.Module: "): (
            timed.tree.duration[i] / US,
            timed.host_self[i] / US,
            timed.device_self[i] / US,
            timed.device_total[i] / US,
        )
        for i in range(len(timed.tree))
    }
    assert by_name["Net_0"] == (200, 40, 0, 30)
    assert by_name["Linear_0"] == (80, 20, 0, 10)
    assert by_name["aten::addmm"] == (40, 35, 10, 10)
    assert by_name["Linear_1.backward"] == (110, 10, 0, 30)
    assert by_name["Net_0.backward"] == (290, 90, 0, 70)


def test_operators_that_begin_together_share_no_backward() -> None:
    """Defect 5: the same backward work was attached to both."""
    events = [
        module("Net_0", 0, 100),
        op("aten::linear", 10, 50),
        op("aten::addmm", 10, 40),
        op(EVALUATE + "AddmmBackward0", 200, 50),
        *arrow(10, 200),
    ]
    names = outline(nn_program(model_of(events)))
    assert names == [
        "Net_0",
        " aten::linear",
        "  aten::addmm",
        "Net_0.backward",
        f" {EVALUATE}AddmmBackward0",
    ]


def test_two_arrows_into_one_backward() -> None:
    """Defect 6.2-6: the file was lost. The first forward keeps it."""
    events = [
        module("A_0", 0, 100),
        op("aten::mm", 10, 50),
        module("B_0", 100, 100),
        op("aten::mm", 110, 50),
        op(EVALUATE + "MmBackward0", 300, 50),
        *arrow(10, 300),
        *arrow(110, 300),
    ]
    assert outline(nn_program(model_of(events)))[4:] == ["A_0.backward", f" {EVALUATE}MmBackward0"]


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_arrows_does_not_matter(order: int) -> None:
    """Two forward operators that begin at the same time, in two threads, share a backward node."""
    arrows = [(10, 300, 1), (10, 300, 2), (110, 300, 1)]
    events = [
        module("A_0", 0, 100),
        op("aten::mm", 10, 50),
        module("B_0", 100, 100),
        op("aten::mm", 110, 50),
        module("C_0", 0, 100, 2),
        op("aten::mm", 10, 50, 2),
        op(EVALUATE + "MmBackward0", 300, 50),
        *(event for forward, backward, tid in arrows[::order] for event in arrow(forward, backward, tid)),
    ]
    timed = nn_program(model_of(events))
    assert "A_0.backward" in outline(timed, timed.main)
    assert sum(".backward" in name for name in outline(timed, timed.main)) == 1


def test_the_backward_of_a_module_begins_in_the_thread_of_its_first_operator() -> None:
    events = [
        module("A_0", 0, 200),
        op("aten::mm", 10, 50),
        module("B_0", 100, 80),
        op("aten::mm", 110, 50),
        op(EVALUATE + "MmBackward0", 300, 50, 2),
        op(EVALUATE + "MmBackward0", 400, 50, 3),
        *arrow(10, 300, backward_tid=2),
        *arrow(110, 400, backward_tid=3),
    ]
    model = model_of(events)
    timed = nn_program(model)
    tids = {timed.name(i): model.trace.tracks[timed.tree.track[i]].tid for i in range(len(timed.tree))}
    assert tids["nn.Module: B_0.backward"] == 3
    assert tids["nn.Module: A_0.backward"] == 2
    (outer,) = [i for i in range(len(timed.tree)) if timed.name(i) == "nn.Module: A_0.backward"]
    assert (int(timed.tree.duration[outer]), len(timed.tree)) == (150 * US, 8)


def test_a_pass_that_begins_with_accumulate_grad() -> None:
    """Defect 6.2-6: the file was lost."""
    accumulate = EVALUATE + "torch::autograd::AccumulateGrad"
    events = [
        module("A_0", 0, 100),
        op("aten::mm", 10, 50),
        op(accumulate, 200, 50),
        op(EVALUATE + "MmBackward0", 300, 50),
        *arrow(10, 300),
    ]
    assert outline(nn_program(model_of(events)))[2:] == [accumulate, "A_0.backward", f" {EVALUATE}MmBackward0"]


def test_recomputation_is_not_its_own_backward() -> None:
    """Checkpointing: the forward runs again inside the backward node, and its own backward inside that too."""
    outer = EVALUATE + "CheckpointFunctionBackward"
    events = [
        module("Block_0", 0, 100),
        op("CheckpointFunction", 10, 50),
        op(outer, 200, 200),
        module("Block_0", 210, 80),
        op("aten::mm", 220, 50),
        op(EVALUATE + "MmBackward0", 300, 50),
        *arrow(220, 300),
        *arrow(10, 200),
    ]
    assert outline(nn_program(model_of(events))) == [
        "Block_0",
        " CheckpointFunction",
        "Block_0.backward",
        f" {outer}",
        "  Block_0",
        "   aten::mm",
        f"  {EVALUATE}MmBackward0",
    ]


def test_annotations() -> None:
    events = [
        annotation("ProfilerStep#1", 0, 500),
        annotation("my part", 10, 100),
        op("a", 20, 50),
        annotation("Optimizer.zero_grad#SGD.zero_grad", 120, 20),
        op("aten::zero_", 125, 5),
        annotation("Optimizer.zero_grad#SGD.zero_grad", 150, 20),
        annotation("Optimizer.step#SGD.step", 200, 50),
        op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 300, 50),
        annotation("nccl:all_reduce", 400, 20),
    ]
    zero, step = "Optimizer.zero_grad#SGD.zero_grad", "Optimizer.step#SGD.step"
    rest = [" " + step, " enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", " nccl:all_reduce"]
    model = model_of(events)
    assert outline(nn_program(model)) == ["ProfilerStep#1", " a", " " + zero, "  aten::zero_", *rest]
    assert outline(full_program(model)) == [
        "ProfilerStep#1",
        " my part",
        "  a",
        " " + zero,
        "  aten::zero_",
        " " + zero,
        *rest,
    ]


def test_the_main_thread_is_not_the_first_one() -> None:
    """Defect 19."""
    events = [op("loader", 0, 900, tid=9), annotation("ProfilerStep#1", 100, 200, tid=3), op("a", 110, 20, tid=3)]
    assert outline(nn_program(model_of(events))) == ["ProfilerStep#1", " a"]


def test_without_steps_the_busiest_thread_but_not_the_backward_one() -> None:
    events = [
        op("small", 0, 10, tid=1),
        op("large", 50, 100, tid=2),
        op(EVALUATE + "X", 200, 500, tid=3),
        annotation("gloo:all_reduce", 0, 800, tid=4),
    ]
    assert outline(nn_program(model_of(events))) == ["large"]
    assert outline(nn_program(model_of(events[2:]))) == [EVALUATE + "X"]


def test_nothing() -> None:
    timed = nn_program(model_of([]))
    assert (len(timed.tree), timed.main) == (0, -1)
    assert len(full_program(model_of([kernel(0, 10, 1)])).tree) == 0


def deep(levels: int, make: Any) -> Model:
    return model_of([make(i, float(i), float(2 * levels - 2 * i)) for i in range(levels)])


def test_deep_nesting() -> None:
    """Defect 6.2-8: about 1000 levels lost the file."""
    levels = 6000
    timed = nn_program(deep(levels, lambda i, start, length: module(f"M_{i}", start, length)))
    assert timed.tree.depth.tolist() == list(range(levels))
    assert timed.host_self.tolist() == [2000] * levels


@pytest.mark.parametrize("tid", [1, 2])
def test_operators_are_those_of_the_operator_view(tid: int) -> None:
    model = model_of(training(tid))
    table, timed = operators(model), full_program(model)
    assert int(timed.tree.duration[timed.is_operator].sum()) == int(table.host_total_ns.sum())
    assert int(timed.host_self[timed.is_operator].sum()) == table.host_ns
