"""Phases of recorded programs against the wall clock of the programs themselves."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from tests.recorded import SHARED
from torch_tb_profiler.analysis.program.kinds import CODE, ProgramPhase
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

PROGRAM = SHARED / "program"

#: per cent of the marked time whose phase is right, at the least: with stacks, without, and without annotations
LEAST = {
    "checkpoint": (98.8, 98.1, 97.0),
    "accumulation": (98.6, 96.8, 93.0),
    "accumulation_plain": (0.0, 97.1, 93.3),
    "compile_warm": (93.1, 85.8, 81.8),
    "compile_regional": (98.4, 94.1, 89.1),
    "ddp_accumulate": (98.2, 92.1, 89.7),
    "fsdp2": (98.9, 98.2, 89.4),
}
#: what the programs call parts of the optimizer
PHASE = {"clip": ProgramPhase.OPTIMIZER, "scheduler": ProgramPhase.OPTIMIZER}
WITHOUT: tuple[tuple[str, ...], ...] = ((), ("python_function",), ("python_function", "user_annotation"))


def model_without(run: str, categories: tuple[str, ...]) -> Model:
    with gzip.open(PROGRAM / run / "worker0.pt.trace.json.gz") as stream:
        told = json.load(stream)
    told["traceEvents"] = [
        each
        for each in told["traceEvents"]
        if each.get("cat") not in categories or str(each.get("name")).startswith("ProfilerStep#")
    ]
    return Model(read_trace(BytesIO(json.dumps(told).encode())))


def agreement(model: Model, truth: dict[str, Any]) -> float:
    """Per cent of the marked time whose phase is right; computing again is part of the backward pass."""
    segments, origin = phases(model).segments, model.trace.origin_ns
    right = total = 0
    inside = [each for each in truth["marks"] if each["start"] >= origin]
    for name in {each["name"] for each in inside}:
        wanted = {CODE[PHASE.get(name) or ProgramPhase(name)]} | (
            {CODE[ProgramPhase.RECOMPUTE]} if name == "backward" else set()
        )
        mine = np.isin(segments.phase, list(wanted))
        found = Coverage(intervals.union(segments.start[mine], segments.end[mine]))
        marks = [(each["start"] - origin, each["end"] - origin) for each in inside if each["name"] == name]
        start, end = np.array(marks, np.int64).T
        right += int(found.between(start, end).sum())
        total += int((end - start).sum())
    return 100 * right / total


@pytest.mark.parametrize("run", sorted(LEAST))
@pytest.mark.parametrize("recorded", [0, 1, 2], ids=("stacks", "no_stacks", "operators"))
def test_phases_agree_with_the_wall_clock(run: str, recorded: int) -> None:
    if not PROGRAM.exists():
        pytest.skip("recorded traces are not here")
    truth = json.loads((PROGRAM / run / "worker0.truth.json").read_bytes())
    assert agreement(model_without(run, WITHOUT[recorded]), truth) >= LEAST[run][recorded]
