"""Compiled code and replayed graphs: hand-made programs, and recorded ones with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.events import US, Event, annotation, event, frame, kernel, launch, model_of, op
from tests.recorded import SHARED
from tests.recorded import model_of as recorded
from torch_tb_profiler.analysis.program.compiled_code import (
    compilations,
    eager_operators,
    generated_kernels,
    region_totals,
    regions,
)
from torch_tb_profiler.analysis.program.graphs import (
    captures,
    graph_nodes,
    graphs,
    longest_gaps,
    outside_graphs,
    outside_ns,
)

PROGRAM = SHARED / "program"
needs_recordings = pytest.mark.skipif(not PROGRAM.exists(), reason="recorded traces are not here")


def of(run: str) -> Path:
    return PROGRAM / run / "worker0.pt.trace.json.gz"


# compiled code -----------------------------------------------------------------------------------------------

REGION = "Torch-Compiled Region: "


def test_regions_and_what_is_around_them() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            op("TorchDynamo Cache Lookup", 5, 5),
            op(f"{REGION}0/0", 10, 500),
            op("Pregraph bytecode", 15, 10),
            annotation("## Call CompiledFxGraph fabc ##", 30, 100),
            launch(40, 1),
            kernel(60, 50, 1, "triton_poi_fused_add_relu_0"),
            op("aten::item", 200, 50),
            op(f"{REGION}1/0", 300, 150),
            op(f"{REGION}1/1", 600, 50),
            op("aten::mm", 700, 50),
            launch(710, 2),
            kernel(720, 30, 2, "gemm"),
            frame("model.py(9): torch_dynamo_resume_in_forward_at_7", 290, 200),
        ]
    )
    found, sums = regions(model), region_totals(model)
    assert found.id == ("0/0", "1/0", "1/1")
    assert found.outer_calls.tolist() == [1, 0, 1]
    assert found.body_ns.tolist() == [100 * US, 0, 0]
    assert found.overhead_ns.tolist() == [10 * US, 0, 0]
    assert found.eager_ns.tolist() == [50 * US, 0, 0]
    assert found.device_ns.tolist() == [50 * US, 0, 0]
    assert (sums.outer_ns, sums.lookup_ns, sums.breaks, sums.lines) == (550 * US, 5 * US, 1, ("forward:7",))
    assert (sums.inside_device_ns, sums.outside_device_ns) == (50 * US, 30 * US)
    assert sums.lookup_row is not None
    assert model.trace.strings.texts(model.trace.events.name[[sums.lookup_row]]) == ["TorchDynamo Cache Lookup"]
    made = generated_kernels(model)
    assert (made.name, made.kind, made.operators) == (("triton_poi_fused_add_relu_0",), ("pointwise",), ("add_relu",))


def test_the_eager_remainder_by_operator() -> None:
    node = "autograd::engine::evaluate_function: "
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            op("TorchDynamo Cache Lookup", 5, 5),
            op("wrapper", 8, 200),
            op(f"{REGION}0/0", 10, 100),
            op("aten::add", 20, 50),
            launch(30, 1),
            kernel(40, 10, 1),
            op("aten::relu", 120, 40),
            op("aten::clamp_min", 125, 30),
            launch(130, 2),
            kernel(140, 20, 2),
            op(f"{node}CompiledFunctionBackward", 300, 200),
            op("CompiledFunctionBackward", 310, 150),
            launch(320, 3),
            kernel(330, 70, 3),
            op(f"{node}MmBackward0", 500, 50),
            op("MmBackward0", 505, 40),
            launch(510, 4),
            kernel(520, 30, 4),
            launch(600, 5),
            kernel(610, 5, 5),
            op("aten::relu", 700, 60),
        ]
    )
    found, sums = eager_operators(model), region_totals(model)
    assert found.name == ("MmBackward0", "aten::relu", None)
    assert found.calls.tolist() == [1, 2, -1]
    assert found.host_ns.tolist() == [40 * US, 100 * US, -1]
    assert found.device_ns.tolist() == [30 * US, 20 * US, 5 * US]
    assert model.trace.events.start[found.row[1]] == 700 * US
    assert sums.outside_device_ns == found.device_ns.sum()
    assert sums.inside_device_ns == 80 * US


def test_without_compiled_code_nothing_is_a_remainder() -> None:
    assert len(eager_operators(model_of([op("aten::mm", 10, 50)]))) == 0


def test_regions_without_ranges_of_graphs_do_not_tell_what_is_eager() -> None:
    found = regions(model_of([op("Torch-Compiled Region", 0, 100), op("aten::mm", 10, 50)]))
    assert (found.id, found.host_ns.tolist()) == (("?",), [100 * US])
    assert (found.body_ns.tolist(), found.eager_ns.tolist(), found.overhead_ns.tolist()) == ([-1], [-1], [-1])


def test_the_configuration_and_the_file_of_a_generated_kernel() -> None:
    name, told = "triton_red_fused_mean_0", {"kernel_file": "/tmp/c.py", "num_stages": 1}
    events = []
    for number, (blocks, warps) in enumerate((("XBLOCK=2,R0_BLOCK=64", 8), ("XBLOCK=4", 4), ("XBLOCK=4", 4))):
        at = 100 * number
        events.append(op(name, at, 20, kernel_kwargs=blocks, num_warps=warps, **told))
        events += [launch(at + 5, number + 1), kernel(at + 50, 10, number + 1, name)]
    events += [op("x", 395, 30), launch(400, 9), kernel(410, 5, 9, "triton_poi_fused_add_1")]
    made = generated_kernels(model_of(events))
    assert made.config == ("XBLOCK=2 R0_BLOCK=64 num_warps=8 num_stages=1; XBLOCK=4 num_warps=4 num_stages=1", None)
    assert made.file == ("/tmp/c.py", None)


@needs_recordings
def test_compilations_of_a_recording() -> None:
    model = recorded(of("compile_cold"))
    made = compilations(model)
    assert made.id == ("0/0", "1/0", "0/1", "1/1", "0/2", "1/2")
    assert sum(bool(each) for each in made.again) == 4
    assert made.duration_ns.sum() == region_totals(model).compile_ns
    assert region_totals(model).breaks == 6


@needs_recordings
def test_graph_breaks_of_a_recording() -> None:
    sums = region_totals(recorded(of("compile_break")))
    assert sums.lines == ("scale:5", "scale:7")
    assert sums.breaks == 6
    assert 1.33 < sums.outer_ns / 1e6 < 1.34


# graphs ------------------------------------------------------------------------------------------------------


def replay(at: float, correlation: int, **args: Any) -> list[Event]:
    return [
        event("cuda_runtime", "cudaGraphLaunch", at, 5, correlation=correlation),
        kernel(at + 10, 10, correlation, "a", **args),
        kernel(at + 30, 20, correlation, "b", **args),
    ]


def test_replays_of_one_graph_are_aligned() -> None:
    model = model_of(
        [annotation("ProfilerStep#0", 0, 500), *replay(0, 1), *replay(100, 2), launch(200, 3), kernel(210, 50, 3, "c")]
    )
    found = graphs(model)
    assert (found.replays.tolist(), found.nodes.tolist()) == ([2], [2])
    assert found.device_ns.tolist() == [60 * US]
    assert found.inside_ns.tolist() == [10 * US]
    assert found.between_ns.tolist() == [60 * US]
    assert outside_ns(model) == (60 * US, 50 * US)
    fell_out = outside_graphs(model)
    assert (fell_out.name, fell_out.total_ns.tolist(), fell_out.replayed.tolist()) == (("c",), [50 * US], [0])
    nodes = graph_nodes(model, 0)
    assert nodes is not None
    assert (nodes.name, nodes.mean_ns.tolist()) == (("a", "b"), [10 * US, 20 * US])
    assert graph_nodes(model, 1) is None


def test_gaps_of_graphs_are_listed_the_longest_first() -> None:
    other = [
        event("cuda_runtime", "cudaGraphLaunch", 300, 5, correlation=9),
        kernel(310, 30, 9, "long"),
        kernel(315, 5, 9, "hidden", stream=8),
        kernel(345, 5, 9, "late", stream=8),
    ]
    model = model_of([annotation("ProfilerStep#0", 0, 500), *replay(0, 1), *replay(100, 2), *other])
    found, count = longest_gaps(model, None, 10)
    assert count == len(found) == 5
    assert found.where == ("between", "between", "inside", "inside", "inside")
    assert found.duration_ns.tolist() == [160 * US, 60 * US, 10 * US, 10 * US, 5 * US]
    # what ends last counts, not what began last
    assert (found.after[4], found.before[4]) == ("long", "late")
    assert (found.after[0], found.before[0]) == ("b", "long")
    start = model.trace.events.start
    assert (found.start_ns + found.duration_ns).tolist() == start[found.row].tolist()
    table = graphs(model)
    for graph, replays, inside, between in zip(
        table.graph.tolist(), table.replays, table.inside_ns, table.between_ns, strict=True
    ):
        own, _ = longest_gaps(model, graph, 10)
        is_inside = [where == "inside" for where in own.where]
        assert own.duration_ns[is_inside].sum() == inside * replays
        assert own.duration_ns[[not each for each in is_inside]].sum() == max(between, 0)
    assert longest_gaps(model, None, 2)[0].duration_ns.tolist() == [160 * US, 60 * US]
    assert longest_gaps(model, None, 2)[1] == 5


def test_what_rounding_makes_is_no_gap() -> None:
    graph = [event("cuda_runtime", "cudaGraphLaunch", 0, 5, correlation=1)]
    nodes = [kernel(10 * i, 9.999, 1, f"k{i}") for i in range(1, 5)]
    assert longest_gaps(model_of([*graph, *nodes, kernel(60.5, 1, 1, "late")]), None, 10)[0].before == ("late",)


def test_replays_of_two_devices_have_gaps_of_their_own() -> None:
    model = model_of([annotation("ProfilerStep#0", 0, 500), *replay(0, 1), *replay(100, 2, device=1), *replay(200, 3)])
    found, count = longest_gaps(model, None, 10)
    assert (count, found.duration_ns.tolist()) == (4, [160 * US, 10 * US, 10 * US, 10 * US])


def test_a_trace_without_graphs() -> None:
    model = model_of([annotation("ProfilerStep#0", 0, 500), op("aten::mm", 10, 5)])
    assert len(graphs(model)) == len(captures(model)) == len(regions(model)) == len(compilations(model)) == 0
    assert outside_ns(model) == (0, 0)
    assert len(outside_graphs(model)) == 0
    assert longest_gaps(model, None, 10)[1] == 0


def test_what_fell_out_of_a_graph_has_the_name_of_what_did_not() -> None:
    steps = annotation("ProfilerStep#0", 0, 500)
    owned = [op("aten::mm", 195, 20), launch(200, 3), kernel(300, 50, 3, "a")]
    found = outside_graphs(model_of([steps, *replay(0, 1), *owned, launch(220, 4), kernel(400, 10, 4, "a")]))
    assert (found.name, found.owner, found.calls.tolist(), found.replayed.tolist()) == (("a",), ("aten::mm",), [2], [1])


def test_names_of_nodes_are_short_as_those_of_kernels() -> None:
    long = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, float)"
    nodes = [kernel(10 + 20 * turn, 10, 1, name) for turn, name in enumerate((long, "b", long))]
    beside = [launch(200, 3), kernel(300, 50, 3, long)]
    steps = annotation("ProfilerStep#0", 0, 500)
    model = model_of([steps, event("cuda_runtime", "cudaGraphLaunch", 0, 5, correlation=1), *nodes, *beside])
    short = "vectorized_elementwise_kernel<CUDAFunctor_add<float>>"
    table = graph_nodes(model, int(graphs(model).graph[0]))
    assert table is not None
    assert (table.name, table.short_name) == ((long, "b", long), (short, "b", short))
    assert outside_graphs(model).short_name == (short,)
    gaps, _ = longest_gaps(model, None, 10)
    assert (gaps.short_after, gaps.short_before) == ((short, "b"), ("b", short))


@needs_recordings
def test_a_capture_and_a_replay_of_recordings() -> None:
    captured = captures(recorded(PROGRAM / "vllm_capture_hipgraph_mi300" / "rank0.pt.trace.json.gz"))
    assert captured.calls.tolist() == [421]
    replayed = graphs(recorded(SHARED / "TraceLens" / "vllm_decode_hipgraph_mi300" / "rank0.pt.trace.json.gz"))
    assert replayed.nodes.tolist() == [421]
