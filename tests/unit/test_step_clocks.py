"""The step time that is shown is what shares are of, and a device that is behind the host makes no step longer."""

from __future__ import annotations

import pytest

from tests.events import US, Event, annotation, copy, kernel, launch, model_of, op
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.model import Model

MS = 1000
H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132}
PEAK = 989.4e12
SIZE = 8192
FLOPS = 2 * SIZE**3
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"


def product(start: float, correlation: int, begin: float, length: float, size: int = SIZE) -> list[Event]:
    """An operator that launches a product, and its kernel."""
    shapes = {"Input Dims": [[size, size]] * 2, "Input type": ["c10::BFloat16"] * 2}
    return [
        op("aten::mm", start, 20, **shapes),
        launch(start + 5, correlation),
        kernel(begin, length, correlation, GEMM),
    ]


def kinds(model: Model) -> set[str]:
    return {note.kind for note in troubles(model)}


def periods(model: Model) -> list[float]:
    return ((model.steps.end - model.steps.start) / US / MS).tolist()


# utilization -------------------------------------------------------------------------------------------------


def test_utilization_is_of_the_step_time_when_the_host_waits_for_earlier_work() -> None:
    """The mark lasts 50 ms; for 30 of them the device does work launched before the recording."""
    wait = {**launch(10, 2, 29_990), "name": "cudaDeviceSynchronize"}
    events = [annotation("ProfilerStep#1", 0, 50 * MS), kernel(0, 30 * MS, 1, GEMM), wait]
    model = model_of([*events, *product(30_001, 3, 30_010, 19_980)], deviceProperties=[H100])
    assert step_times(model).duration_ns.tolist() == [20 * MS * US]
    found = step_flops(model)
    assert found.time_ns == 20 * MS * US
    assert found.mfu.value == found.hfu.value == pytest.approx(FLOPS / 0.020 / PEAK)
    assert found.mfu.shown == "exact"
    # the product that no step launched counts for nothing
    assert found.coverage is not None
    assert (found.coverage.matrix, found.coverage.time_ns) == (1.0, 19_980 * US)


def test_utilization_without_marks_is_of_the_whole_trace_that_is_shown() -> None:
    events = [op("aten::empty", 0, 10), *product(40 * MS, 1, 40 * MS + 20, 10 * MS), op("aten::empty", 79_990, 10)]
    model = model_of(events, deviceProperties=[H100])
    assert step_times(model).duration_ns.tolist() == [80 * MS * US]
    assert step_flops(model).mfu.value == pytest.approx(FLOPS / 0.080 / PEAK)


def test_utilization_counts_time_between_marks() -> None:
    """Marks of 10 ms, 30 ms from one to the next."""
    events: list[Event] = []
    for i in range(3):
        begin = 30 * MS * i
        events += [annotation(f"ProfilerStep#{i}", begin, 10 * MS), *product(begin + 10, i + 1, begin + 40, 8 * MS)]
    model = model_of(events, deviceProperties=[H100])
    assert periods(model) == [10, 30, 30]
    assert step_flops(model).mfu.value == pytest.approx(3 * FLOPS / 0.070 / PEAK)


# a device behind the host ------------------------------------------------------------------------------------


def lagging(steps: int, host: float, device: float, lag: float, wait: float = 0.0, prefetch: bool = False) -> Model:
    """Steps of the host that begin every `host` ms, and device work of `device` ms of each.

    It begins `lag` ms after the mark of its step, or when that of the step before is done. In each step the host waits
    `wait` ms in a copy from the device. Nothing of what was launched before is recorded. With `prefetch` a copy to the
    device comes first.
    """
    events: list[Event] = []
    free = 0.0
    for i in range(steps):
        begin = i * host * MS
        free = max(free, begin + lag * MS)
        events += [annotation(f"ProfilerStep#{i}", begin, host * MS - 1)]
        for piece in range(10):
            events += product(begin + 100 + 30 * piece, 100 * i + piece + 1, free, device * MS / 10 - 1, 512)
            free += device * MS / 10
        if prefetch:
            events += [launch(begin + 20, 100 * i + 90), copy(begin + 30, 20, 100 * i + 90, stream=9)]
        if wait:
            at = begin + host * MS / 3
            blocked = {**launch(at + 5, 100 * i + 99, wait * MS), "name": "cudaMemcpyAsync"}
            back = {**copy(at + wait * MS, 2, 100 * i + 99, stream=8), "name": "Memcpy DtoH (Device -> Pageable)"}
            events += [op("aten::copy_", at, wait * MS + 20), blocked, back]
    return model_of(events)


