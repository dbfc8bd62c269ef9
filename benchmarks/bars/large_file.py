"""One large file, read by one process and by two: D1 and D2."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at, ratio


def _wall(m: Measured) -> Iterator[Check]:
    alone, helped = at(m, "large_file/alone"), at(m, "large_file/helped")
    yield Check("wall", ratio(at(m, "large_file/helped/wall"), at(m, "large_file/alone/wall")), 0.62, 0.55, "× alone")
    yield Check("CPU", ratio(at(m, "large_file/helped/cpu"), at(m, "large_file/alone/cpu")), 1.25, 1.1, "× alone")
    differs = None if alone is None or helped is None else float(alone["columns"] != helped["columns"])
    yield Check("columns that differ", differs, 0, 0, "")


def _memory(m: Measured) -> Iterator[Check]:
    yield Check("both processes", ratio(at(m, "large_file/helped/peak"), MB), 200, 150, "MB")


BARS = (
    Bar(
        "D1",
        "a file of 5M events into its columns: two processes against one",
        "≤ 0.62 × wall, ≤ 1.25 × CPU, the same columns",
        "≤ 0.55 × wall, ≤ 1.1 × CPU",
        _wall,
        "Reading alone, without answers. Wall time only tells something on a machine that has two idle processors.",
    ),
    Bar("D2", "the same: resident memory of both processes, the most of each added", "≤ 200 MB", "≤ 150 MB", _memory),
)
