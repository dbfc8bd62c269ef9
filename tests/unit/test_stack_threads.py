"""Call stacks of one thread."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, Event, annotation, frame, kernel, launch, model_of, op
from tests.unit.test_stacks import check, paths
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.stacks.flame_graph import STACKS, StacksAnswer, WhichStacks, stacks
from torch_tb_profiler.analysis.stacks.recorded import stack_threads
from torch_tb_profiler.model import Model

pytestmark = pytest.mark.slow

MAIN, BACKWARD, LOADER = 1, 2, 3


def program() -> list[Event]:
    """Main runs 1000 µs, autograd 200, and a thread of the loader waits all the time."""
    return [
        annotation("ProfilerStep#1", 0, 1000, MAIN),
        op("aten::mm", 100, 50, MAIN),
        launch(110, 1, 10, MAIN),
        op("aten::mm", 600, 200, BACKWARD),
        launch(650, 2, 10, BACKWARD),
        frame("queue.py(1): get", 0, 1000, LOADER),
        kernel(200, 30, 1, "forward"),
        kernel(700, 70, 2, "backward"),
        kernel(900, 5, 99, "of nobody"),
    ]


def answer(model: Model, **asked: Any) -> StacksAnswer:
    return STACKS.compute(Subject(model, "run", "worker", "1", 1, 1, lambda _: ()), WhichStacks(**asked))


def test_idle_threads_stand_last() -> None:
    model = model_of(program())
    device, host = answer(model).meta, answer(model, weight="host").meta
    assert [(t.name.split()[-1], t.device_ns // US, t.idle) for t in device.threads] == [
        ("2", 70, False),
        ("1", 30, False),
        ("3", 0, True),
    ]
    assert [(t.name.split()[-1], t.host_ns // US, t.idle) for t in host.threads] == [
        ("1", 1000, False),
        ("2", 200, False),
        ("3", 1000, True),
    ]
    assert device.thread == -1


def test_kinds_and_roles_are_those_of_the_entries() -> None:
    model = model_of(program())
    meta, rows = answer(model).meta, answer(model).rows
    assert (meta.kinds, meta.roles) == (["annotation", "operator", "device", "other"], ["compute"])
    assert set(meta.kinds) == set(rows["kind"])
    assert set(meta.roles) == {role for role in rows["role"] if role}
    assert answer(model, weight="host").meta.roles == []


def test_of_one_thread() -> None:
    model = model_of(program())
    main, backward, loader = (thread.id for thread in sorted(answer(model).meta.threads, key=lambda t: t.name))
    assert paths(shown(model, "host", main)) == {("ProfilerStep#…",): 950, ("ProfilerStep#…", "aten::mm"): 50}
    assert paths(shown(model, "host", backward)) == {("aten::mm",): 200}
    assert paths(shown(model, "device", backward)) == {("aten::mm", "backward"): 70}
    assert shown(model, "host", backward).calls.tolist() == [1]
    assert paths(shown(model, "host", loader)) == {("queue.py(1): get",): 1000}
    assert paths(shown(model, "device", loader)) == {}
    of_loader = answer(model, thread=loader, weight="host").meta
    assert (of_loader.thread, of_loader.all_ns // US, of_loader.no_stack_ns) == (loader, 1000, 0)


def shown(model: Model, weight: Any, thread: int) -> Any:
    found = stacks(model, weight, smallest_share=0, thread=thread)
    assert found is not None
    check(found)
    return found


def test_a_thread_of_another_trace_is_none_here() -> None:
    model = model_of(program())
    assert answer(model, thread=77).meta.thread == -1
    assert answer(model, thread=77).rows == answer(model).rows
    assert answer(model_of([])).meta.threads == []


@pytest.mark.parametrize("weight", ["host", "device"])
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(1, 30), st.integers(1, 3)), max_size=12)
)
def test_threads_add_up_to_all(weight: Any, ranges: list[tuple[str, int, int, int]]) -> None:
    events: list[Event] = []
    for number, (name, start, length, tid) in enumerate(ranges):
        make = (op, annotation, frame)[number % 3]
        events += [make(f"{make.__name__}.py(1): {name}", start, length, tid)]
        events += [launch(start, number, 1, tid), kernel(start + 50, 2, number)]
    model = model_of(events)
    threads = stack_threads(model)
    parts: Counter[tuple[str, ...]] = Counter()
    for thread, host, device in zip(threads.track, threads.host_ns, threads.device_ns, strict=True):
        part = shown(model, weight, int(thread))
        assert part.whole_ns == (host if weight == "host" else device)
        parts.update(paths(part))
    whole = {path: time for path, time in paths(shown(model, weight, -1)).items() if not path[0].startswith("(")}
    assert {path: time for path, time in parts.items() if not path[0].startswith("(")} == whole
