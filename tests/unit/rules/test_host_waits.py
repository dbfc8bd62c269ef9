"""Rules about calls that wait for the device: sync_points, logging_reads, dynamic_shapes, launch_blocking, anomaly."""

from __future__ import annotations

import pytest

from tests.events import annotation, kernel, launch, model_of, op
from tests.host_programs import LINE, US, HostMachine, Planted, check_saving, healthy, kernels, planted
from tests.replay_programs import Instruction
from torch_tb_profiler.insights import diagnosis

ITEM = ("aten::item", "aten::_local_scalar_dense")


def step_with(*inner: Instruction, line: str = LINE) -> list[Instruction]:
    """The host is ahead of the device, waits in the middle, and then the device waits for it."""
    return [("frame", line, [*kernels(40), *inner, ("python", 400 * US), *kernels(40)])]


def test_a_value_that_is_read_in_each_step() -> None:
    found = planted(step_with(("read", ITEM)))
    finding = check_saving(found, "sync_points")
    assert finding.where is not None
    assert (finding.where.file, finding.where.line, finding.where.operator) == ("train.py", 12, ITEM[1])
    assert finding.values["what"] == "aten::item"
    assert finding.values["how"] == "value_inference"
    assert "item" in finding.title
    assert len(finding.instances) == finding.count == 4
    evidence = {each.key: each.value for each in finding.evidence}
    assert evidence["waits_per_step"] == 1  # the copy, and the wait after it
    assert not {"sync_points", "dynamic_shapes", "logging_reads"} & healthy(step_with(("read", ITEM))).ids


def test_a_token_that_ends_the_step_of_a_server_is_read_because_it_is_needed() -> None:
    """The next step begins with it. A batch that is copied to the device does not depend on what was read before."""
    token: list[Instruction] = [("frame", LINE, [*kernels(40), ("read", ITEM), ("python", 400 * US)])]
    assert "sync_points" not in planted(token).ids
    assert "sync_points" in planted([("copy_in", 2**20, False), *token]).ids
    twice: list[Instruction] = [("frame", LINE, [*kernels(40), ("read", ITEM), ("read", ITEM), ("python", 400 * US)])]
    assert "sync_points" in planted(twice).ids


def test_training_is_told_to_read_every_few_steps() -> None:
    node = "autograd::engine::evaluate_function: MmBackward0"
    step = step_with(("read", ITEM), ("backward", [("node", node, kernels(5))]))
    assert planted(step).only("sync_points").values["how"] == "value"


def test_each_line_is_told_by_itself() -> None:
    step: list[Instruction] = [
        ("frame", "train.py(20): forward", [*kernels(40), ("read", ITEM), ("python", 200 * US)]),
        ("frame", "train.py(30): check", [*kernels(40), ("sync", 3 * US), ("python", 300 * US), *kernels(10)]),
    ]
    found = [each for each in planted(step).found.findings if each.id == "sync_points"]
    assert {each.where.line for each in found if each.where is not None} == {20, 30}
    assert [each.key for each in found] == ["sync_points", "sync_points-2"]
    assert {each.values["how"] for each in found} == {"device", "value_inference"}


def test_a_wait_whose_removal_saves_nothing_is_silent() -> None:
    # the step ends when the device is done, whether or not the host waits for that
    found = planted([*kernels(60, host=2, kernel=100), ("sync", 3 * US)], steps=1)
    assert "sync_points" not in found.ids
    assert "sync_points" in found.found.checked


def test_a_wait_in_one_of_many_steps_is_no_habit() -> None:
    usual, once = step_with(), step_with(("read", ITEM))
    model = model_of(HostMachine().run([usual, usual, usual, once, usual]).events)
    assert "sync_points" not in {each.id for each in diagnosis(model).findings}


def test_copies_of_pageable_memory_to_the_device_are_told_by_another_rule() -> None:
    found = planted(step_with(("read", ("aten::to", "aten::copy_"))))
    assert found.only("sync_points").values["how"] == "copy_back"
    for event in (events := HostMachine().run([step_with(("read", ("aten::to", "aten::copy_")))] * 4).events):
        event["name"] = event["name"].replace("DtoH (Device -> Pageable)", "HtoD (Pageable -> Device)")
    assert "sync_points" not in {each.id for each in diagnosis(model_of(events)).findings}


