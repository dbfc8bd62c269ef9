"""Memory that is not used, in pieces, or growing: when it is said, and when not."""

from __future__ import annotations

import pytest

from tests.events import US, Event, annotation, kernel, launch, memory
from tests.events import op as operator
from tests.named_programs import diagnosed, found
from tests.planted import leaking

GB = 2**30
CARD = {"id": 0, "name": "GPU", "computeMajor": 8, "computeMinor": 0, "totalGlobalMem": 16 * GB}


def trained(length: float, used: float = 4, steps: int = 3, busy: float = 0.9) -> list[Event]:
    """Steps of 1 ms in which kernels of some length follow one another; used: GB reserved at most."""
    events: list[Event] = []
    correlation = 0
    for step in range(steps):
        at = 1000.0 * step
        events += [annotation(f"ProfilerStep#{step}", at, 1000), annotation("Optimizer.step#SGD.step", at + 990, 5)]
        for i in range(int(busy * 1000 / length)):
            correlation += 1
            events += [launch(at + i, correlation, 1), kernel(at + i * length, length, correlation, "gemm")]
    return [*events, memory(5, 512, total=round(used * GB), reserved=round(used * GB))]


def test_memory_that_is_not_used_by_kernels_that_are_small() -> None:
    (finding,) = found(trained(10), "unused_memory", deviceProperties=[CARD])
    assert finding.saving is None
    assert finding.values["used"] == 0.25
    assert finding.values["small"] == 1
    assert "batch_size" in finding.advice


@pytest.mark.parametrize(
    "events",
    [
        trained(10, used=9),  # used
        trained(100),  # kernels that fill the device
        trained(10, busy=0.4),  # the device waits for the host
        [event for event in trained(10) if "Optimizer" not in event["name"]],  # inference
    ],
)
def test_a_larger_batch_is_no_advice_for_others(events: list[Event]) -> None:
    assert found(events, "unused_memory", deviceProperties=[CARD]) == []
    assert "unused_memory" in diagnosed(events, deviceProperties=[CARD]).checked


def test_rules_of_memory_need_it_recorded() -> None:
    events = [event for event in trained(10) if event["name"] != "[memory]"]
    missing = {each.id: each.needs for each in diagnosed(events, deviceProperties=[CARD]).not_evaluated}
    assert {missing[rule] for rule in ("unused_memory", "fragmentation", "memory_growth", "recompute")} == {"memory"}


def growing(allocated: list[float], reserved: list[float], size: int = 64 * 2**20) -> list[Event]:
    """In use and reserved after each allocation, GB."""
    held = zip(allocated, reserved, strict=True)
    return [
        annotation("ProfilerStep#1", 0, 1000),
        operator("aten::empty", 0, 1000),
        *(
            memory(10 * (i + 1), size, address=4096 * (i + 1), total=round(a * GB), reserved=round(r * GB))
            for i, (a, r) in enumerate(held)
        ),
    ]


def test_memory_in_pieces() -> None:
    (finding,) = found(growing([8, 5, 6], [9, 9, 10]), "fragmentation", deviceProperties=[CARD])
    assert (finding.values["times"], finding.values["unused_bytes"]) == (1, 4 * GB)
    assert finding.values["share"] == pytest.approx(4 / 9)
    assert "4.00 GiB" in finding.detail
    assert [(each.name, each.start_ns) for each in finding.instances] == [("[memory]", 30 * US)]
    assert "expandable_segments" in finding.advice
    assert finding.where is not None
    assert finding.where.operator == "aten::empty"


@pytest.mark.parametrize(
    ("allocated", "reserved"),
    [
        ([8, 5, 6], [9, 9, 9]),  # nothing more was needed: what is free is a cache
        ([8, 8.5, 9], [9, 9, 10]),  # little was free
        ([8, 5, 12], [9, 9, 16]),  # what was asked for is more than what was free
        ([2, 1, 2], [3, 3, 4]),  # there is enough
    ],
)
def test_memory_that_is_not_in_pieces(allocated: list[float], reserved: list[float]) -> None:
    assert found(growing(allocated, reserved), "fragmentation", deviceProperties=[CARD]) == []


def test_small_requests_have_memory_of_their_own() -> None:
    events = growing([8, 5, 6], [9, 9, 9.002], size=4096)
    assert found(events, "fragmentation", deviceProperties=[CARD]) == []


def test_memory_that_grows_with_each_step() -> None:
    (finding,) = found(leaking([100] * 5), "memory_growth")
    assert finding.values["mean_bytes"] == 100 * 2**20
    assert " 100 MiB more of GPU0 " in finding.detail
    assert finding.count == 4  # of the last step it is not known
    assert finding.where is not None
    assert finding.where.operator == "aten::mm"
    assert finding.saving is None


def test_thousands_of_mib_have_no_exponent() -> None:
    (finding,) = found(leaking([1500, 1500, 1500, 1500, 1500]), "memory_growth")
    assert " 1500 MiB more " in finding.detail
    assert "e+" not in finding.detail


@pytest.mark.parametrize("kept", [[0] * 5, [100] * 3, [100, 0, 100, 0, 100], [100, 0, 0, 0, 0]])
def test_memory_that_does_not(kept: list[int]) -> None:
    assert found(leaking(kept), "memory_growth") == []


def test_inference_may_fill_a_cache() -> None:
    events = [event for event in leaking([100] * 5) if "Optimizer" not in event["name"]]
    assert found(events, "memory_growth") == []
