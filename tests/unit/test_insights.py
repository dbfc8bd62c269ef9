"""Each rule: when it speaks, when it is silent, and what it says it is based on."""

from __future__ import annotations

import json
import sys
from io import BytesIO
from typing import Any

import msgspec
import pytest

from tests.events import Event, all_reduce, annotation, event, kernel, launch, model_of, op
from tests.recorded import model_of as recorded_model
from tests.recorded import sample_traces
from tests.tracegen import Config, generate
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.insights import Finding, diagnosis, findings
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rules import RULES
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.trace.schema import DeviceWork, Events, Launches, TraceTable

V100 = {"id": 0, "name": "V100", "computeMajor": 7, "computeMinor": 0, "totalGlobalMem": 1000}
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def found(events: list[Event], **header: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in findings(model_of(events, **header))}


def step(*events: Event, length: float = 100) -> list[Event]:
    return [annotation("ProfilerStep#1", 0, length), *events]


def memory(allocated: int, device_type: int = 1, device: int = 0) -> Event:
    args = {"Device Type": device_type, "Device Id": device, "Bytes": 1, "Addr": 1, "Total Allocated": allocated}
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": args}


def test_loading_behind_the_device_is_no_finding() -> None:
    """A fifth of the step, but nothing waits for it."""
    events = [
        annotation("ProfilerStep#1", 0, 60_000),
        op("aten::mm", 0, 10_000),
        launch(1, 1),
        kernel(6, 94_000, 1, "gemm"),
        annotation(LOADER, 20_000, 20_000),
    ]
    assert "synchronous_dataloader" not in found(events)


@pytest.mark.parametrize(("exposed", "says"), [(10, False), (11, True), (40, True)])
def test_communication(exposed: float, says: bool) -> None:
    finding = found(step(annotation("gloo:all_reduce", 10, exposed))).get("communication")
    assert (finding is not None) == says
    if finding:
        assert finding.saving is not None
        assert finding.saving.alone_ns is None, "one rank promises nothing"
        assert "other ranks" in (finding.saving.refused or "")
        assert all(link.url.startswith("https://") and "(" not in link.url for link in finding.links)


def large_all_reduce(start: float, duration: float, ranks: str = "[0, 1]", elements: int = 25_000_000) -> Event:
    """100 MB of floats between two ranks: 10 ms are 10 GB/s on each link."""
    return all_reduce(start, duration, elements=elements, **{"Process Group Ranks": ranks})


def test_a_bandwidth_that_no_link_has_is_waiting_or_a_broken_link() -> None:
    header: dict[str, Any] = {"deviceProperties": [V100, {**V100, "id": 1}]}
    finding = found(step(large_all_reduce(0, 38_000), length=100_000), **header)
    assert "communication" not in finding
    (slow,) = (finding["slow_communication"],)
    assert "2.6 GB/s" in slow.detail
    assert "less" not in slow.detail
    assert {e.key: e.value for e in slow.evidence} == {
        "exposed_communication_per_step": 38e6,
        "slow_operations": 1,
        "slow_share": 1,
    }
    # a speed that a link has; small operations; ranks of two nodes; a file that does not say how many devices there are
    assert "communication" in found(step(large_all_reduce(0, 12_000), length=100_000), **header)
    assert "communication" in found(step(large_all_reduce(0, 38_000, elements=100_000), length=100_000), **header)
    assert "communication" in found(step(large_all_reduce(0, 38_000, "[1, 2]"), length=100_000), **header)
    assert "communication" in found(step(large_all_reduce(0, 38_000), length=100_000))


def test_data_parallel_needs_two_devices() -> None:
    events = step(annotation("DataParallel.forward", 0, 50), kernel(0, 90, 1), kernel(0, 90, 2, device=1))
    assert "data_parallel" in found(events)
    assert "data_parallel" not in found(events[:-1])
    assert "data_parallel" not in found(step(*events[2:]))


def test_distributed_backend() -> None:
    events = step(annotation("DistributedDataParallel.forward", 0, 50), annotation("gloo:all_reduce", 60, 1))
    finding = found(events, deviceProperties=[V100])["distributed_backend"]
    assert "gloo" in finding.detail
    assert "distributed_backend" not in found(events)
    assert "distributed_backend" not in found(events, deviceProperties=[{**V100, "computeMajor": 3}])
    for nccl in (annotation("nccl:all_reduce", 70, 1), kernel(70, 1, 1, "ncclDevKernel_AllReduce")):
        assert "distributed_backend" not in found([*events, nccl], deviceProperties=[V100])
    assert "distributed_backend" not in found(
        events, deviceProperties=[V100], distributedInfo={"backend": "nccl", "rank": 0}
    )


