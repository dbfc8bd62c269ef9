"""What memory is for at the peak, by the module that allocated it."""

from __future__ import annotations

from tests.events import Event, annotation, frame, memory, model_of, op
from tests.recorded import ROOT
from tests.recorded import model_of as recorded
from torch_tb_profiler.analysis.memory.categories import CATEGORIES, memory_categories
from torch_tb_profiler.analysis.memory.module_categories import BEFORE, memory_modules

BACKWARD = "autograd::engine::evaluate_function: MmBackward0"


def arrow(phase: str, number: int, at: float, tid: int) -> Event:
    bound = {"bp": "e"} if phase == "f" else {}
    return {"ph": phase, "id": number, "cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "tid": tid, "ts": at, **bound}


def test_forward_and_backward_of_a_module_are_one_row() -> None:
    events = [
        annotation("ProfilerStep#1", 0, 1000),
        frame("nn.Module: Net_0", 10, 200),
        frame("nn.Module: Linear_0", 20, 80),
        op("aten::linear", 30, 40),
        frame("nn.Module: Linear_1", 110, 80),
        op("aten::linear", 120, 40),
        op(BACKWARD, 300, 50, tid=2),
        op("aten::mm", 310, 20, tid=2),
        arrow("s", 7, 31, 1),
        arrow("f", 7, 301, 2),
        annotation("Optimizer.step#AdamW.step", 600, 50),
    ]
    total = 1000
    for time, size, address, tid in (
        (35, 512, 1, 1),  # saved by Linear_0
        (125, 1024, 2, 1),  # kept by Linear_1
        (205, 256, 3, 1),  # of Net_0 itself
        (315, 4096, 4, 2),  # the gradient of Linear_0
        (320, 128, 5, 2),  # a temporary of its backward
        (330, -128, 5, 2),
        (340, -512, 1, 2),
        (610, 2048, 6, 1),  # state of the optimizer, which is no module
    ):
        total += size
        events.append(memory(time, size, address, total, 1 << 20, tid=tid))
    model = model_of(events)
    (found,) = memory_modules(model)
    rows = dict(zip(found.module, zip(found.bytes.tolist(), found.blocks.tolist(), strict=True), strict=True))
    assert found.source == "nn"
    assert rows == {"Linear_0": (4096, 1), "": (2048, 1), "Linear_1": (1024, 1), "Net_0": (256, 1)}
    assert found.module[0] == "Linear_0"
    assert found.gradient.tolist() == [4096, 0, 0, 0]
    assert found.optimizer_state.tolist() == [0, 2048, 0, 0]
    assert found.kept_from_forward.tolist() == [0, 0, 1024, 256]
    assert int(found.bytes.sum()) + found.unknown_bytes == found.peak == 1000 + 7424


def test_rows_add_up_to_the_categories_at_the_peak() -> None:
    model = recorded(ROOT / "tests" / "cases" / "memory_categories" / "train.pt.trace.json.gz")
    for table, categories in zip(memory_modules(model), memory_categories(model), strict=True):
        for place, name in enumerate(CATEGORIES):
            if place != BEFORE:
                assert int(getattr(table, name).sum()) == int(categories.at_peak[place])
        assert int(table.bytes.sum()) + table.unknown_bytes == table.peak
        assert int(table.blocks.sum()) == int(categories.blocks.sum())


def test_a_trace_without_modules_has_one_row() -> None:
    model = model_of([op("aten::mm", 0, 50), memory(5, 512, 1, 1512, 4096)])
    (found,) = memory_modules(model)
    assert (found.module, found.source, found.unknown_bytes) == (("",), None, 1000)
    assert found.in_use.tolist() == [512]


def test_a_trace_without_memory_has_no_table() -> None:
    assert memory_modules(model_of([op("aten::mm", 0, 50)])) == ()
