"""Pairs of generated recordings for the gate: healthy ones, and with one kernel planted to be slower."""

from __future__ import annotations

import json
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from tests.tracegen import Config, generate
from torch_tb_profiler.analysis.change.figures import RecordingFigures, recording_figures
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

#: of the products, which are a fifth of the device time each
KERNEL, OPERATOR = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_nt", "aten::mm"

STEPS = 21


def config(seed: int, slow_kernel: str = "", slow_factor: float = 1.05, steps: int = STEPS, layers: int = 3) -> Config:
    return Config(steps=steps, layers=layers, seed=seed, stacks=False, slow_kernel=slow_kernel, slow_factor=slow_factor)


def of_document(document: Any, run: str = "run") -> RecordingFigures:
    """Of a trace as a JSON reader would return it."""
    return recording_figures(Model(read_trace(BytesIO(msgspec.json.encode(document)))), run)


@lru_cache
def recorded(made: Config, run: str = "run") -> RecordingFigures:
    document, _ = generate(made)
    return of_document(document, run)


def write(made: Config, folder: Path, name: str | None = None) -> Path:
    """A run's folder with one trace, whose names may be changed: `name` takes the place of `KERNEL`."""
    document, _ = generate(made)
    text = msgspec.json.encode(document).decode()
    if name is not None:
        text = text.replace(json.dumps(KERNEL)[1:-1], json.dumps(name)[1:-1])
    folder.mkdir(parents=True)
    (folder / "worker0.1.pt.trace.json").write_text(text, "utf-8")
    return folder
