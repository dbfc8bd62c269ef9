"""Backward belongs to its forward: hand-made numbers, and recorded traces."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import Event, kernel, launch, model_of, op
from tests.recorded import SHARED
from tests.recorded import model_of as recorded
from torch_tb_profiler.analysis.shared.backward_links import LINKS, backward_links, backward_times
from torch_tb_profiler.analysis.stacks.recorded import BACKWARD, all_stacks
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.model import Model

EV = "autograd::engine::evaluate_function: "
PROGRAM = SHARED / "program"


def maker(name: str, start: float, duration: float, number: int, tid: int = 1) -> Event:
    return op(name, start, duration, tid, **{"Sequence number": number, "Fwd thread id": 0})


def node(name: str, start: float, duration: float, number: int | None, tid: int = 1, thread: int = 1) -> Event:
    args = {} if number is None else {"Sequence number": number, "Fwd thread id": thread}
    return op(EV + name, start, duration, tid, **args)


def links(model: Model) -> dict[str, tuple[str | None, str]]:
    """By name of the node: name of the operator, and why."""
    found, tree, strings = backward_links(model), model.tree, model.trace.strings
    return {
        strings[int(tree.name[n])].removeprefix(EV): (strings[int(tree.name[f])] if f >= 0 else None, LINKS[why])
        for n, f, why in zip(found.node.tolist(), found.forward.tolist(), found.link.tolist(), strict=True)
    }


def test_the_operator_that_began_last_made_the_node() -> None:
    model = model_of(
        [maker("aten::linear", 0, 50, 3), maker("aten::addmm", 10, 30, 3), node("AddmmBackward0", 100, 20, 3, tid=2)]
    )
    assert links(model) == {"AddmmBackward0": ("aten::addmm", "linked")}


def test_a_node_with_a_hook_has_its_number_on_its_child() -> None:
    child = op("AddmmBackward0", 105, 10, **{"Sequence number": 3, "Fwd thread id": 1})
    model = model_of([maker("aten::addmm", 10, 30, 3), node("AddmmBackward0", 100, 20, None), child])
    assert links(model) == {"AddmmBackward0": ("aten::addmm", "linked")}


def test_equal_numbers_on_two_threads() -> None:
    """Each thread counts on its own: most numbers of thread 5 are found on the second."""
    events = [maker("aten::mm", 0, 10, 1), maker("aten::relu", 0, 10, 1, tid=2), maker("aten::exp", 20, 10, 2, tid=2)]
    nodes = [node("ExpBackward0", 100, 10, 2, tid=9, thread=5), node("ReluBackward0", 120, 10, 1, tid=9, thread=5)]
    assert links(model_of([*events, *nodes])) == {
        "ExpBackward0": ("aten::exp", "linked"),
        "ReluBackward0": ("aten::relu", "linked"),
    }


def test_why_a_node_is_not_linked() -> None:
    model = model_of(
        [
            node("AddmmBackward0", 100, 20, 3),
            node("MulBackward0", 200, 20, None),
            node("DifferentiableGraphBackward", 300, 20, None),
        ]
    )
    assert {name: why for name, (_, why) in links(model).items()} == {
        "AddmmBackward0": "no_forward",
        "MulBackward0": "no_number",
        "DifferentiableGraphBackward": "script",
    }
    assert int(backward_times(model).host.sum()) == 60_000


def test_gradients_are_accumulated_with_the_node_before() -> None:
    model = model_of(
        [
            maker("aten::addmm", 0, 10, 3),
            node("AddmmBackward0", 100, 20, 3),
            node("torch::autograd::AccumulateGrad", 130, 10, None),
        ]
    )
    assert links(model)["torch::autograd::AccumulateGrad"] == ("aten::addmm", "linked")


def paths(model: Model, with_forward: bool) -> dict[tuple[str, ...], tuple[int, int]]:
    found = all_stacks(model, with_forward)
    names: list[tuple[str, ...]] = []
    for parent, label in zip(found.parent.tolist(), found.label.tolist(), strict=True):
        names.append((*(names[parent] if parent >= 0 else ()), found.labels.names[label]))
    return dict(zip(names, zip(found.self_host.tolist(), found.self_device.tolist(), strict=True), strict=True))


def test_stacks_with_backward_below_its_forward() -> None:
    model = model_of(
        [
            maker("aten::addmm", 0, 10, 3),
            node("AddmmBackward0", 100, 20, 3, tid=2),
            launch(105, 1, tid=2),
            kernel(110, 30, 1, "gemm"),
        ]
    )
    assert ("aten::addmm", BACKWARD, EV + "AddmmBackward0", "gemm") in paths(model, True)
    assert (EV + "AddmmBackward0", "gemm") in paths(model, False)


@pytest.mark.skipif(not PROGRAM.exists(), reason="recorded traces are not here")
@pytest.mark.parametrize("run", ["checkpoint", "accumulation", "fsdp2", "double_backward", "hf_trainer", "lightning"])
def test_recorded_programs(run: str) -> None:
    """All is linked, as the profiler's arrows say; and stacks have the same sums."""
    model = recorded(PROGRAM / run / "worker0.pt.trace.json.gz")
    times, found, tree = backward_times(model), backward_links(model), model.tree
    assert times.host[0] == times.host.sum() > 0
    forward = dict(zip(found.node.tolist(), found.forward.tolist(), strict=True))
    is_node = [False] * len(tree)
    for each in found.node.tolist():
        is_node[each] = True
    pairs = model.forward_backward
    arrowed = nearest(tree.parent, np.array(is_node), pairs.backward)
    drawn = [(n, f) for n, f in zip(arrowed.tolist(), pairs.forward.tolist(), strict=True) if n >= 0]
    assert drawn
    assert [forward[n] for n, _ in drawn] == [f for _, f in drawn]
    plain, moved = all_stacks(model), all_stacks(model, True)
    assert plain.self_host.sum() == moved.self_host.sum()
    assert plain.self_device.sum() == moved.self_device.sum()
