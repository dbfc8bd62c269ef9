"""What holds of the replay of any program, and of each of its parts beside the plain way to say it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.events import Event, annotation, kernel, launch, model_of, op
from tests.growth import MOST, Work, growth
from tests.recorded import model_of as model_of_file
from tests.replay_checks import CHANGES, check_base
from tests.replay_programs import COMPUTE, US, Machine, World, random_program, recorded, truth
from tests.tracegen import Config, write_run
from torch_tb_profiler.analysis.replay import graph_inputs
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, kernels, no_straggler, scale, without
from torch_tb_profiler.analysis.replay.graph import Edge, Graph
from torch_tb_profiler.analysis.replay.host_time import lane_intersection, lane_subtraction, lane_union
from torch_tb_profiler.analysis.replay.savings import greedy_order, what_if
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.replay.solve import Solver, solve
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.ranks.what_if import joint_what_if, replay_rank

SEEDS = range(12)


@pytest.mark.parametrize("seed", range(80))
def test_the_solver_is_the_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(1, 80))
    # of near nodes: a host, and streams that it launches work on
    near = int(rng.choice([2, 4, 100]))
    pairs = [
        (int(source), target)
        for target in range(1, nodes)
        for source in rng.integers(max(target - near, 0), target, min(int(rng.choice([0, 1, 1, 1, 2, 3, 5])), target))
    ]
    if seed % 4 == 0:  # a thread, and a stream that follows it: long runs
        pairs = [(t, t + 2) for t in range(nodes - 2)] + [(t - t % 2 * 3, t + 2) for t in range(3, nodes - 2, 2)]
        pairs.sort(key=lambda pair: pair[1])
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    lasting = rng.random(len(source)) < rng.choice([0.0, 0.5, 1.0])
    solver = Solver.of(nodes, source, target, lasting)
    for most in (50, 2**40, 3):
        delay = rng.integers(0, most, len(source))
        dropped = rng.permutation(len(source))[: int(rng.integers(0, 4))]
        kept = np.ones(len(source), np.bool_)
        kept[dropped] = False
        expected = solve(nodes, source[kept].tolist(), target[kept].tolist(), delay[kept])
        np.testing.assert_array_equal(solver.times(delay, dropped), expected)
        wanted = rng.integers(0, nodes, 3)
        np.testing.assert_array_equal(solver.times(delay, dropped, wanted), expected[wanted])


@pytest.mark.parametrize("seed", range(20))
def test_stretches_are_sets_of_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn() -> tuple[Int64, Int64, Int64]:
        n = int(rng.integers(0, 8))
        start = rng.integers(0, 20, n)
        return rng.integers(0, 3, n), start, start + rng.integers(-1, 6, n)

    def moments(lane: Int64, start: Int64, end: Int64) -> set[tuple[int, int]]:
        return {
            (on, t)
            for on, s, e in zip(lane.tolist(), start.tolist(), end.tolist(), strict=True)
            for t in range(s, max(s, e))
        }

    a, b = drawn(), drawn()
    one, other = lane_union(*a), lane_union(*b)
    for found, expected in (
        (one, moments(*a)),
        (lane_intersection(one, other), moments(*a) & moments(*b)),
        (lane_subtraction(one, other), moments(*a) - moments(*b)),
    ):
        assert moments(found.lane, found.start, found.end) == expected
    lane, times = np.repeat(np.arange(3), 25), np.tile(np.arange(25), 3)
    ends_in = one.ends_in(lane, times).tolist()
    assert ends_in == [(on, t - 1) in moments(*a) for on, t in zip(lane.tolist(), times.tolist(), strict=True)]


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_of_host_time_are_all_of_it(seed: int) -> None:
    """Disjoint, and of each lane edge what lies between its points without waiting."""
    graph = graph_of(model_of(recorded(random_program(seed), 0.35).events))
    pieces = graph.host_segments
    assert (pieces.end > pieces.start).all()
    follows = pieces.lane[1:] == pieces.lane[:-1]
    assert (pieces.start[1:][follows] >= pieces.end[:-1][follows]).all()
    lane = graph.point_lane[graph.lane_to]
    low, high = graph.point_time[graph.lane_from], graph.point_time[graph.lane_to]
    waited = [
        sum(
            max(min(e, h) - max(s, w), 0)
            for on, w, h in zip(
                graph.waits.lane.tolist(), graph.waits.start.tolist(), graph.waits.end.tolist(), strict=True
            )
            if on == at
        )
        for at, s, e in zip(lane.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    # time before the first event of a thread is nobody's
    begun = np.maximum(low, graph.host.start[graph.host.first[lane]])
    np.testing.assert_array_equal(graph.lane_times.sum(axis=1), np.maximum(high - begun, 0) - np.array(waited))
    np.testing.assert_array_equal(pieces.spent(lane, low, high), graph.lane_times)


@pytest.mark.parametrize("seed", SEEDS)
def test_when_all_takes_three_times_as_long_so_do_the_steps(seed: int) -> None:
    graph = graph_of(model_of(recorded(random_program(seed), 0.35).events))
    longer = msgspec.structs.replace(
        graph,
        lane_times=3 * graph.lane_times,
        lag=3 * graph.lag,
        items=msgspec.structs.replace(graph.items, duration=3 * graph.items.duration),
    )
    np.testing.assert_array_equal(unchanged(longer).time, 3 * unchanged(graph).time)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_an_edge_nothing_comes_later(seed: int) -> None:
    graph = graph_of(model_of(recorded(random_program(seed), 0.35).events))
    base = unchanged(graph)
    rng = np.random.default_rng(seed)
    for edge in rng.permutation(np.flatnonzero(graph.edge != Edge.ROOT))[:5]:
        assert (msgspec.structs.replace(base, dropped=np.array([edge])).time <= base.time).all()


def errors(graphs: dict[int, Graph], names: list[str]) -> float:
    """The largest error of some changes over programs, as a share of the recorded time."""
    found = []
    for seed, graph in graphs.items():
        program = random_program(seed)
        model = model_of(recorded(program).events)
        total = recorded(program).total_ns
        for name in names:
            change, world = CHANGES[name]
            after = int(apply_changes(model.trace, graph, [change]).step_ns.sum())
            found.append(abs(after - truth(program, **world)) / total)
    return max(found)


NAMES = ["kernels free", "host", "launch"]


@pytest.mark.slow
def test_with_all_recorded_delays_taken_as_real_nothing_would_save() -> None:
    graphs = {seed: graph_of(model_of(recorded(random_program(seed)).events)) for seed in SEEDS}
    assert errors(graphs, NAMES) <= 0.002
    frozen = {}
    for seed, graph in graphs.items():
        base = unchanged(graph)
        waited = np.isin(graph.edge, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT, Edge.SYNC, Edge.BLOCKING_COPY))
        slack = graph.time[graph.target] - graph.time[graph.source] - base.length
        frozen[seed] = msgspec.structs.replace(graph, lag=np.where(waited, slack, graph.lag))
        np.testing.assert_array_equal(unchanged(frozen[seed]).time, base.time)
    assert errors(frozen, NAMES) > 0.3


def test_without_typical_delays_short_kernels_follow_too_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host limits the recording; ten times as fast, it leaves kernels of 8 µs with gaps of 1.2 µs."""
    program = [[("launch", 30 * US, 8 * US, COMPUTE)] * 200 + [("sync", 3 * US)]] * 3
    machine = recorded(program)
    real = truth(program, host=0.1)

    def error() -> float:
        # some kernels were queued, or there would be no gap to measure
        model = model_of(Machine(World()).run([[("launch", 30 * US, 90 * US, COMPUTE)] * 30, *program]).events)
        steps = what_if(model, [scale(None, 0.1)]).step_after_ns
        assert steps is not None
        return abs(int(steps[1:].sum()) - real) / machine.total_ns

    assert error() <= 0.002
    monkeypatch.setattr(graph_inputs, "launch_and_gap", lambda *_: (0, 0))
    monkeypatch.setattr(graph_inputs, "wake_of", lambda *_: 0)
    assert error() > 0.01


