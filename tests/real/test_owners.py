"""Owners of device work in recorded traces."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.owner_table import documented, recorded_with_devices, table
from tests.recorded import model_of
from torch_tb_profiler.analysis.program.graph_owners import graph_owners
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.model.owners import OwnerKind
from torch_tb_profiler.model.owners.graphs import CapturedCalls, captured_calls
from torch_tb_profiler.model.owners.matched_iterations import match_iterations
from torch_tb_profiler.trace import Trace

REPLAY = "TraceLens/vllm_decode_hipgraph_mi300/rank0.pt.trace.json.gz"
CAPTURE = "program/vllm_capture_hipgraph_mi300/rank0.pt.trace.json.gz"


def test_device_time_has_an_owner_or_a_reason(shared_traces: Path) -> None:
    found = recorded_with_devices()
    assert found
    for path, shares in found:
        known = shares.linked + shares.named_only + shares.inferred
        assert known + sum(shares.by_reason.values()) == pytest.approx(1), path
        # MTIA records a quarter of its work without a correlation
        assert known >= (0.7 if "mtia" in str(path) else 0.95), path


def test_the_table_of_the_docs_is_that_of_the_traces(shared_traces: Path) -> None:
    assert documented() == table(), "python -m tests.owner_table writes it anew"


def test_every_node_of_a_replay_has_the_operator_of_its_capture(shared_traces: Path) -> None:
    replay, capture = model_of(shared_traces / REPLAY), model_of(shared_traces / CAPTURE)
    found = graph_owners(replay, capture)
    assert (len(found), found.nodes) == (421, 421)
    assert (found.how == OwnerKind.OPERATOR).all()
    # the names of the kernels are those that the calls of the capture name
    kernel = replay.trace.strings.texts(replay.trace.events.name[replay.device_work.row[found.work]])
    place = np.searchsorted(capture.trace.launches.row, found.call)
    assert capture.trace.strings.texts(capture.trace.launches.kernel[place]) == kernel
    assert found.names().count("vllm::unified_attention_with_output") == 36


def pairs(shared_traces: Path) -> tuple[list[Model], list[Model]]:
    """The recordings of two engine runs, and those of their captures."""
    folder = shared_traces.parent / "inputs" / "inference"
    if not folder.is_dir():
        pytest.skip("needs the pairs in ../shared/data/inputs/inference")
    runs = [folder / name for name in ("vllm_decode", "vllm_piecewise")]
    replays, captures = (
        [model_of(next((run / below).glob("*.pt.trace.json.gz"))) for run in runs] for below in ("", "capture_traces")
    )
    return replays, captures


def test_pairs_of_engines_join_and_crossed_pairs_do_not(shared_traces: Path) -> None:
    replays, captures = pairs(shared_traces)
    found = [[graph_owners(replay, capture) for capture in captures] for replay in replays]
    assert [[len(owners) for owners in row] for row in found] == [[421, 0], [0, 361]]
    # 25 pieces, of which 23 have the same sequence: every node has a call of its own
    assert [len(set(found[i][i].call.tolist())) for i in range(2)] == [421, 361]


@pytest.mark.parametrize(("shift", "joined"), [(0, [421, 361]), *((by, [0, 0]) for by in (1, 2, 3))])
def test_without_names_of_kernels_a_capture_joins_if_the_operators_agree(
    shift: int, joined: list[int], shared_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless(trace: Trace, links: DeviceLinks) -> CapturedCalls:
        captured = captured_calls(trace, links)
        return msgspec.structs.replace(
            captured, kernel=np.zeros_like(captured.kernel), call=np.roll(captured.call, shift)
        )

    replays, captures = pairs(shared_traces)
    monkeypatch.setattr(f"{graph_owners.__module__}.captured_calls", nameless)
    found = [graph_owners(replay, capture) for replay, capture in zip(replays, captures, strict=True)]
    assert [len(owners) for owners in found] == joined
    assert [len(set(owners.call.tolist())) for owners in found] == joined


@pytest.mark.parametrize(
    ("name", "missing", "least"),
    [
        ("kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz", 700, 700),
        ("HTA/v100_absolute_ns_timestamps/rank0.pt.trace.json.gz", 509, 509),
        ("HTA/nccl_a100_rank0_of_2/rank0.pt.trace.json.gz", 300, 300),
        # its first step makes 62 copies that no other makes
        ("param/resnet_rtx2080ti/worker0.pt.trace.json.gz", 968, 905),
    ],
)
def test_work_whose_launch_is_taken_away_gets_its_operator_back(
    name: str, missing: int, least: int, shared_traces: Path
) -> None:
    model = model_of(shared_traces / name)
    work, links, owners = model.device_work, model.device_links, model.owners
    stream = np.bincount(work.stream[model.is_work]).argmax()
    on = np.flatnonzero(model.is_work & (work.stream == stream))
    first = on[np.argsort(model.trace.events.start[work.row[on]], kind="stable")][:missing]
    asked = np.zeros(len(work), np.bool_)
    asked[first] = True
    like = match_iterations(model.trace, np.where(asked, -1, links.launch).astype(np.int32), asked, owners.row)
    known = first[like[first] >= 0]
    names = model.trace.events.name[owners.row]
    right = int(np.count_nonzero(names[known] == names[like[known]]))
    assert right == len(known) >= least
