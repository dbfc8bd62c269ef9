"""The critical path as it lies in time, and the slack of slices: against its definition, on simulated programs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import annotation, kernel, launch, model_of, op
from tests.replay_programs import queue_program, random_program, recorded
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.on_path import PathSlices, path_slices
from torch_tb_profiler.analysis.replay.path import PARTS, UNKNOWN, critical_path, slack_of_rows
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.analysis.replay.solve import solve
from torch_tb_profiler.model import Model

PROGRAMS = [random_program(seed) for seed in range(6)] + [queue_program()]


@pytest.fixture(params=range(len(PROGRAMS)))
def simulated(request: pytest.FixtureRequest) -> Model:
    return model_of(recorded(PROGRAMS[request.param], jitter=0.1).events)


def pieces(model: Model) -> PathSlices:
    return path_slices(model, critical_path(unchanged(graph_of(model))))


def test_pieces_leave_no_gap_and_add_up_to_the_path(simulated: Model) -> None:
    graph, found = graph_of(simulated), pieces(simulated)
    assert (found.end > found.start).all()
    np.testing.assert_array_equal(found.start[1:], found.end[:-1])
    assert (found.start[0], found.end[-1]) == (graph.time[graph.ends[0]], graph.time[graph.ends[-1]])
    sums = np.zeros(len(PARTS), np.int64)
    np.add.at(sums, found.part, found.end - found.start)
    composition = critical_path(unchanged(graph)).composition.sum(axis=0)
    np.testing.assert_array_equal(sums, composition)


def test_a_piece_lies_within_the_event_it_belongs_to_or_before_the_one_that_it_held_up(simulated: Model) -> None:
    found, events = pieces(simulated), simulated.trace.events
    known = np.flatnonzero(found.row >= 0)
    assert len(known) > 0.5 * len(found)
    start, end = events.start[found.row[known]], events.end[found.row[known]]
    low, high = found.start[known], found.end[known]
    inside = (start <= low) & (high <= end)
    waits = [PARTS.index(part) for part in PARTS[PARTS.index("launch_latency") :]]
    gap = np.isin(found.part[known], waits) & (start >= high)
    assert (inside | gap).all()


def test_what_is_on_the_path_has_no_slack(simulated: Model) -> None:
    found, slack = pieces(simulated), slack_of_rows(simulated)
    of_path = slack[found.row[found.row >= 0]]
    assert (of_path[of_path != UNKNOWN] == 0).all()
    assert (of_path != UNKNOWN).mean() > 0.99


def test_work_can_come_as_much_later_as_its_slack_says_and_no_more(simulated: Model) -> None:
    graph, slack = graph_of(simulated), slack_of_rows(simulated)
    base = unchanged(graph)
    ends, last = base.time[graph.ends], int(base.time.max())
    nodes = graph.item_nodes
    chosen = np.random.default_rng(1).choice(len(nodes), min(25, len(nodes)), replace=False)
    source, target = graph.source.tolist(), graph.target.tolist()
    for item in chosen.tolist():
        node = int(nodes[item])
        own = int(slack[graph.items.row[item]])
        for more in (0, 1):
            delay = base.delay.copy()
            delay[graph.target == node] += own + more
            later = solve(graph.nodes, source, target, delay)
            moves = bool((later[graph.ends] > ends).any())
            # what no end depends on has the slack until all is over
            assert moves == (more == 1) or int(later.max()) == last + more


def test_a_thread_that_waits_has_slack_until_it_is_woken() -> None:
    """A kernel of 100 µs; the host calls two operators and waits for it: the operators have 60 µs to spare."""
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 200),
            launch(10, 1),
            kernel(20, 100, 1),
            op("before", 20, 10),
            op("also before", 40, 20),
            {**launch(60, 2, 62), "name": "cudaDeviceSynchronize"},
            op("after", 130, 20),
        ]
    )
    found = {
        model.trace.strings[code]: value
        for code, value in zip(model.trace.events.name, slack_of_rows(model), strict=True)
    }
    assert found["kernel"] == found["after"] == found["ProfilerStep#1"] == 0
    # from the end of the operator to that of the wait, in which the thread stands still
    assert found["also before"] == found["before"] == 62_000
    # its end is that of the kernel, which is critical
    assert found["cudaDeviceSynchronize"] == 0


def test_threads_without_a_node_and_events_without_length_have_no_slack() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 200),
            op("main", 10, 20),
            op("elsewhere", 10, 20, tid=9),
            {"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": 1, "ts": 15},
        ]
    )
    names = [model.trace.strings[code] for code in model.trace.events.name]
    slack = dict(zip(names, slack_of_rows(model).tolist(), strict=True))
    assert slack["elsewhere"] == slack["mark"] == UNKNOWN
    assert slack["main"] == 0


def test_host_time_lies_where_it_was() -> None:
    """Within one edge of a thread: an operator, Python, an operator again, a launch."""
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 100),
            op("a", 10, 20),
            op("b", 40, 20),
            launch(45, 1, 5),
            kernel(60, 100, 1),
        ]
    )
    found = pieces(model)
    names = [model.trace.strings[model.trace.events.name[row]] if row >= 0 else None for row in found.row]
    told = list(zip(found.start // 1000, found.end // 1000, [PARTS[part] for part in found.part], names, strict=True))
    assert told[:4] == [
        (0, 10, "python", "ProfilerStep#1"),
        (10, 30, "operator", "a"),
        (30, 40, "python", "ProfilerStep#1"),
        (40, 45, "operator", "b"),
    ]
    assert told[-1][2:] == ("compute", "kernel")
