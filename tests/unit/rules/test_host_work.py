"""Rules about what the host does: launches, loading, calls, operators, garbage, loops, threads, zero_grad, overhead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, annotation, event, kernel, launch, model_of, op
from tests.host_programs import LINE, US, HostMachine, check_saving, healthy, kernels, planted
from tests.replay_programs import Instruction
from torch_tb_profiler.insights import Diagnosis, Finding, diagnosis


def found_in(events: list[Event], **header: Any) -> Diagnosis:
    return diagnosis(model_of(events, **header))


def only(found: Diagnosis, rule: str) -> Finding:
    (finding,) = (each for each in found.findings if each.id == rule)
    return finding


def test_small_kernels_one_by_one() -> None:
    found = planted([("frame", LINE, kernels(60, host=25, kernel=4))])
    finding = found.only("launch_bound")
    assert found.found.bound.kind == "launch"
    assert finding.saving is not None
    assert finding.saving.alone_ns is not None
    assert finding.saving.bound
    # one launch, and kernels with gaps of 1 µs
    step = found.found.step_ns
    assert step is not None
    assert step - finding.saving.alone_ns == pytest.approx(60 * (4 + 1) * US, rel=0.15)
    assert finding.values["how"] == "inference"
    assert not {"host_dispatch", "device_idle"} & found.ids


@pytest.mark.parametrize(
    "step",
    [
        kernels(60, host=25, kernel=80),  # the device is busy
        kernels(60, host=300, kernel=4),  # each operator takes long
        kernels(60, host=60, kernel=35),  # kernels are not short
        kernels(5, host=25, kernel=4),  # there are few
    ],
)
def test_what_is_not_bound_by_launches(step: list[Instruction]) -> None:
    found = planted(step)
    assert "launch_bound" not in found.ids
    assert found.found.bound.kind != "launch"


def test_operators_that_take_all_the_time() -> None:
    found = planted([("frame", LINE, kernels(120, host=150, kernel=40))])
    finding = found.only("host_dispatch")
    assert found.found.bound.kind == "host"
    assert "`aten::mm`" in finding.detail
    assert finding.saving is not None
    assert finding.saving.alone_ns is not None
    assert finding.saving.alone_ns == pytest.approx(120 * 75 * US, rel=0.05)
    assert "device_idle" not in found.ids
    assert "torch.compile" in finding.advice
    # few operators that take long are something else, and so are those that compute on the CPU
    on_cpu: list[Instruction] = [*kernels(120, host=15, kernel=40), ("operator", "aten::conv2d", 20_000 * US)]
    assert "host_dispatch" not in planted(on_cpu).ids
    assert "host_dispatch" not in planted(kernels(20, host=900, kernel=240)).ids


def test_compiled_programs_are_not_told_to_compile() -> None:
    step = kernels(120, host=150, kernel=40)
    found = planted([("node", "CompiledFunction", step)])
    assert found.only("host_dispatch").values["how"] == "compiled"


def test_launches_that_load_their_kernel() -> None:
    load = ("kernel", 10 * US, 30 * US, "conv", 3_000 * US)
    program: list[list[Instruction]] = [
        [*kernels(30), load],
        *[[*kernels(30), ("kernel", 10 * US, 30 * US, "conv")]] * 3,
    ]
    faulty, healthy_ = HostMachine().run(program), HostMachine(faulty=False).run(program)
    found = found_in(faulty.events)
    finding = only(found, "first_launches")
    assert finding.count == 1
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx((faulty.total_ns - healthy_.total_ns) / 4, rel=0.02)
    assert "first_launches" not in {each.id for each in found_in(healthy_.events).findings}
    # a launch that is slow later is not loading
    late = HostMachine().run([program[1], program[0]]).events
    assert "first_launches" not in {each.id for each in found_in(late).findings}


def launches_and_work(events: list[Event]) -> list[tuple[Event, Event]]:
    """Each launch with the kernel that it started."""
    work = {each["args"]["correlation"]: each for each in events if each["cat"] == "kernel"}
    return [(each, work[each["args"]["correlation"]]) for each in events if each["name"] == "cudaLaunchKernel"]


def test_a_launch_that_goes_on_after_its_kernel_has_begun_loads_it_too() -> None:
    load = ("kernel", 10 * US, 30 * US, "conv", 3_000 * US)
    events = HostMachine().run([[load, *kernels(30, host=20, kernel=5)]]).events
    (slow,) = [pair for pair in launches_and_work(events) if pair[0]["dur"] > 1000]
    slow[1]["ts"] = slow[0]["ts"] + 12
    finding = only(found_in(events), "first_launches")
    assert finding.values["longest_ns"] == pytest.approx((slow[0]["dur"] - slow[1]["dur"]) * 1000, rel=0.01)
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(3_000 * US, rel=0.05)


def test_a_launch_that_waits_for_its_kernel_loads_nothing() -> None:
    """As with CUDA_LAUNCH_BLOCKING: calls last until their kernels have ended, and the first of one runs long."""
    events = HostMachine().run([[("blocking", 10 * US, 3_000 * US), *kernels(30, host=20, kernel=5)]]).events
    launch, work = next(pair for pair in launches_and_work(events) if pair[1]["dur"] > 1000)
    assert launch["dur"] > work["dur"]
    work["name"] = "conv_kernel"
    assert "first_launches" not in {each.id for each in found_in(events).findings}


def test_a_graph_is_not_a_kernel_that_is_loaded() -> None:
    load = ("kernel", 10 * US, 30 * US, "conv", 3_000 * US)
    events = HostMachine().run([[*kernels(30), load]]).events
    for each in events:
        if each["name"] == "cudaLaunchKernel" and each["dur"] > 1000:
            each["name"] = "cudaGraphLaunch"
    assert "first_launches" not in {each.id for each in found_in(events).findings}


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("cudaEventQuery", "query"),
        ("cuModuleLoadData", "module"),
        ("cudaGraphInstantiate", "graph"),
        ("cudaGetDeviceProperties", "other"),
        ("cudaEventCreateWithFlags", "event"),
        ("hipPointerGetAttribute", "other"),
    ],
)
def test_other_calls_of_the_api(name: str, how: str) -> None:
    step: list[Instruction] = [("frame", LINE, [*kernels(30, 25, 10), ("host", "cuda_runtime", name, 2_000 * US)])]
    found = planted(step)
    finding = check_saving(found, "api_calls")
    assert (finding.values["call"], finding.values["how"]) == (name, how)
    assert finding.where is not None
    assert finding.where.line == 12
    assert "api_calls" not in healthy(step).ids


def test_the_first_call_sets_the_device_up() -> None:
    call: Instruction = ("host", "cuda_runtime", "cudaDeviceGetStreamPriorityRange", 2_000 * US)
    finding = planted([*kernels(30, 25, 10), call], steps=1).only("api_calls")
    assert finding.values["how"] == "setup"
    assert "warm-up" in finding.advice


@pytest.mark.parametrize(
    "name", ["cudaMalloc", "cudaHostAlloc", "cudaStreamSynchronize", "cudaMemsetAsync", "gif_merge"]
)
def test_calls_that_others_tell_of(name: str) -> None:
    step: list[Instruction] = [*kernels(30, 25, 10), ("host", "cuda_runtime", name, 2_000 * US)]
    assert "api_calls" not in planted(step).ids


def test_calls_that_hide_behind_the_device() -> None:
    step: list[Instruction] = [*kernels(30, 5, 400), ("host", "cuda_runtime", "cudaEventQuery", 2_000 * US)]
    found = planted(step)
    assert "api_calls" not in found.ids
    assert "api_calls" in found.found.checked


@pytest.mark.parametrize(("name", "how"), [("<built-in function collect>", "called"), ("Python GC", "automatic")])
def test_garbage_collection(name: str, how: str) -> None:
    step: list[Instruction] = [("frame", LINE, [*kernels(30, 25, 10), ("host", "python_function", name, 900 * US)])]
    found = planted(step)
    finding = check_saving(found, "garbage_collection")
    assert finding.values["how"] == how
    assert finding.count == 4
    assert "garbage_collection" not in healthy(step).ids


def test_what_collects_something_else() -> None:
    name = "<built-in method collect of Metrics object at 0x7f>"
    assert "garbage_collection" not in planted([("frame", LINE, [("host", "python_function", name, 900 * US)])]).ids
    without = found_in([annotation("ProfilerStep#1", 0, 100), op("aten::mm", 5, 20)])
    assert {each.id: each.needs for each in without.not_evaluated}["garbage_collection"] == "frames"


def test_a_loop_over_the_elements_of_a_tensor() -> None:
    body: list[Instruction] = [
        ("operator", "aten::select", 8 * US),
        ("kernel", 15 * US, 3 * US, "mul"),
        ("python", 5 * US),
    ]
    step: list[Instruction] = [("frame", LINE, [*kernels(10), ("rounds", 50, body), *kernels(10)])]
    found = planted(step)
    # the kernels of all rounds stay: how long one for all elements takes is not known
    finding = check_saving(found, "tensor_loop", within=0.2)
    assert finding.saving is not None
    assert finding.saving.alone_ns is not None
    assert finding.saving.alone_ns < found.truth_ns
    assert (finding.values["rounds"], finding.values["operators"]) == (49, 2)
    assert finding.count == 4
    assert finding.where is not None
    assert finding.where.line == 12
    assert "tensor_loop" not in healthy(step).ids


def test_what_is_no_loop_over_a_tensor() -> None:
    select, mul = ("operator", "aten::select", 8 * US), ("kernel", 15 * US, 3 * US, "mul")
    few: list[Instruction] = [("rounds", 9, [select, mul])]
    inside: list[Instruction] = [("node", "aten::lstm", [("rounds", 50, [select, mul])])]
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    loading: list[Instruction] = [("range", loader, [("rounds", 50, [select])]), *kernels(10)]
    other: list[Instruction] = [
        ("operator", "aten::select" if i % (3 + i // 6) == 0 else f"aten::other{i}", 8 * US) for i in range(90)
    ]
    # layers that take queries, keys and values apart
    layer: list[Instruction] = [select, select, select, *[mul] * 6]
    for step in (few, inside, loading, other, [("rounds", 24, layer)]):
        assert "tensor_loop" not in planted(step).ids


def selections(indexes: list[int], in_a_round: int = 1) -> list[Event]:
    events: list[Event] = [annotation("ProfilerStep#1", 0, 2_000)]
    for at, index in enumerate(indexes):
        given = {"Input Dims": [[64, 8], [], []], "Concrete Inputs": ["", "0", str(index)]}
        events.append(op("aten::select", 20 * at + 5, 8, **given))
        if at % in_a_round == in_a_round - 1:
            events.append(op("aten::mul", 20 * at + 14, 9, **{"Input Dims": [[8], [8]]}))
    return events


def test_the_index_tells_a_loop_from_layers() -> None:
    finding = only(found_in(selections(list(range(30)))), "tensor_loop")
    assert (finding.confidence, finding.values["rounds"]) == ("medium", 29)
    assert "tensor_loop" in found_in(selections([0] * 30)).checked
    both = [each for at in range(30) for each in (at, 0)]  # `x[i, 0]`
    assert only(found_in(selections(both, 2)), "tensor_loop").values["rounds"] == 29


def test_the_backward_of_a_loop_runs_as_often() -> None:
    events = selections(list(range(30)))
    events[0]["dur"] = 3_000
    for at in range(30):
        begin = 1_000 + 50 * at
        events.append(op("autograd::engine::evaluate_function: SelectBackward0", begin, 40))
        events.append(op("SelectBackward0", begin + 1, 38))
        arrow = {"name": "fwdbwd", "cat": "fwdbwd", "id": at, "pid": 1, "tid": 1}
        events += [{**arrow, "ph": "s", "ts": 20 * at + 5}, {**arrow, "ph": "f", "bp": "e", "ts": begin + 1}]
    finding = only(found_in(events), "tensor_loop")
    assert finding.saving is not None
    # of 29 rounds of 20 µs, and as many nodes of 40 µs, one is left
    assert finding.saving.alone_ns == pytest.approx((28 / 29) * 29 * (20 + 40) * US, rel=0.06)


def contended(factor: float) -> list[Event]:
    """Two threads that launch, now side by side and now alone."""
    events: list[Event] = [annotation("ProfilerStep#1", 0, 4_000)]
    number = 0
    for at in range(30):
        for thread in (1, 2):
            number += 2
            begin, length = 10.0 + 60 * at + thread, 5 * factor
            events += [launch(begin, number, length, thread), kernel(2_000 + number, 0.5, number)]
            alone = 2_000 + 60 * at + 20.0 * thread
            events += [launch(alone, number + 1, 5, thread), kernel(alone + 10, 0.5, number + 1)]
    return events


def test_threads_that_hold_each_other_up() -> None:
    finding = only(found_in(contended(8)), "thread_contention")
    assert finding.values["threads"] == 2
    assert (finding.values["beside_us"], finding.values["alone_us"]) == (40, 5)
    assert finding.saving is not None
    assert finding.saving.alone_ns is not None
    assert "thread_contention" not in {each.id for each in found_in(contended(2)).findings}


def test_gradients_that_are_filled_with_zeros() -> None:
    fills: list[Instruction] = [("kernel", 12 * US, 2 * US, "zero_")] * 40
    step: list[Instruction] = [("range", "Optimizer.zero_grad#SGD.zero_grad", [("fault", fills)]), *kernels(20, 40, 10)]
    found = planted(step)
    finding = check_saving(found, "zero_grad", within=0.1)
    assert "set_to_none=True" in finding.advice
    assert finding.count == 160
    assert "zero_grad" not in healthy(step).ids
    assert "zero_grad" not in planted([*fills, *kernels(20, 40, 10)]).ids
    called = "torch/nn/modules/module.py(2900): zero_grad"
    assert "zero_grad" in planted([("frame", called, [("fault", fills)]), *kernels(20, 40, 10)]).ids


def test_what_the_profiler_costs() -> None:
    step = [annotation("ProfilerStep#1", 0, 1000), op("aten::mm", 5, 20), launch(10, 1), kernel(30, 5, 1)]
    flush = event("overhead", "Buffer Flush", 400, 40, tid=9)
    found = found_in([*step, flush, event("overhead", "Buffer Flush", 420, 20, tid=8)])
    finding = only(found, "profiler_overhead")
    assert finding.saving is None
    assert {each.key: each.value for each in finding.evidence}["profiler_per_step"] == 40 * US
    assert finding.severity == "low"
    assert only(found_in([*step, {**flush, "dur": 200}]), "profiler_overhead").severity == "medium"
    little = found_in([*step, {**flush, "dur": 20}])
    assert "profiler_overhead" in little.checked
    loading = found_in([*step, {**flush, "name": "Lazy Function Loading"}])
    assert "profiler_overhead" in loading.checked
    without = {each.id: each.needs for each in found_in(step).not_evaluated}
    assert without["profiler_overhead"] == "overhead"


def test_a_healthy_program() -> None:
    found = planted([("frame", LINE, [*kernels(60, 8, 60)])])
    assert found.ids == set()
