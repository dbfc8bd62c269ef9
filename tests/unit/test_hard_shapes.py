"""What grew with the square of something: shapes of `benchmarks.shapes` at sizes where that shows in CPU seconds."""

from __future__ import annotations

from io import BytesIO
from time import process_time

import numpy as np

from benchmarks.shapes import text_of
from torch_tb_profiler.analysis.roofline.pieces import call_roofs
from torch_tb_profiler.analysis.roofline.question import device_roofs
from torch_tb_profiler.analysis.roofline.reached import reached_ns
from torch_tb_profiler.insights.places import places_of
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names import kept
from torch_tb_profiler.model.kernel_names.kept import kept_by_name
from torch_tb_profiler.trace import Category, read_trace


def model_of(shape: str, size: int) -> Model:
    return Model(read_trace(BytesIO(text_of(shape, size).encode())))


def test_roofs_of_many_devices() -> None:
    model = model_of("devices", 12_000)
    call_roofs(model)  # with all that stands before it
    began = process_time()
    reached_ns(model)
    assert len(device_roofs(model)) == 12_000
    assert process_time() - began < 0.4  # a look at all calls for each device takes more than a second


def test_places_of_operators_with_stacks_of_their_own() -> None:
    model = model_of("names, shapes and stacks", 20_000)
    rows = np.flatnonzero(model.trace.events.category == Category.OPERATOR).astype(np.int32)
    assert len(rows) == 20_000
    places_of(model, rows[:10])
    began = process_time()
    frame = places_of(model, np.tile(rows, 20)).frame
    assert process_time() - began < 1  # a look at all of them for each stack takes several seconds
    assert len(set(frame.tolist())) == len(rows)
    assert int(frame.max()) < -1


def test_names_are_looked_at_once() -> None:
    asked = []

    def length(name: str) -> int:
        asked.append(name)
        return len(name)

    of = kept_by_name(length)
    names = [f"kernel_{i}" for i in range(20_000)]
    for _ in range(3):
        assert [of(name) for name in names] == [len(name) for name in names]
    assert asked == names
    # more than is kept: forgotten, and right again
    long = ["x" * (kept.MOST_BYTES // 3) + str(i) for i in range(4)]
    assert [of(name) for name in (*long, names[0])] == [*map(len, long), len(names[0])]
    assert asked[len(names) :] == [*long, names[0]]
