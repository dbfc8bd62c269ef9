"""Memory: the old plugin's known answers, what it got wrong, and pairing against brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, annotation, memory, model_of, op
from tests.unit.memory_events import CPU, CURVE_RECORDS, curve_events
from torch_tb_profiler.analysis.memory.blocks import alive, memory_events
from torch_tb_profiler.analysis.memory.operators import MemoryOperators, memory_operators
from torch_tb_profiler.analysis.memory.records import MemoryCurves, memory_bins, memory_curves, memory_records, missing
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.model import Model

#: `units/memory_view` of the old plugin's tests: name, start, duration
VIEW_OPERATORS = [
    *[("aten::to", 10, 10), ("aten::to", 200, 60), ("aten::nll_loss_backward", 340, 70), ("aten::to", 510, 150)],
    *[("aten::copy_", 520, 100), ("aten::liner", 700, 100), ("aten::t", 705, 40), ("aten::transpose", 710, 30)],
    *[("aten::tranas_stride", 720, 10), ("aten::addmm", 750, 40), ("aten::to", 900, 100)],
]
#: time, device type, address, bytes
VIEW_RECORDS = [
    *[(90, 0, 90, 4), (150, 0, 150, 4), (200, 0, 200, 4), (210, 1, 210, 4), (265, 1, 265, 4), (300, 1, 300, 4)],
    *[(350, 1, 350, 10), (360, 1, 350, -10), (450, 0, 450, 1000000), (515, 1, 515, 100), (520, 1, 520, 100)],
    *[(600, 1, 520, -100), (690, 1, 690, 100), (701, 1, 701, 100), (796, 1, 515, -100), (708, 1, 708, 100)],
    *[(742, 1, 708, -100), (715, 1, 715, 50), (735, 1, 715, -50), (725, 1, 725, 50), (728, 1, 725, -50)],
    *[(729, 0, 729, 50), (746, 0, 746, 100), (747, 1, 747, 20), (749, 0, 690, -100), (760, 1, 760, 30)],
    *[(780, 1, 760, -30), (795, 1, 795, 10), (799, 1, 795, -10)],
]


def view_model() -> Model:
    steps = [annotation("ProfilerStep#1", 50, 400), annotation("ProfilerStep#2", 500, 500)]
    records = [memory(at, size, address, device=(kind, kind - 1)) for at, kind, address, size in VIEW_RECORDS]
    return model_of([*steps, *(op(*operator) for operator in VIEW_OPERATORS), *records])


def numbers(table: MemoryOperators) -> dict[str, list[int]]:
    """name → self increase, self size, self count, increase, size, count, calls."""
    columns = (
        *(table.self_size_increase, table.self_allocation_size, table.self_allocation_count),
        *(table.size_increase, table.allocation_size, table.allocation_count, table.calls),
    )
    return {name: [int(column[i]) for column in columns] for i, name in enumerate(table.name)}


def by_device(model: Model, start: int | None = None, end: int | None = None) -> dict[str, dict[str, list[int]]]:
    return {table.device.name: numbers(table) for table in memory_operators(model, start, end)}


# operators --------------------------------------------------------------------------------------------------


def test_what_operators_allocate() -> None:
    """The table of the old plugin's own test."""
    assert by_device(view_model()) == {
        "GPU0": {
            "aten::to": [104, 104, 2, 104, 204, 3, 4],
            "aten::nll_loss_backward": [0, 10, 1, 0, 10, 1, 1],
            "aten::copy_": [0, 100, 1, 0, 100, 1, 1],
            "aten::addmm": [0, 30, 1, 0, 30, 1, 1],
            "aten::tranas_stride": [0, 50, 1, 0, 50, 1, 1],
            "aten::transpose": [0, 50, 1, 0, 100, 2, 1],
            "aten::t": [0, 100, 1, 0, 200, 3, 1],
            "aten::liner": [20, 130, 3, 20, 360, 7, 1],
        },
        "CPU": {
            "aten::to": [4, 4, 1, 4, 4, 1, 4],
            "aten::liner": [0, 100, 1, 50, 150, 2, 1],
            "aten::tranas_stride": [50, 50, 1, 50, 50, 1, 1],
            "aten::transpose": [0, 0, 0, 50, 50, 1, 1],
            "aten::t": [0, 0, 0, 50, 50, 1, 1],
        },
    }


def test_self_and_what_is_outside_add_up() -> None:
    for table in memory_operators(view_model()):
        assert int(table.self_size_increase.sum()) + table.unattributed.size_increase == table.all.size_increase
        own = int(table.self_allocation_count.sum()) + table.unattributed.allocation_count
        assert own == table.all.allocation_count
        own = int(table.self_allocation_size.sum()) + table.unattributed.allocation_size
        assert own == table.all.allocation_size


