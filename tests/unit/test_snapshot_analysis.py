"""What is computed of a memory snapshot, against an allocator that knows what was true after every record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.snapshots import Allocator, MiB, dumped, fragmented, random_run, stack
from torch_tb_profiler.analysis.snapshot.alive import WhichTree, alive_rows, alive_stacks
from torch_tb_profiler.analysis.snapshot.allocation_patterns import churn, growth, lifetime_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import History, histories, moments
from torch_tb_profiler.analysis.snapshot.layout import fragmentation, pools, segment_layout
from torch_tb_profiler.analysis.snapshot.oom import ooms
from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
from torch_tb_profiler.analysis.snapshot.timeline import columns_of, drawing
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import SNAPSHOT_TABLES, StackRanges
from torch_tb_profiler.snapshot.state import write
from torch_tb_profiler.snapshot.unpickle_stream import unpickle_bytes
from torch_tb_profiler.trace import Trace


class _Tables:
    """Keeps tables in memory."""

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}

    def add(self, kind: Any, columns: Any) -> None:
        self.found[kind] = kind.from_columns(columns)

    def load(self, kind: Any) -> Any:
        return self.found.get(kind) or kind.empty()


def model_of(content: bytes) -> Model:
    """The model of a snapshot, read in this process."""
    tables = _Tables()
    info = write(unpickle_bytes(content), tables, len(content))
    assert tables.found.keys() <= set(SNAPSHOT_TABLES)
    return Model(Trace(info, tables.load))


@pytest.mark.parametrize("change", [{"depth": 2**31 - 1}, {"depth": -1}, {"depth": 0}, {"start": 3}, {"start": -1}])
def test_stacks_that_their_frames_are_not_are_refused(change: dict[str, int]) -> None:
    """A cached file may hold any numbers: the frames of all stacks together would take 96 GiB."""
    tables = _Tables()
    content = dumped(random_run(0).snapshot())
    info = write(unpickle_bytes(content), tables, len(content))
    for name, value in change.items():
        getattr(tables.found[StackRanges], name)[:] = value
    model = Model(Trace(info, tables.load))
    with pytest.raises(ValueError, match="not made of these frames"):
        stack_names(model)


def first(model: Model) -> History:
    return histories(model)[0]


RUNS = [
    pytest.param({"seed": seed, "expandable": expandable, "streams": streams, "pools": pools}, id=f"{seed}")
    for seed, expandable, streams, pools in (
        (0, False, 1, 1),
        (1, False, 2, 1),
        (2, True, 1, 1),
        (3, False, 1, 2),
        (4, True, 2, 2),
        (5, False, 3, 1),
    )
]


@pytest.mark.parametrize("run", RUNS)
def test_curves_and_layout_are_true_after_every_record(run: dict[str, Any]) -> None:
    allocator = random_run(**run)
    history = first(model_of(dumped(allocator.snapshot())))
    curves = history.curves
    assert history.contradictions == {}
    assert curves.allocated_exact
    log = allocator.log
    assert curves.requested[1:].tolist() == [truth.requested for truth in log]
    assert curves.allocated[1:].tolist() == [truth.allocated for truth in log]
    assert curves.active[1:].tolist() == [truth.active for truth in log]
    assert curves.reserved[1:].tolist() == [truth.reserved for truth in log]
    assert (curves.requested[0], curves.reserved[0]) == (0, 0)
    for position in range(0, len(log), 3):
        found = segment_layout(history, position)
        free = zip(found.piece_address[found.is_free].tolist(), found.piece_bytes[found.is_free].tolist(), strict=True)
        assert frozenset(free) == log[position].free
        assert int(found.bytes.sum()) == log[position].reserved
        assert sum(row.free for row in pools(found)) == sum(size for _, size in log[position].free)


@pytest.mark.parametrize("run", RUNS[:3])
def test_what_is_left_of_a_ring_buffer_is_true_however_little_it_is(run: dict[str, Any]) -> None:
    allocator = random_run(**run)
    log = allocator.log
    for kept in range(1, len(log), 7):
        history = first(model_of(dumped(allocator.snapshot(last=kept))))
        curves = history.curves
        assert history.contradictions == {}
        assert curves.requested[1:].tolist() == [truth.requested for truth in log[-kept:]]
        assert curves.reserved[1:].tolist() == [truth.reserved for truth in log[-kept:]]
        assert (curves.requested[0], curves.reserved[0]) == (log[-kept - 1].requested, log[-kept - 1].reserved)
        for lower, higher in (
            (curves.requested, curves.allocated),
            (curves.allocated, curves.active),
            (curves.active, curves.reserved),
        ):
            assert (lower <= higher).all()


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("most", [0, 5, 10_000])
def test_what_is_drawn_adds_up_to_the_curve_in_every_column(run: dict[str, Any], most: int) -> None:
    model = model_of(dumped(random_run(**run).snapshot(last=60)))
    history = first(model)
    time = history.device.records.time
    whole, window = (None, None), (int(time[20]), int(time[40]))
    for axis, (left, right) in (("time", whole), ("record", whole), ("time", window)):
        columns = columns_of(history, axis, left, right, 25)  # type: ignore[arg-type]
        shapes, bands = drawing(history, stack_names(model), columns, "line", most)
        sums = np.zeros(len(columns.x), np.int64)
        for life, begin, end in zip(shapes.life, shapes.begin, shapes.end, strict=True):
            sums[begin:end] += history.lifetimes.requested[life]
        for band in bands:
            sums += band.bytes
        assert sums.tolist() == columns.requested.tolist()
        assert (columns.lowest <= columns.requested).all()
        if window == (None, None):
            assert max(columns.requested) == max(history.curves.requested)


@pytest.mark.parametrize("run", RUNS[:3])
def test_what_is_alive_adds_up_to_the_curve(run: dict[str, Any]) -> None:
    model = model_of(dumped(random_run(**run).snapshot(last=70)))
    history, names = first(model), stack_names(model)
    for position in range(-1, history.last + 1, 5):
        curve = int(history.curves.requested[position + 1])
        for by in ("line", "stack", "size", "stream"):
            assert int(alive_rows(history, names, position, by).bytes.sum()) == curve  # type: ignore[arg-type]
        for direction in ("top_down", "bottom_up"):
            for shown in ("python", "own", "all"):
                tree = alive_stacks(history, names, position, WhichTree(direction=direction, frames=shown), 0)
                assert tree is not None
                assert int(tree.self_ns.sum()) == curve
        difference = alive_rows(history, names, position, "stack", since=10).difference
        assert int(difference.sum()) == curve - int(history.curves.requested[11])


@pytest.mark.parametrize(
    ("skip", "missing"),
    [
        (("free_completed",), ("free_completed",)),
        (("free_requested",), ("free_requested",)),
        (("segment_alloc", "segment_free"), ()),
        (("free_requested", "free_completed"), ("free_requested", "free_completed")),
        (("alloc",), ("alloc",)),
    ],
)
def test_actions_that_were_not_recorded_are_said(skip: tuple[str, ...], missing: tuple[str, ...]) -> None:
    allocator = random_run(7)
    history = first(model_of(dumped(allocator.snapshot(skip=skip))))
    assert history.lifetimes.missing == missing
    assert int(history.curves.requested[-1]) == allocator.log[-1].requested
    if "segment_alloc" not in skip:
        assert int(history.curves.reserved[-1]) == allocator.log[-1].reserved


def test_contradictions_are_counted_and_nothing_is_repaired() -> None:
    allocator = random_run(3)
    snapshot = allocator.snapshot()
    records = snapshot["device_traces"][0]
    place = next(i for i, record in enumerate(records) if record["action"] == "free_completed")
    snapshot["device_traces"] = [[*records[: place + 1], records[place], *records[place + 1 :]]]
    block = next(b for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated")
    block["requested_size"] += 1
    snapshot["segments"][0]["total_size"] += 512
    model = model_of(dumped(snapshot))
    assert first(model).contradictions == {"released_twice": 1, "size_differs": 1}
    assert memory_snapshot(model).contradictions == 3


def test_why_memory_ran_out_of_pieces() -> None:
    allocator = fragmented()
    model = model_of(dumped(allocator.snapshot()))
    (oom,) = ooms(model)
    free = [size for _, size in allocator.log[-2].free if size != 0 and size >= MiB]
    assert (oom.reason, oom.requested, oom.segment_needed) == ("fragmented", 256 * MiB, 256 * MiB)
    assert oom.device_free == (1 << 30) - allocator.reserved
    assert oom.largest == max(free)
    assert oom.free >= oom.requested > oom.largest
    assert oom.holders[0].line == "/app/train.py(14): kept"
    assert (oom.holders[0].blocks, oom.holders[0].bytes) == (80, 400 * MiB)
    assert oom.expandable_helps
    assert oom.pool_known
    assert memory_snapshot(model).text.startswith("Fragmented: 256 MiB was requested at /app/train.py(16)")
    assert [moment.kind for moment in moments(first(model))] == ["start", "peak", "reserved_peak", "oom", "end"]


@pytest.mark.parametrize(
    ("reason", "stream", "pool", "pending", "limit"),
    [
        ("other_stream", 7, (0, 0), False, False),
        ("other_pool", 0, (1, 0), False, False),
        ("pending", 0, (0, 0), True, False),
        ("limit", 0, (0, 0), False, True),
        ("full", 0, (0, 0), False, False),
    ],
)
def test_why_memory_ran_out(reason: str, stream: int, pool: tuple[int, int], pending: bool, limit: bool) -> None:
    allocator = Allocator(capacity=200 * MiB)
    kept = allocator.malloc(100 * MiB, stack("kept"), stream, pool)
    # what stays in the segment, so that it is not given back
    anchor = allocator.malloc(60 * MiB, stack("anchor"), stream, pool)
    assert kept is not None
    assert anchor is not None
    if reason in ("other_stream", "other_pool"):
        allocator.free(kept, stack("main"))
        allocator.malloc(20 * MiB, stack("corner"), stream, pool)
    if pending:
        allocator.free(kept, stack("main"), completed=False)
    assert allocator.malloc(70 * MiB, stack("wanted")) is None
    if limit:
        allocator.records[-1]["device_free"] = 10 << 30
    (oom,) = ooms(model_of(dumped(allocator.snapshot())))
    assert oom.reason == reason


def test_what_grows_in_every_step() -> None:
    (found,) = growth(model_of(dumped(fragmented(leak=5000).snapshot())))
    assert (found.rule, found.steps, found.per_step) == ("optimizer", 4, 5000)
    assert [(each.blocks, each.steps) for each in found.stacks] == [(3, 4)]
    (steady,) = growth(model_of(dumped(fragmented(leak=0, steps=2).snapshot())))
    assert (steady.steps, steady.per_step) == (2, None)


def test_lifetimes_and_churn() -> None:
    allocator = Allocator()
    for _ in range(5):
        address = allocator.malloc(8 * MiB, stack("short"))
        assert address is not None
        allocator.free(address, stack("main"))
        allocator.empty_cache(stack("main"))
    allocator.malloc(3 * MiB, stack("long"))
    model = model_of(dumped(allocator.snapshot()))
    history = first(model)
    rows = lifetime_rows(history, stack_names(model))
    assert rows.line == ("/app/train.py(15): short", "/app/train.py(14): long")
    assert rows.median_ns.tolist() == [7000, -1]
    assert rows.churn.tolist() == [5, 0]
    assert rows.at_end.tolist() == [0, 3 * MiB]
    found = churn(history)
    assert (found.blocks, found.bytes, found.empty_cache) == (5, 40 * MiB, 5)
    assert fragmentation(segment_layout(history, history.last)) == 0


def test_a_dump_without_history_has_its_state() -> None:
    allocator = random_run(11)
    snapshot = allocator.snapshot(last=0)
    for segment in snapshot["segments"]:  # as torch 2.0 wrote it
        for block in segment["blocks"]:
            del block["address"]
            frames = block.pop("frames")
            block["history"] = [{"addr": 0, "real_size": block["requested_size"], "frames": frames}]
    model = model_of(dumped(snapshot))
    history = first(model)
    assert int(history.curves.requested[-1]) == allocator.log[-1].requested
    assert int(history.curves.allocated[-1]) == allocator.log[-1].allocated
    assert history.curves.allocated_exact
    rows = alive_rows(history, stack_names(model), -1, "line")
    assert all(line.startswith("/app/train.py") for line in rows.line)
    columns = columns_of(history, "time", None, None, 100)
    assert columns.requested.tolist() == [allocator.log[-1].requested]
