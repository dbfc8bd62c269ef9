"""On every trace: what a device did and did not adds up to its window, its gaps to its idle time, in ns."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.invariants.every_trace import each_file, each_with_overlap, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from torch_tb_profiler.analysis.api_calls import launch_stats, launched, queue_lengths, stream_queues
from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.device_time import Window, device_time
from torch_tb_profiler.analysis.idle import idle_gaps, idle_times
from torch_tb_profiler.analysis.kernels import kernel_sequences
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

_EXCLUSIVE = (
    "compute_only_ns",
    "communication_only_ns",
    "copy_only_ns",
    "compute_communication_ns",
    "compute_copy_ns",
    "communication_copy_ns",
    "compute_communication_copy_ns",
    "idle_ns",
)


def check_device_time(model: Model) -> None:
    events, work = model.trace.events, model.device_work
    window: Window
    for window in ("work", "steps"):
        time = device_time(model, window)
        parts = np.array([getattr(time, name) for name in _EXCLUSIVE])
        assert (parts >= 0).all()
        assert parts.sum(axis=0).tolist() == time.window_ns.tolist()
        whole = time.computing_ns + time.exposed_communication_ns + time.exposed_copy_ns + time.idle_ns
        assert whole.tolist() == time.window_ns.tolist()
    time = device_time(model)
    gaps = idle_gaps(model)
    assert (gaps.duration_ns > 0).all()
    for i, device in enumerate(time.device.tolist()):
        assert int(gaps.duration_ns[gaps.device == device].sum()) == int(time.idle_ns[i])
    for per in ("device", "stream"):
        assert int(idle_times(model, per).total_ns.sum()) == int(idle_gaps(model, per).duration_ns.sum())

    found, stats = launched(model), launch_stats(model)
    assert int(found.pieces.sum()) == int((model.device_links.launch >= 0).sum())
    assert int(stats.pieces.sum()) == int(found.pieces.sum())
    assert int(stats.device_ns.sum()) == int(found.device_ns.sum())
    begin = events.start[model.launches.row[model.device_links.launch]] if len(model.launches) else None
    for queue, length in zip(stream_queues(model), queue_lengths(model).max_length.tolist(), strict=True):
        assert begin is not None
        mine = (model.device_links.launch >= 0) & (work.stream == queue.stream) & (work.device == queue.device)
        waited = np.maximum(events.start[work.row[mine]] - begin[mine], 0)
        assert int((queue.length * (queue.end_ns - queue.start_ns)).sum()) == int(waited.sum())
        assert length <= int(mine.sum())

    moved = np.isin(model.device_category, (Category.MEMCPY, Category.MEMSET))
    assert int(copies(model).total_ns.sum()) == int(np.maximum(events.duration[work.row[moved]], 0).sum())
    sequences = kernel_sequences(model)
    owned = (model.device_category == Category.KERNEL) & (model.device_links.operator_node >= 0)
    assert int(sequences.device_ns.sum()) == int(np.maximum(events.duration[work.row[owned]], 0).sum())


@each_file
def test_every_file(path: Path) -> None:
    check_device_time(shared_model_of(path))


@each_with_overlap
def test_generated_traces(config: Config) -> None:
    model, expected = generated(config)
    check_device_time(model)
    time = device_time(model)
    assert int(time.busy_ns.sum()) == expected.busy_ns
    assert int(time.communication_only_ns.sum()) == expected.exposed_communication_ns
    assert int(launched(model).pieces.sum()) == sum(launch.launched for launch in expected.launches.values())
