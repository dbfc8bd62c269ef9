"""Memory snapshots of real programs, and the shared synthetic ones with what must be found in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recorded import SHARED_SNAPSHOTS
from tests.unit.test_snapshot_analysis import first, model_of
from torch_tb_profiler.analysis.snapshot.allocation_patterns import growth
from torch_tb_profiler.analysis.snapshot.layout import segment_layout
from torch_tb_profiler.analysis.snapshot.oom import ooms
from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
from torch_tb_profiler.snapshot.schema import BlockState

REAL = sorted(SHARED_SNAPSHOTS.glob("torch*/*.pickle"))
KNOWN = sorted(SHARED_SNAPSHOTS.glob("synthetic/*.truth.json"))

pytestmark = pytest.mark.skipif(not REAL, reason=f"recorded snapshots are not here: {SHARED_SNAPSHOTS} does not exist")


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_nothing_contradicts_itself(path: Path) -> None:
    model = model_of(path.read_bytes())
    found = memory_snapshot(model)
    assert found.contradictions == 0
    history = first(model)
    device, curves = history.device, history.curves
    used = device.blocks.state == BlockState.ACTIVE
    assert int(curves.allocated[-1]) == int(device.blocks.bytes[used].sum()) == int(device.segments.allocated.sum())
    assert int(curves.active[-1]) == int(device.segments.active.sum())
    has_block = history.lifetimes.block >= 0
    slack = history.blocks.bytes[has_block] - history.lifetimes.requested[has_block]
    assert int(slack.max()) <= 1 << 20
    for position in (-1, history.last // 2, history.last):
        found_layout = segment_layout(history, position)
        assert int(found_layout.bytes.sum()) == int(curves.reserved[position + 1])
        in_use = int(found_layout.piece_bytes[~found_layout.is_free].sum())
        assert in_use == int(curves.active[position + 1])


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.name.partition(".")[0])
def test_what_must_be_found(path: Path) -> None:
    truth = json.loads(path.read_text("utf-8"))
    model = model_of(path.with_name(path.name.replace(".truth.json", ".pickle")).read_bytes())
    device = memory_snapshot(model).devices[0]
    keys = ("peak_requested", "peak_allocated", "start_requested", "reserved", "allocated", "requested")
    for key in (*keys, "entries", "blocks", "segments", "largest_free"):
        if key in truth:
            assert getattr(device, key) == truth[key], key
    found = [oom.requested for oom in ooms(model)]
    assert found == ([truth["oom"]["requested"]] if truth["oom"] else [])
    if truth["leak_bytes"]:  # of each step
        (grown,) = growth(model)
        assert grown.per_step == truth["leak_bytes"] // grown.steps


def test_an_observer_of_a_failure_that_wrote_no_history() -> None:
    (device,) = memory_snapshot(
        model_of((SHARED_SNAPSHOTS / "torch20_flexgen/oom_snapshot.pickle").read_bytes())
    ).devices
    found = device.inferred_oom
    assert found is not None
    assert (found.reason, found.largest, found.reserved) == ("full", 2_080_768, 11_844_714_496)
    assert found.in_use == device.active
