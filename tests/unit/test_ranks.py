"""Several ranks: matching, waiting and transferring, bandwidth, topology, and reasons for what is missing."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from tests.events import Event, all_reduce, annotation, event, kernel, launch, model_of, op, partly_hidden_all_reduce
from tests.tracegen import Config, Expected, generate_ranks
from torch_tb_profiler.analysis.device_time import step_overlap
from torch_tb_profiler.analysis.shared.device_roles import communication_spans
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import Ranges, bus_factor, nccl_tests_bytes
from torch_tb_profiler.ranks import DistributedRanks, distributed, is_distributed, rank_of
from torch_tb_profiler.ranks.distributed import operation_table, transfer_ranges
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.web.old_plugin import distributed as legacy


def together(*traces: list[Event], header: dict[str, Any] | None = None) -> DistributedRanks:
    return distributed([rank_of(model_of(t, **(header or {})), f"worker{i}") for i, t in enumerate(traces)])


def kinds_of_notes(found: DistributedRanks) -> set[str]:
    return {note.kind for note in found.notes}


def gloo(name: str, start: float, duration: float, tid: int = 1, elements: int = 53120) -> Event:
    shapes = {"Input Dims": [[elements]], "Input type": ["float"]}
    return event("cpu_op", f"gloo:{name}", start, duration, tid, **shapes)


def test_the_rank_that_comes_last_does_not_wait() -> None:
    found = together([all_reduce(0, 100)], [all_reduce(60, 40)])
    assert [w.transfer_ns.tolist() for w in found.waits] == [[40_000, 0], [40_000, 0]]
    assert [w.wait_ns.tolist() for w in found.waits] == [[60_000, 0], [0, 0]]
    assert not found.notes


def test_clocks_do_not_matter() -> None:
    here, later = [op("a", 0, 1), all_reduce(0, 100)], [op("a", 5_000_000, 1), all_reduce(5_000_060, 40)]
    assert [w.wait_ns.sum() for w in together(here, later).waits] == [60_000, 0]


def test_operations_at_the_same_time_count_once() -> None:
    found = together([gloo("all_reduce", 0, 30), gloo("all_reduce", 10, 40, 2)])
    assert found.waits[0].unmatched_ns.tolist() == [50_000, 0]
    table = operation_table(found)
    assert table.latency_ns.tolist() == [50_000]
    assert table.mean_latency_ns.tolist() == [35_000], "no mean is below the shortest call"
    assert legacy.commops(found)["data"]["worker0"]["rows"][0][4:6] == [50, 25], "the old plugin divided the union"


def test_means_of_overlapping_calls_are_those_of_the_calls() -> None:
    calls = [gloo("all_reduce", 0, 30), gloo("all_reduce", 10, 40, 2)]
    table = operation_table(together(calls, [gloo("all_reduce", 0, 20), gloo("all_reduce", 10, 50, 2)]))
    assert table.transfer_ns[0] < 2 * 30_000
    assert table.mean_transfer_ns.tolist() == [30_000, 30_000], "20 and 40 µs are the shortest of any rank"
    assert table.algbw.tolist() == [2 * 53120 * 4 / 60e-6] * 2


def test_transfer_is_the_last_part_of_all_kernels_of_an_operation() -> None:
    ranges = Ranges(*(np.array(v) for v in ([0, 0, 1], [0, 20, 50], [10, 50, 60])))  # type: ignore[arg-type]
    moved = transfer_ranges(ranges, np.array([35, 4]))
    assert list(zip(moved.start.tolist(), moved.end.tolist(), strict=True)) == [(5, 10), (20, 50), (56, 60)]


def test_sequence_numbers_match_whatever_the_order() -> None:
    one = [all_reduce(0, 10, Seq=1), all_reduce(20, 30, Seq=2)]
    other = [all_reduce(0, 5, Seq=2), all_reduce(20, 7, Seq=3)]
    matching = together(one, other).matching
    assert [t.tolist() for t in matching.transfer] == [[10_000, 5_000], [5_000, 7_000]]
    assert [r.tolist() for r in matching.ranks] == [[1, 2], [2, 1]]


def test_two_process_groups_do_not_mix() -> None:
    def of(group: str, ranks: str, start: float, duration: float) -> Event:
        more = {"Process Group Name": group, "Process Group Ranks": ranks, "Process Group Description": "mesh"}
        return all_reduce(start, duration, **more)

    # the groups of a mesh may have one name; ranks 0 and 1 are in one, 2 and 3 in the other
    found = together(
        [of("1", "[0, 1]", 0, 10), of("2", "[0, 1, 2, 3]", 20, 50)],
        [of("1", "[0, 1]", 0, 6), of("2", "[0, 1, 2, 3]", 20, 50)],
        [of("1", "[2, 3]", 0, 100), of("2", "[0, 1, 2, 3]", 200, 20)],
        [of("2", "[0, 1, 2, 3]", 5, 70)],
    )
    assert [t.tolist() for t in found.matching.transfer] == [
        [6_000, 20_000],
        [6_000, 20_000],
        [100_000, 20_000],
        [20_000],
    ]
    assert [(use.group.name, use.group.ranks, use.present) for use in found.groups] == [
        ("1", (0, 1), 2),
        ("2", (0, 1, 2, 3), 4),
        ("1", (2, 3), 1),
    ]


def test_sizes_keep_threads_apart() -> None:
    """gloo runs two operations in two threads; which begins first is chance."""
    one = [gloo("all_reduce", 0, 100, 1, 10), gloo("all_reduce", 1, 7, 2, 99)]
    other = [gloo("all_reduce", 0, 5, 2, 99), gloo("all_reduce", 1, 80, 1, 10)]
    assert [t.tolist() for t in together(one, other).matching.transfer] == [[80_000, 5_000], [5_000, 80_000]]


def test_unequal_counts_are_matched_within_steps_and_said() -> None:
    def step(number: int, durations: list[float]) -> list[Event]:
        """Two equal operations and one of another size, all of which end at the same time on all ranks."""
        at, elements = 1000 * number, [10, 99, 99]
        calls = [gloo("all_reduce", at + 100 * i + 90 - d, d, 1, elements[i]) for i, d in enumerate(durations) if d]
        return [annotation(f"ProfilerStep#{number}", at, 900), *calls]

    found = together(
        [*step(1, [9, 10, 20]), *step(2, [8, 30, 35]), *step(3, [9, 11, 12])],
        [*step(1, [9, 0, 40]), *step(2, [9, 25, 45]), *step(3, [9, 21, 22])],
    )
    # which of the two of step 1 is missing on the other rank cannot be known
    assert [r.tolist() for r in found.matching.ranks] == [[2, 1, 1, 2, 2, 2, 2, 2, 2], [2, 1, 2, 2, 2, 2, 2, 2]]
    assert found.matching.transfer[1].tolist() == [9_000, 40_000, 8_000, 25_000, 35_000, 9_000, 11_000, 12_000]
    told = {n.kind: n for n in found.notes}
    assert "all_reduce: 8 to 9" in told["unequal_counts"].text
    assert told["unmatched_operations"].values == {"unmatched": 3, "all": 17, "operations": "all_reduce: 3"}
    waits = found.waits[1]
    assert (waits.wait_ns[0], waits.transfer_ns[0], waits.unmatched_ns[0]) == (0, 9_000, 40_000)


def test_one_rank_alone() -> None:
    found = together([all_reduce(0, 100)])
    assert found.waits[0].wait_ns.tolist() == found.waits[0].transfer_ns.tolist() == [-1, 0]
    assert found.waits[0].unmatched_ns.tolist() == [100_000, 0]
    assert kinds_of_notes(found) == {"one_rank"}
    table = operation_table(found)
    assert (table.matched.tolist(), table.transfer_ns.tolist(), table.wait_ns.tolist()) == ([0], [-1], [-1])
    assert np.isnan(table.mean_transfer_ns[0])
    assert legacy.waittime(found)["data"]["all"] == {"worker0": [100, 0]}, "the old plugin said so"


def test_a_group_of_one_rank_waits_for_nobody() -> None:
    found = together([all_reduce(0, 100, **{"Group size": 1, "Process Group Ranks": "[0]"})])
    assert (found.waits[0].transfer_ns.tolist(), found.waits[0].wait_ns.tolist()) == ([100_000, 0], [0, 0])
    assert not found.notes


def test_missing_ranks_are_said() -> None:
    events = all_reduce(0, 10, **{"Group size": 4, "Process Group Ranks": "[0, 1, 2, 3]"})
    (note,) = together([events], [events]).notes
    assert note.kind == "missing_ranks"
    assert "default_pg: 2 of 4" in note.text


def test_a_rank_without_communication_is_said() -> None:
    found = together([all_reduce(0, 10)], [op("a", 0, 10)])
    assert kinds_of_notes(found) == {"no_communication", "missing_ranks"}
    assert found.waits[1].wait_ns.tolist() == [0, 0]


def test_sends_are_not_receives() -> None:
    found = together(
        [all_reduce(0, 10, **{"Collective name": "send"})], [all_reduce(0, 90, **{"Collective name": "send"})]
    )
    assert [t.tolist() for t in found.matching.transfer] == [[10_000], [90_000]]
    assert kinds_of_notes(found) == {"point_to_point"}


def test_no_communication_at_all() -> None:
    found = together([op("a", 0, 10)], header={"distributedInfo": {"rank": 0, "world_size": 2}})
    assert kinds_of_notes(found) == {"no_communication"}
    assert len(operation_table(found)) == 0
    assert legacy.commops(found)["data"]["worker0"]["rows"] == []


def test_what_is_distributed() -> None:
    assert is_distributed(model_of([annotation("nccl:all_reduce", 0, 1)]))
    assert is_distributed(model_of([op("a", 0, 1)], distributedInfo={"world_size": 2}))
    assert not is_distributed(model_of([op("a", 0, 1)], distributedInfo={"world_size": 1}))


# steps ------------------------------------------------------------------------------------------------------


def test_overlap_is_shared_out_exactly() -> None:
    of = step_overlap(model_of(partly_hidden_all_reduce()))
    parts = (of.computation_ns, of.overlap_ns, of.communication_only_ns, of.other_ns)
    assert [int(p[0]) for p in parts] == [50_000, 25_000, 65_000, 240_000]


def test_waiting_inside_of_operators_is_no_computing() -> None:
    """The host computes in operators of the dispatcher and compiled code: hooks of autograd and blocking calls wait."""
    found = model_of(
        [
            annotation("ProfilerStep#1", 0, 300),
            op("autograd::engine::evaluate_function: AddmmBackward0", 0, 100),
            op("AddmmBackward0", 0, 90),
            op("aten::mm", 0, 30),
            op("c10d::_allgather_base_", 130, 50),
            op("aten::copy_", 170, 10),
            op("mylib::norm", 190, 20),
            op("CompiledFunctionBackward", 220, 20),
            op("graph_0_cpp_fused_add_1", 222, 10),
            gloo("reduce_scatter", 20, 75, tid=2),
            op("aten::add_", 40, 10, tid=2),
            gloo("all_gather", 140, 60, tid=2),
        ]
    )
    of = step_overlap(found)
    parts = (of.computation_ns, of.overlap_ns, of.communication_only_ns, of.other_ns)
    assert [int(p[0]) for p in parts] == [50_000, 20_000, 115_000, 115_000]


def test_device_work_belongs_to_the_step_that_launched_it() -> None:
    events = [
        annotation("ProfilerStep#1", 0, 100),
        annotation("ProfilerStep#2", 100, 100),
        annotation("nccl:all_reduce", 80, 10),
        launch(85, 1),
        kernel(150, 30, 1, "ncclDevKernel_AllReduce"),
        launch(110, 2),
        kernel(190, 5, 2, "gemm"),
    ]
    found = together(events)
    assert found.ranks[0].step.tolist() == [0]
    assert found.waits[0].unmatched_ns.tolist() == [30_000, 0, 0]


def test_operations_outside_of_steps() -> None:
    found = together([annotation("ProfilerStep#1", 0, 10), all_reduce(50, 5)])
    answer = legacy.waittime(found)["data"]
    assert answer == {"all": {"worker0": [5, 0]}, "null": {"worker0": [5, 0]}}


# bandwidth --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "in_bytes", "out_bytes", "size", "factor"),
    [
        ("all_reduce", 800, 800, 800, 2 * 7 / 8),
        ("reduce_scatter", 800, 100, 800, 7 / 8),
        ("reduce_scatter", -1, 100, 800, 7 / 8),
        ("all_gather", 100, 800, 800, 7 / 8),
        ("all_gather", 100, -1, 800, 7 / 8),
        ("all_to_all", 800, 800, 800, 7 / 8),
        ("broadcast", 800, 800, 800, 1),
        ("reduce", 800, 800, 800, 1),
        ("gather", 100, 0, 800, 7 / 8),
        ("scatter", 0, 100, 800, 7 / 8),
        ("send", 800, -1, 800, 1),
        ("recv", -1, 800, 800, 1),
        ("barrier", 0, 0, None, None),
        ("other", 800, 800, None, None),
        ("all_reduce", -1, -1, None, 2 * 7 / 8),
    ],
)
def test_closed_forms(kind: str, in_bytes: int, out_bytes: int, size: int | None, factor: float | None) -> None:
    assert nccl_tests_bytes(kind, in_bytes, out_bytes, 8) == size
    assert bus_factor(kind, 8) == factor


def test_without_the_number_of_ranks() -> None:
    assert bus_factor("all_reduce", 0) is None
    assert nccl_tests_bytes("all_gather", 100, -1, 0) is None
    assert nccl_tests_bytes("all_reduce", 100, 100, 0) == 100


def test_bandwidth_uses_the_transfer_time() -> None:
    big = {"In msg nelems": 10_000_000, "Out msg nelems": 10_000_000, "dtype": "Double"}
    table = operation_table(together([all_reduce(0, 100, **big)], [all_reduce(0, 40, **big)]))
    assert table.algbw.tolist() == pytest.approx([80e6 / 40e-6] * 2)
    assert table.busbw.tolist() == pytest.approx([80e6 / 40e-6] * 2), "2 (n − 1) / n is 1 for two ranks"
    assert table.total_bytes.tolist() == [80e6, 80e6]
    assert table.wait_ns.tolist() == [60_000, 0]


def test_unknown_sizes_are_no_numbers() -> None:
    found = together([kernel(0, 10, 1, "ncclDevKernel_AllReduce_Sum_f32")])
    table = operation_table(found)
    assert np.isnan([table.total_bytes[0], table.algbw[0], table.busbw[0]]).all()
    assert {"unknown_sizes", "unknown_groups"} <= kinds_of_notes(found)
    assert legacy.commops(found)["data"]["worker0"]["rows"] == [["nccl:all_reduce", 1, 0, 0, 10, 10, 10, 10]]


# topology ---------------------------------------------------------------------------------------------------


def test_gpuinfo() -> None:
    v100 = {"id": 0, "name": "GPU-X", "totalGlobalMem": 34084028416, "computeMajor": 7, "computeMinor": 0}

    def rank(worker: str, **header: Any) -> Any:
        return rank_of(model_of([all_reduce(0, 1)], **header), worker)

    properties = {"deviceProperties": [v100]}
    found = distributed([rank("node1_0", **properties), rank("node1_10", **properties), rank("node2_1")])
    gpu = {"Name": "GPU-X", "Memory": "31.74 GB", "Memory Raw": 34084028416, "Compute Capability": "7.0"}
    assert legacy.gpuinfo(found) == {
        "metadata": {"title": "Device Information"},
        "data": {"node1": {"Process 0": {"GPU0": gpu}, "Process 10": {"GPU0": gpu}}},
    }
    assert legacy.gpuinfo(distributed([rank("w")])) is None
    named = distributed([rank("rank7", host_name="h", distributedInfo={"rank": 7}, **properties)])
    assert list(legacy.gpuinfo(named)["data"]["h"]) == ["Process 7"]  # type: ignore[index]


# generated runs ---------------------------------------------------------------------------------------------

RUNS = {
    "h100, clocks 3 s apart": Config(ranks=4, steps=2, layers=2, slow_rank=2, skew_ns=3_000_000_000),
    "v100, names only": Config(ranks=2, steps=2, layers=2, overlap=0, legacy=True, device="v100"),
    "mi300x": Config(ranks=2, steps=2, layers=2, device="mi300x"),
}


def read(trace: dict[str, Any]) -> Model:
    return Model(read_trace(BytesIO(json.dumps(trace).encode())))


@pytest.mark.parametrize("config", RUNS.values(), ids=RUNS.keys())
def test_generated(config: Config) -> None:
    traces = list(generate_ranks(config))
    models = [read(trace) for trace, _ in traces]
    truths: list[Expected] = [expected for _, expected in traces]
    found = distributed([rank_of(model, f"rank{i}") for i, model in enumerate(models)])
    shortest = [min(c.end - c.start for c in same) for same in zip(*(t.collectives for t in truths), strict=True)]
    for model, truth, rank, transfer in zip(models, truths, found.ranks, found.matching.transfer, strict=True):
        assert rank.communications.duration.tolist() == [c.end - c.start for c in truth.collectives]
        assert transfer.tolist() == shortest
        if not config.legacy:
            assert rank.communications.operations.in_bytes.tolist() == [2 * c.elements for c in truth.collectives]
            assert rank.communications.operations.sequence.tolist() == [c.sequence for c in truth.collectives]
        events, work = model.trace.events, model.device_work.row
        others = work[model.is_work & ~model.device_links.is_communication]
        other_work = intervals.union(events.start[others], events.end[others])
        exposed = intervals.subtraction(communication_spans(model), other_work)
        assert intervals.total(exposed) == truth.exposed_communication_ns
    if config.slow_rank >= 0:
        waits = [int(w.wait_ns.sum()) for w in found.waits]
        assert waits.index(min(waits)) == config.slow_rank
        assert min(w for i, w in enumerate(waits) if i != config.slow_rank) > config.steps * config.slow_ns


# the old plugin's own test ----------------------------------------------------------------------------------


def test_known_answers_of_gloo() -> None:
    def add(start: float, host: float, kernel_start: float, duration: float) -> list[Event]:
        return [op("aten::add_", start, host, tid=3), kernel(kernel_start, duration, 1, "add")]

    large = {"elements": 2049000}
    found = together(
        [
            *(gloo("broadcast", 16, 38), gloo("broadcast", 25, 36, 2), gloo("broadcast", 66, 18)),
            *add(0, 20, 30, 101),
            *(gloo("all_reduce", 110, 18, 2, **large), gloo("all_reduce", 120, 36, **large)),
        ],
        [
            *(gloo("broadcast", 20, 28), gloo("broadcast", 28, 30, 2), gloo("broadcast", 77, 6)),
            *add(0, 30, 70, 70),
            *(gloo("all_reduce", 88, 38, 2, **large), gloo("all_reduce", 130, 16, **large)),
        ],
    )
    overlap, waits = legacy.overlap(found)["data"], legacy.waittime(found)["data"]
    assert overlap["all"] == overlap["0"] == {"worker0": [31, 70, 39, 16], "worker1": [16, 54, 44, 32]}
    assert waits["all"] == waits["0"] == {"worker0": [75, 34], "worker1": [78, 20]}
    assert {worker: table["rows"] for worker, table in legacy.commops(found)["data"].items()} == {
        "worker0": [
            ["gloo:broadcast", 3, 637440, 212480, 63, 21, 41, 14],
            ["gloo:all_reduce", 2, 16392000, 8196000, 46, 23, 34, 17],
        ],
        "worker1": [
            ["gloo:broadcast", 3, 637440, 212480, 44, 15, 44, 15],
            ["gloo:all_reduce", 2, 16392000, 8196000, 54, 27, 34, 17],
        ],
    }
