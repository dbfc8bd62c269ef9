"""Whom device work belongs to: one test per way in which it is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.events import Event, annotation, copy, event, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.program.graph_owners import graph_owners
from torch_tb_profiler.analysis.shared.owners import owner_names, owner_shares, unattributed
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.owners import MissingOwner, OwnerKind
from torch_tb_profiler.model.owners.graphs import CaptureMatch
from torch_tb_profiler.model.selection import StepRange


def call(name: str, start: float, correlation: int = 0, **args: Any) -> Event:
    return {**launch(start, correlation), "name": name, "args": {"correlation": correlation, **args}}


def owned(model: Model) -> list[tuple[str, str]]:
    """How each piece of work is owned, and by whom in words, in the order in which it ran."""
    found = owner_names(model)
    order = np.argsort(model.trace.events.start[model.device_work.row], kind="stable")
    names = [found.names[code] for code in found.code[order].tolist()]
    return [(name.how, name.text) for name in names]


def evidence(model: Model) -> list[str]:
    rows = model.owners.evidence
    return [str(model.trace.strings[model.trace.events.name[row]]) if row >= 0 else "" for row in rows.tolist()]


def test_the_operator_around_the_launch_comes_first() -> None:
    events = [annotation("Optimizer.step#AdamW.step", 0, 90), op("aten::mm", 10, 50), launch(20, 1), kernel(100, 7, 1)]
    model = model_of([frame("train.py(3): main", 0, 95), *events])
    assert owned(model) == [("operator", "aten::mm")]
    assert model.owners.row.tolist() == model.tree.row[model.device_links.operator_node].tolist()
    assert unattributed(model) == ()


@pytest.mark.parametrize("region", ["Torch-Compiled Region: 0/1", "## Call CompiledFxGraph fpd72 ##"])
def test_a_compiled_region_owns_what_no_operator_launched(region: str) -> None:
    events = [annotation(region, 0, 90), annotation("my range", 10, 40), launch(20, 1), kernel(100, 7, 1)]
    assert owned(model_of(events)) == [("compiled", f"compiled: {region}")]


def test_a_triton_launch_belongs_to_the_code_that_calls_it() -> None:
    frames = [
        frame("train.py(3): main", 0, 95),
        frame("/tmp/torchinductor_me/ab/cab.py(71): call", 5, 80),
        frame("torch/_inductor/runtime/triton_heuristics.py(1032): run", 10, 60),
        frame("<built-in function launcher>", 15, 40),
    ]
    outside = [annotation("Optimizer.step#AdamW.step", 1, 93)]
    model = model_of([*frames, *outside, launch(20, 1, cat="cuda_driver"), kernel(100, 7, 1, "triton_poi_fused_0")])
    assert owned(model) == [("compiled", "compiled: /tmp/torchinductor_me/ab/cab.py(71): call")]


def test_an_annotation_owns_what_no_operator_launched() -> None:
    events = [annotation("ProfilerStep#1", 0, 99), annotation("Optimizer.step#AdamW.step", 1, 90), launch(20, 1)]
    model = model_of([*events, frame("nn.Module: Linear_3", 5, 60), kernel(100, 7, 1)])
    assert owned(model) == [("annotation", "Optimizer.step#AdamW.step")]
    (row,) = unattributed(model)
    assert (row.how, row.name, row.launcher, row.calls, row.device_ns) == (
        "annotation",
        "Optimizer.step#AdamW.step",
        "(cudaLaunchKernel)",
        1,
        7_000,
    )


def test_a_module_comes_before_its_step() -> None:
    frames = [frame("train.py(3): main", 0, 95), frame("nn.Module: Linear_3", 5, 60)]
    inner = frame("torch/nn/modules/linear.py(116): forward", 10, 40)
    events = [annotation("ProfilerStep#1", 1, 90), *frames, inner, launch(20, 1), kernel(100, 7, 1)]
    assert owned(model_of(events)) == [("module", "module: Linear_3")]


def test_a_frame_of_the_program_comes_before_those_of_libraries() -> None:
    frames = [frame("train.py(123): main", 0, 95), frame("torch/cuda/__init__.py(9): synchronize", 5, 60)]
    events = [annotation("ProfilerStep#1", 1, 90), *frames, frame("<built-in method>", 10, 40), launch(20, 1)]
    assert owned(model_of([*events, kernel(100, 7, 1)])) == [("frame", "train.py(123): main")]
    library = [frame("torch/cuda/__init__.py(9): synchronize", 5, 60), frame("<built-in method>", 10, 40)]
    alone = model_of([*library, launch(20, 1), kernel(100, 7, 1)])
    assert owned(alone) == [("frame", "torch/cuda/__init__.py(9): synchronize")]


def test_a_step_is_better_than_nothing() -> None:
    model = model_of([annotation("ProfilerStep#12", 0, 90), launch(20, 1), kernel(100, 7, 1)])
    assert owned(model) == [("annotation", "ProfilerStep#…")]


def test_a_thread_owns_what_nothing_ran_around() -> None:
    model = model_of([op("aten::mm", 0, 10), launch(20, 1, tid=4), kernel(100, 7, 1)])
    assert owned(model) == [("thread", "cudaLaunchKernel on thread 4")]


# graphs -----------------------------------------------------------------------------------------------------


def captured(start: float, kernels: list[tuple[str, str | None]], tid: int = 1) -> list[Event]:
    """A capture of kernels: (operator, name of the kernel, None as CUDA has it)."""
    events = [{**call("cudaStreamBeginCapture", start), "dur": 1}]
    for i, (operator, name) in enumerate(kernels):
        at = start + 10 * (i + 1)
        which = {} if name is None else {"kernel": name}
        events += [op(operator, at, 8), {**call("cudaLaunchKernel", at + 1, 9000 + i, **which), "dur": 3}]
        events += [event("cuda_driver", "cuLaunchKernelEx", at + 2, 1, correlation=9000 + i)]
    return [*events, {**call("cudaStreamEndCapture", start + 10 * (len(kernels) + 1)), "dur": 1}]


def replayed(at: float, correlation: int, names: list[str], **args: Any) -> list[Event]:
    nodes = [kernel(at + 50 + 10 * i, 10, correlation, name, **args) for i, name in enumerate(names)]
    return [call("cudaGraphLaunch", at, correlation), *nodes]


THREE = [("aten::mm", None), ("aten::add", None), ("aten::relu", None)]


def test_nodes_of_a_graph_belong_to_what_captured_them() -> None:
    events = [
        *captured(0, THREE),
        *replayed(100, 1, ["gemm", "add", "relu"]),
        *replayed(300, 2, ["gemm", "add", "relu"]),
    ]
    model = model_of([*events, annotation("execute", 90, 500)])
    expected = [("graph_node", f"graph replay of {name}") for name, _ in THREE]
    assert owned(model) == expected * 2
    assert evidence(model) == ["cudaLaunchKernel"] * 6
    # operators' own times are of what they launched
    assert operators(model).device_self_ns.tolist() == [0, 0, 0]
    assert {row.owner: row.calls for row in unattributed(model)} == dict.fromkeys([text for _, text in expected], 2)


def test_a_capture_of_another_length_or_kind_is_refused() -> None:
    for names in (["gemm", "add"], ["gemm", "add", "relu", "more"]):
        model = model_of([*captured(0, THREE), *replayed(100, 1, names)])
        assert {how for how, _ in owned(model)} == {"thread"}
        assert {text for _, text in owned(model)} == {"cudaGraphLaunch on thread 1"}
    copies = [call("cudaGraphLaunch", 100, 1), *(copy(150 + 10 * i, 10, 1) for i in range(3))]
    assert {how for how, _ in owned(model_of([*captured(0, THREE), *copies]))} == {"thread"}


def test_without_names_the_order_of_several_streams_is_not_known() -> None:
    nodes = [kernel(150, 10, 1, "gemm"), kernel(155, 10, 1, "add", stream=9), kernel(170, 10, 1, "relu")]
    events = [*captured(0, THREE), call("cudaGraphLaunch", 100, 1)]
    assert {how for how, _ in owned(model_of([*events, *nodes]))} == {"thread"}
    numbered = [{**node, "args": {**node["args"], "graph node id": 30 - i}} for i, node in enumerate(nodes)]
    assert [text for _, text in owned(model_of([*events, *numbered]))] == [
        "graph replay of aten::relu",
        "graph replay of aten::add",
        "graph replay of aten::mm",
    ]


def test_of_several_captures_that_fit_only_what_they_agree_on_is_said() -> None:
    other = [("aten::mm", None), ("aten::mul", None), ("aten::relu", None)]
    model = model_of([*captured(0, THREE), *captured(50, other), *replayed(100, 1, ["gemm", "x", "relu"])])
    assert [text for _, text in owned(model)] == [
        "graph replay of aten::mm",
        "cudaGraphLaunch on thread 1",
        "graph replay of aten::relu",
    ]


PIECES = [[("embed", None)], *[[("aten::mm", None), ("aten::relu", None)] for _ in range(4)], [("aten::mm", None)]]
STEPS = [1000, 2000, 3000]


def pieces(scope: float, name: str = "capture_8") -> list[Event]:
    """A scope that captures the pieces of a model one after the other."""
    graphs = [each for i, piece in enumerate(PIECES) for each in captured(scope + 100 * i + 1, piece)]
    return [annotation(name, scope, 100 * len(PIECES)), *graphs]


def step_of_pieces(at: float, correlation: int, replays: int = len(PIECES)) -> list[Event]:
    """A step that replays the pieces; `replays` are as many of the last ones."""
    left = list(enumerate(PIECES))[len(PIECES) - replays :]
    graphs = [replayed(at + 100 * i + 1, correlation + i, ["k"] * len(piece)) for i, piece in left]
    return [annotation(f"execute_{at}", at, 100 * len(PIECES)), *(each for graph in graphs for each in graph)]


def captured_calls_of(model: Model) -> list[int]:
    """The calls that captured the nodes, by their place among the calls of captures; -1 for none of them."""
    calls = [row for row in model.trace.launches.row.tolist() if row_name(model, row) == "cudaLaunchKernel"]
    return [calls.index(row) if row in calls else -1 for row in model.owners.evidence.tolist()]


def row_name(model: Model, row: int) -> str:
    return str(model.trace.strings[model.trace.events.name[row]])


def test_pieces_with_equal_sequences_belong_to_the_captures_at_their_places() -> None:
    steps = [each for i, at in enumerate(STEPS) for each in step_of_pieces(at, 100 * (i + 1))]
    model = model_of([*pieces(0), *steps])
    nodes = sum(map(len, PIECES))
    assert captured_calls_of(model) == [*range(nodes)] * len(STEPS)


def test_of_a_step_that_replays_other_pieces_only_the_names_of_owners_are_known() -> None:
    # the recording began within the first step; the second one is whole
    model = model_of([*pieces(0), *step_of_pieces(1000, 100, replays=4), *step_of_pieces(2000, 200)])
    cut = len([node for piece in PIECES[-4:] for node in piece])
    assert captured_calls_of(model)[:cut] == [-1] * cut
    assert [text for _, text in owned(model)][:2] == ["graph replay of aten::mm", "graph replay of aten::relu"]
    assert captured_calls_of(model)[cut:] == [*range(sum(map(len, PIECES)))]


def test_of_two_scopes_with_equal_lists_no_call_is_said() -> None:
    model = model_of([*pieces(0), *pieces(1000, "capture_16"), *step_of_pieces(2000, 100)])
    assert set(captured_calls_of(model)) == {-1}
    assert {how for how, _ in owned(model)} == {"graph_node"}


def test_how_the_call_in_another_trace_is_known_is_said() -> None:
    gemm, other = ("aten::mm", "ampere_sgemm_128x64_nn"), ("aten::relu", "relu")
    once, twice = captured(0, [gemm, other]), captured(100, [gemm, other])
    replay = model_of(replayed(1000, 1, [gemm[1], other[1]]))
    exact, ambiguous = graph_owners(replay, model_of(once)), graph_owners(replay, model_of([*once, *twice]))
    assert (set(exact.match.tolist()), set(ambiguous.match.tolist())) == (
        {CaptureMatch.EXACT},
        {CaptureMatch.AMBIGUOUS},
    )
    assert exact.names() == ambiguous.names() == ["aten::mm", "aten::relu"]
    assert (min(exact.call) >= 0, ambiguous.call.tolist()) == (True, [-1, -1])


def test_with_names_the_capture_that_has_them_is_taken_though_one_call_is_missing() -> None:
    names = [f"kernel {i % 7} {i}" for i in range(30)]
    whole = [(f"op {name}", name) for name in names]
    other = [(f"other {name}", f"other {name}") for name in names]
    events = [*captured(0, [*whole[:11], *whole[12:]]), *captured(1000, other), *replayed(2000, 1, names)]
    texts = [text for _, text in owned(model_of(events))]
    assert texts == [
        f"graph replay of op {name}" if i != 11 else "cudaGraphLaunch on thread 1" for i, name in enumerate(names)
    ]


def test_a_replay_inside_an_operator_is_the_operators() -> None:
    events = [*captured(0, THREE), op("CompiledFunction", 95, 50), *replayed(100, 1, ["gemm", "add", "relu"])]
    assert owned(model_of(events)) == [("operator", "CompiledFunction")] * 3


def test_a_replay_without_its_capture_is_named_by_what_is_around_it() -> None:
    model = model_of([annotation("execute_0", 90, 50), *replayed(100, 1, ["gemm", "add"])])
    assert owned(model) == [("annotation", "graph replay in execute_0")] * 2


def test_a_capture_of_another_trace_names_the_nodes() -> None:
    names = ["ampere_sgemm_128x64_nn", "add", "relu"]
    replay = model_of([*replayed(100, 1, ["unrelated", *names][1:]), launch(500, 7), kernel(600, 5, 7)])
    capture = model_of(captured(0, THREE))
    found = graph_owners(replay, capture)
    assert found.names() == ["aten::mm", "aten::add", "aten::relu"]
    assert found.how.tolist() == [OwnerKind.OPERATOR] * 3
    assert [replay.trace.strings[replay.trace.events.name[replay.device_work.row[i]]] for i in found.work] == names
    assert [capture.trace.strings[capture.trace.events.name[row]] for row in found.call] == ["cudaLaunchKernel"] * 3
    assert found.nodes == 3
    assert len(graph_owners(capture, replay)) == len(graph_owners(replay, replay)) == 0


@pytest.mark.parametrize(
    "names",
    [
        ["rms_norm_kernel", "add", "relu"],  # the operator multiplies
        ["k1", "k2", "k3"],  # no name tells anything
    ],
)
def test_a_capture_of_another_trace_is_refused_if_only_the_number_of_its_nodes_fits(names: list[str]) -> None:
    assert len(graph_owners(model_of(replayed(100, 1, names)), model_of(captured(0, THREE)))) == 0


# before the recording ---------------------------------------------------------------------------------------


def loop(steps: float, kernels: int = 20, lost: int = 0, recorded: int | None = None) -> list[Event]:
    """Steps of `kernels` different operators; the launches of the first `lost` pieces of work are not recorded."""
    events: list[Event] = []
    for i in range(int(steps * kernels)):
        which = i % kernels
        if i >= lost:
            events += [op(f"aten::op{which}", 20 * i, 10), launch(20 * i + 2, i + 1)]
        events.append(kernel(20 * i + 500, 15, i + 1, f"kernel {which % 5}", grid=[which % 9, 1, 1]))
    return events


def test_work_from_before_the_recording_belongs_to_what_owns_its_like() -> None:
    model = model_of(loop(3, lost=13))
    found = owned(model)
    assert found[:13] == [("inferred", f"inferred: aten::op{i}") for i in range(13)]
    assert {how for how, _ in found[13:]} == {"operator"}
    shares = owner_shares(model)
    assert shares is not None
    assert (shares.linked, shares.inferred, shares.unowned) == pytest.approx((47 / 60, 13 / 60, 0))
    # not in the operators' times: rows of its own
    table = operators(model)
    assert int(table.device_self_ns.sum()) == 47 * 15_000
    assert table.unattributed_device_ns == sum(row.device_ns for row in unattributed(model)) == 13 * 15_000
    assert {row.how for row in unattributed(model)} == {"inferred"}
    # its evidence is the same work, one step later
    assert model.owners.evidence[:13].tolist() == model.device_work.row[20:33].tolist()


def test_more_than_a_step_from_before_the_recording() -> None:
    model = model_of(loop(4, lost=47))
    assert owned(model)[:47] == [("inferred", f"inferred: aten::op{i % 20}") for i in range(47)]


def test_work_that_nothing_is_like_has_a_reason() -> None:
    setup = [kernel(10 + 20 * i, 15, 1000 + i, f"setup {i}") for i in range(5)]
    model = model_of([*setup, *loop(3, lost=13)])
    found = owned(model)
    assert found[:5] == [("none", "launched before the recording")] * 5
    assert {how for how, _ in found[5:18]} == {"inferred"}
    assert (
        model.owners.reason[np.flatnonzero(model.owners.how == OwnerKind.NONE)].tolist()
        == [MissingOwner.BEFORE_RECORDING] * 5
    )


def test_a_few_equal_kernels_are_no_likeness() -> None:
    events = [kernel(10, 15, 99, "add"), op("aten::add", 0, 8), launch(5, 1), kernel(30, 15, 1, "add")]
    assert owned(model_of(events)) == [("none", "launched before the recording"), ("operator", "aten::add")]


def test_likes_with_different_owners_say_nothing() -> None:
    same: list[Event] = [kernel(500 + 20 * i, 15, i + 1, "add") for i in range(60)]
    hosts = [each for i in range(20, 60) for each in (op(f"op{i % 2}", 20 * i, 10), launch(20 * i + 2, i + 1))]
    assert owned(model_of([*same, *hosts]))[:20] == [("none", "launched before the recording")] * 20


# why there is none ------------------------------------------------------------------------------------------


def test_reasons() -> None:
    assert owned(model_of([op("aten::mm", 0, 10), kernel(100, 7, 1)])) == [("none", "host activity was not recorded")]
    some = [op("aten::mm", 0, 10), launch(2, 1)]
    assert owned(model_of([*some, kernel(20, 5, 1), kernel(30, 5, 9), kernel(40, 5, 0)])) == [
        ("operator", "aten::mm"),
        ("none", "its launch was lost"),
        ("none", "recorded without a correlation"),
    ]
    # of another stream nothing is known
    assert owned(model_of([*some, kernel(20, 5, 1), kernel(30, 5, 9, stream=8)]))[1][1] == (
        "launched before the recording"
    )


def test_shares_of_a_trace_without_device_time_are_not_known() -> None:
    assert owner_shares(model_of([op("aten::mm", 0, 10)])) is None


def test_shares_add_up() -> None:
    shares = owner_shares(
        model_of([*loop(3, lost=13), kernel(9000, 40, 0), launch(8000, 77, tid=9), kernel(9100, 3, 77)])
    )
    assert shares is not None
    assert shares.linked + shares.named_only + shares.inferred + shares.unowned == pytest.approx(1)
    assert 0 < shares.named_only == shares.by_how["thread"]
    assert shares.linked == shares.by_how["operator"]
    assert sum(shares.by_how.values()) == pytest.approx(1)
    assert set(shares.by_how) == {"operator", "thread", "inferred", "none"}
    assert shares.by_reason == {"no_correlation": pytest.approx(shares.unowned)}


def test_nodes_of_graphs_are_linked_if_an_operator_captured_them() -> None:
    alone = owner_shares(model_of([annotation("execute", 90, 200), *replayed(100, 1, ["gemm", "add", "relu"])]))
    assert alone is not None
    assert (alone.linked, alone.named_only, alone.captured) == (0, 1, 0)
    joined = owner_shares(model_of([*captured(0, THREE), *replayed(100, 1, ["gemm", "add", "relu"])]))
    assert joined is not None
    assert (joined.linked, joined.named_only, joined.captured) == (1, 0, 1)


def test_a_choice_of_steps_does_not_change_owners() -> None:
    steps = [annotation("ProfilerStep#1", 0, 399), annotation("ProfilerStep#2", 400, 399)]
    model = model_of([*steps, *loop(2), *replayed(350, 900, ["a", "b"])])
    chosen = model.of_steps(StepRange("1", "1"))
    assert 0 < len(chosen.device_work) < len(model.device_work)
    whole = dict(zip(model.device_work.row.tolist(), model.owners.row.tolist(), strict=True))
    assert [whole[row] for row in chosen.device_work.row.tolist()] == chosen.owners.row.tolist()
    assert sum(row.device_ns for row in unattributed(chosen)) == operators(chosen).unattributed_device_ns
    assert {name.text for name in owner_names(chosen).names} <= {name.text for name in owner_names(model).names}


# the note ---------------------------------------------------------------------------------------------------


def test_the_remedy_for_work_without_a_launch_fits_what_was_recorded() -> None:
    def remedy(events: list[Event]) -> str:
        (note,) = [note for note in model_of(events).notes if note.kind == "no_launch"]
        return note.remedy or ""

    assert "torch.cuda.synchronize()" in remedy([op("aten::mm", 0, 10), launch(2, 1), kernel(20, 5, 9)])
    assert "ProfilerActivity.CPU" not in remedy([op("aten::mm", 0, 10), launch(2, 1), kernel(20, 5, 9)])
    assert "ProfilerActivity.CPU" in remedy([kernel(20, 5, 9)])
