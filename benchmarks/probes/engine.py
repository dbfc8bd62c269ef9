"""The replay of traces in a fresh interpreter.

python engine.py one FILE           graph, path, the dearest of some changes, the savings of all of them, all findings
python engine.py held FILE          memory of the graph
python engine.py together FILE...   graphs of several ranks, and one change of all of them
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from own import cpu, peak, say

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, collectives, copies, free, kernels, scale, without
from torch_tb_profiler.analysis.replay.path import critical_path
from torch_tb_profiler.analysis.replay.savings import savings
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.what_if import joint_what_if, replay_rank
from torch_tb_profiler.trace import read_trace

REMEDIES: list[list[Change]] = [
    [free("data")],
    [scale("launch", 0.5)],
    [kernels(0.8)],
    [without("sync")],
    [free("allocator")],
    [scale(operator="aten::copy_", factor=0.5)],
    [copies(0.5), collectives(0.5)],
]
REPETITIONS = 5


def prepared(path: str) -> Model:
    """A model with all that other questions need, too."""
    with Path(path).open("rb") as stream:
        model = Model(read_trace(stream))
    _ = model.steps, model.structure.tree, model.structure.device_links, model.communications
    return model


def least(what: Callable[[], object]) -> float:
    """CPU seconds, of several times the least."""
    found = []
    for _ in range(REPETITIONS):
        began = cpu()
        what()
        found.append(cpu() - began)
    return min(found)


def once(model: Model, changes: list[Change]) -> None:
    _ = apply_changes(model.trace, graph_of(model), changes).step_ns


def one(path: str) -> None:
    model = prepared(path)
    began = cpu()
    graph = graph_of(model)
    say(events=len(model.trace.events), nodes=graph.nodes, edges=len(graph.source), build=cpu() - began)
    say(path=least(lambda: critical_path(unchanged(graph))))
    say(what_if=max(least(partial(once, model, each)) for each in REMEDIES))
    began = cpu()
    savings(model, REMEDIES)
    say(savings=cpu() - began)
    began = cpu()
    diagnosis(model)
    say(findings=cpu() - began, peak=peak())


def held(path: str) -> None:
    """What is kept: numpy and Python tell their allocations, which takes time."""
    model = prepared(path)
    gc.collect()
    tracemalloc.start()
    _ = unchanged(graph_of(model)).step_ns
    gc.collect()
    say(memory=tracemalloc.get_traced_memory()[0])


def together(paths: list[str]) -> None:
    models = [prepared(path) for path in paths]
    began = cpu()
    joint_what_if([replay_rank(model, str(rank)) for rank, model in enumerate(models)], [kernels(0.8)])
    say(events=sum(len(model.trace.events) for model in models), joint=cpu() - began)


MODES: dict[str, Callable[[list[str]], None]] = {
    "one": lambda paths: one(paths[0]),
    "held": lambda paths: held(paths[0]),
    "together": together,
}

if __name__ == "__main__":
    MODES[sys.argv[1]](sys.argv[2:])
