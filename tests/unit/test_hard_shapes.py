"""What grew with the square of something: shapes of `benchmarks.shapes` at sizes where that shows."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from benchmarks.shapes import text_of
from tests.growth import MOST, Work, growth
from torch_tb_profiler.analysis.roofline.activities import call_roofs, reached_ns
from torch_tb_profiler.analysis.roofline.question import device_roofs
from torch_tb_profiler.insights.places import places_of
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names import family
from torch_tb_profiler.model.kernel_names.family import cached_by_name
from torch_tb_profiler.trace import Category, read_trace

pytestmark = pytest.mark.slow


def model_of(shape: str, size: int) -> Model:
    return Model(read_trace(BytesIO(text_of(shape, size).encode())))


def test_roofs_of_many_devices() -> None:
    """A look at all calls for each device grows with the square."""

    def prepared(devices: int) -> Work:
        model = model_of("devices", devices)
        call_roofs(model)  # with all that stands before it

        def work() -> None:
            reached_ns(model)
            assert len(device_roofs(model)) == devices

        return work

    assert growth(prepared, 3000) < MOST


def test_places_of_operators_with_stacks_of_their_own() -> None:
    """A look at all of them for each stack grows with the square."""

    def prepared(operators: int) -> Work:
        model = model_of("names, shapes and stacks", operators)
        rows = np.flatnonzero(model.trace.events.category == Category.OPERATOR).astype(np.int32)
        assert len(rows) == operators
        places_of(model, rows[:10])

        def work() -> None:
            frame = places_of(model, np.tile(rows, 20)).frame
            assert len(np.unique(frame)) == len(rows)
            assert int(frame.max()) < -1

        return work

    assert growth(prepared, 5000) < MOST


def test_names_are_looked_at_once() -> None:
    asked = []

    def length(name: str) -> int:
        asked.append(name)
        return len(name)

    of = cached_by_name(length)
    names = [f"kernel_{i}" for i in range(20_000)]
    for _ in range(3):
        assert [of(name) for name in names] == [len(name) for name in names]
    assert asked == names
    # more than is kept: forgotten, and right again
    long = ["x" * (family.MOST_BYTES // 3) + str(i) for i in range(4)]
    assert [of(name) for name in (*long, names[0])] == [*map(len, long), len(names[0])]
    assert asked[len(names) :] == [*long, names[0]]