def test_the_operator_ends_before_its_end() -> None:
    model = model_of([op("a", 0, 10), op("b", 10, 10), memory(10, 8), memory(20, 4)])
    assert by_device(model) == {"GPU0": {"b": [8, 8, 1, 8, 8, 1, 1]}}
    (table,) = memory_operators(model)
    assert table.unattributed.size_increase == 4


def test_the_operator_is_on_the_same_thread() -> None:
    model = model_of([op("a", 0, 10, tid=1), op("b", 0, 10, tid=2), memory(5, 8, tid=2)])
    assert list(by_device(model)["GPU0"]) == ["b"]


def test_an_annotation_inside_an_operator_is_looked_through() -> None:
    model = model_of([op("a", 0, 10), annotation("label", 2, 5), memory(5, 8)])
    assert by_device(model) == {"GPU0": {"a": [8, 8, 1, 8, 8, 1, 1]}}
    assert memory_events(model).parent == ("",)


def test_calls_are_those_of_the_operator_view() -> None:
    """Defect 12: below an operator without memory events calls were not counted."""
    events = [op("a", 0, 10), op("b", 2, 2), op("outer", 20, 10), op("b", 22, 2), memory(3, 8)]
    model = model_of(events)
    table = operators(model)
    calls = dict(zip(table.name, table.calls.tolist(), strict=True))
    assert {name: row[-1] for name, row in by_device(model)["GPU0"].items()} == {"a": calls["a"], "b": calls["b"]}


def test_a_call_inside_one_of_the_same_name_counts_once() -> None:
    """Defect 12: the old plugin counted its memory in both."""
    events = [op("a", 0, 100), op("b", 10, 50), op("a", 20, 20), op("a", 70, 10), memory(5, 1, 1), memory(25, 2, 2)]
    found = by_device(model_of(events))["GPU0"]
    assert found["a"] == [3, 3, 2, 3, 3, 2, 3]
    assert found["b"] == [0, 0, 0, 2, 2, 1, 1]


def test_an_operator_that_only_calls_its_like_is_one_call() -> None:
    found = by_device(model_of([op("a", 0, 100), op("a", 20, 20), memory(5, 1, 1), memory(25, 2, 2)]))
    assert found["GPU0"] == {"a": [3, 3, 2, 3, 3, 2, 1]}


def test_a_time_range_counts_records_in_it_and_calls_that_touch_it() -> None:
    events = [op("a", 0, 10), op("a", 20, 10), op("a", 40, 10), memory(5, 1, 1), memory(25, 2, 2), memory(45, 4, 3)]
    model = model_of(events)
    assert by_device(model, 10 * US, 25 * US) == {"GPU0": {"a": [2, 2, 1, 2, 2, 1, 2]}}
    assert by_device(model, 26 * US, None) == {"GPU0": {"a": [4, 4, 1, 4, 4, 1, 2]}}
    assert by_device(model, 50 * US, 60 * US) == {"GPU0": {}}
    assert by_device(model, 30 * US, 10 * US) == {"GPU0": {}}


def test_names_of_devices() -> None:
    kinds = [(0, 0), (0, -1), (1, 1), (1, 0), (6, 2), (12, 0), (15, 0), (19, 3), (20, 0), (99, 1)]
    model = model_of([memory(i, 1, i, device=kind) for i, kind in enumerate(kinds)])
    names = [device.name for device in memory_records(model).devices]
    assert names == [
        "GPU0",
        "GPU1",
        "GPU2",
        "XPU0",
        "HPU0",
        "MTIA3",
        "PRIVATEUSEONE0",
        "device type 99 number 1",
        "CPU",
    ]
    assert len(memory_events(model)) == len(kinds)


# pairing ----------------------------------------------------------------------------------------------------


# curve ------------------------------------------------------------------------------------------------------


