"""One quantity is one number, whichever view shows it: of devices and communication, to the nanosecond."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from torch_tb_profiler.analysis.utilization import device_use

from tests.invariants.test_sums import CONFIGURATIONS, ROOT, SHARED, model_of, short, traces
from tests.tracegen import Config, generate
from torch_tb_profiler.analysis.counters import counters
from torch_tb_profiler.analysis.device_time import DeviceTime, device_time
from torch_tb_profiler.analysis.idle import idle_gaps
from torch_tb_profiler.analysis.overlap import step_overlap
from torch_tb_profiler.analysis.overview.overview import average_step, step_gpu_busy, step_times
from torch_tb_profiler.analysis.run_metrics.metrics import figures
from torch_tb_profiler.analysis.shared.device_roles import all_device_spans, device_spans, rank_spans
from torch_tb_profiler.analysis.shared.quantities import (
    COMMUNICATION,
    EXPOSED_COMMUNICATION,
    GPU_BUSY,
    UNCOVERED_COMMUNICATION,
    Role,
)
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.insights import findings
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.build import build
from torch_tb_profiler.timeline.counters import counter_tile
from torch_tb_profiler.timeline.pyramid import BUCKETS_OF_TILE, tile_length
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.totals import DeviceTotal, totals
from torch_tb_profiler.trace import read_trace


def check_steps(model: Model) -> None:
    """What is said of a step: in the overview, of the ranks, of its devices, and in the row of the trace."""
    steps, overlap, by_device = model.steps, step_overlap(model), device_time(model, "steps")
    exposed = overlap.exposed_communication_ns
    used = model.used_devices
    kernels_only = bool(model.communications.operations.on_device[model.communications.ranges.operation].all())
    if len(used) == 1 and kernels_only and all_device_spans(model)[Role.COMPUTE].size:
        assert (by_device.device == used[0]).all()
        assert by_device.exposed_communication_ns.tolist() == exposed.tolist()
        assert by_device.communication_ns.tolist() == (exposed + overlap.overlap_ns).tolist()
        assert by_device.compute_ns.tolist() == (overlap.computation_ns + overlap.overlap_ns).tolist()
    row, busy = figures(model), step_gpu_busy(model)
    if not len(steps):
        return
    assert row.exposed_ns == pytest.approx(exposed.mean())
    assert row.gpu_busy_ns is None if busy is None else row.gpu_busy_ns == pytest.approx(busy.mean())
    uses = device_use(model)
    if busy is not None and len(uses) == len(used) == 1 and (model.device_work.device[model.is_work] >= 0).all():
        window = int((steps.end - steps.start).sum())
        assert uses[0].utilization is None if not window else uses[0].utilization == pytest.approx(busy.sum() / window)


def check_communication_of_steps(model: Model) -> None:
    """A step's category has no more than what is exposed, and advice calls each by its name."""
    steps = model.steps
    category = step_times(model).category_ns.get("communication", np.zeros(len(steps), np.int64))
    none = intervals.EMPTY
    spans = rank_spans(model, none)
    assert category.tolist() == UNCOVERED_COMMUNICATION.between(spans, steps.start, steps.end).tolist()
    assert (category <= EXPOSED_COMMUNICATION.between(spans, steps.start, steps.end)).all()
    shown = {
        "Exposed communication": step_overlap(model).exposed_communication_ns,
        "Communication": category,
    }
    for finding in findings(model):
        for evidence in finding.evidence:
            name, per_step, _ = evidence.label.partition(", average per step")
            if per_step and name in shown:
                assert evidence.value == pytest.approx(shown[name].mean()), evidence.label
    assert average_step(model).category_ns.get("communication", 0) == pytest.approx(
        category.mean() if len(steps) else 0
    )


def check_device_counters(model: Model) -> None:
    """The counters that are added to a trace file."""
    for device in counters(model).devices:
        chosen = model.device_work.device == device.device
        busy = GPU_BUSY.between(device_spans(model, chosen), device.start[:-1], device.start[1:])
        assert (device.utilization[:-1] * np.diff(device.start)).tolist() == pytest.approx(busy.tolist())


