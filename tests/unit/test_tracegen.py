"""The trace generator keeps its word: same bytes, valid files, and a truth that fits its events."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.tracegen import Config, generate, generate_ranks, write_run

SMALL = Config(steps=2, layers=2)
DEVICE_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
CONFIGURATIONS = {
    "one h100": SMALL,
    "two h100": Config(steps=2, layers=2, ranks=2, skew_ns=3_000_000_000),
    "two v100": Config(steps=1, layers=2, ranks=2, device="v100", overlap=0),
    "one mi300x": Config(steps=2, layers=1, device="mi300x"),
    "overlapping kernels": Config(steps=1, layers=2, stream_overlap=True),
    "bare": Config(steps=2, layers=1, stacks=False, memory=False, shapes=False),
}

configuration = pytest.mark.parametrize("config", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())


def nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)


def spans(trace: dict[str, Any], *categories: str) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] in categories]


def covers(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
    begin, end = nanoseconds(outer["ts"]), nanoseconds(outer["ts"]) + nanoseconds(outer["dur"])
    start = nanoseconds(inner["ts"])
    return outer["tid"] == inner["tid"] and begin <= start and start + nanoseconds(inner["dur"]) <= end


def test_same_configuration_same_bytes(tmp_path: Path) -> None:
    config = Config(steps=1, layers=1, ranks=2)
    for folder in ("a", "b"):
        write_run(config, tmp_path / folder)
    first, second = ([path.read_bytes() for path in sorted((tmp_path / name).iterdir())] for name in "ab")
    assert len(first) == 2
    assert first == second
    assert generate(config) != generate(Config(steps=1, layers=1, ranks=2, seed=1))


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("style", ["torch213", "lines"])
def test_a_file_holds_what_generate_returns(tmp_path: Path, style: str, legacy: bool) -> None:
    config = Config(steps=2, layers=1, ranks=2, legacy=legacy)
    truths = write_run(config, tmp_path, style)
    paths = sorted(tmp_path.glob("*.pt.trace.json.gz"))
    for path, truth, (trace, expected) in zip(paths, truths, generate_ranks(config), strict=True):
        assert json.loads(gzip.decompress(path.read_bytes())) == trace
        assert truth.ops == expected.ops
        assert truth.device_ns == expected.device_ns


@configuration
def test_events_are_counted(config: Config) -> None:
    for trace, expected in generate_ranks(config):
        counted = Counter(event.get("cat", event["ph"]) for event in trace["traceEvents"])
        assert counted == expected.categories
        assert len(trace["traceEvents"]) == expected.events


@configuration
def test_device_times(config: Config) -> None:
    for trace, expected in generate_ranks(config):
        sums: Counter[str] = Counter()
        kernels: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
        for event in spans(trace, *DEVICE_CATEGORIES):
            sums[event["cat"]] += nanoseconds(event["dur"])
            if event["cat"] == "kernel":
                calls, total = kernels[event["name"]]
                kernels[event["name"]] = calls + 1, total + nanoseconds(event["dur"])
        assert sums == expected.device_ns
        assert kernels == expected.kernels
        own = sum(truth.device_self_ns for truth in expected.ops.values())
        assert own + expected.unattributed_ns == expected.total_device_ns
        assert 0 <= expected.exposed_communication_ns < expected.busy_ns <= expected.total_device_ns


@configuration
def test_every_kernel_is_launched_by_its_expected_op(config: Config) -> None:
    for trace, expected in generate_ranks(config):
        calls = {event["args"]["correlation"]: event for event in spans(trace, "cuda_runtime", "cuda_driver")}
        ops = {event["args"]["External id"]: event for event in spans(trace, "cpu_op")}
        works = spans(trace, *DEVICE_CATEGORIES)
        assert len(works) == len(expected.launches)
        for work in works:
            launch = expected.launches[work["args"]["correlation"]]
            call = calls.get(work["args"]["correlation"])
            assert launch.launched == (call is not None)
            assert launch.duration == nanoseconds(work["dur"])
            if call is None or launch.op_id is None:
                assert "External id" not in work["args"]
                continue
            assert nanoseconds(call["ts"]) < nanoseconds(work["ts"])
            op = ops[launch.op_id]
            assert op["name"] == launch.op
            assert covers(op, call)
            around = [other for other in ops.values() if covers(other, call)]
            assert min(around, key=lambda other: nanoseconds(other["dur"])) is op


@configuration
def test_operator_calls_and_host_times(config: Config) -> None:
    for trace, expected in generate_ranks(config):
        calls, host = Counter[str](), Counter[str]()
        for op in spans(trace, "cpu_op"):
            calls[op["name"]] += 1
            host[op["name"]] += nanoseconds(op["dur"])
        assert calls == {name: truth.calls for name, truth in expected.ops.items()}
        assert host == {name: truth.host_ns for name, truth in expected.ops.items()}
        outermost, ends = 0, Counter[int]()
        for op in sorted(spans(trace, "cpu_op"), key=lambda op: (nanoseconds(op["ts"]), -op["dur"])):
            start, duration = nanoseconds(op["ts"]), nanoseconds(op["dur"])
            if start >= ends[op["tid"]]:
                ends[op["tid"]] = start + duration
                outermost += duration
        assert sum(truth.host_self_ns for truth in expected.ops.values()) == outermost
        calls_ns = sum(nanoseconds(call["dur"]) for call in spans(trace, "cuda_runtime", "cuda_driver"))
        outside = sum(
            nanoseconds(call["dur"])
            for call in spans(trace, "cuda_runtime", "cuda_driver")
            if "External id" not in call["args"]
        )
        assert sum(truth.call_ns for truth in expected.ops.values()) == calls_ns - outside


@configuration
def test_steps(config: Config) -> None:
    for trace, expected in generate_ranks(config):
        annotations = spans(trace, "user_annotation")
        steps = {
            event["name"]: nanoseconds(event["dur"])
            for event in annotations
            if event["name"].startswith("ProfilerStep#")
        }
        assert steps == expected.steps
        assert len(steps) == config.steps
        totals = {name: calls for name, (calls, _) in expected.annotations.items()}
        assert Counter(event["name"] for event in annotations) == totals


def test_ranges_of_a_thread_nest() -> None:
    trace, _ = generate(CONFIGURATIONS["two h100"])
    threads: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in spans(trace, "cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"):
        start = nanoseconds(event["ts"])
        threads[event["tid"]].append((start, start + nanoseconds(event["dur"])))
    for ranges in threads.values():
        stack: list[int] = []
        for start, end in sorted(ranges, key=lambda range_: (range_[0], -range_[1])):
            while stack and stack[-1] <= start:
                stack.pop()
            assert not stack or end <= stack[-1]
            stack.append(end)


def test_a_stream_runs_one_kernel_at_a_time_unless_asked() -> None:
    def overlaps(config: Config) -> int:
        works = sorted(
            (nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"]))
            for event in spans(generate(config)[0], *DEVICE_CATEGORIES)
        )
        return sum(end > start for (_, end), (start, _) in pairwise(works))

    assert overlaps(SMALL) == 0
    assert overlaps(CONFIGURATIONS["overlapping kernels"]) > 10


def test_flows_join_launch_to_kernel_and_forward_to_backward() -> None:
    trace, expected = generate(SMALL)
    for category in ("ac2g", "fwdbwd"):
        starts, ends = (
            {event["id"] for event in trace["traceEvents"] if event.get("cat") == category and event["ph"] == ph}
            for ph in "sf"
        )
        assert starts == ends
        assert starts
    launched = {number for number, launch in expected.launches.items() if launch.launched}
    assert launched == {event["id"] for event in trace["traceEvents"] if event.get("cat") == "ac2g"}


def test_memory_adds_up() -> None:
    trace, expected = generate(SMALL)
    instants = [event["args"] for event in trace["traceEvents"] if event["name"] == "[memory]"]
    running = instants[0]["Total Allocated"] - instants[0]["Bytes"]
    before = running
    for instant in instants:
        running += instant["Bytes"]
        assert running == instant["Total Allocated"] <= instant["Total Reserved"]
    assert before == running == expected.last_allocated
    assert max(instant["Total Allocated"] for instant in instants) == expected.peak_allocated > before


def test_a_collective_ends_at_the_same_moment_on_all_ranks() -> None:
    config = Config(steps=1, layers=2, ranks=3, slow_rank=1, slow_ns=7_000_000, skew_ns=3_000_000_000)
    ranks = generate_ranks(config)
    assert len({expected.skew_ns for _, expected in ranks}) == 3
    seen = [expected.collectives for _, expected in ranks]
    assert len(seen[0]) == 3
    for same in zip(*seen, strict=True):
        assert len({collective.end for collective in same}) == 1
        last = max(range(3), key=lambda rank: same[rank].start)
        assert {collective.last_rank for collective in same} == {last}
    assert seen[0][0].last_rank == 1
    assert seen[1][0].start - seen[0][0].start > 6_000_000
    for trace, expected in ranks:
        ends = [
            nanoseconds(event["ts"]) + nanoseconds(event["dur"]) - expected.skew_ns
            for event in spans(trace, "kernel")
            if "nccl" in event["name"]
        ]
        assert len({end - collective.end for end, collective in zip(ends, seen[0], strict=True)}) == 1


def test_communication_is_exposed_without_overlap() -> None:
    def exposed(overlap: float) -> int:
        return generate(Config(steps=1, layers=4, ranks=2, overlap=overlap))[1].exposed_communication_ns

    assert exposed(0) > 1.5 * exposed(1)


def test_legacy_spelling() -> None:
    trace, expected = generate(Config(steps=2, layers=1, ranks=2, legacy=True))
    categories = {event["cat"] for event in trace["traceEvents"] if "cat" in event}
    assert categories == {"Operator", "Runtime", "Kernel", "Memcpy", "Memset", "async", "Trace"}
    assert "baseTimeNanoseconds" not in trace
    kernels = spans(trace, "Kernel")
    assert all(isinstance(event["ts"], int) and isinstance(event["dur"], int) for event in kernels)
    assert all(event["tid"].startswith("stream ") for event in kernels)
    assert sum(event["dur"] * 1000 for event in kernels) == expected.device_ns["kernel"]
    calls = {event["args"]["correlation"]: event for event in spans(trace, "Runtime")}
    ops = {event["args"]["External id"]: event for event in spans(trace, "Operator")}
    for event in kernels:
        launch = expected.launches[event["args"]["correlation"]]
        op = ops[event["args"]["external id"]]
        assert op["name"] == launch.op
        assert covers(op, calls[event["args"]["correlation"]])


def test_events_sets_the_size() -> None:
    for wanted in (3_000, 20_000):
        _, expected = generate(Config(events=wanted, layers=1))
        assert abs(expected.events - wanted) < 500
