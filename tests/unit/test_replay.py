"""The replay of a trace: its graph gives the recorded times, and what a change saves is what it saves in truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.events import Event, annotation, kernel, launch, model_of, op
from tests.replay_checks import CHANGES, check_base
from tests.replay_programs import Machine, queue_program, random_program, recorded, truth
from torch_tb_profiler.analysis.replay import build, graph_inputs
from torch_tb_profiler.analysis.replay import savings as savings_module
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    ScaleHost,
    ScaleWork,
    collectives,
    copies,
    free,
    kernels,
    scale,
    without,
)
from torch_tb_profiler.analysis.replay.graph import Edge
from torch_tb_profiler.analysis.replay.host_time import lane_union
from torch_tb_profiler.analysis.replay.host_waits import HostWait
from torch_tb_profiler.analysis.replay.path import critical_path, node_slack
from torch_tb_profiler.analysis.replay.savings import saving_interval, savings, what_if
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.replay.thread_edges import HandOvers
from torch_tb_profiler.model import Model

SEEDS = range(8)


def error(machine: Machine, model: Model, change: Change, real: int) -> float:
    """Of the predicted time of all steps, as a share of the recorded one."""
    after = int(apply_changes(model.trace, graph_of(model), [change]).step_ns.sum())
    return abs(after - real) / machine.total_ns


@pytest.mark.parametrize("seed", SEEDS)
def test_every_recorded_time_comes_back_and_is_explained(seed: int) -> None:
    machine = recorded(random_program(seed), jitter=0.35)
    model = model_of(machine.events)
    check_base(model)
    graph = graph_of(model)
    assert graph.steps.end.tolist() == machine.step_ends
    unexplained = critical_path(unchanged(graph)).unexplained
    assert unexplained is not None
    assert unexplained < 0.001
    assert graph.calibration.over == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_saves_what_it_saves_in_truth(name: str) -> None:
    change, world = CHANGES[name]
    real_savings = []
    for seed in SEEDS:
        program = random_program(seed)
        machine = recorded(program)
        real = truth(program, **world)
        real_savings.append(1 - real / machine.total_ns)
        assert error(machine, model_of(machine.events), change, real) <= 0.002, seed
    assert max(real_savings) > 0.03  # the programs are such that it matters


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_also_when_delays_vary(name: str) -> None:
    change, world = CHANGES[name]
    for seed in SEEDS:
        program = random_program(seed)
        machine = recorded(program, 0.35)
        assert error(machine, model_of(machine.events), change, truth(program, 0.35, **world)) <= 0.011, seed


@pytest.mark.parametrize("factor", [0.0, 0.3, 0.8])
def test_a_full_launch_queue_holds_the_host(factor: float) -> None:
    program = queue_program()
    machine = recorded(program)
    model = model_of(machine.events)
    assert np.count_nonzero(graph_of(model).edge == Edge.FULL_QUEUE) > 500
    assert error(machine, model, kernels(factor), truth(program, kernels=factor)) <= 0.015


NOTHING = np.empty(0, np.int64)


def no_hand_overs(*_: object) -> HandOvers:
    return HandOvers(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def no_stream_waits(*_: object) -> tuple[Any, Any]:
    return NOTHING, NOTHING


def no_syncs(*_: object) -> tuple[HostWait, Any]:
    return HostWait(NOTHING, NOTHING, NOTHING), NOTHING


def no_waits(*_: object) -> HostWait:
    return HostWait(NOTHING, NOTHING, NOTHING)


#: without a rule: its name in `graph_inputs` or `build`, what replaces it, the change whose answer is wrong then
RULES: dict[str, tuple[dict[str, Callable[..., Any]], str]] = {
    "hand-over": ({"hand_overs": no_hand_overs}, "kernels free"),
    "stream waits": (
        {"stream_waits": no_stream_waits, "coincidences": no_stream_waits},
        "collectives",
    ),
    "host waits": ({"synchronizations": no_syncs, "blocking_copies": no_waits}, "kernels free"),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_without_a_rule_some_answer_is_wrong(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced, name = RULES[rule]
    for function, instead in replaced.items():
        monkeypatch.setattr(graph_inputs if hasattr(graph_inputs, function) else build, function, instead)
    change, world = CHANGES[name]
    errors = []
    for seed in range(12):
        program = random_program(seed)
        machine = recorded(program)
        model = model_of(machine.events)
        check_base(model)
        after = apply_changes(model.trace, graph_of(model), [change]).step_ns.sum()
        errors.append(abs(int(after) - truth(program, **world)) / machine.total_ns)
    assert max(errors) > 0.02


def test_without_the_queue_rule_free_kernels_save_far_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_inputs, "full_queue", no_waits)
    program = queue_program()
    machine = recorded(program)
    model = model_of(machine.events)
    after = int(apply_changes(model.trace, graph_of(model), [kernels(0)]).step_ns.sum())
    assert abs(after - truth(program, kernels=0)) / machine.total_ns > 0.3


@pytest.fixture(scope="module")
def program() -> Model:
    return model_of(recorded(random_program(3), 0.35).events)


def test_nothing_comes_later_when_something_gets_shorter(program: Model) -> None:
    base = unchanged(graph_of(program))
    for change, _ in CHANGES.values():
        after = apply_changes(program.trace, base.graph, [change])
        assert (after.time <= base.time).all()
        assert (after.step_ns >= 0).all()
        check = critical_path(after)
        np.testing.assert_array_equal(check.composition.sum(axis=1), after.step_ns)


def test_the_lower_bounds_hold(program: Model) -> None:
    graph = graph_of(program)
    after = apply_changes(program.trace, graph, [kernels(0), collectives(0), copies(0)])
    main = np.flatnonzero(graph.point_lane[graph.lane_to] == graph.main)
    within = main[graph.point_time[graph.lane_from[main]] >= graph.steps.start[0]]
    within = within[graph.point_time[graph.lane_to[within]] <= graph.steps.host_end[-1]]
    assert after.step_ns.sum() >= graph.lane_times[within].sum()


def test_the_order_of_events_and_the_origin_of_time_change_nothing() -> None:
    events = recorded(random_program(5), 0.35).events
    expected = what_if(model_of(events), [kernels(0.5), scale("launch", 0.5)])
    backwards = what_if(model_of(events[::-1]), [kernels(0.5), scale("launch", 0.5)])
    later = [{**event, "ts": event["ts"] + 1_000_000} for event in events]
    assert expected.after_ns == backwards.after_ns
    assert expected.after_ns == what_if(model_of(later), [kernels(0.5), scale("launch", 0.5)]).after_ns


def test_slack_is_how_late_a_kernel_may_be() -> None:
    """A kernel hidden behind the host may be later by what is between its end and the end of the step."""
    events = [annotation("ProfilerStep#1", 0, 1000), launch(10, 1), kernel(20, 100, 1), op("aten::add", 50, 900)]
    graph = graph_of(model_of(events))
    slack = node_slack(unchanged(graph))
    assert slack[graph.item_nodes].tolist() == [1_000_000 - 120_000]
    assert slack[graph.ends[-1]] == 0


def test_slack_and_path_agree(program: Model) -> None:
    base = unchanged(graph_of(program))
    slack = node_slack(base)
    assert (slack >= 0).all()
    assert (slack[base.graph.target[critical_path(base).segments.edge]] == 0).all()


def by_hand() -> list[Event]:
    """One step of 300 µs: 40 of loading, a launch, a kernel of 100 from 60 on, and a wait for it until 165."""
    return [
        annotation("ProfilerStep#1", 0, 300),
        annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 40),
        op("aten::mm", 45, 15),
        launch(50, 1),
        kernel(60, 100, 1),
        {**launch(80, 2, 85), "name": "cudaDeviceSynchronize"},
        op("aten::add", 200, 50),
    ]


def test_a_path_by_hand() -> None:
    path = critical_path(unchanged(graph_of(model_of(by_hand()))))
    found = dict(zip(path.parts, path.composition[0].tolist(), strict=True))
    assert {part: ns for part, ns in found.items() if ns} == {
        "data": 40_000,  # 0-40
        "python": 90_000,  # 40-45, then 165-200, 250-300
        "operator": 55_000,  # 45-50, 200-250
        "launch": 5_000,  # 50-55
        "launch_latency": 5_000,  # 55-60
        "compute": 100_000,  # 60-160
        "wake_up": 5_000,  # 160-165
    }
    assert path.unexplained == 0
    assert path.share("compute") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (free("data"), 260_000),
        (kernels(0.5), 250_000),
        # the call begins at 80 and the work is done before; it still has to return, 5 after the end
        (kernels(0), 215_000),
        # the call and what is left of its wait vanish; the kernel ends at 160, the host at 80 + 135
        (without("sync"), 215_000),
        (ScaleHost(0.0, "operator", operator="aten::add"), 250_000),
        (ScaleHost(0.5, start=200_000, end=220_000), 290_000),
        (ScaleWork(0.5, "kernels", name="another"), 300_000),
        (scale("launch", 1.0), 300_000),
    ],
)
def test_changes_by_hand(change: Change, after: int) -> None:
    found = what_if(model_of(by_hand()), [change])
    assert (found.before_ns, found.after_ns) == (300_000, after)


def test_savings_after_one_another_add_up(program: Model) -> None:
    remedies: list[list[Change]] = [[kernels(0.5)], [scale("launch", 0.5)], [scale("operator", 0.5)], [collectives(0)]]
    found = savings(program, remedies)
    marginals = [each.after_others for each in found.changes]
    assert sum(each or 0 for each in marginals) == found.together_ns
    everything = what_if(program, [change for remedy in remedies for change in remedy])
    assert found.together_ns == everything.saved_ns
    first = found.changes[0]
    assert first.after_others == first.alone == max(each.alone or 0 for each in found.changes)
    for each in found.changes:
        assert each.alone == what_if(program, remedies[each.place]).saved_ns
        assert each.low is not None
        assert each.high is not None
        assert 0 <= each.low <= each.high


def test_what_saves_too_little_counts_for_nothing(program: Model) -> None:
    """Neither among the remedies, nor in what all save together, nor in what the others save beyond all others."""
    remedies = [[kernels(0.5)], [scale("launch", 0.99)], [scale("operator", 0.5)]]
    tiny = what_if(program, remedies[1]).saved_ns
    assert tiny
    every = savings(program, remedies, least=[0, tiny, 0])
    assert {each.place for each in every.changes} == {0, 1, 2}
    rest = savings(program, remedies, least=[0, 1_000_000, 0])
    assert {each.place for each in rest.changes} == {0, 2}
    assert rest.together_ns == savings(program, [remedies[0], remedies[2]]).together_ns < every.together_ns


def test_intervals() -> None:
    assert saving_interval(np.array([5]), 100, False) == (None, None)
    assert saving_interval(np.array([100_000, 200_000]), 1_000_000, False) == (195_000, 405_000)
    low, high = saving_interval(np.full(10, 1_000), 100_000, False)
    assert (low, high) == (9_500, 10_500)
    assert saving_interval(np.full(10, 1_000), 100_000, True) == (7_125, 10_000)


def test_the_interval_of_many_steps_is_that_of_drawn_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = np.random.default_rng(7).integers(1_000, 9_000, 1_001)
    normal = saving_interval(saved, 0, False)
    monkeypatch.setattr(savings_module, "MOST_DRAWN", 2_000)
    drawn = saving_interval(saved, 0, False)
    assert normal != drawn
    assert normal == pytest.approx(drawn, rel=2e-3)


def test_waits_that_touch_are_one() -> None:
    lane, start, end = (np.array(each) for each in ([0, 0, 0, 1], [5, 0, 7, 0], [7, 3, 9, 0]))
    found = lane_union(lane, start, end)
    assert [found.lane.tolist(), found.start.tolist(), found.end.tolist()] == [[0, 0], [0, 5], [3, 9]]


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])
def test_a_pause_put_into_a_recording_comes_back(seed: int) -> None:
    """5 ms of loading before the last step, of a program that the host limits: its removal gives all of them back."""
    events = recorded(random_program(seed)).events
    last = max((e for e in events if e["name"].startswith("ProfilerStep")), key=lambda e: float(e["ts"]))
    at, pause = last["ts"] + 1, 5_000.0
    calls = {e["args"]["correlation"]: e["ts"] for e in events if e["cat"] == "cuda_runtime"}

    def later(event: Event) -> Event:
        if event is last:
            return {**event, "dur": event["dur"] + pause}
        begun = calls[event["args"]["correlation"]] if "correlation" in event["args"] else event["ts"]
        return {**event, "ts": event["ts"] + pause} if begun > at else event

    name = "enumerate(DataLoader)#_Paused.__next__"
    before = graph_of(model_of(events)).steps
    model = model_of([*map(later, events), annotation(name, at, pause)])
    assert graph_of(model).steps.end[-1] == before.end[-1] + 5_000_000
    found = what_if(model, [ScaleHost(0.0, "data", operator=name)])
    assert found.saved_ns == 5_000_000


def test_calls_of_collectives_and_ranges_of_other_names_belong_together_in_order() -> None:
    """As with FSDP on gloo: its calls are named otherwise than what its threads run, and two threads take turns."""
    events = [annotation("ProfilerStep#1", 0, 2000), op("aten::mm", 0, 90)]
    for number, (call, run) in enumerate(
        [("_allgather_base_", "all_gather"), ("_reduce_scatter_base_", "all_reduce")] * 2
    ):
        at = 100 + 400 * number
        events += [op(f"c10d::{call}", at, 20), annotation(f"gloo:{run}", at + 30, 250, tid=7 + number % 2)]
        events.append(op("aten::mm", at + 290, 100))
    model = model_of(events)
    check_base(model)
    path = critical_path(unchanged(graph_of(model)))
    assert path.unexplained == 0
    assert (path.share("communication") or 0) > 0.4
    saved = what_if(model, [collectives(0)])
    assert (saved.before_ns, saved.after_ns) == (2_000_000, 1_000_000)