def idle_device(length: float) -> list[Event]:
    """A kernel, launched by the first of two operators that fill the step."""
    return step(op("aten::a", 0, 50), launch(1, 1), op("aten::b", 50, 50), kernel(6, length, 1, "gemm"))


def test_device_idle() -> None:
    finding = found(idle_device(40))["device_idle"]
    assert finding.detail.startswith("GPU 0 is idle 60 %")
    assert [(e.key, e.gpu, e.value) for e in finding.evidence] == [("busy", 0, 0.4), ("computing", 0, 0.4)]
    assert finding.saving is not None
    assert finding.saving.after_others_ns == pytest.approx(47_500), "the operators, not the call"
    assert "device_idle" not in found(idle_device(90))
    unknown = found(step(kernel(60, 40, 1)))["device_idle"]
    assert unknown.title == "The device is idle, and the trace does not show why"
    assert "ProfilerActivity.CPU" in unknown.advice
    assert unknown.saving is not None
    assert unknown.saving.refused is not None


def test_a_device_that_idles_while_graphs_are_captured() -> None:
    begin, end = ({**launch(at, number), "name": name} for at, number, name in _CAPTURE)
    capture = [op("aten::b", 15, 80), begin, *(launch(20 + at, 10 + at) for at in range(50)), end]
    finding = found(step(op("aten::a", 0, 10), launch(1, 1), kernel(4, 6, 1, "gemm"), *capture))["device_idle"]
    assert finding.title == "Graphs are captured in the recorded steps"
    assert "graphs are captured" in finding.detail
    assert finding.advice.startswith("Record what comes after that")
    assert (finding.saving, finding.severity) == (None, "high")
    assert "torch.compile" not in finding.advice


_CAPTURE = ((16, 8, "cudaStreamBeginCapture"), (94, 9, "cudaStreamEndCapture_v10000"))


def test_compiled_code_is_not_advised_to_be_compiled() -> None:
    inside = annotation("## Call CompiledFxGraph abc ##", 0, 100)
    finding = found([*idle_device(40), inside])["device_idle"]
    assert "torch.compile" not in finding.advice.replace('torch.compile(model, mode="reduce-overhead")', "")
    assert finding.links == ()


def test_what_is_more_specific_replaces_an_idle_device() -> None:
    work = op("aten::a", 60_000, 6_000), launch(61_000, 1), kernel(66_000, 34_000, 1, "gemm")
    events = [annotation("ProfilerStep#1", 0, 66_000), annotation(LOADER, 0, 60_000), *work]
    assert list(found(events)) == ["synchronous_dataloader"]


def test_tensor_cores_in_a_graph() -> None:
    """No operator launches the kernels of a graph: a quarter of the time in products read as 3 %."""
    graph = op("CompiledFunctionBackward", 0, 20)
    products = [kernel(50, 25, 1, "volta_sgemm_128x64_nn"), kernel(80, 10, 77, "cudnn_volta_scudnn_128x64_relu_nn_v1")]
    others = [kernel(100, 62, 1, "triton_poi_fused_add_0"), launch(25, 2), kernel(170, 3, 2, "volta_sgemm_64x64_nn")]
    finding = found(step(graph, launch(5, 1), *products, *others), deviceProperties=[V100])["tensor_cores"]
    assert finding.values["share"] == 0.38
    assert [evidence.value for evidence in finding.evidence] == [38_000, 0.38, 1.0]


def test_tensor_cores_says_nothing_about_what_is_not_known() -> None:
    """The old plugin advised mixed precision on every H100 and every AMD GPU."""
    for name in ("nvjet_hsh_256x128", "triton_tem_fused_mm", "my_gemm"):
        events = step(op("aten::mm", 0, 20), launch(5, 1), kernel(50, 30, 1, name))
        assert "tensor_cores" not in found(events, deviceProperties=[V100])


def test_memory_limit() -> None:
    assert "memory_limit" not in found(step(memory(900)), deviceProperties=[V100])
    finding = found(step(memory(901)), deviceProperties=[V100])["memory_limit"]
    assert [e.value for e in finding.evidence] == [901, 1000, 1]
    assert "memory_limit" not in found(step(memory(901)))
    assert "memory_limit" not in found(step(memory(901, device=1)), deviceProperties=[V100])


