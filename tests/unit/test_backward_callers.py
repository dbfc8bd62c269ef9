"""Device work of ranges around backward: the engine's threads launch it for the thread that called backward."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import US, Event, annotation, kernel, launch, model_of, op
from torch_tb_profiler.analysis.program.ranges import calls_of_range, ranges, ranges_by_step
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.ranges import range_of_ranks
from torch_tb_profiler.ranks.summary import summarize

EV = "autograd::engine::evaluate_function: "
ENGINE = 9
STEP = "ProfilerStep#…"


def device_us(model: Model) -> dict[str, float | None]:
    found = ranges(model)
    return {
        name: None if time < 0 else time / US for name, time in zip(found.name, found.device_ns.tolist(), strict=True)
    }


def forward(start: float, number: int, tid: int = 1) -> list[Event]:
    """An operator with a kernel of 1 µs."""
    made = op("aten::mm", start, 50, tid, **{"Sequence number": number, "Fwd thread id": 0})
    return [made, launch(start + 10, 1000 * tid + number, tid=tid), kernel(start + 20, 1, 1000 * tid + number)]


def node(
    start: float, key: int, number: int | None, us: float, thread: int = 1, name: str = "MmBackward0"
) -> list[Event]:
    """A node of the engine with a kernel. number: of the operator that it is the backward of."""
    said = {} if number is None else {"Sequence number": number, "Fwd thread id": thread}
    launched = [launch(start + 5, key, tid=ENGINE), kernel(start + 10, us, key)]
    return [op(EV + name, start, 20, ENGINE, **said), *launched]


def test_a_range_around_backward_has_the_work_of_its_nodes() -> None:
    events: list[Event] = []
    for step in range(2):
        at = 1000 * step
        events += [annotation(f"ProfilerStep#{step}", at, 990), annotation("forward", at + 10, 100)]
        events += [*forward(at + 20, step), annotation("backward", at + 200, 300)]
        events += [*node(at + 210, 50 + step, step, 7), annotation("rest", at + 600, 100)]
    model = model_of(events)
    assert device_us(model) == {"ProfilerStep#…": 16, "forward": 2, "backward": 14, "rest": 0}
    table = ranges(model)
    exposed = dict(zip(table.name, (table.exposed_ns / US).tolist(), strict=True))
    assert exposed["ProfilerStep#…"] == 2 * 990
    assert exposed["backward"] == 2 * 300
    calls = calls_of_range(model, table.name.index("backward"))
    assert calls is not None
    assert calls.device_ns.tolist() == [7 * US, 7 * US]
    by_step = ranges_by_step(model, most=8)
    of_backward = by_step.name == by_step.names.index("backward")
    assert by_step.device[of_backward].tolist() == [7 * US, 7 * US]


def stages(numbers: list[int | None], busy: bool = False) -> list[Event]:
    """Two threads that call backward at once; the engine takes turns with their nodes. busy: the second computes."""
    events = [*forward(0, 3, tid=1), *forward(0, 4, tid=2), annotation("ProfilerStep#0", 0, 900, tid=1)]
    events += [annotation("stage a", 200, 300, tid=1), annotation("stage b", 200, 300, tid=2)]
    events += [op("aten::relu", 200, 300, tid=2)] if busy else []
    for i, number in enumerate(numbers):
        thread = 1 if number == 3 else 2
        events += node(210 + 40 * i, 50 + i, number, 10**i, thread)
    return events


def test_threads_that_call_backward_at_once_are_told_by_the_forward() -> None:
    assert device_us(model_of(stages([3, 4, 3, 4]))) == {STEP: 102, "stage a": 101, "stage b": 1010}


def test_threads_are_told_by_arrows_where_nodes_have_no_numbers() -> None:
    events = stages([None, None])
    for number, tid in enumerate((1, 2)):
        arrow = {"cat": "fwdbwd", "name": "fwdbwd", "id": number, "pid": 1}
        events += [
            {**arrow, "ph": "s", "tid": tid, "ts": 0},
            {**arrow, "ph": "f", "tid": ENGINE, "ts": 210 + 40 * number},
        ]
    assert device_us(model_of(events)) == {STEP: 2, "stage a": 1, "stage b": 10}


def test_a_node_between_two_of_one_caller_is_of_that_caller() -> None:
    assert device_us(model_of(stages([3, None, 3]))) == {STEP: 112, "stage a": 111, "stage b": 0}


def test_of_several_possible_callers_nothing_is_known() -> None:
    model = model_of([*stages([3, None, 4]), annotation("after", 600, 50), *forward(610, 7)])
    assert device_us(model) == {STEP: None, "stage a": None, "after": 1, "stage b": None}
    table = ranges(model)
    assert dict(zip(table.name, (table.exposed_ns < 0).tolist(), strict=True)) == {
        STEP: True,
        "stage a": True,
        "after": False,
        "stage b": True,
    }
    assert np.ma.getmaskarray(table.as_grid().values["device_ns"]).tolist() == [True, True, False, True]


def test_a_thread_that_computes_did_not_call_backward() -> None:
    assert device_us(model_of(stages([None], busy=True))) == {STEP: 2, "stage a": 1, "stage b": 0}


def test_forward_of_a_thread_that_has_no_range_leaves_the_one_that_waits() -> None:
    """As DataParallel runs it: replicas on threads of their own, backward in the thread of the program."""
    events = [*forward(0, 3, tid=5), annotation("step", 0, 900), annotation("backward", 200, 300)]
    assert device_us(model_of([*events, *node(210, 50, 3, 7, thread=5)])) == {"step": 7, "backward": 7}


def test_nodes_of_what_a_node_computed_anew_are_of_its_caller() -> None:
    """As reentrant checkpointing runs it: forward again inside a node, whose backward runs on another thread."""
    inside = [op("aten::mm", 212, 6, ENGINE, **{"Sequence number": 8, "Fwd thread id": 0})]
    nested = [op(EV + "MmBackward0", 220, 20, ENGINE + 1, **{"Sequence number": 8, "Fwd thread id": ENGINE})]
    launched = [launch(225, 70, tid=ENGINE + 1), kernel(230, 30, 70)]
    other = [annotation("idle", 0, 900, tid=2)]
    model = model_of(
        [*forward(0, 3), annotation("backward", 200, 300), *node(210, 50, 3, 7), *inside, *nested, *launched, *other]
    )
    assert device_us(model) == {"backward": 37, "idle": 0}


def test_what_the_engine_does_between_nodes_is_of_the_same_caller() -> None:
    between = [op("c10d::allreduce_", 240, 5, ENGINE), launch(241, 70, tid=ENGINE), kernel(300, 30, 70)]
    behind = [launch(490, 71, tid=ENGINE), kernel(500, 40, 71)]
    events = [annotation("ProfilerStep#0", 0, 600), *forward(0, 3), *forward(60, 4), annotation("backward", 200, 300)]
    model = model_of([*events, *node(210, 50, 4, 7), *between, *node(250, 51, 3, 5), *behind])
    assert device_us(model) == {STEP: 84, "backward": 82}


def test_the_caller_runs_the_part_of_backward_on_the_host_itself() -> None:
    own = [
        op(EV + "CopyBackwards", 230, 60, **{"Sequence number": 3, "Fwd thread id": 1}),
        launch(240, 60),
        kernel(250, 20, 60),
    ]
    events = [*forward(0, 3), *forward(60, 4), annotation("backward", 200, 300), *own]
    assert device_us(model_of([*events, *node(235, 50, 4, 7)])) == {"backward": 27}


def test_ranges_of_the_engine_keep_what_they_launch() -> None:
    events = [
        *forward(0, 3),
        annotation("backward", 200, 300),
        *node(210, 50, 3, 7),
        annotation("hook", 212, 10, ENGINE),
    ]
    assert device_us(model_of(events)) == {"backward": 7, "hook": 7}


def test_threads_of_other_processes_call_nothing_here() -> None:
    other = [{**each, "pid": 2} for each in (annotation("elsewhere", 0, 900),)]
    assert device_us(model_of([*stages([None], busy=True), *other]))["stage a"] == 1


@pytest.mark.parametrize("numbers", [[3, 4], [3, None, 4]])
def test_ranks_do_not_compare_what_is_not_known(numbers: list[int | None]) -> None:
    found = range_of_ranks([summarize(model_of(stages(numbers)), "rank0")], "stage a")
    assert (found.device_ns.tolist() == [-1]) == (None in numbers)
    assert (found.exposed_ns.tolist() == [-1]) == (None in numbers)
