"""Memory snapshots: M1 to M3."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at, ratio


def _read(m: Measured) -> Iterator[Check]:
    yield Check("CPU", at(m, "memory/read/cpu"), 3.5, 2.8, "s")
    yield Check("memory", ratio(at(m, "memory/read/memory"), MB), 345, None, "MB")


def _first(m: Measured) -> Iterator[Check]:
    yield Check("picture", at(m, "memory/ask/picture"), 2.0, None, "s")


def _then(m: Measured) -> Iterator[Check]:
    for key, must in (("zoom", 0.1), ("alive", 0.15), ("map", 0.1)):
        yield Check(key, at(m, f"memory/ask/{key}"), must, None, "s")


BARS = (
    Bar(
        "M1",
        "memory snapshot of 100 MB: its columns, in the process that reads it",
        "≤ 3.5 s CPU, ≤ 345 MB",
        "2.8 s",
        _read,
    ),
    Bar("M2", "memory snapshot of 5M records: the first picture", "≤ 2 s", "", _first),
    Bar("M3", "the same: a zoom / what is alive / the map", "≤ 100 / 150 / 100 ms", "", _then),
)
