"""The picture of the median step: its lanes, what is merged, and how much it can be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, annotation, kernel, launch, model_of, op
from torch_tb_profiler.analysis.question import NoParameters, Subject
from torch_tb_profiler.timeline.step_picture import MOST_DEVICES, MOST_MARKS, STEP_PICTURE, StepPicture


def picture_of(events: list[Event], **header: Any) -> StepPicture:
    subject = Subject(model_of(events, **header), "run", "worker", "1", 0, 1, lambda _: ())
    found: StepPicture = STEP_PICTURE.compute(subject, NoParameters())
    return found


def lanes(picture: StepPicture) -> dict[str, list[tuple[str, float, float]]]:
    """By kind and device: the part, start and duration in µs of each mark."""
    return {
        f"{lane.kind}{'' if lane.device is None else lane.device}": [
            (picture.parts[part], start / 1000, duration / 1000)
            for part, start, duration in zip(lane.part, lane.start_ns, lane.duration_ns, strict=True)
        ]
        for lane in picture.lanes
    }


def step(number: int, at: float, length: float, devices: int = 1) -> list[Event]:
    """Data, then a launch to each device, which runs a matmul at the end of the step."""
    events = [
        annotation(f"ProfilerStep#{number}", at, length),
        annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 100),
        op("aten::mm", at + 100, 200),
    ]
    for device in range(devices):
        correlation = 100 * number + device + 1
        events += [
            launch(at + 110 + device, correlation=correlation),
            kernel(at + length - 150, 100, name="ampere_sgemm_128x64_tn", device=device, correlation=correlation),
        ]
    return events


def test_it_is_the_step_of_median_length() -> None:
    picture = picture_of([*step(3, 0, 500), *step(4, 500, 900), *step(5, 1400, 700)])
    assert (picture.step, picture.duration_ns, picture.devices) == ("5", 700_000, 1)
    found = lanes(picture)
    start = picture.start_ns / 1000
    assert list(found) == ["phases", "host", "device0"]
    assert found["phases"][0] == ("phase.data", start, 100)
    assert found["host"][0] == ("host.data", start, 100)
    # the device's time is the step, and each gap has its cause
    assert sum(duration for *_, duration in found["device0"]) == 700
    assert ("compute.gemm", start + 550, 100) in found["device0"]
    assert ("idle.input", start, 100) in found["device0"]
    (device,) = (lane for lane in picture.lanes if lane.kind == "device")
    assert {picture.names[name] for name in device.name if name >= 0} == {"ampere_sgemm_128x64_tn"}


def test_what_is_shorter_than_a_pixel_is_merged() -> None:
    events = [annotation("ProfilerStep#1", 0, 1_000_000)]
    for number in range(8_000):
        at = number * 125.0
        events += [
            op("aten::mm", at, 20),
            launch(at + 1, correlation=number + 1),
            kernel(at + 30, 60 if number % 3 else 5, name="sgemm", correlation=number + 1),
        ]
    picture = picture_of(events)
    assert 0 < sum(len(lane.part) for lane in picture.lanes) <= MOST_MARKS
    (device,) = (lane for lane in picture.lanes if lane.kind == "device")
    assert sum(device.count) > 8_000
    assert sum(device.duration_ns) == picture.duration_ns
    ends = [start + duration for start, duration in zip(device.start_ns, device.duration_ns, strict=True)]
    assert ends[:-1] == list(device.start_ns[1:])


def test_many_devices_have_four_lanes() -> None:
    picture = picture_of([*step(1, 0, 900, devices=6), *step(2, 900, 900, devices=6)])
    assert picture.devices == 6
    assert [lane.device for lane in picture.lanes if lane.kind == "device"] == [0, 1, 2, 3]
    assert MOST_DEVICES == 4


@pytest.mark.parametrize("events", [[], [op("aten::mm", 0, 100)]], ids=["nothing", "no marks"])
def test_without_a_device_it_is_the_main_thread(events: list[Event]) -> None:
    picture = picture_of(events)
    assert [lane.kind for lane in picture.lanes] == (["host"] if events else [])
    assert (picture.step is None) == (not events)