def test_memory_of_the_host_is_not_memory_of_a_device() -> None:
    """The old plugin took it for the last GPU's and warned about "GPU-1"."""
    assert "memory_limit" not in found(step(memory(10**6, device_type=0, device=-1)), deviceProperties=[V100])


def test_findings_stand_by_what_they_save_or_take_then_warnings() -> None:
    events = step(
        annotation(LOADER, 0, 20_500),
        annotation("nccl:all_reduce", 30_000, 25_000),
        op("aten::a", 55_000, 5_000),
        launch(56_000, 1, 2_000),
        kernel(60_000, 1_000, 1),
        *(op("aten::b", 61_100 + 400 * at, 400) for at in range(97)),
        memory(901),
        length=100_000,
    )
    told = findings(model_of(events, deviceProperties=[V100]))
    assert [(each.id, each.saving and each.saving.after_others_ns) for each in told] == [
        ("communication", None),
        ("synchronous_dataloader", 20_000_000),
        ("device_idle", 33_450_000),
        ("memory_limit", None),
    ]
    assert told[3].saving is None


def test_savings_add_up_to_what_all_save_together() -> None:
    events = [*step(annotation(LOADER, 0, 30)), op("aten::a", 30, 60), launch(31, 1), kernel(36, 1, 1)]
    found_here = diagnosis(model_of(events))
    assert found_here.together_ns == sum(
        each.saving.after_others_ns or 0 for each in found_here.findings if each.saving is not None
    )
    assert found_here.step_ns == 100_000


def test_what_was_not_recorded_is_not_evaluated() -> None:
    here = diagnosis(model_of(step(op("aten::a", 0, 50))))
    missing = {each.id: each.text for each in here.not_evaluated}
    assert missing["memory_limit"] == "needs profile_memory=True"
    assert "dataloader" in here.checked
    assert not {each.id for each in here.findings} & ({*here.checked} | {*missing})


def test_nothing_to_say() -> None:
    assert found([event("cpu_op", "a", 0, 0)]) == {}


def test_the_findings_of_chosen_steps_are_theirs() -> None:
    """The first step loads for 20 ms, the second for 40."""
    events = [
        annotation("ProfilerStep#1", 0, 100_000),
        annotation(LOADER, 10_000, 20_000),
        op("aten::a", 30_000, 70_000),
        annotation("ProfilerStep#2", 100_000, 100_000),
        annotation(LOADER, 110_000, 40_000),
        op("aten::a", 150_000, 50_000),
    ]
    model = model_of(events)
    for chosen, ns in ((None, 30e6), (StepRange("1", "1"), 20e6), (StepRange("2", "2"), 40e6)):
        (finding,) = findings(model.of_steps(chosen))
        assert finding.saving is not None
        assert finding.saving.alone_ns == pytest.approx(ns, rel=0.03)


def generated() -> Model:
    trace, _ = generate(Config(events=20_000))
    return Model(read_trace(BytesIO(json.dumps(trace).encode())))


def test_only_rules_of_the_replay_make_its_graph() -> None:
    """The others are applied before it is made, so that their memory and that of the graph are not needed together."""
    model = generated()
    made = set()
    for rule in RULES:
        if all(need.held(model) for need in rule.needs):
            model.answers.clear()
            rule.find(Facts(model, thresholds()))
            if (graph_of.__wrapped__,) in model.answers:  # type: ignore[attr-defined]
                made.add(rule.id)
    of_replay = {rule.id for rule in RULES if rule.replay}
    assert made <= of_replay
    assert {"launch_bound", "host_dispatch", "pageable_input"} <= made


def test_the_graph_is_made_when_the_other_columns_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    model = generated()
    held: list[set[type[TraceTable]]] = []

    def seen(of: Model) -> Graph:
        held.append(set(of.trace._tables))
        return graph_of(of)

    monkeypatch.setattr(sys.modules["torch_tb_profiler.insights.findings"], "graph_of", seen)
    diagnosis(model)
    assert len(held) == 1
    assert held[0] <= {Events, Launches, DeviceWork}


def test_what_is_kept_is_written_as_when_it_was_computed() -> None:
    """Which of the two a server gives is a matter of when it was asked."""
    (path, *_) = [path for path in sample_traces() if "h100" in str(path)]
    first, later = recorded_model(path), recorded_model(path)
    computed = diagnosis(first)
    content = diagnosis.content(first)
    later.kept = lambda name: content if name == diagnosis.name else None
    assert computed.findings
    assert msgspec.json.encode(diagnosis(later)) == msgspec.json.encode(computed)
