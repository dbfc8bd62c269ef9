"""One quantity is one number, whichever view shows it: of devices and communication, to the nanosecond."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.invariants.every_trace import each_file, each_with_overlap, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from tests.waterfall_checks import check_waterfall
from torch_tb_profiler.analysis.device_time import DeviceTime, device_time, step_overlap
from torch_tb_profiler.analysis.device_use import device_summary, device_use, step_use, utilization_counters
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.idle import idle_gaps
from torch_tb_profiler.analysis.kernels import KERNELS, kernels
from torch_tb_profiler.analysis.overview import average_step, step_times
from torch_tb_profiler.analysis.program.kinds import ProgramPhase
from torch_tb_profiler.analysis.program.phases import phase_amounts, phase_times
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.analysis.run_metrics import figures
from torch_tb_profiler.analysis.shared.device_roles import (
    BUSY,
    COMMUNICATING,
    COMPUTING,
    EXPOSED_COMMUNICATION,
    GPU_BUSY,
    UNCOVERED_COMMUNICATION,
    Role,
    all_device_spans,
    communication_spans,
    device_spans,
    rank_spans,
)
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute, known_occupancy
from torch_tb_profiler.analysis.waterfall.waterfall import average, waterfall
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.insights import findings
from torch_tb_profiler.insights.question import OVERVIEW
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.rank import rank_of
from torch_tb_profiler.timeline.counters import counter_tile
from torch_tb_profiler.timeline.pyramid import BUCKETS_OF_TILE, tile_length
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.timeline.totals import DeviceTotal, totals

QUANTITIES = {
    "busy": BUSY,
    "computing": COMPUTING,
    "communicating": COMMUNICATING,
    "exposed_communication": EXPOSED_COMMUNICATION,
}


def check_steps(model: Model) -> None:
    """What is said of a step: of each device, in the overview, of the rank, in the row of the trace, by the report."""
    steps, overlap, uses, use = model.steps, step_overlap(model), device_use(model), step_use(model)
    row, summary, answer = figures(model), device_summary(model), asked(model, OVERVIEW)
    assert (use is None) == (not uses) == (answer.steps.use is None)
    if use is None or not len(steps):
        assert (row.busy, summary.busy) == (None, None)
        return
    window = steps.end - steps.start
    on_host = bool(communication_spans(model).size) and not model.device_links.is_communication.any()
    for name, quantity in QUANTITIES.items():
        ns = getattr(use, f"{name}_ns")
        shown = [getattr(row, name), getattr(summary, name), getattr(answer.device, name)]
        if on_host and "communicati" in name:
            assert [ns, *shown, *(getattr(each, name) for each in uses)] == [None] * (4 + len(uses))
            continue
        exact = [
            quantity.between(device_spans(model, model.device_work.device == each.id), steps.start, steps.end)
            for each in uses
        ]
        assert ns.tolist() == pytest.approx(np.mean(exact, axis=0).tolist())
        assert list(getattr(answer.steps.use, f"{name}_ns")) == ns.tolist()
        for each, spent in zip(uses, exact, strict=True):
            assert getattr(each, name) == (pytest.approx(spent.sum() / window.sum()) if window.sum() else None)
        share = pytest.approx(ns.sum() / window.sum()) if window.sum() else None
        assert shown == [share] * 3
    rank = rank_of(model, "")
    if use.exposed_communication_ns is None:
        assert (row.exposed_communication_ns, rank.exposed_communication_ns) == (None, None)
        return
    assert row.exposed_communication_ns == pytest.approx(use.exposed_communication_ns.mean())
    assert rank.exposed_communication_ns is not None
    assert rank.exposed_communication_ns.tolist() == use.exposed_communication_ns.tolist()
    operations = model.communications
    kernels_only = bool(operations.operations.on_device[operations.ranges.operation].all())
    if len(model.used_devices) == 1 and kernels_only and all_device_spans(model)[Role.COMPUTE].size:
        # the parts of a rank with one device
        assert use.communicating_ns is not None
        assert overlap.communication_only_ns.tolist() == use.exposed_communication_ns.tolist()
        assert (overlap.communication_only_ns + overlap.overlap_ns).tolist() == use.communicating_ns.tolist()
        assert (overlap.computation_ns + overlap.overlap_ns).tolist() == use.computing_ns.tolist()


def check_kernels(model: Model) -> None:
    """Tensor cores and occupancy are of compute kernels, the same of a device, of all, in the table and in a row."""
    summary, totals, row = device_summary(model), kernels(model), figures(model)
    meta, shown = asked(model, KERNELS).meta, asked(model, OVERVIEW).device
    assert summary.tensor_cores == totals.tensor_cores == meta.tensor_cores == shown.tensor_cores
    assert summary.occupancy == totals.occupancy == meta.occupancy == shown.occupancy
    warps = summary.occupancy
    assert (row.achieved_occupancy, row.occupancy_known_share) == (warps.mean, warps.known_share)
    found = summary.tensor_cores
    assert (row.tensor_cores_yes, row.tensor_cores_unknown) == (found.yes, found.unknown)
    if found.yes is not None and found.no is not None and found.unknown is not None:
        assert found.yes + found.no + found.unknown == pytest.approx(1)
    assert (found.yes is None) == (found.no is None) == (found.unknown in (None, 1))
    uses = device_use(model)
    chosen = is_compute(model)
    if len(uses) == 1 and (model.device_work.device[chosen] >= 0).all():
        assert uses[0].tensor_cores == found
        assert (uses[0].achieved_occupancy, uses[0].occupancy_known_share) == (warps.mean, warps.known_share)
    work, duration = model.device_work, durations(model)
    percent = known_occupancy(model.trace, work)  # of the file, or computed
    unknown = chosen & np.isnan(percent)
    known_ns = (warps.known_share or 0) * duration[chosen].sum()
    assert known_ns <= duration[chosen & ~unknown].sum() * (1 + 1e-9)
    if warps.mean is not None:
        kept = chosen & ~unknown
        mean = (percent[kept] * duration[kept]).sum() / duration[kept].sum() / 100
        assert warps.mean == pytest.approx(mean)


def asked(model: Model, question: Question) -> Any:
    """What /api, `trace.answer` and the report give, before it is JSON."""
    return question.compute(Subject(model, "r", "w", "", 0, 1, troubles), question.parameters())


def check_communication_of_steps(model: Model) -> None:
    """A step's category has no more than what is exposed, and advice calls each by its name."""
    steps = model.steps
    category = step_times(model).category_ns.get("communication", np.zeros(len(steps), np.int64))
    # a category goes before what the host computes
    spans = (all_device_spans(model)[Role.COMPUTE], *rank_spans(model)[1:])
    assert category.tolist() == UNCOVERED_COMMUNICATION.between(spans, steps.start, steps.end).tolist()
    assert (category <= EXPOSED_COMMUNICATION.between(spans, steps.start, steps.end)).all()
    use = step_use(model)
    exposed = None if use is None else use.exposed_communication_ns
    if exposed is None:  # a library without kernels: the thread of the steps waits
        waited = sum(part.ns for part in average(waterfall(model)) if part.cause.endswith(".collective"))
        exposed = np.array([waited]) if waited else category
    shown = {"Exposed communication": exposed, "Communication": category}
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
    for device in utilization_counters(model).devices:
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
    assert total.computing_ns == time.computing_ns[i]
    assert total.communicating_ns == time.communicating_ns[i]
    assert total.exposed_communication_ns == time.exposed_communication_ns[i]


