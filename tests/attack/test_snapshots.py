"""Memory snapshots with hostile values, and damaged ones: read with what is sound in them, or refused with a reason."""

from __future__ import annotations

import contextlib
import pickle
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.attack.damage import DAMAGES, damaged
from tests.attack.snapshot_contents import hostile_snapshot
from tests.snapshots import random_run
from torch_tb_profiler.analysis.question import NotFound, Refused
from torch_tb_profiler.analysis.snapshot.question import QUESTIONS
from torch_tb_profiler.analysis.tabular import Table
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.state import write
from torch_tb_profiler.snapshot.unpickle_stream import SnapshotError, unpickle_bytes
from torch_tb_profiler.tables.query import TableAnswer
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace.answering.answerer import subject_of
from torch_tb_profiler.workspace.reading.worker import summary_of

OPENED: Any = SimpleNamespace(run="r", worker="w", span="s", size=1, workers_of_run=1)


def answered(content: bytes, target: Path) -> int:
    """How many questions had an answer; those that are refused with a reason do not count."""
    found = unpickle_bytes(content)
    with column_file.Writer(target) as writer:
        writer.finish(write(found, writer, len(content)))
    model = Model(column_file.open_trace(target))
    summary_of(model)
    count = 0
    for question in QUESTIONS:
        for own in question.precomputed(model):
            try:
                answer = question.compute(subject_of(model, OPENED), own)
            except (NotFound, Refused):
                continue
            assert dumps(TableAnswer(answer).page() if isinstance(answer, Table) else answer)
            count += 1
    return count


@pytest.mark.parametrize("seed", range(25))
def test_hostile_values(seed: int, tmp_path: Path) -> None:
    with contextlib.suppress(SnapshotError):
        answered(hostile_snapshot(seed), tmp_path / "columns")


@pytest.mark.parametrize("kind", sorted(DAMAGES))
def test_damage(kind: str, tmp_path: Path) -> None:
    content = hostile_snapshot(0, changes=0)
    for seed in range(5):
        changed = damaged(kind, random.Random(f"{kind} {seed}"), content)
        # MemoryError: a length became a large one; in the program it is the child's, and a reason
        with contextlib.suppress(SnapshotError, MemoryError):
            answered(changed, tmp_path / "columns")


@pytest.mark.parametrize("place", ["settings", "table", "action", "frame"])
def test_halves_of_surrogate_pairs(place: str, tmp_path: Path) -> None:
    root = pickle.loads(pickle.dumps(random_run(0, steps=1).snapshot()))
    half = "\ud800"
    if place == "settings":
        root["allocator_settings"] = {half: half}
    elif place == "table":
        root["allocator_settings"] = {"a": {half: half}}
    elif place == "action":
        root["device_traces"][0][0]["action"] = half
    else:
        root["device_traces"][0][0]["frames"] = [{"name": half, "filename": half, "line": 1}]
    assert answered(pickle.dumps(root), tmp_path / "columns") > 5


def test_sizes_of_the_host_that_no_integer_holds_together(tmp_path: Path) -> None:
    root = random_run(0, steps=1).snapshot()
    root["host_segments"] = [{"size": 2**62 - 1, "allocated": -(2**62) + 1}] * 9
    assert answered(pickle.dumps(root), tmp_path / "columns") > 5
