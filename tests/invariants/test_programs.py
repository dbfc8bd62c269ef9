"""What must hold on every trace: modules, the program tree and the comparison tell the times of the other views."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np

from tests.invariants.every_trace import each_configuration, each_file, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from tests.unit.test_diff_whole import check as check_whole
from torch_tb_profiler.analysis.compare.comparison import Comparison
from torch_tb_profiler.analysis.compare.program import Program, whole_times
from torch_tb_profiler.analysis.compare.question import COMPARE, WhichPart, delta
from torch_tb_profiler.analysis.modules import modules
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.shared.operator_times import TimedProgram, full_program, module_sources, nn_program
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import nn_modules
from torch_tb_profiler.model.program_tree import NodeKind
from torch_tb_profiler.web.old_plugin import diff
from torch_tb_profiler.web.old_plugin import modules as old_modules


def check_tree(model: Model, timed: TimedProgram) -> None:
    tree, events = timed.tree, model.trace.events
    places = np.arange(len(tree))
    assert (tree.parent < places).all()
    assert len(np.unique(tree.row[tree.row >= 0])) == int((tree.row >= 0).sum())
    # an operator and its only callee of the same name are one, no other range is lost
    shown = np.bincount(tree.kind, minlength=len(NodeKind))
    assert shown[NodeKind.MODULE] == len(nn_modules(model).row)
    assert shown[NodeKind.BACKWARD] <= shown[NodeKind.MODULE]
    assert (tree.duration[tree.row >= 0] == np.maximum(events.duration[tree.row[tree.row >= 0]], 0)).all()
    work_ns = np.maximum(events.duration[model.device_work.row], 0)
    launched = int(work_ns[model.is_work & (timed.work_node >= 0)].sum())
    assert int(timed.device_self.sum()) == launched == int(timed.device_total[tree.parent < 0].sum())


def check_modules(model: Model) -> None:
    table = modules(model, "nn")
    assert int(table.calls.sum()) == len(nn_modules(model).row)
    timed = nn_program(model)
    nested = table.parent >= 0
    for total in (table.device_total_ns, table.backward_device_ns, table.backward_host_ns):
        inside = np.bincount(table.parent[nested], total[nested], len(table))
        assert (inside <= total).all()
    assert int(table.device_self_ns.sum()) == int(table.device_total_ns[~nested].sum())
    backward = (timed.tree.kind == NodeKind.BACKWARD) & (timed.tree.parent >= 0)
    backward[backward] = timed.tree.kind[timed.tree.parent[backward]] != NodeKind.BACKWARD
    backward |= (timed.tree.kind == NodeKind.BACKWARD) & (timed.tree.parent < 0)
    assert int(table.backward_device_ns[~nested].sum()) == int(timed.device_total[backward].sum())


def subject_of(model: Model) -> Subject:
    return Subject(model, "run", "worker", "1", 0, 1, lambda _: ())


#: of a comparison: what the parts of everything add up to
COMPARE_FIELDS = tuple(
    f"{side}{key}" for side in ("", "exp_", "delta_") for key in ("duration_ns", "device_ns", "total_ns")
)


def check_comparison(model: Model) -> None:
    """A trace compared with itself shows no change, and knows the operators of the operator view."""
    program = Program(model, "all")
    found, kernels = program.everything()
    table = operators(model)
    columns = ("calls", "host_total_ns", "host_self_ns", "device_total_ns", "device_self_ns")
    ours = {name: tuple(int(getattr(found, c)[i]) for c in columns) for i, name in enumerate(found.name)}
    assert ours == {name: tuple(int(getattr(table, c)[i]) for c in columns) for i, name in enumerate(table.name)}
    assert int(kernels.total_ns.sum()) <= whole_times(Comparison(model, model, "all").beginning()[0]).whole.device_ns
    answer = COMPARE.compute(subject_of(model), subject_of(model), WhichPart())
    for key in COMPARE_FIELDS if answer.parts.rows["path"] else ():
        assert sum(answer.parts.rows[key]) == getattr(answer.totals, key), key

    comparison = Comparison(model, model, "all")
    root = comparison.root()
    waiting, visited = [root], 0
    while waiting and visited < 200:
        node = waiting.pop()
        visited += 1
        assert node.left.nodes.tolist() == node.right.nodes.tolist()
        changes = delta(node.left.operators(), node.right.operators(), ("device_self_ns", "host_self_ns"))
        assert all((changes.right[c] == changes.left[c]).all() for c in changes.left)
        children = comparison.children(node)
        waiting += children
        if children and node is not root:
            assert sum(len(c.left.nodes) for c in children) >= 1


def check(model: Model) -> None:
    for timed in (nn_program(model), full_program(model)):
        check_tree(model, timed)
    check_modules(model)
    check_comparison(model)
    check_whole(model, model, 200)
    answer = old_modules.module(model)
    assert (answer is not None) == bool(module_sources(model))
    for pieces in (answer, old_modules.tree(model), diff.diff(model, model)):
        if pieces is not None:
            json.loads(b"".join(pieces))


@each_file
def test_every_file(path: Path) -> None:
    check(shared_model_of(path))


@each_configuration
def test_generated_traces(config: Config) -> None:
    """The forward and backward kernels of the generated net all belong to its modules."""
    model, expected = generated(config)
    check(model)
    table = modules(model, "nn")
    calls = Counter(dict(zip(table.name, table.calls.tolist(), strict=True)))
    assert table.name[0] == "Transformer_0"
    assert set(calls.values()) == {calls["Transformer_0"]}
    assert calls["Transformer_0"] >= config.steps
    nested = {f"Block_{i}" for i in range(config.layers)}
    blocks = [i for i, name in enumerate(table.name) if name in nested]
    assert len(blocks) == config.layers
    assert table.parent[blocks].tolist() == [0] * config.layers
    assert (table.backward_device_ns[blocks] > table.device_total_ns[blocks]).all()
    outside = {"CrossEntropyLoss", "aten::_fused_adamw_"}
    assert not outside & set(table.name)
    assert int(table.device_total_ns[0] + table.backward_device_ns[0]) < expected.total_device_ns
