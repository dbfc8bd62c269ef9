"""Queries give the numbers of the API, on a generated and a recorded sample and on a trace that is generated here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.api import Profile, TraceProfile
from torch_tb_profiler.model.selection import StepRange, events_of_steps, select_steps, step_of_events, steps_in_range
from torch_tb_profiler.tables.sql.tables import TABLES

TRACES = ("rank", "recorded_cnn", "generated")


@pytest.fixture(params=TRACES)
def trace(request: pytest.FixtureRequest) -> TraceProfile:
    found: TraceProfile = request.getfixturevalue(request.param)
    return found


def pairs(trace: TraceProfile, statement: str) -> dict[Any, Any]:
    return {row[0]: row[1] if len(row) == 2 else row[1:] for row in trace.sql(statement)}


def test_kernels_by_name(trace: TraceProfile) -> None:
    table = trace.kernels()
    expected = {
        name: (calls, ns, largest, short, kind, library)
        for name, calls, ns, largest, short, kind, library in zip(
            *(table.name, table.calls, table.total_ns, table.max_ns, table.short_name, table.kind, table.library),
            strict=True,
        )
    }
    found = pairs(
        trace,
        "select name, count(*), sum(duration_ns), max(duration_ns), any_value(short_name), any_value(kind), "
        "any_value(library) from kernels group by name",
    )
    assert found == expected


def test_operators_by_name(trace: TraceProfile) -> None:
    table = trace.operators()
    expected = {
        name: (calls, own, device_self)
        for name, calls, own, device_self in zip(
            table.name, table.calls, table.host_self_ns, table.device_self_ns, strict=True
        )
    }
    found = pairs(
        trace,
        "select name, count(self_ns), sum(self_ns), sum(device_self_ns) from operators "
        "where self_ns is not null group by name",
    )
    assert found == expected


def test_operators_by_name_and_shape(trace: TraceProfile) -> None:
    table = trace.operators("name_shape")
    assert table.input_shape is not None
    expected = dict(zip(zip(table.name, table.input_shape, strict=True), table.calls.tolist(), strict=True))
    rows = trace.sql(
        "select name, coalesce(input_shape, ''), count(*) from operators where self_ns is not null group by all"
    )
    assert {row[:2]: row[2] for row in rows} == expected


def test_steps(trace: TraceProfile) -> None:
    steps = trace.steps
    columns = ", ".join(f"{name}_ns" for name in steps.categories)
    found = list(trace.sql(f"select step, start_ns, duration_ns, {columns} from steps order by start_ns"))
    assert found == list(
        zip(
            steps.names,
            *(steps.start_ns.tolist(), steps.duration_ns.tolist()),
            *(steps.category_ns[name].tolist() for name in steps.categories),
            strict=True,
        )
    )


def test_work_of_one_step(trace: TraceProfile) -> None:
    """What is chosen with from_step and to_step is what has that step."""
    name = trace.steps.names[1]
    chosen = trace.model.of_steps(StepRange(name, name))
    table = operators(chosen)
    found = pairs(
        trace, f"select name, count(self_ns) from operators where step = '{name}' and self_ns is not null group by 1"
    )
    assert found == dict(zip(table.name, table.calls.tolist(), strict=True))
    kernels = trace.answer("kernels", from_step=name, to_step=name)
    listed = pairs(trace, f"select name, count(*) from kernels where step = '{name}' group by 1")
    assert listed == dict(zip(kernels.values["name"], np.asarray(kernels.values["calls"]).tolist(), strict=True))


def test_copies_by_kind(trace: TraceProfile) -> None:
    table = trace.copies()
    found = {
        row[:2]: row[2:]
        for row in trace.sql("select device, kind, count(*), sum(duration_ns), sum(bytes) from copies group by all")
    }
    assert found == {
        (device, kind): (calls, ns, size or None)
        for device, kind, calls, ns, size in zip(
            *(table.device.tolist(), table.kind, table.calls.tolist(), table.total_ns.tolist(), table.bytes.tolist()),
            strict=True,
        )
    }


def test_gaps_by_cause(trace: TraceProfile) -> None:
    found = {
        row[:2]: row[2:] for row in trace.sql("select device, cause, count(*), sum(duration_ns) from gaps group by all")
    }
    if not trace.model.has_device_work:
        assert found == {}
        return
    table = trace.idle_times()
    assert found == {
        (device, cause): (gaps, ns)
        for device, cause, gaps, ns in zip(
            table.device.tolist(), table.cause, table.gaps.tolist(), table.total_ns.tolist(), strict=True
        )
    }


def test_launches_by_api(trace: TraceProfile) -> None:
    table = trace.launch_stats()
    found = pairs(
        trace,
        "select name, count(*), sum(pieces), sum(duration_ns), sum(device_ns), max(delay_ns) from launches "
        "where pieces > 0 group by name",
    )
    columns = (table.calls, table.pieces, table.host_ns, table.device_ns, table.delay_max_ns)
    assert found == dict(zip(table.name, zip(*(column.tolist() for column in columns), strict=True), strict=True))


def test_memory(trace: TraceProfile) -> None:
    table = trace.memory_events()
    (row,) = trace.sql(
        "select count(*), sum(bytes), count(alloc_ns), count(release_ns), sum(duration_ns), count(operator) from memory"
    )
    assert row == (
        len(table),
        int(table.bytes.sum()) if len(table) else None,
        int((table.alloc_ns >= 0).sum()),
        int((table.release_ns >= 0).sum()),
        int(table.duration_ns[table.duration_ns >= 0].sum()) if (table.duration_ns >= 0).any() else None,
        sum(1 for name in table.operator if name),
    )


def test_modules(trace: TraceProfile) -> None:
    expected = (
        []
        if not trace.module_sources
        else list(
            zip(
                *(getattr(trace.modules(), key) for key in ("name", "calls", "host_total_ns", "device_self_ns")),
                strict=True,
            )
        )
    )
    source = trace.module_sources[0] if trace.module_sources else "nn"
    found = trace.sql(
        f"select name, calls, host_total_ns, device_self_ns from modules where source = '{source}' order by id"
    )
    assert [*found] == expected


def test_events_and_frames(trace: TraceProfile) -> None:
    model = trace.model
    (row,) = trace.sql("select count(*), count(duration_ns), sum(duration_ns), max(end_ns) from events")
    events = model.trace.events
    known = events.duration[events.duration >= 0]
    assert row == (len(events), len(known), int(known.sum()), int(events.end.max()))
    (frames,) = trace.sql("select count(*), count(parent_row), max(depth) from frames")
    tree = model.frames
    assert frames == (len(tree), int((tree.parent >= 0).sum()), int(tree.depth.max()) if len(tree) else None)


def test_exposed_communication_is_that_of_the_steps(rank: TraceProfile) -> None:
    """Kernels of one rank on one stream do not overlap, so that their exposed parts add up to the device's."""
    (found,) = rank.sql("select sum(exposed_ns), sum(duration_ns) from kernels where is_communication")
    device = rank.device_time("work")
    assert found[0] == int(device.exposed_communication_ns.sum())
    assert found[1] >= found[0] > 0
    (others,) = rank.sql("select count(exposed_ns) from kernels where not is_communication")
    assert others == (0,)


