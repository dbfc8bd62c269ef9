"""The replay of recorded traces beside what is known of them: paths read off by hand, steps with the delays of another
step, and pauses that were put in.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.recorded import ROOT, model_of, traces
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, free, scale, without
from torch_tb_profiler.analysis.replay.graph import Edge, Graph, GraphNode
from torch_tb_profiler.analysis.replay.path import critical_path
from torch_tb_profiler.analysis.replay.savings import what_if
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

DELAYS = [
    Edge.LAUNCH,
    Edge.STREAM,
    Edge.STREAM_WAIT,
    Edge.COINCIDENCE,
    Edge.SYNC,
    Edge.BLOCKING_COPY,
    Edge.FULL_QUEUE,
    Edge.HAND_OVER,
    Edge.HOST_COLLECTIVE,
]


def edges_of_step(graph: Graph, step: int) -> tuple[dict[tuple[int, int, int], int], Any]:
    """The delays of a step by what they lead to (its n-th piece of work, or the host), kind and count; its work."""
    items = np.flatnonzero(graph.item_step == step)
    rank = np.full(len(graph.items), -1, np.int64)
    rank[items] = np.arange(len(items))
    delays, into_work = np.isin(graph.edge, DELAYS), graph.kind[graph.target] == GraphNode.ITEM
    at_work = np.flatnonzero(delays & into_work)
    at_work = at_work[rank[graph.reference[graph.target[at_work]]] >= 0]
    time = graph.time[graph.target]
    in_mark = (time > graph.steps.host_start[step]) & (time <= graph.steps.host_end[step])
    at_host = np.flatnonzero(delays & ~into_work & in_mark)
    found: dict[tuple[int, int, int], int] = {}
    seen: Counter[tuple[int, int]] = Counter()
    for edge in [*at_work.tolist(), *at_host.tolist()]:
        to = int(rank[graph.reference[graph.target[edge]]]) if into_work[edge] else -1
        key = (to, int(graph.edge[edge]))
        found[(*key, seen[key])] = edge
        seen[key] += 1
    return found, graph.items.row[items]


@pytest.mark.parametrize(
    "folder",
    [
        "HTA/v100_absolute_ns_timestamps",
        "HTA/nccl_a100_rank0_of_2",
        "HTA/v100_ddp_profile_memory_rank1_of_2",
        "kineto/resnet50_num_workers_0",
        "kineto/resnet50_num_workers_4",
    ],
)
def test_with_the_delays_of_another_step_a_step_takes_as_long(folder: str, shared_traces: Path) -> None:
    """Delays are chance: those of any step do. Of all pairs of steps with the same work."""
    errors = []
    for path in traces(shared_traces / folder):
        model = model_of(path)
        graph, base = graph_of(model), unchanged(graph_of(model))
        names = model.trace.events.name
        steps = [edges_of_step(graph, step) for step in range(len(graph.steps))]
        for j, (mine, rows) in enumerate(steps):
            for k, (others, other_rows) in enumerate(steps):
                if j == k or not len(rows) or not np.array_equal(names[rows], names[other_rows]):
                    continue
                pairs = np.array([(mine[key], others[key]) for key in mine.keys() & others.keys()])
                lag = graph.lag.copy()
                lag[pairs[:, 0]] = graph.lag[pairs[:, 1]]
                after = msgspec.structs.replace(base, lag=lag).step_ns[j]
                errors.append(abs(int(after) - int(base.step_ns[j])) / int(base.step_ns[j]))
    assert len(errors) >= 2
    assert np.median(errors) <= 0.0005
    assert max(errors) <= 0.003


def composition(model: Model, step: int = 0) -> dict[str, int]:
    path = critical_path(unchanged(graph_of(model)))
    return {part: ns for part, ns in zip(path.parts, path.composition[step].tolist(), strict=True) if ns}


def rows(model: Model, name: str) -> list[int]:
    events = model.trace.events
    found = np.flatnonzero(events.name == model.trace.strings.code(name))
    return found[np.argsort(events.start[found], kind="stable")].tolist()


def test_the_path_of_a_wait_for_an_event(shared_traces: Path) -> None:
    """Read off the file (µs): a copy back at 2935-2937 in a call until 2946, a kernel at 3037-3073 that
    cudaEventSynchronize (3047-3081) waits for, and cudaDeviceSynchronize (3139-3147) that has nothing to wait for."""
    model = model_of(traces(shared_traces / "HTA/event_sync_a100")[0])
    found = composition(model)
    assert sum(found.values()) == 3_154_000
    assert found["compute"] == 36_000
    assert found["copy"] == 2_000
    # 2937-2946 and 3073-3081
    assert found["wake_up"] == 17_000
    # 2947-2953 and 3139-3147
    assert found["blocking"] == 14_000
    # the copy was launched at 2917, and the kernel before it had ended at 2901: what it waited for was not recorded;
    # and a start that is 1 later than any latency is
    assert found["unexplained"] == 17_000
    graph = graph_of(model)
    waited = np.flatnonzero(graph.edge == Edge.SYNC)
    names = model.trace.events.name[graph.items.row[graph.item[waited]]]
    assert model.trace.strings[int(names[graph.time[graph.target[waited]] == 3_081_000][0])].startswith("at::cuda::")
    for name, saved in {"cudaEventSynchronize": 34_000, "cudaDeviceSynchronize": 8_000}.items():
        assert what_if(model, [without(rows=rows(model, name))]).saved_ns == saved
    # all: 2918-2946, 2947-2953 and both of these
    assert what_if(model, [without()]).saved_ns == 28_000 + 6_000 + 34_000 + 8_000


def test_the_path_of_streams_that_wait(shared_traces: Path) -> None:
    """Stream 24 waits for an event recorded on stream 20 at 61945, after the product of correlation 27 (42979-43102);
    the host limits all: only the last product (62329-62452, launched at 62314-62328) is on the path."""
    model = model_of(traces(shared_traces / "HTA/event_sync_multi_stream_a100")[0])
    graph = graph_of(model)
    found = composition(model)
    assert sum(found.values()) == 62_452_000 - 42_535_000
    assert found["compute"] == 123_000
    assert found["launch_latency"] == 1_000
    # cudaMalloc: 284, 200 and 208
    assert found["allocator"] == 692_000
    waits = np.flatnonzero(graph.edge == Edge.STREAM_WAIT)
    (wait,) = waits.tolist()
    work, items = model.trace.device_work, graph.items
    assert int(work.correlation[items.work[graph.item[wait]]]) == 27
    assert int(work.correlation[items.work[graph.reference[graph.target[wait]]]]) == 1411
    # of 19.9 ms the host shows nothing for 18.6: no saving is told
    told = what_if(model, [scale("allocator", 0)])
    assert (told.saved_ns, [each.id for each in told.refused]) == (None, ["unexplained"])


def test_the_path_of_a_small_step_on_another_machine(shared_traces: Path) -> None:
    """MI250: the first launch takes 6.5 ms, two threads hand over, and copies of the batch block."""
    model = model_of(traces(shared_traces / "HTA/minitoy_mi250")[0])
    found = composition(model)
    assert sum(found.values()) == 9_456_974 - 168_683
    slowest = max(rows(model, "hipLaunchKernel"), key=lambda row: int(model.trace.events.duration[row]))
    took = int(model.trace.events.duration[slowest])
    assert took == 6_543_109
    assert found["launch"] >= took
    # the device is idle behind it: all of the call is saved
    assert what_if(model, [free(rows=[slowest])]).saved_ns == took
    assert found["hand_over"] == 64_602 + 92_155


PAUSES: dict[str, tuple[str, str]] = {
    "data": ("user_annotation", "enumerate(DataLoader)#_PausedIter.__next__"),
    "sync": ("cuda_runtime", "cudaDeviceSynchronize"),
    "allocator": ("cuda_runtime", "cudaMalloc"),
}
PAUSE_US = 5_000.0


def remedy(kind: str, row: int) -> Change:
    """Without the pause."""
    if kind == "data":
        return scale("data", 0, operator=PAUSES[kind][1])
    return without("sync", rows=[row]) if kind == "sync" else scale("allocator", 0, rows=[row])


def paused(path: Path, kind: str) -> tuple[Model, int]:
    """A recording of a program that the host limits, with 5 ms more at the beginning of its middle step, and the row of
    the pause: what the host did later, and what was launched then, is later by as much."""
    content = path.read_bytes()
    document = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    events = [e for e in document["traceEvents"] if e.get("ph") == "X"]
    steps = sorted((e for e in events if e["name"].startswith("ProfilerStep")), key=lambda e: float(e["ts"]))
    steps = [e for e in steps if e.get("cat") in ("user_annotation", "cpu_op", "Operator")]
    middle = steps[len(steps) // 2]
    at = float(middle["ts"]) + 0.002
    calls = {e["args"]["correlation"]: float(e["ts"]) for e in events if "cuda_runtime" in str(e.get("cat")).lower()}
    on_device = ("kernel", "gpu_memcpy", "gpu_memset")
    for each in document["traceEvents"]:
        if "ts" not in each:
            continue
        start, cat = float(each["ts"]), str(each.get("cat")).lower()
        begun = calls.get(each.get("args", {}).get("correlation"), start) if cat in on_device else start
        if begun > at:
            each["ts"] = start + PAUSE_US
        elif cat not in on_device and start + float(each.get("dur", 0)) > at:
            each["dur"] = float(each["dur"]) + PAUSE_US
    cat, name = PAUSES[kind]
    pause = {"ph": "X", "cat": cat, "name": name, "pid": middle["pid"], "tid": middle["tid"]}
    document["traceEvents"].append({**pause, "ts": at, "dur": PAUSE_US, "args": {"correlation": 987654321}})
    model = Model(read_trace(BytesIO(json.dumps(document).encode())))
    return model, len(document["traceEvents"]) - 1


@pytest.mark.parametrize("kind", PAUSES)
@pytest.mark.parametrize("sample", ["cnn_workers0", "generated_4gpu_h100"])
def test_a_pause_put_into_a_sample_comes_back(kind: str, sample: str) -> None:
    check_pause(traces(ROOT / "samples" / sample)[0], kind)


@pytest.mark.parametrize("kind", PAUSES)
@pytest.mark.parametrize("folder", ["kineto/resnet50_num_workers_0", "HTA/nccl_a100_rank0_of_2"])
def test_a_pause_put_into_a_recording_comes_back(kind: str, folder: str, shared_traces: Path) -> None:
    check_pause(traces(shared_traces / folder)[0], kind)


def check_pause(path: Path, kind: str) -> None:
    before = unchanged(graph_of(model_of(path))).step_ns
    model, row = paused(path, kind)
    assert model.trace.strings[int(model.trace.events.name[row])] == PAUSES[kind][1]
    slower = unchanged(graph_of(model)).step_ns
    assert int(slower.sum() - before.sum()) == pytest.approx(5_000_000, abs=2_000)
    found = what_if(model, [remedy(kind, row)])
    assert found.saved_ns == pytest.approx(5_000_000, abs=50_000)
