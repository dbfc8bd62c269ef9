"""What memory is for: by the part of the step in which it is allocated and released."""

from __future__ import annotations

import json

import numpy as np

from tests.events import Event, annotation, memory, model_of, op
from tests.recorded import ROOT
from tests.recorded import model_of as recorded
from torch_tb_profiler.analysis.memory.blocks import memory_blocks
from torch_tb_profiler.analysis.memory.categories import CATEGORIES, memory_categories
from torch_tb_profiler.analysis.memory.records import memory_curves, memory_records

RECORDED = ROOT / "tests" / "cases" / "memory_categories"

BACKWARD = "autograd::engine::evaluate_function: MmBackward0"
STEP = "Optimizer.step#AdamW.step"
ZERO = "Optimizer.zero_grad#AdamW.zero_grad"


def step(start: int, addresses: int) -> tuple[list[Event], list[tuple[int, int, int]]]:
    """The ranges of a step from a time on, and its records: time, address, bytes."""
    ranges = [
        op("aten::linear", start, 20),
        op(BACKWARD, start + 30, 20),
        annotation(STEP, start + 60, 20),
        annotation(ZERO, start + 90, 5),
    ]
    a = addresses
    records = [
        (start + 2, a, 512),  # a temporary of forward
        (start + 3, a, -512),
        (start + 4, a + 1, 1024),  # saved for backward
        (start + 5, a + 2, 8192),  # kept: an output
        (start + 32, a + 3, 2048),  # a temporary of backward
        (start + 33, a + 3, -2048),
        (start + 34, a + 4, 4096),  # a gradient
        (start + 40, a + 1, -1024),
        (start + 62, a + 5, 1536),  # a temporary of the optimizer
        (start + 63, a + 5, -1536),
        (start + 92, a + 4, -4096),
    ]
    return ranges, records


def test_categories_are_told_by_birth_and_release() -> None:
    first, records = step(100, 10)
    second, more = step(300, 30)
    records = [(90, 1, -256), *records, (168, 9, 6144), *more]
    total, events = 10_000, [*first, *second]
    for time, address, size in sorted(records):
        total += size
        events.append(memory(time, size, address, total, 1 << 20))
    model = model_of(events)
    (found,) = memory_categories(model)
    names = [CATEGORIES[i] for i in found.category.tolist()]
    sizes = memory_blocks(model).bytes.tolist()
    assert set(zip(names, sizes, strict=True)) == {
        ("before_recording", 256),
        ("forward_temporary", 512),
        ("saved_for_backward", 1024),
        ("kept_from_forward", 8192),
        ("backward_temporary", 2048),
        ("gradient", 4096),
        ("optimizer_temporary", 1536),
        ("optimizer_state", 6144),
    }
    (curve,) = memory_curves(model).curves
    assert int(found.at_peak.sum()) == curve.peak.allocated
    for most in (1, 7, 1000):
        times, sums = found.over_time(model, most)
        held = np.array([curve.at(int(np.searchsorted(curve.time_ns, t, "right")) - 1).allocated for t in times])
        assert sums.sum(axis=1).tolist() == held.tolist()
        assert int(sums.sum(axis=1).max()) == curve.peak.allocated
        assert (sums >= 0).all()


def test_a_trace_without_backward_and_optimizer_has_one_category() -> None:
    model = model_of([op("aten::mm", 0, 50), memory(5, 512, 1, 1512, 4096), memory(9, -512, 1, 1000, 4096)])
    (found,) = memory_categories(model)
    assert not found.phases
    assert [CATEGORIES[i] for i in found.category.tolist()] == ["in_use"]
    assert found.at_peak[CATEGORIES.index("before_recording")] == 1000


def test_gradients_optimizer_state_and_what_is_saved_are_those_of_the_live_memory_profiler() -> None:
    """Of a recording with torch 2.13; `record.py` beside it tells how it was made."""
    model = recorded(RECORDED / "train.pt.trace.json.gz")
    (found,) = memory_categories(model)
    blocks, records = memory_blocks(model), memory_records(model)
    born = records.time[np.maximum(blocks.allocation, 0)] + model.trace.origin_ns
    ours: dict[tuple[int, int], str] = {}
    for time, size, at, category in zip(
        born.tolist(), blocks.bytes.tolist(), blocks.allocation.tolist(), found.category.tolist(), strict=True
    ):
        if at >= 0:
            ours[time, size] = CATEGORIES[category]
    live = {(time, size): name for time, size, name in json.loads((RECORDED / "categories.json").read_text("utf-8"))}
    assert len(live) > 500
    assert ours.keys() == live.keys()

    def of(category: str, name: str) -> None:
        mine = {block for block, each in ours.items() if each == category}
        theirs = {block for block, each in live.items() if each == name}
        assert len(mine) > 20
        assert mine == theirs

    of("gradient", "GRADIENT")
    of("optimizer_state", "OPTIMIZER_STATE")
    saved = [live[block] for block, each in ours.items() if each == "saved_for_backward"]
    assert len(saved) > 20
    assert set(saved) == {"ACTIVATION"}
    # nothing that it calls an activation is called a gradient or state here
    others = {each for block, each in ours.items() if live[block] == "ACTIVATION"}
    assert others == {"saved_for_backward", "kept_from_forward", "forward_temporary", "optimizer_temporary"}
