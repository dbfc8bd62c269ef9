"""What must hold on every trace there is: nothing is lost and nothing is counted twice, to the nanosecond."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.invariants.every_trace import each_configuration, each_recorded, each_sample, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from torch_tb_profiler.analysis.device_time import step_overlap
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.memory.blocks import alive, memory_blocks
from torch_tb_profiler.analysis.memory.operators import memory_operators
from torch_tb_profiler.analysis.memory.records import memory_bins, memory_curves, memory_records
from torch_tb_profiler.analysis.operators.calls import operator_calls
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.insights import findings
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK
from torch_tb_profiler.web.old_plugin import shapes


def check_sums(model: Model) -> None:
    events = model.trace.events
    is_work = np.isin(events.category, DEVICE_WORK)
    device_ns = int(np.maximum(events.duration[is_work], 0).sum())

    for group_by in ("name", "name_shape", "name_stack", "name_shape_stack"):
        table = operators(model, group_by)
        assert int(table.device_self_ns.sum()) + table.unattributed_device_ns == device_ns == table.device_ns
        assert int(table.host_self_ns.sum()) == table.host_ns
        assert (table.device_total_ns >= table.device_self_ns).all()
    calls = operator_calls(model)
    assert int(calls.kernels.sum()) <= int((events.category == Category.KERNEL).sum())

    overlap = step_overlap(model)
    parts = (overlap.computation_ns, overlap.overlap_ns, overlap.communication_only_ns, overlap.other_ns)
    assert all((part >= 0).all() for part in parts)
    assert (np.sum(parts, axis=0) == overlap.duration_ns).all()
    on_device = model.communications.operations.on_device[model.communications.ranges.operation]
    assert int(on_device.sum()) == int(model.device_links.is_communication.sum())

    is_kernel = events.category == Category.KERNEL
    for grouping in ("name", "name_op_launch"):
        found = kernels(model, grouping)
        assert int(found.total_ns.sum()) == int(np.maximum(events.duration[is_kernel], 0).sum())
        assert int(found.calls.sum()) == int(is_kernel.sum())
        assert (found.min_ns <= found.mean_ns).all()
        assert (found.mean_ns <= found.max_ns).all()
    copies = sum(t.total_ns for t in (*found.memcpy, *found.memset))
    assert int(found.total_ns.sum()) + copies == device_ns

    times = step_times(model)
    of_categories = np.array([times.category_ns[c] for c in times.categories]).reshape(len(times.categories), -1)
    assert (of_categories >= 0).all()
    assert of_categories.sum(axis=0).tolist() == times.duration_ns.tolist()


def check_memory(model: Model, complete: bool = True) -> None:
    """`complete`: the recording is a real one, in which no record contradicts another."""
    records, blocks = memory_records(model), memory_blocks(model)
    memory = model.memory
    ends = np.concatenate([blocks.allocation[blocks.allocation >= 0], blocks.release[blocks.release >= 0]])
    assert sorted(ends.tolist()) == np.flatnonzero((memory.address >= 0)[records.entry] & (records.bytes != 0)).tolist()

    known = operators(model)
    calls = dict(zip(known.name, known.calls.tolist(), strict=True))
    for i, table in enumerate(memory_operators(model)):
        size = records.bytes[records.device == i]
        for own, outside, everything in (
            (table.self_size_increase, table.unattributed.size_increase, size.sum()),
            (table.self_allocation_count, table.unattributed.allocation_count, (size > 0).sum()),
            (table.self_allocation_size, table.unattributed.allocation_size, size[size > 0].sum()),
        ):
            assert int(own.sum()) + outside == int(everything)
        assert (table.allocation_size >= table.self_allocation_size).all()
        assert (table.allocation_size <= table.all.allocation_size).all()
        assert [calls[name] for name in table.name] == table.calls.tolist()

    for curve in memory_curves(model).curves:
        changed = int(records.bytes[curve.position].sum())
        assert int(curve.allocated[-1]) == curve.baseline + changed + curve.unrecorded
        assert curve.peak.allocated == int(curve.allocated.max())
        bins = memory_bins(curve, 0, int(curve.time_ns[-1]), 100)
        assert int(bins.allocated_max.max()) == curve.peak.allocated
        at_peak = alive(model, curve.device.name)
        assert at_peak.known_bytes + at_peak.unknown_bytes == curve.peak.allocated
        if complete:
            assert curve.unrecorded == 0
            assert (curve.allocated >= 0).all()
            # what was there before can only be released
            times = np.unique(np.linspace(0, len(curve) - 1, 20).astype(np.int64))
            unknown = [alive(model, curve.device.name, int(curve.time_ns[i])).unknown_bytes for i in times]
            assert curve.baseline >= unknown[0]
            assert unknown == sorted(unknown, reverse=True)
            assert unknown[-1] >= 0


@each_recorded
def test_recorded_traces(path: Path) -> None:
    model = shared_model_of(path)
    check_sums(model)
    check_memory(model, complete="units" not in path.parts)
    findings(model)
    for route in (shapes.kernel, shapes.kernel_tc_pie):
        route(model)
    shapes.overview(model, 1)
    for group_by in ("Operation", "OperationAndInputShape"):
        shapes.operation(model, group_by)
        shapes.operation_table(model, group_by)
        shapes.kernel_table(model, group_by)


@each_sample
def test_samples(path: Path) -> None:
    model = shared_model_of(path)
    check_sums(model)
    check_memory(model)


@each_configuration
def test_generated_traces(config: Config) -> None:
    model, expected = generated(config)
    check_sums(model)
    check_memory(model)
    table = operators(model)
    at = {name: i for i, name in enumerate(table.name)}
    assert at.keys() == expected.ops.keys()
    for name, truth in expected.ops.items():
        i = at[name]
        assert int(table.calls[i]) == truth.calls
        assert int(table.host_total_ns[i]) == truth.host_ns
        if name != "record_param_comms":  # holds annotations, which the generator does not take away
            assert int(table.host_self_ns[i]) == truth.host_self_ns - truth.call_ns
        assert int(table.device_self_ns[i]) == truth.device_self_ns
        assert int(table.device_total_ns[i]) == truth.device_ns
    assert table.unattributed_device_ns == expected.unattributed_ns
    assert table.device_ns == expected.total_device_ns
    found = kernels(model)
    by_name = {n: (int(c), int(ns)) for n, c, ns in zip(found.name, found.calls, found.total_ns, strict=True)}
    assert by_name == dict(expected.kernels)
