"""Distributed numbers of recorded traces against plain arithmetic on the JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import DistributedRanks, distributed, rank_of
from torch_tb_profiler.ranks.distributed import operation_table
from torch_tb_profiler.trace import read_trace

Interval = tuple[int, int]


def open_run(folder: Path) -> tuple[DistributedRanks, list[list[dict[str, Any]]], list[Interval]]:
    """The answer, the events of each rank, and when its only or first step was, in the µs of the file."""
    ranks, raw, steps = [], [], []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as stream:
            model = Model(read_trace(stream))
        ranks.append(rank_of(model, path.name.partition(".")[0]))
        raw.append(json.loads(gzip.decompress(path.read_bytes()))["traceEvents"])
        window = (model.steps.start[0], model.steps.end[0])
        steps.append((int(window[0] + model.trace.origin_ns) // 1000, int(window[1] + model.trace.origin_ns) // 1000))
    return distributed(ranks), raw, steps


def covered(intervals: list[Interval], low: int, high: int) -> set[int]:
    """Every whole microsecond in which an interval runs."""
    return {t for start, end in intervals for t in range(max(start, low), min(end, high))}


def test_dlrm_on_eight_ranks(shared_traces: Path) -> None:
    found, raw, steps = open_run(shared_traces / "param" / "dlrm_v100_8ranks")
    kernels = [sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"]) for events in raw]
    communication = [[k for k in of if "nccl" in k["name"]] for of in kernels]
    assert {len(of) for of in communication} == {8}
    # all kernels of a rank stand in the order of the calls, and each rank makes the same calls
    shortest = [min(of[i]["dur"] for of in communication) for i in range(8)]
    for rank, waits, transfer, (low, high), of, comm in zip(
        found.ranks, found.waits, found.matching.transfer, steps, kernels, communication, strict=True
    ):
        assert (rank.communications.duration // 1000).tolist() == [k["dur"] for k in comm]
        assert (transfer // 1000).tolist() == shortest
        assert int(rank.overlap.duration_ns[0]) == (high - low) * 1000

        def spans(chosen: list[dict[str, Any]]) -> list[Interval]:
            return [(e["ts"], e["ts"] + e["dur"]) for e in chosen]

        computing = covered(spans([k for k in of if "nccl" not in k["name"]]), low, high)
        communicating = covered(spans(comm), low, high)
        assert int(rank.overlap.computation_ns[0]) == len(computing - communicating) * 1000
        assert int(rank.overlap.overlap_ns[0]) == len(computing & communicating) * 1000
        assert int(rank.overlap.communication_only_ns[0]) == len(communicating - computing) * 1000
        assert waits.transfer_ns.tolist() == [sum(shortest) * 1000, 0]
        assert int(waits.wait_ns.sum()) == sum(k["dur"] - s for k, s in zip(comm, shortest, strict=True)) * 1000
    assert {note.kind for note in found.notes} == {"unknown_groups"}


def test_dlrm_without_one_rank(shared_traces: Path) -> None:
    whole, *_ = open_run(shared_traces / "param" / "dlrm_v100_8ranks")
    found = distributed([rank for i, rank in enumerate(whole.ranks) if i != 3])
    assert "missing_ranks" in {note.kind for note in found.notes}
    kept = [w for i, w in enumerate(whole.waits) if i != 3]
    assert all(
        (a.transfer_ns >= b.transfer_ns).all() and a.transfer_ns.sum() > 0
        for a, b in zip(found.waits, kept, strict=True)
    )


def test_one_rank_of_two_with_arguments(shared_traces: Path) -> None:
    found, (raw,), _ = open_run(shared_traces / "HTA" / "nccl_a100_rank0_of_2")
    kernels = [e for e in raw if e.get("cat") == "kernel" and "Collective name" in e["args"]]
    sizes = {"Float": 4, "Long": 8}
    table = operation_table(found, by_group=False)
    assert int(table.calls.sum()) == len(kernels) == 21
    assert int(table.total_bytes.sum()) == sum(e["args"]["In msg nelems"] * sizes[e["args"]["dtype"]] for e in kernels)
    assert int(found.ranks[0].communications.duration.sum()) == sum(round(e["dur"] * 1000) for e in kernels)
    assert found.ranks[0].step.tolist() == np.repeat([0, 1, 2], 7).tolist()
    assert {note.kind for note in found.notes} == {"one_rank"}
    assert [(use.group.ranks, use.present) for use in found.groups] == [((0, 1), 1)]
