"""Several optimizers in one step."""

from __future__ import annotations

from collections.abc import Sequence

from tests.events import US, Event, annotation, kernel, launch, model_of
from torch_tb_profiler.analysis.program.micro_batches import optimizers


def stepped(*steps: Sequence[tuple[str, float, float]]) -> list[Event]:
    """Optimizers with begin and duration in each step of 1 ms; each launches a kernel of a tenth of its duration."""
    events: list[Event] = []
    number = 0
    for at, calls in enumerate(steps):
        events.append(annotation(f"ProfilerStep#{at}", 1000 * at, 1000))
        for kind, start, duration in calls:
            number += 1
            events.append(annotation(f"Optimizer.step#{kind}.step", 1000 * at + start, duration))
            events.append(launch(1000 * at + start + 2, number))
            events.append(kernel(1000 * at + start + 12, duration / 10, number))
    return events


def told(events: list[Event]) -> dict[str, tuple[int, int, int]]:
    found = optimizers(model_of(events))
    columns = (found.calls.tolist(), (found.host_ns // US).tolist(), (found.device_ns // US).tolist())
    return dict(zip(found.name, zip(*columns, strict=True), strict=True))


def test_of_two_classes() -> None:
    events = stepped(*[[("Muon", 300, 200), ("AdamW", 600, 100)]] * 3)
    assert told(events) == {"Muon": (3, 600, 60), "AdamW": (3, 300, 30)}


def test_of_one_class_by_their_turn_in_the_step() -> None:
    events = stepped(*[[("Adam", 100, 200), ("Adam", 600, 100)]] * 2, [("Adam", 100, 200)])
    assert told(events) == {"Adam": (3, 600, 60), "Adam 2": (2, 200, 20)}


def test_what_an_optimizer_calls_is_in_its_time() -> None:
    events = stepped(*[[("Chained", 100, 500), ("Muon", 120, 200), ("AdamW", 400, 100)]] * 2)
    assert told(events) == {"Chained": (2, 1000, 160), "Muon": (2, 400, 40), "AdamW": (2, 200, 20)}


def test_validation_beside_them_is_no_optimizer() -> None:
    events = stepped([("Muon", 300, 200), ("AdamW", 600, 100)], [("Muon", 300, 200), ("AdamW", 600, 100)])
    events += [annotation("validation_step", 1800, 100), launch(1820, 90), kernel(1840, 30, 90)]
    assert told(events) == {"Muon": (2, 400, 40), "AdamW": (2, 200, 20)}
