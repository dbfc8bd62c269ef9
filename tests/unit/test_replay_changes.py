"""Changes of chosen parts of a program, each beside the truth of a simulated machine or a step counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import Event, annotation, copy, frame, kernel, launch, model_of, op
from tests.replay_programs import (
    COMPUTE,
    PINNED_RATE,
    US,
    Instruction,
    Machine,
    copying_program,
    random_program,
    recorded,
    short_kernels,
    truth,
)
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    free,
    fused,
    fused_groups,
    graphed,
    kernels,
    merged_collectives,
    no_straggler,
    pinned,
    scale,
    targets,
    without,
)
from torch_tb_profiler.analysis.replay.savings import what_if
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.model import Model

SEEDS = range(8)


def rows(model: Model, name: str) -> list[int]:
    """Events of a name, by start."""
    events = model.trace.events
    found = np.flatnonzero(events.name == model.trace.strings.code(name))
    return found[np.argsort(events.start[found], kind="stable")].tolist()


def error(machine: Machine, model: Model, change: Change, real: int) -> float:
    found = apply_changes(model.trace, graph_of(model), [change])
    assert found.notes == ()
    return abs(int(found.step_ns.sum()) - real) / machine.total_ns


@pytest.mark.parametrize("jitter", [0, 0.35])
def test_pinned_copies(jitter: float) -> None:
    machine = recorded(copying_program(), jitter)
    model = model_of(machine.events)
    real = truth(copying_program(), jitter, pinned=True)
    assert real < 0.9 * machine.total_ns
    assert error(machine, model, pinned(), real) <= (0.015 if jitter else 0.005)
    assert error(machine, model, pinned("HtoD", rate=PINNED_RATE), real) <= (0.015 if jitter else 0.005)
    assert what_if(model, [pinned("DtoH")]).saved_ns == 0


def test_without_a_pinned_copy_only_the_waiting_goes() -> None:
    program = [[each for each in step if each[:1] + each[2:] != ("copy_in", False)] for step in copying_program()]
    model = model_of(recorded(program).events)
    found = what_if(model, [pinned()])
    assert found.notes == ("No pinned copy was seen: these copies take as long as they did.",)
    scenario = apply_changes(model.trace, graph_of(model), [pinned()])
    np.testing.assert_array_equal(scenario.duration, graph_of(model).items.duration)
    assert found.saved_ns is not None
    assert found.saved_ns > 0
    assert what_if(model, [pinned(rate=PINNED_RATE)]).notes == ()


def test_a_value_that_is_read_at_once_is_waited_for_in_pinned_memory_too() -> None:
    def events(operator: str) -> list[Event]:
        copied = {**copy(110, 20, 2, bytes=4), "name": "Memcpy DtoH (Device -> Pageable)"}
        return [
            annotation("ProfilerStep#1", 0, 300),
            launch(5, 1),
            kernel(10, 100, 1),
            op(operator, 20, 120),
            {**launch(25, 2, 110), "name": "cudaMemcpyAsync"},
            copied,
            op("aten::add", 150, 100),
        ]

    assert what_if(model_of(events("aten::_local_scalar_dense")), [pinned(rate=10)]).saved_ns == 0
    assert (what_if(model_of(events("aten::to")), [pinned(rate=10)]).saved_ns or 0) > 80_000


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_as_one_graph(seed: int) -> None:
    """Steps that wait cannot be captured."""
    program = [[each for each in step if each[0] not in ("sync", "copy_back")] for step in random_program(seed)]
    machine = recorded(program)
    assert error(machine, model_of(machine.events), graphed(), truth(program, graphed=True)) <= 0.006


def test_a_chosen_region_as_a_graph_by_hand() -> None:
    """Host 10-20, 20-30, … until 110; kernels of 2 behind each; the region is from 50 on."""
    events = [annotation("ProfilerStep#1", 0, 130), annotation("forward", 50, 60)]
    for i in range(10):
        events += [op("aten::mm", 10 + 10 * i, 10), launch(12 + 10 * i, i + 1), kernel(20 + 10 * i, 2, i + 1)]
    model = model_of(events)
    found = what_if(model, [graphed(rows(model, "forward"))])
    # of 60 only the first launch is left, 5
    assert found.after_ns == 75_000
    assert found.bound
    assert what_if(model, [graphed(steps=[])]).saved_ns == 0
    with pytest.raises(ValueError, match="steps"):
        what_if(model, [graphed(steps=[1])])


def test_fused_kernels() -> None:
    machine = recorded(short_kernels(None))
    model = model_of(machine.events)
    graph = graph_of(model)
    short = graph.items.row[graph.items.duration == 7 * US].reshape(-1, 4)
    change = fused_groups([(group, 9 * US) for group in short])
    real = truth(short_kernels(9 * US))
    assert real < 0.75 * machine.total_ns
    assert error(machine, model, change, real) <= 0.002
    # three operators of 50 + 5 + 12.5 µs
    assert what_if(model, [fused(short[0], 9 * US)]).saved_ns == 202_500


@pytest.mark.parametrize("chosen", [[0], [1, 3]])
def test_chosen_waits(chosen: list[int]) -> None:
    checked = 0
    for seed in range(20):
        program = random_program(seed)
        machine = recorded(program)
        model = model_of(machine.events)
        calls = rows(model, "cudaDeviceSynchronize")
        if calls:
            checked += 1
            change = without("sync", rows=[calls[k] for k in chosen])
            real = truth(program, no_syncs_in=frozenset(chosen))
            assert error(machine, model, change, real) <= 0.002, seed
            assert what_if(model, [without(rows=calls)]).after_ns == what_if(model, [without()]).after_ns
    assert checked > 2


def by_hand() -> list[Event]:
    """300 µs of the main thread: a module of 100 with a frame of 60 with two operators of 20, and a kernel of 40."""
    return [
        annotation("ProfilerStep#1", 0, 300),
        frame("nn.Module: Linear_0", 50, 100),
        frame("model.py(3): forward", 60, 60),
        op("aten::mm", 65, 20),
        op("aten::add", 95, 20),
        launch(100, 1),
        kernel(110, 40, 1, "gemm"),
        op("aten::sum", 200, 30),
        launch(205, 2),
        kernel(215, 60, 2, "reduce"),
    ]


def test_parts_of_host_time_by_hand() -> None:
    model = model_of(by_hand())
    mm, add = rows(model, "aten::mm"), rows(model, "aten::add")
    track = int(model.trace.events.track[mm[0]])
    expected = {
        scale(None, 0, module="Linear_0"): 100,
        scale(None, 0, module="nn.Module: Linear_0"): 100,
        scale("python", 0, module="Linear_0"): 60,
        scale(None, 0.5, frame="model.py(3): forward"): 30,
        scale(None, 0, rows=[*mm, *add]): 40,
        scale("launch", 0, rows=add): 5,
        scale(None, 0, rows=rows(model, "model.py(3): forward"), start=100_000): 20,
        scale(None, 0, intervals=[(track, 0, 10_000), (track, 5_000, 20_000)]): 20,
        scale(None, 0, intervals=[(track + 1, 0, 10_000)]): 0,
        scale(None, 0, module="Linear_0", operator="aten::mm"): 20,
        scale(None, 0, module="another"): 0,
        free("operator", rows=mm): 20,
        kernels(0, rows=rows(model, "gemm")): 0,
        targets(rows(model, "reduce"), [5_000]): 0,
    }
    for change, saved in expected.items():
        assert what_if(model, [change]).saved_ns == saved * 1000, change


def test_changes_that_overlap_do_not_count_twice_in_any_order() -> None:
    model = model_of(by_hand())
    mm, forward = rows(model, "aten::mm"), rows(model, "model.py(3): forward")
    a, b = scale(None, 0.5, rows=mm), scale(None, 0.5, rows=forward)
    # 20 of 60 by both: a quarter is left of it
    for changes in ([a, b], [b, a]):
        assert what_if(model, changes).saved_ns == 35_000
    apart = [free(rows=mm), free(rows=rows(model, "aten::add"))]
    assert what_if(model, apart).saved_ns == 40_000
    assert what_if(model, [*apart, free(rows=forward)]).saved_ns == 60_000


def test_targets_are_a_limit_and_do_not_add_to_a_factor() -> None:
    model = model_of(by_hand())
    graph = graph_of(model)
    row = rows(model, "reduce")
    for changes, duration in (
        ([targets(row, [20_000])], 20_000),
        ([targets(row, [20_000]), kernels(0.5)], 20_000),
        ([kernels(0.1), targets(row, [20_000])], 6_000),
        ([targets(row, [90_000])], 60_000),
    ):
        scenario = apply_changes(model.trace, graph, changes)
        assert scenario.duration[graph.items.row == row[0]].tolist() == [duration]


def test_merged_collectives_by_hand() -> None:
    """Three collectives of 30 one after the other, launched early: 90 and two gaps; one transfers 90 − 2 · 10."""
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    events = [annotation("ProfilerStep#1", 0, 60)]
    for i in range(3):
        events += [launch(5 + 6 * i, i + 1), kernel(20 + 32 * i, 30, i + 1, name)]
    model = model_of(events)
    found = what_if(model, [merged_collectives([rows(model, name)], 10_000)])
    graph = graph_of(model)
    assert found.before_ns == 114_000
    scenario = apply_changes(model.trace, graph, [merged_collectives([rows(model, name)], 10_000)])
    assert scenario.duration.tolist() == [20_000, 20_000, 30_000]
    assert (found.saved_ns or 0) >= 20_000


def test_what_a_rank_alone_cannot_say_is_refused() -> None:
    found = what_if(model_of(by_hand()), [no_straggler()])
    assert [each.id for each in found.refused] == ["one_rank"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (targets([1, 2], [5]), "target"),
        (targets([1], [-5]), "time"),
        (fused([1], -1), "time"),
        (pinned(rate=0), "rate"),
        (free(rows=[99]), "rows"),
        (kernels(1, rows=[-1]), "rows"),
        (merged_collectives([[1]], -1), "time"),
    ],
)
def test_what_makes_no_sense_is_an_error(change: Change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        what_if(model_of(by_hand()), [change])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_comes_later(seed: int) -> None:
    model = model_of(recorded(random_program(seed), 0.35).events)
    graph = graph_of(model)
    base = unchanged(graph)
    gemm = rows(model, "gemm")
    alone: list[Change] = [
        pinned(),
        graphed(),
        graphed(rows(model, "aten::mm")),
        fused(gemm[:5], 0),
        merged_collectives([rows(model, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")], 50_000),
        without(rows=rows(model, "cudaDeviceSynchronize")),
        scale(None, 0.3, rows=rows(model, "aten::mm")),
        targets(gemm, [1000] * len(gemm)),
    ]
    for change in alone:
        assert (apply_changes(model.trace, graph, [change]).time <= base.time).all()
    together = apply_changes(model.trace, graph, alone)
    for change in alone:
        assert (together.time <= apply_changes(model.trace, graph, [change]).time).all()


def test_a_first_step_that_warms_up_is_no_sample() -> None:
    """The first of six steps is three times as long: the interval is that of the others."""
    events: list[Event] = []
    at = 0
    for number, length in enumerate([900, 300, 300, 300, 300, 300]):
        events += [annotation(f"ProfilerStep#{number}", at, length), op("aten::mm", at + 10, length - 100)]
        at += length
    found = what_if(model_of(events), [scale("operator", 0.9)])
    assert found.saved_ns == 80_000 + 5 * 20_000
    assert found.low_ns == found.saved_ns - 2400 * 5
    assert found.high_ns == found.saved_ns + 2400 * 5


def host_paced(n: int) -> float:
    """What half as long kernels save of a step, ns, where the host takes longer than the device, which lags behind."""
    step: list[Instruction] = [("launch", 30 * US, 20 * US, COMPUTE)] * 40 + [("launch", 30 * US, 900 * US, COMPUTE)]
    model = model_of(recorded([step] * n).events)
    found = what_if(model, [kernels(0.5)])
    assert found.step_after_ns is not None
    assert (found.step_after_ns <= found.step_before_ns).all()
    return (found.saved_ns or 0) / n


def test_what_is_gained_once_is_no_saving_of_a_step() -> None:
    step_ns = 41 * 30 * US
    assert host_paced(6) == pytest.approx(host_paced(60), abs=0.01 * step_ns)
