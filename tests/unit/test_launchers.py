from __future__ import annotations

from tests.events import kernel, launch, model_of, op
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.shared.owners import NOT_RECORDED, Unattributed, unattributed


def test_work_outside_operators_is_named_by_what_launched_it() -> None:
    graph = {**launch(60, 2, 5), "name": "cudaGraphLaunch"}
    replayed = [kernel(200 + 10 * i, 10, 2) for i in range(3)]
    model = model_of([op("aten::mm", 0, 50), launch(20, 1, 5), kernel(100, 7, 1), graph, *replayed, kernel(300, 4, 99)])
    found = unattributed(model)
    thread = ("cudaGraphLaunch on thread 1", "thread", "thread 1", None)
    lost = ("its launch was lost", "none", None, "launch_lost")
    assert found == (
        Unattributed(*thread, "(cudaGraphLaunch)", 3, 30_000),
        Unattributed(*lost, NOT_RECORDED, 1, 4_000),
    )
    table = operators(model)
    assert sum(u.device_ns for u in found) == table.unattributed_device_ns
    assert int(table.device_self_ns.sum()) + table.unattributed_device_ns == table.device_ns == 41_000
    by_launch = kernels(model, "name_op_launch")
    assert by_launch.operator is not None
    assert dict(zip(by_launch.operator, by_launch.calls.tolist(), strict=True)) == {
        "(cudaGraphLaunch)": 3,
        "aten::mm": 1,
        "(its launch was lost)": 1,
    }


def test_a_graph_launched_inside_an_operator_is_the_operators() -> None:
    graph = {**launch(20, 2, 5), "name": "cudaGraphLaunch"}
    model = model_of([op("CompiledFunction", 0, 50), graph, kernel(200, 10, 2), kernel(210, 10, 2)])
    assert unattributed(model) == ()
    assert operators(model).device_self_ns.tolist() == [20_000]