HOSTILE: dict[str, list[Event]] = {
    "reversed clocks": [annotation("ProfilerStep#1", 0, 900), op("aten::mm", 0, 800)]
    + [e for i in range(30) for e in (launch(800 - 20 * i, i + 1), kernel(20 * i, 15, i + 1))],
    "orphans alone": [kernel(20 * i, 15, i + 1, stream=i % 3) for i in range(30)],
    "orphans in a step": [annotation("ProfilerStep#1", 0, 900), *(kernel(20 * i, 25, i + 1) for i in range(30))],
    "one event": [op("aten::mm", 0, 10)],
    "one call": [launch(0, 1)],
    "negative durations": [annotation("ProfilerStep#1", 0, 500), op("aten::mm", 400, -300)]
    + [e for i in range(9) for e in (launch(9 * i, i + 1, -4), kernel(9 * i + 5, -3, i + 1))],
    "steps that overlap": [annotation(f"ProfilerStep#{i}", 100 * i, 250) for i in range(5)]
    + [e for i in range(9) for e in (launch(50 * i, i + 1), kernel(50 * i + 9, 30, i + 1))],
    "a wait for itself": [
        annotation("ProfilerStep#1", 0, 500),
        {**launch(10, 1, 400), "name": "cudaMemcpy"},
        {**kernel(20, 300, 1, "Memcpy DtoH (Device -> Pageable)"), "cat": "gpu_memcpy"},
        {**launch(30, 1, 300), "name": "cudaStreamSynchronize"},
    ],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_replayed_or_refused(name: str) -> None:
    model = model_of(HOSTILE[name])
    check_base(model)
    for change, _ in CHANGES.values():
        found = what_if(model, [change])
        assert found.refused or found.after_ns is not None
        assert found.after_ns is None or 0 <= found.after_ns <= found.before_ns


@pytest.mark.slow
@pytest.mark.parametrize("syncs", [1, 1_500])
def test_many_streams_do_not_blow_up(syncs: int) -> None:
    def prepared(n: int) -> Work:
        events = [annotation("ProfilerStep#1", 0, 5 * n + 1000)]
        for i in range(n):
            events += [launch(i * 5, i + 1, 3), kernel(i * 5 + 9, 4, i + 1, stream=i)]
        events += [{**launch(5 * n + 2 * i, 2 * n + i, 1), "name": "cudaDeviceSynchronize"} for i in range(syncs)]
        events += [{**launch(5 * n + 2 * i, 3 * n + i, 1), "name": "cudaStreamWaitEvent"} for i in range(syncs)]
        model = model_of(events)

        def work() -> None:
            assert len(graph_of(model).source) < 6 * n
            assert what_if(model, [kernels(0)]).after_ns is not None

        return work

    assert growth(prepared, 5_000, turns=1) < MOST


@pytest.mark.slow
def test_a_straggler_beside_the_run_without_it(tmp_path: Path) -> None:
    """Rank 2 loses 3 ms in every step, in one operator: without that all ranks are as fast as if it did not."""

    def ranks(slow_ns: int) -> list[object]:
        folder = tmp_path / str(slow_ns)
        config = Config(ranks=4, layers=3, steps=4, overlap=0.7, slow_rank=2, slow_ns=slow_ns, stacks=False)
        write_run(config, folder)
        return [replay_rank(model_of_file(path), path.name.partition(".")[0]) for path in sorted(folder.iterdir())]

    slow, even = ranks(3_000_000), ranks(0)
    found = joint_what_if(slow, [no_straggler()])  # type: ignore[arg-type]
    real = joint_what_if(even, [])  # type: ignore[arg-type]
    for mine, expected in zip(found.ranks, real.ranks, strict=True):
        assert mine.before_ns > 1.1 * expected.before_ns
        assert mine.after_ns == pytest.approx(expected.before_ns, rel=0.005)
    # of ranks that are alike there is none
    unlike = joint_what_if(even, [no_straggler()])  # type: ignore[arg-type]
    for rank in unlike.ranks:
        assert rank.after_ns == pytest.approx(rank.before_ns, rel=0.001)
    # on the slow rank alone it is the same: the others were not slow
    only = joint_what_if(slow, [no_straggler()], ["worker2", "rank2"])  # type: ignore[arg-type]
    assert [each.after_ns for each in only.ranks] == [each.after_ns for each in found.ranks]


@pytest.mark.parametrize("replays", [0, 3, 5, 100])
def test_what_remedies_save_adds_up_whatever_the_budget(replays: int) -> None:
    model = model_of(recorded(random_program(3), 0.35).events)
    graph = graph_of(model)
    changes: list[Change] = [kernels(0.5), scale("launch", 0.5), scale("operator", 0.5), without()]
    before = unchanged(graph).step_ns
    asked = 0

    def after(chosen: object) -> Int64:
        nonlocal asked
        asked += 1
        return apply_changes(model.trace, graph, [changes[place] for place in chosen]).step_ns  # type: ignore[attr-defined]

    order, steps, alone = greedy_order(range(4), before, after, replays)
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_array_equal(steps[-1], apply_changes(model.trace, graph, changes).step_ns)
    for n, then in enumerate(steps, 1):
        np.testing.assert_array_equal(then, apply_changes(model.trace, graph, [changes[p] for p in order[:n]]).step_ns)
    assert order[0] == max(alone, key=lambda place: alone[place])
    assert asked <= 1 + 4 + max(replays, 0) + 3
