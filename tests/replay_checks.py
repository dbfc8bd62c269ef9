"""What holds of every replay, and the changes that tests ask for with the world in which each is true."""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, collectives, free, kernels, scale, without
from torch_tb_profiler.analysis.replay.on_path import recorded_path, recorded_slices
from torch_tb_profiler.analysis.replay.path import critical_path
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.model import Model

#: the change, and the world in which it is true
CHANGES: dict[str, tuple[Change, dict[str, Any]]] = {
    "kernels": (kernels(0.8), {"kernels": 0.8}),
    "kernels free": (kernels(0), {"kernels": 0}),
    "launch": (scale("launch", 0.5), {"launch": 0.5}),
    "data": (free("data"), {"data": 0}),
    "syncs": (without("sync"), {"syncs": False}),
    "collectives": (collectives(0), {"collectives": 0}),
    "host": (scale(None, 0.5), {"host": 0.5}),
}


def check_base(model: Model) -> None:
    """Without changes every recorded time comes back, and the parts of the path add up to each step."""
    graph = graph_of(model)
    base = unchanged(graph)
    np.testing.assert_array_equal(base.time + graph.origin_ns, graph.time)
    np.testing.assert_array_equal(graph.time[graph.ends[1:]], graph.steps.end)
    path = critical_path(base)
    np.testing.assert_array_equal(path.composition.sum(axis=1), path.step_ns)
    np.testing.assert_array_equal(path.step_ns, np.diff(np.append(graph.steps.start[:1], graph.steps.end)))
    assert (path.composition >= 0).all()
    check_pieces(model)


def check_pieces(model: Model) -> None:
    """The pieces of the recorded path follow one another without a gap, and add up to its composition."""
    graph, path, pieces = graph_of(model), recorded_path(model), recorded_slices(model)
    found = np.zeros_like(path.composition)
    np.add.at(found, (pieces.step, pieces.part), pieces.end - pieces.start)
    np.testing.assert_array_equal(found, path.composition)
    same_step = pieces.step[1:] == pieces.step[:-1]
    np.testing.assert_array_equal(pieces.start[1:][same_step], pieces.end[:-1][same_step])
    first = np.flatnonzero(np.append(True, ~same_step))[: len(pieces)]
    np.testing.assert_array_equal(pieces.start[first], (graph.steps.end - path.step_ns)[pieces.step[first]])
