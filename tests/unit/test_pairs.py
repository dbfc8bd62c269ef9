"""Events that are written as two have their durations, whatever the order of the file."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.events import US, Event, annotation, kernel, launch, model_of, op
from torch_tb_profiler.analysis.health.notes import health
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import EventPhase


def as_two(events: list[Event], named: bool = True) -> list[Event]:
    """The same events, each as its begin and its end, in order of time: ends come before begins, inner ones first."""
    marks: list[tuple[tuple[float, int, float], Event]] = []
    for each in events:
        begin = {**{key: value for key, value in each.items() if key != "dur"}, "ph": "B"}
        end = {key: each[key] for key in ("pid", "tid")} | {"ph": "E", "ts": each["ts"] + each["dur"]}
        marks.append(((each["ts"], 1, -each["dur"]), begin))
        marks.append(((end["ts"], 0, -each["ts"]), {**end, "name": each["name"]} if named else end))
    return [mark for _, mark in sorted(marks, key=lambda one: one[0])]


def program() -> list[Event]:
    """Nested operators on two threads that run at once, and what they launch."""
    found = [annotation(f"ProfilerStep#{step}", 100 * step, 99) for step in range(2)]
    for step in range(2):
        at = 100 * step
        found += [op("aten::linear", at + 5, 50), op("aten::addmm", at + 8, 30), op("aten::t", at + 40, 10)]
        found += [op("aten::mul", at + 10, 60, tid=2), launch(at + 12, step + 1), kernel(at + 30, 40, step + 1)]
    return found


def lengths(model: Model) -> list[tuple[str, int, int]]:
    events, strings = model.trace.events, model.trace.strings
    found = events.phase == EventPhase.COMPLETE
    names = [strings[code] for code in events.name[found].tolist()]
    return sorted(zip(names, events.start[found].tolist(), events.duration[found].tolist(), strict=True))


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
def test_pairs_are_what_they_would_be_as_one(named: bool, shuffled: bool) -> None:
    """Nested, on several threads, in order of time or in none."""
    halves = as_two(program(), named)
    if shuffled:
        random.Random(7).shuffle(halves)
    one, two = model_of(program()), model_of(halves)
    assert lengths(two) == lengths(one)
    assert operators(two).host_self_ns.tolist() == operators(one).host_self_ns.tolist()
    assert operators(two).device_self_ns.tolist() == operators(one).device_self_ns.tolist()
    assert two.steps.names == one.steps.names
    assert "begin_and_end" not in [note.kind for note in health(two)]


def begins(name: str, at: float, **more: Any) -> Event:
    return {**op(name, at, 0), "ph": "B", **more}


def ends(name: str | None, at: float, **more: Any) -> Event:
    return {"ph": "E", "pid": 1, "tid": 1, "ts": at, **({} if name is None else {"name": name}), **more}


def test_an_end_that_is_missing_takes_no_end_of_another() -> None:
    model = model_of([begins("a", 0), begins("b", 10), ends("a", 50), begins("c", 60), ends(None, 70)])
    assert lengths(model) == [("a", 0, 50 * US), ("b", 10 * US, 0), ("c", 60 * US, 10 * US)]
    (note,) = [note for note in health(model) if note.kind == "begin_and_end"]
    assert (note.severity, note.count) == ("warning", 1)


def test_an_end_without_a_begin_ends_nothing() -> None:
    model = model_of([ends("z", 1), begins("a", 2), ends("z", 3), ends("a", 4), ends(None, 5), begins("d", 9, tid=2)])
    assert lengths(model) == [("a", 0, 2 * US), ("d", 7 * US, 0)]
    (note,) = [note for note in health(model) if note.kind == "begin_and_end"]
    assert note.count == 4


def test_events_that_an_id_pairs_are_noted() -> None:
    asynchronous = [{**begins("Group", 5), "ph": "b", "id": 1}, {**ends("Group", 9), "ph": "e", "id": 1}]
    model = model_of([op("aten::mm", 0, 20), *asynchronous])
    assert [note.count for note in health(model) if note.kind == "begin_and_end"] == [2]
