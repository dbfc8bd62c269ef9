"""Allocations and their releases: what becomes a block, and which blocks are listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.events import US, memory, model_of, op
from tests.unit.memory_events import CPU, curve_events, records
from torch_tb_profiler.analysis.memory.blocks import BlockFilter, BlockOrder, alive, memory_blocks, memory_events
from torch_tb_profiler.analysis.memory.records import NEVER, memory_records, pair
from torch_tb_profiler.model import Model

GPU = (1, 0)


def blocks(model: Model, **range_: Any) -> list[tuple[str, int, int, int]]:
    """device, bytes, allocated at, released at (µs, -1 for not)."""
    table = memory_events(model, **range_)
    columns = (table.bytes, table.alloc_ns, table.release_ns)
    rows = zip(table.device, *(column.tolist() for column in columns), strict=True)
    return [(device, size, *(t // US if t >= 0 else t for t in times)) for device, size, *times in rows]


def test_allocations_and_their_releases() -> None:
    assert blocks(model_of(curve_events())) == [
        *[("CPU", 4, 0, 19), ("GPU0", 400, 1, 21), ("CPU", 8000, 99, 199), ("GPU0", 5000, 104, 204)],
        *[("GPU0", 3000, 105, 500), ("CPU", 4, 299, 799), ("CPU", 16, 399, 599), ("GPU0", 1024, 400, 905)],
        *[("GPU0", 4, 498, 501), ("CPU", 4000, 499, 904), ("CPU", 80, 699, 899)],
    ]


def test_an_address_belongs_to_a_device() -> None:
    """Defect 11: a release on one device ended a block of another."""
    model = model_of([memory(0, 8, 1, device=GPU), memory(1, 8, 1, device=CPU), memory(2, -8, 1, device=CPU)])
    assert blocks(model) == [("GPU0", 8, 0, -1), ("CPU", 8, 1, 2)]


def test_nothing_is_lost_when_a_record_is_missing() -> None:
    """Defect 11: the row of the first allocation, and all but the last unmatched release, were lost."""
    sizes = [-1, -2, 3, 4, -4, -5, 6]
    model = model_of([memory(i, size) for i, size in enumerate(sizes)])
    assert blocks(model) == [
        *[("GPU0", 1, -1, 0), ("GPU0", 2, -1, 1), ("GPU0", 3, 2, -1), ("GPU0", 4, 3, 4), ("GPU0", 5, -1, 5)],
        ("GPU0", 6, 6, -1),
    ]
    # the block of 3 bytes was gone when its address was given out again
    assert [alive(model, "GPU0", at * US).known_bytes for at in range(7)] == [0, 0, 3, 4, 0, 0, 6]


def test_records_of_nothing_change_nothing() -> None:
    model = model_of([memory(0, 8), memory(1, 0), memory(2, -8)])
    assert blocks(model) == [("GPU0", 8, 0, 2)]


Record = tuple[int, int, int]  # device, address, bytes


def by_hand(given_records: list[Record]) -> tuple[list[int], list[int]]:
    """`next_here` and `mate`, by walking through the records."""
    next_here, mate = [NEVER] * len(given_records), [-1] * len(given_records)
    latest: dict[tuple[int, int], int] = {}
    for i, (device, address, size) in enumerate(given_records):
        if address < 0 or size == 0:
            continue
        before = latest.get((device, address))
        if before is not None:
            next_here[before] = i
            if given_records[before][2] > 0 and size < 0:
                mate[before], mate[i] = i, before
        latest[device, address] = i
    return next_here, mate


@given(records)
def test_pairs_are_those_of_a_walk_through_the_records(given_records: list[Record]) -> None:
    device, address, size = np.array(given_records, np.int64).reshape(-1, 3).T
    next_here, mate = pair(device, address, size)
    assert (next_here.tolist(), mate.tolist()) == by_hand(given_records)


@given(records)
def test_every_record_is_in_one_block(given_records: list[Record]) -> None:
    model = model_of(
        [memory(i, size, address, device=(device, 0)) for i, (device, address, size) in enumerate(given_records)]
    )
    found = memory_blocks(model)
    ends = [*found.allocation[found.allocation >= 0].tolist(), *found.release[found.release >= 0].tolist()]
    assert sorted(ends) == [i for i, (_, address, size) in enumerate(given_records) if address >= 0 and size]
    for device in memory_records(model).devices:
        for at in range(len(given_records)):
            kind = device.type
            latest = {a: (i, s) for i, (d, a, s) in enumerate(given_records[: at + 1]) if d == kind and a >= 0 and s}
            expected = sum(size for _, size in latest.values() if size > 0)
            assert alive(model, device.name, at * US).known_bytes == expected


def test_a_time_range_shows_blocks_with_an_end_in_it() -> None:
    model = model_of(curve_events())
    in_range = blocks(model, start_ns=199 * US, end_ns=399 * US, device="CPU")
    assert in_range == [("CPU", 8000, 99, 199), ("CPU", 4, 299, 799), ("CPU", 16, 399, 599)]


def test_the_longest_of_a_device() -> None:
    longest = memory_events(model_of(curve_events()), device="GPU0", order="duration_ns", descending=True)
    assert longest.duration_ns[0] == 505 * US


def names_and_sizes() -> Model:
    events = [op("aten::zeros", 0, 10), op("aten::empty", 2, 2), op("Add", 20, 10)]
    events += [memory(1, 64, 1), memory(3, 16, 2), memory(21, 32, 3), memory(40, -16, 2), memory(50, -8, 4)]
    return model_of(events)


@pytest.mark.parametrize(
    ("order", "up", "down"),
    [
        ("time", [64, 16, 32, 8], [8, 32, 16, 64]),
        ("bytes", [8, 16, 32, 64], [64, 32, 16, 8]),
        ("alloc_ns", [64, 16, 32, 8], [32, 16, 64, 8]),
        ("release_ns", [16, 8, 64, 32], [8, 16, 64, 32]),
        ("duration_ns", [16, 64, 32, 8], [16, 64, 32, 8]),
        ("operator", [32, 16, 64, 8], [64, 16, 32, 8]),
        ("parent", [16, 64, 32, 8], [16, 64, 32, 8]),
        ("device", [64, 16, 32, 8], [64, 16, 32, 8]),
    ],
)
def test_orders_with_what_is_missing_last(order: BlockOrder, up: list[int], down: list[int]) -> None:
    model = names_and_sizes()
    assert memory_events(model, order=order).bytes.tolist() == up
    assert memory_events(model, order=order, descending=True).bytes.tolist() == down


@pytest.mark.parametrize(
    ("only", "sizes"),
    [
        (BlockFilter(), [64, 16, 32, 8]),
        (BlockFilter(min_bytes=16), [64, 16, 32]),
        (BlockFilter(max_bytes=16), [16, 8]),
        (BlockFilter(min_bytes=16, max_bytes=32), [16, 32]),
        (BlockFilter("ZEROS"), [64, 16]),
        (BlockFilter("empty"), [16]),
        (BlockFilter("add", 64), []),
        (BlockFilter(""), [64, 16, 32, 8]),
    ],
)
def test_filters(only: BlockFilter, sizes: list[int]) -> None:
    table = memory_events(names_and_sizes(), only=only)
    assert table.bytes.tolist() == sizes
    assert (table.total, len(table)) == (len(sizes), len(sizes))


def test_who_allocated() -> None:
    events = [op("aten::zeros", 0, 10), op("aten::empty", 2, 2), memory(3, 8), memory(50, -8), memory(60, 4, 2)]
    table = memory_events(model_of(events))
    assert (table.operator, table.parent) == (("aten::empty", ""), ("aten::zeros", ""))
    assert (table.alloc_row.tolist(), table.release_row.tolist()) == ([2, 4], [3, -1])