@pytest.mark.parametrize(
    ("host", "device", "lag", "step"),
    [
        (100, 32, 160, 100),  # the host runs a step ahead, and bounds the steps
        (100, 32, 110, 100),
        (50, 100, 160, 100),  # the device bounds the steps
    ],
)
@pytest.mark.parametrize("prefetch", [False, True])
def test_a_device_that_lags_makes_no_step_longer(
    host: float, device: float, lag: float, step: float, prefetch: bool
) -> None:
    model = lagging(5, host, device, lag, prefetch=prefetch)
    assert periods(model) == pytest.approx([step] * 5, abs=0.2)
    assert "slow_first_step" not in kinds(model)


def test_a_device_that_has_to_fall_behind_first_is_not_warming_up() -> None:
    """80 ms of loading, then 10 ms of launches, and 88 ms of device work: the host loads again meanwhile."""
    events: list[Event] = []
    for i in range(5):
        begin = 90 * MS * i
        events += [annotation(f"ProfilerStep#{i}", begin, 90 * MS - 1)]
        events += product(begin + 80 * MS, i + 1, begin + 80 * MS + 20, 88 * MS, 512)
    model = model_of(events)
    assert periods(model) == pytest.approx([168, 90, 90, 90, 90], abs=0.1)
    assert model.steps.fill_ns == pytest.approx(78 * MS * US, abs=50 * US)
    assert "slow_first_step" not in kinds(model)
    # the loading before the first work of the device is in the first step
    assert Facts(model, thresholds()).step_of(model.tree.row).tolist() == [i for i in range(5) for _ in range(2)]


def test_waits_of_the_host_are_those_of_its_steps() -> None:
    """Also of the first, whose period begins when the wait in it is almost over."""
    model = lagging(5, 100, 32, 160, wait=60)
    found = next(each for each in diagnosis(model).findings if each.id == "sync_points")
    assert "60 ms, 60.0 % of the average step" in found.detail
    assert [each.step for each in found.instances] == sorted(each.step or "" for each in found.instances)
    assert {each.step for each in found.instances} == {"0", "1", "2", "3", "4"}


def test_what_follows_the_last_mark_is_in_no_step_of_the_host() -> None:
    model = lagging(3, 100, 32, 160)
    facts = Facts(model, thresholds())
    rows = model.device_work.row
    assert facts.step_of(rows).tolist() == [i // 10 for i in range(30)]
    late = int(model.steps.host_end[-1])
    assert model.steps.on_host(model.steps.host_start).tolist() == [0, 1, 2]
    assert int(model.steps.on_host(late)) == -1
    assert int(model.steps.on_device(late)) == 2


def test_a_first_step_that_is_slow_is_told_beside_a_lag() -> None:
    """The device needs three times as long for it."""
    events = [event for i in range(4) for event in [annotation(f"ProfilerStep#{i}", 100 * MS * i, 100 * MS - 1)]]
    free = 150.0 * MS
    for i in range(4):
        free = max(free, 100 * MS * i + 150 * MS)
        length = (300 if i == 0 else 90) * MS
        events += product(100 * MS * i + 100, i + 1, free, length, 512)
        free += length
    model = model_of(events)
    assert periods(model)[0] == pytest.approx(300, abs=1)
    assert "slow_first_step" in kinds(model)
