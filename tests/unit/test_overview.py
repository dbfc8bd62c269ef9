"""The step-time breakdown: the old plugin's known answers, and what it got wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import (
    Event,
    annotation,
    copy,
    frame,
    kernel,
    launch,
    model_of,
    op,
    partly_hidden_all_reduce,
    step_of_every_category,
)
from torch_tb_profiler.analysis.device_use import device_summary, device_use, step_use
from torch_tb_profiler.analysis.overview import overview
from torch_tb_profiler.analysis.shared.kernel_use import Occupancy, TensorCores


def shares(events: list[Event], step: int = 0, **header: Any) -> dict[str, float]:
    """µs per category of one step, without the empty ones; adds up to the step."""
    times = overview(model_of(events, **header)).steps
    found = {c: int(ns[step]) / 1000 for c, ns in times.category_ns.items()}
    assert sum(found.values()) == times.duration_ns[step] / 1000
    return {c: us for c, us in found.items() if us}


def test_every_category_has_its_part() -> None:
    assert shares(step_of_every_category()) == {
        "kernel": 15,
        "memcpy": 10,
        "memset": 5,
        "runtime": 30,
        "dataloader": 180,
        "cpu_exec": 35,
        "other": 125,
    }


def test_communication_is_what_nothing_hides() -> None:
    """The range on the host, 150 to 180, only started it."""
    events = partly_hidden_all_reduce()
    assert shares(events) == {"kernel": 75, "communication": 65, "runtime": 15, "other": 225}


def test_a_library_without_kernels_communicates_on_the_host() -> None:
    events = [annotation("ProfilerStep#1", 0, 100), op("a", 0, 50), annotation("gloo:all_reduce", 40, 30, 2)]
    assert shares(events) == {"communication": 30, "cpu_exec": 40, "other": 30}


def test_a_fully_covered_step_is_not_counted_twice() -> None:
    """Defect 1: Kernel 100 + Runtime 5 + CPU Exec 85 + Other 10 of a step of 100."""
    assert shares([annotation("ProfilerStep#1", 0, 100), op("a", 0, 90), launch(0, 1), kernel(0, 100, 1)]) == {
        "kernel": 100
    }


def test_labels_are_not_work() -> None:
    """Defect 3: annotations of the user, on the host and on the device, counted as CPU Exec."""
    events = [
        annotation("ProfilerStep#1", 0, 100),
        annotation("my part", 5, 90),
        op("a", 10, 20),
        frame("train.py(3): step", 0, 100),
        {**kernel(50, 40, 0, "my part"), "cat": "gpu_user_annotation"},
    ]
    assert shares(events) == {"cpu_exec": 20, "other": 80}


def test_steps_on_the_device_are_copies_of_those_on_the_host() -> None:
    """Defect 2."""
    events = [annotation(f"ProfilerStep#{i}", 100 * i, 100) for i in range(3)]
    events += [{**kernel(100 * i + 50, 100, 0, f"ProfilerStep#{i}"), "cat": "gpu_user_annotation"} for i in range(3)]
    assert overview(model_of(events)).steps.names == ("0", "1", "2")


def test_the_driver_is_runtime() -> None:
    """Defect 9."""
    events = [annotation("ProfilerStep#1", 0, 100), launch(10, 1, 7, cat="cuda_driver"), kernel(50, 10, 1)]
    assert shares(events)["runtime"] == 7


def test_steps_that_overlap_on_the_device() -> None:
    events = [
        annotation("ProfilerStep#1", 100, 200),
        annotation("ProfilerStep#2", 350, 150),
        op("aten::to", 120, 80),
        op("aten::mm", 360, 50),
        launch(180, 1, 5),
        launch(390, 2, 5),
        kernel(150, 90, 99),
        copy(280, 100, 1),
        kernel(410, 200, 2),
    ]
    assert shares(events, 0) == {"memcpy": 100, "other": 40}
    assert shares(events, 1) == {"kernel": 200, "runtime": 5, "cpu_exec": 25}


def test_cpu_only() -> None:
    found = overview(model_of([op("a", 0, 10), op("b", 50, 50)]))
    assert found.device_type == "CPU"
    assert found.steps.rule == "whole_trace"
    assert found.steps.categories == ("dataloader", "cpu_exec", "other")
    assert found.devices == ()
    assert [(o.name, o.device_self_ns) for o in found.top_operators] == [("b", None), ("a", None)]


def test_nothing_at_all() -> None:
    found = overview(model_of([]))
    assert found.steps.names == ()
    assert found.average.step_ns == 0


def test_one_operator_without_duration() -> None:
    """The old plugin divided by zero."""
    assert overview(model_of([op("a", 0, 0)])).average.share("cpu_exec") == 0


def gpu_step(*kernels: Event) -> list[Event]:
    return [annotation("ProfilerStep#1", 100, 120), *kernels]


def test_device_metrics() -> None:
    found = overview(
        model_of(
            gpu_step(
                kernel(130, 10, 1, "a", 1, **{"blocks per SM": 0.5, "est. achieved occupancy %": 60}),
                kernel(135, 15, 2, "b", 1, **{"blocks per SM": 0.6, "est. achieved occupancy %": 10}),
                kernel(150, 0, 3, "b", 1, **{"blocks per SM": 0.3, "est. achieved occupancy %": 20}),
                kernel(145, 25, 4, "volta_h884gemm", 1, **{"blocks per SM": 0.3, "est. achieved occupancy %": 100}),
                kernel(200, 20, 5, "a", 1, **{"blocks per SM": 10.5, "est. achieved occupancy %": 30}),
            ),
            deviceProperties=[{"id": 1, "name": "V100", "totalGlobalMem": 2**34, "computeMajor": 7, "computeMinor": 0}],
        )
    )
    (device,) = found.devices
    assert (device.id, device.name, device.memory_bytes, device.compute_capability) == (1, "V100", 2**34, "7.0")
    assert device.busy == device.computing == pytest.approx(60 / 120)
    assert device.sm_efficiency == pytest.approx((0.5 * 5 + 1 * 5 + 0.6 * 5 + 0.9 * 5 + 0.3 * 20 + 1 * 20) / 120)
    assert device.achieved_occupancy == pytest.approx((0.6 * 10 + 0.1 * 15 + 1.0 * 25 + 0.3 * 20) / 70)
    assert device.occupancy_known_share == 1
    assert device.tensor_cores == TensorCores(25 / 70, 0, 45 / 70)


def test_device_metrics_outside_the_steps() -> None:
    (device,) = overview(
        model_of(gpu_step(kernel(230, 10, 1, "a", **{"blocks per SM": 0.5, "est. achieved occupancy %": 60})))
    ).devices
    assert (device.busy, device.sm_efficiency, device.achieved_occupancy) == (0.0, None, 0.6)
    assert (device.name, device.memory_bytes, device.compute_capability) == (None, None, None)


def test_what_runs_between_marks_is_utilization_of_the_later_step() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 100),
            annotation("ProfilerStep#1", 200, 100),
            launch(5, 1),
            launch(210, 3),
            kernel(10, 50, 1, **{"blocks per SM": 0.5, "est. achieved occupancy %": 20}),
            kernel(120, 60, 2, **{"blocks per SM": 4.0, "est. achieved occupancy %": 100}),
            kernel(220, 50, 3, **{"blocks per SM": 2.0, "est. achieved occupancy %": 40}),
        ]
    )
    (device,) = device_use(model)
    assert device.busy == (50 + 60 + 50) / 300
    assert device.sm_efficiency == pytest.approx((50 * 0.5 + 60 * 1 + 50 * 1) / 300)
    assert device.achieved_occupancy == pytest.approx((20 * 50 + 100 * 60 + 40 * 50) / 160 / 100)


def test_what_devices_did_in_a_step() -> None:
    use = step_use(model_of(partly_hidden_all_reduce()))
    # addmm 50, and mul lies inside the all-reduce of 90.
    assert use is not None
    assert use.busy_ns.tolist() == [140_000]
    assert use.communicating_ns is not None
    assert use.communicating_ns.tolist() == [90_000]
    two = [
        annotation("ProfilerStep#1", 0, 100),
        annotation("ProfilerStep#2", 100, 100),
        launch(5, 1),
        launch(110, 2),
        kernel(20, 30, 1),
        kernel(120, 40, 2),
        copy(170, 20, 2),
    ]
    use = step_use(model_of(two))
    assert use is not None
    assert use.busy_ns.tolist() == [30_000, 60_000], "who copies is busy"
    assert use.computing_ns.tolist() == [30_000, 40_000], "copies are no kernels"
    assert use.exposed_communication_ns is not None
    assert use.exposed_communication_ns.tolist() == [0, 0]
    assert step_use(model_of([annotation("ProfilerStep#1", 0, 100), op("aten::mm", 1, 2)])) is None


REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def test_devices_are_averaged_alike() -> None:
    """Device 0 computes 40 and communicates 30, 10 of it exposed; device 1 computes 20 and copies 20."""
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 100),
            kernel(0, 40, 1, "volta_h884gemm", 0),
            kernel(20, 30, 2, REDUCE, 0),
            kernel(0, 20, 3, "triton_poi_fused_relu_0", 1),
            copy(50, 20, 4, device=1),
        ]
    )
    first, second = device_use(model)
    assert [first.busy, first.computing, first.communicating, first.exposed_communication] == [0.5, 0.4, 0.3, 0.1]
    assert [second.busy, second.computing, second.communicating, second.exposed_communication] == [0.4, 0.2, 0, 0]
    summary = device_summary(model)
    assert (summary.busy, summary.computing) == pytest.approx((0.45, 0.3))
    assert (summary.communicating, summary.exposed_communication) == pytest.approx((0.15, 0.05))
    assert summary.tensor_cores == TensorCores(40 / 60, 20 / 60, 0)
    assert summary.occupancy == Occupancy(None, 0.0)
    use = step_use(model)
    assert use is not None
    assert use.busy_ns.tolist() == [45_000]
    assert use.exposed_communication_ns is not None
    assert use.exposed_communication_ns.tolist() == [5_000]


def test_copies_do_not_hide_communication() -> None:
    model = model_of(
        [annotation("ProfilerStep#1", 0, 100), kernel(0, 40, 1, REDUCE), copy(10, 20, 2), kernel(30, 5, 3)]
    )
    (device,) = device_use(model)
    assert device.exposed_communication == pytest.approx(0.35)


def test_communication_of_the_host_is_not_known_of_devices() -> None:
    (device,) = device_use(
        model_of([annotation("ProfilerStep#1", 0, 100), annotation("gloo:all_reduce", 10, 40), kernel(0, 10, 1)])
    )
    assert (device.busy, device.computing) == (0.1, 0.1)
    assert (device.communicating, device.exposed_communication) == (None, None)


def test_sm_efficiency_is_of_compute_kernels() -> None:
    model = model_of(
        gpu_step(
            kernel(130, 30, 1, "a", **{"blocks per SM": 0.5}),
            kernel(170, 40, 2, REDUCE, **{"blocks per SM": 0.2}),
        )
    )
    (device,) = device_use(model)
    assert device.sm_efficiency == pytest.approx(0.5 * 30 / 120)