def test_large_copies_back_are_told_by_another_rule() -> None:
    large = planted(step_with(("read", ("aten::to", "aten::copy_"), 2**21))).ids
    assert {"sync_points", "pageable_output"} & large == {"pageable_output"}
    small = planted(step_with(("read", ("aten::to", "aten::copy_"), 2**10)))
    assert {"sync_points", "pageable_output"} & small.ids == {"sync_points"}
    assert small.only("sync_points").values["how"] == "copy_back"


def test_an_engine_without_operators() -> None:
    events = [
        each
        for each in HostMachine().run([step_with(("read", ITEM))] * 4).events
        if each["cat"] in ("kernel", "gpu_memcpy", "cuda_runtime", "user_annotation")
    ]
    for event in events:
        event["name"] = event["name"].replace("cudaMemcpyAsync", "cudaMemcpy")
    events = [each for each in events if each["name"] != "cudaStreamSynchronize"]
    (finding,) = (each for each in diagnosis(model_of(events)).findings if each.id == "sync_points")
    assert (finding.values["what"], finding.values["how"]) == ("cudaMemcpy", "runtime")
    assert finding.where is None or finding.where.line is None


@pytest.mark.parametrize(
    "frame",
    ["/site-packages/wandb/sdk/run.py(9): log", "<built-in function print>", "train.py(8): log_metrics",
     "torch/_tensor.py(90): __format__"],
)  # fmt: skip
def test_values_that_are_logged(frame: str) -> None:
    found = planted(step_with(("frame", frame, [("read", ITEM)])))
    finding = check_saving(found, "logging_reads")
    assert "sync_points" not in found.ids
    assert finding.where is not None
    assert finding.where.file == "train.py"


@pytest.mark.parametrize("frame", ["model.py(8): log_softmax", "model.py(8): login", "model.py(8): log_prob"])
def test_what_is_no_logging(frame: str) -> None:
    found = planted(step_with(("frame", frame, [("read", ITEM)])))
    assert "logging_reads" not in found.ids
    assert "sync_points" in found.ids


def test_without_frames_nobody_is_said_to_log() -> None:
    found = planted([*kernels(40), ("read", ITEM), ("python", 400 * US), *kernels(40)])
    assert {"logging_reads": "frames"}.items() <= {each.id: each.needs for each in found.found.not_evaluated}.items()
    assert found.only("sync_points").where is not None


@pytest.mark.parametrize(
    ("names", "operator", "how"),
    [
        (("aten::index", "aten::nonzero"), "aten::index", "mask"),
        (("aten::nonzero",), "aten::nonzero", "nonzero"),
        (("aten::index_put_", "aten::_index_put_impl_", "aten::nonzero"), "aten::index_put_", "assign"),
        (("aten::repeat_interleave", "aten::item", "aten::_local_scalar_dense"), "aten::repeat_interleave", "repeat"),
        (("aten::_unique2",), "aten::_unique2", "unique"),
    ],
)
def test_results_whose_size_only_the_device_knows(names: tuple[str, ...], operator: str, how: str) -> None:
    found = planted(step_with(("read", names)))
    finding = check_saving(found, "dynamic_shapes")
    assert (finding.values["operator"], finding.values["how"]) == (operator, how)
    assert "sync_points" not in found.ids
    assert finding.where is not None
    assert finding.where.line == 12


def test_indexing_without_a_mask_has_a_known_size() -> None:
    found = planted(step_with(("read", ("aten::index", "aten::to", "aten::copy_"))))
    assert "dynamic_shapes" not in found.ids


def blocking(times: int = 40) -> Planted:
    return planted([("blocking", 20 * US, 60 * US)] * times)


