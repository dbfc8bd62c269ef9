"""Call stacks of every trace there is: all time is in exactly one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.invariants.every_trace import each_configuration, each_file, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE, stack_weights, stacks
from torch_tb_profiler.analysis.stacks.recorded import all_stacks
from torch_tb_profiler.analysis.stacks.stack_table import Direction
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.model import Model


def busy_ns(model: Model) -> int:
    """Over all threads, the time in which anything runs."""
    trees = (model.frames, model.tree)
    track, start, end = (np.concatenate([getattr(tree, name) for tree in trees]) for name in ("track", "start", "end"))
    return sum(
        intervals.total(intervals.union(start[track == one], end[track == one])) for one in np.unique(track).tolist()
    )


def check(model: Model) -> None:
    events, found = model.trace.events, all_stacks(model)
    work = model.device_work.row[model.is_work]
    expected = {"host": busy_ns(model), "device": int(np.maximum(events.duration[work], 0).sum())}
    assert int(found.calls.sum()) == len(model.frames) + len(model.tree) + len(work)
    directions: tuple[Direction, ...] = ("top_down", "bottom_up")
    for weight in stack_weights(model):
        assert int(found.self_ns(weight).sum()) == expected[weight]
        for direction in directions:
            for files in ("", "torch", "-torch"):
                for share in (0, SMALLEST_SHARE, 0.05) if direction == "top_down" else (SMALLEST_SHARE, 0.05):
                    table = stacks(model, weight, direction, files, smallest_share=share)
                    assert table is not None
                    assert table.whole_ns == table.all_ns == expected[weight] == int(table.self_ns.sum())
                    below = np.zeros(len(table), np.int64)
                    inner = table.parent >= 0
                    np.add.at(below, table.parent[inner], table.total_ns[inner])
                    assert (table.total_ns == table.self_ns + below).all()
                    assert (table.total_ns[np.array(table.kind) != "smaller"] >= table.limit_ns).all()
                    assert len(set(table.id.tolist())) == len(table)


@each_file
def test_every_file(path: Path) -> None:
    check(shared_model_of(path))


@each_configuration
def test_generated_traces(config: Config) -> None:
    check(generated(config)[0])