def test_collectives_and_ranks_of_a_run(four_ranks: Profile) -> None:
    run = four_ranks.run()
    assert [*four_ranks.sql("select worker, step_ns, late_ns, named from ranks order by worker")] == list(
        zip(run.ranks.worker, run.ranks.step_ns, run.ranks.late_ns, run.ranks.named, strict=True)
    )
    assert [*four_ranks.sql("select name, calls, transfer_ns, busbw from collectives")] == [
        (row.name, row.calls, row.transfer_ns, row.busbw) for row in run.collectives
    ]


def test_all_traces_together_are_each_of_them(four_ranks: Profile) -> None:
    found = {
        row[0]: row[1:]
        for row in four_ranks.sql("select worker, count(*), sum(duration_ns) from all_kernels group by 1")
    }
    assert len(found) == 4
    for trace in four_ranks:
        table = trace.kernels()
        assert found[trace.worker] == (int(table.calls.sum()), int(table.total_ns.sum()))
        (alone,) = four_ranks.sql(f"select count(*), sum(duration_ns) from {trace.worker}.kernels")
        assert alone == found[trace.worker]


def test_the_step_of_events_is_that_of_a_choice_of_steps(trace: TraceProfile) -> None:
    model = trace.model
    found = step_of_events(model.structure, model.steps)
    frames = np.isin(np.arange(len(found)), model.trace.python_frames.row)
    seen = np.zeros(len(found), np.bool_)
    for at, name in enumerate(model.steps.names):
        only = select_steps(model.steps, steps_in_range(model.steps, StepRange(name, name)))
        expected = events_of_steps(model.structure, only) & ~frames
        mine = (found == at) & ~frames
        assert not (mine & ~expected).any(), name
        # metadata belongs to every choice, and work without a launch to the first of two
        left = expected & ~mine & ~seen & (model.trace.events.category != 16)
        assert not left.any(), name
        seen |= mine


def test_functions(rank: TraceProfile, four_ranks: Profile) -> None:
    assert [*rank.sql("select ms(1500000), overlap_ns(0, 10, 5, 20), overlap_ns(0, 5, 10, 20)")] == [(1.5, 5, 0)]
    table = rank.kernels()
    assert pairs(rank, "select name, any_value(short(name)) from kernels group by 1") == dict(
        zip(table.name, table.short_name, strict=True)
    )
    assert [*rank.sql("select short('aten::mm'), short(null)")] == [("aten::mm", None)]
    steps = rank.steps
    first, last = int(steps.start_ns[0]), int(steps.start_ns[-1] + steps.duration_ns[-1])
    asked = f"select in_steps({first - 9}, {first}), in_steps({first - 9}, {first + 1}), in_steps({last}, {last + 9})"
    assert [*rank.sql(asked)] == [(False, True, False)]
    (inside,) = four_ranks.sql("select count(*) from rank0.kernels where rank0.in_steps(start_ns, end_ns)")
    (expected,) = rank.sql(f"select count(*) from kernels where start_ns < {last} and end_ns > {first}")
    assert inside == expected


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_what_is_not_known_is_null(trace: TraceProfile, table: Any) -> None:
    """No -1, no NaN and no empty text; and columns that say that they are never NULL never are."""
    rows = trace.sql(f"select * from {table.name}")
    columns = dict(zip(rows.columns, zip(*rows.rows, strict=True), strict=False))
    negative = {"delay_ns", "depth", "self_ns", "host_self_ns"}
    for column in table.columns:
        values = columns.get(column.name, ())
        if not column.missing:
            assert None not in values, column.name
        if column.type == "string":
            assert "" not in values, column.name
        elif column.name not in negative:
            assert not any(value is not None and not value >= 0 for value in values), column.name