def test_launches_that_wait() -> None:
    found = blocking()
    finding = check_saving(found, "launch_blocking")
    assert "CUDA_LAUNCH_BLOCKING" in finding.advice
    assert finding.count == 160
    assert "launch_blocking" not in healthy([("blocking", 20 * US, 60 * US)] * 40).ids


def test_launches_each_followed_by_a_wait() -> None:
    step: list[Instruction] = [*kernels(1, 20, 60), ("sync", 2 * US)] * 40
    events = HostMachine().run([step] * 3).events
    found = diagnosis(model_of(events))
    (finding,) = (each for each in found.findings if each.id == "launch_blocking")
    # the waits are what it is made of: not told again
    assert "sync_points" not in {each.id for each in found.findings}
    assert finding.saving is not None
    assert finding.saving.alone_ns is not None
    without = HostMachine(world=HostMachine().world.__class__(syncs=False)).run([step] * 3).total_ns
    saved = 3 * finding.saving.alone_ns
    truth = HostMachine().run([step] * 3).total_ns - without
    assert abs(saved - truth) <= 0.03 * truth


def test_kernels_too_short_to_tell() -> None:
    assert "launch_blocking" not in planted([("blocking", 20 * US, 5 * US)] * 40).ids


def anomaly_step(check: bool = True) -> list[Instruction]:
    node: list[Instruction] = [("kernel", 10 * US, 30 * US)]
    if check:
        names = ("aten::item", "aten::_local_scalar_dense")
        node.append(("fault", [("kernel", 8 * US, 5 * US, "isnan"), ("kernel", 8 * US, 5 * US, "_is_any_true")]))
        node.append(("fault", [("read", names)]))
    return [
        *kernels(20),
        ("backward", [("node", f"autograd::engine::evaluate_function: MmBackward{i}", node) for i in range(12)]),
    ]


def test_anomaly_detection() -> None:
    found = planted(anomaly_step())
    # without the kernels of the checks the replay leaves the gaps between them
    finding = check_saving(found, "anomaly_mode", within=0.1)
    assert finding.count == 4 * 12 * 3
    assert "sync_points" not in found.ids
    assert "anomaly_mode" not in healthy(anomaly_step()).ids


def test_rules_that_need_a_device() -> None:
    found = diagnosis(model_of([annotation("ProfilerStep#1", 0, 100), op("aten::item", 5, 20)]))
    needs = {each.id: each.needs for each in found.not_evaluated}
    assert needs["sync_points"] == needs["dynamic_shapes"] == needs["launch_blocking"] == "device"
    events = [annotation("ProfilerStep#1", 0, 100), launch(5, 1), kernel(12, 5, 1)]
    assert "sync_points" in diagnosis(model_of(events)).checked


def test_many_lines_that_wait_a_little_are_told_together() -> None:
    def part(line: int, ahead: int) -> Instruction:
        return ("frame", f"train.py({line}): part", [*kernels(ahead), ("read", ITEM), ("python", 100 * US)])

    found = [
        each
        for each in planted([part(90, 60), *(part(line, 12) for line in range(9))]).found.findings
        if each.id == "sync_points"
    ]
    assert sorted(each.count for each in found) == [4, 36]


def test_what_the_gradient_scaler_reads() -> None:
    found = planted(step_with(("frame", "torch/amp/grad_scaler.py(351): _maybe_opt_step", [("read", ITEM)])))
    finding = found.only("sync_points")
    assert finding.values["how"] == "grad_scaler"
    assert finding.where is not None
    assert finding.where.line == 12


def test_barriers_are_told_by_another_rule() -> None:
    assert "sync_points" not in planted(step_with(("node", "c10d::barrier", [("sync", 3 * US)]))).ids


def test_hooks_that_check_gradients_are_no_anomaly_detection() -> None:
    check: list[Instruction] = [("kernel", 8 * US, 5 * US, "isnan"), ("read", ITEM)]
    nodes: list[Instruction] = []
    for i in range(12):
        nodes.append(("node", f"autograd::engine::evaluate_function: MmBackward{i}", kernels(1)))
        nodes.append(("node", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", check))
    assert "anomaly_mode" not in planted([*kernels(20), ("backward", nodes)]).ids
