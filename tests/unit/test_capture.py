"""What was recorded, and how."""

from __future__ import annotations

import json
from io import BytesIO

from tests.events import Event, annotation, event, kernel, launch, memory, model_of, op
from torch_tb_profiler.analysis.capture import DistributedInfo, RecordedDevice, capture
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

EVENTS: list[Event] = [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "python"}},
    annotation("ProfilerStep#1", 0, 100),
    op("aten::mm", 10, 20, **{"Input Dims": [[2, 2], [2, 2]]}),
    op("aten::add", 40, 20, tid=2),
    launch(15, correlation=1),
    kernel(20, 300, correlation=1, device=2),
    memory(50, 64),
]


def test_events_are_counted_once_by_category() -> None:
    found = capture(model_of(EVENTS))
    counts = {count.category: count.events for count in found.categories}
    assert counts == {"operator": 2, "metadata": 1, "user_annotation": 1, "runtime": 1, "kernel": 1, "memory": 1}
    assert sum(counts.values()) == found.events == len(EVENTS)
    assert [count.events for count in found.categories] == sorted(counts.values(), reverse=True)
    assert found.tracks == 3, "two threads and a stream"
    assert found.duration_ns == 320_000
    assert (found.step_rule, found.steps) == ("profiler_step", 1)
    assert found.found == {"record_shapes": 1, "with_stack": 0, "profile_memory": 1}


def test_text_bytes_are_those_of_the_uncompressed_text() -> None:
    text = json.dumps({"traceEvents": EVENTS}).encode()
    assert capture(Model(read_trace(BytesIO(text)))).text_bytes == len(text)


def test_the_header_is_told() -> None:
    found = capture(
        model_of(
            EVENTS,
            schemaVersion=1,
            cuda_runtime_version=12040,
            with_stack=1,
            record_shapes=0,
            host_name="node0",
            trace_id="x" * 1000,
            deviceProperties=[{"id": 0, "name": "A", "totalGlobalMem": 5, "computeMajor": 9, "computeMinor": 0}],
            distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{}, {}]},
            odd={"a": 1},
        )
    )
    assert found.versions == {"schemaVersion": 1, "cuda_runtime_version": 12040}
    assert found.options["with_stack"] is True
    assert found.options["record_shapes"] is False
    assert found.options["profile_memory"] is None
    assert found.host_name == "node0"
    assert found.distributed == DistributedInfo(rank=3, world_size=8, backend="nccl", groups=2)
    listed, working = found.devices
    assert listed == RecordedDevice(0, "A", 5, "9.0", used=False)
    assert working == RecordedDevice(2, None, None, None, used=True)
    assert list(found.metadata) == ["trace_id"]
    assert len(str(found.metadata["trace_id"])) == 501, "long texts are cut"


def test_when_it_was_recorded_is_known_with_a_base_only() -> None:
    assert capture(model_of(EVENTS)).recorded_at is None
    based = capture(model_of(EVENTS, baseTimeNanoseconds=1_759_300_578_000_000_000))
    assert based.recorded_at == "2025-10-01T06:36:18+00:00"
    absolute = [event("cpu_op", "aten::mm", 1_623_143_089_861_000.0, 5)]
    assert capture(model_of(absolute)).recorded_at == "2021-06-08T09:04:49+00:00"
    assert capture(model_of(EVENTS, baseTimeNanoseconds=10**30)).recorded_at is None


def test_nothing_but_names() -> None:
    found = capture(model_of([]))
    assert (found.duration_ns, found.recorded_at, found.tracks, found.steps) == (0, None, 0, 0)
    assert found.distributed is None
    assert found.devices == ()