def check_timeline(model: Model) -> None:
    """Sums over a window of the timeline, its counters and its overview, beside the times of devices."""
    by_step, whole = device_time(model, "steps"), device_time(model)
    gaps, names = idle_gaps(model), model.steps.names
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
    for i, device in enumerate(whole.device.tolist()):
        if device < 0:
            continue
        assert int(gaps.duration_ns[gaps.device == device].sum()) == whole.idle_ns[i]
        for kind in ("busy", "computing", "exposed_communication"):
            ns = float(getattr(whole, f"{kind}_ns")[i])
            assert integral(timeline, kind, device) == pytest.approx(ns, abs=1e-3), kind
    assert sum(timeline.summary.communication) == intervals.total(COMMUNICATING.spans(everything))


def check_phases(model: Model) -> None:
    """FLOP and device time of a phase: on the roofline and in the view of the program."""
    found, times, amounts = step_flops(model), phase_times(model), phase_amounts(model)
    steps, flops = max(found.steps, 1), amounts.flops or {}
    on_device = {phase.value: int(ns) for phase, ns in zip(times.phases, times.device_ns.sum(axis=0), strict=True)}
    communicates = bool(model.device_links.is_communication.any())
    for each in found.phases if len(model.device_work) else ():
        ns = round(each.time_ns * steps)
        assert ns <= on_device[each.phase] if communicates else ns == on_device[each.phase]
        assert each.flops * steps == pytest.approx(flops.get(ProgramPhase(each.phase), 0))


def check(model: Model) -> None:
    check_steps(model)
    check_kernels(model)
    check_communication_of_steps(model)
    check_device_counters(model)
    check_timeline(model)
    check_waterfall(model)
    check_phases(model)


@each_file
def test_every_file(path: Path) -> None:
    check(shared_model_of(path))


@each_with_overlap
def test_generated_traces(config: Config) -> None:
    check(generated(config)[0])
