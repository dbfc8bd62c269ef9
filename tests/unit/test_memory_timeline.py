"""Files of export_memory_timeline; those of `tests/cases/memory_categories` were written with torch 2.13."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable

import numpy as np
import pytest

from tests.recorded import ROOT
from torch_tb_profiler.snapshot.memory_timeline import (
    CATEGORIES,
    MemoryTimeline,
    MemoryTimelineError,
    read_memory_timeline,
)
from torch_tb_profiler.trace import Limits

FOLDER = ROOT / "tests" / "cases" / "memory_categories"


def read(name: str) -> MemoryTimeline:
    with (FOLDER / name).open("rb") as stream:
        return read_memory_timeline(stream, Limits())


def test_both_forms_say_the_same() -> None:
    sums, changes = read("memory_timeline.json"), read("memory_timeline.raw.json.gz")
    assert sums.bytes.sum(axis=1).max() == changes.bytes.sum(axis=1).max() == 2521308
    assert sums.bytes[sums.peak].tolist() == changes.bytes[changes.peak].tolist()
    assert sums.bytes[-1].tolist() == changes.bytes[-1].tolist()
    assert abs(int(sums.time_ns[sums.peak]) - int(changes.time_ns[changes.peak])) < 1000
    by_name = dict(zip(CATEGORIES, changes.bytes[-1].tolist(), strict=True))
    # two moments and a step count for each parameter
    assert by_name["gradient"] == by_name["parameter"] == 268328
    assert 2 * by_name["parameter"] <= by_name["optimizer_state"] <= 2 * by_name["parameter"] + 4096


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"[[1, 2]]",
        b"[[1], [[0, 1]]]",
        b"[[1, 2, 3, 99]]",
        b"[[1, 2, 3, -1]]",
        b"[[1, 2, 3, 4], [1]]",
        b"[[1], [[0, 0, 0, 0, 0, 0, 0, 0, -5]]]",
        b"[[1" + b"0" * 30 + b", 2, 3, 0]]",
        b"[" * 100_000,
        gzip.compress(b"[[1, 2", mtime=0)[:-4],
        pytest.param(lambda: gzip.compress(b"[" * (200 << 20), 1, mtime=0), id="200 MB in a packed file"),
        b"\x80\x04}.",
    ],
)
def test_other_files_are_refused(content: bytes | Callable[[], bytes]) -> None:
    content = content() if callable(content) else content
    with pytest.raises(MemoryTimelineError):
        read_memory_timeline(io.BytesIO(content), Limits())


def test_what_was_there_before_counts_from_the_first_time() -> None:
    rows = [[-1, 1, 512, 0], [1000, 2, 256, 5], [2000, 4, -256, 5]]
    found = read_memory_timeline(io.BytesIO(json.dumps(rows).encode()), Limits())
    assert found.time_ns.tolist() == [1000, 1000, 2000]
    assert found.bytes.sum(axis=1).tolist() == [512, 768, 512]
    assert found.peak == 1
    assert np.array_equal(found.bytes[-1], [512, 0, 0, 0, 0, 0, 0, 0])


def test_as_many_times_as_a_change_has_fields() -> None:
    sums = [[5, 6, 7, 8], [[0, *range(8)] for _ in range(4)]]
    found = read_memory_timeline(io.BytesIO(json.dumps(sums).encode()), Limits())
    assert found.time_ns.tolist() == [5000, 6000, 7000, 8000]
    assert found.bytes[0].tolist() == list(range(8))