def integral(timeline: Timeline, kind: str, device: int) -> float:
    """ns of a counter of 0 and 1 over the whole trace."""
    counter = next((c for c in timeline.counters.listed if (c.kind, c.place) == (kind, device)), None)
    if counter is None:
        return 0.0
    level = timeline.highest_level
    width = tile_length(level) // BUCKETS_OF_TILE
    found = 0.0
    for tile in range(timeline.begin // tile_length(level), timeline.end // tile_length(level) + 1):
        edges = tile * tile_length(level) + np.arange(BUCKETS_OF_TILE + 1) * width
        lengths = np.diff(np.clip(edges, timeline.begin, timeline.end))
        found += float((np.nan_to_num(counter_tile(timeline, counter, level, tile).mean) * lengths).sum())
    return found


def same(total: DeviceTotal, time: DeviceTime, i: int) -> None:
    assert total.busy_ns == time.busy_ns[i]
    assert total.idle_ns == time.idle_ns[i]
    assert total.communication_ns == time.communication_ns[i]
    assert total.exposed_communication_ns == time.exposed_communication_ns[i]


def check_timeline(model: Model) -> None:
    """Sums over a window of the timeline, its counters and its overview, beside the times of devices."""
    by_step, whole = device_time(model, "steps"), device_time(model)
    gaps, names = idle_gaps(model), model.steps.names
    spans = {d: device_spans(model, model.device_work.device == d) for d in model.used_devices}
    everything = all_device_spans(model)
    steps = dict(zip(names, zip(model.steps.start.tolist(), model.steps.end.tolist(), strict=True), strict=True))
    timeline = build(model)
    lanes = np.arange(timeline.lanes)
    tracks = timeline.trace.events.track[timeline.trace.device_work.row]
    if not np.array_equal(timeline.device_of_track[tracks], timeline.trace.device_work.device):
        return  # work on the track of another device: the timeline goes by tracks
    for time, windows in ((by_step, steps), (whole, None)):
        for i, device in enumerate(time.device.tolist()):
            start = int(time.start_ns[i])
            begin, end = windows[time.step[i]] if windows else (start, start + int(time.window_ns[i]))
            if device < 0 or end <= begin:
                continue
            found = {total.device: total for total in totals(timeline, lanes, begin, end).devices}
            same(found[device], time, i)
            edges = np.array([begin]), np.array([end])
            assert found[device].kernel_ns == GPU_BUSY.between(spans[device], *edges)[0]
    for i, device in enumerate(whole.device.tolist()):
        if device < 0:
            continue
        assert int(gaps.duration_ns[gaps.device == device].sum()) == whole.idle_ns[i]
        kernel_ns = intervals.total(GPU_BUSY.spans(spans[device]))
        assert integral(timeline, "gpu_utilization", device) == pytest.approx(kernel_ns, abs=1e-3)
        exposed = float(whole.exposed_communication_ns[i])
        assert integral(timeline, "exposed_communication", device) == pytest.approx(exposed, abs=1e-3)
    assert sum(timeline.summary.communication) == intervals.total(COMMUNICATION.spans(everything))


def check(model: Model) -> None:
    check_steps(model)
    check_communication_of_steps(model)
    check_device_counters(model)
    check_timeline(model)


@pytest.mark.parametrize("path", traces(ROOT / "samples"), ids=short)
def test_samples(path: Path) -> None:
    check(model_of(path))


@pytest.mark.parametrize(
    "config",
    [*CONFIGURATIONS.values(), Config(steps=2, layers=2, ranks=2, stream_overlap=True, overlap=0.5)],
    ids=[*CONFIGURATIONS, "overlapping kernels"],
)
def test_generated_traces(config: Config) -> None:
    document, _ = generate(config)
    check(Model(read_trace(BytesIO(json.dumps(document).encode()))))


@pytest.mark.parametrize("path", traces(SHARED), ids=short)
def test_recorded_traces(path: Path) -> None:
    check(model_of(path))