def test_curves_and_peaks() -> None:
    found = memory_curves(model_of(curve_events()))
    assert found.missing is None
    for kind, name in ((1, "GPU0"), (0, "CPU")):
        curve = found.of(name)
        assert curve is not None
        expected = [(t - 1, total, reserved) for t, k, _, _, total, reserved in CURVE_RECORDS if k == kind]
        assert list(zip(curve.time_ns // US, curve.allocated, curve.reserved, strict=True)) == expected
        assert (curve.baseline, curve.unrecorded) == (0, 0)
        assert curve.peak.allocated == 8000
        assert curve.peak.time_ns == (105 if kind else 99) * US


def test_memory_at_the_end_is_what_was_there_and_what_changed() -> None:
    model = model_of([memory(0, -10, 1, 90), memory(1, 20, 2, 110), memory(2, 5, 3, 215)])
    (curve,) = memory_curves(model).curves
    assert (curve.baseline, curve.unrecorded) == (100, 100)
    assert int(curve.allocated[-1]) == curve.baseline + 15 + curve.unrecorded


def test_shared_memory_is_added_to_what_the_allocator_counts() -> None:
    """Torch writes 0 as the total of shared memory: the old plugin's curve fell to 0."""
    events = [
        memory(0, -512, 9, 0, 0, CPU),  # a batch from before
        memory(1, 8, 1, 108, 0, CPU),
        memory(2, 256, 7, 0, 256, CPU),
        memory(3, -8, 1, 100, 0, CPU),
        memory(4, -256, 7, 0, 0, CPU),
        memory(5, -100, 2, 0, 0, CPU),  # the allocator's last block
        memory(6, -64, 8, 0, 0, CPU),
    ]
    (curve,) = memory_curves(model_of(events)).curves
    assert curve.allocated.tolist() == [164, 172, 428, 420, 164, 64, 0]
    assert (curve.baseline, curve.unrecorded, curve.peak.time_ns) == (512 + 100 + 64, 0, 2 * US)
    assert curve.reserved.tolist() == [0] * 7


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 50)), min_size=1, max_size=60, unique_by=lambda r: r[0]),
    st.integers(0, 210),
    st.integers(0, 210),
    st.integers(1, 12),
)
def test_bins_keep_lowest_highest_and_last(points: list[tuple[int, int]], start: int, end: int, most: int) -> None:
    end = max(start, end)
    (curve,) = memory_curves(model_of([memory(t, 1, t, total + 1) for t, total in points])).curves
    origin = min(t for t, _ in points)
    steps = [((t - origin) * US, total + 1) for t, total in sorted(points)]
    bins = memory_bins(curve, start * US, end * US, most)
    inside = [(t, value) for t, value in steps if start * US <= t <= end * US]
    earlier = [value for t, value in steps if t < start * US]
    assert bins.before.allocated == (earlier[-1] if earlier else curve.baseline)
    assert len(bins.time_ns) <= most
    assert int(bins.records.sum()) == len(inside)
    assert bins.peak.allocated == max([bins.before.allocated, *(value for _, value in inside)])
    at = 0
    for i, count in enumerate(bins.records.tolist()):
        piece = inside[at : at + count]
        at += count
        assert int(bins.time_ns[i]) == piece[0][0]
        assert int(bins.allocated_min[i]) == min(value for _, value in piece)
        assert int(bins.allocated_max[i]) == max(value for _, value in piece)
        assert int(bins.allocated_last[i]) == piece[-1][1]


# alive ------------------------------------------------------------------------------------------------------


def test_what_was_alive_at_the_peak() -> None:
    events = [
        op("aten::mm", 0, 10),
        memory(1, 100, 1, 1100),
        memory(20, 50, 2, 1150),
        memory(20, -100, 1, 1050),  # in the same microsecond as the peak
        memory(30, -50, 2, 1000),
    ]
    model = model_of(events)
    found = alive(model, "GPU0")
    assert (found.at.time_ns, found.at.allocated, found.known_bytes, found.unknown_bytes) == (20 * US, 1150, 150, 1000)
    assert found.blocks.operator == ("aten::mm", "")
    assert found.blocks.bytes.tolist() == [100, 50]
    assert found.blocks.alloc_ns.tolist() == [1 * US, 20 * US]
    at_20 = alive(model, "GPU0", 20 * US)
    assert (at_20.at.allocated, at_20.known_bytes) == (1050, 50)
    first = alive(model, "GPU0", limit=1)
    assert (len(first.blocks), first.blocks.total, first.known_bytes) == (1, 2, 150)
    before = alive(model, "GPU0", -1)
    assert (before.at.allocated, before.known_bytes, before.unknown_bytes) == (1000, 0, 1000)
    with pytest.raises(ValueError, match="no memory of 'GPU7'"):
        alive(model, "GPU7")


# missing ----------------------------------------------------------------------------------------------------


def test_files_before_1_10_have_only_sizes() -> None:
    model = model_of([op("a", 0, 10), memory(5, 8, None), memory(6, -8, None)])
    assert by_device(model) == {"GPU0": {"a": [0, 8, 1, 0, 8, 1, 1]}}
    assert memory_curves(model).missing == "no_memory_totals"
    found = memory_events(model)
    assert (len(found), found.reason) == (0, missing("no_memory_addresses").text)
    assert len(alive(model, "GPU0").blocks) == 0


def test_no_memory_at_all() -> None:
    model = model_of([op("a", 0, 10)])
    assert memory_operators(model) == ()
    assert memory_curves(model) == MemoryCurves((), "no_memory")
    assert memory_events(model).reason == missing("no_memory").text


def test_without_any_operator() -> None:
    model = model_of([memory(0, 8, 1, 8)])
    (table,) = memory_operators(model)
    assert (len(table), table.unattributed.size_increase) == (0, 8)
    assert set(table.to_columns()) >= {"name", "calls"}
