"""The graphs of several ranks as one, against a plain longest path over the same edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.events import model_of
from tests.tracegen import Job, Late, simulate_job, trace_of
from torch_tb_profiler.analysis.replay.changes import Change, collectives, kernels, scale, without
from torch_tb_profiler.analysis.replay.scenario import Scenario, apply_changes
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.ranks.joint_graph import JointGraph, join_graphs
from torch_tb_profiler.ranks.what_if import ReplayRank, replay_rank

pytestmark = pytest.mark.slow


def ranks_of(job: Job) -> list[ReplayRank]:
    run = simulate_job(job)
    ranks = []
    for number in range(job.ranks):
        trace = trace_of(run, number)
        events = trace.pop("traceEvents")
        assert isinstance(events, list)
        ranks.append(replay_rank(model_of(events, **trace), f"rank{number}"))
    return ranks


def plainly(joint: JointGraph, scenarios: Sequence[Scenario]) -> list[Int64]:
    """Edge by edge."""
    times = [0] * len(joint.time)
    for at in range(len(joint.source)):
        lag, length, edge = int(joint.lag[at]), 0, int(joint.edge[at])
        if edge >= 0:
            graph, scenario = joint.graphs[joint.rank[at]], scenarios[joint.rank[at]]
            if not scenario.kept[edge]:
                continue
            if scenario.lag[edge] < graph.lag[edge]:
                lag = min(lag, int(scenario.lag[edge]))
            length = int(scenario.length[edge])
            if joint.transfer[at] >= 0:
                item = graph.item[edge]
                as_transfer = graph.items.duration.copy()
                as_transfer[item] = joint.transfer[at]
                length = int(np.rint(scenario.shortened(as_transfer)[item]))
        target = int(joint.target[at])
        times[target] = max(times[target], times[int(joint.source[at])] + max(length + lag, 0))
    found = np.array(times, np.int64)
    return [np.diff(found[number[graph.ends]]) for graph, number in zip(joint.graphs, joint.number, strict=True)]


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [kernels(0.5)],
        [collectives(0)],
        [scale(None, 0.25)],
        [without("sync")],
        [scale(None, 0), kernels(0), collectives(0), without("sync")],
    ],
    ids=lambda changes: "+".join(type(change).__name__ for change in changes) or "unchanged",
)
@pytest.mark.parametrize("job", [Job(tp=2, layers=2, faults=(Late(1),)), Job(dp=2, pp=2, micro=4, layers=1)])
def test_ranks_together_take_as_long_as_the_longest_path(job: Job, changes: list[Change]) -> None:
    ranks = ranks_of(job)
    joint = join_graphs(ranks)
    assert joint.collectives
    # other changes on each rank: the first as it was recorded
    scenarios = [apply_changes(each.trace, each.graph, changes if number else []) for number, each in enumerate(ranks)]
    for wanted in (scenarios, [apply_changes(each.trace, each.graph, changes) for each in ranks]):
        found, expected = joint.solve(wanted), plainly(joint, wanted)
        assert [each.tolist() for each in found] == [each.tolist() for each in expected]
