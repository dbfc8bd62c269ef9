"""What is kept of operators says the same as the trace."""

from __future__ import annotations

import json
from io import BytesIO

import numpy as np

from tests.events import Event, frame, kernel, launch, model_of, op
from tests.tracegen import Config, generate
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.operators.question import KNOWN_OPERATORS
from torch_tb_profiler.analysis.operators.table import operator_details, operator_kernels, operator_stacks, operators
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.result import Result
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace


def assert_same(one: Result, other: Result) -> None:
    for name in one.declared:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def assert_kept(model: Model) -> None:
    assert KNOWN_OPERATORS.decode is not None
    known = KNOWN_OPERATORS.decode(KNOWN_OPERATORS.make(Subject(model, "run", "w", "1", 1, 1, troubles)))
    table = operators(model, "name_shape")
    assert table.input_shape is not None
    assert_same(known.details.table("name_shape_stack"), operator_details(model).table("name_shape_stack"))
    for name, shape in {*zip(table.name, table.input_shape, strict=True), ("nobody", "[]")}:
        for wanted in (None, shape):
            assert_same(known.details.stacks_of(name, wanted), operator_stacks(model, name, wanted))
            assert_same(known.details.kernels_of(name, wanted), operator_kernels(model, name, wanted))
    assert known.about.worker == "w"
    assert known.size > 0


def test_a_generated_trace() -> None:
    trace, _ = generate(Config(events=3000))
    assert_kept(Model(read_trace(BytesIO(json.dumps(trace).encode()))))


def test_recorded_stacks_and_texts_of_all_kinds() -> None:
    def called(name: str, start: float, shape: object, stack: str) -> Event:
        return op(name, start, 5, **{"Input Dims": shape, "Call stack": stack})

    events = [
        called("é\n", 0, [[1]], "b.py(2): g;a.py(1): f"),
        launch(1, 1),
        kernel(20, 7, 1, "k"),
        called("é\n", 30, [[2]], "a.py(1): f"),
        launch(31, 2),
        kernel(50, 9, 2, "k"),
        called("", 60, [], ""),
    ]
    model = model_of(events)
    assert operator_kernels(model, "é\n").total_ns.tolist() == [16_000]
    assert operator_stacks(model, "é\n", "[[1]]").call_stack == ("b.py(2): g\na.py(1): f",)
    assert_kept(model)


def test_frames_around_operators() -> None:
    events = [frame("a.py(1): f", 0, 100), frame("b.py(2): g", 10, 20), op("a", 12, 3), op("a", 50, 3)]
    model = model_of([*events, frame("c.py(3): nobody is called here", 70, 20)])
    assert operator_stacks(model, "a").call_stack == ("b.py(2): g\na.py(1): f", "a.py(1): f")
    assert_kept(model)


def test_nothing_recorded() -> None:
    assert_kept(model_of([frame("a.py(1): f", 0, 100)]))
